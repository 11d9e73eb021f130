"""Reading from the cache (design, law 3): get and list by namespace, label selector and index (client-go listers)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from engine.api.types import Object
from engine.client.indexer import NAMESPACE_INDEX, Indexer, join_key

Objects = list[Object]


class Selector(Protocol):
    """What a lister needs of `engine.api.selectors.LabelSelector`."""

    def matches(self, labels: Mapping[str, str]) -> bool: ...


class Lister:
    """Frozen objects out of an informer's cache. Nothing here asks the API server."""

    def __init__(self, indexer: Indexer) -> None:
        self._indexer = indexer

    def get(self, name: str, namespace: str = "") -> Object | None:
        return self._indexer.get(join_key(namespace, name))

    def by_key(self, key: str) -> Object | None:
        """The object under `namespace/name` (or `name`)."""
        return self._indexer.get(key)

    def list(self, namespace: str = "", selector: Selector | None = None) -> Objects:
        """All objects, of one namespace where given, that the selector matches."""
        found = self._indexer.by_index(NAMESPACE_INDEX, namespace) if namespace else self._indexer.objects()
        return list(found.values()) if selector is None else _matching(found.values(), selector)

    def by_index(self, index: str, value: str, selector: Selector | None = None) -> Objects:
        return _matching(self._indexer.by_index(index, value).values(), selector)

    def index_values(self, index: str) -> Iterable[str]:
        """The values of an index that have an object."""
        return self._indexer.index_values(index)

    def __len__(self) -> int:
        return len(self._indexer)


def _matching(objects: Iterable[Object], selector: Selector | None) -> Objects:
    if selector is None:
        return list(objects)
    return [obj for obj in objects if selector.matches(obj["metadata"].get("labels") or {})]
