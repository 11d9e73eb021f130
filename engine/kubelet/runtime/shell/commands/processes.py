"""`ps` and `top`: the processes of a container, as busybox (procps/ps.c, top.c) and procps print them.

What a process uses is not simulated: no process has used any time.
"""

from __future__ import annotations

from engine.kubelet.runtime.shell import programs
from engine.kubelet.runtime.shell.commands.call import Call, Command
from engine.kubelet.runtime.shell.process import Process
from engine.kubelet.runtime.shell.processes import asked


def _shown(call: Call) -> list[tuple[int, str]]:
    """Process ids and command lines; who asks is a process as well."""
    own = " ".join(call.argv)
    found = list(call.machine.processes)
    if own in (command for _, command in found):
        return found
    return [*found, (call.machine.processes.last + 1, own)]


def _ps(call: Call) -> int:
    user, rows = call.machine.user_name(call.machine.identity.uid), _shown(call)
    started = f"{call.machine.now():%H:%M}"
    if call.machine.busybox:
        lines = ["PID   USER     TIME  COMMAND", *(f"{pid:5} {user:<8.8}  0:00 {command}" for pid, command in rows)]
    elif any("u" in word for word in call.argv[1:]):
        lines = [
            "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND",
            *(
                f"{user:<8} {pid:7}  0.0  0.0   4400  1600 ?        Ss   {started}   0:00 {command}"
                for pid, command in rows
            ),
        ]
    elif call.flag("f"):
        lines = [
            "UID          PID    PPID  C STIME TTY          TIME CMD",
            *(f"{user:<8} {pid:7} {0:7}  0 {started} ?        00:00:00 {command}" for pid, command in rows),
        ]
    else:
        names = [(pid, command.split()[0].rpartition("/")[2] if command else "") for pid, command in rows]
        lines = ["    PID TTY          TIME CMD", *(f"{pid:7} ?        00:00:00 {name}" for pid, name in names)]
    call.io.stdout("".join(f"{line}\n" for line in lines))
    return 0


def _top(call: Call) -> int | Process:
    rows, user = _shown(call), call.machine.user_name(call.machine.identity.uid)
    now = f"{call.machine.now():%H:%M:%S}"
    if call.machine.busybox:
        head = (
            f"{_memory(call)}CPU:   0% usr   0% sys   0% nic 100% idle   0% io   0% irq   0% sirq\n"
            f"Load average: 0.00 0.00 0.00 1/{len(rows)} {call.machine.processes.last + 1}\n"
            "  PID  PPID USER     STAT   VSZ %VSZ CPU %CPU COMMAND\n"
        )
        body = [f"{pid:5}     0 {user:<8.8} S     4400   0%   0   0% {command}\n" for pid, command in rows]
    else:
        head = (
            f"top - {now} up 0 min,  0 users,  load average: 0.00, 0.00, 0.00\n"
            f"Tasks: {len(rows):3} total,   1 running, {len(rows) - 1:3} sleeping,   0 stopped,   0 zombie\n"
            "%Cpu(s):  0.0 us,  0.0 sy,  0.0 ni,100.0 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st\n"
            f"{_memory(call)}\n"
            "    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n"
        )
        body = [
            f"{pid:7} {user:<8}  20   0    4400   1600   1400 S   0.0   0.0   0:00.00 {command.split()[0]}\n"
            for pid, command in rows
        ]
    call.io.stdout(head + "".join(body))
    return (
        0
        if any(word.lstrip("-").startswith(("n", "bn")) for word in call.argv[1:])
        else programs.block(first=call.first)
    )


def _kill(call: Call) -> int:
    name, pids = asked(call.argv)
    status = 0 if pids else call.fail("you need to specify whom to kill")
    for pid in pids:
        if not (pid.isdigit() and call.machine.processes.signal(int(pid), name)):
            no = f"can't kill pid {pid}" if call.machine.busybox else f"({pid})"
            status = call.fail(f"{no}: No such process" if call.machine.busybox else f"{no} - No such process")
    return status


def _memory(call: Call) -> str:
    """Of the node, of which an eighth is in use, half of that for files."""
    total, busybox = call.machine.memory >> 10, call.machine.busybox
    taken, cached = total // 8, total // 16
    if busybox:
        return f"Mem: {taken}K used, {total - taken}K free, 1032K shrd, {cached // 8}K buff, {cached}K cached\n"
    free, used, available = total - taken, taken - cached, total - taken + cached
    return (
        f"MiB Mem : {total / 1024:8.1f} total, {free / 1024:8.1f} free, {used / 1024:8.1f} used, "
        f"{cached / 1024:8.1f} buff/cache\n"
        f"MiB Swap: {0:8.1f} total, {0:8.1f} free, {0:8.1f} used. {available / 1024:8.1f} avail Mem\n"
    )


COMMANDS: dict[str, Command] = {"kill": _kill, "ps": _ps, "top": _top}
