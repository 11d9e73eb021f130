"""A structural schema as a tree of nodes, made once from the JSON of `openAPIV3Schema`.

Every walk over custom objects (pruning, defaulting, validation, list types, CEL) goes down this tree. Source:
apiextensions-apiserver pkg/apiserver/schema (structural.go, convert.go).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final

from engine.api.types import Object


class Missing:
    """The value of what is not there, which null is not."""

    def __repr__(self) -> str:
        return "<missing>"

    def __bool__(self) -> bool:
        return False


MISSING: Final = Missing()


class Structural:
    """One node. Junctors (`all_of`, `not_`, ...) hold nodes too, of which only the value validations count."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = raw
        self.type = str(raw.get("type", ""))
        self.nullable = bool(raw.get("nullable"))
        self.preserve = bool(raw.get("x-kubernetes-preserve-unknown-fields"))
        self.embedded = bool(raw.get("x-kubernetes-embedded-resource"))
        self.int_or_string = bool(raw.get("x-kubernetes-int-or-string"))
        self.list_type = str(raw.get("x-kubernetes-list-type", ""))
        self.list_map_keys = tuple(raw.get("x-kubernetes-list-map-keys", ()))
        self.map_type = str(raw.get("x-kubernetes-map-type", ""))
        self.default: Any = raw.get("default", MISSING)
        self.required: tuple[str, ...] = tuple(raw.get("required", ()))
        self.format = str(raw.get("format", ""))
        self.rules: tuple[Object, ...] = tuple(raw.get("x-kubernetes-validations", ()))

    def __repr__(self) -> str:
        return f"<Structural {self.type or 'any'}>"

    @cached_property
    def properties(self) -> Mapping[str, Structural]:
        return {name: Structural(node) for name, node in (self.raw.get("properties") or {}).items()}

    @cached_property
    def items(self) -> Structural | None:
        raw = self.raw.get("items")
        return Structural(raw) if isinstance(raw, dict) else None

    @cached_property
    def values(self) -> Structural | None:
        """Of a map: the schema of its values; None for `additionalProperties: true` too."""
        raw = self.raw.get("additionalProperties")
        return Structural(raw) if isinstance(raw, dict) else None

    @property
    def has_values(self) -> bool:
        """Whether keys that are no properties are part of the schema."""
        return self.raw.get("additionalProperties") not in (None, False)

    @property
    def is_map(self) -> bool:
        """Whether anything is said of keys that are no properties, be it that there must be none."""
        return self.raw.get("additionalProperties") is not None

    def child(self, key: str) -> Structural | None:
        return self.properties.get(key) or self.values

    # -- junctors

    @cached_property
    def all_of(self) -> tuple[Structural, ...]:
        return tuple(Structural(node) for node in self.raw.get("allOf", ()))

    @cached_property
    def any_of(self) -> tuple[Structural, ...]:
        return tuple(Structural(node) for node in self.raw.get("anyOf", ()))

    @cached_property
    def one_of(self) -> tuple[Structural, ...]:
        return tuple(Structural(node) for node in self.raw.get("oneOf", ()))

    @cached_property
    def not_(self) -> Structural | None:
        raw = self.raw.get("not")
        return Structural(raw) if isinstance(raw, dict) else None

    # -- what is below, so that walks skip what does not concern them

    def spine(self) -> Iterator[Structural]:
        """The nodes right below that hold parts of the value."""
        yield from self.properties.values()
        if self.items is not None:
            yield self.items
        if self.values is not None:
            yield self.values

    @cached_property
    def has_defaults(self) -> bool:
        """Whether this node or one below it has a default."""
        return self.default is not MISSING or any(node.has_defaults for node in self.spine())

    @cached_property
    def has_list_types(self) -> bool:
        return self.list_type in ("set", "map") or any(node.has_list_types for node in self.spine())

    @cached_property
    def has_embedded(self) -> bool:
        return self.embedded or any(node.has_embedded for node in self.spine())

    @cached_property
    def has_rules(self) -> bool:
        return (
            bool(self.rules)
            or any(node.has_rules for node in self.spine())
            or any(node.has_rules for node in self.all_of)
        )


# What every object of a resource has, whatever its schema says of it.
META_FIELDS = ("apiVersion", "kind", "metadata")
