"""`ktui store get|compact|defrag`, and where all of `ktui store` comes together: etcdctl's view of a cluster's store.

Words, flags, output and exit codes are etcdctl v3's; all of it asks the API server. `store_watch`, `store_put`,
`store_txn`, `store_leases`, `snapshot`, `store_members` and `store_faults` beside this file have the other words.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from itertools import chain
from typing import Annotated, Any, NamedTuple

import typer

from engine.api.golang.integer import parse_int
from ktui.commands import store_faults
from ktui.commands.lifecycle import DEFAULT_NAME, Name
from ktui.commands.snapshot import snapshot
from ktui.commands.store_exec import CommandAfterDashes
from ktui.commands.store_leases import lease
from ktui.commands.store_members import alarm, endpoint, member, move_leader, status
from ktui.commands.store_put import delete, put
from ktui.commands.store_txn import txn
from ktui.commands.store_watch import watch
from ktui.commands.store_words import EtcdctlGroup
from ktui.store import printers
from ktui.store.client import (
    BAD_ARGUMENTS,
    PREFIX,
    Cluster,
    EtcdctlError,
    Format,
    Words,
    WriteOut,
    ask,
    no_table,
    query_of,
    show,
)
from ktui.store.keys import base64_of, check_consistency, integer_flag, interval, sorting

PAGE = 500  # keys that are asked for at once

store = typer.Typer(cls=EtcdctlGroup, no_args_is_help=True, help="Look into a cluster's store with etcdctl's words.")
store.add_typer(snapshot, name="snapshot")
store.add_typer(endpoint, name="endpoint")
store_faults.declare(member)
store.add_typer(member, name="member")
store.add_typer(lease, name="lease")
store.add_typer(alarm, name="alarm")
store.command("status")(status)
store.command("move-leader")(move_leader)
store.command("put")(put)
store.command("del")(delete)
store.command("txn")(txn)
store.command("watch", cls=CommandAfterDashes)(watch)

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
    limit: Annotated[int, integer_flag("limit", "At most so many results.")] = 0,
    rev: Annotated[int, integer_flag("rev", "As of this revision.")] = 0,
    keys_only: Annotated[bool, typer.Option("--keys-only", help="Only the keys.")] = False,
    count_only: Annotated[bool, typer.Option("--count-only", help="Only the count.")] = False,
    sort_by: Annotated[str, typer.Option(help="CREATE, KEY, MODIFY, VALUE or VERSION.")] = "",
    order: Annotated[str, typer.Option(help="ASCEND or DESCEND.")] = "",
    consistency: Annotated[str, typer.Option(help="l or s; the API server reads its own store either way.")] = "l",
    print_value_only: Annotated[bool, typer.Option("--print-value-only", help="Only the values.")] = False,
    min_create_rev: Annotated[
        int,
        integer_flag("min-create-rev", "Only keys made at this revision or later."),
    ] = 0,
    max_create_rev: Annotated[
        int,
        integer_flag("max-create-rev", "Only keys made at this revision or before."),
    ] = 0,
    min_mod_rev: Annotated[
        int,
        integer_flag("min-mod-rev", "Only keys changed at this revision or later."),
    ] = 0,
    max_mod_rev: Annotated[
        int,
        integer_flag("max-mod-rev", "Only keys changed at this revision or before."),
    ] = 0,
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
    check_consistency(consistency)
    query = {
        **interval(words, prefix=prefix, from_key=from_key),
        "base64": "true",
        "keys_only": _flag(keys_only),
        "count_only": _flag(count_only),
        **sorting(sort_by, order),
    }
    _check_output(write_out, count_only=count_only, print_value_only=print_value_only)
    within = (
        _Within("create_revision", min_create_rev, max_create_rev),
        _Within("mod_revision", min_mod_rev, max_mod_rev),
    )
    response = ask(name, lambda client: _chosen(client, query, within, limit=max(limit, 0), revision=max(rev, 0)))
    show(
        response,
        write_out,
        simple=lambda found: chain.from_iterable(
            printers.simple_kv(kv, value_only=print_value_only, as_hex=as_hex) for kv in found.get("kvs", ())
        ),
        fields=printers.fields_range,
        protobuf="RangeResponse",
    )


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


def _check_output(write_out: Format, *, count_only: bool, print_value_only: bool) -> None:
    if count_only and write_out != Format.FIELDS:
        raise EtcdctlError("--count-only is only for `--write-out=fields`", BAD_ARGUMENTS)
    if print_value_only and write_out != Format.SIMPLE:
        raise EtcdctlError("print-value-only is only for `--write-out=simple`", BAD_ARGUMENTS)
    no_table(write_out)


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
        start = base64_of(b64decode(kvs[-1]["key"]) + b"\0")
    found = {name: value for name, value in first.items() if name == "header"}
    if kvs:
        found["kvs"] = kvs
    if page.get("more"):
        found["more"] = True
    if first.get("count"):
        found["count"] = first["count"]
    return found


# -- upkeep


@store.command("compact")
@store.command("compaction", hidden=True)
def compact(
    words: Annotated[list[str] | None, typer.Argument(metavar="REVISION", show_default=False)] = None,
    physical: Annotated[bool, typer.Option("--physical", help="Wait until the space is free.")] = False,
    write_out: WriteOut = Format.SIMPLE,  # which changes nothing, as with etcdctl
    name: Name = DEFAULT_NAME,
) -> None:
    """Let go of the history before a revision."""
    if words is None or len(words) != 1:
        raise EtcdctlError("compaction command needs 1 argument", BAD_ARGUMENTS)
    try:
        revision = parse_int(words[0])
    except ValueError as error:
        raise EtcdctlError(str(error)) from None
    body = {"revision": revision, "physical": physical}
    ask(name, lambda client: client.request("POST", f"{PREFIX}/compact", body=body))
    print(f"compacted revision {revision}")


@store.command("defrag")
def defrag(
    words: Words = None, cluster: Cluster = False, write_out: WriteOut = Format.SIMPLE, name: Name = DEFAULT_NAME
) -> None:
    """Give the space of what was compacted back to the file system."""

    async def work(client: Any) -> Any:
        await client.request("POST", f"{PREFIX}/defrag")
        return await client.request("GET", f"{PREFIX}/endpoints")

    for found in ask(name, work):
        print(f"Finished defragmenting etcd member[{found['Endpoint']}]")


def _flag(value: bool) -> str:
    return "true" if value else ""
