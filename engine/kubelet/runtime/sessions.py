"""What runs in a simulated container for somebody outside: an exec of a program of its own, or an attach to process 1.

Bytes from outside become text and back without loss (PEP 383): files of simulated containers are text.
"""

from __future__ import annotations

import asyncio
import codecs
import logging
from collections.abc import Callable, Sequence
from contextvars import Context
from functools import partial
from typing import TYPE_CHECKING

from engine.clock import Clock, Timer
from engine.kubelet.runtime.shell import Call, start
from engine.kubelet.runtime.shell.process import FOREVER, Input, Io, OutOfMemoryError, Process, Window
from engine.kubelet.runtime.terminal import Terminal
from engine.streaming import Output

if TYPE_CHECKING:
    from engine.kubelet.runtime.container import SimulatedContainer

log = logging.getLogger(__name__)

KILLED = 137


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


class _Session:
    """The end of a session, and its input."""

    def __init__(self, source: Input | None) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        self._source = source
        self._terminal: Terminal | None = None
        self._window: Window | None = None
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def write(self, data: bytes) -> None:
        if self._source is None:
            return
        text = self._decode(data)
        if self._terminal is not None:
            self._terminal.feed(text)
        else:
            self._source.feed(text)
        self._wake()

    def close_input(self) -> None:
        if self._source is not None:
            self._source.close()
            self._wake()

    def resize(self, columns: int, rows: int) -> None:
        if self._window is not None:
            self._window.columns, self._window.rows = columns, rows

    async def wait(self) -> int:
        return await asyncio.shield(self._ended)

    def _wake(self) -> None:
        """The input has changed: who waits for it looks again."""
        raise NotImplementedError

    def _end(self, code: int) -> None:
        if not self._ended.done():
            self._ended.set_result(code)

    def _fail(self, error: Exception) -> None:
        if not self._ended.done():
            self._ended.set_exception(error)


class ExecSession(_Session):
    """A program beside process 1; it dies with the container. It runs from `begin` on, and reads what came before."""

    def __init__(
        self,
        container: SimulatedContainer,
        command: Sequence[str],
        *,
        stdin: bool,
        tty: bool,
        output: Output,
        clock: Clock,
    ) -> None:
        super().__init__(Input() if stdin else None)
        self._clock = clock
        self._out_of_memory = partial(container.kill, "OOMKilled")
        self._timer: Timer | None = None
        self._process: Process | None = None
        self._begun = False
        self._running = False
        self._pid = 0
        self._held: list[Callable[[], None]] | None = []
        if tty and self._source is not None:
            self._terminal = Terminal(self._source, lambda text: output(1, encoded(text)), self._signal)
        machine = container.machine
        environment = {**machine.env, "TERM": "xterm"} if tty else machine.env
        io = self._io(output, tty=tty)
        self._call = Call(machine, list(command), io, environment, container.status.config.working_dir or "/")
        self._leave = container.when_ended(lambda: self._stop(KILLED))

    def _io(self, output: Output, *, tty: bool) -> Io:
        if not tty:
            return Io(
                lambda text: output(1, encoded(text)), lambda text: output(2, encoded(text)),
                "" if self._source is None else None, self._source, watched=True,
            )  # fmt: skip
        terminal = self._terminal or Terminal(Input(), lambda text: output(1, encoded(text)), self._signal)
        self._window = terminal
        stdin = "" if self._source is None else None
        return Io(terminal.write, terminal.write, stdin, self._source, tty=True, watched=True, window=terminal)

    def begin(self) -> None:
        if self._ended.done():
            return
        Context().run(self._begin)
        held, self._held = self._held or [], None
        for deliver in held:
            deliver()

    def write(self, data: bytes) -> None:
        if self._held is None:
            super().write(data)
        else:
            self._held.append(partial(super().write, data))

    def close_input(self) -> None:
        if self._held is None:
            super().close_input()
        else:
            self._held.append(super().close_input)

    def _begin(self) -> None:
        self._pid = self._call.machine.processes.enter(self._call.argv, self._signalled_from_inside)
        self._call.pid = self._pid
        started = start(self._call)
        if isinstance(started, int):
            self._finish(started)
        else:
            self._process = started
            self._resume()

    def _resume(self, signal: str | None = None) -> None:
        process = self._process
        if process is None or self._running:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._running = True
        try:
            seconds = process.send(signal) if self._begun else next(process)
        except StopIteration as end:
            self._finish(int(end.value or 0) & 0xFF)
            return
        except OutOfMemoryError:
            self._process = None
            self._out_of_memory()  # the session ends with the container
            return
        except Exception:
            log.exception("the simulated program of an exec failed")
            self._finish(255)
            return
        finally:
            self._running = False
        self._begun = True
        if seconds < FOREVER:
            self._timer = self._clock.call_later(seconds, lambda: Context().run(self._resume))

    def _wake(self) -> None:
        Context().run(self._resume)

    def _signalled_from_inside(self, name: str) -> None:
        self._clock.call_later(0, lambda: self._stop(KILLED) if name == "KILL" else self._signal(name))

    def _signal(self, name: str) -> None:
        Context().run(self._resume, name)

    def _finish(self, code: int) -> None:
        self._call.machine.processes.leave(self._pid)
        self._process = None
        if self._timer is not None:
            self._timer.cancel()
        self._leave()
        self._end(code)

    def _stop(self, code: int) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()
        if not self._ended.done():
            self._finish(code)

    def close(self) -> None:
        self._stop(KILLED)


class AttachSession(_Session):
    """What process 1 prints from now on and, if the container has an open input, what it reads.

    It ends with the process, and well whatever that ended with: upstream's ServeAttach tells of no exit code.
    """

    def __init__(self, container: SimulatedContainer, *, stdin: bool, output: Output) -> None:
        super().__init__(container.input if stdin else None)
        self._container = container
        self._attached = True
        self._terminal = container.terminal if stdin else None
        self._window = container.terminal
        self._output = output
        self._stop_listening = container.listen(output)
        self._leave = container.when_ended(lambda: self._end(0))
        if not container.running:
            self._end(0)

    def _wake(self) -> None:
        self._container.input_came()

    def close_input(self) -> None:
        if self._source is not None and self._container.status.config.stdin_once:
            super().close_input()

    def close(self) -> None:
        """With `stdinOnce` the input ends with the first who attached."""
        if self._attached:
            self._attached = False
            self._stop_listening()
            self._leave()
            self.close_input()
            self._end(0)
