"""Whether a server can be reached from inside a container, as its clients find out."""

from __future__ import annotations

from engine.kubelet.runtime.shell.process import Machine


def listens(machine: Machine, host: str, port: int) -> bool:
    """Whether something listens at a host's port; the host may be the container itself."""
    if host in ("127.0.0.1", "localhost", "::1", "") and port in machine.listening:
        return True
    addresses = (
        [host] if host[:1].isdigit() else ["127.0.0.1"] if host == "localhost" else machine.network.resolve(host)
    )
    try:
        for address in addresses[:1]:
            machine.network.ask(address, port, b"")
    except OSError:
        return False
    return bool(addresses)
