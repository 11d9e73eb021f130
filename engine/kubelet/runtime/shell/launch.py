"""Starts a program by its name: a shell, a utility, a script that the container has, or a program of its image."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.kubelet.runtime.shell import interactive, programs, reading
from engine.kubelet.runtime.shell.commands import UTILITIES, Call, Command, agnhost, read_file
from engine.kubelet.runtime.shell.commands.clock import seconds_of
from engine.kubelet.runtime.shell.commands.tree import is_directory
from engine.kubelet.runtime.shell.interpreter import Interpreter
from engine.kubelet.runtime.shell.process import Machine, Process
from engine.kubelet.runtime.shell.xargs import xargs


def is_usual_program(name: str) -> bool:
    """Whether most images have a program of this name."""
    base = name.rpartition("/")[2]
    return base in COMMANDS and base not in RARE


def exists(machine: Machine, name: str) -> bool:
    """Whether the container has this program."""
    base = name.rpartition("/")[2]
    if is_usual_program(name):
        return base in (machine.programs or ()) or _is_usual(machine, base)
    if name.startswith("/") and name in machine.files:
        return True
    return machine.programs is None or base in machine.programs


def _is_usual(machine: Machine, base: str) -> bool:
    """Whether images like this one bring a shell or utility along."""
    if machine.bare:
        return False
    if machine.programs is None:
        return True
    return base not in (GNU_SHELLS if machine.busybox else ONLY_OF_BUSYBOX)


def start(call: Call) -> int | Process:
    """Run a program by its name; 127 with the shell's words if the container has none of that name."""
    name = call.argv[0]
    base = name.rpartition("/")[2]
    command = COMMANDS.get(base)
    if command is not None and exists(call.machine, name):
        try:
            return command(call) if call.io.input is None else reading.run(call, command)
        except OSError as error:  # of a file that may not be written
            return call.fail(f"{error.filename}: {error.strerror}")
    if name.startswith("/") and name in call.machine.files:
        return _script(call, call.machine.files[name])
    if exists(call.machine, name):
        return programs.run(call.machine, [base, *call.argv[1:]], call.io, first=call.first)
    if "bash" in call.shell:
        call.io.stderr(f"{call.shell}: line 1: {name}: command not found\n")
    elif "/" in name:
        call.io.stderr(f"{call.shell}: {name}: not found\n")
    else:
        call.io.stderr(
            f"{call.shell}: {name}: not found\n" if call.machine.busybox else f"{call.shell}: 1: {name}: not found\n"
        )
    return 127


def _script(call: Call, text: str) -> Process:
    shell = Interpreter(call.machine, call.io, launch=start, name=call.argv[0], first=call.first)
    shell.arguments = call.argv[1:]
    return shell.run(text)


def _sh(call: Call) -> int | Process:
    name = call.argv[0]
    kind = Interpreter if call.io.input is None else interactive.InteractiveShell
    shell = kind(call.machine, call.io, launch=start, name=name, first=call.first, pid=call.pid)
    shell.variables.update(call.env)
    shell.exported.update(call.env)
    shell.directory = call.directory
    arguments = list(call.argv[1:])
    command: str | None = None
    while arguments and arguments[0].startswith("-") and command is None:
        options = arguments.pop(0)
        if options in ("--", "-"):
            break
        shell.errexit = shell.errexit or ("e" in options and not options.startswith("--"))
        shell.nounset = shell.nounset or ("u" in options and not options.startswith("--"))
        if "o" in options and not options.startswith("--") and arguments:
            named = arguments.pop(0)
            shell.errexit = shell.errexit or named == "errexit"
            shell.nounset = shell.nounset or named == "nounset"
            shell.pipefail = shell.pipefail or named == "pipefail"
        if "c" in options and not options.startswith("--"):
            if not arguments:
                return call.fail("-c requires an argument", 2)
            command = arguments.pop(0)
    if command is not None:
        if arguments:
            shell.name = arguments.pop(0)
        shell.arguments = arguments
        return shell.run(command)
    if arguments:
        text = read_file(call.machine, call.path(arguments[0]))
        if text is None:
            return call.fail(f"can't open '{arguments[0]}': No such file or directory", 2)
        shell.arguments = arguments[1:]
        return shell.run(text)
    if call.io.input is not None:
        return interactive.run(shell, call)
    if call.io.stdin:
        return shell.run(call.io.stdin)
    return programs.block(first=call.first) if call.machine.stdin_open else 0


def _timeout(call: Call) -> int | Process:
    arguments = [argument for argument in call.argv[1:] if not argument.startswith("-")]
    limit = seconds_of(arguments[0]) if arguments else None
    if limit is None or len(arguments) < 2:
        return call.fail("invalid time interval", 125)
    inner = start(Call(call.machine, arguments[1:], call.io, call.env, call.directory, call.shell))
    return inner if isinstance(inner, int) else programs.limited(call.machine, inner, limit)


def _chroot(call: Call) -> int | Process:
    """`chroot DIRECTORY [COMMAND]`: into the file system of the node, where somebody has mounted it. Programs are no
    files here, so another directory has none, whatever is in it."""
    busybox = call.machine.busybox
    arguments = call.argv[1:]
    if not arguments:
        return call.fail("missing operand\nTry 'chroot --help' for more information.", _CHROOT_FAILED)
    root, command = call.path(arguments[0]).rstrip("/"), arguments[1:] or ["/bin/sh", "-i"]
    files = call.machine.files
    refused = (
        "No such file or directory" if not is_directory(call.machine, root or "/")
        else "Operation not permitted" if files.identity.uid else ""
    )  # fmt: skip
    if refused:
        what = "can't change root directory to" if busybox else "cannot change root directory to"
        return call.fail(f"{what} '{arguments[0]}': {refused}", _CHROOT_FAILED)
    if not root:
        return start(Call(call.machine, command, call.io, call.env, "/", call.shell, call.first))
    inside = replace(call.machine, files=files.below(root), programs=None, busybox=False)
    if files.mounted(root) is None or not is_directory(inside, "/bin"):
        what = "can't execute" if busybox else "failed to run command"
        return call.fail(f"{what} '{command[0]}': No such file or directory", programs.NOT_FOUND)
    return start(Call(inside, command, call.io, call.env, "/", call.shell, call.first))


_CHROOT_FAILED = 125


def _which(call: Call) -> int:
    status = 0
    for name in call.operands:
        base = name.rpartition("/")[2]
        if not (base in COMMANDS or base in (call.machine.programs or ())) or not exists(call.machine, name):
            status = 1
            continue
        folder = "/bin" if call.machine.busybox or base in ("sh", "bash") else "/usr/bin"
        folder = _PLACES.get(base, folder)
        call.io.stdout(f"{name if '/' in name else f'{folder}/{base}'}\n")
    return status


_PLACES = {
    "nginx": "/usr/sbin",
    **dict.fromkeys(("redis-server", "redis-cli", "python", "python3", "node", "npm", "npx"), "/usr/local/bin"),
}
# What images that are not built on busybox seldom have, and what those that are do not.
ONLY_OF_BUSYBOX = frozenset({"kill", "ps", "top", "uptime", "ash"})
GNU_SHELLS = frozenset({"bash", "dash"})
RARE = frozenset({"dig", *agnhost.COMMANDS})  # and what few images have

COMMANDS: Mapping[str, Command] = {
    **UTILITIES,
    **dict.fromkeys(("sh", "bash", "ash", "dash"), _sh),
    "chroot": _chroot,
    "timeout": _timeout,
    "which": _which,
    "xargs": lambda call: xargs(call, start),
}
