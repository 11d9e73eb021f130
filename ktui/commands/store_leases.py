"""`ktui store lease`: leases, on the model's clock (etcdctl/ctlv3/command lease_command.go)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from engine.api.errors import ApiError
from engine.api.golang.integer import parse_int
from ktui.commands.lifecycle import DEFAULT_NAME, Name
from ktui.store import printers
from ktui.store.client import (
    BAD_ARGUMENTS,
    BAD_CONNECTION,
    PREFIX,
    EtcdctlError,
    Format,
    Words,
    WriteOut,
    ask,
    no_table,
    query_of,
    show,
)
from ktui.store.keys import lease_id

Json = dict[str, Any]

# All that etcdctl writes of the answers about leases, which are no messages of their own there.
HEADER_ALONE = "ResponseHeader"

lease = typer.Typer(no_args_is_help=True, help="Look at leases, and make, keep and end them.")

LeaseId = Annotated[
    list[str] | None, typer.Argument(metavar="ID", show_default=False, help="As it was printed, in hexadecimal.")
]


@lease.command("grant")
def grant(
    words: Annotated[list[str] | None, typer.Argument(metavar="TTL", show_default=False, help="In seconds.")] = None,
    write_out: WriteOut = Format.SIMPLE,
    name: Name = DEFAULT_NAME,
) -> None:
    """Make a lease; keys are put under it with `put --lease`."""
    if words is None or len(words) != 1:
        raise EtcdctlError("lease grant command needs TTL argument", BAD_ARGUMENTS)
    try:
        ttl = parse_int(words[0])
    except ValueError as error:
        raise EtcdctlError(f"bad TTL ({error})", BAD_ARGUMENTS) from None
    no_table(write_out)
    found = _tell(name, "grant", {"ttl": ttl})
    show(
        found,
        write_out,
        simple=lambda found: [f"lease {found['ID']:016x} granted with TTL({found['TTL']}s)"],
        fields=printers.fields_lease_answer,
        protobuf=HEADER_ALONE,
    )


@lease.command("revoke")
def revoke(words: LeaseId = None, write_out: WriteOut = Format.SIMPLE, name: Name = DEFAULT_NAME) -> None:
    """End a lease: its keys are deleted."""
    if words is None or len(words) != 1:
        raise EtcdctlError("lease revoke command needs 1 argument", BAD_ARGUMENTS)
    id = lease_id(words[0], what="lease ID arg")
    no_table(write_out)
    found = _tell(name, "revoke", {"id": id})
    show(
        found,
        write_out,
        simple=lambda _: [f"lease {id:016x} revoked"],
        fields=lambda found: printers.fields_header(found["header"]),
    )


def _tell(name: str, what: str, body: Json) -> Json:
    async def work(client: Any) -> Json:
        try:
            found: Json = await client.request("POST", f"{PREFIX}/lease{what}", body=body)
        except ApiError as error:
            raise EtcdctlError(f"failed to {what} lease ({error.message})") from None
        return found

    found: Json = ask(name, work)
    return found


@lease.command("keep-alive")
def keep_alive(
    words: LeaseId = None,
    once: Annotated[bool, typer.Option("--once", help="Renew it once only.")] = False,
    write_out: WriteOut = Format.SIMPLE,
    name: Name = DEFAULT_NAME,
) -> None:
    """Renew a lease again and again, until it is revoked or this command is."""
    if words is None or len(words) != 1:
        raise EtcdctlError("lease keep-alive command needs lease ID as argument", BAD_ARGUMENTS)
    id = lease_id(words[0], what="lease ID arg")
    no_table(write_out)

    async def work(client: Any) -> None:
        while True:
            found = await client.request("POST", f"{PREFIX}/leasekeepalive", body={"id": id})
            show(found, write_out, simple=_kept_alive, fields=printers.fields_lease_answer, protobuf=HEADER_ALONE)
            if once:
                return
            await asyncio.sleep(max(found["TTL"] / 3, 0.5))

    async def until_it_ends(client: Any) -> None:
        try:
            await work(client)
        except ApiError as error:
            if once or "lease not found" not in error.message:
                raise EtcdctlError(error.message, BAD_CONNECTION) from None
            if write_out == Format.SIMPLE:
                print(f"lease {id:016x} expired or revoked.")

    ask(name, until_it_ends)


def _kept_alive(found: Json) -> Iterator[str]:
    yield f"lease {found['ID']:016x} keepalived with TTL({found['TTL']})"


@lease.command("list")
def leases(words: Words = None, write_out: WriteOut = Format.SIMPLE, name: Name = DEFAULT_NAME) -> None:
    """Print the ids of all leases."""
    no_table(write_out)
    found = ask(name, lambda client: client.request("GET", f"{PREFIX}/leases"))
    show(found, write_out, simple=_simple_leases, fields=printers.fields_leases, protobuf=HEADER_ALONE)


def _simple_leases(found: dict[str, Any]) -> Iterator[str]:
    yield f"found {len(found['leases'])} leases"
    for each in found["leases"]:
        yield f"{each['id']:016x}"


@lease.command("timetolive")
def time_to_live(
    words: LeaseId = None,
    keys: Annotated[bool, typer.Option("--keys", help="Also the keys that hang on it.")] = False,
    write_out: WriteOut = Format.SIMPLE,
    name: Name = DEFAULT_NAME,
) -> None:
    """Print how long a lease lives."""
    if words is None or len(words) != 1:
        raise EtcdctlError("lease timetolive command needs lease ID as argument", BAD_ARGUMENTS)
    id = lease_id(words[0], what="lease ID arg")
    no_table(write_out)
    query = query_of(id=id, keys="true" if keys else "")
    found = ask(name, lambda client: client.request("GET", f"{PREFIX}/lease", query=query))
    show(
        found,
        write_out,
        simple=lambda found: [printers.simple_lease(found, keys=keys)],
        fields=printers.fields_lease,
        protobuf=HEADER_ALONE,
    )
