"""`diff` with the program that KUBECTL_EXTERNAL_DIFF names, as the real kubectl runs it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.kubectl.oracle import Printed, ours, real
from tests.kubectl.parity import normal
from tests.kubectl.served import served

FILE = Path(__file__).parent / "manifests" / "two_configs.yaml"
PROGRAMS = (
    "diff -N -u",
    "diff -N -U 1 --label=x --brief;ls",
    "diff -N --nope",
    "diff -r",
    "true",
    "false",
    "ls",
    "nosuchprogram",
    "/nonexistent/program -u",
)
_FOLDER = re.compile(r"/tmp/(LIVE|MERGED)-\w+|\b(LIVE|MERGED)-\w+")


def _plain(printed: Printed) -> Printed:
    out, err = (normal(_FOLDER.sub(r"\1\2", text)) for text in (printed.stdout, printed.stderr))
    return Printed(printed.code, out, err)


async def test_the_program_is_run_on_all_that_is_looked_at(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        first = FILE.read_text().split("---")[0]
        await ours("apply -f -", kubeconfig=server.kubeconfig, stdin=first)
        different = {}
        for program in PROGRAMS:
            environment = {"KUBECTL_EXTERNAL_DIFF": program, "PATH": "/usr/bin:/bin"}
            told = [
                _plain(await by(f"diff -f {FILE}", kubeconfig=server.kubeconfig, environment=environment))
                for by in (real, ours)
            ]
            if told[0] != told[1]:
                different[program] = told
        assert not different
