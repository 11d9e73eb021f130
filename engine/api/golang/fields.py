"""What Go knows of fields and the published schemas leave out: names of string types, embedded structs, `omitempty`.

The file is written by `python -m tests.conformance.go_decoder`, which reads all of it off the real kubectl.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

FILE = Path(__file__).with_name("fields.json")


def field_type(definition: str, field: str, depth: int, otherwise: str) -> str:
    """The Go type of a field, or of what is `depth` lists or maps within it."""
    types = _of(definition).get("types", {}).get(field, {})
    return str(types.get(str(depth), otherwise))


def embedding(definition: str, field: str) -> list[str]:
    """The embedded structs that a field comes from, outermost first; none for a field of the struct itself."""
    for structs, fields in _of(definition).get("within", {}).items():
        if field in fields:
            return str(structs).split(".")
    return []


@lru_cache(maxsize=1)
def named_strings() -> frozenset[str]:
    """All Go types that are strings by another name."""
    types = (
        name for owner in _load().values() for by_depth in owner.get("types", {}).values() for name in by_depth.values()
    )
    return frozenset(name for name in types if not name.startswith(("[]", "map[")))


def omits_zero(definition: str, field: str) -> bool:
    """Whether a zero value in this field does not survive a round trip through Go's struct (`omitempty`)."""
    return field in _of(definition).get("omitted", ())


def _of(definition: str) -> dict[str, Any]:
    found: dict[str, Any] = _load().get(definition.removeprefix("io.k8s."), {})
    return found


@lru_cache(maxsize=1)
def _load() -> dict[str, Any]:
    loaded: dict[str, Any] = orjson.loads(FILE.read_bytes())
    return loaded
