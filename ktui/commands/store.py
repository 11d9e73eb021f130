"""`ktui store get|watch|compact|status|defrag`: etcdctl's view of a cluster's store.

Words, flags and output are etcdctl v3's; all of it asks the API server. Snapshots are `commands.snapshot`.
"""

from __future__ import annotations

import sys
from base64 import b64decode
from collections.abc import AsyncIterator
from typing import Annotated, Any

import orjson
import typer

from ktui import store_printers as printers
from ktui.commands import UsageError
from ktui.commands.lifecycle import DEFAULT_NAME, Name
from ktui.commands.snapshot import snapshot
from ktui.store_client import PREFIX, Format, WriteOut, ask, print_lines, query_of, stream

PAGE = 500  # keys that are asked for at once

store = typer.Typer(no_args_is_help=True, help="Look into a cluster's store with etcdctl's words.")
store.add_typer(snapshot, name="snapshot")


Prefix = Annotated[bool, typer.Option("--prefix", help="All keys with this prefix.")]


def declare(app: typer.Typer) -> None:
    app.add_typer(store, name="store")


# -- reading


@store.command("get")
def get(
    key: Annotated[str, typer.Argument(metavar="KEY", help="A key, as in /registry/pods/default/web.")],
    range_end: Annotated[str, typer.Argument(metavar="[RANGE_END]", show_default=False)] = "",
    prefix: Prefix = False,
    from_key: Annotated[bool, typer.Option("--from-key", help="All keys from this one on.")] = False,
    limit: Annotated[int, typer.Option(min=0, help="At most so many results.")] = 0,
    rev: Annotated[int, typer.Option(min=0, help="As of this revision.")] = 0,
    keys_only: Annotated[bool, typer.Option("--keys-only", help="Only the keys.")] = False,
    count_only: Annotated[bool, typer.Option("--count-only", help="Only the count.")] = False,
    sort_by: Annotated[str, typer.Option(help="CREATE, KEY, MODIFY, VALUE or VERSION.")] = "",
    order: Annotated[str, typer.Option(help="ASCEND or DESCEND.")] = "",
    print_value_only: Annotated[bool, typer.Option("--print-value-only", help="Only the values.")] = False,
    write_out: WriteOut = Format.SIMPLE,
    name: Name = DEFAULT_NAME,
) -> None:
    """Print a key or a range of keys."""
    if keys_only and count_only:
        raise UsageError("`--keys-only` and `--count-only` cannot be set at the same time, choose one")
    if count_only and write_out not in (Format.FIELDS, Format.JSON):
        raise UsageError("--count-only is only for `--write-out=fields`")
    if print_value_only and write_out != Format.SIMPLE:
        raise UsageError("print-value-only is only for `--write-out=simple`")
    if write_out == Format.TABLE:
        raise UsageError("table is not supported as output format of this command")
    query = {
        **interval(key, range_end, prefix=prefix, from_key=from_key),
        "keys_only": _flag(keys_only),
        "count_only": _flag(count_only),
        "sort_target": sort_by,
        "sort_order": order,
    }
    response = ask(name, lambda client: _range(client, query, limit=limit, revision=rev))
    if write_out == Format.JSON:
        print_lines([printers.encoded(response)])
    elif write_out == Format.FIELDS:
        print_lines(printers.fields_range(response))
    else:
        for kv in response.get("kvs", ()):
            print_lines(printers.simple_kv(kv, value_only=print_value_only))


def interval(key: str, range_end: str, *, prefix: bool, from_key: bool = False) -> dict[str, str]:
    """The interval that key, range end and flags stand for. Raises UsageError."""
    if prefix and from_key:
        raise UsageError("`--prefix` and `--from-key` cannot be set at the same time, choose one")
    if range_end and (prefix or from_key):
        raise UsageError("too many arguments, only accept one argument when `--prefix` or `--from-key` is set")
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


