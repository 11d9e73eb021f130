"""`ktui` in a real terminal: a pseudo-terminal with a person's side, which keeps what was drawn."""

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

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 60.0
KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: away
contexts: [{name: away, context: {cluster: away, user: me}}]
clusters: [{name: away, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: me, user: {token: none}}]
"""
# A screen that needs no engine: what it is attached to is away.
SCREEN = (sys.executable, "-m", "ktui", "--attach", "https://127.0.0.1:1")
LEFT_THE_SECOND_SCREEN = "\x1b[?1049l"
CURSOR_IS_BACK = "\x1b[?25h"


class Terminal:
    def __init__(self, descriptor: int, pid: int) -> None:
        self.pid = pid
        self.seen = ""
        self._descriptor = descriptor

    def press(self, keys: str) -> None:
        os.write(self._descriptor, keys.encode())

    def read(self, most: int = 65536, *, within: float = PATIENCE_SECONDS) -> bool:
        """Take in some of what was drawn; says whether there is somebody who could draw more."""
        if self._descriptor < 0:
            return False
        if not select.select([self._descriptor], [], [], within)[0]:
            raise AssertionError(f"nothing was drawn for {within:.0f} s; before it: {self.seen[-2000:]!r}")
        try:
            chunk = os.read(self._descriptor, most)
        except OSError:
            return False
        self.seen += chunk.decode(errors="replace")
        return bool(chunk)

    def until(self, *texts: str) -> None:
        """Read until all of it was drawn."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not all(text in self.seen for text in texts):
            if not self.read() or time.monotonic() > deadline:
                raise AssertionError(f"not drawn: {texts!r}, but {self.seen[-2000:]!r}")

    def forget(self) -> None:
        self.seen = ""

    def resize(self, width: int, height: int) -> None:
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def hang_up(self) -> None:
        """Close the person's side."""
        os.close(self._descriptor)
        self._descriptor = -1

    def ended(self) -> int:
        """How it ended, in the shell's way; it has to do so in a while."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
            with contextlib.suppress(OSError, AssertionError):
                self.read(within=0.05)
        raise AssertionError("it did not end")


@contextmanager
def terminal(
    folder: Path, command: tuple[str, ...] = SCREEN, *, size: tuple[int, int] = (100, 30), colours: str = "truecolor"
) -> Iterator[Terminal]:
    """A command in a terminal of its own; what is left of it in the end is killed."""
    state = folder / ".state"
    state.mkdir(parents=True, exist_ok=True)
    (state / "toured").touch()
    (folder / "kubeconfig").write_text(KUBECONFIG)
    environment = {
        **os.environ, "KTUI_HOME": str(folder), "KUBECONFIG": str(folder / "kubeconfig"), "TERM": "xterm-256color",
        "XDG_CONFIG_HOME": str(folder / "config"), "COLORTERM": colours,
        "PS1": "$ ",
    }  # fmt: skip
    child, descriptor = pty.fork()
    if child == 0:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored where the tests run under nohup
        os.chdir(ROOT)
        os.execvpe(command[0], list(command), environment)
    shown = Terminal(descriptor, child)
    shown.resize(*size)
    try:
        yield shown
    finally:
        if shown.pid:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shown.pid, signal.SIGKILL)
            os.waitpid(shown.pid, 0)
        if shown._descriptor >= 0:
            os.close(descriptor)
