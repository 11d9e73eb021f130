"""The search for devices: the first full solution in the order of claims, requests, pools and devices.

Source: upstream's structured/internal/stable/allocator_stable.go. A device is chosen, the search goes on behind it, and
comes back where it finds no way. Upstream gives up after ten seconds of one Filter, we after so many steps.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, field

from engine.api.types import Object
from engine.scheduler.devices.counters import Counters
from engine.scheduler.devices.pools import Device, DeviceId, Pool, Slices
from engine.scheduler.devices.requests import (
    MAX_RESULTS,
    AllocationError,
    ClassOf,
    Constraint,
    NodeAllocationError,
    Request,
    alternatives,
    claim_key,
    constraints_of,
    tainted,
)
from engine.scheduler.devices.results import Chosen, allocation_of
from engine.scheduler.devices.selectors import SelectorError, Verdicts

MAX_STEPS = 20_000


class _TooManyError(Exception):
    """More devices than one claim's result can hold, on this way of the search."""


@dataclass(slots=True)
class _Claim:
    claim: Object
    requests: list[list[Request]]
    constraints: list[Constraint]
    chosen: list[Chosen] = field(default_factory=list)
    met: dict[int, Request] = field(default_factory=dict)  # by the index of the request


class Allocator:
    """For the claims of one pod in one attempt; `taken` are the devices that are allocated already."""

    def __init__(
        self,
        claims: list[Object],
        *,
        taken: Container[DeviceId],
        class_of: ClassOf,
        slices: Slices,
        verdicts: Verdicts,
    ) -> None:
        self.claims = claims
        self._taken = taken
        self._class_of = class_of
        self._slices = slices
        self._verdicts = verdicts

    def allocate(self, node: Object) -> list[Object] | None:
        """An allocation for each claim, or None where the node has not what they ask for.

        Raises AllocationError for a claim or class that can never be met as it is, NodeAllocationError where only this
        node is to blame.
        """
        claims = [_Claim(each, alternatives(each, self._class_of), constraints_of(each)) for each in self.claims]
        pools = self._slices.of(node)
        search = _Search(claims, pools, self._taken, self._verdicts)
        search.prepare()
        if not search.claim(0):
            if any(pool.invalid for pool in pools):
                raise NodeAllocationError("invalid resource pools were encountered")
            return None
        return [
            allocation_of(each.claim, [each.met[i] for i in range(len(each.requests))], each.chosen) for each in claims
        ]


