"""A server that is asked whose token it is, by TokenReviews (apiserver plugin/pkg/authenticator/token/webhook).

What it said of a token that is good is remembered for a while, by the model's clock.
"""

from __future__ import annotations

import logging

from engine.api.golang.forms import BOOL, STRING, Map, Struct
from engine.api.types import GVK, Object
from engine.api.wire import Request
from engine.apiserver.authentication.bearer import bearer_token
from engine.apiserver.authentication.remarks import Remarks
from engine.apiserver.authentication.token_error import RefusedTokenError
from engine.apiserver.authentication.user import UserInfo
from engine.apiserver.handshake import offered_token
from engine.apiserver.kubeconfig_webhook import KubeconfigWebhook
from engine.apiserver.lru_expire_cache import LruExpireCache
from engine.apiserver.webhook_client import WebhookError
from engine.clock import Clock

log = logging.getLogger(__name__)

_GROUP, _KIND = "authentication.k8s.io", "TokenReview"
_USER = Struct("UserInfo", {"username": STRING, "uid": STRING, "groups": [STRING], "extra": Map([STRING])})
_STATUS = Struct("TokenReviewStatus", {"authenticated": BOOL, "user": _USER, "audiences": [STRING], "error": STRING})
_FORM = Struct(_KIND, {"kind": STRING, "apiVersion": STRING, "status": _STATUS})
_SCHEME = "k8s.io/client-go/kubernetes/scheme/register.go:82"
_SIZE = 4096


class WebhookTokenAuthenticator:
    name = "WebhookToken"

    def __init__(
        self, webhook: KubeconfigWebhook, audience: str, clock: Clock, *, version: str, seconds: float
    ) -> None:
        """`audience` is the server's own, for which tokens must be; `seconds` is how long an answer holds."""
        self._webhook = webhook
        self._audience = audience
        self._kind = GVK(_GROUP, version, _KIND)
        self._seconds = seconds
        self._known: LruExpireCache[str, UserInfo] = LruExpireCache(_SIZE, clock)

    async def authenticate(self, request: Request, remarks: Remarks) -> UserInfo | None:
        """Raises RefusedTokenError where the server says why, or cannot be asked."""
        token = bearer_token(request.headers.get("authorization", ""), Remarks()) or offered_token(request)
        if not token:
            return None
        if (known := self._known.get(token)) is not None:
            return known
        status = await self._asked(token)
        if status.get("audiences") and self._audience not in status["audiences"]:
            return None
        if not status.get("authenticated"):
            if error := status.get("error"):
                raise RefusedTokenError(str(error))
            return None
        user = _user(status.get("user") or {})
        self._known.put(token, user, self._seconds)
        return user

    async def _asked(self, token: str) -> Object:
        head = {"kind": self._kind.kind, "apiVersion": self._kind.api_version, "metadata": {}}
        spec = {"token": token, "audiences": [self._audience]}
        try:
            found = await self._webhook.ask(
                {**head, "spec": spec, "status": {"user": {}}}, self._kind, _FORM, scheme=_SCHEME
            )
        except WebhookError as error:
            log.error("Failed to make webhook authenticator request: %s", error)
            raise RefusedTokenError(str(error)) from None
        status: Object = found.get("status") or {}
        return status


def _user(said: Object) -> UserInfo:
    extra = tuple((key, tuple(values or ())) for key, values in sorted((said.get("extra") or {}).items()))
    return UserInfo(said.get("username") or "", said.get("uid") or "", tuple(said.get("groups") or ()), extra)
