"""`ktui store txn`: compares, and what is to be done if they hold or not, read line by line (etcdctl/ctlv3/command
txn_command.go). With `-i` it asks for them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import Annotated, Any, TypeVar

import typer

from engine.api.golang.integer import parse_int
from ktui.commands.lifecycle import DEFAULT_NAME, Name
from ktui.commands.store_put import NO_VALUE, delete_request, encoded, put_request, send
from ktui.store import printers
from ktui.store.client import BAD_ARGUMENTS, INVALID_INPUT, EtcdctlError, Format, WriteOut, ask, no_table, show
from ktui.store.command_line import QUOTED, FlagError, Parsed, SyntaxFault, parse, unquoted, words_of
from ktui.store.keys import check_consistency, interval, sorting

Json = dict[str, Any]
T = TypeVar("T")

_RESULTS = {"=": "EQUAL", "!=": "NOT_EQUAL", ">": "GREATER", "<": "LESS"}
# etcdctl's words for a target, and the field of a compare that has its value.
_TARGETS = {
    "ver": ("VERSION", "version"),
    "version": ("VERSION", "version"),
    "c": ("CREATE", "create_revision"),
    "create": ("CREATE", "create_revision"),
    "m": ("MOD", "mod_revision"),
    "mod": ("MOD", "mod_revision"),
    "val": ("VALUE", "value"),
    "value": ("VALUE", "value"),
    "lease": ("LEASE", "lease"),
}
_COMPARE = re.compile(
    rf"\s*(?P<key>{QUOTED.pattern})(?:\)\s+(?P<op>\S+)(?:\s+(?P<value>{QUOTED.pattern}))?)?"
)  # Go's "%q) %s %q", as far as it goes

# The flags of each request, and whether they take a value.
_PUT = {"lease": True, "prev-kv": False, "ignore-value": False, "ignore-lease": False}
_DELETE = {"prefix": False, "from-key": False, "prev-kv": False}
_GET = {
    "consistency": True,
    "from-key": False,
    "keys-only": False,
    "limit": True,
    "order": True,
    "prefix": False,
    "print-value-only": False,
    "rev": True,
    "sort-by": True,
}


def txn(
    words: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    interactive: Annotated[bool, typer.Option("--interactive", "-i", help="Ask for what is to be typed.")] = False,
    write_out: WriteOut = Format.SIMPLE,
    name: Name = DEFAULT_NAME,
) -> None:
    """Read compares, requests for success and requests for failure from stdin, an empty line after each; run them."""
    if words:
        raise EtcdctlError("txn command does not accept argument", BAD_ARGUMENTS)
    no_table(write_out)
    request = {
        "compare": list(_read("compares:", compare_of, interactive)),
        "success": list(_read("success requests (get, put, del):", request_of, interactive)),
        "failure": list(_read("failure requests (get, put, del):", request_of, interactive)),
    }
    found = ask(name, lambda client: send(client, request))
    show(found, write_out, simple=printers.simple_txn, fields=printers.fields_txn, protobuf="TxnResponse")


def _read(prompt: str, parsed: Callable[[str], T], interactive: bool) -> Iterator[T]:
    """What the lines up to an empty one say. Raises EtcdctlError."""
    if interactive:
        print(prompt, flush=True)
    while True:
        line = os.fsdecode(sys.stdin.buffer.readline())
        if not line.endswith("\n"):
            raise EtcdctlError("EOF", INVALID_INPUT)
        if not (line := line.strip()):
            return
        yield parsed(line)


# -- compares


def compare_of(line: str) -> Json:
    """An etcd Compare, of a line such as `mod("/registry/pods/default/web") > "5"`. Raises EtcdctlError."""
    name, opened, rest = line.partition("(")
    if not opened:
        raise EtcdctlError(f"malformed comparison: {line}", INVALID_INPUT)
    key, op, text = _scanned(rest)
    if key is None or op is None or text is None:
        got = f"{name}({_quoted(key or '')}) {op or ''} {_quoted('')}"
        raise EtcdctlError(f"malformed comparison: {line}; got {got}", INVALID_INPUT)
    if name not in _TARGETS:
        raise EtcdctlError(f"malformed comparison: {line} (unknown target {name})", INVALID_INPUT)
    if op not in _RESULTS:
        raise EtcdctlError(f"malformed comparison: {line} (unknown result op {op})", INVALID_INPUT)
    target, field = _TARGETS[name]
    compared = encoded(text) if field == "value" else _integer(text, line, base=16 if field == "lease" else 10)
    return {"key": encoded(key), "target": target, "result": _RESULTS[op], field: compared}


def _scanned(text: str) -> tuple[str | None, str | None, str | None]:
    """Key, operator and value; None from the first on that is not as it must be."""
    found = _COMPARE.match(text)
    if found is None:
        return None, None, None
    try:
        key = _content(found["key"])
    except SyntaxFault:
        return None, None, None
    try:
        return key, found["op"], _content(found["value"]) if found["value"] is not None else None
    except SyntaxFault:
        return key, found["op"], None


def _content(literal: str) -> str:
    """The text of a Go string literal. Raises SyntaxFault."""
    return literal[1:-1] if literal.startswith("`") else unquoted(literal[1:-1])


def _quoted(text: str) -> str:
    return printers.go_quoted(text.encode(errors="surrogateescape"))


def _integer(text: str, line: str, *, base: int) -> int:
    """As strconv.ParseInt has it; a lease is written in hexadecimal. Raises EtcdctlError."""
    try:
        return parse_int(text, base=base)
    except ValueError:
        raise EtcdctlError(f"invalid txn compare request: {line}", INVALID_INPUT) from None


# -- requests


def request_of(line: str) -> Json:
    """An etcd RequestOp, of a line such as `put /key value`. Raises EtcdctlError."""
    try:
        words = words_of(line)
    except SyntaxFault as error:
        raise EtcdctlError(str(error), INVALID_INPUT) from None
    if len(words) < 2:
        raise EtcdctlError(f"invalid txn compare request: {line}", INVALID_INPUT)
    if words[0] not in _REQUESTS:
        raise EtcdctlError(f"invalid txn request: {line}", INVALID_INPUT)
    flags, make = _REQUESTS[words[0]]
    try:
        return make(parse(words[1:], flags))
    except FlagError:
        raise EtcdctlError(f"invalid txn request: {line}", INVALID_INPUT) from None


def _put(parsed: Parsed) -> Json:
    if len(parsed.words) == 1 and not parsed.is_set("ignore-value"):
        raise EtcdctlError(NO_VALUE, BAD_ARGUMENTS)  # what is left of stdin is the transaction's
    made = put_request(
        parsed.words,
        lease=parsed.text("lease") or "0",
        prev_kv=parsed.is_set("prev-kv"),
        ignore_value=parsed.is_set("ignore-value"),
        ignore_lease=parsed.is_set("ignore-lease"),
    )
    return {"request_put": made}


def _delete(parsed: Parsed) -> Json:
    made = delete_request(
        parsed.words,
        prefix=parsed.is_set("prefix"),
        from_key=parsed.is_set("from-key"),
        prev_kv=parsed.is_set("prev-kv"),
    )
    return {"request_delete_range": made}


def _get(parsed: Parsed) -> Json:
    if not parsed.words:
        message = "get command needs one argument as key and an optional argument as range_end"
        raise EtcdctlError(message, BAD_ARGUMENTS)
    check_consistency(parsed.text("consistency") or "l")
    keys = interval(parsed.words, prefix=parsed.is_set("prefix"), from_key=parsed.is_set("from-key"))
    found: Json = {**keys}
    found |= sorting(parsed.text("sort-by"), parsed.text("order"))
    found |= {
        "limit": parsed.number("limit"),
        "revision": parsed.number("rev"),
        "keys_only": parsed.is_set("keys-only"),
    }
    return {"request_range": found}


_REQUESTS: dict[str, tuple[dict[str, bool], Callable[[Parsed], Json]]] = {
    "put": (_PUT, _put),
    "get": (_GET, _get),
    "del": (_DELETE, _delete),
}
