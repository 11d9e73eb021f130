"""Commands about time."""

from __future__ import annotations

import re

from engine.kubelet.runtime.shell import programs
from engine.kubelet.runtime.shell.commands.call import Call, Command
from engine.kubelet.runtime.shell.process import Process

_DURATION = re.compile(r"(\d+(?:\.\d+)?|\.\d+|inf(?:inity)?)([smhd]?)")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds_of(text: str) -> float | None:
    match = _DURATION.fullmatch(text)
    return float(match[1]) * _UNITS[match[2]] if match else None


def _sleep(call: Call) -> int | Process:
    total = 0.0
    for argument in call.argv[1:]:
        seconds = seconds_of(argument)
        if seconds is None:
            if call.machine.busybox:
                return call.fail(f"invalid number '{argument}'")
            return call.fail(f"invalid time interval '{argument}'\nTry 'sleep --help' for more information.")
        total += seconds
    if len(call.argv) < 2:
        return call.fail("missing operand")
    return programs.sleep(call.machine, total, first=call.first)


def _date(call: Call) -> int:
    now = call.machine.now()
    form = next((argument[1:] for argument in call.argv[1:] if argument.startswith("+")), "%a %b %e %H:%M:%S UTC %Y")
    form = form.replace("%N", f"{now.microsecond:06d}000").replace("%s", str(int(now.timestamp())))
    call.io.stdout(now.strftime(form) + "\n")
    return 0


COMMANDS: dict[str, Command] = {"sleep": _sleep, "date": _date}
