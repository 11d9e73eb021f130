"""Which values a field of a built-in kind may have, where that is told (feature gate OpenAPIEnums, on since 1.24).

Clients read it: `kubectl explain` shows the values. `enum_values.txt` has them. Source: kube-openapi
pkg/generators/enum.go, which also tells them in the description.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

from engine.api.types import Object

_PREFIX = "io.k8s.api."


def with_enums(name: str, schema: Object, release: tuple[int, int]) -> Object:
    """The schema of a definition with the values of its fields."""
    known = enums_of(release).get(name.removeprefix(_PREFIX)) if name.startswith(_PREFIX) else None
    fields = schema.get("properties")
    if known is None or fields is None:
        return schema
    told = {field: _told(fields[field], values) for field, values in known.items() if field in fields}
    return {**schema, "properties": {**fields, **told}}


def _told(field: Object, values: tuple[str, ...]) -> Object:
    listed = "\n".join(f' - `"{value}"`' for value in values)
    described = f"{field.get('description', '')}\n\nPossible enum values:\n{listed}"
    return {**field, "description": described, "enum": list(values)}


@lru_cache
def enums_of(release: tuple[int, int]) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """By definition and field, as of a release."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for line in files(__package__).joinpath("enum_values.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        first, *rest = line.split()
        if first[0].isdigit():
            major, minor = first.split(".")
            if (int(major), int(minor)) > release:
                continue
            first, *rest = rest
        definition, _, field = first.rpartition(".")
        found.setdefault(definition, {})[field] = tuple("" if value == '""' else value for value in rest)
    return found
