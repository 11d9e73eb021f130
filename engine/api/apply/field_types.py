"""The schema as server-side apply walks it: for every value, what of it is owned one by one and what as a whole.

Source of the behaviour: structured-merge-diff typed (ToFieldSet, Compare), kube-openapi pkg/schemaconv for how a schema
turns into list and map types. A type is compiled once from its schema node and its fields when they are first met,
for this runs with every write.

Three questions are asked of a type:
- `applied(value)`: the fields that a manager owns who applies the value;
- `whole(value)`: the fields that come (or go) with the value where there was nothing before (or is nothing after);
- `changes(old, new)`: the fields that were added or changed, and those that were removed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from engine.api.apply.field_sets import MEMBER, SELF, FieldSet, in_order
from engine.api.apply.steps import keys_step, value_step
from engine.api.golang.fields import born_with
from engine.api.patch.merge_patch import same
from engine.api.schema import Schema

# Defaults of keys that elements may leave out, of those which Go leaves out as well (upstream's schema markers, which
# the published schema lacks).
_KEY_DEFAULTS = {
    ("io.k8s.api.core.v1.ContainerPort", "protocol"): "TCP",
    ("io.k8s.api.core.v1.ServicePort", "protocol"): "TCP",
    ("io.k8s.api.core.v1.LocalObjectReference", "name"): "",
}

# Since when elements of lists with several keys need not have all of them (structured-merge-diff 6.3).
_OPTIONAL_KEYS = (1, 34)
_BUILT_IN = "io.k8s."

_NOTHING: FieldSet = {}
_EMPTY: dict[str, Any] = {}
Changes = tuple[FieldSet, FieldSet]


def _key_default(items: Schema | None, key: str) -> Any:
    """What an element that leaves out a key is found by, None for nothing: for want of a default what its struct has
    until it is set."""
    field = items.properties.get(key) if items is not None else None
    if items is None or field is None:
        return None
    explicit = field.raw.get("default", _KEY_DEFAULTS.get((items.definition, key)))
    if explicit is not None or not items.definition.startswith(_BUILT_IN):
        return explicit
    return born_with(items).get(key)


class KeylessError(Exception):
    """An element of a stored list that has none of its keys, so that nobody can own it or anything beside it."""


class FieldType:
    """A leaf: a scalar, or a list or map that is owned as a whole. `preserving` says that what is in it may have fields
    that are not declared, as something that it is in."""

    __slots__ = ("preserving", "schema")

    def __init__(self, schema: Schema | None, *, preserving: bool = False) -> None:
        self.schema = schema
        self.preserving = preserving

    @property
    def atomic(self) -> bool:
        """Whether it is a list or map, which is owned as a whole."""
        return self.schema is not None and self.schema.type in ("array", "object")

    def applied(self, value: Any) -> FieldSet:
        return MEMBER

    def whole(self, value: Any, *, fresh: bool = True) -> FieldSet:
        """`fresh` is False where upstream's objects always have the value: its own path is then not counted."""
        return MEMBER

    def changes(self, old: Any, new: Any) -> Changes:
        """Of two values that differ."""
        return MEMBER, _NOTHING


