"""The resources that are served now: the built-in ones, and those of CustomResourceDefinitions as they come and go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.api.resources import ResourceInfo, ResourceRegistry


class LiveRegistry(ResourceRegistry):
    """Who holds it sees each change at once; `generation` tells those who keep what they made of it."""

    def __init__(self, builtin: ResourceRegistry) -> None:
        super().__init__(builtin.version, builtin)
        self._builtin = tuple(builtin)

    def replace(self, custom: Iterable[ResourceInfo]) -> None:
        """Put other custom resources in place of those that there were. Built-in ones win."""
        taken = {info.gvr for info in self._builtin}
        merged = ResourceRegistry(self.version, [*self._builtin, *(info for info in custom if info.gvr not in taken)])
        self._resources = merged._resources
        self._by_gvr = merged._by_gvr
        self._by_kind = merged._by_kind
        self.__dict__.pop("groups", None)
        self.generation += 1

    def give_away(self, elsewhere: Mapping[str, tuple[str, ...]]) -> None:
        """Say which versions are those of other servers."""
        if elsewhere != self.elsewhere:
            self.elsewhere = elsewhere
            self.generation += 1
