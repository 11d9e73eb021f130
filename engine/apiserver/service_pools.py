"""The ranges that Services get addresses and node ports from (pkg/registry/core/service/ipallocator, portallocator).

Numbers are drawn from a stream of the seed, so that the same input gives the same addresses again. The lower part of a
range is left to those who ask for an address by number.
"""

from __future__ import annotations

from collections.abc import Container
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from engine.rng import Rng

NODE_PORTS = range(30000, 32768)
NOT_VALID = "provided IP is not valid"
ALLOCATED = "provided IP is already allocated"
MISMATCHED_NETWORK = "the provided network does not match the current range"
FULL = "range is full"
_ATTEMPTS = 32


class AddressRange:
    """A network; its first address is its own and, of IPv4, the last the broadcast address."""

    def __init__(self, cidr: str) -> None:
        self.network = ip_network(cidr, strict=False)
        self.family = f"IPv{self.network.version}"
        self._base = int(self.network.network_address)
        self._size = self.network.num_addresses - (2 if self.network.version == 4 else 1)
        # min(max(16, size/16), 256) addresses are given out last (ipallocator calculateRangeOffset).
        self._offset = 0 if self._size < 16 else min(max(16, self._size // 16), 256)

    def number(self, address: IPv4Address | IPv6Address) -> int | None:
        """Which of those that can be given out an address is; None for any other."""
        number = int(address) - self._base
        return number if address in self.network and 1 <= number <= self._size else None

    def address(self, number: int) -> str:
        address = self._base + number
        return str(IPv4Address(address) if self.network.version == 4 else IPv6Address(address))

    def free(self, taken: Container[int], rng: Rng) -> int | None:
        """The number of an address that is not taken; None if there is none."""
        return _free(taken, rng, self._offset + 1, self._size) or _free(taken, rng, 1, min(self._offset, self._size))


class AddressPool:
    """A range, and what is taken of it."""

    def __init__(self, cidr: str, rng: Rng) -> None:
        self._range = AddressRange(cidr)
        self.family = self._range.family
        self.network = str(self._range.network.network_address)
        self._taken: set[int] = set()
        self._rng = rng

    def take(self, address: str, *, dry_run: bool = False) -> str | None:
        """Take one address; returns why that cannot be. A dry run takes none, and does not mind who has it."""
        try:
            number = self._range.number(ip_address(address))
        except ValueError:
            return NOT_VALID
        if number is None:
            return MISMATCHED_NETWORK
        if dry_run:
            return None
        if number in self._taken:
            return ALLOCATED
        self._taken.add(number)
        return None

    def draw(self) -> str | None:
        """Take a free address; None if there is none."""
        number = self._range.free(self._taken, self._rng)
        if number is None:
            return None
        self._taken.add(number)
        return self._range.address(number)

    def release(self, address: str) -> None:
        number = self._range.number(ip_address(address))
        if number is not None:
            self._taken.discard(number)


class PortRange:
    """Ports; a number is how far one is from the first."""

    def __init__(self, ports: range = NODE_PORTS) -> None:
        self._ports = ports
        self.span = f"{ports.start}-{ports.stop - 1}"
        # As with addresses, the lower ports are given out last (portallocator calculateRangeOffset: 86 of 2,768).
        self._offset = min(max(16, len(ports) // 32), 128)

    def number(self, port: int) -> int | None:
        return port - self._ports.start if port in self._ports else None

    def port(self, number: int) -> int:
        return self._ports.start + number

    def free(self, taken: Container[int], rng: Rng) -> int | None:
        """A number that is not taken; None if there is none."""
        number = _free(taken, rng, self._offset, len(self._ports) - 1)
        return _free(taken, rng, 0, self._offset - 1) if number is None else number


def _free(taken: Container[int], rng: Rng, low: int, high: int) -> int | None:
    """A number in [low, high] that is not taken: by chance, and in a crowded range the next after a chance."""
    count = high - low + 1
    if count <= 0:
        return None
    for _ in range(_ATTEMPTS):
        number = low + rng.randrange(count)
        if number not in taken:
            return number
    start = rng.randrange(count)
    return next((n for k in range(count) if (n := low + (start + k) % count) not in taken), None)