class MapType(FieldType):
    """A struct with known fields, a map with any keys, or both."""

    __slots__ = ("_born", "_fields", "_struct", "_values")

    def __init__(self, schema: Schema | None, *, preserving: bool = False) -> None:
        super().__init__(schema, preserving=preserving)
        # Whether it is a Go struct: it holds some fields whatever is set, and what is true in it can never be 1.
        self._struct = schema is not None and schema.fixed and schema.definition.startswith(_BUILT_IN)
        self._fields: dict[str, tuple[str, FieldType, bool]] = {}
        self._values: FieldType | None = None
        self._born: dict[str, Any] | None = None

    @property
    def born(self) -> dict[str, Any]:
        """The fields that upstream's object holds whatever is set, as they are then. Of custom objects that is their
        metadata alone."""
        if self._born is None:
            schema = self.schema
            if self._struct and schema is not None:
                self._born = born_with(schema)
            else:
                self._born = {"metadata": {}} if schema is not None and schema.definition else {}
        return self._born

    def field(self, key: str) -> tuple[str, FieldType, bool]:
        """The step of a key, the type below it, and whether upstream's objects always have it."""
        found = self._fields.get(key)
        return found if found is not None else self._compile(key)

    def _compile(self, key: str) -> tuple[str, FieldType, bool]:
        schema = self.schema
        declared = schema.properties.get(key) if schema is not None else None
        if schema is not None and declared is not None:
            entry = (f"f:{key}", field_type(declared, preserving=self.preserving), key in self.born)
            self._fields[key] = entry
            return entry
        if self._values is None:
            self._values = field_type(schema.values if schema is not None else None, preserving=self.preserving)
        return f"f:{key}", self._values, False

    @property
    def open(self) -> bool:
        """Whether it may have fields that are not declared, and that are owned as their values are."""
        return self.schema is None or self.preserving or self.schema.open

    def declares(self, key: str) -> bool:
        return self.schema is not None and key in self.schema.properties

    def applied(self, value: Any) -> FieldSet:
        """MEMBER itself for a value that is owned as a whole, another empty set where there is nothing to own."""
        if not isinstance(value, dict) or not value:
            return MEMBER
        fields: FieldSet = {}
        for key in sorted(value):
            step, below, _ = self.field(key)
            item = value[key]
            node = below.applied(item)
            if not node:
                # Of a field that holds empty lists alone there is nothing to own; a key of a map is owned itself.
                if node is MEMBER or not self.declares(key):
                    fields[step] = MEMBER
            elif not self.declares(key) and SELF not in node:
                fields[step] = {SELF: MEMBER, **node}
            else:
                fields[step] = node
        return fields

    def whole(self, value: Any, *, fresh: bool = True) -> FieldSet:
        if not isinstance(value, dict) or not (value or (fresh and self._struct and self.born)):
            return MEMBER
        fields: FieldSet = {SELF: MEMBER} if fresh else {}
        if fresh and self._struct and not self.born.keys() <= value.keys():
            value = {**self.born, **value}
        for key in sorted(value):
            step, below, there = self.field(key)
            if fresh or not there:
                fields[step] = below.whole(value[key])
            else:
                self._hold(fields, step, below, value[key], self.born[key])
        return fields

    @staticmethod
    def _hold(fields: FieldSet, step: str, below: FieldType, value: Any, born: Any) -> None:
        """Note what is set of a field that was there before in any case."""
        if same(value, born):
            return
        node = below.whole(value, fresh=False) if value else MEMBER
        if node or node is MEMBER:
            fields[step] = node

    def changes(self, old: Any, new: Any) -> Changes:
        """null is as good as an empty map, but that the one became the other is a change of the map itself."""
        old = old if isinstance(old, dict) else _EMPTY
        new = new if isinstance(new, dict) else _EMPTY
        if not old and not new:
            return MEMBER, _NOTHING
        changed: FieldSet = {}
        removed: FieldSet = {}
        for key in sorted(new):
            value = new[key]
            if key not in old:
                step, below, there = self.field(key)
                if there:
                    self._hold(changed, step, below, value, self.born[key])
                else:
                    changed[step] = below.whole(value)
                continue
            before = old[key]
            if before is value or (before == value and (self._struct or same(before, value))):
                continue
            step, below, _ = self.field(key)
            _note(step, below.changes(before, value), changed, removed)
        for key in sorted(old):
            if key not in new:
                step, below, there = self.field(key)
                if there:
                    born = self.born[key]
                    if not same(old[key], born):
                        _note(step, below.changes(old[key], born), changed, removed)
                else:
                    removed[step] = below.whole(old[key])
        return changed, removed


