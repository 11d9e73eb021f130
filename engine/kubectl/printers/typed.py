"""Objects of Go's types as JSON: in the order in which the structs declare their fields, not by name.

Many commands hold an object as the struct of its kind and print that (`create KIND`, `run`, `expose`, `set`, ...); the
others hold maps, whose keys come sorted. Source of the behaviour: encoding/json, cli-runtime pkg/printers/json.go.
"""

from __future__ import annotations

from functools import lru_cache

from engine.api.field_order import FieldOrder, by_name
from engine.api.schema import load_definitions
from engine.api.types import GVK, Object

_LIST = ("kind", "apiVersion", "metadata", "items")


def in_order(obj: Object) -> Object:
    """The object of a built-in kind in the order of its fields; another kind is maps all through."""
    if obj.get("kind") == "List" and obj.get("apiVersion") == "v1":
        ranked = {name: obj[name] for name in (*_LIST, *sorted(set(obj) - set(_LIST))) if name in obj}
        return {**ranked, "items": [by_name(item) for item in obj["items"]]}
    if obj.get("kind") == "Preference" or (obj.get("kind") == "Config" and obj.get("apiVersion") == "v1"):
        return obj  # made in its order
    group, _, version = str(obj.get("apiVersion", "")).rpartition("/")
    return _order().built_in(GVK(group, version, str(obj.get("kind"))), obj)


@lru_cache(maxsize=1)
def _order() -> FieldOrder:
    return FieldOrder(load_definitions())
