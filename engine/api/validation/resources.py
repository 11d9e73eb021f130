"""Resource names and amounts: requests, limits, quotas (pkg/apis/core/validation, ValidateResourceRequirements)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from engine.api.errors import Cause
from engine.api.quantity import Quantity, QuantityError
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.problems import NOT_NEGATIVE, Problems

_CONTAINER = ("cpu", "memory", "ephemeral-storage")
_QUOTA = frozenset(
    {
        "cpu",
        "memory",
        "ephemeral-storage",
        "requests.cpu",
        "requests.memory",
        "requests.storage",
        "requests.ephemeral-storage",
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "persistentvolumeclaims",
        "configmaps",
        "services.nodeports",
        "services.loadbalancers",
    }
)
_WHOLE = frozenset(
    {
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "persistentvolumeclaims",
        "configmaps",
        "services.nodeports",
        "services.loadbalancers",
    }
)
_STANDARD = _QUOTA | {"storage"}
_PARTIAL = "is not positive integer multiple of"
_HUGE_PAGES = ("hugepages-", "requests.hugepages-")
_DOMAIN = "kubernetes.io/"
_STANDARD_TEXT = "must be a standard resource type or fully qualified"
_CONTAINER_TEXT = "must be a standard resource for containers"
_QUOTA_TEXT = "must be a standard resource for quota"
_WHOLE_TEXT = "must be an integer"


def requirements(
    resources: Object,
    path: str,
    problems: Problems,
    *,
    claims: frozenset[str] = frozenset(),
    name_rule: Callable[[str, str, Problems], None] | None = None,
) -> None:
    """Of a container or, with another `name_rule`, a whole Pod: names, amounts, and requests within limits."""
    limits, requests = resources.get("limits", {}), resources.get("requests", {})
    rule = name_rule or container_resource_name
    for name, amount in limits.items():
        at = f"{path}.limits[{name}]"
        rule(name, at, problems)
        quantity(name, amount, at, problems)
        _whole_pages(name, amount, at, problems)
    for name, amount in requests.items():
        at = f"{path}.requests[{name}]"
        rule(name, at, problems)
        quantity(name, amount, at, problems)
        _within(name, amount, limits, path=path, problems=problems)
        _whole_pages(name, amount, at, problems)
    names = (*limits, *requests)
    if any(name.startswith("hugepages-") for name in names) and not any(name in ("cpu", "memory") for name in names):
        problems.forbidden(path, "HugePages require cpu or memory")
    if "claims" in resources:
        _claims(resources["claims"], f"{path}.claims", problems, known=claims)


def partial_pages(cause: Cause) -> bool:
    """Whether it is told that huge pages do not come whole."""
    return _PARTIAL in cause.message


def _whole_pages(name: str, amount: str, path: str, problems: Problems) -> None:
    """Huge pages come whole (IsHugePageResourceValueDivisible)."""
    if not name.startswith("hugepages-"):
        return
    try:
        size = Quantity.parse(name.removeprefix("hugepages-"))
    except QuantityError:
        size = Quantity()
    divisible = size > Quantity() and not size.milli % 1000 and not Quantity.parse(amount).value % size.value
    if not divisible:
        problems.invalid(path, amount, f"{amount} {_PARTIAL} {name}")


def _within(name: str, amount: str, limits: Mapping[str, str], *, path: str, problems: Problems) -> None:
    limit = limits.get(name)
    if limit is None:
        if not overcommit(name):
            problems.required(f"{path}.limits", "Limit must be set for non overcommitable resources")
    elif amount != limit:
        wanted, most = Quantity.parse(amount), Quantity.parse(limit)
        if wanted != most and not overcommit(name):
            problems.invalid(f"{path}.requests", amount, f"must be equal to {name} limit of {limit}")
        elif wanted > most:
            problems.invalid(f"{path}.requests", amount, f"must be less than or equal to {name} limit of {limit}")


def overcommit(name: str) -> bool:
    """Whether more of it may be promised than there is: cpu, memory and the like, not devices nor huge pages."""
    return native(name) and not name.startswith("hugepages-")


def _claims(claims: list[Object], path: str, problems: Problems, *, known: frozenset[str]) -> None:
    seen: set[str] = set()
    requests = Counter[str]()
    for index, claim in enumerate(claims):
        name, at = claim.get("name", ""), f"{path}[{index}]"
        if not name:
            problems.required(at)
            continue
        _claim_once(claim, at, problems, seen=seen, requests=requests)
        if name not in known:
            names = ": " + ", ".join(sorted(known)) if known else " which is empty"
            problems.not_found(at, name, f"must be one of the names in pod.spec.resourceClaims{names}")


def _claim_once(claim: Object, path: str, problems: Problems, *, seen: set[str], requests: Counter[str]) -> None:
    """A claim as a whole, or each of its requests, but nothing twice."""
    name, request = claim["name"], claim.get("request", "")
    if name in seen:
        problems.duplicate(path, name)
        return
    key = name
    if request:
        problems.all_invalid(f"{path}.request", request, text.dns_label(request))
        key = f"{name}/{request}"
    if key in seen:
        problems.duplicate(path, key)
    elif request:
        requests[name] += 1
    else:
        for _ in range(requests[name]):
            problems.duplicate(path, name)
    seen.add(key)


def is_extended_resource(name: str) -> bool:
    """A resource of devices, which fits into a quota too (IsExtendedResourceName)."""
    return not native(name) and not name.startswith("requests.") and not text.qualified_name(f"requests.{name}")


def native(name: str) -> bool:
    """Whether it is Kubernetes' own: without a domain, or with kubernetes.io's."""
    return "/" not in name or _DOMAIN in name


def resource_name(name: str, path: str, problems: Problems) -> None:
    wrong = text.qualified_name(name)
    problems.all_invalid(path, name, wrong)
    if not wrong and "/" not in name and name not in _STANDARD and not name.startswith(_HUGE_PAGES):
        problems.invalid(path, name, _STANDARD_TEXT)


def container_resource_name(name: str, path: str, problems: Problems) -> None:
    if name in _CONTAINER:
        return
    resource_name(name, path, problems)
    if "/" not in name:
        if not name.startswith("hugepages-"):
            problems.invalid(path, name, _CONTAINER_TEXT)
    elif not native(name) and (name.startswith("requests.") or text.qualified_name(f"requests.{name}")):
        problems.invalid(path, name, "doesn't follow extended resource name standard")


def pod_resource_name(name: str, path: str, problems: Problems) -> None:
    before = len(problems)
    resource_name(name, path, problems)
    if len(problems) == before and name not in ("cpu", "memory") and not name.startswith("hugepages-"):
        problems.not_supported(path, name, ("cpu", "hugepages-", "memory"))


def quota_resource_name(name: str, path: str, problems: Problems) -> None:
    resource_name(name, path, problems)
    if "/" not in name and not standard_quota_resource(name):
        problems.invalid(path, name, _QUOTA_TEXT)


def standard_quota_resource(name: str) -> bool:
    return name in _QUOTA or name.startswith(_HUGE_PAGES)


def quantity(name: str, amount: str, path: str, problems: Problems) -> None:
    """Not negative, and whole for what comes in whole pieces."""
    value = Quantity.parse(amount)
    if value < Quantity():
        problems.invalid(path, amount, NOT_NEGATIVE)
    if (name in _WHOLE or is_extended_resource(name)) and value.milli % 1000:
        problems.invalid(path, amount, _WHOLE_TEXT)


def positive_quantity(amount: str | None, path: str, problems: Problems) -> None:
    if Quantity.parse(amount or "0") <= Quantity():
        problems.invalid(path, amount or "0", "must be greater than zero")