class ListType(FieldType):
    """A list whose elements are owned one by one: found by their keys, or (in a set) by their value."""

    __slots__ = ("_declared", "_defaults", "items", "keys", "needs_all_keys")

    def __init__(self, schema: Schema, keys: tuple[str, ...], *, preserving: bool) -> None:
        super().__init__(schema, preserving=preserving)
        self._declared = keys
        self.keys = tuple(sorted(keys))
        self.items = field_type(schema.items, preserving=preserving)
        self._defaults = {key: _key_default(schema.items, key) for key in self.keys}
        self.needs_all_keys = schema.release < _OPTIONAL_KEYS

    def step(self, item: Any) -> str:
        """The step of an element. Keys that it lacks and that have no default are left out. Raises KeylessError."""
        if not self.keys or not isinstance(item, dict):
            return value_step(item)
        found: dict[str, Any] = {}
        for key in self.keys:
            if key in item:
                found[key] = item[key]
            elif (default := self._defaults[key]) is not None:
                found[key] = default
        if not found:
            raise KeylessError
        return keys_step(found)

    def missing_keys(self, item: dict[str, Any]) -> tuple[str, ...]:
        """Of an element that cannot be told from others: the keys that it would need. Elements need not have every
        one of several keys since 1.34."""
        lacking = tuple(key for key in self._declared if key not in item and self._defaults[key] is None)
        if self.needs_all_keys:
            return lacking[:1]
        return lacking if len(lacking) == len(self._declared) else ()

    def index(self, items: list[Any]) -> dict[str, list[Any]]:
        """The elements by their steps; old objects may hold several under one."""
        found: dict[str, list[Any]] = {}
        for item in items:
            found.setdefault(self.step(item), []).append(item)
        return found

    def applied(self, value: Any) -> FieldSet:
        if not isinstance(value, list):
            return MEMBER
        fields: FieldSet = {}
        for step, found in self.index(value).items():
            node = self.items.applied(found[0]) if len(found) == 1 else MEMBER
            fields[step] = {SELF: MEMBER, **node} if node and SELF not in node else node
        return in_order(fields)

    def whole(self, value: Any, *, fresh: bool = True) -> FieldSet:
        if not isinstance(value, list) or not value:
            return MEMBER
        fields: FieldSet = {
            step: self.items.whole(found[0]) if len(found) == 1 else MEMBER for step, found in self.index(value).items()
        }
        fields = in_order(fields)
        return {SELF: MEMBER, **fields} if fresh else fields

    def changes(self, old: Any, new: Any) -> Changes:
        before = self.index(old) if isinstance(old, list) else {}
        after = self.index(new) if isinstance(new, list) else {}
        if not before and not after:
            return MEMBER, _NOTHING
        changed: FieldSet = {}
        removed: FieldSet = {}
        for step in {**before, **after}:
            _note(step, self._item_changes(before.get(step, []), after.get(step, [])), changed, removed)
        return in_order(changed), in_order(removed)

    def _item_changes(self, old: list[Any], new: list[Any]) -> Changes | None:
        """What became of an element; of several under one step nothing is owned but the step itself."""
        if old == new:
            return None
        if len(old) > 1 and len(new) > 1:
            return MEMBER, _NOTHING
        if len(old) > 1:
            return (self.items.whole(new[0]) if new else _NOTHING), MEMBER
        if len(new) > 1:
            return MEMBER, (self.items.whole(old[0]) if old else _NOTHING)
        if not old:
            return self.items.whole(new[0]), _NOTHING
        return self.items.changes(old[0], new[0]) if new else (_NOTHING, self.items.whole(old[0]))


class DeducedType(MapType):
    """A value without a schema: a map is owned key by key, all else as a whole."""

    __slots__ = ()

    def applied(self, value: Any) -> FieldSet:
        return super().applied(value) if isinstance(value, dict) else MEMBER

    def changes(self, old: Any, new: Any) -> Changes:
        if (old is None or isinstance(old, dict)) and (new is None or isinstance(new, dict)):
            return super().changes(old, new)
        _, removed = super().changes(old, None) if isinstance(old, dict) else (_NOTHING, _NOTHING)
        return (self.whole(new) if isinstance(new, dict) else MEMBER), removed


def _note(step: str, found: Changes | None, changed: FieldSet, removed: FieldSet) -> None:
    if found is None:
        return
    added, gone = found
    if added or added is MEMBER:
        changed[step] = added
    if gone or gone is MEMBER:
        removed[step] = gone


@lru_cache(maxsize=65536)
def field_type(schema: Schema | None, *, preserving: bool = False) -> FieldType:
    """The compiled type of a schema node; without a schema what the value itself tells.

    `preserving` is of what the node is in. It reaches all that is declared in the same definition.
    """
    if schema is None:
        return DEDUCED
    own = bool(schema.raw.get("x-kubernetes-preserve-unknown-fields"))
    keeps = own or (preserving and not schema.definition)
    if schema.map_type == "atomic":
        return FieldType(schema, preserving=keeps)
    if schema.type == "array":
        return _list_type(schema, preserving=keeps)
    if schema.type == "object" and (own or not schema.open or not schema.definition):
        return MapType(schema, preserving=keeps)
    if not schema.type and (own or (schema.int_or_string and not schema.definition)):
        return DEDUCED
    return FieldType(schema, preserving=keeps)


def _list_type(schema: Schema, *, preserving: bool) -> FieldType:
    """Where the schema says nothing of the list's type, the patch strategy stands for it."""
    declared = schema.raw.get("x-kubernetes-list-type")
    if declared is None and "merge" in schema.patch_strategies:
        key = schema.patch_merge_key
        return ListType(schema, (key,) if key else (), preserving=preserving)
    if declared == "map":
        return ListType(schema, schema.list_map_keys, preserving=preserving)
    if declared == "set":
        return ListType(schema, (), preserving=preserving)
    return FieldType(schema, preserving=preserving)


DEDUCED = DeducedType(None)
