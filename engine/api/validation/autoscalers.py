"""HorizontalPodAutoscalers (pkg/apis/autoscaling/validation).

Those of autoscaling/v1 are looked at as what they become: upstream's internal type has the fields of v2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from engine.api.autoscaler_versions import to_v2
from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.problems import Problems
from engine.api.validation.resources import container_resource_name

_METRICS = ("ContainerResource", "External", "Object", "Pods", "Resource")
_TARGETS = ("Utilization", "Value", "AverageValue")
_MAX_WINDOW, _MAX_PERIOD = 3600, 1800
_POPULATE, _ONLY = "must populate information for the given metric source", "must populate the given metric source only"
_TO_ZERO = "must specify at least one Object or External metric to support scaling to zero replicas"
_EITHER = "must set either a target raw value or a target utilization"
_NOT_BOTH = "may not set both a target raw value and a target utilization"


def horizontal_pod_autoscaler(obj: Object, problems: Problems) -> None:
    _spec(_wanted(obj), {}, problems, least_allowed=0)


def horizontal_pod_autoscaler_update(new: Object, old: Object, problems: Problems) -> None:
    _spec(_wanted(new), _wanted(old), problems, least_allowed=0)


def never_to_zero(obj: Object, problems: Problems) -> None:
    """Of releases before 1.37, which do not scale to zero (HPAScaleToZero)."""
    _spec(_wanted(obj), {}, problems, least_allowed=1)


def never_to_zero_update(new: Object, old: Object, problems: Problems) -> None:
    before = _wanted(old)
    _spec(_wanted(new), before, problems, least_allowed=0 if before.get("minReplicas") == 0 else 1)


def horizontal_pod_autoscaler_status(new: Object, old: Object, problems: Problems) -> None:
    for index, condition in enumerate(new.get("status", {}).get("conditions") or ()):
        path = f"status.conditions[{index}].observedGeneration"
        problems.not_negative(path, condition.get("observedGeneration"))
    for field in ("currentReplicas", "desiredReplicas"):
        problems.not_negative(f"status.{field}", new.get("status", {}).get(field))


def _wanted(obj: Object) -> Object:
    spec: Object = (to_v2(obj) if obj.get("apiVersion") == "autoscaling/v1" else obj).get("spec", {})
    return spec


def _spec(spec: Object, before: Object, problems: Problems, *, least_allowed: int) -> None:
    least, most = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    if least is not None and least < least_allowed:
        problems.invalid("spec.minReplicas", least, f"must be greater than or equal to {least_allowed}")
    if not most:
        problems.required("spec.maxReplicas", "must be set and greater than 0")
    elif most < 0:
        problems.invalid("spec.maxReplicas", most, "must be greater than or equal to 1")
    if least is not None and most < least:
        problems.invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")
    target, metrics = spec.get("scaleTargetRef", {}), spec.get("metrics", ())
    _reference(target, "spec.scaleTargetRef", problems)
    if not before or any(_target_part(spec, part) != _target_part(before, part) for part in ("apiVersion", "kind")):
        coreless = target.get("kind") != "ReplicationController"  # the only thing to scale in the core group
        _api_version(target, "spec.scaleTargetRef", problems, coreless=coreless)
    lenient = any(_wrong_version(each) for each in _described(before))
    for index, metric in enumerate(metrics):
        _metric(metric, f"spec.metrics[{index}]", problems, lenient=lenient)
    if least == 0 and not any(metric.get("type") in ("Object", "External") for metric in metrics):
        problems.forbidden("spec.metrics", _TO_ZERO)
    for direction in ("scaleUp", "scaleDown"):
        if direction in spec.get("behavior", {}):
            _scaling(spec["behavior"][direction], f"spec.behavior.{direction}", problems)


def _reference(reference: Object, path: str, problems: Problems) -> None:
    for field in ("kind", "name"):
        value = reference.get(field, "")
        if not value:
            problems.required(f"{path}.{field}")
        else:
            problems.all_invalid(f"{path}.{field}", value, text.path_segment(value))


def _target_part(spec: Object, part: str) -> str:
    return str(spec.get("scaleTargetRef", {}).get(part, ""))


def _described(spec: Object) -> Iterator[Object]:
    """What the metrics of objects speak of."""
    for metric in spec.get("metrics") or ():
        if metric.get("type") == "Object" and "object" in metric:
            yield metric["object"].get("describedObject", {})


def _api_version(reference: Object, path: str, problems: Problems, *, coreless: bool = False) -> None:
    if error := _wrong_version(reference, coreless=coreless):
        problems.invalid(f"{path}.apiVersion", reference.get("apiVersion", ""), error)


def _wrong_version(reference: Object, *, coreless: bool = False) -> str:
    """What is wrong with the apiVersion of a reference; `coreless`: it is not of the core group."""
    version = reference.get("apiVersion", "")
    if version.count("/") > 1:
        return f"unexpected GroupVersion string: {version}"
    return "apiVersion must specify API group" if coreless and not version.rpartition("/")[0] else ""


def _metric(metric: Object, path: str, problems: Problems, *, lenient: bool) -> None:
    """`lenient`: there was an object already whose apiVersion is wrong."""
    kind = metric.get("type", "")
    if not kind:
        problems.required(f"{path}.type", "must specify a metric source type")
    if kind not in _METRICS:
        problems.not_supported(f"{path}.type", kind, _METRICS)
    found = [field for field in _SOURCES if field in metric]
    if found and found[0] == "object":
        _object(metric["object"], f"{path}.object", problems, lenient=lenient)
    elif found:
        _SOURCES[found[0]](metric[found[0]], f"{path}.{found[0]}", problems)
    expected = kind[:1].lower() + kind[1:]
    if kind not in _METRICS:
        problems.not_supported(f"{path}.type", kind, _METRICS)  # twice: so it is upstream
    elif expected not in found:
        problems.required(f"{path}.{expected}", _POPULATE)
    if len(found) != 1:
        for other in found:
            if other != expected:
                problems.forbidden(f"{path}.{other}", _ONLY)


def _object(source: Object, path: str, problems: Problems, *, lenient: bool = False) -> None:
    target, described = source.get("target", {}), source.get("describedObject", {})
    _reference(described, f"{path}.describedObject", problems)
    if not lenient:
        _api_version(described, f"{path}.describedObject", problems)
    _identifier(source, path, problems)
    _target(target, f"{path}.target", problems)
    if "value" not in target and "averageValue" not in target:
        problems.required(f"{path}.target.averageValue", "must set either a target value or averageValue")


def _external(source: Object, path: str, problems: Problems) -> None:
    target = source.get("target", {})
    _identifier(source, path, problems)
    _target(target, f"{path}.target", problems)
    if "value" not in target and "averageValue" not in target:
        detail = "must set either a target value for metric or a per-pod target"
        problems.required(f"{path}.target.averageValue", detail)
    if "value" in target and "averageValue" in target:
        detail = "may not set both a target value for metric and a per-pod target"
        problems.forbidden(f"{path}.target.value", detail)


def _pods(source: Object, path: str, problems: Problems) -> None:
    _identifier(source, path, problems)
    _target(source.get("target", {}), f"{path}.target", problems)
    if "averageValue" not in source.get("target", {}):
        problems.required(f"{path}.target.averageValue", "must specify a positive target averageValue")


def _resource(source: Object, path: str, problems: Problems) -> None:
    if not source.get("name"):
        problems.required(f"{path}.name", "must specify a resource name")
    _resource_target(source.get("target", {}), f"{path}.target", problems)


def _container_resource(source: Object, path: str, problems: Problems) -> None:
    name, container = source.get("name", ""), source.get("container", "")
    if not name:
        problems.required(f"{path}.name", "must specify a resource name")
    else:
        container_resource_name(name, f"{path}.name", problems)
    if not container:
        problems.required(f"{path}.container", "must specify a container")
    else:
        problems.all_invalid(f"{path}.container", container, text.dns_label(container))
    _resource_target(source.get("target", {}), f"{path}.target", problems)


def _resource_target(target: Object, path: str, problems: Problems) -> None:
    _target(target, path, problems)
    given = [field for field in ("averageUtilization", "averageValue") if field in target]
    if not given:
        problems.required(f"{path}.averageUtilization", _EITHER)
    if len(given) == 2:
        problems.forbidden(f"{path}.averageValue", _NOT_BOTH)


def _target(target: Object, path: str, problems: Problems) -> None:
    kind = target.get("type", "")
    if not kind:
        problems.required(f"{path}.type", "must specify a metric target type")
    if kind not in _TARGETS:
        problems.invalid(f"{path}.type", kind, "must be either Utilization, Value, or AverageValue")
    for field in ("value", "averageValue"):
        if field in target and Quantity.parse(target[field]) <= Quantity():
            problems.invalid(f"{path}.{field}", target[field], "must be positive")
    utilization = target.get("averageUtilization")
    if utilization is not None and utilization < 1:
        problems.invalid(f"{path}.averageUtilization", utilization, "must be greater than 0")


def _identifier(source: Object, path: str, problems: Problems) -> None:
    name = source.get("metric", {}).get("name", "")
    if not name:
        problems.required(f"{path}.metric.name", "must specify a metric name")
    else:
        problems.all_invalid(f"{path}.metric.name", name, text.path_segment(name))


_SOURCES: Mapping[str, Callable[[Object, str, Problems], None]] = {
    "object": _object,
    "external": _external,
    "pods": _pods,
    "resource": _resource,
    "containerResource": _container_resource,
}


def _scaling(rules: Object, path: str, problems: Problems) -> None:
    window, at = rules.get("stabilizationWindowSeconds"), f"{path}.stabilizationWindowSeconds"
    if window is not None and window < 0:
        problems.invalid(at, window, "must be greater than or equal to zero")
    if window is not None and window > _MAX_WINDOW:
        problems.invalid(at, window, f"must be less than or equal to {_MAX_WINDOW}")
    problems.unless_in(f"{path}.selectPolicy", rules.get("selectPolicy"), ("Disabled", "Max", "Min"))
    if not rules.get("policies"):
        problems.required(f"{path}.policies", "must specify at least one Policy")
    for index, policy in enumerate(rules.get("policies", ())):
        _policy(policy, f"{path}.policies[{index}]", problems)
    if "tolerance" in rules and Quantity.parse(rules["tolerance"]) < Quantity():
        problems.invalid(f"{path}.tolerance", rules["tolerance"], "must be greater or equal to zero")


def _policy(policy: Object, path: str, problems: Problems) -> None:
    kind, period = policy.get("type", ""), policy.get("periodSeconds", 0)
    if kind not in ("Pods", "Percent"):
        problems.not_supported(f"{path}.type", kind, ("Percent", "Pods"))
    for field in ("value", "periodSeconds"):
        if policy.get(field, 0) <= 0:
            problems.invalid(f"{path}.{field}", policy.get(field, 0), "must be greater than zero")
    if period > _MAX_PERIOD:
        problems.invalid(f"{path}.periodSeconds", period, f"must be less than or equal to {_MAX_PERIOD}")
