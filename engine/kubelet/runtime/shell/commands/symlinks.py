"""`ln -s`, `readlink` and `realpath` (busybox coreutils, GNU coreutils)."""

from __future__ import annotations

import posixpath

from engine.kubelet.runtime.shell.commands.call import Call, Command
from engine.kubelet.runtime.shell.commands.fields import options_of
from engine.kubelet.runtime.shell.commands.tree import is_directory, join, look_at


def _ln(call: Call) -> int:
    options, operands = options_of(call, "")
    if not operands:
        return call.fail("missing file operand")
    *targets, name = operands if len(operands) > 1 else (*operands, ".")
    if "s" not in options:
        return call.fail(f"{name}: Operation not permitted")
    status = 0
    for target in targets:
        path = call.path(name)
        into = is_directory(call.machine, path) and not ("n" in options and _says(call, name) is not None)
        status = _link(call, target, join(path, posixpath.basename(target.rstrip("/"))) if into else path) or status
    return status


def _link(call: Call, target: str, path: str) -> int:
    files, was = call.machine.files, look_at(call.machine, path, follow=False)
    try:
        if was is not None and not was.directory and call.flag("f"):
            del files[path]
            was = None
        if was is None:
            files.link(path, target)
            return 0
        why = "File exists"
    except OSError as error:
        why = error.strerror or ""
    return call.fail(f"{path}: {why}" if call.machine.busybox else f"failed to create symbolic link '{path}': {why}")


def _says(call: Call, name: str) -> str | None:
    files = call.machine.files
    return files.link_at(files.resolved(call.path(name).rstrip("/"), last=False))


def _readlink(call: Call) -> int:
    """What links say; with -f, -e or -m where they lead in the end."""
    options, operands = options_of(call, "")
    if not operands:
        return call.fail("missing operand")
    status, found = 0, []
    for name in operands:
        path = _canonical(call, name, options) if options.keys() & {"f", "e", "m"} else _says(call, name)
        if path is None:
            status = 1
        else:
            found.append(path)
    call.io.stdout("\n".join(found) if "n" in options else "".join(f"{path}\n" for path in found))
    return status


def _realpath(call: Call) -> int:
    options, operands = options_of(call, "")
    status = 0
    for name in operands or ["."]:
        path = _canonical(call, name, options)
        if path is None:
            status = call.fail(f"{name}: No such file or directory")
        else:
            call.io.stdout(f"{path}\n")
    return status


def _canonical(call: Call, name: str, options: dict[str, str]) -> str | None:
    """All but the last part must be there; that too with -e, none with -m."""
    path = call.machine.files.resolved(call.path(name).rstrip("/") or "/")
    asked = path if "e" in options else posixpath.dirname(path)
    there = "m" in options or look_at(call.machine, asked) is not None
    return path if there else None


COMMANDS: dict[str, Command] = {"ln": _ln, "readlink": _readlink, "realpath": _realpath}
