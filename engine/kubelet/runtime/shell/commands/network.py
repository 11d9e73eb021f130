"""Commands that ask the pod's network: ports and echoes."""

from __future__ import annotations

from getopt import GetoptError, gnu_getopt
from typing import NamedTuple

from engine.kubelet.runtime.shell import programs
from engine.kubelet.runtime.shell.commands.call import Call, Command
from engine.kubelet.runtime.shell.commands.http import addresses_of
from engine.kubelet.runtime.shell.process import FOREVER, Process
from engine.kubelet.runtime.shell.processes import SIGNALS

_UNANSWERED = 10.0  # how long ping waits for the last echo


def _nc(call: Call) -> int | Process:
    try:
        options, operands = gnu_getopt(call.argv[1:], "luvznw:p:i:q:46N")
    except GetoptError as error:
        return call.fail(f"unrecognized option: {error.opt}")
    given = dict(options)
    if "-l" in given:
        call.machine.listening.update(int(word) for word in (given.get("-p", ""), *operands) if word.isdigit())
        return programs.block(first=call.first)
    if len(operands) != 2 or not operands[1].isdigit():
        return call.fail("usage: nc HOST PORT")
    return _dial(call, operands[0], int(operands[1]), wait=float(given.get("-w") or FOREVER), tells="-v" in given)


def _dial(call: Call, host: str, port: int, *, wait: float, tells: bool) -> int | Process:
    addresses = addresses_of(call.machine, host)
    if not addresses:
        return call.fail(f"bad address '{host}'")
    shown = f"{host} ({addresses[0]}:{port})"
    try:
        call.machine.network.ask(addresses[0], port, b"")
    except TimeoutError:
        return _unanswered(call, shown, wait)
    except OSError as error:
        words = "Connection refused" if isinstance(error, ConnectionRefusedError) else "No route to host"
        return call.fail(f"{shown}: {words}")
    if tells:
        call.io.stderr(f"{shown} open\n")
    return 0


def _unanswered(call: Call, shown: str, wait: float) -> Process:
    yield min(wait, 127.0)  # Linux gives up by itself
    return call.fail(f"{shown}: Connection timed out")


class _Ping(NamedTuple):
    host: str
    address: str
    times: float
    interval: float


def _ping(call: Call) -> int | Process:
    try:
        options, operands = gnu_getopt(call.argv[1:], "c:i:w:W:s:qn46")
    except GetoptError as error:
        return call.fail(f"unrecognized option: {error.opt}")
    if not operands:
        return call.fail("missing host")
    addresses = addresses_of(call.machine, operands[0])
    if not addresses:
        return call.fail(f"bad address '{operands[0]}'")
    given = dict(options)
    times, interval = float(given.get("-c") or FOREVER), float(given.get("-i") or 1)
    return _echoes(call, _Ping(operands[0], addresses[0], times, interval))


def _echoes(call: Call, ping: _Ping) -> Process:
    """busybox' ping; the round trips are not measured, for none is made."""
    answered = call.machine.network.pings(ping.address)
    call.io.stdout(f"PING {ping.host} ({ping.address}): 56 data bytes\n")
    sent = 0
    while sent < ping.times:
        if answered:
            call.io.stdout(f"64 bytes from {ping.address}: seq={sent} ttl=64 time=0.050 ms\n")
        sent += 1
        pause = ping.interval if sent < ping.times else 0.0 if answered else _UNANSWERED
        signal = (yield pause) if pause else None
        if signal == "INT":
            break
        if signal is not None and not call.first:
            return 128 + SIGNALS.get(signal, 15)
    received, lost = (sent, 0) if answered else (0, 100)
    call.io.stdout(f"\n--- {ping.host} ping statistics ---\n")
    call.io.stdout(f"{sent} packets transmitted, {received} packets received, {lost}% packet loss\n")
    if answered:
        call.io.stdout("round-trip min/avg/max = 0.050/0.050/0.050 ms\n")
    return int(not answered)


COMMANDS: dict[str, Command] = {"nc": _nc, "ping": _ping}
