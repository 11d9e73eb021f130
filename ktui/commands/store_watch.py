"""`ktui store watch`: events of keys as they come (etcdctl/ctlv3/command watch_command.go).

With `-i` watches are typed (`store_watch_lines`); after `--` stands what is run for each event (`store_exec`).
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Annotated, Any, NamedTuple

import orjson
import typer

from ktui.commands.lifecycle import DEFAULT_NAME, Name
from ktui.commands.store_exec import command_of, run_for_each
from ktui.store import printers
from ktui.store.client import (
    BAD_ARGUMENTS,
    INTERRUPTED,
    PREFIX,
    EtcdctlError,
    Format,
    WriteOut,
    ask,
    no_table,
    print_lines,
    print_message,
    query_of,
    stream,
)
from ktui.store.keys import integer_flag, interval

_COMPACTED = "watch was canceled (etcdserver: mvcc: required revision has been compacted)"
_NO_RANGE = "watch was canceled (mvcc: watcher range is empty)"


class Shown(NamedTuple):
    """`command` is run for each event."""

    write_out: Format
    as_hex: bool
    command: Sequence[str] = ()


def watch(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY [RANGE_END]", show_default=False, help="As in /registry/pods/default/web."),
    ] = None,
    prefix: Annotated[bool, typer.Option("--prefix", help="All keys with this prefix.")] = False,
    rev: Annotated[int, integer_flag("rev", "From this revision on.")] = 0,
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
    """Print the events of a key or a range of keys as they come; after `--` stands a command to run for each."""
    no_table(write_out)
    shown = Shown(write_out, as_hex, command_of(context))
    if interactive:
        from ktui.commands.store_watch_lines import follow_lines

        ask(name, lambda client: follow_lines(client, shown))
        return
    if not words:
        raise EtcdctlError("bad number of arguments", BAD_ARGUMENTS)
    query = watch_query(words, prefix=prefix, rev=rev, prev_kv=prev_kv, progress=progress)

    async def work(client: Any) -> None:
        await follow(await opened(client, query), shown)

    ask(name, work)


def watch_query(words: list[str], *, prefix: bool, rev: int, prev_kv: bool, progress: bool) -> dict[str, list[str]]:
    """Raises EtcdctlError."""
    if prefix and len(words) > 1:
        raise EtcdctlError("`range_end` and `--prefix` are mutually exclusive", BAD_ARGUMENTS)
    start = max(rev, 1) if rev else 0  # what is before the first revision is compacted, or it is the first
    return query_of(
        **interval(words, prefix=prefix),
        base64="true",
        start_revision=start,
        prev_kv="true" if prev_kv else "",
        progress_notify="true" if progress else "",
    )


async def opened(client: Any, query: dict[str, list[str]]) -> AsyncIterator[bytes]:
    """Open a watch. Raises ApiError."""
    return await stream(client, f"{PREFIX}/watch", query)


async def follow(chunks: AsyncIterator[bytes], shown: Shown) -> None:
    """Print what comes until the server ends it. Raises EtcdctlError then."""
    async for response in _responses(chunks):
        if response["Canceled"]:
            print(_COMPACTED if response["CompactRevision"] else _NO_RANGE, file=sys.stderr)
        elif not response["Events"]:
            print(f"progress notify: {response['Header']['revision']}", flush=True)
        if shown.write_out == Format.PROTOBUF:
            print_message("WatchResponse", response)
        else:
            print_lines(_lines(response, shown))
        if shown.command:
            await run_for_each(shown.command, response)
    raise EtcdctlError("watch is canceled by the server", INTERRUPTED)


def _lines(response: dict[str, Any], shown: Shown) -> Iterable[str]:
    if shown.write_out == Format.JSON:
        return [printers.encoded(response)]
    if shown.write_out == Format.FIELDS:
        return printers.fields_events(response)
    return printers.simple_events(response, as_hex=shown.as_hex)


async def _responses(chunks: AsyncIterator[bytes]) -> AsyncIterator[dict[str, Any]]:
    rest = b""
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield orjson.loads(line)
