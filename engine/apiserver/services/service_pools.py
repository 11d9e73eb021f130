"""The ranges that Services get addresses and node ports from (pkg/registry/core/service/ipallocator, portallocator).

Numbers are drawn from a stream of the seed, so that the same input gives the same addresses again. The lower part of a
range is left to those who ask for an address by number.
"""

from __future__ import annotations

from collections.abc import Container
from ipaddress import IPv4Address, IPv6Address, ip_network

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
        self.size = self.network.num_addresses - (2 if self.network.version == 4 else 1)
        # min(max(16, size/16), 256) addresses are given out last (ipallocator calculateRangeOffset).
        self._offset = 0 if self.size < 16 else min(max(16, self.size // 16), 256)

    def number(self, address: IPv4Address | IPv6Address) -> int | None:
        """Which of those that can be given out an address is; None for any other."""
        number = int(address) - self._base
        return number if address in self.network and 1 <= number <= self.size else None

    def address(self, number: int) -> str:
        address = self._base + number
        return str(IPv4Address(address) if self.network.version == 4 else IPv6Address(address))

    def free(self, taken: Container[int], rng: Rng, *, first: int = 1) -> int | None:
        """The number of an address that is not taken; None if there is none. Numbers are counted from `first`."""
        number = _free(taken, rng, first + self._offset, first + self.size - 1)
        return number if number is not None else _free(taken, rng, first, first + min(self._offset, self.size) - 1)


class PortRange:
    """Ports; a number is how far one is from the first."""

    def __init__(self, ports: range = NODE_PORTS) -> None:
        self._ports = ports
        self.size = len(ports)
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
