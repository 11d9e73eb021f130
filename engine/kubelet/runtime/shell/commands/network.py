"""Commands that ask the pod's network."""

from __future__ import annotations

import re

from engine.kubelet.runtime.shell import programs
from engine.kubelet.runtime.shell.commands.call import Call, Command
from engine.kubelet.runtime.shell.process import Process


def _nslookup(call: Call) -> int:
    if not call.operands:
        return call.fail("missing host")
    name = call.operands[0]
    addresses = call.machine.network.resolve(name)
    call.io.stdout("Server:\t\t10.96.0.10\nAddress:\t10.96.0.10:53\n\n")
    if not addresses:
        call.io.stdout(f"** server can't find {name}: NXDOMAIN\n\n")
        return 1
    call.io.stdout("".join(f"Name:\t{name}\nAddress: {address}\n" for address in addresses) + "\n")
    return 0


def _fetch(call: Call) -> int:
    """wget and curl: whether somebody answers; the answer itself is not simulated."""
    url = next((word for word in call.operands if "/" in word or "." in word or ":" in word), "")
    match = re.match(r"(?:(https?)://)?([^/:]+)(?::(\d+))?", url)
    if not match:
        return call.fail("missing URL")
    host, port = match[2], int(match[3] or (443 if match[1] == "https" else 80))
    local = host in ("localhost", "127.0.0.1") and port in call.machine.listening
    addresses = ["127.0.0.1"] if local else call.machine.network.resolve(host)
    curl = call.argv[0].endswith("curl")
    if not addresses and not re.fullmatch(r"[\d.]+", host):
        if curl:
            call.io.stderr(f"curl: (6) Could not resolve host: {host}\n")
            return 6
        return call.fail(f"bad address '{host}'")
    if local or call.machine.network.connect(host, port):
        return 0
    if curl:
        call.io.stderr(f"curl: (7) Failed to connect to {host} port {port}: Connection refused\n")
        return 7
    return call.fail(f"can't connect to remote host ({(addresses or [host])[0]}): Connection refused")


def _nc(call: Call) -> int | Process:
    numbers = [int(word) for word in call.operands if word.isdigit()]
    if call.flag("l"):
        call.machine.listening.update(numbers)
        return programs.block(first=call.first)
    hosts = [word for word in call.operands if not word.isdigit()]
    if not hosts or not numbers:
        return call.fail("usage: nc HOST PORT")
    local = hosts[0] in ("localhost", "127.0.0.1") and numbers[0] in call.machine.listening
    return int(not (local or call.machine.network.connect(hosts[0], numbers[0])))


def _ping(call: Call) -> int:
    host = call.operands[-1] if call.operands else ""
    if re.fullmatch(r"[\d.]+", host) or call.machine.network.resolve(host):
        return 0
    return call.fail(f"bad address '{host}'")


COMMANDS: dict[str, Command] = {
    "nslookup": _nslookup,
    "wget": _fetch,
    "curl": _fetch,
    "nc": _nc,
    "ping": _ping,
}
