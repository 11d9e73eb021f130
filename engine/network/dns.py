"""Answers for the cluster's domain as CoreDNS' kubernetes plugin gives them (dns specification 1.1.0). Pure.

Services have A and AAAA records of their cluster addresses, headless ones those of their endpoints; named ports have
SRV records; ExternalName is a CNAME; a Pod's address has a name made of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from typing import NamedTuple, Protocol

from engine.api.types import Object

DOMAIN = "cluster.local"
TTL = 30
NDOTS = 5
SCHEMA_VERSION = "1.1.0"


class Records(Protocol):
    """Where the answers come from."""

    def service(self, namespace: str, name: str) -> Object | None: ...

    def endpoint_slices(self, namespace: str, name: str) -> Sequence[Object]: ...

    def services(self) -> Iterable[Object]: ...


class Record(NamedTuple):
    name: str
    type: str
    data: str
    ttl: int = TTL


class Answer(NamedTuple):
    """`rcode` is NOERROR (perhaps with no records) or NXDOMAIN."""

    rcode: str
    records: tuple[Record, ...] = ()


NXDOMAIN = Answer("NXDOMAIN")


class _Address(NamedTuple):
    hostname: str
    ip: str
    ports: tuple[tuple[str, str, int], ...]  # name, protocol, number


def answer(records: Records, name: str, type: str = "A", *, domain: str = DOMAIN) -> Answer:
    """The answer to a question for a full name."""
    name = name.rstrip(".").lower()
    if name == f"dns-version.{domain}":
        return Answer("NOERROR", (Record(name, "TXT", f'"{SCHEMA_VERSION}"'),) if type == "TXT" else ())
    if address := _pointed_at(name):
        return _pointers(records, name, address, type, domain)
    if not name.endswith(f".{domain}"):
        return NXDOMAIN
    labels = name.removesuffix(f".{domain}").split(".")
    kind = labels.pop()
    if kind == "pod":
        return _pod(name, labels, type)
    if kind != "svc" or len(labels) < 2:
        return Answer("NOERROR") if kind == "svc" else NXDOMAIN
    namespace, service_name, rest = labels[-1], labels[-2], labels[:-2]
    service = records.service(namespace, service_name)
    if service is None:
        return NXDOMAIN
    return _service(records, service, name, rest, type, domain)


def resolve(records: Records, name: str, namespace: str, type: str = "A", *, domain: str = DOMAIN) -> Answer:
    """As a Pod's resolver asks: with its search path and ndots:5, following a CNAME inside the cluster."""
    absolute = name.endswith(".")
    candidates = [name]
    if not absolute:
        search = [f"{name}.{suffix}" for suffix in (f"{namespace}.svc.{domain}", f"svc.{domain}", domain)]
        candidates = [*search, name] if name.count(".") < NDOTS else [name, *search]
    for candidate in candidates:
        found = answer(records, candidate, type, domain=domain)
        if found.records:
            return _follow(records, found, type, domain)
    return found


def _follow(records: Records, found: Answer, type: str, domain: str) -> Answer:
    last = found.records[-1]
    if type in ("A", "AAAA") and last.type == "CNAME" and last.data.rstrip(".").endswith(domain):
        return Answer("NOERROR", (*found.records, *answer(records, last.data, type, domain=domain).records))
    return found


def addresses(found: Answer) -> list[str]:
    return [record.data for record in found.records if record.type in ("A", "AAAA")]


# -- Services


def _service(records: Records, service: Object, name: str, rest: list[str], type: str, domain: str) -> Answer:
    spec, metadata = service["spec"], service["metadata"]
    base = f"{metadata['name']}.{metadata['namespace']}.svc.{domain}"
    if spec.get("type") == "ExternalName":
        if rest:
            return NXDOMAIN
        return Answer("NOERROR", (Record(name, "CNAME", f"{spec['externalName'].rstrip('.')}."),))
    headless = spec.get("clusterIP", "None") in ("", "None")
    targets = list(_endpoints(records, service)) if headless else list(_cluster_addresses(service))
    if len(rest) == 2 and rest[0].startswith("_") and rest[1].startswith("_"):
        return _srv(name, base, targets, rest[0][1:], rest[1][1:], type, headless=headless)
    if len(rest) == 1 and headless:
        targets = [target for target in targets if target.hostname == rest[0]]
        return _hosts(name, targets, type) if targets else NXDOMAIN
    if rest:
        return NXDOMAIN
    if headless and not targets:
        return NXDOMAIN
    return _hosts(name, targets, type)


