"""VolumeRestrictions: disks that only one pod may mount, and ReadWriteOncePod claims.

Source: upstream's plugins/volumerestrictions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.api.persistent_volumes import CLAIMS
from engine.api.types import Object
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.events import Action, ClusterEvent, EventResource, EventWithHint, QueueingHint
from engine.scheduler.framework.plugin import FilterPlugin, PreFilterPlugin, PreFilterResult
from engine.scheduler.framework.status import SKIP, SUCCESS, Status, unresolvable, unschedulable
from engine.scheduler.framework.verdicts import Verdicts
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.plugins.claims import claim_names
from engine.scheduler.plugins.volume_binding import after_claim
from engine.scheduler.pod_info import PodInfo

DISK_CONFLICT = unschedulable("node(s) had no available disk")
CLAIM_IN_USE = unschedulable(
    "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
)

_DISKS = ("gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd")


def _disks(pod: PodInfo) -> list[Object]:
    return [v for v in pod.spec.get("volumes") or () if any(v.get(kind) for kind in _DISKS)]


def _both_read_only(one: Object, other: Object) -> bool:
    return bool(one.get("readOnly") and other.get("readOnly"))


def _conflict(one: Object, other: Object) -> bool:
    """Whether two volumes are one disk that cannot be mounted twice."""
    if (a := one.get("gcePersistentDisk")) and (b := other.get("gcePersistentDisk")):
        return a.get("pdName") == b.get("pdName") and not _both_read_only(a, b)
    if (a := one.get("awsElasticBlockStore")) and (b := other.get("awsElasticBlockStore")):
        return bool(a.get("volumeID") == b.get("volumeID"))
    if (a := one.get("iscsi")) and (b := other.get("iscsi")):
        return a.get("iqn") == b.get("iqn") and not _both_read_only(a, b)
    if (a := one.get("rbd")) and (b := other.get("rbd")):
        same_pool = (a.get("pool") or "rbd", a.get("image")) == (b.get("pool") or "rbd", b.get("image"))
        shared = set(a.get("monitors") or ()) & set(b.get("monitors") or ())
        return same_pool and bool(shared) and not _both_read_only(a, b)
    return False


def shares_disk(pod: PodInfo, other: PodInfo) -> bool:
    """Whether the other has a disk mounted that this pod cannot mount beside it."""
    return any(_conflict(mine, theirs) for mine in _disks(pod) for theirs in _disks(other))


@dataclass(slots=True)
class RestrictionState:
    """`users` counts the pods anywhere that use one of the pod's ReadWriteOncePod claims."""

    exclusive: frozenset[str]
    users: int

    def clone(self) -> RestrictionState:
        return RestrictionState(self.exclusive, self.users)


class VolumeRestrictions(PreFilterPlugin, FilterPlugin):
    name = "VolumeRestrictions"

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> PreFilterResult:
        exclusive: set[str] = set()
        for name, ephemeral in claim_names(pod):
            if ephemeral:
                continue
            claim = self.handle.lister(CLAIMS).get(name, pod.namespace)
            if claim is None:
                return PreFilterResult(unresolvable(f'persistentvolumeclaim "{name}" not found'))
            if "ReadWriteOncePod" in ((claim.get("spec") or {}).get("accessModes") or ()):
                exclusive.add(f"{pod.namespace}/{name}")
        users = sum(node.used_claims.get(key, 0) > 0 for key in sorted(exclusive) for node in snapshot.nodes)
        if not users and not _disks(pod):
            return PreFilterResult(SKIP)
        state.write(self.name, RestrictionState(frozenset(exclusive), users))
        return PreFilterResult()

    def add_pod(self, state: CycleState, pod: PodInfo, added: PodInfo, node: NodeInfo) -> None:
        self._update(state, added, 1)

    def remove_pod(self, state: CycleState, pod: PodInfo, removed: PodInfo, node: NodeInfo) -> None:
        self._update(state, removed, -1)

    def _update(self, state: CycleState, other: PodInfo, by: int) -> None:
        kept = state.get(self.name, RestrictionState)
        if kept is not None:
            kept.users += by * sum(key in kept.exclusive for key in other.claims)

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        if _disks(pod) and any(shares_disk(pod, other) for other in node.pods.values()):
            return DISK_CONFLICT
        return CLAIM_IN_USE if state.read(self.name, RestrictionState).users > 0 else SUCCESS

    def filter_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        if _disks(pod):
            return self.filter_each(state, pod, snapshot, rows)
        in_use = state.read(self.name, RestrictionState).users > 0
        return Verdicts.where(np.full(len(rows), in_use, np.bool_), CLAIM_IN_USE)

    def events_to_register(self) -> list[EventWithHint]:
        gone = ClusterEvent(EventResource.ASSIGNED_POD, Action.DELETE)
        node = ClusterEvent(EventResource.NODE, Action.ADD)
        claim = ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, Action.ADD)
        return [EventWithHint(gone, self._after_pod), EventWithHint(node), EventWithHint(claim, after_claim)]

    def _after_pod(self, pod: PodInfo, old: PodInfo, new: PodInfo | None) -> QueueingHint:
        """A pod of the namespace that shared a disk or a claim with this one is gone."""
        if old.namespace != pod.namespace:
            return QueueingHint.SKIP
        shared = shares_disk(pod, old) or bool(set(pod.claims) & set(old.claims))
        return QueueingHint.QUEUE if shared else QueueingHint.SKIP
