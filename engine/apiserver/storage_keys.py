"""Keys of the store as the API server handles them: text, of which the same bytes can be made again.

Whoever writes past the API (`etcdctl`, `ktui store put`) may use any bytes as a key.
"""

from __future__ import annotations


def key_text(key: bytes) -> str:
    return key.decode(errors="surrogateescape")


def key_bytes(key: str) -> bytes:
    return key.encode(errors="surrogateescape")


def shown_key(key: str) -> str:
    """As it may stand in an answer."""
    return key_bytes(key).decode(errors="replace")
