"""The resources that are served now: the built-in ones, and those of CustomResourceDefinitions as they come and go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.api.resources import Described, Priority, ResourceInfo, ResourceRegistry


class LiveRegistry(ResourceRegistry):
    """Who holds it sees each change at once; `generation` tells those who keep what they made of it."""

    def __init__(self, builtin: ResourceRegistry) -> None:
        super().__init__(builtin.version, builtin)
        self._builtin = tuple(builtin)
        self.built_in = frozenset(info.gvr[:2] for info in builtin)
        self._custom: tuple[ResourceInfo, ...] = ()
        self._stand_in: tuple[ResourceInfo, ...] = ()

    def replace(self, custom: Iterable[ResourceInfo]) -> None:
        """Put other custom resources in place of those that there were. A version that is built in, or stood in for, is
        asked for all that is in it, and knows none of them."""
        self._custom = tuple(custom)
        self._merge()

    def stand_in(self, resources: tuple[ResourceInfo, ...]) -> None:
        """Say what is served here in the place of another server, for as long as an APIService stands for it."""
        if resources != self._stand_in:
            self._stand_in = resources
            self._merge()

    def _merge(self) -> None:
        ours = (*self._stand_in, *self._builtin)
        taken = {info.gvr[:2] for info in ours}
        merged = ResourceRegistry(self.version, (*ours, *(each for each in self._custom if each.gvr[:2] not in taken)))
        self._resources = merged._resources
        self._by_gvr = merged._by_gvr
        self._by_kind = merged._by_kind
        self.__dict__.pop("groups", None)
        self.generation += 1

    def describe(self, described: Mapping[tuple[str, str], Described]) -> None:
        """Say what is known of those versions of other servers."""
        if described != self.described:
            self.described = described
            self.generation += 1

    def give_away(
        self, elsewhere: Mapping[str, tuple[str, ...]], priorities: Mapping[tuple[str, str], Priority]
    ) -> None:
        """Say which versions are those of other servers, and which have a place in discovery that is not the usual."""
        if (elsewhere, priorities) != (self.elsewhere, self.priorities):
            self.elsewhere, self.priorities = elsewhere, priorities
            self.generation += 1
