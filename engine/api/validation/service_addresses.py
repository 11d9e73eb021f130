"""Addresses of Services: their own in the cluster, those outside, and where balancers let clients come from.

What is written as older releases took it may stay as it is (core validation, IsValidIPForLegacyField and its callers).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.pod_status import dual_stack
from engine.api.validation.problems import Problems

LOAD_BALANCER_ONLY = "may only be used when `type` is 'LoadBalancer'"
_FAMILIES = ("IPv4", "IPv6")
_FAMILY_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
_LOCAL_MULTICAST = (ipaddress.ip_network("224.0.0.0/24"), ipaddress.ip_network("ff02::/16"))
_NONE = "None"


def is_headless(spec: Object) -> bool:
    return bool(spec.get("clusterIPs") == [_NONE])


def cluster_addresses(spec: Object, problems: Problems, *, known: Sequence[str] = ()) -> None:
    """clusterIP and clusterIPs agree, and there is at most one address and one family of each kind.

    Checked before addresses are allocated, too (ValidateServiceClusterIPsRelatedFields).
    """
    addresses, first, path = spec.get("clusterIPs") or [], spec.get("clusterIP", ""), "spec.clusterIPs"
    if first and not addresses:
        problems.required(path)
    elif first and addresses[0] != first:
        problems.invalid(path, addresses, "first value must match `clusterIP`")
    elif not first and addresses:
        problems.invalid(path, addresses, "must be empty when `clusterIP` is not specified")
    _families(spec, problems)
    before = len(problems)
    for index, address in enumerate(addresses):
        if index == 0 and address == _NONE:
            if len(addresses) > 1:
                problems.invalid(path, addresses, "'None' must be the first and only value")
        elif address not in known:
            problems.all_invalid(f"{path}[{index}]", address, text.ip_address(address))
    wrong = len(problems) > before
    if len(addresses) > 2:
        problems.invalid(path, addresses, "may only hold up to 2 values")
    if wrong:
        return
    if len(addresses) > 1 and not dual_stack(addresses):
        problems.invalid(path, addresses, "may specify no more than one IP for each IP family")
    _families_of(addresses, spec.get("ipFamilies") or [], problems)


def _families(spec: Object, problems: Problems) -> None:
    families, policy = spec.get("ipFamilies") or [], spec.get("ipFamilyPolicy")
    for index, family in enumerate(families):
        if family not in _FAMILIES:
            problems.not_supported(f"spec.ipFamilies[{index}]", family, _FAMILIES)
        if family in families[:index]:
            problems.duplicate(f"spec.ipFamilies[{index}]", family)
    problems.unless_in("spec.ipFamilyPolicy", policy, _FAMILY_POLICIES)


def _families_of(addresses: Sequence[str], families: Sequence[str], problems: Problems) -> None:
    for index, (family, address) in enumerate(zip(families, addresses, strict=False)):
        if address != _NONE and family in _FAMILIES and f"IPv{text.address_family(address)}" != family:
            detail = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            problems.invalid(f"spec.clusterIPs[{index}]", address, detail)


def external_address(address: str, path: str, problems: Problems, *, known: Sequence[str]) -> None:
    wrong = () if address in known else text.ip_address(address)
    problems.all_invalid(path, address, wrong)
    if not wrong:
        special_address(address, path, problems)


def special_address(address: str, path: str, problems: Problems) -> None:
    """What an endpoint cannot have (ValidateNonSpecialIP)."""
    parsed = text.sloppy_address(address)
    if parsed is None:
        problems.invalid(path, address, "must be a valid IP address")
        return
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    if parsed.is_unspecified:
        problems.invalid(path, address, f"may not be unspecified ({address})")
    if parsed.is_loopback:
        problems.invalid(path, address, "may not be in the loopback range (127.0.0.0/8, ::1/128)")
    if parsed.is_link_local:
        problems.invalid(path, address, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
    if any(parsed in network for network in _LOCAL_MULTICAST if network.version == parsed.version):
        problems.invalid(path, address, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")


def source_ranges(spec: Object, annotations: Object, problems: Problems, *, old: Object) -> None:
    """The field or, before there was one, an annotation."""
    ranges, balanced = spec.get("loadBalancerSourceRanges", ()), spec.get("type") == "LoadBalancer"
    known = [value.strip() for value in old.get("spec", {}).get("loadBalancerSourceRanges", ())]
    if ranges:
        if not balanced:
            problems.forbidden("spec.LoadBalancerSourceRanges", LOAD_BALANCER_ONLY)
        for index, value in enumerate(ranges):
            plain = value.strip()
            if plain in known:
                continue
            problems.all_invalid(f"spec.LoadBalancerSourceRanges[{index}]", plain, text.cidr(plain))
    elif _RANGES in annotations:
        path, value = f"metadata.annotations[{_RANGES}]", annotations[_RANGES].strip()
        if not balanced:
            problems.forbidden(path, LOAD_BALANCER_ONLY)
        if old.get("metadata", {}).get("annotations", {}).get(_RANGES) == annotations[_RANGES]:
            return
        for part in value.split(",") if value else ():
            problems.all_invalid(path, part.strip(), text.cidr(part.strip()))
