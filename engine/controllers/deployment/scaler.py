"""Carries out a plan of sizes: writes ReplicaSets and tells of it (scaleReplicaSet in sync.go)."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.types import REPLICA_SETS, Object
from engine.client import NORMAL, Client, EventRecorder
from engine.controllers.deployment.limits import max_surge
from engine.controllers.deployment.replica_sets import (
    ReplicaSets,
    annotations_of,
    replica_annotations,
    replicas,
    with_annotations,
)
from engine.controllers.deployment.scaling import Scale
from engine.controllers.own_writes import OwnWrites


class Scaler:
    def __init__(self, client: Client, recorder: EventRecorder, writes: OwnWrites) -> None:
        self._client = client
        self._recorder = recorder
        self._writes = writes

    async def scale(self, deployment: Object, sets: ReplicaSets, plan: Iterable[Scale]) -> ReplicaSets:
        """The ReplicaSets as the server has them after the plan. Raises at the first failure."""
        current = {rs["metadata"]["name"]: rs for rs in sets.all}
        for step in plan:
            name = step.replica_set["metadata"]["name"]
            current[name] = await self._scale_one(deployment, current[name], step.size)
        new = current[sets.new["metadata"]["name"]] if sets.new is not None else None
        return ReplicaSets(new, [current[rs["metadata"]["name"]] for rs in sets.old])

    async def _scale_one(self, deployment: Object, rs: Object, size: int) -> Object:
        wanted = replica_annotations(deployment, max_surge(deployment))
        before = replicas(rs)
        if before == size and wanted.items() <= annotations_of(rs).items():
            return rs
        copy = with_annotations(rs, wanted)
        copy["spec"]["replicas"] = size
        updated = self._writes.note(await self._client.update(REPLICA_SETS, copy))
        if before != size:
            direction = "up" if before < size else "down"
            name = rs["metadata"]["name"]
            message = f"Scaled {direction} replica set {name} from {before} to {size}"
            self._recorder.event(deployment, NORMAL, "ScalingReplicaSet", message)
        return updated
