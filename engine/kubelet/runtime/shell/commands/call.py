"""One command to run, and the files that it reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from engine.kubelet.runtime.shell.process import Io, Machine, Process


@dataclass(slots=True)
class Call:
    """One command to run. `first` says that it would be process 1 of the container, which ignores unhandled signals."""

    machine: Machine
    argv: list[str]
    io: Io
    env: Mapping[str, str]
    directory: str = "/"
    shell: str = "sh"
    first: bool = False

    def path(self, name: str) -> str:
        return name if name.startswith("/") else f"{self.directory.rstrip('/')}/{name}"

    def fail(self, message: str, status: int = 1) -> int:
        self.io.stderr(f"{self.argv[0]}: {message}\n")
        return status

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
