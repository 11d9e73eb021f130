"""What the commands of `ktui store` share: asking the running cluster, and printing in etcdctl's formats."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from engine.api.errors import ApiError
from ktui.commands import UsageError
from ktui.commands.lifecycle import find
from ktui.interruptible import run
from ktui.store import printers
from ktui.store.protobuf import message

PREFIX = "/debug/ktui/store"


# Exit codes of etcdctl (pkg/cobrautl error.go).
ERROR, BAD_CONNECTION, INVALID_INPUT, BAD_FEATURE, INTERRUPTED, BAD_ARGUMENTS = 1, 2, 3, 4, 5, 128


class EtcdctlError(UsageError):
    """A failure in etcdctl's words, with its exit code."""

    prefix = "Error"

    def __init__(self, message: str, code: int = ERROR) -> None:
        super().__init__(message)
        self.code = code


class Format(StrEnum):
    """etcdctl's --write-out."""

    SIMPLE = "simple"
    TABLE = "table"
    JSON = "json"
    FIELDS = "fields"
    PROTOBUF = "protobuf"


def _format(text: str) -> Format:
    try:
        return Format(text)
    except ValueError:
        raise EtcdctlError("unsupported output format", BAD_FEATURE) from None


WriteOut = Annotated[
    Format,
    typer.Option(
        "--write-out", "-w", parser=_format, metavar="FORMAT", help="simple, table, json, fields or protobuf."
    ),
]


Words = Annotated[list[str] | None, typer.Argument(hidden=True)]  # which etcdctl takes, and mostly lets be
Cluster = Annotated[bool, typer.Option("--cluster", hidden=True)]  # all members are asked either way


def no_table(write_out: Format) -> None:
    """Raises EtcdctlError for a command that has no table to show."""
    if write_out == Format.TABLE:
        raise EtcdctlError("table not supported as output format", BAD_FEATURE)


def show(
    found: Any,
    write_out: Format,
    *,
    simple: Callable[[Any], Iterable[str]],
    fields: Callable[[Any], Iterable[str]],
    table: Callable[[Any], Iterable[str]] | None = None,
    protobuf: str = "",
) -> None:
    """Print a document in the format that is asked for; `protobuf` names the message that it is.

    Raises EtcdctlError for what has no table, or is no message.
    """
    if write_out == Format.PROTOBUF:
        print_message(protobuf, found)
    elif write_out == Format.JSON:
        print_lines([printers.encoded(found)])
    elif write_out == Format.FIELDS:
        print_lines(fields(found))
    elif write_out == Format.TABLE and table is not None:
        print_lines(table(found))
    else:
        no_table(write_out)
        print_lines(simple(found))


def print_message(kind: str, found: Any) -> None:
    if not kind:
        raise EtcdctlError("protobuf not supported as output format", BAD_FEATURE)
    sys.stdout.buffer.write(message(kind, found))
    sys.stdout.buffer.flush()


def ask(name: str, work: Callable[[Any], Awaitable[Any]]) -> Any:
    """Do something with a client of the running cluster. Raises UsageError, EtcdctlError."""
    kubeconfig = Path(find(name).kubeconfig)

    async def ask() -> Any:
        from ktui.connect import connect

        client = connect(kubeconfig)
        try:
            return await work(client)
        finally:
            await client.close()

    try:
        return run(ask())
    except ConnectionError as error:
        raise UsageError(str(error)) from error
    except ApiError as error:
        raise EtcdctlError(error.message) from error


def query_of(**parameters: str | int) -> dict[str, list[str]]:
    return {name: [str(value)] for name, value in parameters.items() if value not in ("", 0)}


def print_lines(lines: Iterable[str]) -> None:
    """Bytes that are no text go through as they are."""
    for line in lines:
        sys.stdout.buffer.write(line.encode(errors="surrogateescape") + b"\n")
    sys.stdout.buffer.flush()


async def stream(client: Any, path: str, query: dict[str, list[str]]) -> AsyncIterator[bytes]:
    """The chunks of a stream. Raises ApiError."""
    from engine.client.client import error_of

    response = await client.send("GET", path, query=query)
    if response.status >= 400:
        raise error_of(response)
    if response.stream is None:
        raise UsageError(f"{path} is answered without a stream: the cluster runs another version of ktui")
    chunks: AsyncIterator[bytes] = response.stream.__aiter__()
    return chunks
