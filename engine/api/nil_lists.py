"""What Go writes where there is nothing: the fields of published types without `omitempty`, `null` for a list or a
pointer, a struct with what it always has.

To the components of this process what is not there is left out. What goes over a socket says it, as upstream does
(k8s.io/api and apiextensions-apiserver types.go): a client that was made for the real server may look for the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from engine.api.types import Object

_EACH = "*"


class _Nil(NamedTuple):
    """A field, what it is in, the fields that stand before it, and what is written where it is not there."""

    path: tuple[str, ...]
    field: str
    before: tuple[str, ...] = ()
    zero: Any = None


_TYPE = ("kind", "apiVersion", "metadata")
_PATHS = ("spec", "rules", _EACH, "http", "paths", _EACH, "backend", "resource")
_RESOURCES = ("spec", "rules", _EACH, "resourceRules", _EACH)
_OF_SET = ("replicas", "selector", "template", "volumeClaimTemplates")
_OF_EVENT = ("eventTime", "series", "reportingController", "reportingInstance", "action", "reason")
_NO_NAMES = {"plural": "", "kind": ""}
_NILS: Mapping[tuple[str, str], tuple[_Nil, ...]] = {
    ("rbac.authorization.k8s.io/v1", "Role"): (_Nil((), "rules", _TYPE),),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"): (_Nil((), "rules", _TYPE),),
    ("discovery.k8s.io/v1", "EndpointSlice"): (
        _Nil((), "endpoints", (*_TYPE, "addressType")),
        _Nil((), "ports", (*_TYPE, "addressType", "endpoints")),
        _Nil(("endpoints", _EACH), "conditions", ("addresses",), {}),
    ),
    ("events.k8s.io/v1", "Event"): (_Nil((), "regarding", (*_TYPE, *_OF_EVENT), {}),),
    ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema"): (
        _Nil(_RESOURCES, "namespaces", ("verbs", "apiGroups", "resources", "clusterScope")),
    ),
    ("authentication.k8s.io/v1", "TokenRequest"): (
        _Nil(("spec",), "boundObjectRef", ("audiences", "expirationSeconds")),
    ),
    ("v1", "LimitRange"): (_Nil(("spec",), "limits"),),
    ("apps/v1", "ControllerRevision"): (_Nil((), "revision", (*_TYPE, "data"), 0),),
    ("apps/v1", "StatefulSet"): (
        _Nil(("spec",), "serviceName", _OF_SET, ""),
        _Nil(("spec", "ordinals"), "start", (), 0),
    ),
    ("batch/v1", "Job"): (_Nil(("spec", "podFailurePolicy"), "rules"),),
    ("batch/v1", "CronJob"): (_Nil(("spec", "jobTemplate", "spec", "podFailurePolicy"), "rules"),),
    ("v1", "PersistentVolumeClaim"): tuple(
        _Nil(("spec", field), "apiGroup") for field in ("dataSource", "dataSourceRef")
    ),
    ("storage.k8s.io/v1", "CSIDriver"): (_Nil(("spec", "tokenRequests", _EACH), "audience", (), ""),),
    ("storage.k8s.io/v1", "VolumeAttachment"): tuple(
        _Nil(("status", error), "time") for error in ("attachError", "detachError")
    ),
    ("storage.k8s.io/v1", "CSINode"): (
        _Nil(("spec",), "drivers"),
        _Nil(("spec", "drivers", _EACH), "topologyKeys", ("name", "nodeID")),
    ),
    ("networking.k8s.io/v1", "Ingress"): (
        _Nil(("spec", "defaultBackend", "resource"), "apiGroup"),
        _Nil(_PATHS, "apiGroup"),
    ),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): (
        _Nil(("status",), "conditions"),
        _Nil(("status",), "acceptedNames", ("conditions",), _NO_NAMES),
        *(_Nil(("status", "acceptedNames"), name, ("plural", "singular", "shortNames"), "") for name in _NO_NAMES),
        _Nil(("status",), "storedVersions", ("conditions", "acceptedNames")),
    ),
    ("autoscaling/v2", "HorizontalPodAutoscaler"): (
        _Nil(
            ("status",),
            "currentMetrics",
            ("observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas"),
        ),
    ),
}


def with_nils(obj: Object) -> Object:
    """An object as Go writes it; the same one where nothing is missing."""
    for nil in _NILS.get((obj.get("apiVersion", ""), obj.get("kind", "")), ()):
        obj = _with(obj, nil.path, nil)
    return obj


def _with(value: Any, path: tuple[str, ...], nil: _Nil) -> Any:
    if not path:
        return value if nil.field in value else _inserted(value, nil)
    step, rest = path[0], path[1:]
    if step == _EACH:
        changed: list[Any] = [_with(each, rest, nil) for each in value]
        return changed if any(new is not old for new, old in zip(changed, value, strict=True)) else value
    inside = value.get(step)
    if inside is None:
        return value
    filled = _with(inside, rest, nil)
    return value if filled is inside else {**value, step: filled}


def _inserted(value: Object, nil: _Nil) -> Object:
    first = {field: value[field] for field in value if field in nil.before}
    return {**first, nil.field: nil.zero, **{field: value[field] for field in value if field not in nil.before}}
