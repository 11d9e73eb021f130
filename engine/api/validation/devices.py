"""Claims to devices, their templates, classes and taint rules (pkg/apis/resource/validation)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.claims import template_metadata
from engine.api.validation.conditions import conditions
from engine.api.validation.device_values import (
    dns_label,
    fully_qualified_name,
    items,
    json_object,
    named,
    pool_name,
    taint,
    toleration,
    unique_items,
)
from engine.api.validation.go_claims import device_claim, device_claim_template
from engine.api.validation.problems import IMMUTABLE, Problems
from engine.api.validation.resources import is_extended_resource
from engine.api.validation.volume_sources import csi_driver_name

_MOST = 32  # requests, constraints, configurations and selectors
_MOST_ALTERNATIVES, _MOST_CONDITIONS = 8, 8
_EXPRESSION_LENGTH = 10 * 1024
_PARAMETERS_LENGTH = 10 * 1024
_MODES = ("All", "ExactCount")
_KIND = "exactly one of `exactly` or `firstAvailable` is required"
_CONSTRAINT = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
_REFERENCE = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
_NOT_CONSTRAINED = (
    "must be referenced by at least one matchAttribute or distinctAttribute constraint targeting this request"
)


def resource_claim(obj: Object, problems: Problems) -> None:
    _claim_spec(obj.get("spec") or {}, "spec", problems)


def resource_claim_update(new: Object, old: Object, problems: Problems) -> None:
    """What is claimed never changes, so nothing else is told."""
    _kept_spec(new, old, device_claim, problems)


def resource_claim_template_update(new: Object, old: Object, problems: Problems) -> None:
    _kept_spec(new, old, device_claim_template, problems)


def _kept_spec(new: Object, old: Object, shown: Callable[[Object], Object], problems: Problems) -> None:
    spec = new.get("spec") or {}
    if spec != (old.get("spec") or {}):
        problems.invalid("spec", shown(spec), IMMUTABLE)


def resource_claim_template(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec") or {}
    template_metadata(spec.get("metadata") or {}, "spec.metadata", problems)
    _claim_spec(spec.get("spec") or {}, "spec.spec", problems)


def _claim_spec(spec: Object, path: str, problems: Problems) -> None:
    devices, at = spec.get("devices") or {}, f"{path}.devices"
    names, constrained = request_names(devices), _constrained_attributes(devices)

    def request(found: Object, path: str, problems: Problems) -> None:
        _request(found, path, constrained, problems)

    unique_items(devices.get("requests"), f"{at}.requests", _MOST, request, problems, key=named)

    def constraint(found: Object, path: str, problems: Problems) -> None:
        references(found.get("requests"), f"{path}.requests", names, problems)
        _constrained(found, path, problems)

    def configured(found: Object, path: str, problems: Problems) -> None:
        references(found.get("requests"), f"{path}.requests", names, problems)
        configuration(found, path, problems)

    items(devices.get("constraints"), f"{at}.constraints", _MOST, constraint, problems)
    items(devices.get("config"), f"{at}.config", _MOST, configured, problems)


def request_names(devices: Object) -> Mapping[str, Set[str]]:
    """The names of requests, each with those of its alternatives."""
    return {
        request.get("name", ""): {each.get("name", "") for each in request.get("firstAvailable") or ()}
        for request in devices.get("requests") or ()
    }


def _constrained_attributes(devices: Object) -> Mapping[str, Set[str]]:
    """Which attributes constraints speak of, by the name of the request, "" for all requests."""
    found: dict[str, set[str]] = {}
    for constraint in devices.get("constraints") or ():
        attribute = constraint.get("matchAttribute", constraint.get("distinctAttribute"))
        if attribute is not None:
            for name in constraint.get("requests") or [""]:
                found.setdefault(name, set()).add(attribute)
    return found


def _request(request: Object, path: str, constrained: Mapping[str, Set[str]], problems: Problems) -> None:
    name, exactly, alternatives = named(request), request.get("exactly"), request.get("firstAvailable")
    dns_label(name, f"{path}.name", problems)

    def alternative(found: Object, path: str, problems: Problems) -> None:
        dns_label(named(found), f"{path}.name", problems)
        _devices(found, path, ("", name, f"{name}/{named(found)}"), constrained, problems)

    if exactly is not None and alternatives:
        problems.invalid(path, None, f"{_KIND}, but multiple fields are set")
    elif alternatives:
        unique_items(alternatives, f"{path}.firstAvailable", _MOST_ALTERNATIVES, alternative, problems, key=named)
    elif exactly is not None:
        _devices(exactly, f"{path}.exactly", ("", name), constrained, problems)
    else:
        problems.required(path, _KIND)


def _devices(
    request: Object, path: str, names: Sequence[str], constrained: Mapping[str, Set[str]], problems: Problems
) -> None:
    """`names` are those by which constraints may speak of the request."""
    class_name, mode, count = request.get("deviceClassName", ""), request.get("allocationMode"), request.get("count", 0)
    if not class_name:
        problems.required(f"{path}.deviceClassName")
    else:
        problems.all_invalid(f"{path}.deviceClassName", class_name, text.dns_subdomain(class_name))
    items(request.get("selectors"), f"{path}.selectors", _MOST, _selector, problems)
    _derived(request.get("derivedAttributes"), f"{path}.derivedAttributes", names, constrained, problems)
    if mode == "All":
        if count:
            problems.invalid(f"{path}.count", count, "must not be specified when allocationMode is 'All'")
    elif mode == "ExactCount":
        if count <= 0:
            problems.invalid(f"{path}.count", count, "must be greater than zero")
    else:
        problems.not_supported(f"{path}.allocationMode", mode or "", _MODES)
    items(request.get("tolerations"), f"{path}.tolerations", None, toleration, problems)


def _derived(
    found: Sequence[Object] | None,
    path: str,
    names: Sequence[str],
    constrained: Mapping[str, Set[str]],
    problems: Problems,
) -> None:
    def check(attribute: Object, path: str, problems: Problems) -> None:
        name = named(attribute)
        if name and not any(name in constrained.get(request, ()) for request in names):
            problems.invalid(f"{path}.name", name, _NOT_CONSTRAINED)

    unique_items(found, path, None, check, problems, key=named)


def _selector(selector: Object, path: str, problems: Problems, *, stored: bool = False) -> None:
    cel = selector.get("cel")
    if cel is None:
        problems.required(f"{path}.cel")
    elif stored:
        return
    elif len(cel.get("expression", "")) > _EXPRESSION_LENGTH:
        problems.too_long(f"{path}.cel.expression", _EXPRESSION_LENGTH)
    else:
        _expression(cel.get("expression", ""), f"{path}.cel.expression", problems)


def _expression(expression: str, path: str, problems: Problems) -> None:
    """The CEL implementation is loaded with the first selector."""
    from engine.api.validation.expressions import device_selector

    device_selector(expression, path, problems)


def references(found: Sequence[str] | None, path: str, names: Mapping[str, Set[str]], problems: Problems) -> None:
    def check(name: str, path: str, problems: Problems) -> None:
        reference(name, path, names, problems)

    unique_items(found, path, _MOST, check, problems)


def reference(name: str, path: str, names: Mapping[str, Set[str]], problems: Problems) -> None:
    segments = name.split("/")
    if len(segments) > 2:
        problems.invalid(path, name, _REFERENCE)
        return
    for segment in segments:
        dns_label(segment, path, problems)
    if segments[0] not in names or (len(segments) == 2 and segments[1] not in names[segments[0]]):
        problems.invalid(path, name, _REFERENCE)


def _constrained(constraint: Object, path: str, problems: Problems) -> None:
    for field in ("matchAttribute", "distinctAttribute"):
        if constraint.get(field) is not None:
            fully_qualified_name(constraint[field], f"{path}.{field}", problems)
            return
    problems.required(path, _CONSTRAINT)


def configuration(found: Object, path: str, problems: Problems, *, stored: bool = False) -> None:
    opaque = found.get("opaque")
    if opaque is None:
        problems.required(f"{path}.opaque")
        return
    csi_driver_name(opaque.get("driver", ""), f"{path}.opaque.driver", problems)
    json_object(opaque.get("parameters"), f"{path}.opaque.parameters", _PARAMETERS_LENGTH, problems, stored=stored)


def device_class(obj: Object, problems: Problems) -> None:
    _class_spec(obj.get("spec") or {}, {}, problems)


def device_class_update(new: Object, old: Object, problems: Problems) -> None:
    _class_spec(new.get("spec") or {}, old.get("spec") or {}, problems)


def _class_spec(spec: Object, before: Object, problems: Problems) -> None:
    """Selectors and configurations that were there already are taken for good ones."""

    def selector(found: Object, path: str, problems: Problems) -> None:
        _selector(found, path, problems, stored=spec.get("selectors") == before.get("selectors"))

    def configured(found: Object, path: str, problems: Problems) -> None:
        configuration(found, path, problems, stored=spec.get("config") == before.get("config"))

    items(spec.get("selectors"), "spec.selectors", _MOST, selector, problems)
    items(spec.get("config"), "spec.config", _MOST, configured, problems)
    extended = spec.get("extendedResourceName")
    if extended is not None and not is_extended_resource(extended):
        problems.invalid("spec.extendedResourceName", extended, "must be a valid extended resource name")


def device_taint_rule(obj: Object, problems: Problems) -> None:
    _taint_rule(obj.get("spec") or {}, None, problems)


def device_taint_rule_update(new: Object, old: Object, problems: Problems) -> None:
    _taint_rule(new.get("spec") or {}, (old.get("spec") or {}).get("taint") or {}, problems)


def _taint_rule(spec: Object, before: Object | None, problems: Problems) -> None:
    selector, path = spec.get("deviceSelector") or {}, "spec.deviceSelector"
    for field, check in (("driver", csi_driver_name), ("pool", pool_name), ("device", dns_label)):
        if selector.get(field) is not None:
            check(selector[field], f"{path}.{field}", problems)
    taint(spec.get("taint") or {}, before, "spec.taint", problems)


def device_taint_rule_status(new: Object, old: Object, problems: Problems) -> None:
    told = (new.get("status") or {}).get("conditions") or []
    conditions(told, "status.conditions", problems)
    if len(told) > _MOST_CONDITIONS:
        problems.too_many("status.conditions", len(told), _MOST_CONDITIONS)
