"""The token cleaner: a bootstrap token whose time is over is deleted (pkg/controller/bootstrap/tokencleaner.go)."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.bootstrap_tokens import NAMESPACE, SECRET_TYPE, seconds_left
from engine.api.errors import ApiError
from engine.api.types import SECRETS, Object
from engine.client import object_key
from engine.controllers.controller import Controller


class TokenCleaner(Controller):
    name = "token-cleaner"
    kind = "secret"
    workers = 1

    def set_up(self) -> None:
        self._secrets = self.lister(SECRETS)
        self.watch(SECRETS, _changed)

    async def reconcile(self, key: str) -> None:
        secret = self._secrets.by_key(key)
        if secret is None or not _is_token(secret):
            return
        left = seconds_left(secret, self.clock.now())
        self.note(desired={"deletedIn": left}, actual={})
        if left is None:
            return
        if left > 0:
            self.queue.add_after(key, left)
            return
        metadata = secret["metadata"]
        try:
            await self.client.delete(
                SECRETS, metadata["name"], namespace=NAMESPACE, preconditions={"uid": metadata["uid"]}
            )
        except ApiError as error:
            if error.code not in (404, 409):  # it is gone, or another has its name
                raise


def _changed(old: Object | None, new: Object | None) -> Iterable[str]:
    return [object_key(new)] if new is not None and _is_token(new) else []


def _is_token(secret: Object) -> bool:
    return secret.get("type") == SECRET_TYPE and secret["metadata"]["namespace"] == NAMESPACE
