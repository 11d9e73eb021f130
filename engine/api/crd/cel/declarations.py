"""The CEL type of every node of a schema, and how large its values can be.

Source: apiserver pkg/cel/common/schemas.go, pkg/cel/types.go, pkg/cel/limits.go; for the cardinality of rules
apiextensions-apiserver third_party/forked/celopenapi/model (MaxCardinality).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.api.cel import types
from engine.api.cel.costs import Path
from engine.api.cel.types import Type
from engine.api.crd.cel.escaping import escaped
from engine.api.crd.structural import MISSING, Structural

MAX_REQUEST = 3 * 1024 * 1024
_TEXT, _BOOLEAN, _NUMBER = 2, 4, 1  # the least that such a value takes in JSON
_INSTANTS = {  # type, least size, most letters
    "date": (types.TIMESTAMP, 12, 12),
    "date-time": (types.TIMESTAMP, 21, 32),
    "datetime": (types.TIMESTAMP, 21, 32),
    "duration": (types.DURATION, 3, 32),
}
_SCALARS = {
    "boolean": (types.BOOL, _BOOLEAN),
    "integer": (types.INT, _NUMBER),
    "number": (types.DOUBLE, _NUMBER),
}
_RESOURCE = {"apiVersion": Structural({"type": "string"}), "kind": Structural({"type": "string"})}
# Whatever the schema says, no name is longer (kubernetes/kubernetes pull 139573).
_NAME = {"type": "string", "maxLength": 253}


@dataclass(frozen=True, slots=True)
class Declaration:
    """`most` is the most elements or letters, `least` the least size in JSON."""

    type: Type
    most: int = 0
    least: int = 0
    fields: Mapping[str, Declaration] = field(default_factory=dict)
    key: Declaration | None = None
    element: Declaration | None = None

    def structs(self) -> dict[str, Mapping[str, Type]]:
        """The fields of this type and of those within it, by the names of the types."""
        found: dict[str, Mapping[str, Type]] = {}
        if self.type.kind == "struct":
            found[self.type.name] = {name: each.type for name, each in self.fields.items()}
        for each in (*self.fields.values(), self.element):
            if each is not None:
                found.update(each.structs())
        return found

    def size_at(self, path: Path) -> int | None:
        """The most elements of what a path leads to, whose first step is the variable."""
        node: Declaration | None = self
        for step in path[1:]:
            if node is None:
                return None
            match step:
                case "@items" | "@values":
                    node = node.element
                case "@keys":
                    node = node.key
                case _:
                    node = node.fields.get(step)
        return node.most if node is not None else None

    @property
    def cardinality(self) -> int:
        """How many such values fit in one request."""
        return MAX_REQUEST // (self.least + 1)


_KEY = Declaration(types.STRING, least=_TEXT)


def declared(schema: Structural, name: str, *, resource: bool) -> Declaration | None:
    """None for a node that rules cannot speak of. `name` is that of its type, if it is an object."""
    if schema.int_or_string:
        limit = schema.raw.get("maxLength")
        return Declaration(types.DYN, _letters(limit) if limit is not None else MAX_REQUEST - 2, 1)
    match schema.type:
        case "array":
            return _list(schema, name)
        case "object" if schema.values is not None:
            return _map(schema, schema.values, name)
        case "object" if not schema.has_values:
            return _object(schema, name, resource=resource)
        case "string":
            return _text(schema)
    if schema.type not in _SCALARS:
        return None
    type_, least = _SCALARS[schema.type]
    return Declaration(type_, least=least)


def _letters(limit: int) -> int:
    """A letter takes up to four bytes."""
    return max(limit, 0) * 4


def _list(schema: Structural, name: str) -> Declaration | None:
    if schema.items is None:
        return None
    element = declared(schema.items, f"{name}.@idx", resource=schema.items.embedded)
    if element is None:
        return None
    limit = schema.raw.get("maxItems")
    most = max(limit, 0) if limit is not None else (MAX_REQUEST - 2) // (element.least + 1)
    return Declaration(types.list_of(element.type), most, 2, element=element)


def _map(schema: Structural, values: Structural, name: str) -> Declaration | None:
    element = declared(values, f"{name}.@elem", resource=values.embedded)
    if element is None:
        return None
    limit = schema.raw.get("maxProperties")
    most = max(limit, 0) if limit is not None else (MAX_REQUEST - 2) // (element.least + 6)
    return Declaration(types.map_of(types.STRING, element.type), most, 2, key=_KEY, element=element)


def _of_resource(schema: Structural) -> Mapping[str, Structural]:
    """With type and names, which rules of a resource can always speak of."""
    metadata = schema.properties.get("metadata")
    told = metadata.properties if metadata is not None else {}
    names = {name: {**_NAME, **_limits(told.get(name))} for name in ("name", "generateName")}
    return {**schema.properties, **_RESOURCE, "metadata": Structural({"type": "object", "properties": names})}


def _limits(name: Structural | None) -> Mapping[str, int]:
    limit = name.raw.get("maxLength") if name is not None else None
    return {"maxLength": limit} if limit is not None else {}


def _object(schema: Structural, name: str, *, resource: bool) -> Declaration:
    least, fields = 2, {}
    properties = _of_resource(schema) if resource else schema.properties
    for key, node in properties.items():
        below = declared(node, f"{name}.{escaped(key)}", resource=node.embedded)
        if below is None:
            continue
        known = escaped(key)
        if known is not None:
            fields[known] = below
        if key in schema.required and node.default is MISSING:
            least += len(key) + below.least + 4
    return Declaration(types.struct(name), 0, least, fields)


def _text(schema: Structural) -> Declaration:
    if schema.format in _INSTANTS:
        type_, least, most = _INSTANTS[schema.format]
        return Declaration(type_, most, least)
    limit, allowed = schema.raw.get("maxLength"), schema.raw.get("enum")
    if schema.format == "byte":
        return Declaration(types.BYTES, max(limit, 0) if limit is not None else MAX_REQUEST - 2, _TEXT)
    if limit is not None:
        most = _letters(limit)
    elif allowed:
        most = max((len(item.encode()) for item in allowed if isinstance(item, str)), default=0)
    else:
        most = MAX_REQUEST - 2
    return Declaration(types.STRING, most, _TEXT)
