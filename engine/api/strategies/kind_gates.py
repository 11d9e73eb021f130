"""The gates of fields of Jobs, autoscalers, Leases, storage and EndpointSlices, and of statuses of workloads.

Places are looked for in the spec of an object, or in its status, or in the whole of it, as each table says.

Sources: strategy.go of the kinds in pkg/registry, pkg/registry/batch/job/util.go (DropDisabledFields).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.api.resource_table import COORDINATION, DISCOVERY, STORAGE
from engine.api.strategies.field_gates import NEVER, Gate, Place, Places, gate, named
from engine.api.types import Object


def _own(*fields: str) -> Places:
    return lambda holder: named((holder,), *fields)


def _simple(since: tuple[int, int], *fields: str) -> Gate:
    return gate(since, _own(*fields), *fields)


def _job_of_template(spec: Object) -> Iterator[Place]:
    return named(((spec.get("jobTemplate") or {}).get("spec"),), "scheduling")


def _tolerances(spec: Object) -> Iterator[Place]:
    behavior = spec.get("behavior") or {}
    return named((behavior.get(direction) for direction in ("scaleUp", "scaleDown")), "tolerance")


def _node_hints(obj: Object) -> Iterator[Place]:
    return named((endpoint.get("hints") for endpoint in obj.get("endpoints") or ()), "forNodes")


def _error_codes(side: str) -> Places:
    return lambda status: named((status.get(side),), "errorCode")


_TERMINATING = (_simple((1, 35), "terminatingReplicas"),)

SPEC_GATES: Mapping[tuple[str, str], tuple[Gate, ...]] = {
    ("autoscaling", "HorizontalPodAutoscaler"): (gate((1, 35), _tolerances, "tolerance"),),
    ("batch", "CronJob"): (gate(NEVER, _job_of_template, "scheduling"),),
    ("batch", "Job"): (
        _simple((1, 26), "podFailurePolicy"),
        _simple((1, 29), "backoffLimitPerIndex", "maxFailedIndexes"),
        _simple((1, 29), "podReplacementPolicy"),
        _simple((1, 31), "successPolicy"),
        _simple((1, 32), "managedBy"),
        _simple(NEVER, "scheduling"),
    ),
    (COORDINATION, "Lease"): (_simple(NEVER, "strategy"), _simple(NEVER, "preferredHolder")),
    (STORAGE, "CSIDriver"): (
        _simple((1, 35), "nodeAllocatableUpdatePeriodSeconds"),
        _simple((1, 37), "preventPodSchedulingIfMissing"),
    ),
}
STATUS_GATES: Mapping[tuple[str, str], tuple[Gate, ...]] = {
    ("apps", "Deployment"): _TERMINATING,
    ("apps", "ReplicaSet"): _TERMINATING,
    (STORAGE, "VolumeAttachment"): (
        gate((1, 35), _error_codes("attachError"), "errorCode"),
        gate((1, 35), _error_codes("detachError"), "errorCode"),
    ),
}
OBJECT_GATES: Mapping[tuple[str, str], tuple[Gate, ...]] = {
    (DISCOVERY, "EndpointSlice"): (gate((1, 34), _node_hints, "forNodes"),),
}
