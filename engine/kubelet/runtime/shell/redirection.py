"""Where a command's streams go: files of the container, /dev/null, each other (Shell Command Language, 2.7)."""

from __future__ import annotations

from typing import Protocol

from engine.kubelet.runtime.shell.commands import read_file
from engine.kubelet.runtime.shell.process import Io, Machine, Sink
from engine.kubelet.runtime.shell.syntax import Redirect
from engine.kubelet.runtime.shell.words import Steps, Words


class Shell(Protocol):
    machine: Machine
    name: str

    def path(self, name: str) -> str: ...


def redirected(shell: Shell, words: Words, io: Io, redirects: tuple[Redirect, ...]) -> Steps[Io | None]:
    """The streams after redirection, the same where there is none; None if a file cannot be read."""
    if not redirects:
        return io  # what is read of its input is read for those behind it too
    target = Io(io.stdout, io.stderr, io.stdin, io.input, io.tty, io.watched, io.window)
    for redirect in redirects:
        name = yield from words.text(redirect.target)
        if redirect.operator == ">&":
            sink = target.stdout if name == "1" else target.stderr
        elif redirect.operator.startswith("<<"):
            target.stdin, target.input = f"{name}\n" if redirect.operator == "<<<" else name, None
            continue
        elif redirect.operator == "<":
            text = read_file(shell.machine, shell.path(name))
            if text is None:
                io.stderr(f"{shell.name}: can't open {name}: no such file\n")
                return None
            target.stdin, target.input = text, None
            continue
        else:
            try:
                sink = _file_sink(shell, name, append=redirect.operator == ">>", io=io)
            except OSError as error:
                io.stderr(f"{shell.name}: {_cannot(shell, name)}: {error.strerror}\n")
                return None
        if redirect.fd != 2:
            target.stdout = sink
        if redirect.fd in (2, 3):
            target.stderr = sink
    return target


def _cannot(shell: Shell, name: str) -> str:
    """In the words of ash, of dash and of bash."""
    if shell.machine.busybox:
        return f"can't create {name}"
    return f"line 1: {name}" if "bash" in shell.name else f"1: cannot create {name}"


def _file_sink(shell: Shell, name: str, *, append: bool, io: Io) -> Sink:
    path = shell.path(name)
    if path == "/dev/null":
        return lambda text: None
    if path in ("/dev/stdout", "/proc/1/fd/1", "/proc/self/fd/1"):
        return io.stdout
    if path in ("/dev/stderr", "/proc/1/fd/2", "/proc/self/fd/2"):
        return io.stderr
    files = shell.machine.files
    files[path] = files.get(path, "") if append else ""

    def write(text: str) -> None:
        files[path] = files.get(path, "") + text

    return write