async def _range(client: Any, query: dict[str, str], *, limit: int, revision: int) -> dict[str, Any]:
    """One range, asked for in pages of one revision where its order allows, so that a long one holds nobody up."""
    paged = not query["sort_target"] and not query["sort_order"] and not query["count_only"] and query["range_end"]
    first: dict[str, Any] = {}
    kvs: list[dict[str, Any]] = []
    start = query["key"]
    while True:
        left = limit - len(kvs) if limit else 0
        size = min(left or PAGE, PAGE) if paged else limit
        page = await client.request(
            "GET", f"{PREFIX}/range", query=query_of(**{**query, "key": start}, limit=size, revision=revision)
        )
        first = first or page
        kvs += page.get("kvs", ())
        if not paged or not page.get("more") or (limit and len(kvs) >= limit):
            break
        revision = revision or page["header"]["revision"]
        start = b64decode(kvs[-1]["key"]).decode() + "\0"
    found = {name: value for name, value in first.items() if name == "header"}
    if kvs:
        found["kvs"] = kvs
    if page.get("more"):
        found["more"] = True
    if first.get("count"):
        found["count"] = first["count"]
    return found


@store.command("watch")
def watch(
    key: Annotated[str, typer.Argument(metavar="KEY")],
    range_end: Annotated[str, typer.Argument(metavar="[RANGE_END]", show_default=False)] = "",
    prefix: Prefix = False,
    rev: Annotated[int, typer.Option(min=0, help="From this revision on.")] = 0,
    prev_kv: Annotated[bool, typer.Option("--prev-kv", help="Also what was there before each event.")] = False,
    write_out: WriteOut = Format.SIMPLE,
    name: Name = DEFAULT_NAME,
) -> None:
    """Print the events of a key or a range of keys as they come."""
    query = query_of(**interval(key, range_end, prefix=prefix), start_revision=rev, prev_kv=_flag(prev_kv))

    async def follow(client: Any) -> None:
        async for response in _lines(client, query):
            if response["CompactRevision"]:
                print(
                    "watch was canceled (etcdserver: mvcc: required revision has been compacted)",
                    file=sys.stderr,
                )
                raise UsageError("watch is canceled by the server")
            if write_out == Format.JSON:
                print_lines([printers.encoded(response)])
            elif write_out == Format.FIELDS:
                print_lines(printers.fields_events(response))
            else:
                print_lines(printers.simple_events(response))

    ask(name, follow)


async def _lines(client: Any, query: dict[str, list[str]]) -> AsyncIterator[dict[str, Any]]:
    rest = b""
    async for chunk in await stream(client, f"{PREFIX}/watch", query):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield orjson.loads(line)


@store.command("status")
def status(write_out: WriteOut = Format.SIMPLE, name: Name = DEFAULT_NAME) -> None:
    """Print the store's members: version, size, leader, term and index."""
    endpoints = ask(name, lambda client: client.request("GET", f"{PREFIX}/endpoints"))
    match write_out:
        case Format.JSON:
            print_lines([printers.encoded(endpoints)])
        case Format.FIELDS:
            for endpoint in endpoints:
                print_lines(printers.fields_endpoint(endpoint))
        case Format.TABLE:
            print_lines(
                printers.table(printers.ENDPOINT_HEADERS, [printers.endpoint_row(found) for found in endpoints])
            )
        case _:
            print_lines(", ".join(printers.endpoint_row(endpoint)) for endpoint in endpoints)


# -- upkeep


@store.command("compact")
def compact(
    revision: Annotated[int, typer.Argument(metavar="REVISION")],
    name: Name = DEFAULT_NAME,
) -> None:
    """Let go of the history before a revision."""
    ask(name, lambda client: client.request("POST", f"{PREFIX}/compact", body={"revision": revision}))
    print(f"compacted revision {revision}")


@store.command("defrag")
def defrag(name: Name = DEFAULT_NAME) -> None:
    """Give the space of what was compacted back to the file system."""

    async def work(client: Any) -> Any:
        await client.request("POST", f"{PREFIX}/defrag")
        return await client.request("GET", f"{PREFIX}/endpoints")

    for endpoint in ask(name, work):
        print(f"Finished defragmenting etcd member[{endpoint['Endpoint']}]")


def _flag(value: bool) -> str:
    return "true" if value else ""
