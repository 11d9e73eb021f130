"""kubectl's words for the screen in a process of their own: `python -m ktui.kubectl_worker`.

However much a command reads and prints, the screen's keys do not wait for it. The process does any number of commands
at a time, and keeps its client and what it knows of the server from one to the next.

It is asked by lines of JSON: `{"id", "argv", "kubeconfig", "server", "namespace"}` begins a command, `{"id", "end":
true}` ends it early. It answers with such lines: `{"id", "out" or "err": text}` as the command prints, `{"id", "code"}`
once it has ended. The process ends when it can be asked no more.
"""

from __future__ import annotations

import asyncio
import io
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import orjson

from engine.client import Client
from engine.client.connection import Connection, KubeConfigError
from engine.client.https import HttpsTransport
from engine.clock import Clock
from engine.kubectl.discovery import Discovery
from engine.kubectl.main import run
from ktui.address import Address
from ktui.assets import asset_folder
from ktui.models.samples import with_samples

MOST = 2**15  # characters that are kept before they are sent
Tell = Callable[[dict[str, Any]], None]


class Told:
    """Both streams of a command, in the order in which it writes to them; what it writes in one go is sent in one."""

    def __init__(self, tell: Callable[[str, str], None]) -> None:
        self.out, self.err = _Stream(self, "out"), _Stream(self, "err")
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._stream = ""
        self._kept: list[str] = []
        self._size = 0

    def add(self, stream: str, text: str) -> None:
        for start in range(0, len(text), MOST):
            self._add(stream, text[start : start + MOST])

    def _add(self, stream: str, text: str) -> None:
        if stream != self._stream or self._size + len(text) > MOST:
            self.send()
        if not self._kept:
            self._loop.call_soon(self.send)
        self._stream = stream
        self._kept.append(text)
        self._size += len(text)

    def send(self) -> None:
        kept, self._kept, self._size = self._kept, [], 0
        if kept:
            self._tell(self._stream, "".join(kept))


class _Stream(io.StringIO):
    def __init__(self, told: Told, name: str) -> None:
        super().__init__()
        self._told = told
        self._name = name

    def write(self, text: str, /) -> int:
        self._told.add(self._name, text)
        return len(text)


class Worker:
    """Does the commands; `tell` takes its answers."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._running: dict[int, asyncio.Task[None]] = {}
        self._connection: Connection | None = None
        self._client: Client | None = None
        self._discovery = Discovery()

    def asked(self, question: dict[str, Any]) -> None:
        """Begin a command, or end one."""
        number: int = question["id"]
        if question.get("end"):
            if task := self._running.get(number):
                task.cancel()
            return
        task = self._running[number] = asyncio.create_task(self._do(number, question))
        task.add_done_callback(lambda _: self._running.pop(number))

    async def _do(self, number: int, question: dict[str, Any]) -> None:
        told = Told(lambda stream, text: self._tell({"id": number, stream: text}))
        code = 1
        address = Address(question["kubeconfig"], question["server"])
        try:
            client, connection = self._reached(address)
            code = await run(
                with_samples(question["argv"], asset_folder("samples")),
                client=client,
                server=connection.server,
                environment=address.environment(),
                stdin=io.StringIO(),
                stdout=told.out,
                stderr=told.err,
                clock=Clock(),
                namespace=question["namespace"],
                discovery=self._discovery,
                program="kubectl",
            )
        except (KubeConfigError, ConnectionError) as error:
            told.err.write(f"error: {error}\n")
        except Exception as error:
            told.err.write(f"{type(error).__name__}: {error}\n")
        finally:
            told.send()
            self._tell({"id": number, "code": code})

    def _reached(self, address: Address) -> tuple[Client, Connection]:
        """As the last command reached the engine, unless it is another by now. Raises KubeConfigError."""
        connection = address.connection()
        if self._client is None or connection != self._connection:
            self._client = Client(HttpsTransport(connection), user_agent="ktui")
            self._connection, self._discovery = connection, Discovery()
        return self._client, connection


def _questions(lines: BinaryIO) -> Iterator[dict[str, Any]]:
    for line in lines:
        yield orjson.loads(line)


async def _serve(lines: BinaryIO, answers: BinaryIO) -> None:
    def tell(answer: dict[str, Any]) -> None:
        try:
            answers.write(orjson.dumps(answer) + b"\n")
            answers.flush()
        except OSError:
            os._exit(0)  # nobody hears it

    worker = Worker(tell)
    loop = asyncio.get_running_loop()

    def listen() -> None:
        """In a thread: the end is to be heard also while a command keeps the loop."""
        for question in _questions(lines):
            loop.call_soon_threadsafe(worker.asked, question)
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    await asyncio.Event().wait()


def main() -> None:
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what anything else prints is no answer
    asyncio.run(_serve(sys.stdin.buffer, answers))


if __name__ == "__main__":
    main()
