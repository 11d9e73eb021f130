"""What devices of a pool share: partitions of one thing take from the same counters (KEP 4815)."""

from __future__ import annotations

from collections.abc import Callable

from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.scheduler.devices.pools import Device, DeviceId, Pool
from engine.scheduler.devices.sharing import total

_NOTHING = Quantity.parse("0")
Key = tuple[str, str]  # a counter set and a counter in it


def _taken_by(device: Device) -> dict[Key, Quantity]:
    taken: dict[Key, Quantity] = {}
    for part in device.spec.get("consumesCounters") or ():
        for name, counter in (part.get("counters") or {}).items():
            key = (part["counterSet"], name)
            taken[key] = taken.get(key, _NOTHING) + _amount(counter)
    return taken


def _amount(counter: Object) -> Quantity:
    return Quantity.parse(str(counter["value"]))


class Counters:
    """What is left of each counter of a pool, less what this search has taken."""

    def __init__(self, pool: Pool, in_use: Callable[[DeviceId], bool]) -> None:
        self._left: dict[Key, Quantity] = {
            (shared, name): _amount(counter)
            for shared, counters in pool.counters.items()
            for name, counter in counters.items()
        }
        for device in pool.published:
            if in_use(device.id):
                self._move(device, take=True)

    def take(self, device: Device) -> bool:
        """Take what a device needs, if there is enough of all."""
        if any(self._left.get(key, _NOTHING) < amount for key, amount in _taken_by(device).items()):
            return False
        self._move(device, take=True)
        return True

    def give_back(self, device: Device) -> None:
        self._move(device, take=False)

    def _move(self, device: Device, *, take: bool) -> None:
        for key, amount in _taken_by(device).items():
            left = self._left.get(key)
            if left is not None:
                self._left[key] = left - amount if take else left + amount

    def left_by_name(self) -> dict[str, Quantity]:
        """What is left of all counters of a name together."""
        return total({name: max(left, _NOTHING)} for (_, name), left in self._left.items())


def drawn_by_name(device: Device) -> dict[str, Quantity]:
    """What a device takes of all counters of a name together."""
    return total({name: amount} for (_, name), amount in _taken_by(device).items())
