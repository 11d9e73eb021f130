"""VolumeBinding: a pod's claims can be had on the node, and are bound before the pod is.

Source: upstream's plugins/volumebinding (volume_binding.go, binder.go); how nodes are scored is in `storage_scoring`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.api.errors import ApiError
from engine.api.golang.duration import duration_text
from engine.api.persistent_volumes import CLAIMS, NO_PROVISIONER, SELECTED_NODE, STORAGE_CLASSES, VOLUMES, class_of
from engine.api.types import GVR, Object
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.events import Action, ClusterEvent, EventResource, EventWithHint, QueueingHint
from engine.scheduler.framework.plugin import (
    FilterPlugin,
    PreBindPlugin,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ReservePlugin,
    ScorePlugin,
)
from engine.scheduler.framework.profile import at_least
from engine.scheduler.framework.status import SKIP, SUCCESS, Status, error, unresolvable
from engine.scheduler.framework.verdicts import Verdicts
from engine.scheduler.migrated_volumes import MIGRATED_PLUGINS
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.plugins.assumptions import Assumptions
from engine.scheduler.plugins.claims import (
    annotations_of,
    bound_volume,
    candidate_volumes,
    claim_names,
    delays_binding,
    find_matching_volume,
    is_bound,
    is_owned_by,
    not_the_owner,
    reachable_from,
    requested_size,
    volume_affinity,
)
from engine.scheduler.plugins.migrated_topology import may_be_translated, seen_on
from engine.scheduler.plugins.storage_scoring import (
    Provision,
    StorageScorer,
    usage_of_bindings,
    usage_of_provisions,
)
from engine.scheduler.plugins.volume_binder import BindingError, PodVolumes, VolumeBinder, bound_to, selected
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.resource import whole
from engine.scheduler.selecting import canonical, pod_selector

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle

CSI_DRIVERS = GVR("storage.k8s.io", "v1", "csidrivers")
CSI_STORAGE_CAPACITIES = GVR("storage.k8s.io", "v1", "csistoragecapacities")

BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
NOT_ENOUGH_SPACE = "node(s) did not have enough free storage"
VOLUME_MISSING = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"

DEFAULT_BIND_TIMEOUT = 600.0


@dataclass(slots=True)
class VolumeState:
    bound: list[Object]
    delayed: list[tuple[Object, list[Object]]]  # smallest first, each with the volumes that it may be bound to
    chosen: PodVolumes | None = None  # once reserved

    def clone(self) -> VolumeState:
        return self


class VolumeBinding(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, ReservePlugin, PreBindPlugin):
    name = "VolumeBinding"
    when_cancelled = "binding volumes: context canceled"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self._timeout = float(args.get("bindTimeoutSeconds", DEFAULT_BIND_TIMEOUT))
        self._claims = Assumptions(CLAIMS, handle)
        self._volumes = Assumptions(VOLUMES, handle)
        self._binder = VolumeBinder(handle, self._claims, self._volumes)
        self._scorer = StorageScorer(args.get("shape")) if at_least(handle.version, 37) else None

    # -- the pod's claims

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot) -> PreFilterResult:
        names = claim_names(pod)
        if not names:
            return PreFilterResult(SKIP)
        for name, ephemeral in names:
            if reason := self._not_usable(pod, name, ephemeral=ephemeral):
                return PreFilterResult(unresolvable(reason))
        claims = [c for name, _ in names if (c := self._claims.get(name, pod.namespace)) is not None]
        unbound = [claim for claim in claims if not is_bound(claim)]
        delayed = [c for c in unbound if not bound_volume(c) and delays_binding(c, self.handle)]
        if len(delayed) < len(unbound):
            return PreFilterResult(unresolvable("pod has unbound immediate PersistentVolumeClaims"))
        volumes = self._volumes.list() if delayed else []
        delayed.sort(key=lambda claim: requested_size(claim) or 0)
        matched = [(claim, candidate_volumes(claim, volumes)) for claim in delayed]
        state.write(self.name, VolumeState([claim for claim in claims if is_bound(claim)], matched))
        return PreFilterResult()

    def _not_usable(self, pod: PodInfo, name: str, *, ephemeral: bool) -> str:
        """Why a claim keeps the pod from every node; "" if it does not."""
        claim = self._claims.get(name, pod.namespace)
        if claim is None and ephemeral:
            return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
        if claim is None:
            return f'persistentvolumeclaim "{name}" not found'
        if (claim.get("status") or {}).get("phase") == "Lost":
            volume = bound_volume(claim)
            return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{volume}"'
        if claim["metadata"].get("deletionTimestamp"):
            return f'persistentvolumeclaim "{name}" is being deleted'
        if ephemeral and not is_owned_by(claim, pod):
            return not_the_owner(pod, name)
        return ""

    # -- nodes

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        _, reasons = self._find(state.read(self.name, VolumeState), node.node or {})
        return unresolvable(*reasons) if reasons else SUCCESS

    def filter_all(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        kept = state.read(self.name, VolumeState)
        volumes = [self._volumes.get(bound_volume(claim)) for claim in kept.bound]
        if kept.delayed or any(volume is None or may_be_translated(volume) for volume in volumes):
            return self.filter_each(state, pod, snapshot, rows)
        failed = np.zeros(len(rows), np.bool_)
        for volume in volumes:
            if volume is not None and volume_affinity(volume) is not None:
                key = ("volume", canonical(volume_affinity(volume)))
                failed |= snapshot.static(key, partial(_reachable, volume))[rows] == 0
        return Verdicts.where(failed, unresolvable(NODE_CONFLICT))

    def _find(self, kept: VolumeState, node: Object) -> tuple[PodVolumes, list[str]]:
        """What would be done for the pod's claims on this node, or why it cannot be."""
        reasons = []
        volumes = [self._volumes.get(bound_volume(claim)) for claim in kept.bound]
        for volume in volumes:
            if volume is None or not reachable_from(seen_on(volume, node, self.handle), node):
                reasons.append(VOLUME_MISSING if volume is None else NODE_CONFLICT)
                break
        found, conflict = self._find_unbound(kept.delayed, node)
        if conflict:
            reasons.append(conflict)
        # In the order in which they are always told.
        order = (NODE_CONFLICT, BIND_CONFLICT, NOT_ENOUGH_SPACE, VOLUME_MISSING)
        return found, sorted(reasons, key=order.index)

    def _find_unbound(self, claims: list[tuple[Object, list[Object]]], node: Object) -> tuple[PodVolumes, str]:
        if any(_is_selected_elsewhere(claim, node) for claim, _ in claims):
            return PodVolumes(), BIND_CONFLICT
        found = self._share_out(claims, node)
        for claim in found.provisions:
            if conflict := self._cannot_provision(claim, node):
                return found, conflict
        return found, ""

    def _share_out(self, claims: list[tuple[Object, list[Object]]], node: Object) -> PodVolumes:
        """Which volumes claims would be bound to here; the others would have to be provisioned."""
        found, taken = PodVolumes(), dict[str, Object]()
        found.provisions += [claim for claim, _ in claims if SELECTED_NODE in annotations_of(claim)]
        for claim, candidates in claims:
            if SELECTED_NODE in annotations_of(claim):
                continue
            volume = find_matching_volume(candidates, node, taken=taken)
            if volume is None:
                found.provisions.append(claim)
            else:
                taken[volume["metadata"]["name"]] = volume
                found.bindings.append((volume, claim))
        return found

    def left_over(self, kept: VolumeState, node: Object) -> list[tuple[Object, str]]:
        """Each claim that could get no volume here, and why; "" for one that is being provisioned for another node."""
        found = [(claim, "") for claim, _ in kept.delayed if _is_selected_elsewhere(claim, node)]
        here = [pair for pair in kept.delayed if not _is_selected_elsewhere(pair[0], node)]
        unmet = ((claim, self._cannot_provision(claim, node)) for claim in self._share_out(here, node).provisions)
        return [*found, *((claim, conflict) for claim, conflict in unmet if conflict)]

    def _cannot_provision(self, claim: Object, node: Object) -> str:
        found = self.handle.lister(STORAGE_CLASSES).get(class_of(claim))
        if found is None or found.get("provisioner") in (None, "", NO_PROVISIONER):
            return BIND_CONFLICT
        if not _topology_allows(found.get("allowedTopologies") or [], node):
            return BIND_CONFLICT
        if not self._tells_capacity(claim, found):
            return ""
        return "" if self._capacity(claim, node) is not None else NOT_ENOUGH_SPACE

    def _tells_capacity(self, claim: Object, storage_class: Object) -> bool:
        driver = self.handle.lister(CSI_DRIVERS).get(storage_class["provisioner"])
        told = driver is not None and bool((driver.get("spec") or {}).get("storageCapacity"))
        return told and requested_size(claim) is not None

    def _capacity(self, claim: Object, node: Object) -> Object | None:
        """The first of the class's capacities that has room for the claim and that the node can reach (KEP 1472)."""
        size, labels = requested_size(claim) or 0, node["metadata"].get("labels") or {}
        for capacity in self.handle.lister(CSI_STORAGE_CAPACITIES).list():
            limit = volume_limit(capacity)
            if (
                capacity.get("storageClassName") == class_of(claim)
                and limit is not None
                and limit >= size
                and capacity.get("nodeTopology") is not None
                and pod_selector(capacity["nodeTopology"]).matches(labels)
            ):
                return capacity
        return None

    # -- scoring

    def pre_score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Status:
        kept = state.get(self.name, VolumeState)
        return SKIP if self._scorer is None or kept is None or not kept.delayed else SUCCESS

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        kept, there = state.read(self.name, VolumeState), node.node
        if self._scorer is None or there is None:
            return 0
        found, _ = self._find(kept, there)
        if found.bindings:
            return self._scorer(usage_of_bindings(found.bindings))
        return self._scorer(usage_of_provisions(self._provision(claim, there) for claim in found.provisions))

    def _provision(self, claim: Object, node: Object) -> Provision:
        storage_class = self.handle.lister(STORAGE_CLASSES).get(class_of(claim))
        told = storage_class is not None and self._tells_capacity(claim, storage_class)
        return Provision(claim, self._capacity(claim, node) if told else None)

    # -- binding

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        kept, node = state.get(self.name, VolumeState), self.handle.snapshot.get(node_name)
        if kept is None or not kept.delayed or node is None:
            return SUCCESS
        found, reasons = self._find(kept, node.node or {})
        if reasons:
            return unresolvable(*reasons)
        bindings = [(bound_to(volume, claim), claim) for volume, claim in found.bindings]
        provisions = [selected(claim, node_name) for claim in found.provisions]
        for volume, _ in bindings:
            self._volumes.assume(volume)
        for claim in provisions:
            self._claims.assume(claim)
        kept.chosen = PodVolumes(bindings, provisions)
        return SUCCESS

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        kept = state.get(self.name, VolumeState)
        if kept is not None and kept.chosen is not None:
            self._assume_no_more(kept.chosen)

    def _assume_no_more(self, chosen: PodVolumes) -> None:
        for volume, _ in chosen.bindings:
            self._volumes.restore(volume)
        for claim in chosen.provisions:
            self._claims.restore(claim)

    def pre_bind_pre_flight(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        kept = state.get(self.name, VolumeState)
        return SKIP if kept is None or kept.chosen is None else SUCCESS

    def pre_bind_wait(self, state: CycleState) -> str:
        kept = state.get(self.name, VolumeState)
        names = self._binder.open_claims(kept.chosen) if kept is not None and kept.chosen is not None else []
        if not names:
            return ""
        kind = "PersistentVolumeClaim" if len(names) == 1 else "PersistentVolumeClaims"
        return f"{kind} {', '.join(names)} to be bound, for {duration_text(self._timeout)} at most"

    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        kept = state.get(self.name, VolumeState)
        if kept is None or kept.chosen is None:
            return SUCCESS
        try:
            await self._binder.bind(kept.chosen, pod, node_name, self._timeout)
        except (ApiError, ConnectionError, BindingError) as failure:
            self.handle.metrics.volume_errors.add("bind")
            return error(str(failure))
        # The listers have what was bound, and nobody may ask for it again: what was assumed would stay for ever.
        self._assume_no_more(kept.chosen)
        return SUCCESS

    # -- queueing hints

    def events_to_register(self) -> list[EventWithHint]:
        def on(resource: EventResource, action: Action) -> ClusterEvent:
            return ClusterEvent(resource, action)

        changed = Action.ADD | Action.UPDATE
        return [
            EventWithHint(on(EventResource.STORAGE_CLASS, changed), _after_class),
            EventWithHint(on(EventResource.PERSISTENT_VOLUME_CLAIM, changed), after_claim),
            EventWithHint(on(EventResource.PERSISTENT_VOLUME, changed)),
            EventWithHint(on(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)),
            EventWithHint(on(EventResource.CSI_NODE, changed), _after_csi_node),
            EventWithHint(on(EventResource.CSI_DRIVER, Action.UPDATE), _after_driver),
            EventWithHint(on(EventResource.CSI_STORAGE_CAPACITY, changed), _after_capacity),
        ]


def _is_selected_elsewhere(claim: Object, node: Object) -> bool:
    """Whether a volume is being provisioned for the claim on another node."""
    selected = annotations_of(claim).get(SELECTED_NODE)
    return selected is not None and selected != node["metadata"]["name"]


def _reachable(volume: Object, node: NodeInfo) -> int:
    return int(node.node is not None and reachable_from(volume, node.node))


def volume_limit(capacity: Object) -> int | None:
    """The largest volume that a CSIStorageCapacity has room for."""
    limit = capacity.get("maximumVolumeSize") or capacity.get("capacity")
    return None if limit is None else whole(str(limit))


def _topology_allows(terms: list[Object], node: Object) -> bool:
    """Whether the node is in one of a class's allowedTopologies; no terms allow all."""
    labels = node["metadata"].get("labels") or {}
    return not terms or any(
        all(
            labels.get(expression["key"]) in (expression.get("values") or ())
            for expression in term.get("matchLabelExpressions") or ()
        )
        and bool(term.get("matchLabelExpressions"))
        for term in terms
    )


def _hint(helps: bool) -> QueueingHint:
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP


def after_claim(pod: PodInfo, old: Object | None, new: Object) -> QueueingHint:
    """A claim that the pod uses has come or changed."""
    metadata = new["metadata"]
    return _hint(f"{metadata.get('namespace', '')}/{metadata['name']}" in pod.claims)


def _after_class(pod: PodInfo, old: Object | None, new: Object) -> QueueingHint:
    return _hint(old is None or old.get("allowedTopologies") != new.get("allowedTopologies"))


def _after_csi_node(pod: PodInfo, old: Object | None, new: Object) -> QueueingHint:
    """The node has handed other in-tree volumes to CSI drivers."""
    migrated = [annotations_of(each).get(MIGRATED_PLUGINS, "") for each in (old, new) if each is not None]
    return _hint(old is None or migrated[0] != migrated[1])


def _after_driver(pod: PodInfo, old: Object, new: Object) -> QueueingHint:
    """The driver of one of the pod's volumes no longer has its capacity checked."""
    drivers = [(volume.get("csi") or {}).get("driver") for volume in pod.spec.get("volumes") or ()]
    checked = bool((old.get("spec") or {}).get("storageCapacity"))
    return _hint(new["metadata"]["name"] in drivers and checked and not (new.get("spec") or {}).get("storageCapacity"))


def _after_capacity(pod: PodInfo, old: Object | None, new: Object) -> QueueingHint:
    before, after = volume_limit(old) if old is not None else None, volume_limit(new)
    return _hint(old is None or (after is not None and (before is None or after > before)))
