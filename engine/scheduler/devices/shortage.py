"""Whether there are too few devices for all requests at once, each device given to one of them.

The search would learn of one device too few by trying every order of those that there are, for a request each: 8! for
eight devices and nine requests. Here it is the theorem of Hall, by augmenting paths; only what is certain is told.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import NamedTuple

from engine.scheduler.devices.pools import Device
from engine.scheduler.devices.requests import Constraint, Request


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


def is_short(
    claims: Iterable[tuple[Sequence[Offer], Sequence[Constraint]]], is_shared: Callable[[Device], bool]
) -> bool:
    """`claims` are the offers to each and its constraints; devices that are shared are in nobody's way."""

    def need(offer: Offer, devices: list[Device]) -> Need:
        return Need(max(0, offer.least - sum(map(is_shared, devices))), [device.id for device in devices])

    def agrees(constraint: Constraint, offers: Sequence[Offer]) -> bool:
        meant = [offer for offer in offers if all(way.applies(constraint.requests) for way in offer.ways)]
        valued = [(offer, [(constraint.value(d), d) for d in offer.devices]) for offer in meant]
        values = {value for _, found in valued for value, _ in found if value is not None}
        if constraint.distinct:
            return enough([Need(o.least, {value for value, _ in found} & values) for o, found in valued])
        return not any(offer.least for offer in meant) or any(
            enough([need(offer, [d for value, d in found if value == one]) for offer, found in valued])
            for one in values
        )

    known = list(claims)
    if not enough([need(offer, offer.devices) for offers, _ in known for offer in offers]):
        return True
    return not all(agrees(constraint, offers) for offers, constraints in known for constraint in constraints)
