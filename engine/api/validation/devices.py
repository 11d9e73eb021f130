"""Claims to devices, classes of them, and the slices in which drivers publish them (pkg/apis/resource/validation)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.labels import annotation_map, label_map
from engine.api.validation.placement import node_selector
from engine.api.validation.problems import Problems
from engine.api.validation.volume_sources import csi_driver_name

_MOST = 32  # requests, constraints, configurations, selectors and results
_MOST_ALTERNATIVES = 8
_MOST_CONSUMERS = 256
_EXPRESSION_LENGTH = 10 * 1024
_POOL_LENGTH = 253
_MODES = ("All", "ExactCount")
_KIND = "exactly one of `exactly` or `firstAvailable` is required"
_CONSTRAINT = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
_REFERENCE = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
_PLACES = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_NO_NEW_CONSUMERS = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"

Check = Callable[[Any, str, Problems], None]


def resource_claim(obj: Object, problems: Problems) -> None:
    _claim_spec(obj.get("spec") or {}, "spec", problems)


def resource_claim_update(new: Object, old: Object, problems: Problems) -> None:
    """What is claimed never changes, so nothing else is told."""
    problems.immutable("spec", new.get("spec") or {}, old.get("spec") or {})


def resource_claim_template(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec") or {}
    metadata = spec.get("metadata") or {}
    label_map(metadata.get("labels"), "spec.metadata.labels", problems)
    annotation_map(metadata.get("annotations"), "spec.metadata.annotations", problems)
    _claim_spec(spec.get("spec") or {}, "spec.spec", problems)


def _claim_spec(spec: Object, path: str, problems: Problems) -> None:
    devices, at = spec.get("devices") or {}, f"{path}.devices"
    names = _request_names(devices)
    _slice(devices.get("requests"), f"{at}.requests", _MOST, _request, problems)
    _unique([each.get("name", "") for each in devices.get("requests") or ()], f"{at}.requests", problems)

    def constraint(found: Object, path: str, problems: Problems) -> None:
        _references(found.get("requests"), f"{path}.requests", names, problems)
        _constrained(found, path, problems)

    def configuration(found: Object, path: str, problems: Problems) -> None:
        _references(found.get("requests"), f"{path}.requests", names, problems)
        _configuration(found, path, problems)

    _slice(devices.get("constraints"), f"{at}.constraints", _MOST, constraint, problems)
    _slice(devices.get("config"), f"{at}.config", _MOST, configuration, problems)


def _slice(found: Sequence[Any] | None, path: str, most: int, check: Check, problems: Problems) -> None:
    found = found or ()
    if len(found) > most:
        problems.too_many(path, len(found), most)
    for index, item in enumerate(found):
        check(item, f"{path}[{index}]", problems)


def _unique(keys: Sequence[str], path: str, problems: Problems) -> None:
    for index, key in enumerate(keys):
        if key in keys[:index]:
            problems.duplicate(f"{path}[{index}]", key)


def _request_names(devices: Object) -> Mapping[str, Set[str]]:
    """The names of requests, each with those of its alternatives."""
    return {
        request.get("name", ""): {each.get("name", "") for each in request.get("firstAvailable") or ()}
        for request in devices.get("requests") or ()
    }


def _request(request: Object, path: str, problems: Problems) -> None:
    name, exactly, alternatives = request.get("name", ""), request.get("exactly"), request.get("firstAvailable")
    problems.all_invalid(f"{path}.name", name, text.dns_label(name))
    if exactly is not None and alternatives:
        problems.invalid(path, None, f"{_KIND}, but multiple fields are set")
    elif alternatives:
        _slice(alternatives, f"{path}.firstAvailable", _MOST_ALTERNATIVES, _alternative, problems)
        _unique([each.get("name", "") for each in alternatives], f"{path}.firstAvailable", problems)
    elif exactly is not None:
        _devices(exactly, f"{path}.exactly", problems)
    else:
        problems.required(path, _KIND)


def _alternative(request: Object, path: str, problems: Problems) -> None:
    name = request.get("name", "")
    problems.all_invalid(f"{path}.name", name, text.dns_label(name))
    _devices(request, path, problems)


def _devices(request: Object, path: str, problems: Problems) -> None:
    class_name, mode, count = request.get("deviceClassName", ""), request.get("allocationMode"), request.get("count", 0)
    if not class_name:
        problems.required(f"{path}.deviceClassName")
    else:
        problems.all_invalid(f"{path}.deviceClassName", class_name, text.dns_subdomain(class_name))
    _slice(request.get("selectors"), f"{path}.selectors", _MOST, _selector, problems)
    if mode == "All":
        if count:
            problems.invalid(f"{path}.count", count, "must not be specified when allocationMode is 'All'")
    elif mode == "ExactCount":
        if count <= 0:
            problems.invalid(f"{path}.count", count, "must be greater than zero")
    else:
        problems.not_supported(f"{path}.allocationMode", mode or "", _MODES)


def _selector(selector: Object, path: str, problems: Problems) -> None:
    cel = selector.get("cel")
    if cel is None:
        problems.required(f"{path}.cel")
    elif len(cel.get("expression", "")) > _EXPRESSION_LENGTH:
        problems.too_long(f"{path}.cel.expression", _EXPRESSION_LENGTH)
    else:
        _expression(cel.get("expression", ""), f"{path}.cel.expression", problems)


def _expression(expression: str, path: str, problems: Problems) -> None:
    """The CEL implementation is loaded with the first selector."""
    from engine.api.validation.expressions import device_selector

    device_selector(expression, path, problems)


def _references(found: Sequence[str] | None, path: str, names: Mapping[str, Set[str]], problems: Problems) -> None:
    def check(name: str, path: str, problems: Problems) -> None:
        _reference(name, path, names, problems)

    _slice(found, path, _MOST, check, problems)
    _unique(found or (), path, problems)


def _reference(name: str, path: str, names: Mapping[str, Set[str]], problems: Problems) -> None:
    segments = name.split("/")
    if len(segments) > 2:
        problems.invalid(path, name, _REFERENCE)
        return
    for segment in segments:
        problems.all_invalid(path, segment, text.dns_label(segment))
    if segments[0] not in names or (len(segments) == 2 and segments[1] not in names[segments[0]]):
        problems.invalid(path, name, _REFERENCE)


def _constrained(constraint: Object, path: str, problems: Problems) -> None:
    for field in ("matchAttribute", "distinctAttribute"):
        if constraint.get(field) is not None:
            _qualified(constraint[field], f"{path}.{field}", problems)
            return
    problems.required(path, _CONSTRAINT)


def _qualified(name: str, path: str, problems: Problems) -> None:
    """The name of an attribute, with its domain."""
    if not name:
        problems.required(path, "name required")
        return
    domain, slash, identifier = name.rpartition("/")
    if slash and not domain:
        problems.required(path, "the domain must not be empty")
    elif slash:
        csi_driver_name(domain, path, problems)
    if slash and not identifier:
        problems.required(path, "the name must not be empty")
    else:
        problems.all_invalid(path, identifier, text.c_identifier(identifier))
    if not slash:
        problems.invalid(path, name, "must include a domain")


def _configuration(found: Object, path: str, problems: Problems) -> None:
    opaque = found.get("opaque")
    if opaque is None:
        problems.required(f"{path}.opaque")
        return
    csi_driver_name(opaque.get("driver", ""), f"{path}.opaque.driver", problems)
    if opaque.get("parameters") is None:
        problems.required(f"{path}.opaque.parameters")
    elif not isinstance(opaque["parameters"], dict):
        problems.invalid(f"{path}.opaque.parameters", opaque["parameters"], "must be a valid JSON object")


def resource_claim_status(new: Object, old: Object, problems: Problems) -> None:
    status, before = new.get("status") or {}, old.get("status") or {}
    consumers = status.get("reservedFor") or []
    path = "status.reservedFor"
    _slice(consumers, path, _MOST_CONSUMERS, _consumer, problems)
    _unique([consumer.get("uid", "") for consumer in consumers], path, problems)
    if consumers and status.get("allocation") is None:
        problems.forbidden(path, "may not be specified when `allocated` is not set")
    elif "deletionTimestamp" in new["metadata"] and _joined(consumers, before.get("reservedFor") or []):
        problems.forbidden(path, _NO_NEW_CONSUMERS)
    if before.get("allocation") is not None and status.get("allocation") is not None:
        problems.immutable("status.allocation", status["allocation"], before["allocation"])


def _joined(consumers: list[Object], before: list[Object]) -> bool:
    return any(consumer not in before for consumer in consumers)


def _consumer(consumer: Object, path: str, problems: Problems) -> None:
    problems.required_fields(consumer, path, "resource", "name", "uid")


def device_class(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec") or {}
    _slice(spec.get("selectors"), "spec.selectors", _MOST, _selector, problems)
    _slice(spec.get("config"), "spec.config", _MOST, _configuration, problems)


def resource_slice(obj: Object, problems: Problems) -> None:
    _slice_spec(obj.get("spec") or {}, None, problems)


def resource_slice_update(new: Object, old: Object, problems: Problems) -> None:
    _slice_spec(new.get("spec") or {}, old.get("spec") or {}, problems)


def _slice_spec(spec: Object, before: Object | None, problems: Problems) -> None:
    csi_driver_name(spec.get("driver", ""), "spec.driver", problems)
    pool = spec.get("pool") or {}
    _pool(pool, "spec.pool", problems)
    if before is not None:
        problems.immutable("spec.pool.name", pool.get("name"), (before.get("pool") or {}).get("name"))
        for field in ("driver", "nodeName"):
            problems.immutable(f"spec.{field}", spec.get(field), before.get(field))
    _place(spec, problems)
    if spec.get("sharedCounters") is not None and spec.get("devices") is not None:
        problems.invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed")


def _pool(pool: Object, path: str, problems: Problems) -> None:
    name, count, generation = pool.get("name", ""), pool.get("resourceSliceCount", 0), pool.get("generation", 0)
    if not name:
        problems.required(f"{path}.name")
    else:
        if len(name) > _POOL_LENGTH:
            problems.too_long(f"{path}.name", _POOL_LENGTH)
        for part in name.split("/"):
            problems.all_invalid(f"{path}.name", part, text.dns_subdomain(part))
    if count <= 0:
        problems.invalid(f"{path}.resourceSliceCount", count, "must be greater than zero")
    if generation < 0:
        problems.invalid(f"{path}.generation", generation, "must be greater than or equal to zero")


def _place(spec: Object, problems: Problems) -> None:
    """Where the devices of a slice are: said in one way."""
    given = []
    if spec.get("nodeName"):
        given.append("nodeName")
        problems.all_invalid("spec.nodeName", spec["nodeName"], text.dns_subdomain(spec["nodeName"]))
    elif spec.get("nodeName") is not None:
        problems.invalid("spec.nodeName", "", "must be either unset or set to a non-empty string")
    selector = spec.get("nodeSelector")
    if selector is not None:
        given.append("nodeSelector")
        node_selector(selector, "spec.nodeSelector", problems)
        terms = selector.get("nodeSelectorTerms") or []
        if len(terms) != 1:
            detail = "must have exactly one node selector term"
            problems.invalid("spec.nodeSelector.nodeSelectorTerms", terms, detail)
    for field in ("allNodes", "perDeviceNodeSelection"):
        if spec.get(field):
            given.append(field)
        elif spec.get(field) is not None:
            problems.invalid(f"spec.{field}", False, "must be either unset or set to true")
    if not given:
        problems.required("spec", _PLACES)
    elif len(given) > 1:
        shown = ", ".join(f"`{field}`" for field in given)
        problems.invalid("spec", f"{{{shown}}}", f"{_PLACES}, but multiple fields are set")
