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
from typing import Any, NamedTuple

from engine.api.field_numbers import field_names, message_name
from engine.api.resources import ResourceInfo
from engine.api.schema import FIELDS_V1, RAW_EXTENSION, Definitions, Schema, load_definitions, resolve_version
from engine.api.types import GVK, Object

Arrange = Callable[[Any], Any]

_PROPS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"
_OR_PROPS = frozenset({f"{_PROPS}OrArray", f"{_PROPS}OrBool", f"{_PROPS}OrStringArray"})
_RAW = frozenset({FIELDS_V1, RAW_EXTENSION})  # bytes to Go, which leaves them as they came
_TYPE_META = {"kind": -2, "apiVersion": -1}
_PLANS = 500


class FieldOrder:
    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._structs: dict[str, _Struct] = {}

    @staticmethod
    def for_version(version: str = "") -> FieldOrder:
        """The order of a Kubernetes version's kinds (the newest for ""), one for all who ask: it keeps what it finds.
        Raises UnknownVersionError."""
        return _order_of(resolve_version(version))

    def of(self, info: ResourceInfo, gvk: GVK, obj: Object) -> Object:
        """An object of a resource in order, in the version that `gvk` names. Its values are shared."""
        if info.custom:
            return dict(by_name(obj))
        return self.built_in(gvk, obj, otherwise=obj)

    def built_in(self, gvk: GVK, obj: Object, *, otherwise: Object | None = None) -> Object:
        """An object of a built-in kind in order; of a kind that is not known, all by name, or what is given."""
        schema = self._definitions.kind(gvk)
        if schema is None:
            return dict(by_name(obj)) if otherwise is None else otherwise
        return dict(self._struct(schema)(obj))

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


@lru_cache(maxsize=4)
def _order_of(version: str) -> FieldOrder:
    return FieldOrder(load_definitions(version))


class _Ranks(dict[str, int]):
    """Where a field comes; one that is not known, after all others."""

    def __missing__(self, name: str) -> int:
        return len(self)


class _Struct:
    """Puts the fields of an object in order: `ranks` says which, `fields` how those that have an order within.

    Objects of a kind are alike: how one with just these fields is put in order is kept as a plan, for as many as
    `_PLANS` shapes.
    """

    def __init__(self, ranks: _Ranks) -> None:
        self.fields: dict[str, Arrange] = {}
        self._rank = ranks.__getitem__
        self._plans: dict[tuple[str, ...], _Plan] = {}

    def __call__(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        shape = tuple(value)
        plan = self._plans.get(shape)
        if plan is None:
            plan = self._plan(shape)
        if plan.ordered is None and not plan.inner:
            return value
        ordered = {name: value[name] for name in plan.ordered} if plan.ordered is not None else {**value}
        for name, arrange in plan.inner:
            ordered[name] = arrange(value[name])
        return ordered

    def _plan(self, shape: tuple[str, ...]) -> _Plan:
        names = tuple(sorted(shape, key=self._rank))
        inner = tuple((name, self.fields[name]) for name in names if name in self.fields)
        plan = _Plan(names if names != shape else None, inner)
        if len(self._plans) < _PLANS:
            self._plans[shape] = plan
        return plan


class _Plan(NamedTuple):
    ordered: tuple[str, ...] | None  # None where the fields are in order as they are
    inner: tuple[tuple[str, Arrange], ...]


def _map(inner: Arrange | None) -> Arrange:
    def arrange(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        if inner is None:
            return {key: value[key] for key in sorted(value)} if len(value) > 1 else value
        return {key: inner(value[key]) for key in sorted(value)}

    return arrange


def _list(inner: Arrange) -> Arrange:
    return lambda value: [inner(item) for item in value] if isinstance(value, list) else value


def by_name(value: Any) -> Any:
    """A value whose maps are all sorted by key."""
    if isinstance(value, dict):
        return {key: by_name(value[key]) for key in sorted(value)}
    return [by_name(item) for item in value] if isinstance(value, list) else value


def _ranks(message: str) -> _Ranks:
    names = dict.fromkeys((*_declared().get(message, ()), *field_names(message)))
    return _Ranks({**_TYPE_META, **{name: rank for rank, name in enumerate(names)}})


@lru_cache(maxsize=1)
def _declared() -> dict[str, list[str]]:
    text = (files(__package__) / "field_order.txt").read_text()
    lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return {message: names for message, *names in lines}
