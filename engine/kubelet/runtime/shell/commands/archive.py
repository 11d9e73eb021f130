"""`tar` on standard input and output, as `kubectl cp` calls it: `tar cf - PATH` and `tar -xmf - -C DIRECTORY`."""

from __future__ import annotations

import io
import re
import tarfile

from engine.kubelet.runtime.shell.commands.call import Call, Command, absolute, read_file
from engine.kubelet.runtime.shell.commands.tree import is_directory, look_at

_UNSAFE = re.compile(r"(.*/)?\.\./+|/+")  # what would lead out of where it is unpacked
_ERRORS = "surrogateescape"  # bytes that are no text survive in files, which are text here


def _tar(call: Call) -> int:
    mode, archive, directory, names = _arguments(call)
    if archive != "-":
        return call.fail("only archives on standard input and output are simulated", 2)
    if not is_directory(call.machine, directory):
        return _nowhere(call, directory)
    if "x" in mode:
        return _extract(call, directory)
    if "c" in mode:
        return _create(call, directory, names)
    return call.fail("you must specify one of 'c', 'x'", 2)


def _nowhere(call: Call, directory: str) -> int:
    if call.machine.busybox:
        return call.fail(f"can't change directory to '{directory}': No such file or directory")
    call.fail(f"{directory}: Cannot open: No such file or directory")
    return call.fail("Error is not recoverable: exiting now", 2)


def _arguments(call: Call) -> tuple[str, str, str, list[str]]:
    words = list(call.argv[1:])
    mode = words.pop(0).lstrip("-") if words else ""
    archive = words.pop(0) if "f" in mode and words else "-"
    directory, names = call.directory, []
    while words:
        word = words.pop(0)
        if word == "-C" and words:
            directory = call.path(words.pop(0))
        elif not word.startswith("-"):
            names.append(word)
    return mode, archive, directory, names


def _extract(call: Call, directory: str) -> int:
    data = io.BytesIO((call.io.stdin or "").encode("utf-8", _ERRORS))
    try:
        with tarfile.open(fileobj=data, mode="r|") as archive:
            for member in archive:
                path = f"{directory.rstrip('/')}/{member.name.strip('/')}"
                if member.isdir():
                    _make_directories(call, path)
                elif member.issym():
                    _make_directories(call, path.rpartition("/")[0])
                    call.machine.files.link(path, member.linkname)
                elif (content := archive.extractfile(member)) is not None:
                    _make_directories(call, path.rpartition("/")[0])
                    call.machine.files[path] = content.read().decode("utf-8", _ERRORS)
    except OSError as error:
        name = member.name
        return call.cannot(error, busybox=f"can't open '{name}'", gnu=f"{name}: Cannot open")
    except tarfile.TarError as error:
        return call.fail(f"This does not look like a tar archive ({error})", 2)
    return 0


def _make_directories(call: Call, path: str) -> None:
    while path:
        call.machine.directories.add(path)
        path = path.rpartition("/")[0]


def _create(call: Call, directory: str, names: list[str]) -> int:
    out, status, warned, busybox = io.BytesIO(), 0, set[str](), call.machine.busybox
    with tarfile.open(fileobj=out, mode="w|", format=tarfile.GNU_FORMAT) as archive:
        for name in names:
            path = absolute(name, directory).rstrip("/") or "/"
            prefix = unsafe.group() if (unsafe := _UNSAFE.match(name)) else ""
            warns = bool(prefix) and prefix not in warned and not (busybox and warned)
            if warns and not busybox:
                call.io.stderr(f"tar: Removing leading `{prefix}' from member names\n")
                warned.add(prefix)
            if look_at(call.machine, path) is None:
                status = call.fail(f"{name}: No such file or directory" if busybox
                                   else f"{name}: Cannot stat: No such file or directory",
                                   1 if busybox else 2)  # fmt: skip
                continue
            if warns and busybox:  # which looks at the file first
                call.io.stderr(f"tar: removing leading '{prefix}' from member names\n")
                warned.add(prefix)
            _add(call, archive, path, name.removeprefix(prefix).strip("/") or ".")
    call.io.stdout(out.getvalue().decode("utf-8", _ERRORS))
    if status and busybox:
        call.fail("error exit delayed from previous errors")
    elif status:
        call.fail("Exiting with failure status due to previous errors")
    return status


def _add(call: Call, archive: tarfile.TarFile, path: str, name: str) -> None:
    """A file, a link as what it says, or a directory with all that is in it."""
    files = call.machine.files
    if (entry := look_at(call.machine, path, follow=False)) is not None and entry.target:
        _add_link(call, archive, name, entry.target)
        return
    text = read_file(call.machine, path)
    if text is not None:
        _add_file(call, archive, name, text)
        return
    above = files.resolved(path).rstrip("/")
    prefix = f"{above}/"
    links = {link for link in files.links() if link.startswith(prefix)}
    folders = {folder for folder in call.machine.directories if folder == above or folder.startswith(prefix)}
    inside = {file for file in files if file.startswith(prefix)} - links
    for folder in sorted(folders or {above}):
        member = tarfile.TarInfo(name + folder[len(above) :])
        member.type, member.mode, member.mtime = tarfile.DIRTYPE, 0o755, int(call.machine.now().timestamp())
        archive.addfile(member)
    for file in sorted(inside):
        _add_file(call, archive, f"{name}/{file[len(prefix) :]}", files[file])
    for link in sorted(links):
        _add_link(call, archive, f"{name}/{link[len(prefix) :]}", files.link_at(link) or "")


def _add_link(call: Call, archive: tarfile.TarFile, name: str, target: str) -> None:
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.mode = tarfile.SYMTYPE, target, 0o777
    member.mtime = int(call.machine.now().timestamp())
    archive.addfile(member)


def _add_file(call: Call, archive: tarfile.TarFile, name: str, text: str) -> None:
    data = text.encode("utf-8", _ERRORS)
    member = tarfile.TarInfo(name)
    member.size, member.mtime = len(data), int(call.machine.now().timestamp())
    archive.addfile(member, io.BytesIO(data))


COMMANDS: dict[str, Command] = {"tar": _tar}
