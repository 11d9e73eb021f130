"""What a Service is allocated: addresses, node ports, a port for health checks.

Source: pkg/registry/core/service/storage (alloc.go, and patchAllocatedValues of storage.go). What is taken is the
store's to say: `service_cidrs`, `service_addresses`, `service_node_ports`.
"""

from __future__ import annotations

from engine.api.errors import ApiError, field_invalid, internal, invalid
from engine.api.strategies.service_strategy import (
    drop_unread_policy,
    has_node_ports,
    needs_health_check,
    normalize_cluster_ips,
)
from engine.api.types import Object
from engine.apiserver.services.service_addresses import Addresses, Refused, cluster_ips
from engine.apiserver.services.service_families import SERVICE, init_families, stays_preferred
from engine.apiserver.services.service_node_ports import NodePorts, PortOperation, PortRefused

_PORTED = ("NodePort", "LoadBalancer")


class ServiceHook:
    """Allocates for a Service when it is created or changed, and gives back when it is gone."""

    def __init__(self, addresses: Addresses, ports: NodePorts) -> None:
        self._addresses = addresses
        self._ports = ports
        self._pending: dict[int, _Taken] = {}  # by the identity of the object that is being written

    # -- a write

    async def begin_create(self, obj: Object, *, dry_run: bool) -> None:
        normalize_cluster_ips(obj.setdefault("spec", {}))
        drop_unread_policy(obj["spec"])
        await self._allocate(obj, None, dry_run=dry_run)

    async def begin_update(self, obj: Object, old: Object, *, dry_run: bool) -> None:
        keep_allocated(obj["spec"], old["spec"])
        normalize_cluster_ips(obj["spec"], old["spec"])
        drop_unread_policy(obj["spec"])
        await self._allocate(obj, old, dry_run=dry_run)

    async def after_success(self, obj: Object, old: Object | None) -> None:
        taken = self._pending.pop(id(obj))
        if taken.addresses and taken.owner != obj["metadata"]["name"]:  # the first name that was drawn was somebody's
            for address in taken.addresses:
                await self._addresses.release(address)
                await self._addresses.take(obj, address, dry_run=False)
        if old is None:
            return
        kept_addresses, kept_ports = cluster_ips(obj), _node_ports(obj)
        for address in cluster_ips(old):
            if address not in kept_addresses:
                await self._addresses.release(address)
        for port in _node_ports(old):
            if port not in kept_ports:
                await self._ports.release(port)

    async def after_failure(self, obj: Object, old: Object | None) -> None:
        await self._give_back(self._pending.pop(id(obj)))

    async def after_delete(self, obj: Object) -> None:
        for port in _node_ports(obj):
            await self._ports.release(port)
        for address in cluster_ips(obj):
            await self._addresses.release(address)

    async def _allocate(self, obj: Object, old: Object | None, *, dry_run: bool) -> None:
        name = obj["metadata"].get("name", "")
        ports = PortOperation(self._ports, dry_run=dry_run)
        taken = _Taken(name, ports, dry_run=dry_run or not name)  # what has no name is refused after this
        try:
            kept = old is not None and stays_preferred(obj["spec"], old["spec"])
            init_families(obj, old, self._addresses.families)
            if not kept:
                await self._allocate_addresses(obj, old, taken)
            await self._allocate_ports(obj, old, taken.ports)
        except BaseException:
            await self._give_back(taken)
            raise
        self._pending[id(obj)] = taken

    async def _give_back(self, taken: _Taken) -> None:
        await taken.ports.roll_back()
        for address in taken.addresses:
            await self._addresses.release(address)

    # -- addresses

    async def _allocate_addresses(self, obj: Object, old: Object | None, taken: _Taken) -> None:
        """All of a Service that is new or was a name, the second of one that gets a second family."""
        spec = obj["spec"]
        if spec.get("type") == "ExternalName":
            return
        addresses = list(spec.get("clusterIPs") or ())
        if addresses[:1] == ["None"]:
            spec["clusterIP"], spec["clusterIPs"] = "None", ["None"]
            return
        before = old["spec"] if old is not None else {"type": "ExternalName"}
        if before.get("type") == "ExternalName":
            known = 0
        elif (before.get("clusterIPs") or [""])[0] == "None":
            return
        elif len(before.get("ipFamilies") or ()) == 1 and len(spec["ipFamilies"]) == 2:
            known = 1
        else:
            return
        wanted = [*addresses, *[""] * (len(spec["ipFamilies"]) - len(addresses))]
        for position in range(known, len(spec["ipFamilies"])):
            wanted[position] = await self._take(obj, spec["ipFamilies"][position], wanted[position], taken)
        spec["clusterIP"], spec["clusterIPs"] = wanted[0], wanted

    async def _take(self, obj: Object, family: str, address: str, taken: _Taken) -> str:
        try:
            if address:
                await self._addresses.take(obj, address, dry_run=taken.dry_run)
            else:
                drawn = await self._addresses.draw(obj, family, dry_run=taken.dry_run)
        except Refused as why:
            if not address:
                raise internal(f"failed to allocate a serviceIP: {why}") from None
            text = f"failed to allocate IP {address}: {why}"
            raise _refused(obj, "spec.clusterIPs", obj["spec"].get("clusterIPs"), text) from None
        address = address or drawn
        if not taken.dry_run:
            taken.addresses.append(address)
        return address

    # -- ports

    async def _allocate_ports(self, obj: Object, old: Object | None, taken: PortOperation) -> None:
        spec = obj["spec"]
        if spec.get("type") in _PORTED:
            if old is None:
                await self._new_node_ports(obj, taken)
            else:
                await self._changed_node_ports(obj, _port_numbers(old["spec"]), taken)
        if needs_health_check(spec) and (old is None or not needs_health_check(old["spec"])):
            await self._health_port(spec, taken)

    async def _new_node_ports(self, obj: Object, taken: PortOperation) -> None:
        """Ports of one number share a node port, be it for several protocols; what is asked for goes first."""
        spec = obj["spec"]
        ports = spec.get("ports") or []
        shared: dict[int, int] = {}
        for position, port in enumerate(ports):
            number = port.get("port", 0)
            if not port.get("nodePort") and not has_node_ports(spec):
                continue  # none is given, but one that is asked for is
            known = shared.get(number)
            if known is None:
                same = (each.get("nodePort") for each in ports if each.get("port", 0) == number)
                asked = next(filter(None, same), 0)
                known = shared[number] = await self._node_port(obj, position, asked, taken)
                port["nodePort"] = known
            elif not port.get("nodePort"):
                port["nodePort"] = known
            elif port["nodePort"] != known:
                await self._node_port(obj, position, port["nodePort"], taken)

    async def _changed_node_ports(self, obj: Object, held: list[int], taken: PortOperation) -> None:
        spec = obj["spec"]
        seen: set[tuple[str, int]] = set()
        for position, port in enumerate(spec.get("ports") or ()):
            number = port.get("nodePort", 0)
            if not number and not has_node_ports(spec):
                continue
            if number not in held and number not in taken.taken:
                number = port["nodePort"] = await self._node_port(obj, position, number, taken)
            if (key := (port.get("protocol", ""), number)) in seen:
                # No error of the API's: it comes out as 500 without a reason.
                raise ApiError(500, "", f"duplicate nodePort: {{{key[0]} {key[1]}}}")
            seen.add(key)

    async def _node_port(self, obj: Object, position: int, number: int, taken: PortOperation) -> int:
        try:
            if not number:
                return await taken.draw()
            await taken.take(number)
            return number
        except PortRefused as why:
            if not number:
                raise internal(f"failed to allocate a nodePort: {why}") from None
            raise _refused(obj, f"spec.ports[{position}].nodePort", number, str(why)) from None

    async def _health_port(self, spec: Object, taken: PortOperation) -> None:
        asked = spec.get("healthCheckNodePort", 0)
        try:
            if asked:
                await taken.take(asked)
            else:
                spec["healthCheckNodePort"] = await taken.draw()
        except PortRefused as why:
            which = f"requested HealthCheck NodePort {asked}" if asked else "a HealthCheck NodePort 0"
            raise internal(f"failed to allocate {which}: {why}") from None


