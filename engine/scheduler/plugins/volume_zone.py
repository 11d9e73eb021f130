"""VolumeZone: a bound volume that is labelled with a zone or region is reached only from there.

Source: upstream's plugins/volumezone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from engine.api.persistent_volumes import CLAIMS, STORAGE_CLASSES, VOLUMES, WAIT_FOR_FIRST_CONSUMER, class_of
from engine.api.types import Object
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.events import Action, ClusterEvent, EventResource, EventWithHint, QueueingHint
from engine.scheduler.framework.plugin import Depends, FilterPlugin, PreFilterPlugin, PreFilterResult
from engine.scheduler.framework.status import SKIP, SUCCESS, Status, unresolvable
from engine.scheduler.framework.verdicts import Verdicts
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.plugins.claims import bound_volume, claim_names
from engine.scheduler.plugins.volume_binding import after_claim
from engine.scheduler.pod_info import PodInfo

CONFLICT = unresolvable("node(s) had no available volume zone")

# The beta labels and what they are called now.
_GA_LABEL = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region": "topology.kubernetes.io/region",
}


class Topology(NamedTuple):
    key: str
    values: frozenset[str]


def topologies(volume: Object) -> tuple[Topology, ...]:
    """The volume's zone and region labels; several zones are joined by two underscores. A label with a zone that
    has no name tells nothing."""
    labels = volume["metadata"].get("labels") or {}
    listed = ((key, frozenset(part.strip() for part in labels.get(key, "").split("__"))) for key in _GA_LABEL)
    return tuple(Topology(key, zones) for key, zones in listed if "" not in zones)


@dataclass(slots=True)
class ZoneState:
    topologies: tuple[Topology, ...]

    def clone(self) -> ZoneState:
        return self

    def admits(self, node: NodeInfo) -> bool:
        labels = node.labels
        if not any(key in labels for key in _GA_LABEL):
            # A cluster without zones: nothing to compare with.
            return True
        return all(labels.get(key, labels.get(_GA_LABEL[key])) in values for key, values in self.topologies)


class VolumeZone(PreFilterPlugin, FilterPlugin):
    name = "VolumeZone"
    depends = Depends.NODE

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> PreFilterResult:
        found: list[Topology] = []
        for name, ephemeral in claim_names(pod):
            if ephemeral:
                continue
            listed = self._of_claim(name, pod.namespace)
            if isinstance(listed, Status):
                return PreFilterResult(listed)
            found += listed
        if not found:
            return PreFilterResult(SKIP)
        state.write(self.name, ZoneState(tuple(found)))
        return PreFilterResult()

    def _of_claim(self, name: str, namespace: str) -> tuple[Topology, ...] | Status:
        if not name:
            return unresolvable("PersistentVolumeClaim had no name")
        claim = self.handle.lister(CLAIMS).get(name, namespace)
        if claim is None:
            return unresolvable(f'persistentvolumeclaim "{name}" not found')
        if not bound_volume(claim):
            return self._unbound(claim)
        volume = self.handle.lister(VOLUMES).get(bound_volume(claim))
        if volume is None:
            return unresolvable(f'persistentvolume "{bound_volume(claim)}" not found')
        return topologies(volume)

    def _unbound(self, claim: Object) -> tuple[Topology, ...] | Status:
        """An unbound claim is fine if its class waits for the pod."""
        name = class_of(claim)
        if not name:
            return unresolvable("PersistentVolumeClaim had no pv name and storageClass name")
        found = self.handle.lister(STORAGE_CLASSES).get(name)
        if found is None:
            return unresolvable(f'storageclass.storage.k8s.io "{name}" not found')
        mode = found.get("volumeBindingMode")
        if mode is None:
            return unresolvable(f'VolumeBindingMode not set for StorageClass "{name}"')
        return () if mode == WAIT_FOR_FIRST_CONSUMER else unresolvable("PersistentVolume had no name")

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        return SUCCESS if state.read(self.name, ZoneState).admits(node) else CONFLICT

    def filter_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        kept = state.read(self.name, ZoneState)
        key = (self.name, tuple((t.key, tuple(sorted(t.values))) for t in kept.topologies))
        return Verdicts.where(snapshot.static(key, lambda node: int(kept.admits(node)))[rows] == 0, CONFLICT)

    def events_to_register(self) -> list[EventWithHint]:
        def on(resource: EventResource, action: Action) -> ClusterEvent:
            return ClusterEvent(resource, action)

        changed = Action.ADD | Action.UPDATE
        return [
            EventWithHint(on(EventResource.STORAGE_CLASS, Action.ADD), _after_class),
            EventWithHint(on(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)),
            EventWithHint(on(EventResource.PERSISTENT_VOLUME_CLAIM, changed), after_claim),
            EventWithHint(on(EventResource.PERSISTENT_VOLUME, changed), _after_volume),
        ]


def _after_class(pod: PodInfo, old: Object | None, new: Object) -> QueueingHint:
    waits = new.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER
    return QueueingHint.QUEUE if waits else QueueingHint.SKIP


def _after_volume(pod: PodInfo, old: Object | None, new: Object) -> QueueingHint:
    moved = old is None or topologies(old) != topologies(new)
    return QueueingHint.QUEUE if moved else QueueingHint.SKIP
