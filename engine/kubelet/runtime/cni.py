"""The pod network of one node: host-local IPAM over the node's pod CIDR (CNI plugins, host-local and ptp)."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network

from engine.kubelet.cri import CriError

NOT_INITIALIZED = "Network plugin returns error: cni plugin not initialized"


class Cni:
    """Addresses are given in turn and reused only when the range is through, as host-local does."""

    def __init__(self) -> None:
        self.cidr = ""
        self._network: IPv4Network | IPv6Network | None = None
        self._last = 1  # .1 is the gateway
        self._used: dict[str, str] = {}  # address to sandbox id

    @property
    def ready(self) -> bool:
        return self._network is not None

    def configure(self, cidr: str) -> None:
        """Take the node's range; the first one stands."""
        if self._network is None and cidr:
            self._network, self.cidr = ip_network(cidr), cidr

    def add(self, sandbox_id: str) -> str:
        """CNI ADD: an address for a sandbox. Raises CriError when none is left."""
        network = self._network
        if network is None:
            raise CriError("Unknown", f'failed to setup network for sandbox "{sandbox_id}": cni plugin not initialized')
        usable = min(network.num_addresses - 2, 1 << 16)
        for _ in range(usable):
            self._last = self._last + 1 if self._last + 1 <= usable else 2
            address = str(network[self._last])
            if address not in self._used:
                self._used[address] = sandbox_id
                return address
        raise CriError(
            "Unknown",
            f'failed to setup network for sandbox "{sandbox_id}": plugin type="ptp" failed (add): failed to allocate '
            f"for range 0: no IP addresses available in range set: {network[1]}-{network[-2]}",
        )

    def delete(self, addresses: Sequence[str]) -> None:
        """CNI DEL."""
        for address in addresses:
            self._used.pop(address, None)

    def used(self) -> dict[str, str]:
        return dict(self._used)
