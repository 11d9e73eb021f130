"""`stty` and `tty`: what a command can ask of the terminal that its input comes from (busybox coreutils/stty.c, GNU
stty.c). What it would set besides the size, nobody sees here."""

from __future__ import annotations

from engine.kubelet.runtime.shell.commands.call import Call, Command

_SIDES = {"rows": "rows", "cols": "columns", "columns": "columns"}


def _stty(call: Call) -> int:
    window = call.io.window
    if window is None:
        source = "standard input" if call.machine.busybox else "'standard input'"
        return call.fail(f"{source}: Inappropriate ioctl for device")
    words = call.argv[1:]
    if not words:
        call.io.stdout("speed 38400 baud; line = 0;\n")
    while words:
        word = words.pop(0)
        if word == "size":
            call.io.stdout(f"{window.rows} {window.columns}\n")
        elif word in _SIDES:
            if not words or not words[0].isdecimal():
                return call.fail(f"missing argument to '{word}'")
            setattr(window, _SIDES[word], int(words.pop(0)))
    return 0


def _tty(call: Call) -> int:
    named = call.io.window is not None
    if "-s" not in call.argv[1:]:
        call.io.stdout("/dev/pts/0\n" if named else "not a tty\n")
    return 0 if named else 1


COMMANDS: dict[str, Command] = {"stty": _stty, "tty": _tty}