class _Search:
    def __init__(self, claims: list[_Claim], pools: list[Pool], taken: Container[DeviceId], verdicts: Verdicts) -> None:
        self._claims = claims
        self._pools = pools
        self._taken = taken
        self._verdicts = verdicts
        self._counters: dict[str, Counters] = {}
        self._by_device = {device.id: pool for pool in pools for device in pool.devices}
        self._allocating: dict[DeviceId, list[int]] = {}
        self._selectable: dict[tuple[int, DeviceId], bool] = {}
        self._steps = 0

    # -- before

    def prepare(self) -> None:
        """How many devices each request takes; raises AllocationError where that is more than a claim can hold."""
        for each in self._claims:
            least = 0
            for ways in each.requests:
                for way in ways:
                    if way.all_devices is not None:
                        way.all_devices = self._all(each.claim, way)
                        way.count = len(way.all_devices)
                least += min(way.count for way in ways)
            if least > MAX_RESULTS:
                raise AllocationError(
                    f"claim {claim_key(each.claim)}: number of requested devices {least} "
                    f"exceeds the claim limit of {MAX_RESULTS}"
                )

    def _all(self, claim: Object, request: Request) -> list[Device]:
        told = f"claim {claim_key(claim)}, request {request.name}: asks for all devices, but resource pool"
        for pool in self._pools:
            if pool.incomplete:
                raise NodeAllocationError(f"{told} {pool} is currently being updated")
            if pool.invalid:
                raise NodeAllocationError(f"{told} {pool} is currently invalid")
        return [
            device for pool in self._pools for device in pool.devices if self._is_selectable(claim, request, device)
        ]

    # -- the steps

    def claim(self, index: int) -> bool:
        """Meet the claims from this one on."""
        if index == len(self._claims):
            return True
        return self._request(index, 0)

    def _request(self, index: int, number: int) -> bool:
        """Meet the claim's requests from this one on, and the claims behind it."""
        each = self._claims[index]
        if number == len(each.requests):
            try:
                return self.claim(index + 1)
            except _TooManyError:
                # Another choice here may let a later claim do with fewer.
                return False
        ways = each.requests[number]
        too_many = 0
        for way in ways:
            try:
                if self._device(index, number, way, 0):
                    each.met[number] = way
                    return True
            except _TooManyError:
                too_many += 1
        if too_many == len(ways):
            raise _TooManyError
        return False

    def _device(self, index: int, number: int, request: Request, had: int) -> bool:
        """Find the request's devices from the one after `had`, and all that comes behind."""
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise NodeAllocationError("timed out trying to allocate devices")
        if request.all_devices is not None and not request.all_devices:
            return False
        if had == request.count:
            return self._request(index, number + 1)
        if len(self._claims[index].chosen) + request.count - had > MAX_RESULTS:
            raise _TooManyError
        if request.all_devices is not None:
            return self._with(
                index,
                request,
                request.all_devices[had],
                lambda: self._device(index, number, request, had + 1),
                must=True,
            )
        for pool in self._pools:
            if pool.incomplete or pool.invalid:
                continue
            for device in pool.devices:
                if self._in_use(device.id, index, request):
                    continue
                if not self._is_selectable(self._claims[index].claim, request, device):
                    continue
                if self._with(index, request, device, lambda: self._device(index, number, request, had + 1)):
                    return True
        return False

    def _with(
        self, index: int, request: Request, device: Device, further: Callable[[], bool], *, must: bool = False
    ) -> bool:
        """Choose a device and go on; what was chosen is given back where that leads nowhere."""
        if not self._choose(index, request, device, must=must):
            return False
        done = False
        try:
            done = further()
        finally:
            if not done:
                self._give_back(index, request, device)
        return done

    def _in_use(self, device: DeviceId, index: int, request: Request) -> bool:
        allocating = self._allocating.get(device, ())
        if request.admin_access:
            return index in allocating
        return device in self._taken or bool(allocating)

    def _choose(self, index: int, request: Request, device: Device, *, must: bool) -> bool:
        each = self._claims[index]
        if self._in_use(device.id, index, request) or tainted(device, request):
            return False
        if device.spec.get("consumesCounters") and not self._counters_of(device).take(device):
            return False
        for i, constraint in enumerate(each.constraints):
            if constraint.add(request, device):
                continue
            for added in each.constraints[:i]:
                added.remove(request)
            if device.spec.get("consumesCounters"):
                self._counters_of(device).give_back(device)
            if must:
                raise AllocationError(
                    f"claim {claim_key(each.claim)}, request {request.name}: cannot add device {device.id} "
                    "because a claim constraint would not be satisfied"
                )
            return False
        self._allocating.setdefault(device.id, []).append(index)
        each.chosen.append(Chosen(request, device))
        return True

    def _give_back(self, index: int, request: Request, device: Device) -> None:
        each = self._claims[index]
        each.chosen.pop()
        self._allocating[device.id].remove(index)
        for constraint in each.constraints:
            constraint.remove(request)
        if device.spec.get("consumesCounters"):
            self._counters_of(device).give_back(device)

    def _counters_of(self, device: Device) -> Counters:
        pool = self._by_device[device.id]
        found = self._counters.get(str(pool))
        if found is None:
            found = self._counters[str(pool)] = Counters(pool, self._taken.__contains__)
        return found

    # -- which devices

    def _is_selectable(self, claim: Object, request: Request, device: Device) -> bool:
        key = (id(request), device.id)
        known = self._selectable.get(key)
        if known is None:
            known = self._selectable[key] = self._select(claim, request, device)
        return known

    def _select(self, claim: Object, request: Request, device: Device) -> bool:
        if device.spec.get("bindingConditions"):
            return False  # not without the feature gate DRADeviceBindingConditions
        name = request.device_class["metadata"]["name"]
        of_class = (request.device_class.get("spec") or {}).get("selectors") or []
        return self._match(f"class {name}", of_class, device) and self._match(
            f"claim {claim_key(claim)}", request.selectors, device
        )

    def _match(self, whose: str, selectors: list[Object], device: Device) -> bool:
        for i, selector in enumerate(selectors):
            try:
                if not self._verdicts.matches(selector["cel"]["expression"], device):
                    return False
            except SelectorError as error:
                failed = str(error).startswith("CEL runtime error")
                where = f" on device {device.id}" if failed else ""
                raise AllocationError(f"{whose}: selector #{i}{where}: {error}") from None
        return True
