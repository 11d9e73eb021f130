"""Utilities whose standard input is still being written: they wait for it (`kubectl exec -i`).

`cat` and `tee` pass on what comes; the others need the whole, and run when the input has ended.
"""

from __future__ import annotations

from engine.kubelet.runtime.shell.commands import Call, Command
from engine.kubelet.runtime.shell.process import FOREVER, Io, Process
from engine.kubelet.runtime.shell.processes import SIGNALS

# How many operands a command may have and still read its standard input.
_WHOLE = {
    "head": 0,
    "tail": 0,
    "wc": 0,
    "sort": 0,
    "grep": 1,
    "egrep": 1,
    "fgrep": 1,
    "tar": 0,
    "sed": 1,
    "awk": 1,
    "cut": 0,
    "tr": 2,
    "uniq": 0,
    "base64": 0,
    "md5sum": 0,
    "sha1sum": 0,
    "sha256sum": 0,
    "sha512sum": 0,
}


def run(call: Call, command: Command) -> int | Process:
    """Run a command, after its input has come if it reads any."""
    name = call.argv[0].rpartition("/")[2]
    if name == "tee" or (name == "cat" and call.operands in ([], ["-"])):
        return _pass_on(call, command)
    if name == "tar":
        return _after_input(call, command) if _extracts_input(call) else command(call)
    if name == "xargs" or (name in _WHOLE and len(call.operands) <= _WHOLE[name]):
        return _after_input(call, command)
    return command(call)


def _extracts_input(call: Call) -> bool:
    """`tar -xmf - -C DIRECTORY`, as kubectl cp calls it."""
    return len(call.argv) > 1 and "x" in call.argv[1] and "-" in call.argv[2:]


def _pass_on(call: Call, command: Command) -> Process:
    def part(text: str) -> None:
        command(_with_stdin(call, text, more=written > 0))

    written = 0
    source = call.io.input
    assert source is not None
    while True:
        if text := source.take():
            part(text)
            written += 1
        elif source.ended():
            if not written:
                part("")
            return 0
        elif (ended := _ended_by((yield FOREVER), call)) is not None:
            return ended


def _after_input(call: Call, command: Command) -> Process:
    parts: list[str] = []
    source = call.io.input
    assert source is not None
    while True:
        if text := source.take():
            parts.append(text)
        elif source.ended():
            break
        elif (ended := _ended_by((yield FOREVER), call)) is not None:
            return ended
    started = command(_with_stdin(call, "".join(parts), more=False))
    return started if isinstance(started, int) else (yield from started)


def _ended_by(signal: str | None, call: Call) -> int | None:
    return 128 + SIGNALS.get(signal, 15) if signal is not None and not call.first else None


def _with_stdin(call: Call, text: str, *, more: bool) -> Call:
    argv = list(call.argv)
    if more and argv[0].endswith("tee"):
        argv.insert(1, "-a")  # what came before stays in the file
    io = Io(call.io.stdout, call.io.stderr, text, watched=call.io.watched)
    return Call(call.machine, argv, io, call.env, call.directory, call.shell, call.first)
