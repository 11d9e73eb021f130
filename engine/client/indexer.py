"""The informer's store: objects by key, and by any number of indexes (client-go tools/cache thread_safe_store.go).

Dictionaries keep the order of insertion, so that what is listed comes in the same order in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from engine.api.types import Object

# The values under which an object is found in an index.
IndexFunc = Callable[[Object], Iterable[str]]

NAMESPACE_INDEX = "namespace"


def object_key(obj: Object) -> str:
    """`namespace/name`, or `name` for a cluster-scoped object (cache.MetaNamespaceKeyFunc)."""
    metadata = obj["metadata"]
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])


def join_key(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


def split_key(key: str) -> tuple[str, str]:
    """Namespace ("" for none) and name of a key (cache.SplitMetaNamespaceKey). Raises ValueError."""
    if key.count("/") > 1:
        raise ValueError(f'unexpected key format: "{key}"')
    namespace, slash, name = key.rpartition("/")
    return (namespace, name) if slash else ("", key)


def _by_namespace(obj: Object) -> Iterable[str]:
    return (obj["metadata"].get("namespace", ""),)


class Indexer:
    """Objects by key; `namespace` is the index that is always there."""

    def __init__(self) -> None:
        self._objects: dict[str, Object] = {}
        self._functions: dict[str, IndexFunc] = {}
        self._indexes: dict[str, dict[str, dict[str, Object]]] = {}
        self.add_index(NAMESPACE_INDEX, _by_namespace)

    def add_index(self, name: str, function: IndexFunc) -> None:
        """Index by a further function, also what is there already. The first function of a name stays."""
        if name in self._functions:
            return
        self._functions[name] = function
        self._indexes[name] = {}
        for key, obj in self._objects.items():
            self._insert(name, key, obj)

    def put(self, key: str, obj: Object) -> Object | None:
        """Add or replace; returns what stood there before."""
        old = self._objects.get(key)
        self._objects[key] = obj
        for name in self._functions:
            if old is not None:
                self._remove(name, key, old, keep=set(self._functions[name](obj)))
            self._insert(name, key, obj)
        return old

    def pop(self, key: str) -> Object | None:
        old = self._objects.pop(key, None)
        if old is not None:
            for name in self._functions:
                self._remove(name, key, old, keep=set())
        return old

    def get(self, key: str) -> Object | None:
        return self._objects.get(key)

    def by_index(self, name: str, value: str) -> Mapping[str, Object]:
        """The objects under a value of an index, by key. Raises KeyError for an index that nobody added."""
        return self._indexes[name].get(value, {})

    def index_values(self, name: str) -> list[str]:
        return list(self._indexes[name])

    def objects(self) -> Mapping[str, Object]:
        return self._objects

    def __len__(self) -> int:
        return len(self._objects)

    def _insert(self, name: str, key: str, obj: Object) -> None:
        index = self._indexes[name]
        for value in self._functions[name](obj):
            index.setdefault(value, {})[key] = obj

    def _remove(self, name: str, key: str, obj: Object, *, keep: set[str]) -> None:
        index = self._indexes[name]
        for value in self._functions[name](obj):
            if value not in keep and (bucket := index.get(value)) is not None:
                bucket.pop(key, None)
                if not bucket:
                    del index[value]
