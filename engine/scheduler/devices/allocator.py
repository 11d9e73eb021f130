"""The search for devices: the first full solution in the order of claims, requests, pools and devices.

Source: upstream's structured/internal/incubating/allocator_incubating.go. A device is chosen, the search goes on behind
it, and comes back where it finds no way. Within a request the order of devices is of no matter: a further one comes
after the last. Upstream gives up after ten seconds of one Filter, we after so many steps.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from engine.api.types import Object
from engine.scheduler.devices.candidates import Candidates
from engine.scheduler.devices.counters import Counters
from engine.scheduler.devices.fitting import Fitting
from engine.scheduler.devices.pools import Device, DeviceId, Pool, Slices
from engine.scheduler.devices.requests import (
    MAX_RESULTS,
    AllocationError,
    ClassOf,
    Constraint,
    NodeAllocationError,
    Request,
    SearchTimeoutError,
    alternatives,
    claim_key,
    constraints_of,
    tainted,
)
from engine.scheduler.devices.results import Chosen, allocation_of
from engine.scheduler.devices.selectors import Verdicts
from engine.scheduler.devices.sharing import CapacityError, Consumed, consumption, has_room, is_shared, total
from engine.scheduler.devices.shortage import Offer, Shortage

MAX_STEPS = 20_000
DOUBTFUL = 1_000  # after so many steps it is asked whether there are devices enough at all


class _TooManyError(Exception):
    """More devices than one claim's result can hold, on this way of the search."""


class _TooFewError(Exception):
    """There are not enough devices, whichever way the search goes."""


@dataclass(slots=True)
class _Claim:
    claim: Object
    requests: list[list[Request]]
    constraints: list[Constraint]
    chosen: list[Chosen] = field(default_factory=list)
    met: dict[int, Request] = field(default_factory=dict)  # by the index of the request


@dataclass(frozen=True, slots=True)
class InUse:
    """The devices that are allocated already: as a whole, and what is consumed of those that are shared."""

    devices: Container[DeviceId] = frozenset()
    consumed: Mapping[DeviceId, Consumed] = field(default_factory=dict)

    def __contains__(self, device: DeviceId) -> bool:
        return device in self.devices or device in self.consumed


@dataclass(frozen=True, slots=True)
class Features:
    """What not every Kubernetes version has: devices that must be made ready first, devices that are shared, and
    configurations for all requests that name none."""

    conditions: bool = True
    sharing: bool = True
    short_config: bool = True


class Allocator:
    """For the claims of one pod in one attempt; `new_share` makes up a name for a share of a device."""

    def __init__(
        self,
        claims: list[Object],
        *,
        in_use: InUse,
        class_of: ClassOf,
        slices: Slices,
        verdicts: Verdicts,
        new_share: Callable[[], str],
        features: Features = Features(),
        steps: int = MAX_STEPS,
    ) -> None:
        """`steps` are those of one search, on one node."""
        self.claims = claims
        self._steps = steps
        self._in_use = in_use
        self._new_share = new_share
        self._features = features
        self._class_of = class_of
        self._slices = slices
        self._verdicts = verdicts

    def allocate(self, node: Object, further: Sequence[Object] = ()) -> list[Object] | None:
        """An allocation for each claim and the `further` ones of this node, or None where the node has not what they
        ask for.

        Raises AllocationError for a claim or class that can never be met as it is, NodeAllocationError where only this
        node is to blame, SearchTimeoutError where nothing is known of the node.
        """
        wanted = (*self.claims, *further)
        claims = [_Claim(each, alternatives(each, self._class_of), constraints_of(each)) for each in wanted]
        pools = self._slices.of(node)
        search = _Search(claims, pools, self._in_use, self._verdicts, self._features, self._steps)
        search.prepare()
        if not search.succeeds():
            if any(pool.invalid for pool in pools):
                raise NodeAllocationError("invalid resource pools were encountered")
            return None
        return [
            allocation_of(
                each.claim,
                [each.met[i] for i in range(len(each.requests))],
                each.chosen,
                node_name=node["metadata"]["name"],
                new_share=self._new_share,
                short=self._features.short_config,
            )
            for each in claims
        ]


