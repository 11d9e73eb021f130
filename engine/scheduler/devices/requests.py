"""What a ResourceClaim asks for: requests or alternatives of them, with their classes, and constraints over devices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from engine.api.device_taints import tolerates
from engine.api.types import Object
from engine.scheduler.devices.pools import Device

# Of one claim (AllocationResultsMaxSize).
MAX_RESULTS = 32

ClassOf = Callable[[str], Object | None]


class AllocationError(Exception):
    """Something is wrong with the claim or the class, whatever the node."""


class NodeAllocationError(Exception):
    """Something is wrong with the devices of this node."""


class SearchTimeoutError(Exception):
    """The search has taken too long to tell whether the node has what is asked for."""


@dataclass(slots=True)
class Request:
    """A request, or one of the alternatives of a request (then with its parent's name)."""

    name: str
    parent: str
    spec: Object
    device_class: Object
    count: int = 1
    all_devices: list[Device] | None = None  # for the mode All

    @property
    def full_name(self) -> str:
        return f"{self.parent}/{self.name}" if self.parent else self.name

    @property
    def base(self) -> str:
        return self.parent or self.name

    @property
    def admin_access(self) -> bool:
        return bool(self.spec.get("adminAccess"))

    @property
    def tolerations(self) -> list[Object]:
        return self.spec.get("tolerations") or []

    @property
    def capacities(self) -> Object:
        """How much it asks for of each capacity of a device."""
        return (self.spec.get("capacity") or {}).get("requests") or {}

    @property
    def selectors(self) -> list[Object]:
        return self.spec.get("selectors") or []

    def applies(self, names: list[str]) -> bool:
        """Whether a list of request names means this one; an empty list means all."""
        return not names or self.base in names or self.full_name in names


def claim_key(claim: Object) -> str:
    return f"{claim['metadata'].get('namespace', '')}/{claim['metadata']['name']}"


def devices_of(claim: Object) -> Object:
    return (claim.get("spec") or {}).get("devices") or {}


def alternatives(claim: Object, class_of: ClassOf) -> list[list[Request]]:
    """For each request of the claim the ways to meet it, the preferred first. Raises AllocationError."""
    return [list(_of_one(claim, request, class_of)) for request in devices_of(claim).get("requests") or ()]


def _of_one(claim: Object, request: Object, class_of: ClassOf) -> Iterator[Request]:
    name = request.get("name", "")
    for sub in request.get("firstAvailable") or ():
        yield _request(claim, sub, sub.get("name", ""), name, class_of)
    if not request.get("firstAvailable"):
        yield _request(claim, request.get("exactly") or {}, name, "", class_of)


def _request(claim: Object, spec: Object, name: str, parent: str, class_of: ClassOf) -> Request:
    told = f"claim {claim_key(claim)}, request {name}"
    wanted = spec.get("deviceClassName", "")
    if not wanted:
        raise AllocationError(f"{told}: missing device class name (unsupported request type?)")
    found = class_of(wanted)
    if found is None:
        missing = f'deviceclass.resource.k8s.io "{wanted}" not found'
        raise AllocationError(f"{told}: could not retrieve device class {wanted}: {missing}")
    for i, selector in enumerate(spec.get("selectors") or ()):
        if not selector.get("cel"):
            raise AllocationError(f"{told}, selector #{i}: CEL expression empty (unsupported selector type?)")
    mode = spec.get("allocationMode") or "ExactCount"
    if mode not in ("ExactCount", "All"):
        raise AllocationError(f"{told}: unsupported count mode {mode}")
    made = Request(name, parent, spec, found, count=int(spec.get("count") or 1))
    if mode == "All":
        made.all_devices = []
    return made


# -- constraints

_TYPES = ("string", "int", "bool", "version")


def attribute_of(device: Device, name: str) -> Object | None:
    """An attribute by its full name; the driver's own may be published without the domain."""
    attributes = device.spec.get("attributes") or {}
    found: Object | None = attributes.get(name)
    if found is not None:
        return found
    domain, slash, rest = name.partition("/")
    return attributes.get(rest) if slash and domain == device.id.driver else None


def _typed(attribute: Object) -> tuple[str, Any] | None:
    return next(((kind, attribute[kind]) for kind in _TYPES if kind in attribute), None)


@dataclass(slots=True)
class Constraint:
    """`matchAttribute`: all devices have one value of it. `distinctAttribute`: no two have."""

    requests: list[str]
    attribute: str
    distinct: bool
    values: list[tuple[str, Any]] = field(default_factory=list)
    _known: dict[int, tuple[str, Any] | None] = field(default_factory=dict)  # by the identity of the device

    def add(self, request: Request, device: Device) -> bool:
        """Whether the device may join; it has then."""
        if not request.applies(self.requests):
            return True
        value = self.value(device)
        if value is None:
            return False
        if self.values and (value in self.values) == self.distinct:
            return False
        self.values.append(value)
        return True

    def may_take(self, request: Request, devices: Iterable[Device], count: int) -> bool:
        """Whether so many of the devices may join together."""
        if not request.applies(self.requests):
            return True
        found = [value for device in devices if (value := self.value(device)) is not None]
        if self.distinct:
            return len(set(found).difference(self.values)) >= count
        return (found.count(self.values[0]) if self.values else max(Counter(found).values(), default=0)) >= count

    def value(self, device: Device) -> tuple[str, Any] | None:
        if (key := id(device)) not in self._known:
            attribute = attribute_of(device, self.attribute)
            self._known[key] = _typed(attribute) if attribute is not None else None
        return self._known[key]

    def remove(self, request: Request) -> None:
        """Take back the last one that joined."""
        if request.applies(self.requests):
            self.values.pop()


def constraints_of(claim: Object) -> list[Constraint]:
    """Raises AllocationError."""
    made = []
    for i, constraint in enumerate(devices_of(claim).get("constraints") or ()):
        name = constraint.get("matchAttribute") or constraint.get("distinctAttribute")
        if not name:
            told = f"claim {claim_key(claim)}, constraint #{i}"
            raise AllocationError(f"{told}: empty constraint (unsupported constraint type?)")
        made.append(Constraint(constraint.get("requests") or [], name, "matchAttribute" not in constraint))
    return made


# -- taints


def tainted(device: Device, request: Request) -> bool:
    """Whether a taint keeps the device from the request. Effects that are not known (None among them) do not."""
    return any(
        taint.get("effect") in ("NoSchedule", "NoExecute")
        and not any(tolerates(toleration, taint) for toleration in request.tolerations)
        for taint in device.spec.get("taints") or ()
    )
