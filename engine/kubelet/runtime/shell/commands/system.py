"""Commands about the machine and its users."""

from __future__ import annotations

from engine.kubelet import kernel
from engine.kubelet.runtime.shell import programs
from engine.kubelet.runtime.shell.commands.call import Call, Command
from engine.kubelet.runtime.shell.expansion import Arithmetic
from engine.kubelet.runtime.shell.lexer import ShellSyntaxError


def _env(call: Call) -> int:
    names = call.operands if call.argv[0].endswith("printenv") else []
    if names:
        found = [call.env[name] for name in names if name in call.env]
        call.io.stdout("".join(f"{value}\n" for value in found))
        return int(len(found) < len(names))
    call.io.stdout("".join(f"{name}={value}\n" for name, value in call.env.items()))
    return 0


def _hostname(call: Call) -> int:
    name = call.machine.hostname
    if call.flag("i") or call.flag("I"):
        name = call.machine.address + (" " if call.flag("I") else "")
    elif call.flag("s"):
        name = name.partition(".")[0]
    call.io.stdout(f"{name}\n")
    return 0


def _id(call: Call) -> int:
    root = call.machine.user in ("root", "0")
    uid = "0" if root else call.machine.user
    if call.argv[0].endswith("whoami"):
        call.io.stdout(f"{'root' if root else call.machine.user}\n")
    elif call.flag("u"):
        call.io.stdout(f"{uid}\n")
    else:
        call.io.stdout("uid=0(root) gid=0(root) groups=0(root)\n" if root else f"uid={uid} gid=0(root)\n")
    return 0


def _uname(call: Call) -> int:
    facts = {
        "s": "Linux",
        "n": call.machine.hostname,
        "r": kernel.RELEASE,
        "v": kernel.VERSION,
        "m": "x86_64",
        "o": "GNU/Linux",
    }
    wanted = [letter for letter in facts if call.flag(letter) or call.flag("a")] or ["s"]
    call.io.stdout(" ".join(facts[letter] for letter in wanted) + "\n")
    return 0


def _expr(call: Call) -> int:
    try:
        value = Arithmetic(" ".join(call.argv[1:]).replace(" = ", " == "), {}).value()
    except ShellSyntaxError:
        return call.fail("syntax error", 2)
    call.io.stdout(f"{value}\n")
    return int(value == 0)


COMMANDS: dict[str, Command] = {
    "env": _env,
    "printenv": _env,
    "hostname": _hostname,
    "id": _id,
    "whoami": _id,
    "uname": _uname,
    "expr": _expr,
    "true": lambda call: 0,
    "false": lambda call: 1,
    "yes": lambda call: programs.block(first=call.first),
}
