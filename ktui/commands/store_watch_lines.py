"""`ktui store watch -i`: watches that are typed, line by line, and `progress`, which asks all of them how far they are
(etcdctl/ctlv3/command watch_command.go watchInteractiveFunc)."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

from engine.kubectl.streaming import chunks
from engine.tasks import Supervisor
from ktui.commands.store_exec import parted
from ktui.commands.store_watch import Shown, follow, opened, watch_query
from ktui.store.client import BAD_ARGUMENTS, INVALID_INPUT, PREFIX, EtcdctlError
from ktui.store.command_line import FlagError, SyntaxFault, parse, words_of

_FLAGS = {"prefix": False, "rev": True, "prev-kv": False, "progress-notify": False, "interactive": False}


class _Typed(NamedTuple):
    query: dict[str, list[str]]
    command: list[str]


async def follow_lines(client: Any, shown: Shown) -> None:
    """Open a watch for each line until the input ends. Raises EtcdctlError."""
    watches = Supervisor("watches")
    ids: list[int] = []
    try:
        async for line in _typed_lines():
            if words_of(line)[:1] == ["progress"]:
                await _ask_for_progress(client, ids)
            elif (typed := _typed(line)) is not None:
                ids.append(secrets.randbits(62) + 1)
                events = await opened(client, {**typed.query, "watch_id": [str(ids[-1])]})
                watches.spawn(_follow_quietly(events, shown._replace(command=typed.command)), line)
    except SyntaxFault as error:
        raise EtcdctlError(str(error), INVALID_INPUT) from None
    finally:
        await watches.close()
    raise EtcdctlError("Error reading watch request line: EOF", INVALID_INPUT)


async def _typed_lines() -> AsyncIterator[str]:
    """Read without a thread, for which the process would have to wait when it is interrupted."""
    rest = b""
    async for chunk in chunks(sys.stdin):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield os.fsdecode(line)
    if rest:
        yield os.fsdecode(rest)


async def _ask_for_progress(client: Any, watches: list[int]) -> None:
    await client.request("POST", f"{PREFIX}/progress", body={"watch_ids": watches})


async def _follow_quietly(events: AsyncIterator[bytes], shown: Shown) -> None:
    """One watch of several: its end is told and is not the others'."""
    try:
        await follow(events, shown)
    except (EtcdctlError, ConnectionError) as error:
        print(error, file=sys.stderr)


def _typed(line: str) -> _Typed | None:
    """What a line asks for; None, once that is told, for one that asks for nothing. Raises EtcdctlError."""
    words = words_of(line)
    problem = f"Invalid command {line} (command type or key is not provided)"
    if not words:
        problem = f"Invalid command: {line} (watch and progress supported)"
    elif words[0] != "watch":
        problem = f"Invalid command {line} (only support watch)"
    elif len(words) > 1:
        try:
            return _request_of(words[1:])
        except FlagError as error:
            raise EtcdctlError(str(error), BAD_ARGUMENTS) from None
        except EtcdctlError as error:
            problem = f"Invalid command {line} ({error})"
    print(problem, file=sys.stderr)
    return None


def _request_of(words: list[str]) -> _Typed:
    """Raises FlagError, EtcdctlError."""
    ahead, _, command = parted(words)
    parsed = parse(ahead, _FLAGS)
    query = watch_query(
        parsed.words,
        prefix=parsed.is_set("prefix"),
        rev=parsed.number("rev"),
        prev_kv=parsed.is_set("prev-kv"),
        progress=parsed.is_set("progress-notify"),
    )
    return _Typed(query, command)
