"""Addresses and node ports of Services (pkg/registry/core/service/ipallocator, portallocator and storage/alloc.go).

What is taken is read from the stored Services when the server starts and kept up to date by the verbs. Numbers are
drawn from a stream of the seed, so that the same input gives the same addresses again. The lower part of the range is
left to those who ask for an address by number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address, ip_network

from engine.api.errors import Cause, field_invalid, invalid
from engine.api.service_strategy import has_node_ports, needs_health_check, normalize_cluster_ips
from engine.api.types import GVK, Object
from engine.api.validation.problems import Problems
from engine.api.validation.services import cluster_addresses
from engine.rng import Rng

_SERVICE = GVK("", "v1", "Service")
NODE_PORTS = range(30000, 32768)
_ATTEMPTS = 32


class AddressPool:
    """The addresses of a range; the first is the network's own and the last the broadcast address."""

    def __init__(self, cidr: str, rng: Rng) -> None:
        network = ip_network(cidr, strict=False)
        if isinstance(network, IPv6Network):
            raise ValueError(f"service range {cidr}: only IPv4 is supported")
        self.network: IPv4Network = network
        self._base = int(network.network_address)
        self._size = network.num_addresses - 2
        # min(max(16, size/16), 256) addresses are given out last (ipallocator calculateRangeOffset).
        self._offset = 0 if self._size < 16 else min(max(16, self._size // 16), 256)
        self._taken: set[int] = set()
        self._rng = rng

    @property
    def first(self) -> str:
        """The address of the Service default/kubernetes."""
        return str(IPv4Address(self._base + 1))

    def take(self, address: str) -> str | None:
        """Take one address; returns why that cannot be."""
        try:
            number = int(ip_address(address)) - self._base
        except ValueError:
            return f"failed to allocate IP {address}: provided IP is not valid"
        if ip_address(address) not in self.network or not 1 <= number <= self._size:
            return f"failed to allocate IP {address}: the provided network does not match the current range"
        if number in self._taken:
            return f"failed to allocate IP {address}: provided IP is already allocated"
        self._taken.add(number)
        return None

    def draw(self) -> str | None:
        """Take a free address; None if there is none."""
        number = _free(self._taken, self._rng, self._offset + 1, self._size) or _free(
            self._taken, self._rng, 1, min(self._offset, self._size)
        )
        if number is None:
            return None
        self._taken.add(number)
        return str(IPv4Address(self._base + number))

    def release(self, address: str) -> None:
        self._taken.discard(int(ip_address(address)) - self._base)


class PortPool:
    def __init__(self, rng: Rng, ports: range = NODE_PORTS) -> None:
        self._ports = ports
        self._taken: set[int] = set()
        self._rng = rng

    def take(self, port: int) -> str | None:
        if port not in self._ports:
            last = self._ports.stop - 1
            return f"provided port is not in the valid range. The range of valid ports is {self._ports.start}-{last}"
        if port in self._taken:
            return "provided port is already allocated"
        self._taken.add(port)
        return None

    def draw(self) -> int | None:
        # As with addresses, the lower ports are given out last (portallocator calculateRangeOffset: 86 of 2,768).
        offset = min(max(16, len(self._ports) // 32), 128)
        first, last = self._ports.start, self._ports.stop - 1
        port = _free(self._taken, self._rng, first + offset, last) or _free(
            self._taken, self._rng, first, first + offset - 1
        )
        if port is not None:
            self._taken.add(port)
        return port

    def release(self, port: int) -> None:
        self._taken.discard(port)


def _free(taken: set[int], rng: Rng, low: int, high: int) -> int | None:
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


class ServiceHook:
    """Allocates for a Service when it is created or changed, and gives back when it is gone."""

    def __init__(self, addresses: AddressPool, ports: PortPool) -> None:
        self.addresses = addresses
        self.ports = ports
        self._stored: Callable[[], Iterable[Object]] | None = None
        self._seen_addresses: set[str] = set()
        self._seen_ports: set[int] = set()

    def follow(self, stored: Callable[[], Iterable[Object]]) -> None:
        """Before each allocation look at the Services that are stored now: another server may have made some."""
        self._stored = stored

    def _look_at_others(self) -> None:
        if self._stored is None:
            return
        services = list(self._stored())
        addresses = {address for service in services for address in _addresses(service)}
        ports = {port for service in services for port in _node_ports(service)}
        for address in self._seen_addresses - addresses:
            self.addresses.release(address)
        for address in addresses - self._seen_addresses:
            self.addresses.take(address)
        for port in self._seen_ports - ports:
            self.ports.release(port)
        for port in ports - self._seen_ports:
            self.ports.take(port)
        self._seen_addresses, self._seen_ports = addresses, ports

    def load(self, services: Iterable[Object]) -> None:
        for service in services:
            for address in _addresses(service):
                self.addresses.take(address)
            for port in _node_ports(service):
                self.ports.take(port)

    def begin_create(self, obj: Object) -> None:
        normalize_cluster_ips(obj.setdefault("spec", {}))
        self._allocate(obj, held_addresses=[], held_ports=[])

    def begin_update(self, obj: Object, old: Object) -> None:
        _keep_on_update(obj, old)
        normalize_cluster_ips(obj["spec"], old["spec"])
        self._allocate(obj, held_addresses=_addresses(old), held_ports=_node_ports(old))

    def after_success(self, obj: Object, old: Object) -> None:
        self._release(old, keep=obj)

    def after_failure(self, obj: Object, old: Object | None) -> None:
        self._release(obj, keep=old)

    def after_delete(self, obj: Object) -> None:
        self._release(obj, keep=None)

    def _release(self, obj: Object, *, keep: Object | None) -> None:
        kept_addresses = _addresses(keep) if keep is not None else []
        kept_ports = _node_ports(keep) if keep is not None else []
        for address in _addresses(obj):
            if address not in kept_addresses:
                self.addresses.release(address)
        for port in _node_ports(obj):
            if port not in kept_ports:
                self.ports.release(port)

    def _allocate(self, obj: Object, *, held_addresses: list[str], held_ports: list[int]) -> None:
        self._look_at_others()
        taken_addresses: list[str] = []
        taken_ports: list[int] = []
        try:
            self._allocate_addresses(obj, held=held_addresses, taken=taken_addresses)
            self._allocate_ports(obj, held=held_ports, taken=taken_ports)
        except BaseException:
            for address in taken_addresses:
                self.addresses.release(address)
            for port in taken_ports:
                self.ports.release(port)
            raise

    def _allocate_addresses(self, obj: Object, *, held: list[str], taken: list[str]) -> None:
        spec = obj.setdefault("spec", {})
        if spec.get("type") == "ExternalName":
            return
        _refuse_what_cannot_be(obj)
        spec.setdefault("ipFamilies", ["IPv4"])
        spec.setdefault("ipFamilyPolicy", "SingleStack")
        wanted = spec.get("clusterIP") or next(iter(spec.get("clusterIPs") or ()), "")
        if wanted == "None":
            spec["clusterIP"], spec["clusterIPs"] = "None", ["None"]
            return
        if not wanted:
            drawn = self.addresses.draw()
            if drawn is None:
                raise _refused(obj, field_invalid("spec.clusterIPs", [], "failed to allocate an IP: range is full"))
            taken.append(drawn)
            wanted = drawn
        elif wanted not in held:
            if why := self.addresses.take(wanted):
                raise _refused(obj, field_invalid("spec.clusterIPs", [wanted], why))
            taken.append(wanted)
        spec["clusterIP"], spec["clusterIPs"] = wanted, [wanted]

    def _allocate_ports(self, obj: Object, *, held: list[int], taken: list[int]) -> None:
        spec = obj["spec"]
        if not has_node_ports(spec):
            return
        same: dict[int, set[str]] = {}  # one number may serve several protocols of a Service
        causes: list[Cause] = []
        for position, port in enumerate(spec.get("ports") or ()):
            number, protocol = port.get("nodePort", 0), port.get("protocol", "TCP")
            if number:
                if number in held or (number in same and protocol not in same[number]):
                    same.setdefault(number, set()).add(protocol)
                    continue
                if why := self.ports.take(number):
                    causes.append(field_invalid(f"spec.ports[{position}].nodePort", number, why))
                    continue
            else:
                drawn = self.ports.draw()
                if drawn is None:
                    causes.append(field_invalid(f"spec.ports[{position}].nodePort", 0, "range is full"))
                    continue
                number = port["nodePort"] = drawn
            taken.append(number)
            same.setdefault(number, set()).add(protocol)
        if needs_health_check(spec) and not spec.get("healthCheckNodePort"):
            drawn = self.ports.draw()
            if drawn is not None:
                spec["healthCheckNodePort"] = drawn
                taken.append(drawn)
        if causes:
            raise _refused(obj, *causes)


def _refuse_what_cannot_be(obj: Object) -> None:
    """Addresses and families that are wrong, or that a cluster of one family does not have (initIPFamilyFields)."""
    spec, problems = obj["spec"], Problems()
    cluster_addresses(spec, problems)
    if not problems:
        policy = spec.get("ipFamilyPolicy")
        if policy == "RequireDualStack":
            problems.invalid("spec.ipFamilyPolicy", policy, "this cluster is not configured for dual-stack services")
        for position, family in enumerate(spec.get("ipFamilies") or ()):
            if family != "IPv4":
                problems.invalid(f"spec.ipFamilies[{position}]", family, "not configured on this cluster")
    if problems:
        raise _refused(obj, *problems)


def _keep_on_update(obj: Object, old: Object) -> None:
    """An update that leaves out what was allocated keeps it (patchAllocatedValues)."""
    spec, before = obj["spec"], old["spec"]
    if spec.get("type") == "ExternalName":
        return
    if before.get("type") != "ExternalName":
        if not spec.get("clusterIP"):
            spec["clusterIP"] = before.get("clusterIP", "")
        if not spec.get("clusterIPs") and spec["clusterIP"] == before.get("clusterIP"):
            spec["clusterIPs"] = list(before.get("clusterIPs") or ())
    if not has_node_ports(spec):
        return
    known = {
        (p.get("protocol", "TCP"), p["port"]): p["nodePort"] for p in before.get("ports") or () if p.get("nodePort")
    }
    used = {p["nodePort"] for p in spec.get("ports") or () if p.get("nodePort")}
    for port in spec.get("ports") or ():
        number = known.get((port.get("protocol", "TCP"), port["port"]))
        if number and not port.get("nodePort") and number not in used:
            port["nodePort"] = number
            used.add(number)
    if before.get("healthCheckNodePort") and not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = before["healthCheckNodePort"]


def _addresses(service: Object) -> list[str]:
    return [ip for ip in (service.get("spec") or {}).get("clusterIPs") or () if ip and ip != "None"]


def _node_ports(service: Object) -> list[int]:
    spec = service.get("spec") or {}
    ports = [port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")]
    if spec.get("healthCheckNodePort"):
        ports.append(spec["healthCheckNodePort"])
    return ports


def _refused(obj: Object, *causes: Cause) -> Exception:
    return invalid(_SERVICE, obj["metadata"].get("name", ""), causes)
