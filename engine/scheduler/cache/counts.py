"""Counts per node, kept by group and summed over groups on demand.

A node holds so many pods of each label group (pods that no selector can tell apart) and so many of each required
anti-affinity term. What a plugin asks for is the number, on every node, of those groups that match something. Such an
answer is an array over all nodes, made once and then kept true as single nodes change.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.scheduler.cache.columns import Origin, taken

K = TypeVar("K", bound=Hashable)
Counts = NDArray[np.int64]

KEPT_SUMS = 128


class _Sum(Generic[K]):
    """The counts of all groups that one predicate accepts."""

    __slots__ = ("accepts", "array", "known")

    def __init__(self, accepts: Callable[[K], bool], size: int) -> None:
        self.accepts = accepts
        self.array: Counts = np.zeros(size, np.int64)
        self.known: dict[K, bool] = {}

    def add(self, group: K, row: int, delta: int) -> None:
        accepted = self.known.get(group)
        if accepted is None:
            accepted = self.known[group] = self.accepts(group)
        if accepted:
            self.array[row] += delta


class GroupedCounts(Generic[K]):
    def __init__(self, size: int = 0) -> None:
        self._rows: list[dict[K, int]] = [{} for _ in range(size)]
        self._groups: dict[K, dict[int, int]] = {}
        self._sums: dict[Hashable, _Sum[K]] = {}

    def rearrange(self, origin: Origin) -> None:
        """Put the counts on other rows: `origin` has the row of before for each row, -1 for one that is new."""
        before = origin.tolist()
        now = {old: new for new, old in enumerate(before) if old >= 0}
        self._rows = [self._rows[old] if old >= 0 else {} for old in before]
        self._groups = {
            group: moved
            for group, rows in self._groups.items()
            if (moved := {now[row]: count for row, count in rows.items() if row in now})
        }
        for kept in self._sums.values():
            kept.array = taken(kept.array, origin)
            kept.known = {group: accepted for group, accepted in kept.known.items() if group in self._groups}

    def set_row(self, row: int, counts: dict[K, int]) -> None:
        """What a node holds from now on."""
        before = self._rows[row]
        if before == counts:
            return
        self._rows[row] = dict(counts)
        for group, count in counts.items():
            if delta := count - before.get(group, 0):
                self._change(group, row, delta)
        for group, count in before.items():
            if group not in counts:
                self._change(group, row, -count)

    def _change(self, group: K, row: int, delta: int) -> None:
        rows = self._groups.setdefault(group, {})
        rows[row] = rows.get(row, 0) + delta
        if not rows[row]:
            del rows[row]
            if not rows:
                del self._groups[group]
        for kept in self._sums.values():
            kept.add(group, row, delta)
            if group not in self._groups:
                del kept.known[group]

    def groups(self) -> Iterator[K]:
        """All groups that any node holds."""
        return iter(self._groups)

    def sum(self, key: Hashable, accepts: Callable[[K], bool]) -> Counts:
        """Per node, how many are of groups that `accepts` takes; `key` names the predicate. Not to be changed."""
        kept = self._sums.pop(key, None)
        if kept is None:
            kept = _Sum(accepts, len(self._rows))
            for group, rows in self._groups.items():
                for row, count in rows.items():
                    kept.add(group, row, count)
            if len(self._sums) >= KEPT_SUMS:
                del self._sums[next(iter(self._sums))]
        self._sums[key] = kept  # the newest last
        return kept.array
