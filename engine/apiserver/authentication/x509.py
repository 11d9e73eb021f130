"""Client certificates: the common name is the user, the organisations are the groups, and since 1.33 there may be a
uid.

The transport says whether it has verified the chain; over HTTPS against the cluster's CA, in-process by construction
(apiserver pkg/authentication/request/x509, CommonNameUserConversion).
"""

from __future__ import annotations

from functools import lru_cache

from engine.api.errors import unauthorized
from engine.api.wire import ClientCertificate, Request
from engine.apiserver.authentication.remarks import Remarks
from engine.apiserver.authentication.user import UserInfo
from engine.clock import Clock
from engine.metrics import Histogram

CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"
UID_ATTRIBUTE = "1.3.6.1.4.1.57683.2"  # of a subject
_UIDS_SINCE = (1, 33)  # AllowParsingUserUIDFromCertAuth


class X509Authenticator:
    name = "x509"

    def __init__(self, release: tuple[int, int], clock: Clock, lifetimes: Histogram) -> None:
        """`clock` is this machine's, by which certificates are good."""
        self._with_uids = release >= _UIDS_SINCE
        self._clock = clock
        self._lifetimes = lifetimes

    async def authenticate(self, request: Request, remarks: Remarks) -> UserInfo | None:
        """Raises ApiError 401 for a certificate that is not verified, and for a uid that is empty or one of several."""
        certificate = request.certificate
        if certificate is None:
            return None
        if certificate.ends is not None:
            self._lifetimes.observe(certificate.ends - self._clock.posix())
        if not certificate.verified:
            raise unauthorized()
        return _user(certificate, with_uids=self._with_uids) if certificate.common_name else None


@lru_cache(maxsize=1000)  # every request of a client shows the same
def _user(certificate: ClientCertificate, *, with_uids: bool) -> UserInfo:
    uids = certificate.uids if with_uids else ()
    if len(uids) > 1 or "" in uids:
        raise unauthorized()
    user = UserInfo(certificate.common_name, "".join(uids), certificate.organizations)
    if not certificate.fingerprint:
        return user
    return user._replace(extra=((CREDENTIAL_ID, (f"X509SHA256={certificate.fingerprint}",)),))
