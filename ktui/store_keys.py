"""The interval of keys that etcdctl's words and flags stand for (etcdctl ctlv3/command get_command.go)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

from engine.api.go_integer import parse_int
from ktui.store_client import BAD_ARGUMENTS, BAD_FEATURE, EtcdctlError


def integer_flag(name: str, help: str) -> Any:
    """A flag whose value is an integer, and is refused in pflag's words where it is none."""

    def parse(text: str | int) -> int:  # the default is a number
        try:
            return parse_int(str(text))
        except ValueError as error:
            raise EtcdctlError(f'invalid argument "{text}" for "--{name}" flag: {error}') from None

    return typer.Option(parser=parse, metavar="INTEGER", help=help)


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


def check_consistency(word: str) -> None:
    """Linearizable or serializable: the API server reads its own store either way. Raises EtcdctlError."""
    if word not in ("l", "s"):
        raise EtcdctlError(f'unknown consistency flag "{word}"', BAD_FEATURE)


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
        return parse_int(text, base=16)
    except ValueError as error:
        raise EtcdctlError(f"bad {what} ({error}), expecting ID in Hex", BAD_ARGUMENTS) from None
