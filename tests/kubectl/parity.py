"""A script of commands, once by the real kubectl and once by ours, each on a fresh server of its own."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.kubectl.oracle import Printed, ours, real
from tests.kubectl.served import Served, served

# What differs from one server to another, or from one second to the next.
_VARYING = (
    (re.compile(r"^([EFW])\d{4} [\d:.]+ +\d+ ", re.MULTILINE), r"\1 "),
    (re.compile(r"(Resource Version: +)\d+"), r"\1N"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "UID"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "TIME"),
    (re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC"), "TIME"),
    (re.compile(r"\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}"), "DATE"),
    (re.compile(r"(resourceVersion\"?: ?\"?)\d+"), r"\1N"),
    (re.compile(r"\b\d+(ms|s)\b"), "AGE"),
    (re.compile(r"\bkubectl/v1\.37\.\d+\b"), "kubectl/VERSION"),
    (re.compile(r"X509SHA256=[0-9a-f]{64}"), "X509SHA256=DIGEST"),
    (re.compile(r"https://127\.0\.0\.1:\d+"), "SERVER"),
    (re.compile(r"\b10\.\d+\.\d+\.\d+\b"), "ADDRESS"),
    (re.compile(r"(?<=ADDRESS) +"), "  "),
    (re.compile(r"(?<=AGE) +"), "  "),
    (re.compile(r"(?<=AGE) +"), "  "),
    (re.compile(r"\bX509SHA256=[0-9a-f]{64}\b"), "X509SHA256=ID"),
    (re.compile(r"/tmp/(LIVE|MERGED)-\d+"), r"\1"),
    (re.compile(r"^((?:---|\+\+\+) \S+)\t.*$", re.MULTILINE), r"\1"),
    (re.compile(r" +$", re.MULTILINE), ""),
)


class Step(NamedTuple):
    """One command of a script; `stdin` is what it is given to read."""

    argv: str
    stdin: str = ""


def normal(text: str) -> str:
    for pattern, replacement in _VARYING:
        text = pattern.sub(replacement, text)
    return text


async def _run(steps: Sequence[Step], folder: Path, act: Callable[[Served, Step], Awaitable[Printed]]) -> list[Printed]:
    async with served(folder) as server:
        printed = [await act(server, step) for step in steps]
    return [Printed(one.code, normal(one.stdout), normal(one.stderr)) for one in printed]


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


async def both(
    steps: Sequence[Step], folder: Path, *, environment: dict[str, str] | None = None
) -> list[tuple[Step, Printed, Printed]]:
    """Each step with what kubectl and what ours printed."""

    async def by_kubectl(server: Served, step: Step) -> Printed:
        return await real(step.argv, kubeconfig=server.kubeconfig, stdin=step.stdin, environment=environment)

    async def by_ours(server: Served, step: Step) -> Printed:
        return await ours(
            step.argv,
            kubeconfig=server.kubeconfig,
            stdin=step.stdin,
            clock=server.world.clock,
            environment=environment,
        )

    theirs = await _run(steps, _made(folder / "theirs"), by_kubectl)
    mine = await _run(steps, _made(folder / "ours"), by_ours)
    return list(zip(steps, theirs, mine, strict=True))
