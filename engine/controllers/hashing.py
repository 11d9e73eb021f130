"""The hash of a template that names ReplicaSets and controller revisions (controller.ComputeHash).

Upstream hashes Go's dump of the typed struct, which nothing but Go can reproduce; here it is the canonical JSON. The
hash function (32 bit FNV-1a) and the encoding (no vowels) are upstream's, so the names look as they do there.
"""

from __future__ import annotations

import struct

import orjson

from engine.api.types import Object
from engine.rng import NAME_ALPHABET

_FNV_OFFSET = 0x811C9DC5
_FNV_PRIME = 0x01000193


def template_hash(template: Object, collisions: int | None) -> str:
    """A safe-encoded hash of a Pod template; the collision count makes it another one."""
    data = orjson.dumps(template, option=orjson.OPT_SORT_KEYS)
    if collisions is not None:
        data += struct.pack("<Q", collisions)
    return safe_encode(str(fnv32a(data)))


def fnv32a(data: bytes) -> int:
    value = _FNV_OFFSET
    for byte in data:
        value = ((value ^ byte) * _FNV_PRIME) & 0xFFFFFFFF
    return value


def safe_encode(text: str) -> str:
    """Each character as one of the alphabet of generated names (rand.SafeEncodeString)."""
    return "".join(NAME_ALPHABET[ord(character) % len(NAME_ALPHABET)] for character in text)
