"""Which ports `port-forward` connects, and where it listens for them.

Source of the behaviour: client-go tools/portforward (parsePorts, parseAddresses, listenOnPort) and kubectl
pkg/cmd/portforward (named ports).
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Sequence
from dataclasses import dataclass

from engine.api.golang.text import quoted
from engine.api.types import Object
from engine.kubectl.errors import CommandError

LOCALHOST = ("127.0.0.1", "::1")
_HIGHEST = (1 << 16) - 1


@dataclass
class Ports:
    """A local port, 0 for any, and the Pod's that it leads to."""

    local: int
    remote: int

    def __str__(self) -> str:
        return f"{{{self.local} {self.remote}}}"


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen; of the `loopback` ones it is enough that one can be listened on."""

    host: str
    loopback: bool = False

    def at(self, port: int) -> str:
        return f"[{self.host}]:{port}" if ":" in self.host else f"{self.host}:{port}"

    def refused(self, port: int, error: OSError) -> str:
        """What Go says of a port that cannot be listened on."""
        protocol = "tcp6" if ":" in self.host else "tcp4"
        why = os.strerror(error.errno).lower() if error.errno else str(error)
        return f"unable to create listener: Error listen {protocol} {self.at(port)}: bind: {why}"


def words_of(text: str) -> tuple[str, str]:
    """The local and the remote port of `[[LOCAL]:]REMOTE` as they are written."""
    parts = text.split(":")
    return (parts[0], parts[1]) if len(parts) == 2 else (parts[0], parts[0])


def number_of(text: str, target: Object, pod: Object) -> str:
    """The Pod's port for a port that is written as a number or a name; of a Service the one that it leads to. A number
    that is none is found by `ports_of`. Raises CommandError."""
    wanted: int | str = int(text) if text.isdigit() else text
    if target["kind"] == "Service":
        name = target["metadata"]["name"]
        for port in target["spec"].get("ports") or ():
            if wanted in (port.get("port"), port.get("name")):
                wanted = port.get("targetPort", port["port"])
                break
        else:
            if isinstance(wanted, int):
                raise CommandError(f"Service {name} does not have a service port {text}")
            raise CommandError(f"Service '{name}' does not have a named port '{text}'")
    if isinstance(wanted, int):
        return str(wanted)
    for container in pod["spec"].get("containers") or ():
        for port in container.get("ports") or ():
            if port.get("name") == wanted:
                return str(port["containerPort"])
    raise CommandError(f"Pod '{pod['metadata']['name']}' does not have a named port '{wanted}'")


def ports_of(local: str, remote: str) -> Ports:
    """Raises CommandError."""
    ports = Ports(_parsed("local", local or "0"), _parsed("remote", remote))
    if not ports.remote:
        raise CommandError("remote port must be > 0")
    return ports


def addresses_of(texts: Sequence[str]) -> list[Address]:
    """Raises CommandError for what is neither an address nor localhost."""
    found: list[Address] = []
    for text in dict.fromkeys(texts):
        if text == "localhost":
            found += [Address(host, loopback=True) for host in LOCALHOST]
            continue
        try:
            ipaddress.ip_address(text)
        except ValueError as error:
            raise CommandError(f"{text} is not a valid IP") from error
        found.append(Address(text))
    return found


def _parsed(which: str, text: str) -> int:
    why = ""
    if not (text.isascii() and text.isdigit()):
        why = "invalid syntax"
    elif int(text) > _HIGHEST:
        why = "value out of range"
    if why:
        raise CommandError(f"error parsing {which} port '{text}': strconv.ParseUint: parsing {quoted(text)}: {why}")
    return int(text)
