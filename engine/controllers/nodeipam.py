"""The node IPAM controller: gives each Node its own part of the cluster's Pod network
(pkg/controller/nodeipam/ipam/range_allocator.go)."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_network

from engine.api.types import NODES, Object
from engine.client import NORMAL
from engine.controllers.controller import Controller

# The mask of a Node's range (--node-cidr-mask-size-ipv4 and -ipv6).
MASK = {4: 24, 6: 64}

Network = IPv4Network | IPv6Network


class NoCidrError(Exception):
    def __init__(self) -> None:
        super().__init__("CIDR allocation failed; there are no remaining CIDRs left to allocate in the accepted range")


class CidrSet:
    """The parts of a network, handed out in turn (ipam/cidrset/cidr_set.go)."""

    def __init__(self, network: Network) -> None:
        mask = max(MASK[network.version], network.prefixlen)
        self._network = network
        self._mask = mask
        self._count = 1 << (mask - network.prefixlen)
        self._used: set[int] = set()
        self._next = 0

    def allocate(self) -> str | None:
        """The next free part; None if all are taken."""
        for offset in range(self._count):
            number = (self._next + offset) % self._count
            if number not in self._used:
                self._used.add(number)
                self._next = (number + 1) % self._count
                return self._part(number)
        return None

    def occupy(self, cidr: str) -> None:
        """Note a part that is in use. What lies outside of the network is nobody's business here."""
        if (number := self._number(cidr)) is not None:
            self._used.add(number)

    def release(self, cidr: str) -> None:
        if (number := self._number(cidr)) is not None:
            self._used.discard(number)

    def _part(self, number: int) -> str:
        bits = self._network.max_prefixlen - self._mask
        address = self._network.network_address + (number << bits)
        return f"{address}/{self._mask}"

    def _number(self, cidr: str) -> int | None:
        network = ip_network(cidr)
        if network.version != self._network.version or network.network_address not in self._network:
            return None
        bits = self._network.max_prefixlen - self._mask
        return (int(network.network_address) - int(self._network.network_address)) >> bits


class NodeIpamController(Controller):
    name = "node-controller"
    kind = "node"
    event_source = "cidrAllocator"
    view = "node-ipam-controller"
    workers = 1  # so that one range is never handed out twice

    def set_up(self) -> None:
        self._nodes = self.lister(NODES)
        self._ranges = CidrSet(ip_network(self.config.pod_cidr))
        self.watch(NODES, self._changed)

    def _changed(self, old: Object | None, new: Object | None) -> list[str]:
        if new is None:
            for cidr in _ranges_of(old or {}):
                self._ranges.release(cidr)
            return []
        for cidr in _ranges_of(new):
            self._ranges.occupy(cidr)
        return [] if _ranges_of(new) else [new["metadata"]["name"]]

    async def reconcile(self, key: str) -> None:
        node = self._nodes.get(key)
        if node is None or _ranges_of(node):
            return
        cidr = self._ranges.allocate()
        self.note(desired={"podCIDR": cidr}, actual={})
        if cidr is None:
            self.recorder.event(node, NORMAL, "CIDRNotAvailable", f"Node {key} status is now: CIDRNotAvailable")
            raise NoCidrError
        try:
            await self.client.patch(NODES, key, {"spec": {"podCIDR": cidr, "podCIDRs": [cidr]}})
        except BaseException:
            self._ranges.release(cidr)
            raise


def _ranges_of(node: Object) -> list[str]:
    spec = node.get("spec") or {}
    ranges: list[str] = spec.get("podCIDRs") or ([spec["podCIDR"]] if spec.get("podCIDR") else [])
    return ranges
