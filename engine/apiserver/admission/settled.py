"""What of admission is settled for new Pods that say the same: which plugins need not be asked about the next.

Most plugins look at what a Pod says for itself and at a watch cache, which seldom changes: as long as it has not, what
they came to holds. The others are asked about each Pod: those that read from the store, and those that count.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple

from engine.api.types import Object
from engine.apiserver.admission.attributes import Plugin, Watched
from engine.apiserver.admission.metrics import Unasked
from engine.apiserver.metrics.storage_metrics import Looks
from engine.metrics import Distribution

Grounds = tuple[Hashable, ...]
Verdicts = list[dict[str, Any]]


class Step(NamedTuple):
    plugin: Plugin
    durations: Distribution
    asked: bool  # one that has nothing to do with the resource is told of only


class Steps(NamedTuple):
    """The plugins for an operation on a resource; `unasked` counts for those that are not asked, `drawing` is the one
    that draws names, `accepted` what is told where all accept."""

    all: tuple[Step, ...]
    unasked: Unasked
    drawing: Plugin | None
    accepted: Verdicts

    def until(self, refused: Plugin) -> Iterator[Plugin]:
        """Those before the one that has refused."""
        return takewhile(lambda plugin: plugin is not refused, (each.plugin for each in self.all))

    def count_until(self, refused: Plugin, asked: tuple[Asked, ...] | None = None) -> None:
        """Those that are not asked, as far as the plugin that has refused."""
        plugins = [each.plugin for each in asked] if asked is not None else None
        for plugin, durations, is_asked in self.all:
            if plugin is refused:
                return
            if not is_asked or (plugins is not None and plugin not in plugins):
                durations.observe(0.0)


class Asked(NamedTuple):
    """A plugin that is asked about each Pod; `position` is its place among the grounds."""

    plugin: Plugin
    durations: Distribution
    position: int


class Settled(NamedTuple):
    """Which plugins are asked, as long as the caches are as they were in these generations; `unasked` counts for the
    others, `looks` for what they would have read, and `spared` are those of them that do something nevertheless."""

    caches: tuple[tuple[Watched, int], ...]
    asked: tuple[Asked, ...]
    unasked: Unasked
    looks: tuple[Looks, ...] = ()
    spared: tuple[Plugin, ...] = ()

    @property
    def holds(self) -> bool:
        for cache, generation in self.caches:  # noqa: SIM110 (no generator: every Pod asks twice)
            if cache.generation != generation:
                return False
        return True

    def passed(self) -> None:
        """A Pod of which the plugins that are not asked have been spared."""
        self.unasked.add()
        self.look()

    def look(self) -> None:
        """They come before all that are asked, and so would have read also of a Pod that one of those refuses."""
        for look in self.looks:
            look.add()


@dataclass(slots=True)
class Known:
    """The grounds on which the plugins have changed a Pod, with which verdicts, and what of both steps is settled."""

    grounds: Grounds
    verdicts: Verdicts
    admit: Settled | None = None
    validate: Settled | None = None


class Alike(NamedTuple):
    """A Pod of which all is `known`. `read` gives the whole of it, for who is asked about it."""

    known: Known
    read: Callable[[], Object]
