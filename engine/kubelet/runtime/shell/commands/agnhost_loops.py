"""The subcommands of agnhost that go on for a while: `mounttest --file_content_in_loop` and `logs-generator`
(kubernetes test/images/agnhost/mounttest and logs-generator)."""

from __future__ import annotations

import hashlib
from collections.abc import Generator

from engine.api.golang.duration import parse_duration
from engine.kubelet.runtime.shell.commands.call import Call, read_file
from engine.kubelet.runtime.shell.process import Machine, Process

NEW_FILE = "mount-tester new file\n"
ENDED_BY_SIGNAL = 2  # what Go's runtime makes of one that nobody handles
_RETRY_SECONDS = 2.0
_METHODS = ("GET", "POST", "PUT")
_NAMESPACES = ("kube-system", "default", "ns")


def read_in_loop(call: Call, flags: dict[str, str], before: int) -> Process:
    """Say what is in a file until it is the expected, or time is up. `before` is the exit code so far."""
    path, machine = flags["file_content_in_loop"], call.machine
    until = machine.monotonic() + float(flags.get("retry_time", "180"))
    breaks = flags.get("break_on_expected_content", "true") != "false"
    failed = False
    while machine.monotonic() < until:
        text = read_file(machine, path)
        failed = text is None
        if text is None:
            call.io.stdout(f"Error reading file {path}: open {path}: no such file or directory, retrying\n")
        else:
            call.io.stdout(f'content of file "{path}": {text}\n')
            if breaks and text == NEW_FILE:
                break
            if breaks:
                call.io.stdout(f"Unexpected content. Expected: {NEW_FILE}. Retrying")
        if (yield from _interrupted(machine, _RETRY_SECONDS)):
            return ENDED_BY_SIGNAL
    return int(failed) or before


def generate_logs(call: Call, flags: dict[str, str]) -> int | Process:
    """So many lines of an API server's log, evenly over a time."""
    lines = flags.get("log-lines-total", flags.get("t", "0"))
    length = flags.get("run-duration", flags.get("d", "0"))
    try:
        seconds = parse_duration(length)
    except ValueError as error:
        call.io.stderr(f'Error: invalid argument "{length}" for "-d, --run-duration" flag: {error}\n')
        return 1
    total = int(lines) if lines.isdigit() else 0
    if total <= 0 or seconds <= 0:
        why = f"total number of lines: {total}" if total <= 0 else f"duration: {length}"
        call.io.stderr(f"F{_header(call.machine)}Invalid {why}\n")
        return 255
    return _lines(call, total, seconds / total)


def _lines(call: Call, total: int, pause: float) -> Process:
    for number in range(total):
        call.io.stderr(f"I{_header(call.machine)}{_line(call.machine.hostname, number)}\n")
        if (yield from _interrupted(call.machine, pause)):
            return ENDED_BY_SIGNAL
    return 0


def _header(machine: Machine) -> str:
    """As klog begins a line, after the letter of its severity."""
    return f"{machine.now():%m%d %H:%M:%S.%f}       1 logs_generator.go:76] "


def _line(seed: str, number: int) -> str:
    """Drawn from the Pod's name and the line's number: the same in every run."""
    drawn = hashlib.sha256(f"{seed} {number}".encode()).digest()
    name = "".join("bcdfghjklmnpqrstvwxz2456789"[byte % 27] for byte in drawn[3 : 6 + drawn[2] % 2])
    status = 200 + int.from_bytes(drawn[8:10], "big") % 400
    namespace = _NAMESPACES[drawn[1] % len(_NAMESPACES)]
    return f"{number} {_METHODS[drawn[0] % len(_METHODS)]} /api/v1/namespaces/{namespace}/pods/{name} {status}"


def _interrupted(machine: Machine, seconds: float) -> Generator[float, str | None, bool]:
    """Sleep. Whether a signal came meanwhile."""
    due = machine.monotonic() + seconds
    while (remaining := due - machine.monotonic()) > 0:
        if (yield remaining) is not None:
            return True
    return False
