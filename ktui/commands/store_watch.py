"""`ktui store watch`: events of keys as they come, and with `-i` of those that are typed (etcdctl/ctlv3/command
watch_command.go)."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterable
from typing import Annotated, Any, NamedTuple

import orjson
import typer

from engine.tasks import Supervisor
from ktui import store_printers as printers
from ktui.commands.lifecycle import DEFAULT_NAME, Name
from ktui.etcdctl_line import FlagError, Parsed, parse, words_of
from ktui.store_client import (
    BAD_ARGUMENTS,
    INTERRUPTED,
    INVALID_INPUT,
    PREFIX,
    EtcdctlError,
    Format,
    WriteOut,
    ask,
    no_table,
    print_lines,
    query_of,
    stream,
)
from ktui.store_keys import interval

_FLAGS = {"prefix": False, "rev": True, "prev-kv": False, "progress-notify": False, "interactive": False}
_COMPACTED = "watch was canceled (etcdserver: mvcc: required revision has been compacted)"


class _Shown(NamedTuple):
    write_out: Format
    as_hex: bool


def watch(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY [RANGE_END]", show_default=False, help="As in /registry/pods/default/web."),
    ] = None,
    prefix: Annotated[bool, typer.Option("--prefix", help="All keys with this prefix.")] = False,
    rev: Annotated[int, typer.Option(help="From this revision on.")] = 0,
    prev_kv: Annotated[bool, typer.Option("--prev-kv", help="Also what was there before each event.")] = False,
    progress: Annotated[
        bool, typer.Option("--progress-notify", help="Also how far the watch is, every ten minutes.")
    ] = False,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Read lines such as `watch KEY --prefix` from stdin.")
    ] = False,
    as_hex: Annotated[bool, typer.Option("--hex", help="Print keys and values byte by byte, in hexadecimal.")] = False,
    write_out: WriteOut = Format.SIMPLE,
    name: Name = DEFAULT_NAME,
) -> None:
    """Print the events of a key or a range of keys as they come."""
    no_table(write_out)
    shown = _Shown(write_out, as_hex)
    if interactive:
        ask(name, lambda client: _follow_lines(client, shown))
        return
    if not words:
        raise EtcdctlError("bad number of arguments", BAD_ARGUMENTS)
    query = _query(words, prefix=prefix, rev=rev, prev_kv=prev_kv, progress=progress)
    ask(name, lambda client: _follow(client, query, shown))


def _query(words: list[str], *, prefix: bool, rev: int, prev_kv: bool, progress: bool) -> dict[str, list[str]]:
    """Raises EtcdctlError."""
    if prefix and len(words) > 1:
        raise EtcdctlError("`range_end` and `--prefix` are mutually exclusive", BAD_ARGUMENTS)
    start = max(rev, 1) if rev else 0  # what is before the first revision is compacted, or it is the first
    return query_of(
        **interval(words, prefix=prefix),
        start_revision=start,
        prev_kv="true" if prev_kv else "",
        progress_notify="true" if progress else "",
    )


async def _follow(client: Any, query: dict[str, list[str]], shown: _Shown) -> None:
    async for response in _responses(client, query):
        if response["Canceled"]:
            print(_COMPACTED, file=sys.stderr)
        elif not response["Events"]:
            print(f"progress notify: {response['Header']['revision']}", flush=True)
        print_lines(_lines(response, shown))
    raise EtcdctlError("watch is canceled by the server", INTERRUPTED)


def _lines(response: dict[str, Any], shown: _Shown) -> Iterable[str]:
    if shown.write_out == Format.JSON:
        return [printers.encoded(response)]
    if shown.write_out == Format.FIELDS:
        return printers.fields_events(response)
    return printers.simple_events(response, as_hex=shown.as_hex)


async def _responses(client: Any, query: dict[str, list[str]]) -> AsyncIterator[dict[str, Any]]:
    rest = b""
    async for chunk in await stream(client, f"{PREFIX}/watch", query):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield orjson.loads(line)


# -- what is typed


async def _follow_lines(client: Any, shown: _Shown) -> None:
    """Open a watch for each line until the input ends. Raises EtcdctlError."""
    loop = asyncio.get_running_loop()
    watches = Supervisor("watches")
    try:
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            query = _typed(line.removesuffix("\n"))
            if query is not None:
                watches.spawn(_follow_quietly(client, query, shown), line)
    finally:
        await watches.close()
    raise EtcdctlError("Error reading watch request line: EOF", INVALID_INPUT)


async def _follow_quietly(client: Any, query: dict[str, list[str]], shown: _Shown) -> None:
    """One watch of several: its end is told and is not the others'."""
    try:
        await _follow(client, query, shown)
    except EtcdctlError as error:
        print(error, file=sys.stderr)


def _typed(line: str) -> dict[str, list[str]] | None:
    """What a line asks for; None, once that is told, for one that asks for nothing. Raises EtcdctlError."""
    words = words_of(line)
    if not words:
        problem = f"Invalid command: {line} (watch and progress supported)"
    elif words[0] != "watch":
        problem = f"Invalid command {line} (only support watch)"
    elif len(words) < 2:
        problem = f"Invalid command {line} (command type or key is not provided)"
    else:
        try:
            return _query_of_line(parse(words[1:], _FLAGS))
        except FlagError as error:
            raise EtcdctlError(str(error), BAD_ARGUMENTS) from None
    print(problem, file=sys.stderr)
    return None


def _query_of_line(parsed: Parsed) -> dict[str, list[str]]:
    return _query(
        parsed.words,
        prefix=parsed.is_set("prefix"),
        rev=parsed.number("rev"),
        prev_kv=parsed.is_set("prev-kv"),
        progress=parsed.is_set("progress-notify"),
    )
