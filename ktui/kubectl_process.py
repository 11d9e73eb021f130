"""The screen's side of `kubectl_worker`: commands done by a process of its own, which is kept from one to the next."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TextIO

import orjson

from engine.clock import Clock
from ktui.address import Address

LONGEST = 2**18  # bytes of a line that the process answers: what it sends at once, and six for one that is escaped
GRACE_SECONDS = 2.0  # for a command that was told to end


@dataclass(slots=True)
class _Command:
    stdout: TextIO
    stderr: TextIO
    code: asyncio.Future[int]
    is_wanted: bool = True


class _Worker:
    """One process, and what it does."""

    def __init__(self, process: asyncio.subprocess.Process, clock: Clock) -> None:
        self._process = process
        self._clock = clock
        self._commands: dict[int, _Command] = {}
        self._last = 0
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls, clock: Clock) -> _Worker:
        """Raises OSError."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "ktui.kubectl_worker",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            limit=LONGEST, start_new_session=True,
        )  # fmt: skip
        return cls(process, clock)

    @property
    def is_ready(self) -> bool:
        """Whether it is there, and is at nothing that was told to end."""
        return not self._listening.done() and all(command.is_wanted for command in self._commands.values())

    async def run(self, question: dict[str, Any], stdout: TextIO, stderr: TextIO) -> int:
        self._last += 1
        number = self._last
        command = _Command(stdout, stderr, asyncio.get_running_loop().create_future())
        self._commands[number] = command
        self._ask({"id": number, **question})
        try:
            return await asyncio.shield(command.code)
        except asyncio.CancelledError:
            command.is_wanted = False
            self._ask({"id": number, "end": True})
            raise

    def _ask(self, question: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(orjson.dumps(question) + b"\n")

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            self._heard(orjson.loads(line))
            await self._clock.sleep(0)  # many lines may be there already: the screen's keys come in between
        code = await self._process.wait()
        for number, command in tuple(self._commands.items()):
            if command.is_wanted:
                how = f"was killed by signal {-code}" if code < 0 else f"has ended with exit code {code}"
                command.stderr.write(f"error: the process that did this {how}\n")
            self._over(number, 1)

    def _heard(self, answer: dict[str, Any]) -> None:
        number = answer["id"]
        command = self._commands[number]
        if "code" in answer:
            self._over(number, answer["code"])
        elif command.is_wanted:
            (command.stdout if "out" in answer else command.stderr).write(answer.get("out") or answer["err"])

    def _over(self, number: int, code: int) -> None:
        self._commands.pop(number).code.set_result(code)

    async def retire(self) -> None:
        """End it once nothing is wanted of it any more; what was told to end has had its time by then."""
        if wanted := [command.code for command in self._commands.values() if command.is_wanted]:
            await asyncio.wait(wanted)
        if ending := [command.code for command in self._commands.values()]:
            await asyncio.wait(ending, timeout=GRACE_SECONDS)
        await self.end()

    async def end(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._listening


class KubectlProcess:
    """Does kubectl's commands elsewhere."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._worker: _Worker | None = None
        self._starting = asyncio.Lock()
        self._retiring: dict[asyncio.Task[None], _Worker] = {}

    async def warm(self) -> _Worker:
        """The process: a new one where there is none, or where it is still at what nobody waits for. Raises OSError."""
        async with self._starting:
            if self._worker is not None and not self._worker.is_ready:
                retiring = asyncio.create_task(self._worker.retire())
                self._retiring[retiring] = self._worker
                retiring.add_done_callback(self._retiring.pop)
                self._worker = None
            if self._worker is None:
                self._worker = await _Worker.start(self._clock)
            return self._worker

    async def run(
        self, argv: Sequence[str], address: Address, *, namespace: str, stdout: TextIO, stderr: TextIO
    ) -> int:
        """Do one; returns its exit code. Cancelled, it ends the command. Raises OSError where there is no process to
        be had."""
        question = {
            "argv": argv,
            "kubeconfig": address.kubeconfig,
            "server": address.server,
            "namespace": namespace,
        }
        return await (await self.warm()).run(question, stdout, stderr)

    async def close(self) -> None:
        """What still runs ends with it."""
        workers = [*self._retiring.values(), *([self._worker] if self._worker is not None else [])]
        await asyncio.gather(*(worker.end() for worker in workers))
