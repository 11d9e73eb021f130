"""The fields that Go's structs write even where they are zero, for objects that a command holds as such a struct.

`set --local` and `--overrides` decode into the typed struct of a kind; what the other commands print stays as it was
given. The zero values are read off the Go types of k8s.io/api.
"""

from __future__ import annotations

from typing import Any

from engine.api.types import Object, copy_object

_SPECS: dict[str, Object] = {
    "Deployment": {"selector": None, "strategy": {}, "template": {}},
    "DaemonSet": {"selector": None, "updateStrategy": {}, "template": {}},
    "StatefulSet": {"selector": None, "updateStrategy": {}, "serviceName": "", "template": {}},
    "ReplicaSet": {"selector": None},
    "Job": {"template": {}},
    "CronJob": {"jobTemplate": {}, "schedule": ""},
}
_STATUSES: dict[str, Object] = {
    "Pod": {},
    "Deployment": {},
    "DaemonSet": dict.fromkeys(
        ("currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady"), 0
    ),
    "StatefulSet": {"availableReplicas": 0, "replicas": 0},
    "ReplicaSet": {"replicas": 0},
    "ReplicationController": {"replicas": 0},
    "Job": {},
    "CronJob": {},
    "Service": {"loadBalancer": {}},
}
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


def with_zeros(obj: Object) -> Object:
    """A copy with the zero values that Go writes."""
    whole = copy_object(obj)
    kind = str(whole.get("kind"))
    if kind in _STATUSES:
        _fill(whole, "spec", _SPECS.get(kind, {}))
        _fill(whole, "status", _STATUSES[kind])
        _spec(kind, whole["spec"])
    return whole


def _fill(holder: Object, field: str, zeros: Object) -> None:
    """Zeros for what is missing in a struct; the struct itself as well."""
    holder[field] = {**copy_object(zeros), **(holder.get(field) or {})}


def _spec(kind: str, spec: Object) -> None:
    if kind == "Service":
        for port in spec.get("ports") or ():
            port.setdefault("targetPort", 0)
    elif kind == "Pod":
        _pod(spec)
    elif kind == "CronJob":
        _metadata(spec["jobTemplate"])
        _fill(spec["jobTemplate"], "spec", _SPECS["Job"])
        _spec("Job", spec["jobTemplate"]["spec"])
    elif spec.get("template") is not None:
        _metadata(spec["template"])
        _fill(spec["template"], "spec", {})
        _pod(spec["template"]["spec"])
        for claim in spec.get("volumeClaimTemplates") or ():
            _claim(claim)
            _fill(claim, "status", {})


def _pod(spec: Object) -> None:
    for field in _CONTAINERS:
        for container in spec.get(field) or ():
            container.setdefault("resources", {})
    for volume in spec.get("volumes") or ():
        claim: Any = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
        if claim is not None:
            _claim(claim)


def _claim(claim: Object) -> None:
    _metadata(claim)
    _fill(claim, "spec", {"resources": {}})


def _metadata(template: Object) -> None:
    if template.get("metadata") is None:
        template["metadata"] = {}
