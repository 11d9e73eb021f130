"""Random objects of a kind and random patches for them, which touch the same few fields and elements."""

from __future__ import annotations

import random
from typing import Any

from engine.api.schema import Schema
from engine.api.types import GVK, Object

_WORDS = ("a", "b", "c")
_WRONG: tuple[Any, ...] = (1, "x", True, 1.5, [], {}, ["a"], [1], {"a": "b"}, [{"x": "y"}], [["a"]], [None], None)
_DIRECTIVES = ("delete", "replace", "merge", "unknown", 1, None)
_FORMED = {
    "Time": ("2026-01-02T03:04:05Z",),
    "MicroTime": ("2026-01-02T03:04:05.000000Z",),
    "byte": ("YQ==", "Yg==", "Yw=="),
}
_DEEPEST = 7
# What kubectl tells an object by, and what it never prints.
_FIXED = ("apiVersion", "kind", "name", "managedFields")


class RandomPatches:
    """`fields` of a struct that are ever used are few, so that patches meet what objects have."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._fields: dict[str, list[str]] = {}
        self._faults = 0

    def object(self, gvk: GVK, schema: Schema, name: str) -> Object:
        """An object with a name."""
        made = self._value(schema, 0)
        assert isinstance(made, dict)
        metadata = {**made.get("metadata", {}), "name": name}
        return {**made, "apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata}

    def strategic_patch(self, schema: Schema) -> Any:
        """A patch with at most one fault, for which of several is told first is chance in Go."""
        self._faults = self._rng.random() < 0.3
        return self._changes(schema, 0)

    def merge_patch(self, schema: Schema) -> Any:
        return self._value(schema, 0, nulls=0.2)

    def json_patch(self, base: Object) -> Any:
        return [self._operation(base) for _ in range(self._rng.randint(1, 4))]

    # -- values

    def _chance(self, probability: float) -> bool:
        return self._rng.random() < probability

    def _chosen(self, schema: Schema, depth: int) -> list[str]:
        """Some of the fields of a struct; those that merge in a way of their own before others."""
        if schema.definition not in self._fields:
            fixed = _FIXED if schema.definition.endswith(".ObjectMeta") or not depth else ()
            known = [name for name in schema.properties if name not in fixed]
            special = [name for name in known if _merges(schema.properties[name])]
            plain = [name for name in known if name not in special]
            self._fields[schema.definition] = special + self._rng.sample(plain, min(3, len(plain)))
        fields = self._fields[schema.definition]
        most = 4 if depth < 4 else 3
        chosen = self._rng.sample(fields, min(len(fields), self._rng.randint(1, most)))
        if not depth:
            chosen += [name for name in ("spec", "metadata") if name in schema.properties and name not in chosen]
        return chosen

    def _value(self, schema: Schema, depth: int, nulls: float = 0.0) -> Any:
        if nulls and depth > 1 and self._chance(nulls):
            return None if self._chance(0.7) else self._rng.choice(_WRONG)
        if depth > _DEEPEST:
            return {"object": {}, "array": []}.get(schema.type) or self._scalar(schema)
        if schema.int_or_string or schema.quantity:
            return self._rng.choice(["1", "2"])
        if schema.type == "array":
            return self._list(schema, depth, nulls)
        if schema.properties:
            return {
                name: self._value(schema.properties[name], depth + 1, nulls) for name in self._chosen(schema, depth)
            }
        if schema.type == "object":
            inner = schema.values
            return {
                word: self._value(inner, depth + 1, nulls) if inner else self._rng.choice(_WORDS)
                for word in self._rng.sample(_WORDS, self._rng.randint(1, 3))
            }
        return self._scalar(schema)

    def _scalar(self, schema: Schema) -> Any:
        if schema.type in ("integer", "number"):
            return self._rng.randint(1, 3)
        if schema.type == "boolean":
            return True
        form = schema.definition.rpartition(".")[2] or schema.format
        return self._rng.choice(_FORMED.get(form, _WORDS))

    def _list(self, schema: Schema, depth: int, nulls: float) -> list[Any]:
        assert schema.items is not None
        items = [self._value(schema.items, depth + 1, nulls) for _ in range(self._rng.randint(1, 4))]
        if "merge" in schema.patch_strategies and not schema.items.properties and not nulls:
            return list(dict.fromkeys(items))  # what becomes of duplicates depends on spare room in Go's slices
        key = schema.patch_merge_key
        if not key or not schema.items.properties:
            return items
        for item in items:
            if isinstance(item, dict) and not self._chance(0.01):
                item[key] = self._scalar(schema.items.properties[key])
        if self._chance(0.7):
            items = list({item[key]: item for item in items if isinstance(item, dict) and key in item}.values())
        return items

    # -- strategic merge patches

    def _fault(self, probability: float) -> bool:
        if self._faults and self._chance(probability):
            self._faults = 0
            return True
        return False

    def _changes(self, schema: Schema, depth: int) -> Any:
        if depth > _DEEPEST:
            return self._value(schema, depth)
        if depth > 1 and self._chance(0.1):
            return None
        if depth > 1 and self._fault(0.06):
            return self._rng.choice(_WRONG)
        if schema.type == "array" and schema.items is not None:
            return self._list_changes(schema, depth)
        if schema.properties and not schema.int_or_string:
            return self._map_changes(schema, depth)
        if schema.type == "object":
            made = self._value(schema, depth)
            made.update({word: None for word in _WORDS if self._chance(0.2)})
            return made
        return self._value(schema, depth)

    def _map_changes(self, schema: Schema, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name in self._chosen(schema, depth):
            field = schema.properties[name]
            made[name] = self._changes(field, depth + 1)
            if field.type == "array" and field.items is not None:
                self._add_list_directives(made, name, field)
        if not depth:
            return made
        if depth > 1 and (self._chance(0.15) or self._fault(0.1)):
            names = [*made] if not self._fault(0.3) else [*made][1:]
            made["$retainKeys"] = [*names, *self._rng.sample(self._fields[schema.definition], 1)]
            if self._fault(0.2):
                made["$retainKeys"] = self._rng.choice(_WRONG)
        if depth > 1 and (self._chance(0.06) or self._fault(0.05)):
            valid = 2 if not self._fault(0.5) else len(_DIRECTIVES)
            made["$patch"] = self._rng.choice(_DIRECTIVES[:valid])
        return made

    def _add_list_directives(self, made: dict[str, Any], name: str, field: Schema) -> None:
        assert field.items is not None
        primitive = not field.items.properties
        merges = "merge" in field.patch_strategies
        if primitive and (merges or self._fault(0.1)) and self._chance(0.4):
            made[f"$deleteFromPrimitiveList/{name}"] = self._rng.sample(_WORDS, self._rng.randint(0, 3))
            if self._fault(0.3):
                made[f"$deleteFromPrimitiveList/{name}"] = self._rng.choice(_WRONG)
            del made[name]  # of the two, Go takes now this first and now that
            return
        if (merges and self._chance(0.35)) or self._fault(0.1):
            made[f"$setElementOrder/{name}"] = self._order(field, made[name])
            if not isinstance(made[name], list) and not self._fault(1):
                del made[f"$setElementOrder/{name}"]
                return
            if self._fault(0.3):
                made[f"$setElementOrder/{name}"] = self._rng.choice(_WRONG)
            if self._chance(0.3):
                del made[name]

    def _order(self, field: Schema, changes: Any) -> list[Any]:
        """An order that has what is changed, unless it is to be wrong, and others before, between and behind."""
        assert field.items is not None
        key = field.patch_merge_key
        order = [
            item.get(key) if isinstance(item, dict) else item
            for item in (changes if isinstance(changes, list) else ())
            if not (isinstance(item, dict) and item.get("$patch") == "delete") and not self._fault(0.3)
        ]
        inner = field.items.properties.get(key, field.items) if key else field.items
        for _ in range(self._rng.randint(0, 2)):
            if not inner.properties and (more := self._scalar(inner)) not in order:
                order.insert(self._rng.randint(0, len(order)), more)
        order = list(dict.fromkeys(each for each in order if not isinstance(each, dict | list)))
        return [{key: each} for each in order] if key else order

    def _list_changes(self, schema: Schema, depth: int) -> list[Any]:
        assert schema.items is not None
        key = schema.patch_merge_key
        items = self._list(schema, depth, 0.0)
        if not key or not schema.items.properties:
            if self._fault(0.1):
                items.insert(0, self._rng.choice(_WRONG))
            return items
        changed: list[Any] = []
        for item in items:
            if self._chance(0.2):
                changed.append({key: item.get(key), "$patch": "delete"})
                continue
            made = self._map_changes(schema.items, depth + 1)
            made.pop("$patch", None)
            if key in item and not self._fault(0.05):
                made[key] = item[key]
                if "$retainKeys" in made and isinstance(made["$retainKeys"], list) and self._chance(0.9):
                    made["$retainKeys"].append(key)
            if self._fault(0.05):
                made["$patch"] = self._rng.choice(_DIRECTIVES)
            changed.append(made)
        if self._chance(0.07):
            changed.insert(self._rng.randint(0, len(changed)), {"$patch": "replace"})
        if self._fault(0.06):
            changed.insert(self._rng.randint(0, len(changed)), self._rng.choice(_WRONG))
        return changed

    # -- JSON patches

    def _operation(self, base: Object) -> Any:
        kind = self._rng.choice(["add", "remove", "replace", "move", "copy", "test"])
        made: dict[str, Any] = {"op": kind, "path": self._pointer(base)}
        if kind in ("move", "copy"):
            made["from"] = self._pointer(base)
        elif kind == "test":
            path = self._path(base)
            made["path"], made["value"] = _written(path), self._changed_value(_at(base, path))
        elif kind != "remove":
            made["value"] = self._rng.choice(_WRONG)
        if self._chance(0.03):
            made.pop(self._rng.choice([*made]))
        if self._chance(0.03):
            made[self._rng.choice([*made])] = self._rng.choice(_WRONG)
        return made

    def _changed_value(self, value: Any) -> Any:
        """The value itself, mostly."""
        return value if self._chance(0.9) else self._rng.choice(_WRONG)

    def _path(self, base: Any) -> list[str | int]:
        path: list[str | int] = []
        value = base
        while isinstance(value, dict | list) and value and (not path or self._chance(0.85)):
            keys = [*value] if isinstance(value, dict) else [*range(len(value))]
            step = self._rng.choice([key for key in keys if key not in _FIXED or len(path) > 1] or [""])
            if not step and isinstance(value, dict):
                break
            path.append(step)
            value = value[step]
        return path

    def _pointer(self, base: Any) -> str:
        path = self._path(base)
        if path and self._chance(0.3):
            path[-1] = self._rng.choice(["-", "0", "1", "-1", "-2", "new", "a~1b", "01", "+1", "~0", "", "1e0", "5"])
        if self._chance(0.05):
            path.append(self._rng.choice(["-", "0", "new", ""]))
        text = _written(path)
        return text if self._chance(0.97) else self._rng.choice(["", "/", "a", "a" + text, "#" + text, "//"])


def _merges(schema: Schema) -> bool:
    """Whether a field, or what its struct has, merges by a key or a directive."""
    return bool(schema.patch_strategies) or schema.type in ("object", "array") or bool(schema.properties)


def _written(path: list[str | int]) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def _at(value: Any, path: list[str | int]) -> Any:
    for step in path:
        value = value[step]
    return value
