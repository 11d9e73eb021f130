"""The manifests of the walk: for each built-in kind a minimal one, a full one, and some that are refused and why.

A file of `manifests/` is about one kind. A comment before each of its documents says what it is for: `minimal`, `full`,
`invalid` (with the errors of its fields, or the whole of what kubectl says) or `answered`, a review, which is created
and never stored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "manifests"
# What a later Pod would be measured by comes last.
_LAST = ("limitrange", "resourcequota")


@dataclass(frozen=True, slots=True)
class Manifest:
    kind: str  # the name of its file
    role: str
    object: dict[str, Any]
    errors: tuple[str, ...] = ()  # what the server finds wrong with an invalid one

    @property
    def refusal(self) -> str:
        """What kubectl says of an invalid one among others."""
        first = self.errors[0]
        if not first.startswith("* "):
            return first
        found = [error.removeprefix("* ") for error in self.errors]
        group = self.object["apiVersion"].rpartition("/")[0]
        kind = f"{self.object['kind']}.{group}" if group else self.object["kind"]
        listed = f"[{', '.join(found)}]" if len(found) > 1 else found[0]
        return f'Error from server (Invalid): error when creating "FILE": {kind} "{self.name}" is invalid: {listed}'

    @property
    def name(self) -> str:
        return str(self.object.get("metadata", {}).get("name", ""))

    @property
    def type(self) -> tuple[str, str]:
        return self.object["apiVersion"], self.object["kind"]


def load() -> list[Manifest]:
    files = sorted(FOLDER.glob("*.yaml"), key=lambda file: (file.stem in _LAST, file.stem))
    return [manifest for file in files for manifest in _documents(file)]


def _documents(file: Path) -> Iterator[Manifest]:
    for text in file.read_text().split("\n---\n"):
        comments = [line for line in text.splitlines() if line.startswith("#")]
        role, *errors = [line.removeprefix("# ") for line in comments]
        yield Manifest(file.stem, role, yaml.load(text, yaml.CSafeLoader), tuple(errors))


def of_role(manifests: Sequence[Manifest], role: str) -> list[Manifest]:
    return [manifest for manifest in manifests if manifest.role == role]


def write(manifests: Sequence[Manifest], folder: Path) -> Path:
    """A folder that kubectl reads in the order of the manifests."""
    folder.mkdir()
    for number, manifest in enumerate(manifests):
        (folder / f"{number:03}-{manifest.kind}.json").write_text(json.dumps(manifest.object, default=str))
    return folder
