"""The command line of awk: `-F SEPARATOR`, `-v NAME=VALUE`, `-f FILE`, the program, and files."""

from __future__ import annotations

from getopt import GetoptError, getopt

from engine.kubelet.runtime.shell.commands.awk.reading import Reader, unescaped
from engine.kubelet.runtime.shell.commands.awk.running import Runner
from engine.kubelet.runtime.shell.commands.call import Call, Command, read_file


def _awk(call: Call) -> int:
    try:
        options, operands = getopt(call.argv[1:], "F:v:f:")
    except GetoptError as error:
        return call.fail(f"unrecognized option: {error.opt}")
    variables: dict[str, str] = {}
    programs = []
    for name, value in options:
        if name == "-F":
            variables["FS"] = unescaped(value)
        elif name == "-v":
            variable, _, given = value.partition("=")
            variables[variable] = unescaped(given)
        else:
            programs.append(read_file(call.machine, call.path(value)) or "")
    if not programs and not operands:
        return call.fail("usage: awk [-F SEP] [-v VAR=VAL] PROGRAM [FILE]...")
    program = "\n".join(programs) if programs else operands.pop(0)
    missing = next((name for name in operands if read_file(call.machine, call.path(name)) is None), None)
    if missing is not None:
        return call.fail(f"{missing}: No such file or directory", 2)

    def source() -> str:
        texts = [read_file(call.machine, call.path(name)) or "" for name in operands]
        return "".join(texts) if operands else call.io.stdin or ""

    try:
        return Runner(Reader(program).program(), variables, call.io.stdout).run(source)
    except (ValueError, KeyError, IndexError) as error:
        return call.fail(f"cmd. line:1: {error if isinstance(error, ValueError) else 'syntax error'}")


COMMANDS: dict[str, Command] = {"awk": _awk}
