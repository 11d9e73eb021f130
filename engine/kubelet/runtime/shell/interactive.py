"""A shell that reads its commands as they are typed, or as a pipe brings them (`kubectl exec -it`)."""

from __future__ import annotations

from engine.kubelet.runtime.shell.commands import Call
from engine.kubelet.runtime.shell.control import BreakLoop, ContinueLoop, ExitShell, ReturnFunction
from engine.kubelet.runtime.shell.interpreter import Interpreter
from engine.kubelet.runtime.shell.lexer import ShellSyntaxError
from engine.kubelet.runtime.shell.parser import parse
from engine.kubelet.runtime.shell.process import FOREVER, Process
from engine.kubelet.runtime.shell.words import Steps

INTERRUPTED = 130
_UNFINISHED = ("unterminated quoted string", "unexpected end of file")


class Interrupted(ExitShell):
    """Ctrl-C: ends the command that runs, not the shell."""


class InteractiveShell(Interpreter):
    at_terminal = False

    def _signalled(self, signal: str) -> None:
        if self.at_terminal and signal == "INT" and signal not in self.traps:
            raise Interrupted(INTERRUPTED)
        super()._signalled(signal)


def run(shell: Interpreter, call: Call) -> Process:
    """Read, run, and so on, until the input ends or the shell exits."""
    if isinstance(shell, InteractiveShell):
        shell.at_terminal = call.io.tty
    try:
        while (text := (yield from _command(shell, call))) is not None:
            try:
                shell.status = yield from shell.evaluate(text, call.io)
            except Interrupted as interrupted:
                shell.status = interrupted.status
            except (ReturnFunction, BreakLoop, ContinueLoop):
                pass
    except ExitShell as end:
        shell.status = end.status
    if "EXIT" in shell.traps:
        yield from shell.evaluate(shell.traps.pop("EXIT"), call.io)
    return shell.status


def _command(shell: Interpreter, call: Call) -> Steps[str | None]:
    """The lines of one whole command; None at the end of the input."""
    text, prompt = "", _prompt(shell, call)
    while True:
        if call.io.tty:
            call.io.stderr(prompt)
        try:
            line = yield from _line(call)
        except Interrupted:
            text, prompt = "", _prompt(shell, call)
            continue
        if line is None:
            return text or None
        text += line
        if not _unfinished(text):
            return text
        prompt = "> "


def _line(call: Call) -> Steps[str | None]:
    source = call.io.input
    assert source is not None
    while (line := source.take_line()) is None:
        if source.ended():
            return None
        signal = yield FOREVER
        if signal == "INT" and call.io.tty:
            raise Interrupted(INTERRUPTED)
        if signal is not None and not call.first:
            raise ExitShell(143)
    return line


def _unfinished(text: str) -> bool:
    if text.endswith("\\\n"):
        return True
    try:
        parse(text)
    except ShellSyntaxError as error:
        return str(error).startswith(_UNFINISHED)
    return False


def _prompt(shell: Interpreter, call: Call) -> str:
    """As busybox, bash and dash prompt when nothing is configured."""
    sign = "#" if call.machine.identity.uid == 0 else "$"
    if "bash" in shell.name:
        user = "root" if sign == "#" else "I have no name!"
        return f"{user}@{call.machine.hostname}:{shell.directory}{sign} "
    return f"{shell.directory} {sign} " if call.machine.busybox else f"{sign} "
