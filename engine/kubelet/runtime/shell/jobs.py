"""Processes that run side by side under one shell: the foreground command and what was started with `&`."""

from __future__ import annotations

from engine.kubelet.runtime.shell.process import FOREVER, Process


class Job:
    """A process, when it must be woken next, and its exit code once it has ended."""

    def __init__(self, pid: int, process: Process) -> None:
        self.pid = pid
        self.due = 0.0
        self.status: int | None = None
        self._process = process
        self._begun = False

    @property
    def running(self) -> bool:
        return self.status is None

    def advance(self, now: float, signal: str | None = None) -> None:
        """Run until it sleeps again or ends."""
        if self.status is not None:
            return
        try:
            if self._begun:
                seconds = self._process.send(signal)
            else:
                self._begun = True
                seconds = next(self._process)
        except StopIteration as end:
            self.status = int(end.value or 0)
            self.due = FOREVER
            return
        self.due = now + seconds

    def kill(self, status: int) -> None:
        self._process.close()
        self.status = status
        self.due = FOREVER
