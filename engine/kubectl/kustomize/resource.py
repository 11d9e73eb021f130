"""A resource of a build: an object, and how it came by its name.

Source of the behaviour: kustomize api/resource (resource.go). Upstream keeps the history in annotations of the object.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.kubectl.kustomize.identity import Gvk, Id

NEEDS_HASH = "kustomize.config.k8s.io/needs-hash"


@dataclass(slots=True, eq=False)
class Resource:
    """`obj` is the build's own and changed in place; it is empty once a patch has deleted it."""

    obj: dict[str, Any]
    behavior: str = "create"
    hashed: bool = False
    prefixes: list[str] = field(default_factory=list)
    suffixes: list[str] = field(default_factory=list)
    earlier: list[tuple[str, str, str]] = field(default_factory=list)  # namespace, name and kind
    variables: list[str] = field(default_factory=list)
    origin: str = ""  # where it comes from and what changed it, as `origins` writes it
    changes: list[str] = field(default_factory=list)

    @property
    def gvk(self) -> Gvk:
        return Gvk.of(self.obj)

    @property
    def kind(self) -> str:
        return str(self.obj.get("kind") or "")

    @property
    def name(self) -> str:
        return str(self.metadata.get("name") or "")

    @name.setter
    def name(self, name: str) -> None:
        self.obj.setdefault("metadata", {})["name"] = name

    @property
    def namespace(self) -> str:
        return str(self.metadata.get("namespace") or "")

    @property
    def metadata(self) -> dict[str, Any]:
        found = self.obj.get("metadata")
        return found if isinstance(found, dict) else {}

    def texts(self, field: str) -> dict[str, str]:
        """The labels or the annotations."""
        return dict(self.metadata.get(field) or {})

    def put_texts(self, field: str, texts: dict[str, str]) -> None:
        metadata = self.obj.setdefault("metadata", {})
        if texts:
            metadata[field] = texts
        else:
            metadata.pop(field, None)

    @property
    def with_history(self) -> dict[str, Any]:
        """The object as error texts show it, with what upstream keeps in annotations."""
        spaces, names, kinds = zip(*self.earlier, strict=True) if self.earlier else ((), (), ())
        kept = {
            "prefixes": self.prefixes, "suffixes": self.suffixes, "previousKinds": kinds, "previousNames": names,
            "previousNamespaces": spaces,
        }  # fmt: skip
        history = {f"internal.config.kubernetes.io/{key}": ",".join(values) for key, values in kept.items() if values}
        annotations = {**self.texts("annotations"), **history}
        return {**self.obj, "metadata": {**self.metadata, **({"annotations": annotations} if annotations else {})}}

    @property
    def needs_hash(self) -> bool:
        return self.hashed or self.texts("annotations").get(NEEDS_HASH) == "enabled"

    @property
    def id(self) -> Id:
        return Id(self.gvk, self.name, self.namespace)

    @property
    def earlier_ids(self) -> list[Id]:
        group, version = self.gvk.group, self.gvk.version
        return [Id(Gvk(group, version, kind), name, namespace) for namespace, name, kind in self.earlier]

    @property
    def original_id(self) -> Id:
        ids = self.earlier_ids
        return ids[0] if ids else self.id

    @property
    def ids(self) -> list[Id]:
        return [*self.earlier_ids, self.id]

    def remember(self) -> None:
        """Keep what it is called now, before that changes."""
        now = self.id
        self.earlier.append((now.effective_namespace, now.name, now.gvk.kind))

    def same_context(self, other: Resource, *, or_empty: bool) -> bool:
        """Whether both were given names by the same kustomizations, the innermost ones counted from the end."""
        return all(
            (or_empty and (not mine or not theirs)) or _same_ending(mine, theirs)
            for mine, theirs in ((self.prefixes, other.prefixes), (self.suffixes, other.suffixes))
        )


def _same_ending(left: list[str], right: list[str]) -> bool:
    shorter = min(len(left), len(right))
    return left[len(left) - shorter :] == right[len(right) - shorter :]


def copied(value: Any) -> Any:
    """A copy of a JSON value that shares nothing with it."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value
