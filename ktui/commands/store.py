"""`ktui store get|watch|compact|defrag`: etcdctl's view of a cluster's store.

Words, flags, output and exit codes are etcdctl v3's; all of it asks the API server. Snapshots are `commands.snapshot`,
members, leases and alarms `commands.store_members`.
"""

from __future__ import annotations

import sys
from base64 import b64decode
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Annotated, Any, NamedTuple

import orjson
import typer

from ktui import store_printers as printers
from ktui.commands.lifecycle import DEFAULT_NAME, Name
from ktui.commands.snapshot import snapshot
from ktui.commands.store_members import alarm, endpoint, lease, member, status
from ktui.store_client import (
    BAD_ARGUMENTS,
    BAD_FEATURE,
    INTERRUPTED,
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

PAGE = 500  # keys that are asked for at once

store = typer.Typer(no_args_is_help=True, help="Look into a cluster's store with etcdctl's words.")
store.add_typer(snapshot, name="snapshot")
store.add_typer(endpoint, name="endpoint")
store.add_typer(member, name="member")
store.add_typer(lease, name="lease")
store.add_typer(alarm, name="alarm")
store.command("status")(status)

Prefix = Annotated[bool, typer.Option("--prefix", help="All keys with this prefix.")]
Hex = Annotated[bool, typer.Option("--hex", help="Print keys and values byte by byte, in hexadecimal.")]


def declare(app: typer.Typer) -> None:
    app.add_typer(store, name="store")


# -- reading


KeyAndEnd = Annotated[
    list[str] | None,
    typer.Argument(metavar="KEY [RANGE_END]", show_default=False, help="As in /registry/pods/default/web."),
]


@store.command("get")
def get(
    words: KeyAndEnd = None,
    prefix: Prefix = False,
    from_key: Annotated[bool, typer.Option("--from-key", help="All keys from this one on.")] = False,
    limit: Annotated[int, typer.Option(help="At most so many results.")] = 0,
    rev: Annotated[int, typer.Option(help="As of this revision.")] = 0,
    keys_only: Annotated[bool, typer.Option("--keys-only", help="Only the keys.")] = False,
    count_only: Annotated[bool, typer.Option("--count-only", help="Only the count.")] = False,
    sort_by: Annotated[str, typer.Option(help="CREATE, KEY, MODIFY, VALUE or VERSION.")] = "",
    order: Annotated[str, typer.Option(help="ASCEND or DESCEND.")] = "",
    consistency: Annotated[str, typer.Option(help="l or s; the API server reads its own store either way.")] = "l",
    print_value_only: Annotated[bool, typer.Option("--print-value-only", help="Only the values.")] = False,
    min_create_rev: Annotated[int, typer.Option(help="Only keys made at this revision or later.")] = 0,
    max_create_rev: Annotated[int, typer.Option(help="Only keys made at this revision or before.")] = 0,
    min_mod_rev: Annotated[int, typer.Option(help="Only keys changed at this revision or later.")] = 0,
    max_mod_rev: Annotated[int, typer.Option(help="Only keys changed at this revision or before.")] = 0,
    as_hex: Hex = False,
    write_out: WriteOut = Format.SIMPLE,
    name: Name = DEFAULT_NAME,
) -> None:
    """Print a key or a range of keys."""
    if not words:
        message = "get command needs one argument as key and an optional argument as range_end"
        raise EtcdctlError(message, BAD_ARGUMENTS)
    if keys_only and count_only:
        message = "`--keys-only` and `--count-only` cannot be set at the same time, choose one"
        raise EtcdctlError(message, BAD_ARGUMENTS)
    if consistency not in ("l", "s"):
        raise EtcdctlError(f'unknown consistency flag "{consistency}"', BAD_FEATURE)
    query = {
        **interval(words, prefix=prefix, from_key=from_key),
        "keys_only": _flag(keys_only),
        "count_only": _flag(count_only),
        **_sorting(sort_by.upper(), order.upper()),
    }
    _check_output(write_out, count_only=count_only, print_value_only=print_value_only)
    within = (
        _Within("create_revision", min_create_rev, max_create_rev),
        _Within("mod_revision", min_mod_rev, max_mod_rev),
    )
    response = ask(name, lambda client: _chosen(client, query, within, limit=max(limit, 0), revision=max(rev, 0)))
    if write_out == Format.JSON:
        print_lines([printers.encoded(response)])
    elif write_out == Format.FIELDS:
        print_lines(printers.fields_range(response))
    else:
        for kv in response.get("kvs", ()):
            print_lines(printers.simple_kv(kv, value_only=print_value_only, as_hex=as_hex))


class _Within(NamedTuple):
    """Bounds of one of a key-value's revisions; 0 is none."""

    field: str
    least: int
    most: int

    def __contains__(self, kv: object) -> bool:
        revision: int = kv.get(self.field, 0) if isinstance(kv, dict) else 0
        return self.least <= revision and (not self.most or revision <= self.most)


async def _chosen(
    client: Any, query: dict[str, str], within: Sequence[_Within], *, limit: int, revision: int
) -> dict[str, Any]:
    """A range, of those key-values that are within the bounds; as in etcd the count is that of all of them."""
    bounded = [bounds for bounds in within if bounds.least > 0 or bounds.most > 0]
    if not bounded or query["count_only"]:
        return await _range(client, query, limit=limit, revision=revision)
    found = await _range(client, query, limit=0, revision=revision)
    kvs = [kv for kv in found.pop("kvs", ()) if all(kv in bounds for bounds in bounded)]
    found.pop("more", None)
    shown = kvs[:limit] if limit else kvs
    chosen = {"header": found.pop("header")}
    if shown:
        chosen["kvs"] = shown
    if len(shown) < len(kvs):
        chosen["more"] = True
    return {**chosen, **found}


def _sorting(target: str, order: str) -> dict[str, str]:
    if order not in ("", "ASCEND", "DESCEND"):
        raise EtcdctlError(f"bad sort order {order}", BAD_FEATURE)
    if target not in ("", "CREATE", "KEY", "MODIFY", "VALUE", "VERSION"):
        raise EtcdctlError(f"bad sort target {target}", BAD_FEATURE)
    return {"sort_target": target, "sort_order": order}


def _check_output(write_out: Format, *, count_only: bool, print_value_only: bool) -> None:
    if count_only and write_out != Format.FIELDS:
        raise EtcdctlError("--count-only is only for `--write-out=fields`", BAD_ARGUMENTS)
    if print_value_only and write_out != Format.SIMPLE:
        raise EtcdctlError("print-value-only is only for `--write-out=simple`", BAD_ARGUMENTS)
    no_table(write_out)


def interval(words: list[str], *, prefix: bool, from_key: bool = False) -> dict[str, str]:
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
    words: KeyAndEnd = None,
    prefix: Prefix = False,
    rev: Annotated[int, typer.Option(help="From this revision on.")] = 0,
    prev_kv: Annotated[bool, typer.Option("--prev-kv", help="Also what was there before each event.")] = False,
    progress: Annotated[
        bool, typer.Option("--progress-notify", help="Also how far the watch is, every ten minutes.")
    ] = False,
    as_hex: Hex = False,
    write_out: WriteOut = Format.SIMPLE,
    name: Name = DEFAULT_NAME,
) -> None:
    """Print the events of a key or a range of keys as they come."""
    if not words:
        raise EtcdctlError("bad number of arguments", BAD_ARGUMENTS)
    if prefix and len(words) > 1:
        raise EtcdctlError("`range_end` and `--prefix` are mutually exclusive", BAD_ARGUMENTS)
    no_table(write_out)
    start = max(rev, 1) if rev else 0  # what is before the first revision is compacted, or it is the first
    query = query_of(
        **interval(words, prefix=prefix),
        start_revision=start,
        prev_kv=_flag(prev_kv),
        progress_notify=_flag(progress),
    )

    async def follow(client: Any) -> None:
        async for response in _lines(client, query):
            if response["Canceled"]:
                message = "watch was canceled (etcdserver: mvcc: required revision has been compacted)"
                print(message, file=sys.stderr)
            elif not response["Events"]:
                print(f"progress notify: {response['Header']['revision']}", flush=True)
            print_lines(_shown_events(response, write_out, as_hex=as_hex))
        raise EtcdctlError("watch is canceled by the server", INTERRUPTED)

    ask(name, follow)