def _cluster_addresses(service: Object) -> Iterable[_Address]:
    spec = service["spec"]
    ports = tuple((port.get("name", ""), port.get("protocol", "TCP"), port["port"]) for port in spec.get("ports") or ())
    for ip in spec.get("clusterIPs") or [spec["clusterIP"]]:
        yield _Address("", ip, ports)


def _endpoints(records: Records, service: Object) -> Iterable[_Address]:
    """Endpoints that are ready, or all where the Service publishes those that are not."""
    metadata = service["metadata"]
    everything = bool(service["spec"].get("publishNotReadyAddresses"))
    for piece in records.endpoint_slices(metadata["namespace"], metadata["name"]):
        ports = tuple(
            (port.get("name") or "", port.get("protocol", "TCP"), port.get("port") or 0)
            for port in piece.get("ports") or ()
        )
        for endpoint in piece.get("endpoints") or ():
            if (endpoint.get("conditions") or {}).get("ready", True) is False and not everything:
                continue
            for ip in endpoint["addresses"]:
                yield _Address(endpoint.get("hostname") or _dashed(ip), ip, ports)


def _hosts(name: str, targets: Iterable[_Address], type: str) -> Answer:
    return Answer("NOERROR", tuple(Record(name, type, target.ip) for target in targets if _type_of(target.ip) == type))


def _srv(
    name: str, base: str, targets: list[_Address], port: str, protocol: str, type: str, *, headless: bool
) -> Answer:
    found = []
    for target in targets:
        for port_name, port_protocol, number in target.ports:
            if port_name == port and port_protocol.lower() == protocol:
                host = f"{target.hostname}.{base}." if headless else f"{base}."
                found.append((number, host))
    if not found:
        return NXDOMAIN
    if type != "SRV":
        return Answer("NOERROR")
    unique = list(dict.fromkeys(found))
    weight = max(1, 100 // len(unique))
    return Answer("NOERROR", tuple(Record(name, "SRV", f"0 {weight} {number} {host}") for number, host in unique))


# -- the way back


def _pointed_at(name: str) -> str:
    """The address that a name of in-addr.arpa or ip6.arpa stands for; "" for any other name."""
    labels = name.split(".")
    if labels[-2:] == ["in-addr", "arpa"] and len(labels) == 6:
        return ".".join(reversed(labels[:4]))
    if labels[-2:] == ["ip6", "arpa"] and len(labels) == 34:
        digits = "".join(reversed(labels[:32]))
        return str(ip_address(":".join(digits[at : at + 4] for at in range(0, 32, 4))))
    return ""


def _pointers(records: Records, name: str, address: str, type: str, domain: str) -> Answer:
    """The Service of a cluster address, or the endpoints that have it."""
    names = []
    for service in records.services():
        metadata, spec = service["metadata"], service["spec"]
        base = f"{metadata['name']}.{metadata['namespace']}.svc.{domain}."
        if address in (spec.get("clusterIPs") or ()):
            names = [base]
            break
        names += [f"{found.hostname}.{base}" for found in _endpoints(records, service) if found.ip == address]
    if not names:
        return NXDOMAIN
    return Answer("NOERROR", tuple(Record(name, "PTR", target) for target in names) if type == "PTR" else ())


# -- Pods


def _pod(name: str, labels: list[str], type: str) -> Answer:
    """`10-244-0-7.default.pod.cluster.local` is the address that it spells (pods insecure)."""
    if len(labels) != 2:
        return NXDOMAIN
    ip = labels[0].replace("-", ".") if re.fullmatch(r"\d+-\d+-\d+-\d+", labels[0]) else labels[0].replace("-", ":")
    kind = _type_of(ip)
    if not kind:
        return NXDOMAIN
    return Answer("NOERROR", (Record(name, type, ip),) if kind == type else ())


def _dashed(ip: str) -> str:
    return ip.replace(".", "-").replace(":", "-")


def _type_of(ip: str) -> str:
    try:
        return "AAAA" if ip_address(ip).version == 6 else "A"
    except ValueError:
        return ""
