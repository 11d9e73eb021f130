"""Which numbers of a range are taken, kept in the store, where all API servers of it see the same.

Source: pkg/registry/core/service/allocator (bitmap.go, storage/storage.go). A range is one key with a RangeAllocation,
with a bit for each number. Whoever takes or lets go of one swaps the whole of it against what it has read, and reads
again where another was there first: no number is given twice.
"""

from __future__ import annotations

import asyncio
from base64 import b64decode, b64encode
from collections.abc import Callable, Container, Iterator, Sequence
from typing import NamedTuple

import orjson

from engine.api.kept_json import kept_json
from engine.store.types import Compare, KeyValue, Put, Range, RangeResponse, Store
from engine.trace import current_span


class NotInitialised(Exception):
    """The store has nothing of the range (yet, or no more): the repair that a server starts with makes it."""


class Numbers(Container[int]):
    """Those that are taken, the number n as the bit n (math/big)."""

    def __init__(self, bits: int = 0) -> None:
        self.bits = bits

    def __contains__(self, number: object) -> bool:
        assert isinstance(number, int)
        return bool(self.bits >> number & 1)

    def __iter__(self) -> Iterator[int]:
        for position, byte in enumerate(self.bits.to_bytes(_octets(self.bits), "little")):
            if byte:
                yield from (position * 8 + bit for bit in range(8) if byte >> bit & 1)

    def put(self, number: int) -> None:
        self.bits |= 1 << number

    def drop(self, number: int) -> None:
        self.bits &= ~(1 << number)


class Kept(NamedTuple):
    """What the store has of a range; revision 0 is nothing."""

    span: str
    taken: Numbers
    revision: int


class RangeAllocation:
    """`span` is how the range is written, `resource` what it is of."""

    def __init__(self, store: Store, name: str, *, resource: str, span: str) -> None:
        self._store = store
        self._key = f"/registry/ranges/{name}".encode()
        self._resource = resource
        self.span = span
        self.count = 0  # of those that are taken, as this server knows it
        self._last: Kept | None = None  # as this server wrote or met it last
        self._lock = asyncio.Lock()  # those of one server need not be in one another's way

    async def take(self, number: int) -> bool:
        """Whether it was free. Raises NotInitialised, StoreError."""
        return await self._change(lambda taken: None if number in taken else number) is not None

    async def draw(self, free: Callable[[Numbers], int | None]) -> int | None:
        """Take what `free` finds; None where there is none. Raises NotInitialised, StoreError."""
        return await self._change(free)

    async def has(self, number: int) -> bool:
        """Raises StoreError."""
        return number in (await self.read()).taken

    async def release(self, number: int) -> None:
        """Raises NotInitialised, StoreError."""
        await self._change(lambda taken: number if number in taken else None, Numbers.drop)

    async def read(self) -> Kept:
        found = await self._store.range(Range(self._key))
        return _kept(found.kvs)

    async def replace(self, kept: Kept, taken: Numbers) -> bool:
        """Write all of it, where the store still has what was read."""
        if kept.revision and (kept.span, kept.taken.bits) == (self.span, taken.bits):
            return True
        return await self._swap(Kept(self.span, taken, kept.revision))

    async def _change(
        self, choose: Callable[[Numbers], int | None], change: Callable[[Numbers, int], None] = Numbers.put
    ) -> int | None:
        async with self._lock:
            while True:
                last, self._last = self._last, None
                kept = last or await self.read()
                if not kept.revision:
                    raise NotInitialised(f"cannot allocate resources of type {self._resource} at this time")
                number = choose(kept.taken)
                if number is not None:
                    changed = Numbers(kept.taken.bits)
                    change(changed, number)
                    if await self._swap(Kept(kept.span, changed, kept.revision)):
                        return number
                elif last is None:  # what is known from before may have changed since
                    self._last = kept
                    return None

    async def _swap(self, kept: Kept) -> bool:
        """Whether it is written; else another has written, and that is what is known now."""
        span = current_span()
        compare = Compare(self._key, "mod", "=", kept.revision)
        cause = span.traceparent if span is not None else ""
        answer = await self._store.txn([compare], [Put(self._key, _encoded(kept))], [Range(self._key)], cause=cause)
        if answer.succeeded:
            self._last = kept._replace(revision=answer.revision)
        else:
            (found,) = answer.responses
            assert isinstance(found, RangeResponse)
            self._last = _kept(found.kvs)
        self.count = self._last.taken.bits.bit_count()
        return answer.succeeded


def _encoded(kept: Kept) -> bytes:
    bits = kept.taken.bits
    data = b64encode(bits.to_bytes(_octets(bits), "big")).decode()
    return kept_json({"kind": "RangeAllocation", "apiVersion": "v1", "metadata": {}, "range": kept.span, "data": data})


def _kept(kvs: Sequence[KeyValue]) -> Kept:
    if not kvs:
        return Kept("", Numbers(), 0)
    allocation = orjson.loads(kvs[0].value)
    bits = int.from_bytes(b64decode(allocation.get("data") or ""), "big")
    return Kept(allocation.get("range") or "", Numbers(bits), kvs[0].mod_revision)


def _octets(bits: int) -> int:
    return (bits.bit_length() + 7) // 8
