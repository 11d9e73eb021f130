"""The interval of keys that etcdctl's words and flags stand for (etcdctl ctlv3/command get_command.go)."""

from __future__ import annotations

from collections.abc import Sequence

from ktui.store_client import BAD_ARGUMENTS, BAD_FEATURE, EtcdctlError

_INT64 = 1 << 63


def interval(words: Sequence[str], *, prefix: bool, from_key: bool = False) -> dict[str, str]:
    """The interval that key, range end and flags stand for. Raises EtcdctlError."""
    if prefix and from_key:
        message = "`--prefix` and `--from-key` cannot be set at the same time, choose one"
        raise EtcdctlError(message, BAD_ARGUMENTS)
    if len(words) > 1 and (prefix or from_key):
        message = "too many arguments, only accept one argument when `--prefix` or `--from-key` is set"
        raise EtcdctlError(message, BAD_ARGUMENTS)
    key, range_end = (*words, "")[:2]
    if from_key:
        return {"key": key or "\0", "range_end": "\0"}
    if prefix:
        return {"key": key or "\0", "range_end": _prefix_end(key)}
    return {"key": key, "range_end": range_end}


def _prefix_end(prefix: str) -> str:
    """The first key after all that begin with the prefix; keys here are text, so its last character goes up by one."""
    for index in range(len(prefix) - 1, -1, -1):
        code = ord(prefix[index])
        if code < 0x10FFFF:
            following = 0xE000 if code == 0xD7FF else code + 1  # surrogates are no text
            return prefix[:index] + chr(following)
    return "\0"


def sorting(target: str, order: str) -> dict[str, str]:
    """Raises EtcdctlError."""
    if order.upper() not in ("", "ASCEND", "DESCEND"):
        raise EtcdctlError(f"bad sort order {order}", BAD_FEATURE)
    if target.upper() not in ("", "CREATE", "KEY", "MODIFY", "VALUE", "VERSION"):
        raise EtcdctlError(f"bad sort target {target}", BAD_FEATURE)
    return {"sort_target": target.upper(), "sort_order": order.upper()}


def lease_id(text: str, *, what: str) -> int:
    """A lease's id, which etcdctl reads and writes in hexadecimal. Raises EtcdctlError."""
    try:
        found = int(text, 16)
    except ValueError:
        problem = "invalid syntax"
    else:
        if 0 <= found < _INT64:
            return found
        problem = "value out of range"
    raise EtcdctlError(
        f'bad {what} (strconv.ParseInt: parsing "{text}": {problem}), expecting ID in Hex', BAD_ARGUMENTS
    )
