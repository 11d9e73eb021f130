"""NodeVolumeLimits: a node attaches only so many volumes of a CSI driver (plugins/nodevolumelimits/csi.go).

Volumes of the in-tree plugins that drivers have taken over count as the driver's, whatever a CSINode says of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.api.csi_migration import migrated_driver
from engine.api.persistent_volumes import CLAIMS, STORAGE_CLASSES, VOLUMES, class_of
from engine.api.types import GVR, Object
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.events import Action, ClusterEvent, EventResource, EventWithHint, QueueingHint
from engine.scheduler.framework.plugin import FilterPlugin, PreFilterPlugin, PreFilterResult
from engine.scheduler.framework.profile import at_least
from engine.scheduler.framework.status import SKIP, SUCCESS, Status, error, unresolvable, unschedulable
from engine.scheduler.framework.verdicts import Verdicts
from engine.scheduler.migrated_volumes import limited_volume, provisioning_driver
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.plugins.claims import bound_volume, claim_names, is_owned_by, not_the_owner
from engine.scheduler.plugins.migrated_topology import CSI_NODES
from engine.scheduler.plugins.volume_binding import CSI_DRIVERS, after_claim
from engine.scheduler.pod_info import PodInfo

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle

VOLUME_ATTACHMENTS = GVR("storage.k8s.io", "v1", "volumeattachments")
TOO_MANY = unschedulable("node(s) exceed max volume count")

# Of each volume, by a name that no two volumes share, the driver that attaches it.
Drivers = dict[str, str]


@dataclass(slots=True)
class LimitState:
    """What the pod needs attached, and by node what is attached; `demanded` are the drivers that a node must have, and
    `missing` is said of the first claim that is not there, or not the pod's."""

    wanted: Drivers
    attachments: dict[str, Drivers]
    demanded: list[str]
    missing: Status | None

    def clone(self) -> LimitState:
        return self


class NodeVolumeLimits(PreFilterPlugin, FilterPlugin):
    name = "NodeVolumeLimits"
    reads = (CLAIMS, VOLUMES, STORAGE_CLASSES, CSI_NODES, CSI_DRIVERS, VOLUME_ATTACHMENTS)

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self._known: dict[str, tuple[Object | None, dict[str, int]]] = {}  # limits of nodes, and whence they are

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> PreFilterResult:
        wanted = self._drivers(pod)
        demanded, missing = self._demanded(wanted), self._missing_claim(pod)
        if missing is None and (not wanted or (not demanded and not self.handle.lister(CSI_NODES).list())):
            return PreFilterResult(SKIP)
        state.write(self.name, LimitState(wanted, self._attachments(), demanded, missing))
        return PreFilterResult()

    def _missing_claim(self, pod: PodInfo) -> Status | None:
        for name, ephemeral in claim_names(pod):
            claim = self.handle.lister(CLAIMS).get(name, pod.namespace)
            if claim is None:
                why = f'looking up PVC {pod.namespace}/{name}: persistentvolumeclaim "{name}" not found'
                return unresolvable(why)
            if ephemeral and not is_owned_by(claim, pod):
                return error(not_the_owner(pod, name))
        return None

    def _demanded(self, wanted: Drivers) -> list[str]:
        """The drivers that say of themselves that a pod must not go where they are not (KEP 5030)."""
        if not at_least(self.handle.version, 37):
            return []
        found = ((driver, self.handle.lister(CSI_DRIVERS).get(driver)) for driver in sorted(set(wanted.values())))
        return [name for name, obj in found if ((obj or {}).get("spec") or {}).get("preventPodSchedulingIfMissing")]

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        kept = state.read(self.name, LimitState)
        if kept.missing is not None:
            return kept.missing
        if missing := self.missing_drivers(kept, node):
            return unschedulable(f"{missing[0]} CSI driver is not installed on the node")
        crowded = self._may_be_over(kept, [node])
        return TOO_MANY if crowded and self.over_limit(state, node) else SUCCESS

    def missing_drivers(self, kept: LimitState, node: NodeInfo) -> list[str]:
        """Those of the drivers demanded that the node has not."""
        if not kept.demanded:
            return []
        found = self.handle.lister(CSI_NODES).get(node.name)
        there = {driver["name"] for driver in ((found or {}).get("spec") or {}).get("drivers") or ()}
        return [driver for driver in kept.demanded if driver not in there]

    def filter_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        kept, nodes = state.read(self.name, LimitState), snapshot.nodes
        if kept.demanded or kept.missing is not None:
            return self.filter_each(state, pod, snapshot, rows)
        failed = np.zeros(len(rows), np.bool_)
        for index in self._may_be_over(kept, [nodes[row] for row in rows.tolist()]):
            failed[index] = bool(self.over_limit(state, nodes[rows[index]]))
        return Verdicts.where(failed, TOO_MANY)

    def _may_be_over(self, kept: LimitState, nodes: list[NodeInfo]) -> list[int]:
        """Which of the nodes have to be counted in full: most have room for more than can be attached, whatever it
        is."""
        of_node, known = self.handle.lister(CSI_NODES).get, self._known
        drivers, attached, more = frozenset(kept.wanted.values()), kept.attachments, len(kept.wanted)
        found = []
        for index, node in enumerate(nodes):
            csi_node, entry = of_node(node.name), known.get(node.name)
            limits = entry[1] if entry is not None and entry[0] is csi_node else self._limits(node.name)
            there = len(node.used_claims) + len(node.inline_disks) + len(attached.get(node.name, ())) + more
            if limits and any(there > limits[driver] for driver in drivers if driver in limits):
                found.append(index)
        return found

    def over_limit(self, state: CycleState, node: NodeInfo) -> dict[str, tuple[int, int]]:
        """Of each driver that the node would have too many volumes of: how many, and how many it may have."""
        kept = state.read(self.name, LimitState)
        limits, wanted = self._limits(node.name), kept.wanted
        used, attached = self._used(node), kept.attachments.get(node.name, {})
        counts: dict[str, int] = {}
        # What is attached without a pod that uses it, such as for the one before, counts beside the pod's own volume.
        left = (driver for volume, driver in attached.items() if volume not in used)
        new = [driver for volume, driver in wanted.items() if volume not in used]
        for driver in (*used.values(), *left, *new):
            counts[driver] = counts.get(driver, 0) + 1
        added = sorted(set(new))
        return {d: (counts[d], limits[d]) for d in added if d in limits and counts[d] > limits[d]}

    def _limits(self, node_name: str) -> dict[str, int]:
        """How many volumes the node attaches of each driver that sets a limit."""
        found = self.handle.lister(CSI_NODES).get(node_name)
        known = self._known.get(node_name)
        if known is None or known[0] is not found:
            drivers = ((found or {}).get("spec") or {}).get("drivers") or ()
            counts = ((driver["name"], (driver.get("allocatable") or {}).get("count")) for driver in drivers)
            known = self._known[node_name] = found, {name: count for name, count in counts if count is not None}
        return known[1]

    def _used(self, node: NodeInfo) -> Drivers:
        """What the pods on the node use."""
        used: Drivers = {}
        for other in node.pods.values():
            if other.claims or other.inline_disks:
                used.update(self._drivers(other))
        return used

    def _attachments(self) -> dict[str, Drivers]:
        """By node, what is attached to it, also where no pod uses it (any more)."""
        found: dict[str, Drivers] = {}
        for attachment in self.handle.lister(VOLUME_ATTACHMENTS).list():
            spec = attachment.get("spec") or {}
            name = (spec.get("source") or {}).get("persistentVolumeName")
            volume = self.handle.lister(VOLUMES).get(name) if name else None
            if volume is not None:
                found.setdefault(spec.get("nodeName", ""), {}).update(_of_volume(volume))
        return found

    def _drivers(self, pod: PodInfo) -> Drivers:
        found: Drivers = dict(pod.inline_disks)
        for name, _ in claim_names(pod):
            if (claim := self.handle.lister(CLAIMS).get(name, pod.namespace)) is not None:
                found.update(self._of_claim(claim))
        return found

    def _of_claim(self, claim: Object) -> Drivers:
        volume = self.handle.lister(VOLUMES).get(bound_volume(claim)) if bound_volume(claim) else None
        if volume is not None:
            return _of_volume(volume)
        # Not bound yet: the class says who will attach it, and the claim stands for the volume that will be.
        found = self.handle.lister(STORAGE_CLASSES).get(class_of(claim)) if class_of(claim) else None
        driver = provisioning_driver((found or {}).get("provisioner") or "")
        metadata = claim["metadata"]
        return {f"{driver}/{metadata.get('namespace', '')}/{metadata['name']}": driver} if driver else {}

    def events_to_register(self) -> list[EventWithHint]:
        changed = Action.ADD | Action.UPDATE
        return [
            EventWithHint(ClusterEvent(EventResource.CSI_NODE, changed), _after_csi_node),
            EventWithHint(ClusterEvent(EventResource.ASSIGNED_POD, Action.DELETE), _after_pod),
            EventWithHint(ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, Action.ADD), after_claim),
            EventWithHint(ClusterEvent(EventResource.VOLUME_ATTACHMENT, Action.DELETE), _after_attachment),
        ]


