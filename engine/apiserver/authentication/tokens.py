"""Service account tokens: made by the TokenRequest API, presented as `Authorization: Bearer`.

Source: pkg/serviceaccount (claims.go, jwt.go) and pkg/registry/core/serviceaccount/storage/token.go. A token dies with
its account and with the Pod that it is bound to. Times are model times.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from engine.api.duration import parse_time
from engine.api.errors import unauthorized
from engine.api.golang.text import quoted
from engine.api.types import GVR, NODES, PODS, SECRETS, SERVICE_ACCOUNTS, Object
from engine.api.wire import Request
from engine.apiserver.authentication.bearer import bearer_token
from engine.apiserver.authentication.discovery import configuration, key_id, key_set
from engine.apiserver.authentication.legacy_tokens import LEGACY_ISSUER, LegacyTokens, legacy_claims
from engine.apiserver.authentication.remarks import Remarks
from engine.apiserver.authentication.token_error import TokenError
from engine.apiserver.authentication.user import SERVICE_ACCOUNT_PREFIX, UserInfo, service_account_user
from engine.apiserver.handshake import offered_token
from engine.apiserver.lookup import Lookup
from engine.apiserver.metrics.token_metrics import TokenMetrics
from engine.clock import Clock
from engine.rng import Rng

ISSUER = "https://kubernetes.default.svc.cluster.local"
_CLAIM = "kubernetes.io"
_ALGORITHM = "ES256"
_ALGORITHMS = frozenset(
    ("RS256", "ES256", "ES384", "ES512")
)  # of tokens that are looked at (pkg/serviceaccount/jwt.go)
_EXTRA = "authentication.kubernetes.io/"
_LEEWAY = 60  # seconds that clocks may differ (go-jose's jwt.DefaultLeeway)
BOUND = {"Pod": PODS, "Secret": SECRETS, "Node": NODES}


def credential_id(identity: str) -> str:
    """What a token is known by whose claim `jti` this is (pkg/serviceaccount, CredentialIDForJTI)."""
    return f"JTI={identity}"


class TokenIssuer:
    """Signs and checks tokens. Without a `key` (PEM) it makes one, and its tokens die with the process."""

    def __init__(self, clock: Clock, ids: Rng, *, key: bytes | None = None) -> None:
        self._clock = clock
        self._ids = ids
        private = (
            serialization.load_pem_private_key(key, password=None) if key else ec.generate_private_key(ec.SECP256R1())
        )
        if not isinstance(private, ec.EllipticCurvePrivateKey):
            raise ValueError("the service account key must be an elliptic curve key")
        self._private = private
        self._public = private.public_key()

    def issue(
        self,
        account: Object,
        *,
        audiences: list[str],
        seconds: int,
        bound: Object | None,
        warn_after: int = 0,
        node: Object | None = None,
    ) -> tuple[str, datetime, str]:
        """A token, when it ends, and what it is known by. `bound` is the object whose end ends the token, `node` where
        a Pod of it runs."""
        now = self._clock.now().replace(microsecond=0)
        ends = now + timedelta(seconds=seconds)
        metadata = account["metadata"]
        private: dict[str, Any] = {
            "namespace": metadata["namespace"],
            "serviceaccount": {"name": metadata["name"], "uid": metadata["uid"]},
        }
        if bound is not None:
            private[bound["kind"].lower()] = {"name": bound["metadata"]["name"], "uid": bound["metadata"]["uid"]}
        if node is not None:
            private["node"] = {field: node["metadata"][field] for field in ("name", "uid") if field in node["metadata"]}
        if warn_after:
            private["warnafter"] = int((now + timedelta(seconds=warn_after)).timestamp())
        claims = {
            "aud": audiences,
            "exp": int(ends.timestamp()),
            "iat": int(now.timestamp()),
            "iss": ISSUER,
            "jti": (identity := self._ids.uid()),
            _CLAIM: dict(sorted(private.items())),
            "nbf": int(now.timestamp()),
            "sub": f"{SERVICE_ACCOUNT_PREFIX}{metadata['namespace']}:{metadata['name']}",
        }
        return self._signed(claims), ends, credential_id(identity)

    def issue_legacy(self, account: Object, secret: Object) -> str:
        """A token for a Secret to hold, which is good for as long as it does."""
        return self._signed(legacy_claims(account, secret))

    def _signed(self, claims: dict[str, Any]) -> str:
        headers = {"kid": key_id(self._public), "typ": ""}  # go-jose names no type, and leaves maps in order
        return jwt.encode(claims, self._private, algorithm=_ALGORITHM, headers=headers)

    def now(self) -> datetime:
        return self._clock.now()

    def configuration(self) -> dict[str, Any]:
        """The OpenID configuration of the issuer."""
        return configuration(ISSUER, _ALGORITHM)

    def key_set(self) -> dict[str, Any]:
        """The public key, as a JSON Web Key Set."""
        return key_set(self._public, _ALGORITHM)

    def claims(self, token: str) -> dict[str, Any] | None:
        """What a token says; None for one that says that it is of another issuer. Raises TokenError for one that is
        not signed by ours."""
        if (key := _key_of_own(token)) is None:
            return None
        if key not in ("", key_id(self._public)):
            raise TokenError("invalid signature, no keys found")
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                self._public,
                algorithms=[_ALGORITHM],
                # The times are the model's, and whom the token is for is looked at by who asks.
                options={"verify_exp": False, "verify_nbf": False, "verify_iat": False, "verify_aud": False},
            )
        except jwt.PyJWTError:
            raise TokenError("go-jose/go-jose: error in cryptographic primitive") from None
        return claims

    def check_times(self, claims: dict[str, Any]) -> None:
        """Raises TokenError for a token that is not good now."""
        now = self._clock.now().timestamp()
        if now + _LEEWAY < claims.get("nbf", now):
            raise TokenError("service account token is not valid yet")
        if now - _LEEWAY > claims.get("exp", now):
            raise TokenError("service account token has expired")
        if now + _LEEWAY < claims.get("iat", now):
            raise TokenError("service account token is issued in the future")


def _key_of_own(token: str) -> str | None:
    """The id of the key that a token of this issuer says it is signed with, "" where it says none; None of any other,
    and of what is no token that it could have signed."""
    try:
        header = jwt.get_unverified_header(token)
        claims = jwt.decode(token, options={"verify_signature": False})
    except jwt.PyJWTError:
        return None
    if claims.get("iss") not in (ISSUER, LEGACY_ISSUER) or header.get("alg") not in _ALGORITHMS:
        return None
    return str(header.get("kid", ""))


class ServiceAccountAuthenticator:
    """Knows bearer tokens of service accounts (also for TokenReview)."""

    name = "ServiceAccountToken"

    def __init__(self, issuer: TokenIssuer, lookup: Lookup, legacy: LegacyTokens, metrics: TokenMetrics) -> None:
        self._issuer = issuer
        self._lookup = lookup
        self._legacy = legacy
        self._metrics = metrics

    async def authenticate(self, request: Request, remarks: Remarks) -> UserInfo | None:
        """Raises ApiError 401 for a bearer token that is not good."""
        token = bearer_token(request.headers.get("authorization", ""), remarks)
        if not (token := token or offered_token(request)):
            return None
        try:
            user, _ = await self.examine(token, (ISSUER,), remarks)
        except TokenError:
            raise unauthorized() from None
        return user

    async def examine(self, token: str, audiences: Sequence[str], remarks: Remarks) -> tuple[UserInfo, list[str]]:
        """Whose token it is, and which of the audiences it is for. Raises TokenError."""
        claims = self._issuer.claims(token)
        if claims is None:
            raise TokenError("invalid bearer token")
        is_legacy = claims["iss"] == LEGACY_ISSUER
        if is_legacy:
            self._legacy.note(claims, remarks)
        said = [ISSUER] if is_legacy else claims.get("aud", ())
        meant = [audience for audience in said if audience in audiences]
        if not meant:
            shown = _quoted(said), _quoted(audiences)
            raise TokenError("token audiences {} is invalid for the target audiences {}".format(*shown))
        if is_legacy:
            return await self._legacy.user(token, claims, remarks), meant
        self._issuer.check_times(claims)
        private = claims.get(_CLAIM) or {}
        namespace, account = private.get("namespace", ""), private.get("serviceaccount") or {}
        stored = await self._lookup.find(SERVICE_ACCOUNTS, namespace, account.get("name", ""))
        if stored is None:
            raise TokenError(f'serviceaccounts "{account.get("name", "")}" not found')
        if (uid := stored["metadata"]["uid"]) != account.get("uid"):
            raise TokenError(f"service account UID ({uid}) does not match claim ({account.get('uid', '')})")
        if self._is_long_gone(stored):
            raise TokenError(f"service account {namespace}/{account['name']} has been deleted")
        extra = [(f"{_EXTRA}credential-id", (credential_id(claims.get("jti", "")),))]
        for kind, gvr in BOUND.items():
            reference = private.get(kind.lower())
            if reference is None:
                continue
            if kind != "Node" or "pod" not in private:  # a Pod's token says where it ran, which binds it to nothing
                await self._check_bound(kind, gvr, "" if kind == "Node" else namespace, reference)
            if kind != "Secret":
                prefix = f"{_EXTRA}{kind.lower()}"
                extra += [(f"{prefix}-{name}", (reference[name],)) for name in ("name", "uid") if reference.get(name)]
        self._count(claims, private.get("warnafter", 0), remarks)
        user = service_account_user(namespace, account["name"], account["uid"])
        return user._replace(extra=tuple(extra)), meant

    def _count(self, claims: dict[str, Any], warn_after: int, remarks: Remarks) -> None:
        """A token that is good for long after its holder was to come for another is told of."""
        if not warn_after:
            return
        now = self._issuer.now().timestamp()
        if now <= warn_after:
            self._metrics.valid.add()
            return
        self._metrics.stale.add()
        late = f"subject: {claims.get('sub', '')}, seconds after warning threshold: {int(now) - warn_after}"
        remarks.annotations["authentication.k8s.io/stale-token"] = late

    async def _check_bound(self, kind: str, gvr: GVR, namespace: str, reference: Object) -> None:
        """Raises TokenError where the object that the token is bound to is no longer that."""
        bound = await self._lookup.find(gvr, namespace, reference["name"])
        if bound is None:
            raise TokenError("service account token has been invalidated")
        if (uid := bound["metadata"]["uid"]) != reference["uid"]:
            what = kind.lower()
            raise TokenError(f"{what} UID ({uid}) does not match service account {what} ref claim ({reference['uid']})")
        if self._is_long_gone(bound):
            raise TokenError("service account token has been invalidated")

    def _is_long_gone(self, obj: Object) -> bool:
        """Whether it should have been gone by now: what holds it back, as a finalizer, keeps no token good."""
        end = obj["metadata"].get("deletionTimestamp")
        return end is not None and parse_time(end) < self._issuer.now() - timedelta(seconds=_LEEWAY)


def _quoted(texts: Sequence[str]) -> str:
    """As Go's %q writes a list of strings."""
    return f"[{' '.join(map(quoted, texts))}]"
