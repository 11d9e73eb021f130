"""Ours against the real kubectl in a person's editor: what it shows, over several rounds, and what comes of that."""

from __future__ import annotations

import re
from pathlib import Path

from tests.kubectl.oracle import Printed, ours, real
from tests.kubectl.parity import normal
from tests.kubectl.served import Served, served
from tests.kubectl.test_parity import SAMPLE

# Does to the text what the first line that is left of $QUEUE says, in sed's words, and keeps what it was shown.
EDITOR = """#!/bin/sh
cat "$1" >> "$QUEUE.shown"
head -n 1 "$QUEUE" > "$QUEUE.sed"
sed -i 1d "$QUEUE"
sed -i -f "$QUEUE.sed" "$1"
"""
SETUP = (
    "create deploy plain --image=a",
    "create cm one --from-literal=x=1",
    "create cm two --from-literal=x=1",
    f"apply -f {SAMPLE}",
)
# A command, and what is done to the text in each round.
ROUNDS: list[tuple[str, list[str]]] = [
    ("edit deploy plain --save-config", ["s/replicas: 1/replicas: 2/"]),
    ("get deploy plain -o jsonpath={.metadata.annotations}", []),
    ("edit cm one two", ['s/x: "1"/x: "2"/']),
    ("edit cm/one cm/two", ['0,/x: "2"/s//x: 3/', "b"]),
    ("edit cm/one cm/two -o json", ['0,/"x": "2"/s//"x": "4"/']),
    ("edit cm one -o yaml", ['s/x: "4"/x: "5"/']),
    ("edit cm one -o kyaml", ['s/"5"/"6"/']),
    ("edit cm one -o name --show-managed-fields", ['s/x: "6"/x: "7"/']),
    ("edit deploy plain", ["b"]),
    ("edit deploy plain", ["s/  replicas:/  repicas:/", "b"]),
    ("edit deploy plain", ["d", "b"]),
    ("edit deploy plain", ["s/replicas: 2/replicas: -4/", "b"]),
    ("edit deploy plain", ["s/replicas: 2/replicas: -4/", "s/replicas: -4/replicas: 5/"]),
    ("edit deploy plain", ["s/^spec:/: /", "s/^: /spec:/;s/replicas: 5/replicas: 6/"]),
    ("edit deploy plain", ["s/^kind: Deployment/kind: Unknown/", "b"]),
    ("edit deploy plain", ["s,^apiVersion: apps/v1,apiVersion: v1,", "b"]),
    ("edit deploy plain", ["s/^  namespace: default/  namespace: kube-system/"]),
    ("edit deploy plain", ["s/^  name: plain/  name: other/"]),
    ("edit cm one", ["/^kind:/d", "b"]),
    ("edit cm one", ["/^[^#]/d", "b"]),
    ("edit cm one --validate=false", ["s/^data:/: /", "b"]),
    (f"edit -f {SAMPLE}", ["s/replicas: 3/replicas: 2/"]),
    ("apply edit-last-applied deploy web", ["s/replicas: 3/replicas: 2/"]),
    ("apply edit-last-applied deploy web -o json", ['s/"replicas": 2/"replicas": 4/']),
    ("apply edit-last-applied deploy web", ["b"]),
    ("apply edit-last-applied deploy web", ["d", "b"]),
    ("delete deploy web --grace-period=0 --force", []),
    (f"create -f {SAMPLE} --edit", ["d", "b", "b"]),
    (f"create -f {SAMPLE} --edit", ["s/replicas: 3/replicas: 9/", "b"]),
    ("get deploy web -o jsonpath={.spec.replicas}", []),
]


async def test_an_editor_is_shown_the_same(tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text(EDITOR)
    editor.chmod(0o755)
    theirs = await _edited(_made(tmp_path / "theirs"), editor, by_ours=False)
    mine = await _edited(_made(tmp_path / "ours"), editor, by_ours=True)
    for one, other in zip(mine, theirs, strict=True):
        assert one == other


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


async def _edited(folder: Path, editor: Path, *, by_ours: bool) -> list[tuple[str, Printed, str]]:
    queue, shown = folder / "queue", folder / "queue.shown"
    environment = {"EDITOR": str(editor), "QUEUE": str(queue), "PATH": "/usr/bin:/bin"}
    found: list[tuple[str, Printed, str]] = []
    async with served(folder) as server:
        for line in SETUP:
            assert not (await _do(server, line, environment, by_ours=False)).code
        for line, rounds in ROUNDS:
            queue.write_text("".join(f"{one}\n" for one in rounds))
            shown.write_text("")
            printed = await _do(server, line, environment, by_ours=by_ours)
            found.append((line, printed, normal(shown.read_text())))
    return found


async def _do(server: Served, line: str, environment: dict[str, str], *, by_ours: bool) -> Printed:
    if by_ours:
        done = await ours(line, kubeconfig=server.kubeconfig, clock=server.world.clock, environment=environment)
    else:
        done = await real(line, kubeconfig=server.kubeconfig, environment=environment)
    stderr = re.sub(r"\S+kubectl-edit-\w+\.\w+", "FILE", normal(done.stderr))
    return Printed(done.code, normal(done.stdout), stderr)
