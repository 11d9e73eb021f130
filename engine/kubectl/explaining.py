"""The fields of a kind and what is said of them, from the OpenAPI v3 that a server publishes of a group and version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.kubectl.discovery import Resource

Raw = Mapping[str, Any]


class Explainer:
    """The schemas of one group and version, references followed."""

    def __init__(self, schemas: Raw) -> None:
        self._schemas = schemas
        self._open: list[str] = []

    def of_kind(self, resource: Resource) -> Raw | None:
        wanted = {"group": resource.gvr.group, "version": resource.gvr.version, "kind": resource.kind}
        for schema in self._schemas.values():
            if wanted in (schema.get("x-kubernetes-group-version-kind") or ()):
                found: Raw = schema
                return found
        return None

    def _reference(self, node: Raw) -> str:
        reference = node.get("$ref", "")
        if not reference and len(node.get("allOf") or ()) == 1:
            reference = node["allOf"][0].get("$ref", "")
        return str(reference).rsplit("/", 1)[-1]

    def target(self, node: Raw) -> Raw:
        """The schema itself where a reference stands for it."""
        name = self._reference(node)
        found: Raw = self._schemas.get(name, {}) if name else node
        return found

    def _item(self, node: Raw) -> Raw:
        """What a list or a map holds, all the way in."""
        target = self.target(node)
        if target.get("items"):
            return self._item(target["items"])
        if isinstance(target.get("additionalProperties"), dict):
            return self._item(target["additionalProperties"])
        return node

    def fields(self, node: Raw) -> Mapping[str, Raw]:
        properties: Mapping[str, Raw] = self.target(self._item(node)).get("properties") or {}
        return properties

    def required(self, node: Raw) -> list[str]:
        return list(self.target(self._item(node)).get("required") or ())

    def enter(self, node: Raw) -> bool:
        """Whether the fields of a type are to be shown: not within themselves."""
        name = self._reference(self._item(node))
        if name and name in self._open:
            return False
        self._open.append(name)
        return True

    def leave(self, node: Raw) -> None:
        self._open.pop()

    def type_of(self, node: Raw) -> str:
        if name := self._reference(node):
            target = self.target(node)
            if target.get("type") == "string" and name.endswith((".Time", ".MicroTime")):
                return "string"
            return name.rsplit(".", 1)[-1]
        kind = str(node.get("type", ""))
        if kind == "array":
            return f"[]{self.type_of(node.get('items') or {})}"
        if isinstance(node.get("additionalProperties"), dict):
            return f"map[string]{self.type_of(node['additionalProperties'])}"
        return kind or "Object"

    def enumeration(self, node: Raw, indent: str = "") -> str:
        values = node.get("enum") or ()
        if not values:
            return ""
        shown = ", ".join(str(value) or '""' for value in values)
        return f"\n{indent}enum: {shown}"

    def descriptions(self, node: Raw) -> list[str]:
        """The field's own, then that of its type."""
        texts = [str(node.get("description", ""))]
        item = node
        if not self._reference(node):
            item = node.get("items") or node.get("additionalProperties") or {}
        if isinstance(item, dict) and self._reference(item):
            texts.append(str(self.target(item).get("description", "")))
        return [text for text in texts if text]
