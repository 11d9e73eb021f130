"""The cable between the nodes' simulated Pods: a request that is sent to an address is answered by what runs there.

No packet is real. A node's CNI plugs a sandbox in under its address; whoever asks that address gets what the server in
its container answers (`engine.kubelet.runtime.web`), or is refused as by a kernel.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable

# What listens at a sandbox: port, what was sent, and from which address. None where nothing does.
Server = Callable[[int, bytes, str], bytes | None]


class Wire:
    """One for all machines of a cluster; several sandboxes share the address of a node (hostNetwork)."""

    def __init__(self) -> None:
        self._plugged: dict[str, dict[str, Server]] = {}

    def plug(self, address: str, sandbox_id: str, server: Server) -> None:
        self._plugged.setdefault(address, {})[sandbox_id] = server

    def unplug(self, address: str, sandbox_id: str) -> None:
        here = self._plugged.get(address, {})
        here.pop(sandbox_id, None)
        if not here:
            self._plugged.pop(address, None)

    def reaches(self, address: str) -> bool:
        return address in self._plugged

    def ask(self, address: str, port: int, data: bytes, *, source: str) -> bytes:
        """The answer to what is sent there. Raises ConnectionRefusedError where nothing listens at the port, OSError
        with EHOSTUNREACH where nobody has the address."""
        servers = self._plugged.get(address)
        if not servers:
            raise OSError(errno.EHOSTUNREACH, os.strerror(errno.EHOSTUNREACH))
        for server in list(servers.values()):
            answer = server(port, data, source)
            if answer is not None:
                return answer
        raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
