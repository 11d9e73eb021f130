"""Commands about the machine and its users."""

from __future__ import annotations

from engine.kubelet import kernel
from engine.kubelet.runtime.kernel_files import mounts_of
from engine.kubelet.runtime.shell import programs
from engine.kubelet.runtime.shell.commands.call import Call, Command
from engine.kubelet.runtime.shell.expansion import Arithmetic
from engine.kubelet.runtime.shell.lexer import ShellSyntaxError

_PARAMETERS = "/proc/sys/"


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
    elif call.flag("f"):
        name = _full_name(call, name)
    call.io.stdout(f"{name}\n")
    return 0


def _full_name(call: Call, name: str) -> str:
    """As the hosts file has it."""
    rows = (line.split() for line in call.machine.files.get("/etc/hosts", "").splitlines())
    return next((row[1] for row in rows if name in row[1:]), name)


def _id(call: Call) -> int:
    machine, who = call.machine, call.machine.identity
    groups = sorted(set(who.all_groups)) if machine.busybox else [who.gid, *sorted(set(who.groups) - {who.gid})]
    if call.argv[0].endswith("whoami"):
        name = machine.user_name(who.uid)
        if name.isdecimal():
            unknown = f"unknown uid {who.uid}" if machine.busybox else f"cannot find name for user ID {who.uid}"
            return call.fail(unknown)
        call.io.stdout(f"{name}\n")
    elif call.flag("u") or call.flag("g"):
        number = who.uid if call.flag("u") else who.gid
        name = machine.user_name(number) if call.flag("u") else machine.group_name(number)
        call.io.stdout(f"{name if call.flag('n') else number}\n")
    elif call.flag("G"):
        call.io.stdout(" ".join(machine.group_name(gid) if call.flag("n") else str(gid) for gid in groups) + "\n")
    else:
        listed = ",".join(_numbered(gid, machine.group_name(gid)) for gid in groups)
        user, group = _numbered(who.uid, machine.user_name(who.uid)), _numbered(who.gid, machine.group_name(who.gid))
        call.io.stdout(f"uid={user} gid={group} groups={listed}\n")
    return 0


def _numbered(number: int, name: str) -> str:
    return str(number) if name == str(number) else f"{number}({name})"


def _sysctl(call: Call) -> int:
    files, status = call.machine.files, 0
    names = call.operands
    if call.flag("a"):
        names = sorted(path[len(_PARAMETERS) :].replace("/", ".") for path in files if path.startswith(_PARAMETERS))
    for word in names:
        name, sets, value = word.partition("=")
        path = kernel.sysctl_path(name)
        if path not in files:
            unknown = f"cannot stat {path}: No such file or directory"
            status = call.fail(f"error: '{name}' is an unknown key" if call.machine.busybox else unknown)
            continue
        try:
            if sets:
                files[path] = f"{value}\n"
        except OSError as error:
            status = call.cannot(error, busybox=f"error setting key '{name}'", gnu=f'setting key "{name}"')
            continue
        call.io.stdout(files[path] if call.flag("n") else f"{name.replace('/', '.')} = {files[path]}")
    return status


def _mount(call: Call) -> int:
    """What is mounted; a container may mount nothing."""
    if call.operands:
        return call.fail(f"mounting {call.operands[0]} on {call.operands[-1]} failed: Operation not permitted", 32)
    for device, path, kind, read_only in mounts_of(call.machine):
        call.io.stdout(f"{device} on {path} type {kind} ({'ro' if read_only else 'rw'},relatime)\n")
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


def _uptime(call: Call) -> int:
    """As busybox says it (procps/uptime.c): nobody is logged in."""
    minutes = int(call.machine.monotonic()) // 60
    days, hours = divmod(minutes // 60, 24)
    since = f"{days} day{'s' if days != 1 else ''}, " if days else ""
    since += f"{hours:2}:{minutes % 60:02}" if hours else f"{minutes % 60} min"
    call.io.stdout(f" {call.machine.now():%H:%M:%S} up {since},  0 users,  load average: 0.00, 0.00, 0.00\n")
    return 0


def _nproc(call: Call) -> int:
    """The node's processors: a limit is a share of time, and hides none of them."""
    call.io.stdout(f"{call.machine.cpus}\n")
    return 0


def _expr(call: Call) -> int:
    try:
        value = Arithmetic(" ".join(call.argv[1:]).replace(" = ", " == "), {}).value()
    except ShellSyntaxError:
        return call.fail("syntax error", 2)
    call.io.stdout(f"{value}\n")
    return int(value == 0)


COMMANDS: dict[str, Command] = {
    "sysctl": _sysctl,
    "mount": _mount,
    "env": _env,
    "printenv": _env,
    "hostname": _hostname,
    "id": _id,
    "whoami": _id,
    "uname": _uname,
    "nproc": _nproc,
    "uptime": _uptime,
    "expr": _expr,
    "true": lambda call: 0,
    "false": lambda call: 1,
    "yes": lambda call: programs.block(first=call.first),
}