def _of_volume(volume: Object) -> Drivers:
    spec = volume.get("spec") or {}
    csi = spec.get("csi")
    return {f"{csi['driver']}/{csi['volumeHandle']}": csi["driver"]} if csi else limited_volume(spec)


def _after_csi_node(pod: PodInfo, old: Object | None, new: Object) -> QueueingHint:
    """The node is new to CSI, a driver is new on it, or attaches more than before."""

    def counts(obj: Object | None) -> dict[str, int | None]:
        drivers = ((obj or {}).get("spec") or {}).get("drivers") or ()
        return {d["name"]: (d.get("allocatable") or {}).get("count") for d in drivers}

    if old is None:
        return QueueingHint.QUEUE
    before = counts(old)
    for name, count in counts(new).items():
        if name not in before or (before[name] or 0) < (count or 0) or (before[name] and count is None):
            return QueueingHint.QUEUE
    return QueueingHint.SKIP


def _after_pod(pod: PodInfo, old: PodInfo, new: PodInfo | None) -> QueueingHint:
    """A pod that had something attached to its node is gone."""
    attached = old.claims or any(migrated_driver(volume) for volume in old.spec.get("volumes") or ())
    bound = old.node_name or old.nominated_node_name
    return QueueingHint.QUEUE if bound and attached else QueueingHint.SKIP


def _after_attachment(pod: PodInfo, old: Object, new: Object | None) -> QueueingHint:
    """What is detached may have been of a driver that the pod needs; of claims that is not looked up."""
    volumes = pod.spec.get("volumes") or ()
    if any(volume.get("persistentVolumeClaim") for volume in volumes):
        return QueueingHint.QUEUE
    attacher = (old.get("spec") or {}).get("attacher")
    freed = attacher and any(migrated_driver(volume) == attacher for volume in volumes)
    return QueueingHint.QUEUE if freed else QueueingHint.SKIP
