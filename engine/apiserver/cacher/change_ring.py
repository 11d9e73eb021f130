"""The last changes of a resource, from which a watch is told what it has missed (apiserver pkg/storage/cacher
watch_cache.go)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from engine.apiserver.changes import Change


class ChangeRing:
    """Begins where the whole state was listed, or later where it has dropped the oldest for want of room."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.listed_at = 0  # a revision
        self._changes: deque[Change] = deque(maxlen=size)
        self._forgot = False  # whether it has dropped a change since the list

    def __iter__(self) -> Iterator[Change]:
        return iter(self._changes)

    def begin_at(self, revision: int) -> None:
        """The whole state was listed anew."""
        self._changes.clear()
        self._forgot = False
        self.listed_at = revision

    def append(self, change: Change) -> None:
        self._forgot = self._forgot or len(self._changes) == self.size
        self._changes.append(change)

    @property
    def oldest(self) -> int:
        """The oldest revision that a watch may start after."""
        return self._changes[0].revision - 1 if self._forgot else self.listed_at

    def remembers(self, revision: int) -> bool:
        """Whether the state at a revision (0 for the newest) follows from the ring, where upstream keeps snapshots."""
        return not revision or revision > self.oldest or (revision == self.oldest and not self._forgot)

    def may_reach(self, revision: int) -> bool:
        """Whether it could begin there, earlier than it does: it has dropped nothing yet."""
        return revision < self.oldest and not self._forgot

    @property
    def room(self) -> int:
        return self.size - len(self._changes)

    def prepend(self, changes: Sequence[Change], *, after: int) -> None:
        """Begin earlier, with all that came after a revision; not where there is no room any more."""
        if not self._forgot and len(changes) <= self.room:
            self._changes.extendleft(reversed(changes))
            self.listed_at = after

    def describe(self) -> dict[str, Any]:
        """For `/debug/ktui/watches`."""
        return {
            "size": self.size,
            "used": len(self._changes),
            "oldest": self.oldest,
            "newest": self._changes[-1].revision if self._changes else self.listed_at,
            "revisions": [change.revision for change in self._changes],
        }
