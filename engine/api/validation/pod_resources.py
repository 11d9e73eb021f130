"""Resources of a Pod as a whole (KEP-2837; core validation, validatePodResources)."""

from __future__ import annotations

from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.api.validation.problems import Problems
from engine.api.validation.resources import pod_resource_name, requirements


def pod_resources(spec: Object, path: str, problems: Problems, *, claims: frozenset[str] = frozenset()) -> None:
    resources = spec["resources"]
    if spec.get("os", {}).get("name") == "windows":
        problems.forbidden(path, "may not be set for a windows pod")
        return
    if "claims" in resources:
        problems.forbidden(f"{path}.claims", "claims may not be set for Resources at pod-level")
    requirements(resources, path, problems, claims=claims, name_rule=pod_resource_name)
    requests, limits = resources.get("requests", {}), resources.get("limits", {})
    for name, total in container_requests(spec).items():
        if name in requests and total > Quantity.parse(requests[name]):
            detail = f"must be greater than or equal to aggregate container requests of {total}"
            problems.invalid(f"{path}.requests[{name}]", requests[name], detail)
    for name, total in _container_sums(spec, "limits").items():
        if name.startswith("hugepages-") and name in limits and total > Quantity.parse(limits[name]):
            detail = f"must be greater than or equal to aggregate container limits of {total}"
            problems.invalid(f"{path}.limits[{name}]", limits[name], detail)
    for index, container in enumerate(spec.get("containers", ())):
        for name, amount in container.get("resources", {}).get("limits", {}).items():
            if name in limits and Quantity.parse(amount) > Quantity.parse(limits[name]):
                at = f"{path}.containers[{index}][{name}].limits"
                problems.invalid(at, amount, f"must be less than or equal to pod limits of {limits[name]}")


def container_requests(spec: Object) -> dict[str, Quantity]:
    """What all containers ask for together, or one that runs before them if it is more (AggregateContainerRequests)."""
    return _container_sums(spec, "requests")


def _container_sums(spec: Object, kind: str) -> dict[str, Quantity]:
    staying, peak = dict[str, Quantity](), dict[str, Quantity]()
    for container in spec.get("containers", ()):
        _add(staying, _amounts(container, kind))
    sidecars = dict[str, Quantity]()
    for container in spec.get("initContainers", ()):
        if container.get("restartPolicy") == "Always":
            _add(staying, _amounts(container, kind))
            _add(sidecars, _amounts(container, kind))
            wanted = dict(sidecars)
        else:
            wanted = dict(sidecars)
            _add(wanted, _amounts(container, kind))
        for name, amount in wanted.items():
            peak[name] = max(peak.get(name, amount), amount)
    return {name: max(staying.get(name, Quantity()), peak.get(name, Quantity())) for name in {**staying, **peak}}


def _amounts(container: Object, kind: str) -> dict[str, Quantity]:
    found = container.get("resources", {}).get(kind, {})
    return {name: Quantity.parse(amount) for name, amount in found.items()}


def _add(total: dict[str, Quantity], amounts: dict[str, Quantity]) -> None:
    for name, amount in amounts.items():
        total[name] = total[name] + amount if name in total else amount
