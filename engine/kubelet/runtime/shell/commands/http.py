"""One HTTP request over the simulated network, for wget and curl.

TLS is not simulated: what is asked by https is sent as it is, and the server's answer says that it is simulated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from engine.kubelet.runtime.shell.process import Machine

_DEFAULT_PORTS = {"http": 80, "https": 443}


class Url(NamedTuple):
    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def file_name(self) -> str:
        """What the page is called when it is kept."""
        return self.path.partition("?")[0].rpartition("/")[2]


class Reply(NamedTuple):
    status: int
    reason: str
    head: str  # the status line and the headers, without the empty line
    body: str

    def header(self, name: str) -> str:
        found = re.search(rf"(?im)^{name}: *(.*?)\r?$", self.head)
        return found[1] if found else ""


def parse_url(text: str) -> Url | None:
    """None for what is no URL of http or https; without a scheme it is http."""
    match = re.fullmatch(
        r"(?:(https?)://)?(?:[^@/]*@)?(\[[0-9a-fA-F:]+\]|[^/:?#\[\]]+)(?::(\d+))?([/?][^#]*)?(?:#.*)?", text
    )
    if match is None:
        return None
    scheme = match[1] or "http"
    path = match[4] or "/"
    port = int(match[3] or _DEFAULT_PORTS[scheme])
    return Url(scheme, match[2].strip("[]"), port, path if path.startswith("/") else f"/{path}")


def addresses_of(machine: Machine, host: str) -> list[str]:
    """As the resolver finds them: an address itself, the hosts file, the cluster's DNS."""
    if re.fullmatch(r"[\d.]+|[0-9a-fA-F]*:[0-9a-fA-F:]+", host):
        return [host]
    for line in machine.files.get("/etc/hosts", "127.0.0.1 localhost").splitlines():
        address, *names = line.partition("#")[0].split() or [""]
        if host in names:
            return [address]
    return machine.network.resolve(host)


def send(
    machine: Machine, url: Url, address: str, *, method: str = "GET", headers: Mapping[str, str], body: str = ""
) -> Reply | None:
    """The server's reply; None where it answers with nothing. Raises OSError where there is no connection."""
    lines = {"Host": url.authority, **headers, "Connection": "close"}
    if body:
        lines.setdefault("Content-Type", "application/x-www-form-urlencoded")
        lines["Content-Length"] = str(len(body.encode()))
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    answered = machine.network.ask(address, url.port, f"{method} {url.path} HTTP/1.1\r\n{head}\r\n{body}".encode())
    if not answered:
        return None
    head, _, text = answered.decode(errors="replace").partition("\r\n\r\n")
    _, status, reason = head.partition("\r\n")[0].split(" ", 2)
    return Reply(int(status), reason, head, text)
