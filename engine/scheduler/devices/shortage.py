"""Whether there are too few devices for all requests at once, each device given to one of them.

The search would learn of one device too few by trying every order of those that there are, for a request each: 8! for
eight devices and nine requests. Here it is the theorem of Hall, by augmenting paths; only what is certain is told.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import NamedTuple

from engine.api.quantity import Quantity
from engine.scheduler.devices.counters import drawn_by_name
from engine.scheduler.devices.pools import Device
from engine.scheduler.devices.requests import Constraint, Request
from engine.scheduler.devices.sharing import total


class Need(NamedTuple):
    """So many of these are wanted."""

    wanted: int
    among: Collection[Hashable]


class Offer(NamedTuple):
    """The ways to meet a request of a claim, how many devices it takes at least, and those that suit one of them."""

    ways: list[Request]
    least: int
    devices: list[Device]


def enough(needs: Sequence[Need]) -> bool:
    owner: dict[Hashable, int] = {}
    return all(_give(needs, number, owner, set()) for number, need in enumerate(needs) for _ in range(need.wanted))


def _give(needs: Sequence[Need], number: int, owner: dict[Hashable, int], seen: set[Hashable]) -> bool:
    """Give a need one thing more, from one that can have another instead if need be."""
    for thing in needs[number].among:
        if thing in seen or owner.get(thing) == number:
            continue
        seen.add(thing)
        if thing not in owner or _give(needs, owner[thing], owner, seen):
            owner[thing] = number
            return True
    return False


class Shortage:
    """Asked of one search, at most once."""

    def __init__(self, is_shared: Callable[[Device], bool], left: Mapping[str, Quantity]) -> None:
        """Devices that are shared are in nobody's way; `left` is what is left of the counters, by name."""
        self._is_shared = is_shared
        self._left = left

    def is_certain(self, claims: Sequence[tuple[Sequence[Offer], Sequence[Constraint]]]) -> bool:
        """`claims` are the offers to each and its constraints."""
        offers = [offer for found, _ in claims for offer in found]
        if not enough([self._need(offer, offer.devices) for offer in offers]) or self._overdraw(offers):
            return True
        return not all(self._agree(constraint, found) for found, constraints in claims for constraint in constraints)

    def _need(self, offer: Offer, devices: list[Device]) -> Need:
        shared = sum(map(self._is_shared, devices))
        return Need(max(0, offer.least - shared), [device.id for device in devices])

    def _overdraw(self, offers: Sequence[Offer]) -> bool:
        """Whether even the most modest devices draw more of a counter than there is."""
        drawn = total(self._least_drawn(offer) for offer in offers)
        return any(amount and amount > self._left.get(name, Quantity()) for name, amount in drawn.items())

    def _least_drawn(self, offer: Offer) -> dict[str, Quantity]:
        each = [{} if self._is_shared(device) else drawn_by_name(device) for device in offer.devices]
        names = set.intersection(*map(set, each)) if each and offer.least else set()
        return {name: min(drawn[name] for drawn in each) * offer.least for name in sorted(names)}

    def _agree(self, constraint: Constraint, offers: Sequence[Offer]) -> bool:
        """Whether there are enough devices that are alike, or different, for the requests that are meant."""
        meant = [offer for offer in offers if all(way.applies(constraint.requests) for way in offer.ways)]
        valued = [(offer, [(constraint.value(device), device) for device in offer.devices]) for offer in meant]
        values = {value for _, found in valued for value, _ in found if value is not None}
        if constraint.distinct:
            return enough([Need(offer.least, {value for value, _ in found} & values) for offer, found in valued])
        return not any(offer.least for offer in meant) or any(
            enough([self._need(offer, [device for value, device in found if value == one]) for offer, found in valued])
            for one in values
        )
