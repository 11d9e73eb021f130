"""The resources of a file or of an inline text (kustomize api/resource/factory.go, kyaml kio/byteio_reader.go)."""

from __future__ import annotations

import re
from typing import Any

from engine.api.golang.yaml import YamlError, load, resolve_v3
from engine.kubectl.kustomize.errors import BuildError, MalformedYamlError
from engine.kubectl.kustomize.resource import Resource

_SEPARATOR = re.compile(r"^---.*\n?", re.MULTILINE)


def values(text: str) -> list[Any]:
    """The values of the documents of a text, as go-yaml v3 reads them; documents of nothing are left out."""
    found = []
    for document in _SEPARATOR.split(text.replace("\r\n", "\n").removeprefix("\ufeff")):
        if document.strip():
            value = load(document, scalars=resolve_v3)
            if value not in (None, {}, []):
                found.append(value)
    return found


def resources(text: str, *, file: str = "") -> list[Resource]:
    """The resources of a text, those of lists one by one. Raises BuildError."""
    try:
        pending = values(text)
    except YamlError as error:
        where = f" in File: {file}" if file else ""
        raise MalformedYamlError(f"MalformedYAMLError: {error}{where}" if file else str(error)) from error
    found: list[Resource] = []
    pending = [_checked(value) for value in pending]
    while pending:
        value = pending.pop(0)
        if not str(value.get("kind") or "").endswith("List"):
            found.append(Resource(value))
            continue
        items = value.get("items")
        if items is None:
            continue
        if not isinstance(items, list):
            raise BuildError(f"expected array in {value['kind']}/items, but found {_go_type(items)}")
        pending += [_checked(item) for item in items if item]
    return found


def _checked(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BuildError("missing Resource metadata")
    metadata = value.get("metadata")
    named = isinstance(metadata, dict) and bool(metadata.get("name"))
    if not value.get("kind") and not metadata:
        raise BuildError("missing Resource metadata")
    is_list = str(value.get("kind") or "").endswith("List")
    if not value.get("kind"):
        raise BuildError(f"missing kind in object {_meta_text(value)}")
    if not named and not is_list:
        raise BuildError(f"missing metadata.name in object {_meta_text(value)}")
    return value


def _meta_text(value: dict[str, Any]) -> str:
    """The type and metadata of an object as Go's %v writes them."""
    metadata = value.get("metadata") or {}
    texts = " ".join(_map_text(metadata.get(field)) for field in ("labels", "annotations"))
    name, namespace = metadata.get("name") or "", metadata.get("namespace") or ""
    return f"{{{{{value.get('apiVersion') or ''} {value.get('kind') or ''}}} {{{{{name} {namespace}}} {texts}}}}}"


def _map_text(value: Any) -> str:
    pairs = value.items() if isinstance(value, dict) else ()
    return f"map[{' '.join(f'{key}:{item}' for key, item in sorted(pairs))}]"


def _go_type(value: Any) -> str:
    names = {dict: "map[string]interface {}", str: "string", bool: "bool", int: "int", float: "float64"}
    return names[type(value)]
