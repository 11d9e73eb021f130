"""Service account tokens: made by the TokenRequest API, presented as `Authorization: Bearer`.

Source: pkg/serviceaccount (claims.go, jwt.go) and pkg/registry/core/serviceaccount/storage/token.go. A token dies with
its account and with the Pod that it is bound to. Times are model times.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from engine.api.errors import unauthorized
from engine.api.types import NODES, PODS, SECRETS, SERVICE_ACCOUNTS, Object
from engine.api.wire import Request
from engine.apiserver.authentication.user import SERVICE_ACCOUNT_PREFIX, UserInfo, service_account_user
from engine.apiserver.lookup import Lookup
from engine.clock import Clock
from engine.rng import Rng

ISSUER = "https://kubernetes.default.svc.cluster.local"
_CLAIM = "kubernetes.io"
_ALGORITHM = "ES256"
_EXTRA = "authentication.kubernetes.io/"
BOUND = {"Pod": PODS, "Secret": SECRETS, "Node": NODES}


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
        self, account: Object, *, audiences: list[str], seconds: int, bound: Object | None, warn_after: int = 0
    ) -> tuple[str, datetime]:
        """A token and when it ends. `bound` is the object whose end ends the token."""
        now = self._clock.now().replace(microsecond=0)
        ends = now + timedelta(seconds=seconds)
        metadata = account["metadata"]
        private: dict[str, Any] = {
            "namespace": metadata["namespace"],
            "serviceaccount": {"name": metadata["name"], "uid": metadata["uid"]},
        }
        if bound is not None:
            private[bound["kind"].lower()] = {"name": bound["metadata"]["name"], "uid": bound["metadata"]["uid"]}
        if warn_after:
            private["warnafter"] = int((now + timedelta(seconds=warn_after)).timestamp())
        claims = {
            "aud": audiences,
            "exp": int(ends.timestamp()),
            "iat": int(now.timestamp()),
            "iss": ISSUER,
            "jti": self._ids.uid(),
            _CLAIM: private,
            "nbf": int(now.timestamp()),
            "sub": f"{SERVICE_ACCOUNT_PREFIX}{metadata['namespace']}:{metadata['name']}",
        }
        return jwt.encode(claims, self._private, algorithm=_ALGORITHM), ends

    def claims(self, token: str) -> dict[str, Any] | None:
        """What a token says; None for one that is not ours. Raises ApiError 401 for one that has ended."""
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                self._public,
                algorithms=[_ALGORITHM],
                issuer=ISSUER,
                # The times are the model's, and whom the token is for is looked at by who asks.
                options={"verify_exp": False, "verify_nbf": False, "verify_iat": False, "verify_aud": False},
            )
        except jwt.PyJWTError:
            return None
        if claims.get("exp", 0) <= self._clock.now().timestamp():
            raise unauthorized()
        return claims


class ServiceAccountAuthenticator:
    """Knows bearer tokens of service accounts (also for TokenReview)."""

    name = "ServiceAccountToken"

    def __init__(self, issuer: TokenIssuer, lookup: Lookup) -> None:
        self._issuer = issuer
        self._lookup = lookup

    async def authenticate(self, request: Request) -> UserInfo | None:
        """Raises ApiError 401 for a bearer token that is not good."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return None
        claims = self._issuer.claims(token.strip())
        if claims is None or ISSUER not in claims.get("aud", ()):
            raise unauthorized()
        private = claims.get(_CLAIM) or {}
        namespace, account = private.get("namespace", ""), private.get("serviceaccount") or {}
        stored = await self._lookup.find(SERVICE_ACCOUNTS, namespace, account.get("name", ""))
        if stored is None or stored["metadata"]["uid"] != account.get("uid"):
            raise unauthorized()
        extra = [(f"{_EXTRA}credential-id", (f"JTI={claims.get('jti', '')}",))]
        for kind, gvr in BOUND.items():
            reference = private.get(kind.lower())
            if reference is None:
                continue
            where = "" if kind == "Node" else namespace
            bound = await self._lookup.find(gvr, where, reference["name"])
            if bound is None or bound["metadata"]["uid"] != reference["uid"]:
                raise unauthorized()
            if kind != "Secret":
                extra.append((f"{_EXTRA}{kind.lower()}-name", (reference["name"],)))
                extra.append((f"{_EXTRA}{kind.lower()}-uid", (reference["uid"],)))
        user = service_account_user(namespace, account["name"], account["uid"])
        return user._replace(extra=tuple(extra))
