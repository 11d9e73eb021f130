"""The steps of a path as managedFields write them, and as messages show them.

`f:NAME` is a field or a key of a map, `k:{...}` an element of a list by its keys, `v:VALUE` an element of a set and
`i:3` one by its place. Values are JSON as json-iterator writes it: what HTML or JavaScript gives a meaning to is
escaped, the names of keys are not. Source: structured-merge-diff fieldpath (serialize-pe.go, element.go) and value
(value.go), of the 6.4 that 1.37 has.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import orjson

from engine.api.golang.floats import shown_float
from engine.api.golang.integer import parse_int
from engine.api.golang.text import quoted

_NAME, _KEYS, _VALUE, _INDEX = "fkvi"
# What orjson writes otherwise; a backslash that is meant is found so that what comes after it is not.
_ESCAPED = re.compile(r"[<>&\u2028\u2029]|\\[bf\\]")
_ESCAPES = {"\\b": "\\u0008", "\\f": "\\u000c", "\\\\": "\\\\"}


def keys_step(keys: dict[str, Any]) -> str:
    """The step of an element by its keys, which are in order."""
    return _keys_step(orjson.dumps(keys))


def value_step(value: Any) -> str:
    return _value_step(orjson.dumps(value, option=orjson.OPT_SORT_KEYS))


@lru_cache(maxsize=16384)
def _keys_step(text: bytes) -> str:
    """Each element of each object has one: nearly all have been met before."""
    if _ESCAPED.search(text.decode()) is None:
        return f"k:{text.decode()}"
    keys: dict[str, Any] = orjson.loads(text)
    pairs = (f"{orjson.dumps(key).decode()}:{_escaped(orjson.dumps(item))}" for key, item in keys.items())
    return f"k:{{{','.join(pairs)}}}"


@lru_cache(maxsize=16384)
def _value_step(text: bytes) -> str:
    return f"v:{_escaped(text)}"


def _escaped(text: bytes) -> str:
    return _ESCAPED.sub(_escape, text.decode())


def _escape(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[0]) or f"\\u{ord(found[0]):04x}"


@lru_cache(maxsize=16384)
def rank(step: str) -> tuple[str, Any]:
    """PathElement.Compare: fields before elements, of those a set's values after keys."""
    kind, _, rest = step.partition(":")
    if kind == _KEYS:
        keys = orjson.loads(rest)
        return kind, [(key, _value_rank(keys[key])) for key in sorted(keys)]
    if kind in (_VALUE, _INDEX) and rest:
        return ("v" if kind == _VALUE else "w"), _value_rank(orjson.loads(rest))
    return kind, rest


def _value_rank(value: Any) -> tuple[int, Any]:
    """value.Compare: numbers, then texts, truths, lists, maps and null."""
    if isinstance(value, bool):
        return 2, value
    if isinstance(value, int | float):
        return 0, value
    if isinstance(value, str):
        return 1, value
    if isinstance(value, list):
        return 3, [_value_rank(item) for item in value]
    if isinstance(value, dict):
        return 4, [(key, _value_rank(value[key])) for key in sorted(value)]
    return 5, None


def path_text(path: tuple[str, ...]) -> str:
    """A path as messages show it: `.spec.ports[port=80,protocol="TCP"].name`."""
    return "".join(map(_step_text, path))


def _step_text(step: str) -> str:
    kind, _, rest = step.partition(":")
    if kind == _KEYS:
        keys = orjson.loads(rest)
        return f"[{','.join(f'{key}={_shown(keys[key])}' for key in sorted(keys))}]"
    if kind == _VALUE:
        return f"[={_shown(orjson.loads(rest))}]"
    return f"[{rest}]" if kind == _INDEX else f".{rest}"


def _shown(value: Any) -> str:
    """A value as value.ToString has it: of a map its fields without anything between them."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return f"[{','.join(map(_shown, value))}]"
    if isinstance(value, dict):
        return "".join(f"{key}={_shown(value[key])}" for key in sorted(value))
    return shown_float(value) if isinstance(value, float) else orjson.dumps(value).decode()


def known(step: str) -> bool:
    return step[:1] in (_NAME, _KEYS, _VALUE, _INDEX)


def written(step: str) -> str:
    """A valid step of a known kind as it is written here."""
    kind, _, rest = step.partition(":")
    if kind == _INDEX:
        return f"i:{int(rest)}"
    if kind == _NAME:
        return step
    value = orjson.loads(rest)
    if kind == _VALUE:
        return value_step(_as_go_writes(value))
    return keys_step({key: _as_go_writes(value[key]) for key in sorted(value or {})})  # null is no keys at all


def _as_go_writes(value: Any) -> Any:
    """A value without the floats that are whole numbers, which Go writes as such."""
    if isinstance(value, dict):
        return {key: _as_go_writes(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_go_writes(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**63 else value


def valid_step(step: str) -> bool:
    """Steps of kinds that nobody knows yet are let be (DeserializePathElement)."""
    kind, colon, rest = step[:1], step[1:2], step[2:]
    if colon != ":":
        return False
    if kind not in (_KEYS, _VALUE, _INDEX):
        return True
    if kind == _INDEX:
        return _is_int64(rest)
    try:
        value = orjson.loads(rest)
    except orjson.JSONDecodeError:
        return False
    return value is None or isinstance(value, dict) if kind == _KEYS else True


def _is_int64(text: str) -> bool:
    try:
        parse_int(text)
    except ValueError:
        return False
    return True
