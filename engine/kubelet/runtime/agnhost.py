"""What agnhost's servers answer over HTTP (kubernetes test/images/agnhost: netexec, serve-hostname, liveness).

Which of them a container runs, and since when, its machine says (`engine.kubelet.runtime.shell.commands.agnhost`).
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import parse_qs

from engine.kubelet.runtime.shell.process import Machine

_HEALTHY_SECONDS = 10


class Page(NamedTuple):
    status: int
    text: str


def page(machine: Machine, target: str, source: str = "") -> Page | None:
    """The answer to a path with its query; None where no server of agnhost runs."""
    if not machine.serves:
        return None
    path, _, query = target.partition("?")
    asked = {name: values[0] for name, values in parse_qs(query, keep_blank_values=True).items()}
    if machine.serves == "serve-hostname":
        return Page(200, machine.hostname)
    if machine.serves == "liveness":
        return _liveness(machine, path)
    if machine.serves == "netexec":
        return _netexec(machine, path, asked, source)
    return Page(200, "")


def _liveness(machine: Machine, path: str) -> Page:
    passed = machine.monotonic() - machine.serves_since
    if path == "/healthz":
        return Page(500, f"error: {passed:.9g}") if passed > _HEALTHY_SECONDS else Page(200, "ok")
    if path == "/started":
        return Page(200, f"{passed:.9g}s")
    return Page(404, "404 page not found\n")


def _netexec(machine: Machine, path: str, asked: dict[str, str], source: str) -> Page:
    if path in ("/hostname", "/hostName"):
        return Page(200, machine.hostname)
    if path == "/clientip":
        return Page(200, source)
    if path == "/healthz":
        return Page(200, "")
    if path == "/echo":
        code = asked.get("code", "")
        return Page(int(code) if code.isdigit() else 200, asked.get("msg", ""))
    if path in ("/dial", "/exit", "/redirect", "/shell", "/shutdown", "/upload"):
        return Page(501, f"{path} is not simulated\n")
    return Page(200, f"NOW: {machine.now():%Y-%m-%d %H:%M:%S.%f}000 +0000 UTC")
