"""`explain`: the documentation of a kind or a field as kubectl's template writes it from OpenAPI v3.

Source of the behaviour: kubectl pkg/explain/v2/templates/plaintext.tmpl. What it calls templates are methods here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine.api.golang.floats import shown_float
from engine.kubectl.word_wrap import word_wrapped

Raw = Mapping[str, Any]
_WIDTH, _INDENT, _LISTED = 76, 4, 4
_NO_REFERENCES: frozenset[str] = frozenset()


class Template:
    """Texts about the schemas of one document. `depth` limits the fields of fields; None for all."""

    def __init__(self, schemas: Mapping[str, Raw], *, recursive: bool, depth: int | None) -> None:
        self._schemas = schemas
        self._recursive = recursive
        self._depth = depth

    def document(self, schema: Raw, path: list[str], seen: frozenset[str] = _NO_REFERENCES) -> str:
        """All about the field at the end of a path, which leads through lists and maps; "" where there is none."""
        reference, found = self._resolved(schema)
        if not path:
            return self._output(found)
        if reference and reference in seen:
            return ""
        if path[0] in (found.get("properties") or {}):
            field = found["properties"][path[0]]
            head = "" if len(path) > 1 else f"FIELD: {path[0]} <{self.type_of(field)}>\n{_values(field)}\n\n"
            told = self.document(field, path[1:])
            return head + told if told else ""
        within = seen | {reference}
        if below := found.get("items") or _values_of_map(found):
            return self.document(below, path, within)
        alternatives = (self.document(each, path, within) for each in found.get("allOf") or ())
        return next(filter(None, alternatives), "")

    def _output(self, schema: Raw) -> str:
        description = "".join(self._descriptions(schema)) or "<empty>"
        text = f"DESCRIPTION:\n{_block(description, _WIDTH, _INDENT)}\n"
        if docs := schema.get("externalDocs"):
            text += f"\n{_external(docs, 0, _INDENT)}"
        if fields := "".join(self._fields(schema, 1, _NO_REFERENCES)):
            text += f"FIELDS:\n{fields}"
        return text

    def _descriptions(self, schema: Raw) -> Iterator[str]:
        _, found = self._resolved(schema)
        if text := found.get("description"):
            yield f"{text}\n"
        for below in _parts(found):
            yield from self._descriptions(below)

    def _fields(self, schema: Raw, level: int, seen: frozenset[str]) -> Iterator[str]:
        reference, found = self._resolved(schema)
        if reference and reference in seen:
            return
        within = seen | {reference}
        properties: Mapping[str, Raw] = found.get("properties") or {}
        for name in sorted(properties):
            yield self._field(name, properties[name], level, required=name in (found.get("required") or ()))
            if self._recursive and (self._depth is None or level < self._depth):
                yield from self._fields(properties[name], level + 1, within)
        for below in _parts(found):
            yield from self._fields(below, level, within)

    def _field(self, name: str, schema: Raw, level: int, *, required: bool) -> str:
        indent = 2 * level
        mark = " -required-" if required else ""
        text = f"{' ' * indent}{name}\t<{self.type_of(schema)}>{mark}{_some_values(schema, indent)}\n"
        if self._recursive:
            return text
        described = schema.get("description") or "<no description>"
        text += f"{_block(described, _WIDTH + 2 - indent, indent + 2)}\n"
        if docs := schema.get("externalDocs"):
            text += f"\n{_external(docs, indent + 2, indent + 4)}"
        return f"{text}\n"

    def type_of(self, schema: Raw) -> str:
        if items := schema.get("items"):
            return f"[]{self.type_of(items)}"
        if (values := _values_of_map(schema)) is not None:
            return f"map[string]{self.type_of(values)}"
        alternatives: Sequence[Raw] = schema.get("allOf") or ()
        if len(alternatives) == 1 and not schema.get("properties"):
            return self.type_of(alternatives[0])
        if reference := schema.get("$ref"):
            kind = self._target(reference).get("type") or "object"
            return str(reference).rsplit("/", 1)[-1].rsplit(".", 1)[-1] if kind == "object" else str(kind)
        kind = schema.get("type") or "object"
        return "Object" if kind == "object" else str(kind)

    def _resolved(self, schema: Raw) -> tuple[str, Raw]:
        """The reference that a schema is, "" for none, and what is meant."""
        reference = str(schema.get("$ref") or "")
        return reference, (self._target(reference) or schema) if reference else schema

    def _target(self, reference: str) -> Raw:
        return self._schemas.get(reference.rsplit("/", 1)[-1]) or {}


def _values_of_map(schema: Raw) -> Raw | None:
    """None too where anything goes, which an empty schema says as well as a bool."""
    values = schema.get("additionalProperties")
    return values if isinstance(values, dict) and values else None


def _parts(schema: Raw) -> Iterator[Raw]:
    """What a schema is made of besides its own fields."""
    yield from schema.get("allOf") or ()
    if items := schema.get("items"):
        yield items
    if (values := _values_of_map(schema)) is not None:
        yield values


def _block(text: str, width: int, indent: int) -> str:
    margin = " " * indent
    return margin + word_wrapped(text, width).replace("\n", f"\n{margin}")


def _external(docs: Raw, indent: int, below: int) -> str:
    text = f"{' ' * indent}EXTERNAL DOCS:\n"
    if described := docs.get("description"):
        text += f"{_block(described, _WIDTH + _INDENT - below, below)}\n"
    if url := docs.get("url"):
        text += f"{' ' * below}URL: {url}\n"
    return text


def _values(schema: Raw) -> str:
    """All values of an enumeration, one a line."""
    values = schema.get("enum") or ()
    return "".join(["ENUM:", *(f"\n{' ' * _INDENT}{_shown(each)}" for each in values)]) if values else ""


def _some_values(schema: Raw, indent: int) -> str:
    values = schema.get("enum") or ()
    if not values:
        return ""
    more = ", ...." if len(values) > _LISTED else ""
    return f"\n{' ' * indent}enum: {', '.join(map(_shown, values[:_LISTED]))}{more}"


def _shown(value: Any) -> str:
    """As Go writes what it read from JSON."""
    if value == "":
        return '""'
    if isinstance(value, bool):
        return "true" if value else "false"
    return shown_float(value) if isinstance(value, int | float) else str(value)
