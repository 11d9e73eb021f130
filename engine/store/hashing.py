"""One number for many key-values, to compare members by (etcd server/storage/mvcc hash.go).

The numbers are this store's own: etcd hashes the bytes of its backend.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from zlib import crc32

from engine.clock import Clock
from engine.store.types import KeyValue

_HEAD = struct.Struct(">IQQQQI")
_CHUNK = 500  # key-values that are hashed in a row before others may run


async def hash_of(kvs: Sequence[KeyValue], clock: Clock) -> int:
    found = 0
    for number, kv in enumerate(kvs, 1):
        head = _HEAD.pack(
            len(kv.key), kv.create_revision, kv.mod_revision, kv.version, kv.lease % (1 << 64), len(kv.value)
        )
        found = crc32(kv.value, crc32(kv.key, crc32(head, found)))
        if not number % _CHUNK:
            await clock.sleep(0)
    return found
