"""Commands on files and directories, with the messages of busybox or GNU coreutils."""

from __future__ import annotations

import re

from engine.kubelet.runtime.shell import programs
from engine.kubelet.runtime.shell.commands.call import Call, Command, read_file
from engine.kubelet.runtime.shell.commands.tree import Entry, look_at
from engine.kubelet.runtime.shell.process import Process


def _cat(call: Call) -> int | Process:
    if not call.operands or call.operands == ["-"]:
        if call.io.stdin is None and call.machine.stdin_open:
            return programs.block(first=call.first)
        call.io.stdout(call.io.stdin or "")
        return 0
    status = 0
    for name in call.operands:
        text = read_file(call.machine, call.path(name))
        message = f"can't open '{name}'" if call.machine.busybox else name
        if text is None:
            status = call.fail(f"{message}: No such file or directory")
        elif not call.machine.files.is_readable(call.path(name)):
            status = call.fail(f"{message}: Permission denied")
        else:
            call.io.stdout(text)
    return status


def _touch(call: Call) -> int:
    status = 0
    for name in call.operands:
        path = call.path(name)
        try:
            if path in call.machine.files:
                call.machine.files.check_writable(path)
            elif path not in call.machine.directories:
                call.machine.files[path] = ""
        except OSError as error:
            status = call.cannot(error, busybox=name, gnu=f"cannot touch '{name}'")
    return status


def _rm(call: Call) -> int:
    status, force = 0, call.flag("f")
    for name in call.operands:
        path = call.path(name).rstrip("/")
        quoted = f"can't remove '{name}'" if call.machine.busybox else f"cannot remove '{name}'"
        paths = {*call.machine.files, *call.machine.files.links()}
        inside = sorted(file for file in paths if file == path or file.startswith(f"{path}/"))
        if not inside and path not in call.machine.directories and not force:
            status = call.fail(f"{quoted}: No such file or directory")
        try:
            for file in inside:
                del call.machine.files[file]
        except OSError as error:
            status = call.fail(f"{quoted}: {error.strerror}")
        else:
            call.machine.directories.discard(path)
    return status


def _mkdir(call: Call) -> int:
    for name in call.operands:
        path = call.path(name).rstrip("/")
        if path in call.machine.directories and not call.flag("p"):
            return call.fail(f"can't create directory '{name}': File exists")
        above = path.split("/")
        try:
            for depth in range(2, len(above) + 1):
                call.machine.directories.add("/".join(above[:depth]))
        except OSError as error:
            wanted = f"directory '{name}'"
            return call.cannot(error, busybox=f"can't create {wanted}", gnu=f"cannot create {wanted}")
    return 0


def _copy(call: Call) -> int:
    if len(call.operands) < 2:
        return call.fail("missing file operand")
    *sources, target = call.operands
    for source in sources:
        text = read_file(call.machine, call.path(source))
        if text is None:
            return call.fail(f"can't stat '{source}': No such file or directory")
        path, shown = call.path(target), target
        if path.rstrip("/") in call.machine.directories:
            name = source.rpartition("/")[2]
            path, shown = f"{path.rstrip('/')}/{name}", f"{target.rstrip('/')}/{name}"
        moves = call.argv[0].endswith("mv")
        try:
            call.machine.files[path] = text
            if moves:
                call.machine.files.pop(call.path(source), None)
        except OSError as error:
            return call.cannot(error, busybox=f"can't create '{path}'", gnu=f"cannot create regular file '{path}'")
        if call.flag("v"):
            renamed = "renamed " if moves and not call.machine.busybox else ""
            call.io.stdout(f"{renamed}'{source}' -> '{shown}'\n")
    return 0


def _tee(call: Call) -> int:
    text, status = call.io.stdin or "", 0
    call.io.stdout(text)
    for name in call.operands:
        path = call.path(name)
        try:
            call.machine.files[path] = (call.machine.files.get(path, "") if call.flag("a") else "") + text
        except OSError as error:
            status = call.cannot(error, busybox=name, gnu=name)
    return status


