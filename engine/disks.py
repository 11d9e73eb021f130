"""What simulated volumes hold: text by path, with modes and owners; and the disks behind PersistentVolumes, by name.

A disk outlives the Pods that mount it, wherever they run; the provisioner deletes it with its volume. It lives and
dies with the process, as containers do. Source of modes and owners: pkg/volume volume_linux.go (SetVolumeOwnership).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

SETGID = 0o2000
DIRECTORY_MODE, FILE_MODE = 0o755, 0o644
MEMORY = "Memory"
# What a Pod's fsGroup is allowed to do, beside what anybody is.
_WRITE_MASK, _READ_MASK, _EXECUTE_MASK = 0o660, 0o440, 0o110


def size_of(text: str) -> int:
    """In bytes. Most files are ASCII, which Python knows of a text without looking through it."""
    return len(text) if text.isascii() else len(text.encode(errors="surrogateescape"))


class Volume(dict[str, str]):
    """Text by path inside the volume. `modes` and `owners` (user and group) are of what is not the usual, the volume's
    own stand at "". `links` are symbolic ones, with what they say. A `medium` of Memory is a tmpfs, whose own mode is
    sticky. `written_at` is when a kubelet wrote what is in it, of others None."""

    __slots__ = ("directories", "group", "links", "medium", "modes", "owners", "read_only", "written_at")

    def __init__(
        self,
        files: Mapping[str, str] | None = None,
        modes: Mapping[str, int] | None = None,
        *,
        read_only: bool = False,
        medium: str = "",
    ) -> None:
        super().__init__(files or {})
        self.modes: dict[str, int] = {"": 0o1777 if medium == MEMORY else 0o777, **(modes or {})}
        self.owners: dict[str, tuple[int, int]] = {}
        self.directories: set[str] = set()
        self.links: dict[str, str] = {}
        self.group: int | None = None
        self.read_only = read_only
        self.medium = medium
        self.written_at: datetime | None = None

    def give_to(self, group: int | None) -> None:
        """A Pod's fsGroup gets what is in it, and what will be written."""
        self.group = group
        if group is None:
            return
        self.modes[""] |= SETGID | _EXECUTE_MASK | _WRITE_MASK
        for path in self:
            self.modes[path] = self.modes.get(path, FILE_MODE) | (_READ_MASK if self.read_only else _WRITE_MASK)

    def holds_as(self, other: Volume) -> bool:
        """Whether it has the same files, with the same modes and owners."""
        return self == other and self.modes == other.modes and self.owners == other.owners

    def mode_of(self, path: str, *, directory: bool = False) -> int:
        if not directory:
            return self.modes.get(path, FILE_MODE)
        return self.modes.get(path, DIRECTORY_MODE | (SETGID if self.group is not None else 0))

    def owner_of(self, path: str) -> tuple[int, int]:
        return self.owners.get(path, (0, self.group or 0))

    def make_directory(self, path: str) -> None:
        """With those above it."""
        while path:
            self.directories.add(path)
            path = path.rpartition("/")[0]


class Disks:
    def __init__(self) -> None:
        self._disks: dict[str, Volume] = {}

    def open(self, volume: str) -> Volume:
        """A volume's disk, which is empty at first."""
        return self._disks.setdefault(volume, Volume())

    def delete(self, volume: str) -> None:
        self._disks.pop(volume, None)
