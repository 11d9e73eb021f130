"""`ktui store status|endpoint|member|lease|alarm`: etcdctl's view of a store's members, leases and alarms."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from engine.api.errors import ApiError
from ktui import store_printers as printers
from ktui.commands.lifecycle import DEFAULT_NAME, Name
from ktui.store_client import (
    BAD_ARGUMENTS,
    PREFIX,
    EtcdctlError,
    Format,
    WriteOut,
    ask,
    no_table,
    print_lines,
    query_of,
)

_INT64 = 1 << 63

endpoint = typer.Typer(no_args_is_help=True, help="Look at the store's members.")
lease = typer.Typer(no_args_is_help=True, help="Look at leases.")
alarm = typer.Typer(no_args_is_help=True, help="Look at alarms, and take them back.")
member = typer.Typer(no_args_is_help=True, help="Look at who keeps the store.")

Words = Annotated[list[str] | None, typer.Argument(hidden=True)]


@endpoint.command("status")
def status(write_out: WriteOut = Format.SIMPLE, name: Name = DEFAULT_NAME) -> None:
    """Print the store's members: version, size, leader, term and index."""
    endpoints = ask(name, lambda client: client.request("GET", f"{PREFIX}/endpoints"))
    match write_out:
        case Format.JSON:
            print_lines([printers.encoded(endpoints)])
        case Format.FIELDS:
            for found in endpoints:
                print_lines(printers.fields_endpoint(found))
        case Format.TABLE:
            print_lines(
                printers.table(printers.ENDPOINT_HEADERS, [printers.endpoint_row(found) for found in endpoints])
            )
        case _:
            print_lines(", ".join(printers.endpoint_row(found)) for found in endpoints)


@endpoint.command("health")
def health(words: Words = None, write_out: WriteOut = Format.SIMPLE, name: Name = DEFAULT_NAME) -> None:
    """Print of each endpoint whether the store answers now, and how long that took."""

    async def check(client: Any) -> list[dict[str, Any]]:
        endpoints = await client.request("GET", f"{PREFIX}/endpoints")
        return [await _health_of(client, found) for found in endpoints]

    found = ask(name, check)
    sick = [each for each in found if not each["health"]]
    match write_out:
        case Format.JSON:
            print_lines([printers.encoded(found)])
        case Format.FIELDS:
            for each in found:
                print_lines(printers.fields_health(each))
        case Format.TABLE:
            print_lines(printers.table(printers.HEALTH_HEADERS, [printers.health_row(each) for each in found]))
        case _:
            print_lines(printers.simple_health(each) for each in found if each["health"])
            for each in sick:
                print(printers.simple_health(each), file=sys.stderr)
    if sick:
        raise EtcdctlError("unhealthy cluster")


async def _health_of(client: Any, endpoint: dict[str, Any]) -> dict[str, Any]:
    """As etcdctl sees it: whether a read that the quorum must agree on succeeds, whatever its key holds."""
    began = time.perf_counter()
    errors = endpoint["Status"].get("errors", [])
    try:
        await client.request("GET", f"{PREFIX}/range", query=query_of(key="health"))
    except ApiError as error:
        errors = [error.message]
    took = f"{(time.perf_counter() - began) * 1000:.6f}".rstrip("0").rstrip(".") + "ms"
    found = {"endpoint": endpoint["Endpoint"], "health": not errors, "took": took}
    return {**found, "error": ", ".join(errors)} if errors else found


@member.command("list")
def members(words: Words = None, write_out: WriteOut = Format.SIMPLE, name: Name = DEFAULT_NAME) -> None:
    """Print the members of the cluster that keeps the store."""
    found = ask(name, lambda client: client.request("GET", f"{PREFIX}/memberlist"))
    rows = [printers.member_row(each) for each in found["members"]]
    match write_out:
        case Format.JSON:
            print_lines([printers.encoded(found)])
        case Format.FIELDS:
            print_lines(printers.fields_members(found))
        case Format.TABLE:
            print_lines(printers.table(printers.MEMBER_HEADERS, rows))
        case _:
            print_lines(", ".join(row) for row in rows)


@lease.command("list")
def leases(write_out: WriteOut = Format.SIMPLE, name: Name = DEFAULT_NAME) -> None:
    """Print the ids of all leases."""
    no_table(write_out)
    found = ask(name, lambda client: client.request("GET", f"{PREFIX}/leases"))
    match write_out:
        case Format.JSON:
            print_lines([printers.encoded(found)])
        case Format.FIELDS:
            print_lines(printers.fields_leases(found))
        case _:
            print_lines(_simple_leases(found))


def _simple_leases(found: dict[str, Any]) -> Iterator[str]:
    yield f"found {len(found['leases'])} leases"
    for each in found["leases"]:
        yield f"{each['id']:016x}"


@lease.command("timetolive")
def time_to_live(
    words: Annotated[list[str] | None, typer.Argument(metavar="ID", show_default=False, help="In hexadecimal.")] = None,
    keys: Annotated[bool, typer.Option("--keys", help="Also the keys that hang on it.")] = False,
    write_out: WriteOut = Format.SIMPLE,
    name: Name = DEFAULT_NAME,
) -> None:
    """Print how long a lease lives."""
    if words is None or len(words) != 1:
        raise EtcdctlError("lease timetolive command needs lease ID as argument", BAD_ARGUMENTS)
    query = query_of(id=_lease_id(words[0]), keys="true" if keys else "")
    no_table(write_out)
    found = ask(name, lambda client: client.request("GET", f"{PREFIX}/lease", query=query))
    match write_out:
        case Format.JSON:
            print_lines([printers.encoded(found)])
        case Format.FIELDS:
            print_lines(printers.fields_lease(found))
        case _:
            print_lines([printers.simple_lease(found, keys=keys)])


def _lease_id(text: str) -> int:
    try:
        id = int(text, 16)
    except ValueError:
        problem = "invalid syntax"
    else:
        if 0 <= id < _INT64:
            return id
        problem = "value out of range"
    message = f'bad lease ID arg (strconv.ParseInt: parsing "{text}": {problem}), expecting ID in Hex'
    raise EtcdctlError(message, BAD_ARGUMENTS)


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
    match write_out:
        case Format.JSON:
            print_lines([printers.encoded(found)])
        case Format.FIELDS:
            print_lines(printers.fields_alarms(found))
        case _:
            print_lines(printers.simple_alarms(found))
