"""`ktui store member stop|start|slow|partition|heal`: what may befall the members of a simulated quorum.

Members are named as `ktui store member list` prints them, by name or by id. A real etcd's members are its own affair.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from engine.api.golang.duration import parse_duration
from ktui.commands.lifecycle import DEFAULT_NAME, Name
from ktui.store import printers
from ktui.store.client import BAD_ARGUMENTS, PREFIX, EtcdctlError, Format, WriteOut, ask, show

Json = dict[str, Any]
Member = Annotated[str, typer.Argument(metavar="MEMBER", show_default=False, help="Its name, or its id.")]


def declare(member: typer.Typer) -> None:
    """Add these to the commands about members."""
    member.command("status")(state)
    member.command("stop")(stop)
    member.command("start")(start)
    member.command("slow")(slow)
    member.command("partition")(partition)
    member.command("heal")(heal)


def state(write_out: WriteOut = Format.SIMPLE, name: Name = DEFAULT_NAME) -> None:
    """Print who leads, and how each member stands: state, index, lag, time of an fsync."""
    _print(ask(name, _look), write_out)


def stop(one: Member, write_out: WriteOut = Format.SIMPLE, name: Name = DEFAULT_NAME) -> None:
    """Stop a simulated member; what it has not on disk yet is lost to it."""
    _befall(name, write_out, {"action": "stop"}, [one])


def start(one: Member, write_out: WriteOut = Format.SIMPLE, name: Name = DEFAULT_NAME) -> None:
    """Start a simulated member again; it catches up with the leader."""
    _befall(name, write_out, {"action": "start"}, [one])


def slow(
    one: Member,
    delay: Annotated[
        str, typer.Argument(metavar="DURATION", show_default=False, help="As in 200ms; 0 makes it quick again.")
    ],
    write_out: WriteOut = Format.SIMPLE,
    name: Name = DEFAULT_NAME,
) -> None:
    """Make each answer of a simulated member take so much longer."""
    try:
        seconds = parse_duration(delay)
    except ValueError as error:
        raise EtcdctlError(f"bad delay ({error})", BAD_ARGUMENTS) from None
    _befall(name, write_out, {"action": "slow", "milliseconds": seconds * 1000}, [one])


def partition(
    some: Annotated[list[str], typer.Argument(metavar="MEMBER...", show_default=False, help="Their names or ids.")],
    write_out: WriteOut = Format.SIMPLE,
    name: Name = DEFAULT_NAME,
) -> None:
    """Cut simulated members off from all others."""
    _befall(name, write_out, {"action": "partition"}, some)


def heal(write_out: WriteOut = Format.SIMPLE, name: Name = DEFAULT_NAME) -> None:
    """Undo every partition."""
    _befall(name, write_out, {"action": "heal"}, [])


def _befall(name: str, write_out: Format, action: Json, members: list[str]) -> None:
    async def work(client: Any) -> Json:
        known = await _look(client)
        names = [_name_of(each, known) for each in members]
        body = {**action, "members": names} if action["action"] == "partition" else {**action, "member": "".join(names)}
        found: Json = await client.request("PUT", f"{PREFIX}/members", body=body)
        return found

    _print(ask(name, work), write_out)


async def _look(client: Any) -> Json:
    found: Json = await client.request("GET", f"{PREFIX}/members")
    return found


def _name_of(wanted: str, known: Json) -> str:
    """The name of a member that may be given by its id; one that nobody has is the server's to refuse."""
    by_id = {each["id"]: each["name"] for each in known["members"]}
    return str(by_id.get(wanted.lower().removeprefix("0x"), wanted))


def _print(found: Json, write_out: Format) -> None:
    show(
        found,
        write_out,
        simple=lambda found: (", ".join(printers.state_row(found, each)) for each in found["members"]),
        fields=printers.fields_states,
        table=lambda found: printers.table(
            printers.STATE_HEADERS, [printers.state_row(found, each) for each in found["members"]]
        ),
    )
