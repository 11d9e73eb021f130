"""Says of ServiceCIDRs that they are ready, and keeps one that is deleted until no address needs it
(pkg/controller/servicecidrs/servicecidrs_controller.go, pkg/api/servicecidr).

An address needs the range that alone holds it; a range within another one may go at once. Upstream writes the condition
anew, with a new time, whenever it looks; here it is written when it is another.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from engine.api.errors import ApiError
from engine.api.types import GVR, Object
from engine.api.wire import APPLY_PATCH
from engine.client import WARNING
from engine.config import ClusterConfig
from engine.controllers.controller import Controller
from engine.controllers.features import allocates_from_service_cidrs

SERVICE_CIDRS = GVR("networking.k8s.io", "v1", "servicecidrs")
IP_ADDRESSES = GVR("networking.k8s.io", "v1", "ipaddresses")
FINALIZER = "networking.k8s.io/service-cidr-finalizer"
GRACE = 10.0  # seconds until all API servers know that a range goes
_MANAGED_BY, _ALLOCATOR = "ipaddress.kubernetes.io/managed-by", "ipallocator.k8s.io"
_READY = {"type": "Ready", "status": "True", "reason": "", "message": "Kubernetes Service CIDR is ready"}
_TERMINATING = {
    "type": "Ready",
    "status": "False",
    "reason": "Terminating",
    "message": "There are still IPAddresses referencing the ServiceCIDR, "
    "please remove them or create a new ServiceCIDR",
}

Network = IPv4Network | IPv6Network


class ServiceCidrsController(Controller):
    name = "service-cidrs-controller"
    event_source = "service-cidr-controller"
    kind = "servicecidr"
    max_retries = 15

    @classmethod
    def is_needed(cls, config: ClusterConfig) -> bool:
        return allocates_from_service_cidrs(config.kubernetes_version)

    def set_up(self) -> None:
        self._cidrs = self.lister(SERVICE_CIDRS)
        self._addresses = self.lister(IP_ADDRESSES)
        self.watch(SERVICE_CIDRS, self._changed)
        self.watch(IP_ADDRESSES, self._address_changed)

    def _changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        """Also those that overlap with a new one, which may go now."""
        cidr = new or old or {}
        names = {cidr["metadata"]["name"]: None}
        if old is None:
            mine = _ranges(cidr)
            for other in self._cidrs.list():
                if any(a.overlaps(b) for a in mine for b in _ranges(other) if a.version == b.version):
                    names[other["metadata"]["name"]] = None
        return names

    def _address_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        address = new or old or {}
        if (old is not None and new is not None) or not _allocated(address):
            return []
        return [cidr["metadata"]["name"] for cidr in self._containing(address["metadata"]["name"])]

    async def reconcile(self, key: str) -> None:
        cidr = self._cidrs.get(key)
        if cidr is None:
            return
        if "deletionTimestamp" in cidr["metadata"]:
            await self._finish(cidr)
            return
        await self._protect(cidr)
        try:
            await self._say(cidr, _READY)
        except ApiError:
            text = "The ServiceCIDR Status can not be set to Ready=True"
            self.recorder.event(cidr, WARNING, "KubernetesServiceCIDRError", text)
            raise

    async def _finish(self, cidr: Object) -> None:
        blocked = self._blocked(cidr)
        self.note(desired={"finalizer": blocked}, actual={"finalizers": cidr["metadata"].get("finalizers") or []})
        if blocked:
            await self._say(cidr, _TERMINATING)
            return
        deleted = datetime.fromisoformat(cidr["metadata"]["deletionTimestamp"])
        left = GRACE - (self.clock.now() - deleted).total_seconds()
        if left > 0:
            self.queue.add_after(cidr["metadata"]["name"], left)
        elif FINALIZER in (cidr["metadata"].get("finalizers") or ()):
            await self._patch(cidr, {"$deleteFromPrimitiveList/finalizers": [FINALIZER]})

    def _blocked(self, cidr: Object) -> bool:
        """Whether addresses would belong to no range."""
        if all(self._has_parent(each, cidr) for each in _ranges(cidr)):
            return False
        families = {f"IPv{each.version}" for each in _ranges(cidr)}
        for address in self._addresses.list():
            name = address["metadata"]["name"]
            if _allocated(address) and f"IPv{ip_address(name).version}" in families:
                holders = self._containing(name)
                if len(holders) == 1 and holders[0]["metadata"]["name"] == cidr["metadata"]["name"]:
                    return True
        return False

    def _has_parent(self, network: Network, cidr: Object) -> bool:
        """Whether another ServiceCIDR has the range or a larger one around it."""
        name = cidr["metadata"]["name"]
        others = (each for each in self._cidrs.list() if each["metadata"]["name"] != name)
        return any(_within(network, other) for each in others for other in _ranges(each))

    def _containing(self, address: str) -> list[Object]:
        """The ServiceCIDRs that can give an address out."""
        parsed = ip_address(address)
        return [each for each in self._cidrs.list() if any(_holds(network, parsed) for network in _ranges(each))]

    async def _protect(self, cidr: Object) -> None:
        if FINALIZER not in (cidr["metadata"].get("finalizers") or ()):
            await self._patch(cidr, {"finalizers": [FINALIZER]})

    async def _patch(self, cidr: Object, metadata: Object) -> None:
        try:
            await self.client.patch(SERVICE_CIDRS, cidr["metadata"]["name"], {"metadata": metadata})
        except ApiError as error:
            if error.code != 404:
                raise

    async def _say(self, cidr: Object, wanted: dict[str, str]) -> None:
        conditions = (cidr.get("status") or {}).get("conditions") or ()
        if any(wanted.items() <= condition.items() for condition in conditions):
            return
        condition = {field: value for field, value in wanted.items() if value}
        condition["lastTransitionTime"] = self.clock.timestamp()
        applied: dict[str, Any] = {
            "apiVersion": SERVICE_CIDRS.api_version,
            "kind": "ServiceCIDR",
            "metadata": {"name": cidr["metadata"]["name"]},
            "status": {"conditions": [condition]},
        }
        await self.client.patch(
            SERVICE_CIDRS,
            cidr["metadata"]["name"],
            applied,
            subresource="status",
            content_type=APPLY_PATCH,
            field_manager=self.event_source,
            force=True,
        )


def _ranges(cidr: Object) -> list[Network]:
    return [ip_network(each) for each in cidr["spec"].get("cidrs") or ()]


def _allocated(address: Object) -> bool:
    return (address["metadata"].get("labels") or {}).get(_MANAGED_BY) == _ALLOCATOR


def _within(network: Network, other: Network) -> bool:
    return network.version == other.version and network.overlaps(other) and other.prefixlen <= network.prefixlen


def _holds(network: Network, address: IPv4Address | IPv6Address) -> bool:
    """Whether it is one that the range gives out: neither the network's own nor, of IPv4, the broadcast address."""
    if address not in network or address == network.network_address:
        return False
    return network.version == 6 or address != network.broadcast_address