class _Search:
    def __init__(
        self,
        claims: list[_Claim],
        pools: list[Pool],
        in_use: InUse,
        verdicts: Verdicts,
        features: Features,
        steps: int,
    ) -> None:
        self._claims = claims
        self._pools = pools
        self._devices = [d for pool in pools if not (pool.incomplete or pool.invalid) for d in pool.devices]
        self._taken = in_use
        self._fitting = Fitting(verdicts, conditions=features.conditions)
        self._features = features
        self._counters: dict[str, Counters] = {}
        self._by_device = {device.id: pool for pool in pools for device in pool.devices}
        self._allocating: dict[DeviceId, list[int]] = {}
        self._consuming: dict[DeviceId, list[Consumed]] = {}
        self._steps_left = steps
        self._doubtful = steps - DOUBTFUL

    # -- before

    def prepare(self) -> None:
        """How many devices each request takes; raises AllocationError where that is more than a claim can hold."""
        for index, each in enumerate(self._claims):
            least = 0
            for ways in each.requests:
                for way in ways:
                    if way.all_devices is not None:
                        way.all_devices = self._all(index, way)
                        way.count = len(way.all_devices)
                least += min(way.count for way in ways)
            if least > MAX_RESULTS:
                raise AllocationError(
                    f"claim {claim_key(each.claim)}: number of requested devices {least} "
                    f"exceeds the claim limit of {MAX_RESULTS}"
                )

    def _all(self, index: int, request: Request) -> list[Device]:
        """All devices that suit the request; what others already use of a shared one may leave too little of it."""
        claim = self._claims[index].claim
        told = f"claim {claim_key(claim)}, request {request.name}: asks for all devices, but resource pool"
        for pool in self._pools:
            if pool.incomplete:
                raise NodeAllocationError(f"{told} {pool} is currently being updated")
            if pool.invalid:
                raise NodeAllocationError(f"{told} {pool} is currently invalid")
        devices = (device for pool in self._pools for device in pool.devices)
        return [d for d in devices if self._fitting.suits(claim, request, d) and self._has_share(index, request, d)]

    def _has_share(self, index: int, request: Request, device: Device) -> bool:
        try:
            return self._share(index, request, device) is not None
        except AllocationError:
            return False

    # -- the steps

    def succeeds(self) -> bool:
        try:
            return self.claim(0)
        except _TooFewError:
            return False

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

    def _device(
        self, index: int, number: int, request: Request, had: int, among: Candidates | None = None, start: int = 0
    ) -> bool:
        """Find the request's devices from the one after `had`, at the place `start` or behind it, and all that comes
        behind."""
        self._steps_left -= 1
        if self._steps_left < 0:
            raise SearchTimeoutError("timed out trying to allocate devices")
        if self._steps_left == self._doubtful and self._is_short():
            raise _TooFewError
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
        if among is None:
            among = Candidates(self._candidates(index, request))
        wanted, place = request.count - had, start
        while among.has(wanted, place) and (device := among.at(place)) is not None:
            place, before = place + 1, self._steps_left
            if self._with(index, request, device, partial(self._device, index, number, request, had + 1, among, place)):
                return True
            if self._steps_left < before and not self._may_agree(index, request, among, place, wanted):
                return False
        return False

    def _may_agree(self, index: int, request: Request, among: Candidates, start: int, count: int) -> bool:
        """Whether the claim's constraints let so many be chosen from a place on, if that can be told."""
        constraints = self._claims[index].constraints
        devices = among.after(start) if constraints else None
        return devices is None or all(constraint.may_take(request, devices, count) for constraint in constraints)

    def _candidates(self, index: int, request: Request) -> Iterator[Device]:
        claim = self._claims[index].claim
        for device in self._devices:
            if self._in_use(device, index, request) or not self._fitting.suits(claim, request, device):
                continue
            if not tainted(device, request):
                yield device

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

    def _in_use(self, device: Device, index: int, request: Request) -> bool:
        if self._is_shared(device):
            return not request.admin_access and device.id in self._taken.devices
        allocating = self._allocating.get(device.id, ())
        if request.admin_access:
            return index in allocating
        return device.id in self._taken or bool(allocating)

    def _share(self, index: int, request: Request, device: Device) -> Consumed | None:
        """What the request takes of the device's capacities, nothing where it takes all of it; None if it cannot."""
        shared, asked = is_shared(device), request.capacities
        if not self._features.sharing or not (shared or asked):
            return {}
        try:
            wanted = consumption(device, asked)
        except CapacityError as failure:
            raise AllocationError(f"claim {claim_key(self._claims[index].claim)}: {failure}") from None
        others = [self._taken.consumed.get(device.id, {}), *self._consuming.get(device.id, ())] if shared else []
        if wanted is None or not has_room(device, wanted, others):
            return None
        return wanted if shared else {}

    def _draws(self, device: Device) -> bool:
        """Whether counters are to be taken for the device: once, however many share it."""
        first = device.id not in self._taken.consumed and not self._allocating.get(device.id)
        return bool(device.spec.get("consumesCounters")) and (first or not is_shared(device))

    def _choose(self, index: int, request: Request, device: Device, *, must: bool) -> bool:
        each = self._claims[index]
        if must and (self._in_use(device, index, request) or tainted(device, request)):
            return False
        share = self._share(index, request, device)
        if share is None:
            return False
        draws = self._draws(device)
        if draws and not self._counters_of(device).take(device):
            return False
        for i, constraint in enumerate(each.constraints):
            if constraint.add(request, device):
                continue
            for added in each.constraints[:i]:
                added.remove(request)
            if draws:
                self._counters_of(device).give_back(device)
            if must:
                raise AllocationError(
                    f"claim {claim_key(each.claim)}, request {request.name}: cannot add device {device.id} "
                    "because a claim constraint would not be satisfied"
                )
            return False
        self._allocating.setdefault(device.id, []).append(index)
        self._consuming.setdefault(device.id, []).append(share)
        each.chosen.append(Chosen(request, device, share if self._is_shared(device) else None))
        return True

    def _give_back(self, index: int, request: Request, device: Device) -> None:
        each = self._claims[index]
        each.chosen.pop()
        self._allocating[device.id].remove(index)
        self._consuming[device.id].pop()
        for constraint in each.constraints:
            constraint.remove(request)
        if self._draws(device):
            self._counters_of(device).give_back(device)

    def _counters_of(self, device: Device) -> Counters:
        pool = self._by_device[device.id]
        found = self._counters.get(str(pool))
        if found is None:
            found = self._counters[str(pool)] = Counters(pool, self._taken.__contains__)
        return found

    def _is_short(self) -> bool:
        """Whether it is certain that there are too few devices."""
        try:
            offers = [
                ([self._offer(each.claim, ways) for ways in each.requests], each.constraints) for each in self._claims
            ]
        except AllocationError:
            return False  # who comes to the device that a selector breaks on tells of it
        left = total(Counters(pool, self._taken.__contains__).left_by_name() for pool in self._pools)
        return Shortage(self._is_shared, left).is_certain(offers)

    def _offer(self, claim: Object, ways: list[Request]) -> Offer:
        if any(way.admin_access for way in ways):
            return Offer(ways, 0, [])
        found = [d for d in self._devices if any(self._may_have(claim, way, d) for way in ways)]
        return Offer(ways, min(way.count for way in ways), found)

    def _is_shared(self, device: Device) -> bool:
        return self._features.sharing and is_shared(device)

    def _may_have(self, claim: Object, way: Request, device: Device) -> bool:
        if device.id in (self._taken.devices if self._is_shared(device) else self._taken):
            return False
        return self._fitting.suits(claim, way, device) and not tainted(device, way)
