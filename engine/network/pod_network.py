"""The network as the processes of one Pod see it: names resolve by the cluster's DNS, and what is sent to a Service's
address goes to one of its endpoints by the rules of the Pod's node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from engine.network import dns
from engine.network.proxy import ServiceProxy
from engine.network.rules import Endpoint, Rule

# What an endpoint that is no simulated Pod answers: the API server's, and those that somebody wrote by hand.
NOT_SIMULATED = b"ktui simulates no way from a container to this address: nothing real was asked.\n"


class Cable(Protocol):
    """What carries requests between Pods."""

    def reaches(self, address: str) -> bool: ...

    def ask(self, address: str, port: int, data: bytes, *, source: str) -> bytes: ...


class PodNetwork:
    """To be handed to the kubelets by the composition root. `nodes` are the addresses at which node ports answer and
    the nodes that have them, `node` the Pod's own."""

    def __init__(
        self, proxy: ServiceProxy, cable: Cable, nodes: Mapping[str, str], node: str, namespace: str, source: str
    ) -> None:
        self._proxy = proxy
        self._cable = cable
        self._nodes = nodes
        self._node = node
        self._namespace = namespace
        self._source = source

    def resolve(self, name: str) -> list[str]:
        return dns.addresses(dns.resolve(self._proxy, name, self._namespace))

    def query(self, name: str, type: str) -> tuple[str, list[dns.Record]]:
        """The code and the records of the answer."""
        found = dns.resolve(self._proxy, name, self._namespace, type)
        return found.rcode, list(found.records)

    def full_name(self, name: str) -> str:
        found = dns.resolve(self._proxy, name, self._namespace)
        return found.records[0].name.rstrip(".") if found.records else name

    def ask(self, address: str, port: int, data: bytes) -> bytes:
        """The answer of whoever is behind an address. Raises ConnectionRefusedError, TimeoutError where the rules drop
        what is sent, and OSError where no host has the address."""
        rule, endpoints = self._way(address, port)
        if rule is None:
            return self._cable.ask(address, port, data, source=self._source)
        if not endpoints:
            raise TimeoutError if rule.drops else ConnectionRefusedError
        endpoint = self._proxy.choose(rule, endpoints, self._source)
        if not self._cable.reaches(endpoint.ip):
            return _not_simulated() if data else b""
        return self._cable.ask(endpoint.ip, endpoint.port, data, source=self._source)

    def pings(self, address: str) -> bool:
        """Whether an echo request is answered; no Service's address does that."""
        return address in self._nodes or self._cable.reaches(address)

    def _way(self, address: str, port: int) -> tuple[Rule | None, Sequence[Endpoint]]:
        """The rule that decides, and what it lets the Pod have: its own node's rules know it for one of the cluster
        (kubernetes/kubernetes#93456), to another node it comes from outside."""
        rule = self._proxy.rule(address, port, self._node)
        if rule is None and address in self._nodes:
            at = self._nodes[address]
            rule = self._proxy.rule("", port, at)
            if rule is not None and at != self._node:
                return rule, rule.endpoints
        return rule, rule.for_pods if rule is not None else ()


def _not_simulated() -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {len(NOT_SIMULATED)}\r\n"
    return f"{head}X-Simulated-By: ktui\r\n\r\n".encode() + NOT_SIMULATED
