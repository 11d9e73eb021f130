"""Client certificates: the common name is the user, the organisations are the groups.

The transport has verified the chain; over HTTPS against the cluster's CA, in-process by construction
(apiserver pkg/authentication/request/x509, CommonNameUserConversion).
"""

from __future__ import annotations

from engine.api.wire import Request
from engine.apiserver.authentication.remarks import Remarks
from engine.apiserver.authentication.user import UserInfo

CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"


class X509Authenticator:
    name = "x509"

    async def authenticate(self, request: Request, remarks: Remarks) -> UserInfo | None:
        certificate = request.certificate
        if certificate is None or not certificate.common_name:
            return None
        user = UserInfo(certificate.common_name, groups=certificate.organizations)
        if not certificate.fingerprint:
            return user
        return user._replace(extra=((CREDENTIAL_ID, (f"X509SHA256={certificate.fingerprint}",)),))
