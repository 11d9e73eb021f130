"""Secrets of type `kubernetes.io/service-account-token`: filled with a token of the account that they name, and deleted
with it; an account lists none that is gone (pkg/controller/serviceaccount/tokens_controller.go).

Upstream signs such a token itself. Here it is asked for like any other, bound to its Secret and for as long as one can
be had, and has no end.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable

from engine.api.errors import ApiError
from engine.api.legacy_tokens import ACCOUNT_NAME, ACCOUNT_UID, LEGACY_SECONDS, TOKEN_SECRET
from engine.api.types import SECRETS, SERVICE_ACCOUNTS, Object, copy_object
from engine.client import object_key
from engine.controllers.controller import Controller

_ACCOUNT_INDEX = "service-account"


def _annotations(secret: Object) -> dict[str, str]:
    found: dict[str, str] = secret["metadata"].get("annotations") or {}
    return found


def _by_account(secret: Object) -> Iterable[str]:
    name = _annotations(secret).get(ACCOUNT_NAME) if secret.get("type") == TOKEN_SECRET else None
    return (f"{secret['metadata']['namespace']}/{name}",) if name else ()


def _key(secret: Object) -> str:
    """With the account that a Secret names, which is to be known when it is gone."""
    metadata, annotations = secret["metadata"], _annotations(secret)
    account = annotations.get(ACCOUNT_NAME, ""), annotations.get(ACCOUNT_UID, "")
    return json.dumps([metadata["namespace"], metadata["name"], *account])


def _changed(old: Object | None, new: Object | None) -> Iterable[str]:
    seen = new or old or {}
    return [_key(seen)] if any(_by_account(seen)) else []


class ServiceAccountTokensController(Controller):
    name = "kube-controller-manager"  # it needs what only the manager itself may do
    kind = "secret"
    view = "serviceaccount-token-controller"
    workers = 1

    def set_up(self) -> None:
        self._secrets = self.lister(SECRETS)
        self._accounts = self.lister(SERVICE_ACCOUNTS)
        self.index(SECRETS, _ACCOUNT_INDEX, _by_account)
        self.watch(SECRETS, _changed)
        self.watch(SERVICE_ACCOUNTS, self._account_changed)

    def _account_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        if old is not None and new is not None:
            return []
        return [_key(each) for each in self._secrets.by_index(_ACCOUNT_INDEX, object_key(new or old or {}))]

    def object_of(self, key: str) -> str:
        namespace, name, *_ = json.loads(key)
        return super().object_of(f"{namespace}/{name}")

    async def reconcile(self, key: str) -> None:
        namespace, name, account_name, account_uid = json.loads(key)
        secret = self._secrets.get(name, namespace)
        if secret is None:
            await self._forget(namespace, name, account_name, account_uid)
            return
        if not any(_by_account(secret)):
            return
        account = await self._account_of(secret)
        if account is None:
            await self._delete(secret)
            return
        await self._fill(secret, account)

    async def _account_of(self, secret: Object) -> Object | None:
        """The account that a Secret was made for, and no later one of its name; asked for where the cache has none."""
        namespace, name = secret["metadata"]["namespace"], _annotations(secret)[ACCOUNT_NAME]
        account = self._accounts.get(name, namespace)
        if account is None:
            try:
                account = await self.client.get(SERVICE_ACCOUNTS, name, namespace=namespace)
            except ApiError as error:
                if error.code != 404:
                    raise
                return None
        uid = _annotations(secret).get(ACCOUNT_UID)
        return account if uid in (None, "", account["metadata"]["uid"]) else None

    async def _delete(self, secret: Object) -> None:
        metadata = secret["metadata"]
        try:
            await self.client.delete(
                SECRETS, metadata["name"], namespace=metadata["namespace"], preconditions={"uid": metadata["uid"]}
            )
        except ApiError as error:
            if error.code not in (404, 409):
                raise

    async def _forget(self, namespace: str, name: str, account_name: str, account_uid: str) -> None:
        """Take a Secret that is gone off the list of the account that it was for."""
        account = self._accounts.get(account_name, namespace)
        if account is None or account_uid not in ("", account["metadata"]["uid"]):
            return
        left = [each for each in account.get("secrets") or () if each.get("name") != name]
        self.note(desired={"secrets": left}, actual={"secrets": account.get("secrets")})
        if left == (account.get("secrets") or []):
            return
        try:
            await self.client.update(SERVICE_ACCOUNTS, {**account, "secrets": left})
        except ApiError as error:
            if error.code != 404:
                raise

    async def _fill(self, secret: Object, account: Object) -> None:
        data: dict[str, str] = secret.get("data") or {}
        namespace, uid = secret["metadata"]["namespace"], account["metadata"]["uid"]
        wanted = {"namespace": data.get("namespace") or _encoded(namespace)}
        if self.config.root_ca:
            wanted["ca.crt"] = _encoded(self.config.root_ca)
        self.note(desired=[*wanted, "token"], actual=list(data))
        if wanted.items() <= data.items() and data.get("token"):
            return
        changed = copy_object(secret)
        changed["data"] = {**data, **wanted}
        if not data.get("token"):
            changed["data"]["token"] = _encoded(await self._token(secret, account))
        changed["metadata"]["annotations"] = {**_annotations(secret), ACCOUNT_UID: uid}
        await self.client.update(SECRETS, changed)

    async def _token(self, secret: Object, account: Object) -> str:
        metadata = secret["metadata"]
        bound = {"apiVersion": "v1", "kind": "Secret", "name": metadata["name"], "uid": metadata["uid"]}
        spec = {"expirationSeconds": LEGACY_SECONDS, "boundObjectRef": bound}
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        answer = await self.client.create(
            SERVICE_ACCOUNTS, request, namespace=metadata["namespace"], name=account["metadata"]["name"],
            subresource="token",
        )  # fmt: skip
        return str(answer["status"]["token"])


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
