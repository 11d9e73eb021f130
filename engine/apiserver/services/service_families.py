"""Which IP families a Service has: what it says, what its addresses say, what the cluster is configured for.

Source: pkg/registry/core/service/storage/alloc.go (initIPFamilyFields). A Service never changes between one family and
two but where it says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address

from engine.api.errors import invalid
from engine.api.types import GVK, Object
from engine.api.validation.problems import Problems
from engine.api.validation.service_addresses import cluster_addresses

SERVICE = GVK("", "v1", "Service")
_SINGLE, _PREFER, _REQUIRE = "SingleStack", "PreferDualStack", "RequireDualStack"
_POLICY, _NONE = "spec.ipFamilyPolicy", "None"
_OTHER = {"IPv4": "IPv6", "IPv6": "IPv4"}


def init_families(service: Object, before: Object | None, configured: Sequence[str]) -> None:
    """Completes ipFamilyPolicy and ipFamilies in place; `configured` begins with the default family. Raises 422."""
    spec, old = service["spec"], before["spec"] if before is not None else None
    if spec.get("type") == "ExternalName" or (old is not None and stays_preferred(spec, old)):
        return
    if spec.get("ipFamilyPolicy") is None:  # an empty one is not none: it is refused below
        spec["ipFamilyPolicy"] = _policy(spec, old)
    problems = Problems()
    cluster_addresses(spec, problems, known=(old or {}).get("clusterIPs") or ())
    _refuse(service, problems)
    if old is not None:
        _reduce(spec, old, problems)
    _check_policy(spec, problems)
    _infer(spec, configured, problems)
    _refuse(service, problems)
    if _selectorless_and_headless(spec):  # may have what the cluster has not: somebody else writes its endpoints
        _complete(spec, configured[0], double=True)
        return
    if spec["ipFamilyPolicy"] == _REQUIRE and len(configured) < 2:
        problems.invalid(_POLICY, _REQUIRE, "this cluster is not configured for dual-stack services")
    for position, family in enumerate(spec.get("ipFamilies") or ()):
        if family not in configured:
            problems.invalid(f"spec.ipFamilies[{position}]", family, "not configured on this cluster")
    _refuse(service, problems)
    _complete(spec, configured[0], double=len(configured) == 2)


def stays_preferred(spec: Object, old: Object) -> bool:
    """Whether a change leaves a PreferDualStack Service with the families it has, whatever the cluster now has."""
    if spec.get("type") != old.get("type") or spec.get("type") == "ExternalName":
        return False
    if spec.get("ipFamilyPolicy") != _PREFER or old.get("ipFamilyPolicy", _PREFER) != _PREFER:
        return False
    return all((spec.get(field) or []) == (old.get(field) or []) for field in ("clusterIPs", "ipFamilies"))


def _policy(spec: Object, old: Object | None) -> str:
    if old is not None and old.get("ipFamilyPolicy"):
        return str(old["ipFamilyPolicy"])
    return _REQUIRE if _selectorless_and_headless(spec) else _SINGLE


def _selectorless_and_headless(spec: Object) -> bool:
    return spec.get("clusterIP") == _NONE and not spec.get("selector")


def _reduce(spec: Object, old: Object, problems: Problems) -> None:
    """SingleStack lets go of the second address and family; with another policy they cannot be left out."""
    fields = (("clusterIPs", "cluster IP"), ("ipFamilies", "IP family"))
    for field, noun in fields:
        new, known = spec.get(field) or [], old.get(field) or []
        if spec["ipFamilyPolicy"] == _SINGLE:
            if new == known and len(new) > 1:
                spec[field] = new[:1]
        elif new and len(new) < len(known):
            text = f"must be 'SingleStack' to release the secondary {noun}"
            problems.invalid(_POLICY, spec["ipFamilyPolicy"], text)


def _check_policy(spec: Object, problems: Problems) -> None:
    if spec["ipFamilyPolicy"] != _SINGLE:
        return
    for field, noun in (("clusterIPs", "cluster IPs"), ("ipFamilies", "IP families")):
        if len(spec.get(field) or []) == 2:
            text = f"must be 'RequireDualStack' or 'PreferDualStack' when multiple {noun} are specified"
            problems.invalid(_POLICY, _SINGLE, text)


def _infer(spec: Object, configured: Sequence[str], problems: Problems) -> None:
    """The families of the addresses that the Service asks for."""
    families = list(spec.get("ipFamilies") or ())
    for position, address in enumerate(spec.get("clusterIPs") or ()):
        if address == _NONE:
            break
        if position >= len(families):
            family = f"IPv{ip_address(address).version}"
            if family in configured:
                families.append(family)
            else:
                text = f"{family} is not configured on this cluster"
                problems.invalid(f"spec.clusterIPs[{position}]", spec["clusterIPs"], text)
    if families:
        spec["ipFamilies"] = families


def _complete(spec: Object, default: str, *, double: bool) -> None:
    families = list(spec.get("ipFamilies") or [default])
    if double and len(families) == 1 and spec["ipFamilyPolicy"] != _SINGLE:
        families.append(_OTHER[families[0]])
    spec["ipFamilies"] = families


def _refuse(service: Object, problems: Problems) -> None:
    if problems:
        raise invalid(SERVICE, service["metadata"].get("name", ""), problems)
