"""The publisher of the cluster's CA: the ConfigMap `kube-root-ca.crt` in every namespace, for Pods that ask the API
(pkg/controller/certificates/rootcacertpublisher/publisher.go). A cluster without a CA (one that is not served over
HTTPS) has nothing to publish."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, NAMESPACES, Object, copy_object
from engine.controllers.controller import Controller
from engine.controllers.pod_control import namespace_terminating

NAME = "kube-root-ca.crt"
_DESCRIPTION = "kubernetes.io/description"
_TEXT = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)


class RootCACertPublisher(Controller):
    name = "root-ca-cert-publisher"
    kind = "namespace"
    workers = 1

    def set_up(self) -> None:
        if not self.config.root_ca:
            return
        self._namespaces = self.lister(NAMESPACES)
        self._config_maps = self.lister(CONFIGMAPS)
        self.watch(NAMESPACES, lambda old, new: [new["metadata"]["name"]] if new is not None else [])
        self.watch(CONFIGMAPS, _changed)

    async def reconcile(self, key: str) -> None:
        namespace = self._namespaces.get(key)
        if namespace is None or (namespace.get("status") or {}).get("phase") == "Terminating":
            return
        data = {"ca.crt": self.config.root_ca}
        found = self._config_maps.get(NAME, key)
        self.note(desired=[NAME], actual=[NAME] if found is not None else [])
        if found is None:
            await self._create(key, data)
        elif found.get("data") != data or not (found["metadata"].get("annotations") or {}).get(_DESCRIPTION):
            changed = copy_object(found)
            changed["data"] = data
            changed["metadata"].setdefault("annotations", {})[_DESCRIPTION] = _TEXT
            await self.client.update(CONFIGMAPS, changed)

    async def _create(self, namespace: str, data: dict[str, str]) -> None:
        metadata = {"name": NAME, "namespace": namespace, "annotations": {_DESCRIPTION: _TEXT}}
        made: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
        try:
            await self.client.create(CONFIGMAPS, made, namespace=namespace)
        except ApiError as error:
            if error.reason != "AlreadyExists" and not namespace_terminating(error):
                raise


def _changed(old: Object | None, new: Object | None) -> Iterable[str]:
    metadata = (new or old or {})["metadata"]
    return [metadata["namespace"]] if metadata["name"] == NAME else []
