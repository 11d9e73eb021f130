"""The newest state of a resource's objects, decoded, by their keys and by what they are looked for
(apiserver pkg/storage/cacher/store.go, and its indexers).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from engine.api.types import Object
from engine.apiserver.cacher.fan_out import node_name

Index = Callable[[Object], str]


# The name and the value of an index, or _ALL for all keys.
_Part = tuple[str, str]
_ALL: _Part = ("", "")


class CachedObjects:
    """`bytes` is how much room all of them take in the store."""

    def __init__(self, *, by_node: bool) -> None:
        self.bytes = 0
        self._entries: dict[str, tuple[int, Object]] = {}
        self._sizes: dict[str, int] = {}
        self._indexes: dict[str, Index] = {"namespace": _namespace}
        if by_node:
            self._indexes["node"] = node_name
        self._indexed: dict[_Part, dict[str, None]] = {}
        self._ordered: dict[_Part, list[str]] = {}  # keys in order, as far as somebody asked for them

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def clear(self) -> None:
        self.bytes = 0
        self._entries.clear()
        self._sizes.clear()
        self._indexed.clear()
        self._ordered.clear()

    def put(self, key: str, revision: int, obj: Object, size: int) -> None:
        known = self._entries.get(key)
        self._entries[key] = (revision, obj)
        self.bytes += size - self._sizes.get(key, 0)
        self._sizes[key] = size
        if known is None:
            self._ordered.pop(_ALL, None)
        for name, value_of in self._indexes.items():
            value = value_of(obj)
            if known is not None:
                before = value_of(known[1])
                if before == value:
                    continue
                self._leave((name, before), key)
            self._indexed.setdefault((name, value), {})[key] = None
            self._ordered.pop((name, value), None)

    def drop(self, key: str) -> None:
        if (known := self._entries.pop(key, None)) is not None:
            self.bytes -= self._sizes.pop(key)
            self._ordered.pop(_ALL, None)
            for name, value_of in self._indexes.items():
                self._leave((name, value_of(known[1])), key)

    def _leave(self, part: _Part, key: str) -> None:
        self._ordered.pop(part, None)
        keys = self._indexed.get(part)
        if keys is not None:
            keys.pop(key, None)
            if not keys:
                del self._indexed[part]

    # -- reading

    def get(self, key: str) -> tuple[int, Object] | None:
        """The object of a key, and the revision that wrote it."""
        return self._entries.get(key)

    def items(self) -> Iterable[tuple[str, tuple[int, Object]]]:
        return self._entries.items()

    def select(self, namespace: str, node: str | None) -> Iterator[Object]:
        """The objects of a namespace ("" for all), or the Pods of a node, in the order of their keys."""
        entries = self._entries
        return (entries[key][1] for key in self.keys(namespace, node))

    def keys(self, namespace: str, node: str | None) -> Sequence[str]:
        """The keys of what `select` gives, as they are now and stay."""
        part: _Part = _ALL
        if node is not None and "node" in self._indexes:
            part = "node", node
        elif namespace:
            part = "namespace", namespace
        if (ordered := self._ordered.get(part)) is not None:
            return ordered
        found = self._entries if part is _ALL else self._indexed.get(part)
        if found is None:
            return ()
        ordered = self._ordered[part] = sorted(found)
        return ordered

    def at(self, keys: Iterable[str]) -> list[Object]:
        """The objects of keys that are there."""
        entries = self._entries
        return [entries[key][1] for key in keys]

    def between(self, start: str, end: str) -> list[str]:
        """The keys of an interval, in their order; without an end the one key, if it is there."""
        if end:
            return sorted(key for key in self._entries if start <= key < end)
        return [start] if start in self._entries else []


def _namespace(obj: Object) -> str:
    return str(obj["metadata"].get("namespace", ""))
