"""Nodes and RuntimeClasses (core validation, ValidateNode; pkg/apis/node/validation)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.api import errors
from engine.api.types import Object
from engine.api.validation import placement, text
from engine.api.validation.annotated_json import Struct, decoded
from engine.api.validation.go_values import internal
from engine.api.validation.labels import label_map
from engine.api.validation.node_config import node_config
from engine.api.validation.placement import taints
from engine.api.validation.problems import Problems
from engine.api.validation.repeats import repeated
from engine.api.validation.resources import quantity, requirements

_FEATURE, _FEATURE_LENGTH = re.compile(r"[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*"), 253
_FEATURE_TEXT = (
    "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or "
    "MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
)
_TAINTS, _AVOID_PODS = "scheduler.alpha.kubernetes.io/taints", "scheduler.alpha.kubernetes.io/preferAvoidPods"
_ANNOTATIONS = "metadata.annotations"
_TAINT = Struct("v1", "Taint", {"key": "string", "value": "string", "effect": "v1.TaintEffect"})
_OWNER = Struct("v1", "OwnerReference", {"controller": "bool"})
_SIGNATURE = Struct("v1", "PodSignature", {"podController": _OWNER})
_AVOIDED = Struct("v1", "PreferAvoidPodsEntry", {"podSignature": _SIGNATURE})
_AVOIDS = Struct("v1", "AvoidPods", {"preferAvoidPods": _AVOIDED}, many=("preferAvoidPods",))


def node(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    _annotations(obj, problems)
    taints(spec.get("taints", ()), "metadata.taints", problems)
    _resources(obj, problems)
    swap = obj.get("status", {}).get("nodeInfo", {}).get("swap", {}).get("capacity")
    if swap is not None and swap <= 0:
        problems.invalid("metadata.nodeSwapStatus.capacity", swap, "must be greater than zero")
    _declared_features(obj.get("status", {}).get("declaredFeatures", ()), problems)
    _ranges(spec.get("podCIDRs") or ([spec["podCIDR"]] if spec.get("podCIDR") else []), problems)


def _ranges(ranges: Sequence[str], problems: Problems) -> None:
    """Of the node's Pods: of several, there is one of each family."""
    path = "spec.podCIDRs"
    for index, value in enumerate(ranges):
        problems.all_invalid(f"{path}[{index}]", value, text.cidr(value))
    if len(ranges) < 2:
        return
    families = [text.cidr_family(value) for value in ranges]
    if None in families:
        index = families.index(None)
        error = f"invalid CIDR[{index}]: <nil> (invalid CIDR address: {ranges[index]})"
        detail = f"invalid PodCIDRs. failed to check with dual stack with error:{error}"
        problems.append(errors.field_internal(path, detail))
    if len(ranges) > 2 or set(families) != {4, 6}:
        problems.invalid(path, ranges, "may specify no more than one CIDR for each IP family")


def _resources(obj: Object, problems: Problems) -> None:
    for field in ("capacity", "allocatable"):
        for name, amount in obj.get("status", {}).get(field, {}).items():
            quantity(name, amount, f"status.{field}.{name}", problems)


def _annotations(obj: Object, problems: Problems) -> None:
    """Of before there were fields (ValidateNodeSpecificAnnotations)."""
    annotations = obj["metadata"].get("annotations", {})
    if annotations.get(_TAINTS):
        found = decoded(annotations[_TAINTS], _TAINT, many=True)
        if isinstance(found, str):
            problems.invalid(_ANNOTATIONS, _TAINTS, found)
        else:
            taints(found, f"{_ANNOTATIONS}.{_TAINTS}", problems)
    if annotations.get(_AVOID_PODS):
        avoided = decoded(annotations[_AVOID_PODS], _AVOIDS)
        if isinstance(avoided, str):
            problems.invalid(f"{_ANNOTATIONS}.AvoidPods", _AVOID_PODS, avoided)
        else:
            _avoided(avoided.get("preferAvoidPods") or (), problems)


def _avoided(entries: Sequence[Object], problems: Problems) -> None:
    for index, entry in enumerate(entries):
        path = f"{_ANNOTATIONS}.{_AVOID_PODS}[{index}].PodSignature"
        owner = entry.get("podSignature", {}).get("podController")
        if owner is None:
            problems.required(path)
        elif not owner.get("controller"):
            problems.invalid(f"{path}.PodController.Controller", False, "must point to a controller")


def node_update(new: Object, old: Object, problems: Problems) -> None:
    _annotations(new, problems)
    _resources(new, problems)
    _declared_features(new.get("status", {}).get("declaredFeatures", ()), problems)
    addresses: list[Object] = []
    for index, address in enumerate(new.get("status", {}).get("addresses", ())):
        if address in addresses:
            problems.duplicate(f"status.addresses[{index}]", internal("NodeAddress", address))
        addresses.append(address)
    after, before = new.get("spec", {}), old.get("spec", {})
    _kept_ranges(after.get("podCIDRs", ()), before.get("podCIDRs", ()), problems)
    if before.get("providerID") and before["providerID"] != after.get("providerID"):
        problems.forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid')
    node_config(new, problems)
    taints(after.get("taints", ()), "metadata.taints", problems)
    if after.get("externalID", "") != before.get("externalID", ""):
        problems.forbidden("spec.externalID", "may not be updated")


def _declared_features(features: Sequence[str], problems: Problems) -> None:
    """Names in their order, each once (KEP-5328)."""
    path = "status.declaredFeatures"
    for index, feature in enumerate(features):
        if len(feature) > _FEATURE_LENGTH:
            detail = f"must be no more than {_FEATURE_LENGTH} characters"
            problems.invalid(f"{path}[{index}]", feature, f'invalid feature name "{feature}": {detail}')
        elif not _FEATURE.fullmatch(feature):
            problems.invalid(f"{path}[{index}]", feature, f'invalid feature name "{feature}": {_FEATURE_TEXT}')
        if index + 1 < len(features):
            following, at = features[index + 1], f"{path}[{index + 1}]"
            if following == feature:
                problems.duplicate(at, following)
            elif following < feature:
                problems.invalid(at, following, "list must be sorted alphabetically")


def _kept_ranges(new: Sequence[str], old: Sequence[str], problems: Problems) -> None:
    """Told once for each range that is another, or once if there are more or fewer."""
    changed = 1 if len(new) != len(old) else sum(one != other for one, other in zip(new, old, strict=True))
    for _ in range(changed if old else 0):
        problems.forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid')


def runtime_class(obj: Object, problems: Problems) -> None:
    handler = obj.get("handler", "")
    if not handler:
        problems.required("handler", "must be a valid DNS label")
    else:
        problems.all_invalid("handler", handler, text.dns_label(handler))
    if "overhead" in obj:
        requirements({"limits": obj["overhead"].get("podFixed", {})}, "overhead", problems)
    scheduling = obj.get("scheduling", {})
    label_map(scheduling.get("nodeSelector"), "scheduling.nodeSelector", problems)
    tolerations = scheduling.get("tolerations", [])
    placement.tolerations(tolerations, "scheduling.tolerations", problems)
    fields = ("key", "operator", "value", "effect")
    for index in sorted(repeated(tuple(toleration.get(field) for field in fields) for toleration in tolerations)):
        problems.duplicate(f"scheduling.tolerations[{index}]", internal("Toleration", tolerations[index]))


def runtime_class_update(new: Object, old: Object, problems: Problems) -> None:
    problems.immutable("handler", new.get("handler"), old.get("handler"))
