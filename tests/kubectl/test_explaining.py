"""What is explained of a custom resource, beside what the real kubectl prints of it (explained.txt)."""

from __future__ import annotations

import io
import re
from pathlib import Path

from engine.kubectl.main import run
from tests.kubectl.served import served

FOLDER = Path(__file__).parent
DEFINITION = FOLDER / "explained.yaml"


async def _printed(kubeconfig: str, command: str) -> str:
    stdout, stderr = io.StringIO(), io.StringIO()
    environment = {"KUBECONFIG": kubeconfig, "HOME": str(Path(kubeconfig).parent)}
    await run(command.split(), stdin=io.StringIO(), stdout=stdout, stderr=stderr, environment=environment)
    return stdout.getvalue() + stderr.getvalue()


async def test_a_custom_resource_is_explained_as_by_the_real_kubectl(tmp_path: Path) -> None:
    _, *sections = re.split(r"^\$ (.*)\n", (FOLDER / "explained.txt").read_text(), flags=re.MULTILINE)
    wanted = dict(zip(sections[::2], sections[1::2], strict=True))
    async with served(tmp_path) as front:
        await _printed(front.kubeconfig, f"apply -f {DEFINITION}")
        for command, printed in wanted.items():
            assert await _printed(front.kubeconfig, command) == printed, command
