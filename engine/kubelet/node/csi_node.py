"""The CSINode of a node: which in-tree volumes CSI drivers have taken over there, and no drivers as none is installed
(pkg/volume/csi/nodeinfomanager/nodeinfomanager.go, InitializeCSINodeWithAnnotation). It belongs to the Node and goes
with it."""

from __future__ import annotations

import logging

from engine.api.errors import ApiError
from engine.api.schema import resolve_version
from engine.api.types import GVR, Object, copy_object
from engine.client import Client

log = logging.getLogger(__name__)

CSI_NODES = GVR("storage.k8s.io", "v1", "csinodes")
MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
# The plugins of csi-translation-lib, and the release from which on their volumes are the driver's by default
# (pkg/features: CSIMigrationPortworx is on since 1.31, all others in every release that there is here).
_PLUGINS = {
    "kubernetes.io/aws-ebs": (1, 0),
    "kubernetes.io/azure-disk": (1, 0),
    "kubernetes.io/azure-file": (1, 0),
    "kubernetes.io/cinder": (1, 0),
    "kubernetes.io/gce-pd": (1, 0),
    "kubernetes.io/portworx-volume": (1, 31),
    "kubernetes.io/vsphere-volume": (1, 0),
}


def migrated_plugins(version: str) -> str:
    """As the annotation has them, of a Kubernetes version."""
    major, minor = map(int, resolve_version(version).split(".")[:2])
    return ",".join(sorted(name for name, since in _PLUGINS.items() if (major, minor) >= since))


class CsiNode:
    def __init__(self, client: Client, *, node_name: str, kubernetes_version: str) -> None:
        self._client = client
        self._name = node_name
        self._annotation = migrated_plugins(kubernetes_version)
        self._published = False

    async def publish(self, node: Object) -> None:
        """Once, at the start of the kubelet; what fails is tried again when this is called again."""
        if self._published:
            return
        try:
            await self._write(node)
        except (ApiError, ConnectionError) as error:
            log.warning("failed to publish CSINode of %s: %s", self._name, error)
        else:
            self._published = True

    async def _write(self, node: Object) -> None:
        try:
            found = await self._client.get(CSI_NODES, self._name)
        except ApiError as error:
            if error.code != 404:
                raise
            await self._client.create(CSI_NODES, self._made(node))
            return
        if (found["metadata"].get("annotations") or {}).get(MIGRATED_PLUGINS) != self._annotation:
            changed = copy_object(found)
            changed["metadata"].setdefault("annotations", {})[MIGRATED_PLUGINS] = self._annotation
            await self._client.update(CSI_NODES, changed)

    def _made(self, node: Object) -> Object:
        owner = {"apiVersion": "v1", "kind": "Node", "name": self._name, "uid": node["metadata"]["uid"]}
        annotations = {MIGRATED_PLUGINS: self._annotation}
        return {
            "apiVersion": CSI_NODES.api_version,
            "kind": "CSINode",
            "metadata": {"name": self._name, "annotations": annotations, "ownerReferences": [owner]},
            "spec": {"drivers": []},
        }
