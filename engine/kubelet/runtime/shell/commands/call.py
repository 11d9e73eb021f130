"""One command to run, and the files that it reads."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from engine.kubelet.runtime.shell.process import Io, Machine, Process


def absolute(name: str, directory: str) -> str:
    """A path from the root, without `.` and `..`."""
    path = name if name.startswith("/") else f"{directory.rstrip('/')}/{name}"
    if "." not in path and "//" not in path:
        return path
    return "/" + posixpath.normpath(path).lstrip("/") + ("/" if name.endswith("/") and name.strip("./") else "")


@dataclass(slots=True)
class Call:
    """One command to run. `first` says that it would be process 1 of the container, which ignores unhandled signals;
    `pid` is its id where others of the container can see it."""

    machine: Machine
    argv: list[str]
    io: Io
    env: Mapping[str, str]
    directory: str = "/"
    shell: str = "sh"
    first: bool = False
    pid: int = 7

    def path(self, name: str) -> str:
        return absolute(name, self.directory)

    def fail(self, message: str, status: int = 1) -> int:
        self.io.stderr(f"{self.argv[0]}: {message}\n")
        return status

    def cannot(self, error: OSError, *, busybox: str, gnu: str) -> int:
        """Say what could not be done with a file, and why, in the tool's own words."""
        return self.fail(f"{busybox if self.machine.busybox else gnu}: {error.strerror}")

    @property
    def operands(self) -> list[str]:
        return [argument for argument in self.argv[1:] if not argument.startswith("-") or argument == "-"]

    def flag(self, letter: str) -> bool:
        return any(re.fullmatch(r"-[A-Za-z0-9]+", argument) and letter in argument for argument in self.argv[1:])


Command = Callable[[Call], int | Process]


def read_file(machine: Machine, path: str) -> str | None:
    if path == "/dev/null":
        return ""
    if path == "/etc/hostname":
        return f"{machine.hostname}\n"
    return machine.files.get(path)
