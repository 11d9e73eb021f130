"""Ours against the real kubectl on the same kind of server: the same words, the same output, the same exit codes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.kubectl.oracle import Printed
from tests.kubectl.parity import Step, both

SAMPLE = str(Path(__file__).parents[2] / "samples" / "web.yaml")
SCRIPTS = Path(__file__).parent / "scripts"
MANIFESTS = Path(__file__).parent / "manifests"
NODE = """
apiVersion: v1
kind: Node
metadata: {name: node-1}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default}
---
apiVersion: v1
kind: Pod
metadata: {name: lone}
spec:
  nodeName: node-1
  containers: [{name: c, image: nginx}, {name: d, image: b}]
  automountServiceAccountToken: false
---
apiVersion: v1
kind: Event
metadata: {name: e1, namespace: default}
involvedObject: {kind: Pod, name: lone, namespace: default}
reason: Created
message: hi there
type: Normal
count: 3
firstTimestamp: "2026-11-27T20:00:00Z"
lastTimestamp: "2026-11-27T22:00:00Z"
source: {component: kubelet}
"""
_AGES = re.compile(r"\b\d+[dhmy](\d+[smhd])?\b *")


def _steps(name: str, folder: Path) -> list[Step]:
    node = folder / "node.yaml"
    node.write_text(NODE)
    text = (SCRIPTS / f"{name}.txt").read_text().replace("WEB", SAMPLE).replace("NODE", str(node))
    text = text.replace("FILES", str(MANIFESTS)).replace("FOLDER", str(folder))
    return [_step(line) for line in text.splitlines() if line and not line.startswith("#")]


def _step(line: str) -> Step:
    """What stands after `<<<` is what the command is given to read."""
    argv, _, stdin = line.partition(" <<< ")
    return Step(argv, stdin.replace("\\n", "\n"))


def _aged(printed: Printed) -> Printed:
    return Printed(printed.code, _AGES.sub("AGE  ", printed.stdout), _AGES.sub("AGE  ", printed.stderr))


@pytest.mark.parametrize("name", sorted(path.stem for path in SCRIPTS.glob("*.txt")))
async def test_a_script_prints_the_same(name: str, tmp_path: Path) -> None:
    environment = {"KUBECTL_APPLYSET": "true"} if name == "apply_sets" else {}
    different = [
        f"$ kubectl {step.argv}\n--- kubectl: {theirs}\n--- ours:    {mine}"
        for step, theirs, mine in await both(_steps(name, tmp_path), tmp_path, environment=environment)
        if _aged(theirs) != _aged(mine)
    ]
    assert not different, "\n".join(different)
