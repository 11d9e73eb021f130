"""`ktui store status|endpoint|lease|alarm`: etcdctl's view of the members of a store, its leases and its alarms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

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
alarm = typer.Typer(no_args_is_help=True, help="Look at alarms.")

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
    found = ask(name, lambda client: client.request("GET", f"{PREFIX}/alarms"))
    match write_out:
        case Format.JSON:
            print_lines([printers.encoded(found)])
        case Format.FIELDS:
            print_lines(printers.fields_alarms(found))
        case _:
            print_lines(printers.simple_alarms(found))
