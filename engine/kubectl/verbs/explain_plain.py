"""`explain --output=plaintext-openapiv2`: the documentation as kubectl printed it from OpenAPI v2.

Source of the behaviour: kubectl pkg/explain (model_printer.go, fields_printer.go, recursive_fields_printer.go,
field_lookup.go, formatter.go), over the schemas of kube-openapi pkg/util/proto.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

Raw = Mapping[str, Any]
_WIDTH, _DESCRIPTION, _FIELD = 80, 5, 3
_STARTS = re.compile(r"(?:\d+\.?|-|\*)\s")


class FieldError(Exception):
    """There is no such field."""


class PlainText:
    """Lines about the definitions of a document. `depth` limits the fields of fields; None for all."""

    def __init__(self, definitions: Mapping[str, Raw], *, recursive: bool, depth: int | None) -> None:
        self._definitions = definitions
        self._recursive = recursive
        self._depth = depth

    def field(self, schema: Raw, path: list[str]) -> Raw:
        """The schema at the end of a path, or at the last that has no fields. Raises FieldError."""
        if not path:
            return schema
        target = self._target(schema)
        if (below := self._below(target)) is not None:
            return self.field(below, path)
        if "properties" not in target:
            return target
        if path[0] not in target["properties"]:
            raise FieldError(f'field "{path[0]}" does not exist')
        return self.field(target["properties"][path[0]], path[1:])

    def lines(self, schema: Raw, name: str) -> Iterator[str]:
        """The kind, or the field of that name."""
        descriptions, kind, target = [], self._type_of(schema), schema
        while True:
            descriptions.append(str(target.get("description") or ""))
            if "$ref" in target:
                target = self._definition(target)
            elif (below := self._below(target)) is not None:
                target = below
            else:
                break
        fields = "properties" in target
        if name and (fields or target.get("type")):
            yield f"{'RESOURCE:' if fields else 'FIELD:   '} {name} <{kind}>"
            yield ""
        yield "DESCRIPTION:"
        if not any(descriptions):
            yield f"{' ' * _DESCRIPTION}<empty>"
        for index, text in enumerate(descriptions):
            if text:
                yield from ([""] if index else [])
                yield from _described(text)
        if fields:
            yield ""
            yield "FIELDS:"
            yield from self._fields(target, 1, frozenset())

    def _fields(self, schema: Raw, level: int, seen: frozenset[str]) -> Iterator[str]:
        if reference := str(schema.get("$ref") or ""):
            if reference not in seen:
                yield from self._fields(self._definition(schema), level, seen | {reference})
            return
        if (below := self._below(schema)) is not None:
            yield from self._fields(below, level, seen)
            return
        properties, required = schema.get("properties") or {}, schema.get("required") or ()
        for name in sorted(properties):
            field = properties[name]
            mark = " -required-" if name in required and not self._recursive else ""
            yield f"{' ' * _FIELD * level}{name}\t<{self._type_of(field)}>{mark}"
            if not self._recursive:
                yield from _described(str(field.get("description") or ""))
                yield ""
            elif self._depth is None or level < self._depth:
                yield from self._fields(field, level + 1, seen)

    def _type_of(self, schema: Raw) -> str:
        """ "" for what may be anything."""
        target = self._target(schema)
        if "properties" in target:
            return "Object"
        match target.get("type", ""):
            case "array":
                return f"[]{self._type_of(target['items'])}"
            case "object":
                return f"map[string]{self._type_of(_values(target) or {})}"
            case kind:
                return str(kind)

    def _below(self, schema: Raw) -> Raw | None:
        """What a list or a map holds; None for another schema."""
        if "properties" in schema:
            return None
        match schema.get("type"):
            case "array":
                items: Raw = schema["items"]
                return items
            case "object":
                return _values(schema) or {"description": schema.get("description", "")}
        return None

    def _target(self, schema: Raw) -> Raw:
        while "$ref" in schema:
            schema = self._definition(schema)
        return schema

    def _definition(self, schema: Raw) -> Raw:
        return self._definitions[str(schema["$ref"]).rsplit("/", 1)[-1]]


def _values(schema: Raw) -> Raw | None:
    values = schema.get("additionalProperties")
    return values if isinstance(values, dict) else None


def _described(text: str) -> Iterator[str]:
    for line in wrapped(text, _WIDTH - _DESCRIPTION):
        yield f"{' ' * _DESCRIPTION}{line}" if line else ""


def wrapped(text: str, width: int) -> list[str]:
    """Lines of whole words. What is indented, what begins a list and what follows a colon starts a line of its own;
    an empty line stays where a line was written before it. Widths are those of the bytes."""
    lines: list[str] = []
    current, last = "", ""

    def flush() -> None:
        nonlocal current, last
        if current:
            lines.append(current)
            current, last = "", ""

    for paragraph in text.split("\n"):
        bare = paragraph.strip()
        if paragraph.startswith("    ") or (lines and not bare):
            flush()
            lines.append(paragraph if paragraph.startswith("    ") else "")
            continue
        if not bare or last.endswith(":") or _STARTS.match(bare):
            flush()
        for word in bare.split():
            if current and len(current.encode()) + 1 + len(word.encode()) > width:
                flush()
            current, last = f"{current} {word}" if current else word, word
    flush()
    return lines
