"""Nodes and RuntimeClasses (core validation, ValidateNode; pkg/apis/node/validation)."""

from __future__ import annotations

import ipaddress

from engine.api.types import Object
from engine.api.validation import placement, text
from engine.api.validation.go_values import internal
from engine.api.validation.labels import label_map
from engine.api.validation.placement import taints
from engine.api.validation.problems import Problems
from engine.api.validation.resources import quantity, requirements


def node(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    taints(spec.get("taints", ()), "metadata.taints", problems)
    _resources(obj, problems)
    ranges = spec.get("podCIDRs") or ([spec["podCIDR"]] if spec.get("podCIDR") else [])
    for index, value in enumerate(ranges):
        problems.all_invalid(f"spec.podCIDRs[{index}]", value, text.cidr(value))
    if len(ranges) > 1:
        versions = {ipaddress.ip_network(value, strict=False).version for value in ranges if not text.cidr(value)}
        if len(ranges) > 2 or versions != {4, 6}:
            problems.invalid("spec.podCIDRs", ranges, "may specify no more than one CIDR for each IP family")
        for index, value in enumerate(ranges):
            if value in ranges[:index]:
                problems.duplicate(f"spec.podCIDRs[{index}]", value)


def _resources(obj: Object, problems: Problems) -> None:
    for field in ("capacity", "allocatable"):
        for name, amount in obj.get("status", {}).get(field, {}).items():
            quantity(name, amount, f"status.{field}.{name}", problems)


def node_update(new: Object, old: Object, problems: Problems) -> None:
    _resources(new, problems)
    addresses: list[Object] = []
    for index, address in enumerate(new.get("status", {}).get("addresses", ())):
        if address in addresses:
            problems.duplicate(f"status.addresses[{index}]", internal("NodeAddress", address))
        addresses.append(address)
    after, before = new.get("spec", {}), old.get("spec", {})
    for field, shown in (("podCIDRs", "podCIDR"), ("providerID", "providerID")):
        if before.get(field) and before[field] != after.get(field):
            detail = f'node updates may not change {shown} except from "" to valid'
            problems.forbidden(f"spec.{field}", detail)
    taints(after.get("taints", ()), "metadata.taints", problems)
    if after.get("externalID", "") != before.get("externalID", ""):
        problems.forbidden("spec.externalID", "may not be updated")


def runtime_class(obj: Object, problems: Problems) -> None:
    handler = obj.get("handler", "")
    problems.all_invalid("handler", handler, text.dns_label(handler))
    if "overhead" in obj:
        requirements({"limits": obj["overhead"].get("podFixed", {})}, "overhead", problems)
    scheduling = obj.get("scheduling", {})
    label_map(scheduling.get("nodeSelector"), "scheduling.nodeSelector", problems)
    tolerations = scheduling.get("tolerations", [])
    placement.tolerations(tolerations, "scheduling.tolerations", problems)
    for index, toleration in enumerate(tolerations):
        if toleration in tolerations[:index]:
            problems.duplicate(f"scheduling.tolerations[{index}]", internal("Toleration", toleration))


def runtime_class_update(new: Object, old: Object, problems: Problems) -> None:
    problems.immutable("handler", new.get("handler"), old.get("handler"))
