"""Ways to spoil a JSON value, a text or the bytes of a body."""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Any

import orjson

_ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 1e308, 0.5, "", " ", "a", "-", "a" * 300, "ä\u0000\ud7ff",
    "../..",
    "*", "{{", "$(x)", "1e9999", "100m", "NaN", "2020-01-01T00:00:00Z", [], {}, [None], [[]], {"": None}, [{}] * 3,
)  # fmt: skip
_WORDS = (
    "metadata", "spec", "status", "name", "namespace", "labels", "annotations", "finalizers", "ownerReferences",
    "managedFields", "generateName", "resourceVersion", "uid", "kind", "apiVersion", "$patch", "$retainKeys",
    "$setElementOrder/containers", "$deleteFromPrimitiveList/finalizers", "items", "containers", "template", "selector",
)  # fmt: skip


def odd(rng: Random) -> Any:
    """A value that seldom fits."""
    return copy.deepcopy(rng.choice(_ODD))


def spoiled(rng: Random, value: Any) -> Any:
    """A copy of a JSON value with one to three places changed."""
    value = copy.deepcopy(value)
    for _ in range(rng.randint(1, 3)):
        value = _spoil(rng, value)
    return value


def _spoil(rng: Random, value: Any) -> Any:
    """Go down at random, and change what is there."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        what = rng.random()
        if what < 0.08:
            del value[key]
        elif what < 0.16:
            value[rng.choice(_WORDS)] = value[key]
        elif what < 0.2:
            value[rng.choice(_WORDS)] = odd(rng)
        else:
            value[key] = _spoil(rng, value[key])
        return value
    if isinstance(value, list) and value and rng.random() < 0.85:
        place = rng.randrange(len(value))
        what = rng.random()
        if what < 0.1:
            value.append(copy.deepcopy(value[place]))
        elif what < 0.15:
            del value[place]
        else:
            value[place] = _spoil(rng, value[place])
        return value
    if isinstance(value, str) and value and rng.random() < 0.4:
        return spoiled_text(rng, value)
    return odd(rng)


def spoiled_text(rng: Random, text: str) -> str:
    place = rng.randrange(len(text) + 1)
    return rng.choice(
        (
            text[:place] + text[place + 1 :],
            text[:place] + rng.choice("/%?&=:;,.*-_ ~{}[]\"'\\\u0000é") + text[place:],
            text.upper(),
            text * 20,
            text[::-1],
        )
    )


def spoiled_bytes(rng: Random, data: bytes) -> bytes:
    place = rng.randrange(len(data) + 1)
    change: Callable[[], bytes] = rng.choice(
        (
            lambda: data[:place],
            lambda: data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :],
            lambda: data[place:],
            lambda: data + data,
            lambda: b"\xef\xbb\xbf" + data,
            lambda: b"[" * 2000 + data,
            lambda: b"",
            lambda: rng.randbytes(rng.randrange(64)),
        )
    )
    return change()


def encoded(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except (TypeError, orjson.JSONEncodeError):
        return repr(value).encode(errors="replace")
