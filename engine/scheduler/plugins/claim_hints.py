"""What may help a pod that lacks devices (upstream's plugins/dynamicresources, isSchedulableAfter...)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.api.types import Object
from engine.scheduler.framework.events import Action, ClusterEvent, EventResource, EventWithHint, QueueingHint
from engine.scheduler.framework.profile import has_taint_rules
from engine.scheduler.plugins.pod_claims import PodClaims
from engine.scheduler.plugins.resource_claims import ClaimError, allocation_of, uid_of
from engine.scheduler.pod_info import PodInfo

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle


def events_of(claims: PodClaims, handle: Handle) -> list[EventWithHint]:
    hints = _Hints(claims)
    changed = Action.ADD | Action.UPDATE
    node = ClusterEvent(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_ALLOCATABLE)
    own = ClusterEvent(EventResource.POD, Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM)
    rules = [EventWithHint(ClusterEvent(EventResource.DEVICE_TAINT_RULE, changed | Action.DELETE))]
    return [
        *(rules if has_taint_rules(handle.version) else ()),
        EventWithHint(node),
        EventWithHint(ClusterEvent(EventResource.RESOURCE_CLAIM, changed | Action.DELETE), hints.after_claim),
        EventWithHint(own, hints.after_pod),
        EventWithHint(ClusterEvent(EventResource.DEVICE_CLASS, changed)),
        EventWithHint(ClusterEvent(EventResource.RESOURCE_SLICE, changed)),
    ]


class _Hints:
    def __init__(self, claims: PodClaims) -> None:
        self._claims = claims

    def _are_there(self, pod: PodInfo) -> bool:
        try:
            self._claims.of(pod)
        except ClaimError:
            return False
        return True

    def after_claim(self, pod: PodInfo, old: Object | None, new: Object | None) -> QueueingHint:
        """One of the pod's claims has come or has changed its status, or some claim has given up its devices."""
        try:
            claims = self._claims.of(pod)
        except ClaimError:
            return QueueingHint.SKIP
        freed = old is not None and allocation_of(old) is not None
        if freed and (new is None or allocation_of(new) is None):
            return QueueingHint.QUEUE
        if new is None:
            return QueueingHint.SKIP
        used = any(uid_of(claim) == uid_of(new) for claim in claims)
        changed = old is None or (old.get("status") or {}) != (new.get("status") or {})
        return QueueingHint.QUEUE if used and changed else QueueingHint.SKIP

    def after_pod(self, pod: PodInfo, old: PodInfo, new: PodInfo) -> QueueingHint:
        """The names of the claims that were made for the pod stand in its status now."""
        if pod.uid != new.uid:
            return QueueingHint.SKIP
        return QueueingHint.QUEUE if self._are_there(new) else QueueingHint.SKIP
