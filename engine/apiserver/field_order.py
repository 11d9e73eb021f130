"""The order of fields in what is stored and answered, which is that of Go's serializers (encoding/json).

A built-in kind is a struct, whose fields come in the order of their declaration, and a map in it is sorted by key. A
custom resource is maps all through (`unstructured.Unstructured`). Objects are put in order once, as they are written;
what is read keeps it. `field_order.txt` has the structs that declare fields in another order than their protocol buffer
numbers them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from typing import Any

from engine.api.resources import ResourceInfo
from engine.api.schema import FIELDS_V1, RAW_EXTENSION, Definitions, Schema
from engine.api.types import GVK, Object
from engine.apiserver.protobuf.decoding import field_names, message_name

Arrange = Callable[[Any], Any]

_PROPS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"
_OR_PROPS = frozenset({f"{_PROPS}OrArray", f"{_PROPS}OrBool", f"{_PROPS}OrStringArray"})
_RAW = frozenset({FIELDS_V1, RAW_EXTENSION})  # bytes to Go, which leaves them as they came
_TYPE_META = {"kind": -2, "apiVersion": -1}


class FieldOrder:
    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._structs: dict[str, _Struct] = {}

    def of(self, info: ResourceInfo, gvk: GVK, obj: Object) -> Object:
        """An object of a resource in order, in the version that `gvk` names. Its values are shared."""
        if info.custom:
            return dict(_by_name(obj))
        schema = self._definitions.kind(gvk)
        return dict(self._struct(schema)(obj)) if schema is not None else obj

    def _struct(self, schema: Schema) -> _Struct:
        known = self._structs.get(schema.definition)
        if known is None:
            known = _Struct(_ranks(message_name(schema.definition)))
            if schema.definition:
                self._structs[schema.definition] = known  # before its fields, which may be of the same type
            for name, node in schema.properties.items():
                if (arrange := self._arrange(node)) is not None:
                    known.fields[name] = arrange
        return known

    def _arrange(self, schema: Schema) -> Arrange | None:
        """How a value is put in order; None for one that has no order."""
        if schema.definition in _RAW:
            return None
        if schema.definition in _OR_PROPS:
            return self._struct(self._definitions[_PROPS])
        if schema.properties:
            return self._struct(schema)
        if schema.values is not None:
            return _map(self._arrange(schema.values))
        inner = self._arrange(schema.items) if schema.items is not None else None
        return _list(inner) if inner is not None else None


class _Ranks(dict[str, int]):
    """Where a field comes; one that is not known, after all others."""

    def __missing__(self, name: str) -> int:
        return len(self)


class _Struct:
    """Puts the fields of an object in order: `ranks` says which, `fields` how those that have an order within."""

    def __init__(self, ranks: _Ranks) -> None:
        self.fields: dict[str, Arrange] = {}
        self._rank = ranks.__getitem__

    def __call__(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        fields = self.fields
        names = sorted(value, key=self._rank)
        return {name: fields[name](value[name]) if name in fields else value[name] for name in names}


def _map(inner: Arrange | None) -> Arrange:
    def arrange(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: value[key] if inner is None else inner(value[key]) for key in sorted(value)}

    return arrange


def _list(inner: Arrange) -> Arrange:
    return lambda value: [inner(item) for item in value] if isinstance(value, list) else value


def _by_name(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _by_name(value[key]) for key in sorted(value)}
    return [_by_name(item) for item in value] if isinstance(value, list) else value


def _ranks(message: str) -> _Ranks:
    names = dict.fromkeys((*_declared().get(message, ()), *field_names(message)))
    return _Ranks({**_TYPE_META, **{name: rank for rank, name in enumerate(names)}})


@lru_cache(maxsize=1)
def _declared() -> dict[str, list[str]]:
    text = (files(__package__) / "field_order.txt").read_text()
    lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return {message: names for message, *names in lines}
