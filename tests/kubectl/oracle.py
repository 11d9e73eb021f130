"""The real kubectl as the judge of ours: the same words to both, what both print side by side."""

from __future__ import annotations

import asyncio
import io
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from engine.client import Client
from engine.clock import Clock
from engine.kubectl.main import run

# Lines of klog that ours does not write: what is for information only.
_KLOG = re.compile(r"^I\d{4} \d\d:.*\n", re.MULTILINE)
PATIENCE = 60.0  # seconds, so that a kubectl that hangs fails its test and no more
NO_CONFIG = "/nonexistent/kubeconfig"
NO_HOME = "/proc/nonexistent"  # nobody can make this folder, not even root: nothing is cached
BRIEF = {"GOGC": "off"}  # a kubectl ends before its garbage is worth collecting; that is a third of what it costs


class Printed(NamedTuple):
    code: int
    stdout: str
    stderr: str


def binary() -> str:
    beside = Path(sys.executable).parent / "kubectl"
    found = str(beside) if beside.exists() else shutil.which("kubectl")
    assert found is not None
    return found


async def real(
    argv: str, *, kubeconfig: str = NO_CONFIG, stdin: str = "", environment: Mapping[str, str] | None = None
) -> Printed:
    printed = await real_with_log(argv, kubeconfig=kubeconfig, stdin=stdin, environment=environment)
    return Printed(printed.code, printed.stdout, _KLOG.sub("", printed.stderr))


async def real_with_log(
    argv: str, *, kubeconfig: str = NO_CONFIG, stdin: str = "", environment: Mapping[str, str] | None = None
) -> Printed:
    """With the lines of kubectl's own log on stderr."""
    process = await asyncio.create_subprocess_exec(
        binary(),
        *shlex.split(argv),
        env={"KUBECONFIG": kubeconfig, "HOME": NO_HOME, "PATH": "/usr/bin:/bin", **BRIEF, **(environment or {})},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(PATIENCE):
            out, err = await process.communicate(stdin.encode())
    except TimeoutError:
        process.kill()
        await process.wait()
        raise
    assert process.returncode is not None
    return Printed(process.returncode, out.decode(), err.decode())


async def ours(
    argv: str,
    *,
    client: Client | None = None,
    kubeconfig: str = NO_CONFIG,
    stdin: str = "",
    clock: Clock | None = None,
    environment: Mapping[str, str] | None = None,
) -> Printed:
    out, err = io.StringIO(), io.StringIO()
    async with asyncio.timeout(PATIENCE):
        code = await run(
            argv,
            client=client,
            stdin=io.StringIO(stdin),
            stdout=out,
            stderr=err,
            clock=clock,
            environment={"KUBECONFIG": kubeconfig, "HOME": NO_HOME, **(environment or {})},
            program="kubectl",
        )
    return Printed(code, out.getvalue(), err.getvalue())
