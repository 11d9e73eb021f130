"""`ktui store status|endpoint|member|alarm`: etcdctl's view of a store's members and alarms.

What may befall simulated members is `commands.store_faults`.
"""

from __future__ import annotations

import sys
import time
from itertools import chain
from typing import Annotated, Any

import typer

from engine.api.errors import ApiError
from engine.api.golang.integer import parse_uint
from ktui.commands.lifecycle import DEFAULT_NAME, Name
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
from ktui.store.keys import integer_flag

endpoint = typer.Typer(no_args_is_help=True, help="Look at the store's members.")
alarm = typer.Typer(no_args_is_help=True, help="Look at alarms, and take them back.")
member = typer.Typer(no_args_is_help=True, help="Look at who keeps the store.")


@endpoint.command("status")
def status(
    words: Words = None, cluster: Cluster = False, write_out: WriteOut = Format.SIMPLE, name: Name = DEFAULT_NAME
) -> None:
    """Print the store's members: version, size, leader, term and index."""
    show(
        ask(name, lambda client: client.request("GET", f"{PREFIX}/endpoints")),
        write_out,
        simple=lambda found: (", ".join(printers.endpoint_row(each)) for each in found),
        fields=lambda found: chain.from_iterable(printers.fields_endpoint(each) for each in found),
        table=lambda found: printers.table(printers.ENDPOINT_HEADERS, [printers.endpoint_row(each) for each in found]),
    )


@endpoint.command("health")
def health(
    words: Words = None, cluster: Cluster = False, write_out: WriteOut = Format.SIMPLE, name: Name = DEFAULT_NAME
) -> None:
    """Print of each endpoint whether the store answers now, and how long that took."""

    async def check(client: Any) -> list[dict[str, Any]]:
        endpoints = await client.request("GET", f"{PREFIX}/endpoints")
        return [await _health_of(client, found) for found in endpoints]

    found = ask(name, check)
    sick = [each for each in found if not each["health"]]
    show(
        found,
        write_out,
        simple=lambda found: (printers.simple_health(each) for each in found if each["health"]),
        fields=lambda found: chain.from_iterable(printers.fields_health(each) for each in found),
        table=lambda found: printers.table(printers.HEALTH_HEADERS, [printers.health_row(each) for each in found]),
    )
    if write_out == Format.SIMPLE:
        for each in sick:
            print(printers.simple_health(each), file=sys.stderr)
    if sick:
        raise EtcdctlError("unhealthy cluster")


@endpoint.command("hashkv")
def hash_kv(
    words: Words = None,
    cluster: Cluster = False,
    rev: Annotated[int, integer_flag("rev", "As of this revision.")] = 0,
    write_out: WriteOut = Format.SIMPLE,
    name: Name = DEFAULT_NAME,
) -> None:
    """Print what the keys of each member come to, as one number; members that agree have the same."""
    query = query_of(revision=max(rev, 0))
    found = ask(name, lambda client: client.request("GET", f"{PREFIX}/hashkv", query=query))
    failed = [each for each in found if "Error" in each]
    for each in failed:
        print(f"Failed to get the hash of endpoint {each['Endpoint']} ({each['Error']})", file=sys.stderr)
    show(
        [each for each in found if each not in failed],
        write_out,
        simple=lambda found: (", ".join(printers.hash_row(each)) for each in found),
        fields=lambda found: chain.from_iterable(printers.fields_hash(each) for each in found),
        table=lambda found: printers.table(printers.HASH_HEADERS, [printers.hash_row(each) for each in found]),
    )
    if failed:
        raise EtcdctlError(failed[-1]["Error"])


async def _health_of(client: Any, endpoint: dict[str, Any]) -> dict[str, Any]:
    """As etcdctl sees it: whether a read that the quorum must agree on succeeds, whatever its key holds."""
    began = time.perf_counter()
    errors = _ailments(endpoint["Status"].get("errors", []))
    try:
        await client.request("GET", f"{PREFIX}/range", query=query_of(key="health"))
    except ApiError as error:
        errors = [error.message]
    took = f"{(time.perf_counter() - began) * 1000:.6f}".rstrip("0").rstrip(".") + "ms"
    found = {"endpoint": endpoint["Endpoint"], "health": not errors, "took": took}
    return {**found, "error": ", ".join(errors)} if errors else found


def _ailments(errors: list[str]) -> list[str]:
    """With the alarms among them in the words of etcdctl's health (ep_command.go)."""
    alarms = [error.partition(" alarm:")[2].strip() for error in errors if " alarm:" in error]
    others = [error for error in errors if " alarm:" not in error]
    return [f"Active Alarm(s): {' '.join(alarms)} ", *others] if alarms else others


@member.command("list")
def members(words: Words = None, write_out: WriteOut = Format.SIMPLE, name: Name = DEFAULT_NAME) -> None:
    """Print the members of the cluster that keeps the store."""
    show(
        ask(name, lambda client: client.request("GET", f"{PREFIX}/memberlist")),
        write_out,
        simple=lambda found: (", ".join(printers.member_row(each)) for each in found["members"]),
        fields=printers.fields_members,
        table=lambda found: printers.table(
            printers.MEMBER_HEADERS, [printers.member_row(each) for each in found["members"]]
        ),
        protobuf="MemberListResponse",
    )


def move_leader(words: Words = None, write_out: WriteOut = Format.SIMPLE, name: Name = DEFAULT_NAME) -> None:
    """Let another member lead, named by its id."""
    if words is None or len(words) != 1:
        raise EtcdctlError("move-leader command needs 1 argument", BAD_ARGUMENTS)
    try:
        target = parse_uint(words[0], base=16)
    except ValueError as error:
        raise EtcdctlError(str(error), BAD_ARGUMENTS) from None

    async def work(client: Any) -> tuple[int, Any]:
        endpoints = await client.request("GET", f"{PREFIX}/endpoints")
        leader = next((each["Status"]["leader"] for each in endpoints if each["Status"]["leader"]), 0)
        return leader, await client.request("POST", f"{PREFIX}/moveleader", body={"id": target})

    leader, found = ask(name, work)
    show(
        found,
        write_out,
        simple=lambda _: [f"Leadership transferred from {leader:x} to {target:x}"],
        fields=lambda found: printers.fields_header(found["header"]),
    )


@alarm.command("list")
def alarms(words: Words = None, write_out: WriteOut = Format.SIMPLE, name: Name = DEFAULT_NAME) -> None:
    """Print the alarms that are raised."""
    if words:
        raise EtcdctlError("alarm list command accepts no arguments", BAD_ARGUMENTS)
    no_table(write_out)
    _print_alarms(ask(name, lambda client: client.request("GET", f"{PREFIX}/alarms")), write_out)


@alarm.command("disarm")
def disarm(words: Words = None, write_out: WriteOut = Format.SIMPLE, name: Name = DEFAULT_NAME) -> None:
    """Take back all alarms and print them; what is still too large raises its alarm again."""
    if words:
        raise EtcdctlError("alarm disarm command accepts no arguments", BAD_ARGUMENTS)
    no_table(write_out)
    _print_alarms(ask(name, lambda client: client.request("POST", f"{PREFIX}/disarm")), write_out)


def _print_alarms(found: dict[str, Any], write_out: Format) -> None:
    show(found, write_out, simple=printers.simple_alarms, fields=printers.fields_alarms, protobuf="AlarmResponse")
