"""A heap whose items can be looked up and taken out by key."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class _Entry(Generic[T]):
    __slots__ = ("alive", "item", "key", "less", "sequence")

    def __init__(self, key: str, item: T, *, less: Callable[[T, T], bool], sequence: int) -> None:
        self.key = key
        self.item = item
        self.less = less
        self.sequence = sequence
        self.alive = True

    def __lt__(self, other: _Entry[T]) -> bool:
        if self.less(self.item, other.item):
            return True
        return not self.less(other.item, self.item) and self.sequence < other.sequence


class Heap(Generic[T]):
    """Of equal items the one that was added first comes first, in every run."""

    def __init__(self, less: Callable[[T, T], bool]) -> None:
        self._less = less
        self._heap: list[_Entry[T]] = []
        self._entries: dict[str, _Entry[T]] = {}
        self._sequence = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def get(self, key: str) -> T | None:
        entry = self._entries.get(key)
        return entry.item if entry is not None else None

    def add(self, key: str, item: T) -> None:
        """Add an item, or replace the one under its key."""
        self.remove(key)
        self._sequence += 1
        entry = self._entries[key] = _Entry(key, item, less=self._less, sequence=self._sequence)
        heapq.heappush(self._heap, entry)

    def remove(self, key: str) -> T | None:
        """Take an item out; its dead entry is dropped when it comes up."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return None
        entry.alive = False
        if len(self._heap) > 2 * len(self._entries) + 64:
            self._heap = [kept for kept in self._heap if kept.alive]
            heapq.heapify(self._heap)
        return entry.item

    def peek(self) -> T | None:
        while self._heap and not self._heap[0].alive:
            heapq.heappop(self._heap)
        return self._heap[0].item if self._heap else None

    def pop(self) -> T | None:
        if self.peek() is None:
            return None
        entry = heapq.heappop(self._heap)
        del self._entries[entry.key]
        return entry.item

    def items(self, limit: int | None = None) -> list[T]:
        """All items, or the `limit` first, the first first."""
        entries = self._entries.values()
        first = sorted(entries) if limit is None or limit >= len(entries) else heapq.nsmallest(limit, entries)
        return [entry.item for entry in first]
