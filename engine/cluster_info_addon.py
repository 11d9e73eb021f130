"""Where a cluster is and which CA it has, for who wants to join and knows nothing yet: the ConfigMap cluster-info,
which everybody may read (cmd/kubeadm app/phases/bootstraptoken/clusterinfo). `engine/controllers/bootstrap/` signs it.
"""

from __future__ import annotations

import logging
from base64 import b64encode

from engine.api.errors import ApiError
from engine.api.golang.yaml_writer import dump
from engine.api.types import CONFIGMAPS, ROLE_BINDINGS, ROLES, Object, copy_object
from engine.client import Client
from engine.tasks import Supervisor

log = logging.getLogger(__name__)

_NAMESPACE, _NAME = "kube-public", "cluster-info"
_RBAC = "rbac.authorization.k8s.io"
_ROLE = "kubeadm:bootstrap-signer-clusterinfo"
_KUBECONFIG = "kubeconfig"


class ClusterInfoAddon:
    """Makes it, at its own pace: nobody waits for it. With `keeps` it says where the cluster is now, whatever it said
    before."""

    def __init__(self, client: Client, address: str, root_ca: str, *, keeps: bool) -> None:
        self._client = client
        self._text = kubeconfig(address, root_ca)
        self._keeps = keeps
        self._tasks = Supervisor("kubeadm")

    async def start(self) -> None:
        self._tasks.spawn(self._make(), "cluster-info")

    async def stop(self) -> None:
        await self._tasks.close()

    async def _make(self) -> None:
        try:
            await self._tell()
            for gvr, obj in ((ROLES, role()), (ROLE_BINDINGS, role_binding())):
                try:
                    await self._client.create(gvr, obj, namespace=_NAMESPACE)
                except ApiError as error:
                    if error.code != 409:
                        raise
        except (ApiError, ConnectionError) as error:
            log.warning("the ConfigMap cluster-info was not made: %s", error)

    async def _tell(self) -> None:
        made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": _NAME, "namespace": _NAMESPACE}}
        try:
            await self._client.create(CONFIGMAPS, {**made, "data": {_KUBECONFIG: self._text}}, namespace=_NAMESPACE)
            return
        except ApiError as error:
            if error.code != 409:
                raise
        found = copy_object(await self._client.get(CONFIGMAPS, _NAME, namespace=_NAMESPACE))
        if self._keeps and (found.get("data") or {}).get(_KUBECONFIG) != self._text:
            found["data"] = {**(found.get("data") or {}), _KUBECONFIG: self._text}
            await self._client.update(CONFIGMAPS, found)


def kubeconfig(address: str, root_ca: str) -> str:
    """Of a cluster without a name, and of nobody, as client-go writes it."""
    cluster = {"certificate-authority-data": b64encode(root_ca.encode()).decode(), "server": address}
    return dump(
        {
            "apiVersion": "v1",
            "clusters": [{"cluster": cluster, "name": ""}],
            "contexts": None,
            "current-context": "",
            "kind": "Config",
            "users": None,
        }
    )


def role() -> Object:
    rule = {"apiGroups": [""], "resourceNames": [_NAME], "resources": ["configmaps"], "verbs": ["get"]}
    return {"apiVersion": f"{_RBAC}/v1", "kind": "Role", "metadata": _metadata(), "rules": [rule]}


def role_binding() -> Object:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": _metadata(),
        "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": _ROLE},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": "system:anonymous"}],
    }


def _metadata() -> Object:
    return {"name": _ROLE, "namespace": _NAMESPACE}
