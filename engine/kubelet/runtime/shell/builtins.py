"""The commands that act on the shell itself (Shell Command Language, 2.14)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING

from engine.kubelet.runtime.shell.commands.tree import is_directory
from engine.kubelet.runtime.shell.control import BreakLoop, ContinueLoop, ExitShell, ReturnFunction
from engine.kubelet.runtime.shell.process import FOREVER, Io
from engine.kubelet.runtime.shell.processes import SIGNALS, asked

if TYPE_CHECKING:
    from engine.kubelet.runtime.shell.interpreter import Interpreter

Builtin = Callable[["Interpreter", list[str], Io], Generator[float, str | None, int]]
_Plain = Callable[["Interpreter", list[str], Io], int]


def _plain(function: _Plain) -> Builtin:
    """A builtin that never waits."""

    def run(shell: Interpreter, argv: list[str], io: Io) -> Generator[float, str | None, int]:
        yield from ()
        return function(shell, argv, io)

    return run


def _number(shell: Interpreter, argv: list[str], default: int) -> int:
    if len(argv) < 2:
        return default
    try:
        return int(argv[1])
    except ValueError:
        raise ExitShell(2) from None


def _colon(shell: Interpreter, argv: list[str], io: Io) -> int:
    return 0


def _exit(shell: Interpreter, argv: list[str], io: Io) -> int:
    raise ExitShell(_number(shell, argv, shell.status) & 0xFF)


def _return(shell: Interpreter, argv: list[str], io: Io) -> int:
    raise ReturnFunction(_number(shell, argv, shell.status) & 0xFF)


def _break(shell: Interpreter, argv: list[str], io: Io) -> int:
    raise BreakLoop(max(1, _number(shell, argv, 1)))


def _continue(shell: Interpreter, argv: list[str], io: Io) -> int:
    raise ContinueLoop(max(1, _number(shell, argv, 1)))


def _cd(shell: Interpreter, argv: list[str], io: Io) -> int:
    wanted = argv[1] if len(argv) > 1 else shell.variables.get("HOME", "/")
    target = shell.path(shell.variables.get("OLDPWD", shell.directory) if wanted == "-" else wanted)
    if len(argv) < 2 and not is_directory(shell.machine, target.rstrip("/") or "/"):
        target = "/"
    if not is_directory(shell.machine, target.rstrip("/") or "/"):
        io.stderr(f"{shell.name}: cd: can't cd to {argv[1]}: No such file or directory\n")
        return 2
    shell.variables["OLDPWD"] = shell.directory
    shell.directory = target.rstrip("/") or "/"
    shell.variables["PWD"] = shell.directory
    if wanted == "-":
        io.stdout(f"{shell.directory}\n")
    return 0


def _pwd(shell: Interpreter, argv: list[str], io: Io) -> int:
    io.stdout(f"{shell.directory}\n")
    return 0


def _export(shell: Interpreter, argv: list[str], io: Io) -> int:
    for argument in argv[1:]:
        name, assigned, value = argument.partition("=")
        if assigned:
            shell.variables[name] = value
        shell.exported.add(name)
    if len(argv) == 1:
        for name, value in shell.environment().items():
            io.stdout(f"export {name}='{value}'\n")
    return 0


def _unset(shell: Interpreter, argv: list[str], io: Io) -> int:
    for name in argv[1:]:
        shell.variables.pop(name, None)
        shell.exported.discard(name)
    return 0


def _local(shell: Interpreter, argv: list[str], io: Io) -> int:
    for argument in argv[1:]:
        name, _, value = argument.partition("=")
        shell.variables[name] = value
    return 0


def _set(shell: Interpreter, argv: list[str], io: Io) -> int:
    """Of the options those that change what scripts do here; `-o` names one by a word of its own."""
    words = argv[1:]
    while words:
        word = words.pop(0)
        if word == "--":
            shell.arguments = words
            break
        if word[:1] not in ("-", "+"):
            shell.arguments = [word, *words]
            break
        named = words.pop(0) if "o" in word[1:] and words else ""
        if "e" in word[1:] or named == "errexit":
            shell.errexit = word[0] == "-"
        if "u" in word[1:] or named == "nounset":
            shell.nounset = word[0] == "-"
        if named == "pipefail":
            shell.pipefail = word[0] == "-"
    return 0


def _shift(shell: Interpreter, argv: list[str], io: Io) -> int:
    count = _number(shell, argv, 1)
    if count > len(shell.arguments):
        return 1
    shell.arguments = shell.arguments[count:]
    return 0


def _trap(shell: Interpreter, argv: list[str], io: Io) -> int:
    if len(argv) < 3:
        return 0
    action = argv[1]
    for signal in argv[2:]:
        name = {"15": "TERM", "2": "INT", "0": "EXIT", "1": "HUP", "3": "QUIT"}.get(signal, signal.removeprefix("SIG"))
        if action == "-":
            shell.traps.pop(name, None)
        else:
            shell.traps[name] = action
    return 0


def _umask(shell: Interpreter, argv: list[str], io: Io) -> int:
    if len(argv) == 1:
        io.stdout("0022\n")
    return 0


def _read(shell: Interpreter, argv: list[str], io: Io) -> Generator[float, str | None, int]:
    """One line of the standard input, once it has come."""
    if io.input is not None:
        while (line := io.input.take_line()) is None:
            if io.input.ended():
                break
            yield FOREVER
        io.stdin = line
    return _assign(shell, argv, io)


def _assign(shell: Interpreter, argv: list[str], io: Io) -> int:
    """One line of what is left of the standard input."""
    names = [name for name in argv[1:] if not name.startswith("-")] or ["REPLY"]
    line, _, rest = (io.stdin or "").partition("\n")
    if not io.stdin:
        for name in names:
            shell.variables[name] = ""
        return 1
    io.stdin = rest
    values = line.split(None, len(names) - 1)
    for index, name in enumerate(names):
        shell.variables[name] = values[index] if index < len(values) else ""
    return 0


def _eval(shell: Interpreter, argv: list[str], io: Io) -> Generator[float, str | None, int]:
    return shell.evaluate(" ".join(argv[1:]), io)


def _wait(shell: Interpreter, argv: list[str], io: Io) -> Generator[float, str | None, int]:
    jobs = shell.jobs
    if len(argv) > 1:
        jobs = [job for job in shell.jobs if str(job.pid) in argv[1:]]
        if not jobs:
            return 127
    yield from shell.wait_for(*jobs, interruptible=True)
    if any(job.running for job in jobs):
        return 143  # a trap came first
    status = jobs[-1].status or 0 if len(argv) > 1 else 0
    shell.jobs = [job for job in shell.jobs if job.running]
    return status


def _kill(shell: Interpreter, argv: list[str], io: Io) -> Generator[float, str | None, int]:
    """Jobs of the shell by their ids, and any other process of the container."""
    name, pids = asked(argv)
    if not pids:
        io.stderr(f"{shell.name}: kill: usage: kill [-s sigspec | -signum | -sigspec] pid\n")
        return 2
    status = 0
    for pid in pids:
        job = next((job for job in shell.jobs if str(job.pid) == pid and job.running), None)
        if job is not None:
            if name in SIGNALS:
                job.kill(128 + SIGNALS[name])
        elif not (pid.isdigit() and shell.machine.processes.signal(int(pid), name)):
            status = 1
            io.stderr(
                f"{shell.name}: can't kill pid {pid}: No such process\n"
                if shell.machine.busybox
                else f"{shell.name}: 1: kill: No such process\n"
            )
        else:
            yield from shell.take_signals()
    return status


def _command(shell: Interpreter, argv: list[str], io: Io) -> Generator[float, str | None, int]:
    """With `-v` or `-V` it says what a name stands for; else it runs a command."""
    if argv[1:2] in (["-v"], ["-V"]):
        return _named(shell, argv[2:], io, brief=argv[1] == "-v")
    words = argv[2:] if argv[1:2] in (["-p"], ["--"]) else argv[1:]
    return (yield from shell.run_command(words, io)) if words else 0


def _type(shell: Interpreter, argv: list[str], io: Io) -> int:
    return _named(shell, argv[1:], io, brief=False)


def _named(shell: Interpreter, names: list[str], io: Io, *, brief: bool) -> int:
    status = 0
    for name in names:
        builtin = name in BUILTINS
        place = name if builtin else shell.located(name)
        if brief and place:
            io.stdout(f"{place}\n")
        elif place:
            io.stdout(f"{name} is a shell builtin\n" if builtin else f"{name} is {place}\n")
        else:
            bash = "bash" in shell.name
            status = 1 if bash else 127
            if bash and not brief:
                io.stderr(f"{shell.name}: line 1: type: {name}: not found\n")
            elif not brief:
                io.stdout(f"{name}: not found\n")
    return status


BUILTINS: Mapping[str, Builtin] = {
    ":": _plain(_colon),
    "exec": _plain(_colon),  # with a command behind it the interpreter has dealt with it
    "exit": _plain(_exit),
    "return": _plain(_return),
    "break": _plain(_break),
    "continue": _plain(_continue),
    "cd": _plain(_cd),
    "pwd": _plain(_pwd),
    "export": _plain(_export),
    "readonly": _plain(_export),
    "unset": _plain(_unset),
    "local": _plain(_local),
    "set": _plain(_set),
    "shift": _plain(_shift),
    "trap": _plain(_trap),
    "umask": _plain(_umask),
    "read": _read,
    "kill": _kill,
    "command": _command,
    "type": _plain(_type),
    "eval": _eval,
    "wait": _wait,
}
