"""Bootstrap tokens as credentials: who joins a cluster is `system:bootstrap:ID`, as --enable-bootstrap-token-auth has
it, which kubeadm sets (plugin/pkg/auth/authenticator/token/bootstrap)."""

from __future__ import annotations

from hmac import compare_digest

from engine.api.bootstrap_tokens import (
    FOR_AUTHENTICATION,
    ID,
    NAME_PREFIX,
    NAMESPACE,
    SECRET,
    SECRET_TYPE,
    USER_PREFIX,
    groups_of,
    has_expired,
    parts_of,
    value_of,
)
from engine.api.types import SECRETS
from engine.api.wire import Request
from engine.apiserver.authentication.bearer import bearer_token
from engine.apiserver.authentication.remarks import Remarks
from engine.apiserver.authentication.user import UserInfo
from engine.apiserver.handshake import offered_token
from engine.apiserver.lookup import Lookup
from engine.clock import Clock


class BootstrapTokenAuthenticator:
    name = "BootstrapToken"

    def __init__(self, lookup: Lookup, clock: Clock) -> None:
        self._lookup = lookup
        self._clock = clock

    async def authenticate(self, request: Request, remarks: Remarks) -> UserInfo | None:
        """Nobody for a token that is not good: it may be another's."""
        token = bearer_token(request.headers.get("authorization", ""), Remarks()) or offered_token(request)
        if (parts := parts_of(token)) is None:
            return None
        identity, shown = parts
        secret = await self._lookup.find(SECRETS, NAMESPACE, NAME_PREFIX + identity)
        if secret is None or "deletionTimestamp" in secret["metadata"] or secret.get("type") != SECRET_TYPE:
            return None
        if not compare_digest(value_of(secret, SECRET), shown) or value_of(secret, ID) != identity:
            return None
        if has_expired(secret, self._clock.now()) or value_of(secret, FOR_AUTHENTICATION) != "true":
            return None
        groups = groups_of(secret)
        return None if groups is None else UserInfo(USER_PREFIX + identity, "", groups)
