"""Ports of a Pod's containers that get in each other's way (pkg/api/pod/warnings.go)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.types import Object

# Of Go's ContainerPort, as %+v shows it.
_FIELDS = (("Name", ""), ("HostPort", 0), ("ContainerPort", 0), ("Protocol", ""), ("HostIP", ""))
_MOST = 200  # clashes that are told: the texts of fewer fill what a client is told of
_Seen = dict[tuple[object, ...], list[tuple[str, Object]]]  # ports and their paths, by what makes one clash with them


def port_warnings(containers: Sequence[tuple[str, Sequence[Object]]]) -> list[str]:
    """Of the containers, each by its path, and their ports."""
    found: list[str] = []
    places: dict[str, int] = {}
    seen: _Seen = {}
    left = _MOST
    for place, ports in containers:
        for index, port in enumerate(ports):
            path = f"{place}.ports[{index}]"
            if port.get("hostIP") and not port.get("hostPort"):
                found.append(f"{path}: hostIP set without hostPort: {_shown(port)}")
            others = _candidates(port, seen, left)
            others.sort(key=lambda other: places[other[0]])
            clashes = [f"{path}: {text} with {other}" for other, before in others if (text := _clash(port, before))][
                :left
            ]
            found += clashes
            left -= len(clashes)
            places[path] = len(places)
            for key in _keys(port):
                seen.setdefault(key, []).append((path, port))
    return found


def _keys(port: Object) -> list[tuple[object, ...]]:
    """What a port is found by."""
    number, host = (port.get("containerPort", 0), port.get("protocol", "")), port.get("hostPort", 0)
    return [number, (*number, host), (*number, host, port.get("hostIP", ""))]


def _candidates(port: Object, seen: _Seen, most: int) -> list[tuple[str, Object]]:
    """The first earlier ports that clash with this one: of its number, protocol and, where both have one, host port."""
    number, same_host, same_address = _keys(port)
    if not port.get("hostPort"):
        return seen.get(number, [])[:most]
    keys = [(*number, 0), same_address, (*same_host, "")] if port.get("hostIP") else [(*number, 0), same_host]
    return [each for key in keys for each in seen.get(key, [])[:most]]


def name_warnings(containers: Sequence[tuple[str, Sequence[Object]]]) -> list[str]:
    """Of ports that have one name: who asks for it gets the first."""
    found: list[str] = []
    seen: dict[str, str] = {}
    for place, ports in containers:
        for index, port in enumerate(ports):
            path, name = f"{place}.ports[{index}]", port.get("name", "")
            if name and (other := seen.setdefault(name, path)) != path:
                users = f"services and probes that select ports by name will use {other}"
                found.append(f'{path}: duplicate port name "{name}" with {other}, {users}')
    return found


def _clash(port: Object, other: Object) -> str:
    """How a port clashes with an earlier one of the same number and protocol; "" if it does not."""
    address, before = port.get("hostIP", ""), other.get("hostIP", "")
    host, host_before = port.get("hostPort", 0), other.get("hostPort", 0)
    if address == before and host == host_before:
        return "duplicate port definition"
    if not host or not host_before:
        return "overlapping port definition"
    if host == host_before and bool(address) != bool(before):
        return "dangerously ambiguous port definition"
    return ""


def _shown(port: Object) -> str:
    values = (f"{name}:{port.get(name[0].lower() + name[1:], zero)}" for name, zero in _FIELDS)
    return f"{{{' '.join(values)}}}"