def _chmod(call: Call) -> int:
    words = [word for word in call.argv[1:] if not re.fullmatch(r"-[Rvfc]+", word)]
    if len(words) < 2:
        return call.fail("missing operand")
    mode, *names = words
    for name in names:
        entry = look_at(call.machine, call.path(name))
        if entry is None:
            return _absent(call, name)
        changed = _mode(entry, mode)
        if changed is None:
            return call.fail(f"invalid mode '{mode}'" if call.machine.busybox else f"invalid mode: '{mode}'")
        try:
            call.machine.files.set_mode(entry.path, changed)
        except OSError as error:
            return call.cannot(error, busybox=name, gnu=f"changing permissions of '{name}'")
    return 0


def _chown(call: Call) -> int:
    """Owner, `owner:group` or `:group`, by name or number; `chgrp` takes the group alone."""
    words = [word for word in call.argv[1:] if not re.fullmatch(r"-[Rvfch]+", word)]
    if len(words) < 2:
        return call.fail("missing operand")
    wanted, *names = words
    user, _, group = (f":{wanted}" if call.argv[0].endswith("chgrp") else wanted).partition(":")
    uid, gid = _id_in(call, "/etc/passwd", user), _id_in(call, "/etc/group", group)
    if user and uid is None:
        return call.fail(f"unknown user {user}" if call.machine.busybox else f"invalid user: '{wanted}'")
    if group and gid is None:
        return call.fail(f"unknown group {group}" if call.machine.busybox else f"invalid group: '{wanted}'")
    deep = call.flag("R")
    for name in names:
        path = call.path(name)
        if look_at(call.machine, path) is None:
            return _absent(call, name)
        below = [file for file in call.machine.files if file.startswith(f"{path.rstrip('/')}/")] if deep else []
        try:
            for each in (path, *below):
                call.machine.files.set_owner(each, uid, gid)
        except OSError as error:
            return call.cannot(error, busybox=name, gnu=f"changing ownership of '{name}'")
    return 0


def _id_in(call: Call, database: str, name: str) -> int | None:
    if name.isdecimal():
        return int(name)
    rows = (line.split(":") for line in call.machine.files.get(database, "root:x:0").splitlines())
    return next((int(row[2]) for row in rows if row[0] == name), None)


def _absent(call: Call, name: str) -> int:
    cannot = name if call.machine.busybox else f"cannot access '{name}'"
    return call.fail(f"{cannot}: No such file or directory")


def _mode(entry: Entry, mode: str) -> int | None:
    """An octal mode, or what `u+x,go-w` makes of the one that there is."""
    if re.fullmatch(r"[0-7]{1,4}", mode):
        return int(mode, 8)
    value = entry.mode
    for clause in mode.split(","):
        match = re.fullmatch(r"([ugoa]*)([-+=])([rwxX]*)", clause)
        if match is None:
            return None
        who = "ugo" if "a" in match[1] or not match[1] else match[1]
        shifts = ["ogu".index(each) * 3 for each in who]
        bits = sum({"r": 4, "w": 2, "x": 1, "X": 1}[letter] for letter in set(match[3]))
        mask = sum(bits << shift for shift in shifts)
        whole = sum(7 << shift for shift in shifts)
        value = {"+": value | mask, "-": value & ~mask, "=": (value & ~whole) | mask}[match[2]]
    return value


COMMANDS: dict[str, Command] = {
    "cat": _cat,
    "touch": _touch,
    "rm": _rm,
    "rmdir": _rm,
    "mkdir": _mkdir,
    "cp": _copy,
    "mv": _copy,
    "tee": _tee,
    "chmod": _chmod,
    "chown": _chown,
    "chgrp": _chown,
    "sync": lambda call: 0,
}
