"""The newest state of a resource's objects, decoded, by their keys and by what they are looked for
(apiserver pkg/storage/cacher/store.go, and its indexers).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from engine.api.types import Object
from engine.apiserver.fan_out import node_name

Index = Callable[[Object], str]


class CachedObjects:
    def __init__(self, *, by_node: bool) -> None:
        self._entries: dict[str, tuple[int, Object]] = {}
        self._ordered: list[str] | None = None
        self._indexes: dict[str, Index] = {"namespace": _namespace}
        if by_node:
            self._indexes["node"] = node_name
        self._indexed: dict[str, dict[str, dict[str, None]]] = {name: {} for name in self._indexes}

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def clear(self) -> None:
        self._entries.clear()
        self._ordered = None
        for index in self._indexed.values():
            index.clear()

    def put(self, key: str, revision: int, obj: Object) -> None:
        if (known := self._entries.get(key)) is not None:
            self._leave(key, known[1])
        else:
            self._ordered = None
        self._entries[key] = (revision, obj)
        for name, value_of in self._indexes.items():
            self._indexed[name].setdefault(value_of(obj), {})[key] = None

    def drop(self, key: str) -> None:
        if (known := self._entries.pop(key, None)) is not None:
            self._leave(key, known[1])
            self._ordered = None

    def _leave(self, key: str, obj: Object) -> None:
        for name, value_of in self._indexes.items():
            value = value_of(obj)
            keys = self._indexed[name].get(value)
            if keys is not None:
                keys.pop(key, None)
                if not keys:
                    del self._indexed[name][value]

    # -- reading

    def get(self, key: str) -> tuple[int, Object] | None:
        """The object of a key, and the revision that wrote it."""
        return self._entries.get(key)

    def items(self) -> Iterable[tuple[str, tuple[int, Object]]]:
        return self._entries.items()

    def select(self, namespace: str, node: str | None) -> Iterator[Object]:
        """The objects of a namespace ("" for all), or the Pods of a node, in the order of their keys."""
        entries = self._entries
        return (entries[key][1] for key in self._keys(namespace, node))

    def entries(self, namespace: str, node: str | None) -> list[tuple[str, Object]]:
        """As `select`, each with its key, as they are now."""
        entries = self._entries
        return [(key, entries[key][1]) for key in self._keys(namespace, node)]

    def _keys(self, namespace: str, node: str | None) -> list[str]:
        if node is not None and "node" in self._indexed:
            return sorted(self._indexed["node"].get(node, ()))
        if namespace:
            return sorted(self._indexed["namespace"].get(namespace, ()))
        if self._ordered is None:
            self._ordered = sorted(self._entries)
        return self._ordered

    def between(self, start: str, end: str) -> list[str]:
        """The keys of an interval, in their order; without an end the one key, if it is there."""
        if end:
            return sorted(key for key in self._entries if start <= key < end)
        return [start] if start in self._entries else []


def _namespace(obj: Object) -> str:
    return str(obj["metadata"].get("namespace", ""))
