"""Runs shell scripts to their end without an event loop: time is a number that the test's loop moves on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from engine.kubelet.runtime.shell import FOREVER, Call, Io, Machine, start

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
LIMIT = 10_000


class Ran(NamedTuple):
    """`code` is None for a process that waits for ever."""

    code: int | None
    seconds: float
    out: str
    err: str
    machine: Machine


def sh(script: str, *, signals: Mapping[float, str] | None = None, **machine: Any) -> Ran:
    return run(["sh", "-c", script], signals=signals, **machine)


def run(argv: list[str], *, signals: Mapping[float, str] | None = None, **options: Any) -> Ran:
    """Run as process 1; `signals` come at their seconds, KILL ends."""
    now = 0.0
    settings: dict[str, Any] = {"busybox": True, "programs": frozenset[str](), **options}
    machine = Machine("pod-1", lambda: EPOCH + timedelta(seconds=now), lambda: now, **settings)
    out: list[str] = []
    err: list[str] = []
    env = {"PATH": "/bin", "HOME": "/root", **machine.env}
    process = start(Call(machine, argv, Io(out.append, err.append), env, first=True))

    def ran(code: int | None) -> Ran:
        return Ran(code, now, "".join(out), "".join(err), machine)

    if isinstance(process, int):
        return ran(process)
    coming = sorted((signals or {}).items())
    try:
        wait = next(process)
        for _ in range(LIMIT):
            if coming and coming[0][0] <= now + wait:
                now, signal = coming.pop(0)
                if signal == "KILL":
                    return ran(137)
                wait = process.send(signal)
            elif wait == FOREVER:
                return ran(None)
            else:
                now += wait
                wait = process.send(None)
    except StopIteration as end:
        return ran(end.value)
    raise AssertionError(f"still running after {LIMIT} steps, at {now} s")
