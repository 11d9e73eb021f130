"""Whether there are devices enough for all requests at once, each device given to one of them.

The search would learn of one device too few by trying every order of those that there are, for a request each: 8! for
eight devices and nine requests. This is the theorem of Hall, by augmenting paths.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from engine.scheduler.devices.pools import DeviceId


class Need(NamedTuple):
    """A request wants so many of these devices."""

    wanted: int
    devices: Collection[DeviceId]


def enough(needs: Sequence[Need]) -> bool:
    owner: dict[DeviceId, int] = {}
    return all(_give(needs, number, owner, set()) for number, need in enumerate(needs) for _ in range(need.wanted))


def _give(needs: Sequence[Need], number: int, owner: dict[DeviceId, int], seen: set[DeviceId]) -> bool:
    """Give a request one device more, from one that can have another instead if need be."""
    for device in needs[number].devices:
        if device in seen or owner.get(device) == number:
            continue
        seen.add(device)
        if device not in owner or _give(needs, owner[device], owner, seen):
            owner[device] = number
            return True
    return False
