"""The ServiceAccount controller: a `default` ServiceAccount in every namespace
(pkg/controller/serviceaccount/serviceaccounts_controller.go)."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.errors import ApiError
from engine.api.types import NAMESPACES, SERVICE_ACCOUNTS, Object
from engine.controllers.controller import Controller
from engine.controllers.pod_control import namespace_terminating

DEFAULT = "default"


class ServiceAccountController(Controller):
    name = "service-account-controller"
    kind = "namespace"
    workers = 1

    def set_up(self) -> None:
        self._namespaces = self.lister(NAMESPACES)
        self._accounts = self.lister(SERVICE_ACCOUNTS)
        self.watch(NAMESPACES, lambda old, new: [new["metadata"]["name"]] if new is not None else [])
        self.watch(SERVICE_ACCOUNTS, _deleted)

    async def reconcile(self, key: str) -> None:
        namespace = self._namespaces.get(key)
        if namespace is None or (namespace.get("status") or {}).get("phase") == "Terminating":
            return
        found = self._accounts.get(DEFAULT, key)
        self.note(desired=[DEFAULT], actual=[DEFAULT] if found is not None else [])
        if found is not None:
            return
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": DEFAULT, "namespace": key}}
        try:
            await self.client.create(SERVICE_ACCOUNTS, account, namespace=key)
        except ApiError as error:
            if error.reason != "AlreadyExists" and not namespace_terminating(error):
                raise


def _deleted(old: Object | None, new: Object | None) -> Iterable[str]:
    """The namespace of a default ServiceAccount that somebody deleted."""
    if new is not None or old is None or old["metadata"]["name"] != DEFAULT:
        return []
    return [old["metadata"]["namespace"]]
