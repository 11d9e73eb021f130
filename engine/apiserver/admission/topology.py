"""PodTopologyLabels: a Pod carries the zone and region of its node as labels (KEP-4742).

Source: plugin/pkg/admission/podtopologylabels.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from engine.api.resources import ResourceInfo
from engine.api.types import Object
from engine.apiserver.admission.attributes import CREATES, Attributes, Operation, Plugin, Watched
from engine.apiserver.cacher.caches import WatchCaches

_LABELS = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
_SINCE = (1, 35)


class PodTopologyLabels(Plugin):
    """A Binding hands its labels on to the Pod; a Pod that is born bound gets them itself."""

    name = "PodTopologyLabels"
    operations = CREATES
    resources = frozenset(("pods", "pods/binding"))

    def __init__(self, caches: WatchCaches, nodes: ResourceInfo | None) -> None:
        self._caches = caches
        self._nodes = nodes

    async def ground(self, attributes: Attributes) -> Hashable:
        pod = attributes.object
        return () if pod is not None and not pod["spec"].get("nodeName") else None

    def follows(self, attributes: Attributes, step: str) -> Sequence[Watched] | None:
        return ()

    async def mutate(self, attributes: Attributes) -> bool:
        obj = attributes.object
        if obj is None or attributes.operation is not Operation.CREATE or attributes.resource.release < _SINCE:
            return False
        if attributes.key == "pods":
            node = (obj.get("spec") or {}).get("nodeName", "")
        elif attributes.key == "pods/binding" and (obj.get("target") or {}).get("kind") == "Node":
            node = obj["target"].get("name", "")
        else:
            return False
        return _give(obj["metadata"], await self._labels(node)) if node else False

    async def _labels(self, node: str) -> dict[str, str]:
        if self._nodes is None:
            return {}
        cache = await self._caches.started(self._nodes)
        found = cache.get(self._nodes.key("", node))
        labels: dict[str, str] = (found or {"metadata": {}})["metadata"].get("labels") or {}
        return {name: labels[name] for name in _LABELS if name in labels}


def _give(metadata: Object, labels: dict[str, str]) -> bool:
    """What an object says of itself is overwritten."""
    own = metadata.get("labels") or {}
    if own.items() >= labels.items():
        return False
    metadata["labels"] = {**own, **labels}
    return True
