"""The TTL controller: tells kubelets by an annotation of their Node how long they may go by what they have read of
ConfigMaps and Secrets, the longer the larger the cluster is (pkg/controller/ttl/ttl_controller.go)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from engine.api.types import NODES, Object
from engine.controllers.controller import Controller

ANNOTATION = "node.alpha.kubernetes.io/ttl"


class Boundary(NamedTuple):
    """The sizes of a cluster for which this many seconds hold; they overlap, so that one Node more or less does not
    change those of all."""

    least: int
    most: int
    seconds: int


BOUNDARIES = (
    Boundary(0, 100, 0),
    Boundary(90, 500, 15),
    Boundary(450, 1000, 30),
    Boundary(900, 2000, 60),
    Boundary(1800, 2**31 - 1, 300),
)


class TtlController(Controller):
    name = "ttl-controller"
    kind = "node"
    workers = 1

    def set_up(self) -> None:
        self._nodes = self.lister(NODES)
        self._boundary = 0
        self.watch(NODES, self._changed)

    def _changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        if old is None or new is None:
            before, self._boundary = self._boundary, self._step(len(self._nodes))
            if before != self._boundary:
                return [node["metadata"]["name"] for node in self._nodes.list()]
        return [new["metadata"]["name"]] if new is not None and self._found(new) != self._wanted else []

    @property
    def _wanted(self) -> str:
        return str(BOUNDARIES[self._boundary].seconds)

    def _found(self, node: Object) -> str | None:
        return (node["metadata"].get("annotations") or {}).get(ANNOTATION)

    def _step(self, size: int) -> int:
        boundary = self._boundary
        while size > BOUNDARIES[boundary].most:
            boundary += 1
        while size < BOUNDARIES[boundary].least:
            boundary -= 1
        return boundary

    async def reconcile(self, key: str) -> None:
        node = self._nodes.get(key)
        if node is None:
            return
        wanted, found = self._wanted, self._found(node)
        self.note(desired={"seconds": wanted}, actual={"seconds": found})
        if found != wanted:
            await self.client.patch(NODES, key, {"metadata": {"annotations": {ANNOTATION: wanted}}})
