"""`ktui store put|del`: a key written past the API, as one would with etcdctl beside a real cluster.

Nothing checks what is written: it is how objects become what the API server cannot read.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

from ktui.commands.lifecycle import DEFAULT_NAME, Name
from ktui.store import printers
from ktui.store.client import BAD_ARGUMENTS, PREFIX, EtcdctlError, Format, WriteOut, ask, no_table, show
from ktui.store.keys import base64_of, interval, lease_id

NO_VALUE = "put command needs 1 argument and input from stdin or 2 arguments"

Json = dict[str, Any]
PreviousKv = Annotated[bool, typer.Option("--prev-kv", help="Also what was there before.")]


def encoded(text: str) -> str:
    return base64_of(os.fsencode(text))


def put(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY [VALUE]", show_default=False, help="The value may come by stdin."),
    ] = None,
    lease: Annotated[str, typer.Option(help="The id of a lease for the key, in hexadecimal.")] = "0",
    prev_kv: PreviousKv = False,
    ignore_value: Annotated[bool, typer.Option("--ignore-value", help="Keep the key's value.")] = False,
    ignore_lease: Annotated[bool, typer.Option("--ignore-lease", help="Keep the key's lease.")] = False,
    write_out: WriteOut = Format.SIMPLE,
    name: Name = DEFAULT_NAME,
) -> None:
    """Write a key. Nothing checks what is written."""
    request = put_request(
        words or [], lease=lease, prev_kv=prev_kv, ignore_value=ignore_value, ignore_lease=ignore_lease
    )
    no_table(write_out)
    found = ask(name, lambda client: send(client, {"success": [{"request_put": request}]}))
    show(
        _single(found),
        write_out,
        simple=printers.simple_put,
        fields=printers.fields_put,
        protobuf="PutResponse",
    )


def put_request(words: list[str], *, lease: str, prev_kv: bool, ignore_value: bool, ignore_lease: bool) -> Json:
    """An etcd PutRequest. Raises EtcdctlError."""
    if not words:
        raise EtcdctlError(NO_VALUE, BAD_ARGUMENTS)
    if ignore_value:
        if len(words) > 1:
            raise EtcdctlError("put command needs only 1 argument when 'ignore-value' is set", BAD_ARGUMENTS)
        value = ""
    else:
        value = words[1] if len(words) > 1 else _stdin()
    return {
        "key": encoded(words[0]),
        "value": encoded(value),
        "lease": lease_id(lease, what="lease ID"),
        "prev_kv": prev_kv,
        "ignore_value": ignore_value,
        "ignore_lease": ignore_lease,
    }


def _stdin() -> str:
    """A value that is not among the arguments. Raises EtcdctlError for none at all."""
    value = os.fsdecode(sys.stdin.buffer.read())
    if not value:
        raise EtcdctlError(NO_VALUE, BAD_ARGUMENTS)
    return value


async def send(client: Any, request: Json) -> Json:
    answer: Json = await client.request("POST", f"{PREFIX}/txn", body=request)
    return answer


def _single(answer: Json) -> Json:
    """The answer to a transaction's one request, as if it had been sent alone."""
    (found,) = answer["responses"][0]["Response"].values()
    return {**found, "header": answer["header"]}


def delete(
    words: Annotated[list[str] | None, typer.Argument(metavar="KEY [RANGE_END]", show_default=False)] = None,
    prefix: Annotated[bool, typer.Option("--prefix", help="All keys with this prefix.")] = False,
    from_key: Annotated[bool, typer.Option("--from-key", help="All keys from this one on.")] = False,
    prev_kv: PreviousKv = False,
    write_out: WriteOut = Format.SIMPLE,
    name: Name = DEFAULT_NAME,
) -> None:
    """Delete a key or a range of keys."""
    request = delete_request(words or [], prefix=prefix, from_key=from_key, prev_kv=prev_kv)
    no_table(write_out)
    found = ask(name, lambda client: send(client, {"success": [{"request_delete_range": request}]}))
    show(
        _single(found),
        write_out,
        simple=printers.simple_delete,
        fields=printers.fields_delete,
        protobuf="DeleteRangeResponse",
    )


def delete_request(words: list[str], *, prefix: bool, from_key: bool, prev_kv: bool) -> Json:
    """An etcd DeleteRangeRequest. Raises EtcdctlError."""
    if not 1 <= len(words) <= 2:
        message = "del command needs one argument as key and an optional argument as range_end"
        raise EtcdctlError(message, BAD_ARGUMENTS)
    return {**interval(words, prefix=prefix, from_key=from_key), "prev_kv": prev_kv}
