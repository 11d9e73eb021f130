"""Reading what is stored of a resource (apiserver pkg/storage/etcd3 decoder.go, apimachinery serializer/json json.go).

A value must have the types of its kind: upstream's decoder cannot make a struct of it otherwise. It may be in another
version of it; fields that the struct has not are dropped, and what it leaves out has its default. What a request to
this server wrote fits by itself; what somebody wrote past it, or it before it was started again, is looked at once,
where it is first met.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from engine.api.decoding import Unfit, other_kind, unmarshalled
from engine.api.defaults import apply_defaults
from engine.api.field_order import FieldOrder
from engine.api.resources import ResourceInfo
from engine.api.schema import Definitions
from engine.api.types import GVK, Object
from engine.apiserver.changes import decode_stored
from engine.apiserver.corrupt_objects import CorruptObject
from engine.apiserver.registry.conversion import converted
from engine.apiserver.storage_keys import key_text
from engine.clock import Clock
from engine.metrics import Counter
from engine.store.types import KeyValue

_EXPECTED_MOST = 1_000
_SLICE = 25  # values that are read in a row before the loop may run others


class Found(NamedTuple):
    """What the value of a key stands for, the revision that wrote it and how long it is."""

    key: str
    revision: int
    object: Object | CorruptObject
    size: int


class StoredValues:
    """`fitting` are the revisions of what this server began with, which fits."""

    def __init__(self, definitions: Definitions, order: FieldOrder) -> None:
        self.fitting: set[int] = set()
        self.errors = Counter(
            "apiserver_storage_decode_errors_total",
            "[ALPHA] Number of stored object decode errors split by object type",
            "group",
            "resource",
        )
        self._definitions = definitions
        self._order = order
        self._expected: dict[int, tuple[bytes, Callable[[int], Object]]] = {}

    def expect(self, value: bytes, made: Callable[[int], Object]) -> None:
        """This very value is about to be stored: `made` gives what it stands for at a revision, without reading it."""
        if len(self._expected) >= _EXPECTED_MOST:  # nobody reads what is written
            self._expected.clear()
        self._expected[id(value)] = (value, made)

    def read(self, info: ResourceInfo, value: bytes, revision: int, *, fits: bool = False) -> Object:
        """Raises CorruptObject, which is counted."""
        expected = self._expected.pop(id(value), None)  # its own as long as it is expected
        if expected is not None:
            return expected[1](revision)
        try:
            obj = decode_stored(value, revision, ours=fits and not info.custom)
            # Of a custom object there is no struct, and what does not fit its schema is another matter.
            if not (fits or info.custom or revision in self.fitting):
                obj = self._decoded(info, obj, revision)
        except CorruptObject:
            self.errors.add(info.gvr.group, info.gvr.resource)
            raise
        return obj

    async def read_all(self, info: ResourceInfo, kvs: Sequence[KeyValue], clock: Clock) -> list[Found]:
        found: list[Found] = []
        for number, kv in enumerate(kvs, start=1):
            obj: Object | CorruptObject
            try:
                obj = self.read(info, kv.value, kv.mod_revision)
            except CorruptObject as corrupt:
                obj = corrupt
            found.append(Found(key_text(kv.key), kv.mod_revision, obj, len(kv.value)))
            if not number % _SLICE:
                await clock.sleep(0)
        return found

    def _decoded(self, info: ResourceInfo, obj: Object, revision: int) -> Object:
        """An object as the codec of upstream reads it: what this server stores comes out as it is."""
        stored = info.storage_gvk
        group, _, version = str(obj.get("apiVersion") or stored.api_version).rpartition("/")
        found = GVK(group, version, str(obj.get("kind") or stored.kind))
        schema = self._definitions.kind(found) or self._definitions.kind(stored)
        if found != stored and (why := other_kind(self._definitions, found, stored)):
            raise CorruptObject(revision, why)
        try:
            decoded = obj if schema is None else unmarshalled(self._definitions, schema, obj, gvk=found).object
        except Unfit as unfit:
            raise CorruptObject(revision, str(unfit)) from None
        if found != stored:
            decoded = converted(decoded, found, stored)
        if info.gvk == stored:
            apply_defaults(info, decoded)
        elif not info.custom:  # asked for in another version: what is stored has its own defaults
            apply_defaults(replace(info, gvr=info.gvr._replace(group=stored.group, version=stored.version)), decoded)
        return obj if decoded == obj else self._order.built_in(stored, decoded, otherwise=decoded)
