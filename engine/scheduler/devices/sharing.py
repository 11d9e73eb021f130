"""Devices that several claims share: each share consumes some of the device's capacity (KEP 5075).

Source: upstream's structured/internal/incubating/consumable_capacity.go. What a request asks for is brought to what
the device's policy offers: at least the least, in whole steps, or the next of the values that there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.scheduler.devices.pools import Device

Consumed = dict[str, Quantity]

_MOST = Quantity.of(2**63 - 1)
_NOT_REPRESENTABLE = "capacity request cannot be represented in the device's range arithmetic"


class CapacityError(Exception):
    """A capacity that no device can have."""


def is_shared(device: Device) -> bool:
    return bool(device.spec.get("allowMultipleAllocations"))


def consumption(device: Device, requests: Mapping[str, object] | None) -> Consumed | None:
    """What one share of the device takes of each capacity; None where the device has not what is asked for, or does
    not offer it in that size. Raises CapacityError."""
    capacities: Mapping[str, Object] = device.spec.get("capacity") or {}
    asked = {name: Quantity.parse(str(amount)) for name, amount in (requests or {}).items()}
    if any(name not in capacities for name in asked):
        return None
    taken = {name: _taken(name, asked.get(name), capacity) for name, capacity in capacities.items()}
    fits = all(_offered(taken[name], capacity.get("requestPolicy")) for name, capacity in capacities.items())
    return taken if fits else None


def has_room(device: Device, wanted: Consumed, others: Iterable[Consumed]) -> bool:
    """Whether the device's capacities hold a share beside the others."""
    used = total(others)
    capacities: Mapping[str, Object] = device.spec.get("capacity") or {}
    return all(
        amount + used.get(name, Quantity()) <= Quantity.parse(str(capacities[name]["value"]))
        for name, amount in wanted.items()
    )


def total(shares: Iterable[Consumed]) -> Consumed:
    found: Consumed = {}
    for share in shares:
        for name, amount in share.items():
            found[name] = found.get(name, Quantity()) + amount
    return found


def shown(consumed: Consumed) -> dict[str, str]:
    return {name: str(amount) for name, amount in consumed.items()}


def _taken(name: str, asked: Quantity | None, capacity: Object) -> Quantity:
    try:
        amount = _brought_to_policy(asked, capacity)
    except OverflowError as failure:
        raise CapacityError(f'capacity "{name}": {_NOT_REPRESENTABLE}: {failure}') from None
    if amount < Quantity():
        raise CapacityError(f'capacity "{name}": capacity value is negative')
    return amount


def _brought_to_policy(asked: Quantity | None, capacity: Object) -> Quantity:
    policy = capacity.get("requestPolicy") or {}
    if asked is None:
        return Quantity.parse(str(policy["default"] if policy.get("default") is not None else capacity["value"]))
    bounds, values = policy.get("validRange"), policy.get("validValues")
    if bounds is not None and bounds.get("min") is not None:
        return _in_range(asked, bounds)
    offered = [Quantity.parse(str(value)) for value in values or ()]
    return next((value for value in offered if asked <= value), asked)


def _in_range(asked: Quantity, bounds: Object) -> Quantity:
    """At least the least, and from there on in whole steps of whole units. Raises OverflowError."""
    least = Quantity.parse(str(bounds["min"]))
    if asked < least:
        return least
    if bounds.get("step") is None:
        return asked
    if asked > _MOST:
        raise OverflowError(f"request {asked} exceeds MaxInt64")
    step = Quantity.parse(str(bounds["step"]))
    made = Quantity.of(least.value - (least.value - asked.value) // step.value * step.value, step.format)
    if made > _MOST:
        raise OverflowError(f"rounding request {asked} up to the next step passes MaxInt64")
    return made


def _offered(amount: Quantity, policy: Object | None) -> bool:
    policy = policy or {}
    default = policy.get("default")
    if default is not None and amount == Quantity.parse(str(default)):
        return True
    bounds, values = policy.get("validRange"), policy.get("validValues")
    if bounds is not None:
        return _within(amount, bounds)
    return not values or any(amount == Quantity.parse(str(value)) for value in values)


def _within(amount: Quantity, bounds: Object) -> bool:
    if bounds.get("max") is not None and amount > Quantity.parse(str(bounds["max"])):
        return False
    if bounds.get("step") is None:
        return True
    least, step = (Quantity.parse(str(bounds.get(name) or 0)) for name in ("min", "step"))
    return (amount.value - least.value) % step.value == 0
