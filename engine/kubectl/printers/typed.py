"""Objects of Go's types as JSON: in the order in which the structs declare their fields, not by name.

Many commands hold an object as the struct of its kind and print that (`create KIND`, `run`, `expose`, `set`, ...); the
others hold maps, whose keys come sorted. Source of the behaviour: encoding/json, cli-runtime pkg/printers/json.go;
client-go tools/clientcmd/api/v1/types.go for kubeconfig files, which no published schema describes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from engine.api.field_order import FieldOrder, by_name
from engine.api.schema import load_definitions
from engine.api.types import GVK, Object

_LIST = ("kind", "apiVersion", "metadata", "items")
_CONFIG = ("kind", "apiVersion", "preferences", "clusters", "users", "contexts", "current-context", "extensions")
_NAMED: dict[str, tuple[str, ...]] = {
    "cluster": (
        "server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority", "certificate-authority-data",
        "proxy-url", "disable-compression", "extensions",
    ),
    "user": (
        "client-certificate", "client-certificate-data", "client-key", "client-key-data", "token", "tokenFile", "as",
        "as-uid", "as-groups", "as-user-extra", "username", "password", "auth-provider", "exec", "extensions",
    ),
    "context": ("cluster", "user", "namespace", "extensions"),
    "exec": (
        "command", "args", "env", "apiVersion", "installHint", "provideClusterInfo", "interactiveMode",
    ),
}  # fmt: skip


def in_order(obj: Object) -> Object:
    """The object of a built-in kind in the order of its fields; another kind is maps all through."""
    if obj.get("kind") == "Config" and obj.get("apiVersion") == "v1":
        return _config(obj)
    if obj.get("kind") == "List" and obj.get("apiVersion") == "v1":
        return {**_ranked(obj, _LIST), "items": [by_name(item) for item in obj["items"]]}
    if obj.get("kind") == "Preference":
        return obj  # made in its order
    group, _, version = str(obj.get("apiVersion", "")).rpartition("/")
    return _order().built_in(GVK(group, version, str(obj.get("kind"))), obj)


@lru_cache(maxsize=1)
def _order() -> FieldOrder:
    return FieldOrder(load_definitions())


def _config(document: Object) -> Object:
    ordered = _ranked(document, _CONFIG)
    for section, key in (("clusters", "cluster"), ("users", "user"), ("contexts", "context")):
        if ordered.get(section):
            ordered[section] = [
                {"name": entry["name"], key: _ranked(entry[key], _NAMED[key])} for entry in ordered[section]
            ]
    return ordered


def _ranked(value: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    ordered = {name: value[name] for name in (*(n for n in names if n in value), *sorted(set(value) - set(names)))}
    return {name: _ranked(ordered[name], _NAMED["exec"]) if name == "exec" else ordered[name] for name in ordered}
