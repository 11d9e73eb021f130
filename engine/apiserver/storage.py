"""Between the REST verbs and the store: keys, encoding, compare-and-swap (apiserver pkg/storage/etcd3/store.go).

Reads are consistent: the key comes from the store, its decoded object from the watch cache where the revision is the
same, so that no reader pays for decoding again. Values are the objects as JSON without their resourceVersion.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from engine.api.errors import ApiError, bad_request, not_found
from engine.api.field_order import FieldOrder
from engine.api.kept_json import kept_json
from engine.api.resources import ResourceInfo, ResourceRegistry
from engine.api.types import GVK, GVR, Object
from engine.api.validation.text import path_segment
from engine.apiserver.cacher.caches import WatchCaches
from engine.apiserver.changes import versioned
from engine.apiserver.corrupt_objects import CorruptObject, CorruptObjectError, Unconverted, unreadable
from engine.apiserver.event_leases import EventLeases
from engine.apiserver.lookup import KeyState
from engine.apiserver.metrics.storage_metrics import StorageMetrics
from engine.apiserver.registry.conversion import from_storage, to_storage
from engine.apiserver.storage_keys import key_bytes, key_text
from engine.metrics import Family
from engine.store.types import (
    Compare,
    DeleteRange,
    InMemory,
    KeyValue,
    MessageTooLargeError,
    Put,
    Range,
    RangeResponse,
    Store,
    StoreUnavailableError,
    prefix_end,
)

_CHUNK = 500  # objects that a webhook is asked for at once

_MAX_OPERATIONS = 128  # of one transaction, etcd's --max-txn-ops


class Stored(NamedTuple):
    """An object as it is shown, and as the store has it, if that is known."""

    object: Object
    revision: int
    kept: Object | None = None


class Page(NamedTuple):
    """Keys (below the list's prefix) and objects at one revision; `remaining` is how many keys come after."""

    items: list[tuple[str, Object]]
    revision: int
    remaining: int


class Converter(Protocol):
    """Asks the webhooks of custom resources, before the conversions themselves, which wait for nothing."""

    async def prepare(self, info: ResourceInfo, stored: Sequence[Object]) -> Sequence[Unconverted]: ...

    async def to_storage(self, info: ResourceInfo, obj: Object) -> Object: ...

    def asks(self, info: ResourceInfo) -> bool: ...

    async def convert(self, info: ResourceInfo, obj: Object, target: GVK) -> Object: ...


class Storage:
    converter: Converter | None = None

    def __init__(
        self,
        store: Store,
        caches: WatchCaches,
        leases: EventLeases,
        order: FieldOrder,
        *,
        release: tuple[int, int] = (99, 0),
    ) -> None:
        self.store = store
        self._order = order
        self.metrics = StorageMetrics(release=release)
        self._caches = caches
        self._leases = leases

    def families(self) -> tuple[Family, ...]:
        """For /metrics."""
        return (*self.metrics.families(), self._caches.values.errors, *self._leases.families())

    # -- reading

    async def get(self, info: ResourceInfo, namespace: str, name: str) -> Stored | None:
        """Raises CorruptObjectError."""
        key = info.key(namespace, name)
        response = await self._range(info, Range(key.encode()), operation="get")
        if not response.kvs:
            return None
        kv = response.kvs[0]
        try:
            obj = self._decode(info, key, kv)
        except CorruptObject as corrupt:
            raise CorruptObjectError(key, corrupt) from None
        for _, failed in await self._unconverted(info, [obj]):
            raise CorruptObjectError(key, failed)
        return Stored(from_storage(info, obj), kv.mod_revision, obj)

    async def named(self, info: ResourceInfo, namespace: str, name: str) -> Stored:
        """The object that a request names. Raises ApiError 400 for what is no part of a key, 404, 500."""
        check_name(name)
        stored = await self.get(info, namespace, name)
        if stored is None:
            raise not_found(info.gvr, name)
        return stored

    async def page(
        self,
        info: ResourceInfo,
        namespace: str,
        *,
        revision: int = 0,
        start: str = "",
        limit: int = 0,
        stored: bool = False,
    ) -> Page:
        """Objects of a namespace ("" for all), in the order of their keys; revision 0 is the newest.

        `start` is a key below the prefix that the namespace makes, so that no page reaches beyond it. `stored` leaves
        the objects in the stored version. Raises CompactedError or FutureRevisionError, and ApiError 500 for objects
        that cannot be read.
        """
        root = f"{info.storage_prefix}/"
        prefix = f"{root}{namespace}/" if info.namespaced and namespace else root
        end = prefix_end(prefix.encode())
        request = Range(key_bytes(f"{prefix}{start}"), end, revision=revision, limit=limit)
        response = await self._range(info, request)
        found = self._decode_all(info, response.kvs)
        if not stored:
            await self.prepare_all(info, [obj for _, obj in found])
        items = [(key[len(prefix) :], obj if stored else from_storage(info, obj)) for key, obj in found]
        return Page(items, revision or response.revision, response.count - len(response.kvs))

    async def page_of(self, info: ResourceInfo, key: str, *, revision: int = 0) -> Page:
        """The page that has the object of one key alone. Raises CompactedError or FutureRevisionError."""
        response = await self._range(info, Range(key.encode(), revision=revision))
        found = self._decode_all(info, response.kvs)
        await self.prepare_all(info, [obj for _, obj in found])
        items = [(key, from_storage(info, obj)) for _, obj in found]
        return Page(items, revision or response.revision, 0)

    async def keys(self, info: ResourceInfo) -> set[str]:
        """Those of all objects of a resource, whether they can be read or not. Raises StoreUnavailableError."""
        first = f"{info.storage_prefix}/".encode()
        with self.metrics.request("list", info.gvr):
            response = await self.store.range(Range(first, prefix_end(first), keys_only=True))
        return {key_text(kv.key) for kv in response.kvs}

    async def current_revision(self, info: ResourceInfo) -> int:
        """The newest revision of the store. Raises StoreUnavailableError."""
        first = f"{info.storage_prefix}/".encode()
        with self.metrics.request("list", info.gvr):
            response = await self.store.range(Range(first, prefix_end(first), limit=1, keys_only=True))
        return response.revision

    async def prepare_all(self, info: ResourceInfo, stored: Sequence[Object]) -> None:
        """What must be done before stored objects can be converted. Raises ApiError 500, which tells of those that
        cannot be."""
        if failed := await self._unconverted(info, stored):
            raise unreadable(info, failed)

    async def prepare_cached(self, info: ResourceInfo, stored: Iterable[Object]) -> None:
        """As `prepare_all`, of what a cache has. Raises ApiError 429 as long as not all of it can be converted."""
        if not info.custom or self.converter is None:
            return
        unconverted, objects = self._caches.unconverted(info), list(stored)
        for first in range(0, len(objects), _CHUNK):
            if failed := await self._unconverted(info, objects[first : first + _CHUNK]):
                unconverted.put(failed[0][0])
                unconverted.check()
        unconverted.clear()

    async def readable(self, info: ResourceInfo, stored: Object) -> bool:
        """Whether a stored object can be converted, after what must be done before that."""
        return not await self._unconverted(info, [stored])

    async def _unconverted(self, info: ResourceInfo, stored: Sequence[Object]) -> list[tuple[str, CorruptObject]]:
        """The keys of objects that no webhook converts, and why."""
        if not info.custom or self.converter is None:
            return []
        failed: list[tuple[str, CorruptObject]] = []
        for obj, why in await self.converter.prepare(info, stored):
            metadata = obj["metadata"]
            self._caches.values.errors.add(info.gvr.group, info.gvr.resource)
            key = info.key(metadata.get("namespace", ""), metadata["name"])
            failed.append((key, CorruptObject(int(metadata["resourceVersion"]), why)))
        return failed

    async def _range(self, info: ResourceInfo, request: Range, *, operation: str = "list") -> RangeResponse:
        """A range of the store; of the newest state also while the store is away, as the watch cache last saw it."""
        try:
            with self.metrics.request(operation, info.gvr):
                return await self.store.range(request)
        except StoreUnavailableError:
            cache = self._caches.of(info)
            if cache is None or request.revision not in (0, cache.revision):
                raise
            return cache.range(request)

    def _decode_all(self, info: ResourceInfo, kvs: Sequence[KeyValue]) -> list[tuple[str, Object]]:
        found: list[tuple[str, Object]] = []
        corrupt: list[tuple[str, CorruptObject]] = []
        for kv in kvs:
            key = key_text(kv.key)
            try:
                found.append((key, self._decode(info, key, kv)))
            except CorruptObject as error:
                corrupt.append((key, error))
        if corrupt:
            raise unreadable(info, corrupt)
        return found

    def _decode(self, info: ResourceInfo, key: str, kv: KeyValue) -> Object:
        cache = self._caches.of(info)
        known = cache.lookup(key, kv.mod_revision) if cache is not None else None
        if known is not None:
            return known
        return self._caches.values.read(info, kv.value, kv.mod_revision)

    # -- writing

    async def create(self, info: ResourceInfo, namespace: str, name: str, obj: Object, *, cause: str) -> Object | None:
        """The object as it was stored; None if there is one of that name already."""
        key = info.key(namespace, name).encode()
        obj = self.ordered(info, obj)
        stored = await self._in_storage(info, obj)
        put = _sendable(Put(key, self.encoded(info, stored), await self._lease(info)))
        with self.metrics.request("create", info.gvr):
            response = await self.store.txn([Compare(key, "mod", "=", 0)], [put], cause=cause)
        return await self._written(info, obj, stored, response.revision) if response.succeeded else None

    async def create_text(
        self,
        info: ResourceInfo,
        namespace: str,
        name: str,
        text: bytes,
        made: Callable[[int], Object],
        *,
        cause: str,
    ) -> int | None:
        """As `create`, of an object that is stored as `text`, in order: the revision of it. `made` gives the object at
        a revision to the caches."""
        self._caches.values.expect(text, made)
        key = info.key(namespace, name).encode()
        with self.metrics.request("create", info.gvr):
            response = await self.store.txn([Compare(key, "mod", "=", 0)], [Put(key, text)], cause=cause)
        return response.revision if response.succeeded else None

    async def replace(
        self, info: ResourceInfo, namespace: str, name: str, obj: Object, *, expected: int, cause: str
    ) -> Object | None:
        """The object as it was stored; None if the stored one is no longer at the expected revision."""
        key = info.key(namespace, name).encode()
        obj = self.ordered(info, obj)
        stored = await self._in_storage(info, obj)
        put = _sendable(Put(key, self.encoded(info, stored), await self._lease(info)))
        with self.metrics.request("update", info.gvr):
            response = await self.store.txn([Compare(key, "mod", "=", expected)], [put], cause=cause)
        return await self._written(info, obj, stored, response.revision) if response.succeeded else None

    async def kept_as_shown(self, info: ResourceInfo, stored: Stored) -> bool:
        """Whether the store would have an object as it has it if it were written again: a custom one may be kept in
        another version, or without defaults that it is shown with. Raises ApiError 500."""
        if not info.custom or stored.kept is None:
            return True
        return _content(await self._in_storage(info, stored.object)) == _content(stored.kept)

    async def remove(self, info: ResourceInfo, namespace: str, name: str, *, expected: int, cause: str) -> int | None:
        """The revision of the deletion; None if the stored object is no longer at the expected revision."""
        key = info.key(namespace, name).encode()
        with self.metrics.request("delete", info.gvr):
            response = await self.store.txn([Compare(key, "mod", "=", expected)], [DeleteRange(key)], cause=cause)
        return response.revision if response.succeeded else None

    async def create_all(self, values: Mapping[str, bytes]) -> None:
        """Create objects that nobody else makes, many in one revision, each given by its key as it is stored."""
        puts = [Put(key.encode(), value) for key, value in values.items()]
        for start in range(0, len(puts), _MAX_OPERATIONS):
            some = puts[start : start + _MAX_OPERATIONS]
            response = await self.store.txn([Compare(put.key, "mod", "=", 0) for put in some], some)
            self._caches.values.fitting.add(response.revision)

    async def _in_storage(self, info: ResourceInfo, obj: Object) -> Object:
        """An object in the version that is stored. Raises ApiError 500."""
        if info.custom and self.converter is not None:
            obj = await self.converter.to_storage(info, obj)
        return to_storage(info, obj)

    async def _written(self, info: ResourceInfo, obj: Object, stored: Object, revision: int) -> Object:
        """What a write answers: a custom object as it is read back, which what it is stored as may change."""
        if not info.custom or info.storage_gvk == info.gvk:
            return _at(obj, revision)
        stored = _at(stored, revision)
        for _, failed in await self._unconverted(info, [stored]):
            raise ApiError(500, "", str(failed))
        return self.ordered(info, from_storage(info, stored))

    def encoded(self, info: ResourceInfo, stored: Object) -> bytes:
        """What is kept of an object in order, in the version that is stored."""
        metadata = stored["metadata"]
        if "resourceVersion" in metadata:
            metadata = {key: value for key, value in metadata.items() if key != "resourceVersion"}
            stored = {**stored, "metadata": metadata}
        return kept_json(self._order.of(info, info.storage_gvk, stored) if info.converts else stored)

    def ordered(self, info: ResourceInfo, obj: Object) -> Object:
        """An object with its fields in the order in which it is answered."""
        return self._order.of(info, info.gvk, obj)

    def arranged(self, gvk: GVK, obj: Object) -> Object:
        """The same of an object that no resource stores, as a review or what a subresource answers."""
        return self._order.built_in(gvk, obj, otherwise=obj)

    async def _lease(self, info: ResourceInfo) -> int:
        return await self._leases.current() if info.kind == "Event" else 0


def _content(stored: Object) -> Object:
    metadata = {field: value for field, value in stored["metadata"].items() if field != "resourceVersion"}
    return {**stored, "metadata": metadata}


class StorageLookup:
    """The `Lookup` of this server."""

    def __init__(self, storage: Storage, resources: ResourceRegistry) -> None:
        self._storage = storage
        self._resources = resources

    async def find(self, gvr: GVR, namespace: str, name: str) -> Object | None:
        info = self._resources.get(*gvr)
        if info is None:
            return None
        stored = await self._storage.get(info, namespace, name)
        return stored.object if stored is not None else None

    async def all(self, gvr: GVR, namespace: str) -> list[Object]:
        info = self._resources.get(*gvr)
        if info is None:
            return []
        return [obj for _, obj in (await self._storage.page(info, namespace)).items]

    def state(self, gvr: GVR, namespace: str, name: str) -> KeyState | None:
        info, store = self._resources.get(*gvr), self._storage.store
        if info is None or info.custom or not isinstance(store, InMemory):
            return None
        return KeyState(store, info.key(namespace, name).encode(), self._storage.metrics.looks("get", gvr))


def check_name(name: str) -> None:
    """Raises ApiError 400 for what is no part of a key (registry/generic/registry store.go NamespaceKeyFunc)."""
    if causes := path_segment(name):
        raise bad_request(f"Name parameter invalid: {json.dumps(name, ensure_ascii=False)}: {';'.join(causes)}")


def _at(obj: Object, revision: int) -> Object:
    return {**obj, "metadata": versioned({**obj["metadata"]}, revision)}


def _sendable(put: Put) -> Put:
    """Raises MessageTooLargeError."""
    size = len(put.key) + len(put.value)
    if size > MessageTooLargeError.most:
        raise MessageTooLargeError(size)
    return put
