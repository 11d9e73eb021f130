"""What identifies a resource within a build: its group, version, kind, name and namespace (kyaml pkg resid)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from engine.api.resources import ResourceRegistry
from engine.api.types import GVK

CLUSTER = "_non_namespaceable_"
DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Gvk:
    """A type, or what selects types: an empty field selects all."""

    group: str = ""
    version: str = ""
    kind: str = ""

    @classmethod
    def of(cls, obj: dict[str, Any]) -> Gvk:
        group, version = split_api_version(_text(obj.get("apiVersion")))
        return cls(group, version, _text(obj.get("kind")))

    @property
    def cluster_scoped(self) -> bool:
        """Whether it is certainly not namespaced, as far as the built-in kinds tell."""
        return (self.group, self.version, self.kind) in _cluster_kinds()

    def selected_by(self, selector: Gvk) -> bool:
        return (
            selector.group in ("", self.group)
            and selector.version in ("", self.version)
            and selector.kind in ("", self.kind)
        )

    def __str__(self) -> str:
        return f"{self.kind or '[noKind]'}.{self.version or '[noVer]'}.{self.group or '[noGrp]'}"


ANY = Gvk()


@dataclass(frozen=True, slots=True)
class Id:
    gvk: Gvk
    name: str = ""
    namespace: str = ""

    @property
    def effective_namespace(self) -> str:
        if self.gvk.cluster_scoped:
            return CLUSTER
        return self.namespace or DEFAULT

    def equals(self, other: Id) -> bool:
        return (
            self.name == other.name and self.gvk == other.gvk and self.effective_namespace == other.effective_namespace
        )

    def selected_by(self, selector: Id) -> bool:
        return (
            selector.name in ("", self.name)
            and (not selector.namespace or selector.effective_namespace == self.effective_namespace)
            and self.gvk.selected_by(selector.gvk)
        )

    def __str__(self) -> str:
        return f"{self.gvk}/{self.name or '[noName]'}.{self.namespace or '[noNs]'}"

    @property
    def go_text(self) -> str:
        """The identity as Go's %#v writes it."""
        gvk = self.gvk
        scoped = "true" if gvk.cluster_scoped else "false"
        return (
            f'resid.ResId{{Gvk:resid.Gvk{{Group:"{gvk.group}", Version:"{gvk.version}", Kind:"{gvk.kind}", '
            f'isClusterScoped:{scoped}}}, Name:"{self.name}", Namespace:"{self.namespace}"}}'
        )


def split_api_version(text: str) -> tuple[str, str]:
    group, slash, version = text.partition("/")
    if slash:
        return group, version
    return ("builtin", "") if text == "builtin" else ("", text)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


@lru_cache(maxsize=1)
def _cluster_kinds() -> frozenset[GVK]:
    return frozenset(info.gvk for info in ResourceRegistry.for_version() if not info.namespaced)
