"""The definitions of a Kubernetes version and, besides, those of custom resources, which come and go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engine.api.crd.version import CustomVersion
from engine.api.extension import Extension
from engine.api.schema import Definitions, Schema
from engine.api.types import GVK


class ExtendedDefinitions(Definitions):
    """`replace` puts other custom versions in place of those that there were. Built-in nodes are the base's own.
    `further` are the schemas of an API that this server serves in the place of another."""

    def __init__(self, base: Definitions, further: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self._further = dict(further or {})
        super().__init__(base.version, {**base.raw, **self._further})
        self._base = base
        self._custom: dict[GVK, CustomVersion] = {}

    @property
    def root(self) -> Definitions:
        return self._base

    @property
    def extensions(self) -> Mapping[GVK, Extension]:
        return self._custom

    def replace(self, versions: Iterable[CustomVersion]) -> None:
        self._custom = {version.gvk: version for version in versions}
        published = {name: raw for version in self._custom.values() for name, raw in version.published.items()}
        self.raw = {**self._base.raw, **self._further, **published}
        self._nodes.clear()
        self.__dict__.pop("kinds", None)

    def __getitem__(self, name: str) -> Schema:
        return self._base[name] if name in self._base.raw else super().__getitem__(name)

    def kind(self, gvk: GVK) -> Schema | None:
        custom = self._custom.get(gvk)
        if custom is not None:
            return custom.schema
        return self._base.kind(gvk) or (super().kind(gvk) if self._further else None)
