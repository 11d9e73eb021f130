"""An object as something on a screen names it: where Enter leads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ktui.models.words import kind_of, plural


@dataclass(frozen=True, slots=True)
class Link:
    """`resource` is any word that kubectl knows it by: a kind, a plural, `deployments.apps`, a short name.

    Without a name it leads to the list of the resource.
    """

    resource: str
    name: str
    namespace: str | None = None
    role: str = ""  # what it is to the object that names it: `owner`, `node`

    @property
    def label(self) -> str:
        return f"{self.resource}/{self.name}" if self.name else self.resource

    @classmethod
    def of_span(cls, object: str) -> Link | None:
        """Of a span's `pod/default/web` or `node/node-1`; None where it names no one object."""
        parts = object.split("/")
        if object.startswith("/") or len(parts) not in (2, 3) or not parts[-1]:
            return None
        return cls(plural(kind_of(object)), parts[-1], parts[1] if len(parts) == 3 else None)

    @classmethod
    def of_object(cls, obj: Any) -> Link | None:
        """Of an object as a whole; None where it is none, or does not say what it is."""
        metadata = obj.get("metadata") if isinstance(obj, dict) else None
        if not isinstance(metadata, dict) or not metadata.get("name") or not obj.get("kind"):
            return None
        group = str(obj.get("apiVersion", "")).rpartition("/")[0]
        kind = plural(obj["kind"].lower())
        return cls(f"{kind}.{group}" if group else kind, metadata["name"], metadata.get("namespace"))

    @classmethod
    def of_owner(cls, reference: Mapping[str, Any], namespace: str | None) -> Link:
        """Of an ownerReference, whose owner is in the same namespace or in none."""
        group = reference["apiVersion"].rpartition("/")[0]
        kind = reference["kind"].lower()
        return cls(f"{plural(kind)}.{group}" if group else plural(kind), reference["name"], namespace, "owner")