def _shown_events(response: dict[str, Any], write_out: Format, *, as_hex: bool) -> Iterable[str]:
    if write_out == Format.JSON:
        return [printers.encoded(response)]
    if write_out == Format.FIELDS:
        return printers.fields_events(response)
    return printers.simple_events(response, as_hex=as_hex)


async def _lines(client: Any, query: dict[str, list[str]]) -> AsyncIterator[dict[str, Any]]:
    rest = b""
    async for chunk in await stream(client, f"{PREFIX}/watch", query):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield orjson.loads(line)


# -- upkeep


@store.command("compact")
@store.command("compaction", hidden=True)
def compact(
    words: Annotated[list[str] | None, typer.Argument(metavar="REVISION", show_default=False)] = None,
    physical: Annotated[bool, typer.Option("--physical", help="Wait until the space is free.")] = False,
    name: Name = DEFAULT_NAME,
) -> None:
    """Let go of the history before a revision."""
    if words is None or len(words) != 1:
        raise EtcdctlError("compaction command needs 1 argument", BAD_ARGUMENTS)
    try:
        revision = int(words[0])
    except ValueError:
        raise EtcdctlError(f'strconv.ParseInt: parsing "{words[0]}": invalid syntax') from None
    body = {"revision": revision, "physical": physical}
    ask(name, lambda client: client.request("POST", f"{PREFIX}/compact", body=body))
    print(f"compacted revision {revision}")


@store.command("defrag")
def defrag(name: Name = DEFAULT_NAME) -> None:
    """Give the space of what was compacted back to the file system."""

    async def work(client: Any) -> Any:
        await client.request("POST", f"{PREFIX}/defrag")
        return await client.request("GET", f"{PREFIX}/endpoints")

    for found in ask(name, work):
        print(f"Finished defragmenting etcd member[{found['Endpoint']}]")


def _flag(value: bool) -> str:
    return "true" if value else ""
