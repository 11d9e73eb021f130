"""The tree of files and directories that a container shows: what stands where, with mode, owner, size and time.

Directories of the image and those that were made are known by name; those above a file are there because it is.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from engine.kubelet.runtime.shell.commands.call import read_file
from engine.kubelet.runtime.shell.process import Machine

DIRECTORY_SIZE = 4096
BLOCK = 4096


class Entry(NamedTuple):
    """What stands at a path. `target` is what a symbolic link says, that was not followed; of all else empty."""

    path: str
    directory: bool
    mode: int
    uid: int
    gid: int
    owner: str  # the user's name, the number where it has none
    group: str
    size: int
    links: int
    modified: datetime
    target: str = ""

    @property
    def kilobytes(self) -> int:
        """What it takes of the disk, in whole blocks; a short link is kept with its name."""
        return 0 if self.target else -(-self.size // BLOCK) * (BLOCK // 1024)

    @property
    def permissions(self) -> str:
        """As in `drwxr-xr-x`."""
        bits = "".join("rwx"[at % 3] if self.mode & (0o400 >> at) else "-" for at in range(9))
        if self.mode & 0o2000:
            bits = bits[:5] + ("s" if self.mode & 0o010 else "S") + bits[6:]
        if self.mode & 0o1000:
            bits = bits[:-1] + ("t" if self.mode & 1 else "T")
        return ("d" if self.directory else "l" if self.target else "-") + bits


def is_directory(machine: Machine, path: str) -> bool:
    if path in machine.directories or path == "/":
        return True
    above = f"{machine.files.resolved(path)}/"
    return any(name.startswith(above) for names in (machine.files, machine.directories) for name in names)


def names_in(machine: Machine, path: str) -> list[str]:
    """What is in a directory, sorted."""
    above = machine.files.resolved(path).rstrip("/") + "/"
    inside = {
        name[len(above) :].partition("/")[0]
        for names in (machine.files, machine.directories, machine.files.links())
        for name in names
        if name.startswith(above)
    }
    return sorted(inside - {""})


def look_at(machine: Machine, path: str, *, follow: bool = True) -> Entry | None:
    """What stands at a path, or where the link leads that stands there if `follow`; None where nothing does."""
    follow = follow or path.endswith("/")
    path = path.rstrip("/") or "/"
    files = machine.files
    where = files.resolved(path, last=follow)
    modified = files.modified(where) or machine.now()
    uid, gid = files.owner_of(where, follow=follow)
    owner, group = machine.user_name(uid), machine.group_name(gid)
    if not follow and (target := files.link_at(where)) is not None:
        return Entry(path, False, 0o777, uid, gid, owner, group, len(target), 1, modified, target)
    text = read_file(machine, path)
    if text is not None:
        mode = files.mode_of(path)
        if mode is None:
            mode = 0o755 if text.startswith("#!") else 0o644
        size = len(text.encode("utf-8", "surrogateescape"))
        return Entry(path, False, mode, uid, gid, owner, group, size, 1, modified)
    if not is_directory(machine, path):
        return None
    mode = files.mode_of(path, directory=True) or 0
    inside = (join(where, name) for name in names_in(machine, where))
    below = [each for each in inside if files.link_at(each) is None and is_directory(machine, each)]
    return Entry(path, True, mode, uid, gid, owner, group, DIRECTORY_SIZE, 2 + len(below), modified)


def join(path: str, name: str) -> str:
    return f"{path.rstrip('/')}/{name}"
