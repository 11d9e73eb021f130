"""`ktui` in a terminal of its own, and what it draws there."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PATIENCE_SECONDS = 30.0
LEAVE_SECONDS = 5.0


class Terminal:
    """The side of the terminal that a person sits at."""

    def __init__(self, descriptor: int, pid: int) -> None:
        self._descriptor = descriptor
        self.pid = pid  # of the screen
        self.began = time.perf_counter()

    def press(self, keys: str) -> None:
        os.write(self._descriptor, keys.encode())

    def until(self, text: str) -> float:
        """Read until `text` was drawn; returns when, on this machine's clock."""
        seen = b""
        deadline = time.perf_counter() + PATIENCE_SECONDS
        while text.encode() not in seen:
            if not select.select([self._descriptor], [], [], max(0.0, deadline - time.perf_counter()))[0]:
                raise RuntimeError(f"{text!r} was not drawn in {PATIENCE_SECONDS:.0f} s")
            seen = seen[-4096:] + os.read(self._descriptor, 65536)
        return time.perf_counter()

    def drain(self, seconds: float) -> None:
        """Let it draw for a while."""
        deadline = time.perf_counter() + seconds
        while (left := deadline - time.perf_counter()) > 0:
            if select.select([self._descriptor], [], [], left)[0]:
                os.read(self._descriptor, 65536)


@contextmanager
def screen(home: Path, *options: str, size: tuple[int, int] = (120, 40)) -> Iterator[Terminal]:
    """The screen of the cluster in `home`; left in the end with Ctrl+C, so that its streams are closed in order."""
    state = home / ".state"  # of somebody who has had the tour
    state.mkdir(parents=True, exist_ok=True)
    (state / "toured").touch()
    child, descriptor = pty.fork()
    if child == 0:
        environment = {
            **os.environ,
            "KTUI_HOME": str(home),
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
        }
        os.chdir(ROOT)
        os.execve(sys.executable, [sys.executable, "-m", "ktui", *options], environment)
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    terminal = Terminal(descriptor, child)
    try:
        yield terminal
    finally:
        _leave(terminal)
        os.close(descriptor)


def _leave(terminal: Terminal) -> None:
    """With the key for it; killed where that does not help."""
    deadline = time.perf_counter() + LEAVE_SECONDS
    with contextlib.suppress(OSError):
        terminal.press("\x03")
        while time.perf_counter() < deadline:
            if os.waitpid(terminal.pid, os.WNOHANG)[0]:
                return
            terminal.drain(0.05)
    with contextlib.suppress(ProcessLookupError):
        os.kill(terminal.pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(terminal.pid, 0)
