"""The network of one Pod sandbox: its own loopback, and what the pod network gives beyond."""

from __future__ import annotations

from engine.kubelet.runtime.shell.process import DnsAnswer, Network
from engine.kubelet.runtime.wire import Server

LOOPBACK = ("127.0.0.1", "::1")


class SandboxNetwork:
    """`server` is what listens in the sandbox's containers, which share one loopback."""

    def __init__(self, outer: Network, server: Server) -> None:
        self._outer = outer
        self._server = server

    def resolve(self, name: str) -> list[str]:
        return self._outer.resolve(name)

    def query(self, name: str, type: str) -> DnsAnswer:
        return self._outer.query(name, type)

    def full_name(self, name: str) -> str:
        return self._outer.full_name(name)

    def ask(self, address: str, port: int, data: bytes) -> bytes:
        if address not in LOOPBACK:
            return self._outer.ask(address, port, data)
        answer = self._server(port, data, LOOPBACK[0])
        if answer is None:
            raise ConnectionRefusedError
        return answer

    def pings(self, address: str) -> bool:
        return address in LOOPBACK or self._outer.pings(address)