class _Taken:
    """What one write has taken so far, for the Service of this name."""

    def __init__(self, owner: str, ports: PortOperation, *, dry_run: bool) -> None:
        self.owner = owner
        self.ports = ports
        self.dry_run = dry_run
        self.addresses: list[str] = []


def keep_allocated(spec: Object, before: Object) -> None:
    """An update that leaves out what was allocated keeps it (patchAllocatedValues): node ports by the ports' names."""
    if "ExternalName" not in (spec.get("type"), before.get("type")):
        if not spec.get("clusterIP"):
            spec["clusterIP"] = before.get("clusterIP", "")
        if not spec.get("clusterIPs") and spec["clusterIP"] == before.get("clusterIP"):
            spec["clusterIPs"] = list(before.get("clusterIPs") or ())
    if has_node_ports(spec) and has_node_ports(before):
        used = set(_port_numbers(before)) & set(_port_numbers(spec))
        known = {port.get("name", ""): port["nodePort"] for port in before.get("ports") or () if port.get("nodePort")}
        for port in spec.get("ports") or ():
            number = known.get(port.get("name", ""), 0)
            if number and not port.get("nodePort") and number not in used:
                port["nodePort"] = number
                used.add(number)
    if needs_health_check(spec) and needs_health_check(before) and not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = before.get("healthCheckNodePort", 0)


def _port_numbers(spec: Object) -> list[int]:
    return [port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")]


def _node_ports(service: Object) -> list[int]:
    spec = service.get("spec") or {}
    health = spec.get("healthCheckNodePort")
    return [*_port_numbers(spec), *([health] if health else [])]


def _refused(obj: Object, path: str, value: object, why: str) -> Exception:
    return invalid(SERVICE, obj["metadata"].get("name", ""), [field_invalid(path, value, why)])
