"""The Pod's own rules on the way to the store (pkg/registry/core/pod/strategy.go)."""

from __future__ import annotations

from engine.api.app_armor import sync_profiles
from engine.api.defaults.pods import mirror_service_account
from engine.api.qos import qos_class
from engine.api.types import Object

_GATED = "Scheduling is blocked due to non-empty scheduling gates"
# What is told for a feature that no release has on by default (DRANodeAllocatableResources).
_OFF = "nodeAllocatableResourceClaimStatuses"
_AFFINITY_TERMS = (
    ("requiredDuringSchedulingIgnoredDuringExecution", ""),
    ("preferredDuringSchedulingIgnoredDuringExecution", "podAffinityTerm"),
)


def prepare_pod_for_create(pod: Object) -> None:
    spec = pod["spec"]
    mirror_service_account(spec)  # admission may have set the name after defaulting
    status: Object = {"phase": "Pending", "qosClass": qos_class(pod)}
    if spec.get("schedulingGates"):
        condition = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": _GATED}
        now = pod["metadata"].get("creationTimestamp")  # it is gated from the start (#122164)
        status["conditions"] = [{**condition, "lastProbeTime": None, "lastTransitionTime": now}]
    pod["status"] = status
    _merge_affinity_keys(pod)
    sync_profiles(pod)


def merge_spread_keys(pod: Object) -> None:
    """matchLabelKeys of topology spread constraints become part of their selectors (KEP-3243, since 1.34)."""
    labels = pod["metadata"].get("labels") or {}
    for constraint in pod["spec"].get("topologySpreadConstraints") or ():
        if "labelSelector" in constraint:
            _merge_label_keys(constraint, labels)


def prepare_pod_for_update(new: Object, old: Object) -> None:
    mirror_service_account(new["spec"])


def prepare_pod_for_status_update(new: Object, old: Object) -> None:
    """Owners and deletion are not the kubelet's to change, and the class and observed generations are not lost."""
    metadata, before = new["metadata"], old["metadata"]
    for field in ("ownerReferences", "deletionTimestamp"):
        if field in before:
            metadata[field] = before[field]
        else:
            metadata.pop(field, None)
    status, old_status = new.setdefault("status", {}), old.get("status", {})
    for field in ("qosClass", "observedGeneration"):
        if not status.get(field) and field in old_status:
            status[field] = old_status[field]
    if not old_status.get(_OFF):
        status.pop(_OFF, None)
    _keep_observed_generations(status, old_status)


def keep_claim_statuses(new: Object, old: Object) -> None:
    """Which claims a Pod has been given is not lost to clients that do not know these fields (since 1.37)."""
    status, old_status = new["status"], old.get("status", {})
    for field in ("resourceClaimStatuses", "extendedResourceClaimStatus"):
        if not status.get(field) and old_status.get(field):
            status[field] = old_status[field]


def _keep_observed_generations(status: Object, old_status: Object) -> None:
    known: dict[str, list[int]] = {}
    for condition in old_status.get("conditions", ()):
        known.setdefault(condition.get("type", ""), []).append(condition.get("observedGeneration", 0))
    for condition in status.get("conditions", ()):
        generations = known.get(condition.get("type", ""))
        generation = generations.pop(0) if generations else 0
        if not condition.get("observedGeneration") and generation:
            condition["observedGeneration"] = generation


def _merge_affinity_keys(pod: Object) -> None:
    """matchLabelKeys and mismatchLabelKeys of (anti-)affinity terms become part of the terms' selectors (KEP-3633)."""
    labels = pod["metadata"].get("labels") or {}
    affinity = pod["spec"].get("affinity") or {}
    for side in ("podAffinity", "podAntiAffinity"):
        for field, inner in _AFFINITY_TERMS:
            for entry in affinity.get(side, {}).get(field, ()):
                term = entry.get(inner, {}) if inner else entry
                if "labelSelector" in term:
                    _merge_label_keys(term, labels)


def _merge_label_keys(term: Object, labels: Object) -> None:
    expressions = [
        {"key": key, "operator": operator, "values": [labels[key]]}
        for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
        for key in term.get(field, ())
        if key in labels
    ]
    if expressions:
        term["labelSelector"].setdefault("matchExpressions", []).extend(expressions)
