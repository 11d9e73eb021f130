"""The interval of keys that etcdctl's words and flags stand for (etcdctl ctlv3/command get_command.go)."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import typer

from engine.api.golang.integer import parse_int, parse_uint
from ktui.store.client import BAD_ARGUMENTS, BAD_FEATURE, EtcdctlError


def integer_flag(name: str, help: str, *, signed: bool = True) -> Any:
    """A flag whose value is an integer, and is refused in pflag's words where it is none."""
    read = parse_int if signed else parse_uint

    def parse(text: str | int) -> int:  # the default is a number
        try:
            return read(str(text), base=0)  # as pflag reads all its integers
        except ValueError as error:
            raise EtcdctlError(f'invalid argument "{text}" for "--{name}" flag: {error}') from None

    return typer.Option(parser=parse, metavar="INTEGER", help=help)


def interval(words: Sequence[str], *, prefix: bool, from_key: bool = False) -> dict[str, str]:
    """The interval that key, range end and flags stand for, in base64: keys need not be text. Raises EtcdctlError."""
    if prefix and from_key:
        message = "`--prefix` and `--from-key` cannot be set at the same time, choose one"
        raise EtcdctlError(message, BAD_ARGUMENTS)
    if len(words) > 1 and (prefix or from_key):
        message = "too many arguments, only accept one argument when `--prefix` or `--from-key` is set"
        raise EtcdctlError(message, BAD_ARGUMENTS)
    key, range_end = (os.fsencode(word) for word in (*words, "")[:2])
    if from_key:
        key, range_end = key or b"\0", b"\0"
    elif prefix:
        key, range_end = key or b"\0", _prefix_end(key)
    return {"key": base64_of(key), "range_end": base64_of(range_end)}


def base64_of(key: bytes) -> str:
    return b64encode(key).decode()


def _prefix_end(prefix: bytes) -> bytes:
    """The first key after all that begin with the prefix (clientv3 getPrefix)."""
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else b"\0"


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
