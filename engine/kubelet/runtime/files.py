"""The files and directories of a simulated container: its own, and those of the volumes that are mounted into it.

A volume is one object that all containers of the Pod share, so that what one writes into an emptyDir another reads.
Who may write where is as the kernel has it: nobody where the file system is read-only and, but for root, by modes.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from datetime import datetime
from types import MappingProxyType
from typing import Protocol

from engine.disks import DIRECTORY_MODE, Volume, size_of
from engine.kubelet.cri import Identity
from engine.kubelet.runtime.directories import Directories, Mounted
from engine.kubelet.runtime.links import followed

_NOTHING: Mapping[str, str] = MappingProxyType({})
_ROOT = Identity()
# Modes of directories of images that are not the usual.
_MODES = {"/tmp": 0o1777, "/var/tmp": 0o1777, "/dev/shm": 0o1777, "/root": 0o700}
# What is mounted over the root of any container.
_READ_ONLY = 0o444
_DEVICES, _KERNEL = ("/dev", "/proc", "/sys"), ("/proc/sys", "/sys")


class Shown(Protocol):
    """Files that are made when they are read: the kernel's."""

    def read(self, path: str) -> str | None: ...

    def paths(self) -> Iterator[str]: ...


class Files(MutableMapping[str, str]):
    """Text by absolute path. `lower` is what the image has, which all its containers share; `now` gives the time of a
    write. Writing raises OSError where the container's processes may not."""

    def __init__(
        self,
        lower: Mapping[str, str] = _NOTHING,
        now: Callable[[], datetime] | None = None,
        *,
        directories: Iterable[str] = (),
        identity: Identity = _ROOT,
        read_only: bool = False,
        privileged: bool = False,
        termination_log: str = "",
    ) -> None:
        self.mounts: list[Mounted] = []
        self.directories = Directories(self, directories)
        self.identity = identity
        self.read_only = read_only  # but for what is mounted over it
        self.privileged = privileged
        self._termination_log = termination_log  # a mount that anybody may write
        self._own: dict[str, str] = {}
        self._links: dict[str, str] = {}
        self._lower = lower
        self._of_image = frozenset(directories)
        self._hidden: set[str] = set()  # files of the image that the container has deleted
        self._now = now
        self._written: dict[str, datetime] = {}
        self._modes: dict[str, int] = {}
        self._owners: dict[str, tuple[int, int]] = {}
        self.created = now() if now is not None else None
        self.kernel: Shown | None = None

    def modified(self, path: str) -> datetime | None:
        """When the container wrote it last, or the kubelet; of all else when the container was made."""
        if (at := self._written.get(path)) is not None:
            return at
        mounted = self.mounted(path)
        return self.created if mounted is None else mounted.volume.written_at or self.created

    def written(self) -> tuple[int, int]:
        """What the container has written itself, volumes apart: bytes and files."""
        return sum(map(size_of, self._own.values())), len(self._own)

    # -- mounts

    def mount(self, path: str, volume: Volume, sub_path: str = "", *, read_only: bool = False) -> None:
        """Show a volume, or a part of it, at a path. The longest path wins."""
        self.mounts.append(Mounted(path.rstrip("/"), volume, sub_path.strip("/"), read_only or volume.read_only))
        self.mounts.sort(key=lambda mounted: -len(mounted.path))

    def mounted(self, path: str) -> Mounted | None:
        return next((mounted for mounted in self.mounts if mounted.key(path) is not None), None)

    def below(self, root: str) -> Files:
        """As a process sees them whose root is a directory of a mounted volume."""
        inside = Files(now=self._now, identity=self.identity, privileged=self.privileged)
        if (around := self.mounted(root)) is not None:
            inside.mount("", around.volume, around.key(root) or "", read_only=around.read_only)
        for mounted in self.mounts:
            if mounted.path.startswith(f"{root}/"):
                inside.directories.show(mounted.path[len(root) :])
                inside.mount(mounted.path[len(root) :], mounted.volume, mounted.sub_path, read_only=mounted.read_only)
        return inside

    def _place(self, path: str) -> tuple[MutableMapping[str, str], str]:
        for mounted in self.mounts:
            key = mounted.key(path)
            if key is not None:
                return mounted.volume, key
        return self._own, path

    # -- links

    def link_at(self, path: str) -> str | None:
        """What the symbolic link says that stands at a path; None where none does."""
        mounted = self.mounted(path)
        if mounted is None:
            return self._links.get(path)
        return mounted.volume.links.get(mounted.key(path) or "")

    def links(self) -> Iterator[str]:
        """Where symbolic links are."""
        yield from self._links
        for mounted in self.mounts:
            yield from mounted.shown(mounted.volume.links)

    def link(self, path: str, target: str) -> None:
        """Make a symbolic link. Raises OSError where it may not be made."""
        path = self.resolved(path, last=False)
        self.check_writable(path, follow=False)
        mounted = self.mounted(path)
        if mounted is None:
            self._links[path] = target
        else:
            mounted.volume.links[mounted.key(path) or ""] = target
        self.own(path)
        if self._now is not None:
            self._written[path] = self._now()

    def resolved(self, path: str, *, last: bool = True) -> str:
        """Where a path leads; `last` says whether its last part is followed too."""
        if self._links or any(mounted.volume.links and mounted.key(path) is not None for mounted in self.mounts):
            return followed(path, self.link_at, last=last)
        return path

    # -- modes and owners

    def mode_of(self, path: str, *, directory: bool = False) -> int | None:
        """None for a file whose mode nobody has said."""
        path = self.resolved(path)
        if not directory and self._shown(path) is not None:
            return _READ_ONLY
        mounted = self.mounted(path)
        if mounted is not None:
            return mounted.volume.mode_of(mounted.key(path) or "", directory=directory)
        return self._modes.get(path, _MODES.get(path, DIRECTORY_MODE if directory else None))

    def set_mode(self, path: str, mode: int) -> None:
        """Raises OSError for those who may not."""
        path = self.resolved(path)
        self._check_owner(path)
        mounted = self.mounted(path)
        if mounted is None:
            self._modes[path] = mode
        else:
            mounted.volume.modes[mounted.key(path) or ""] = mode

    def owner_of(self, path: str, *, follow: bool = True) -> tuple[int, int]:
        """User and group."""
        path = self.resolved(path, last=follow)
        mounted = self.mounted(path)
        if mounted is not None:
            return mounted.volume.owner_of(mounted.key(path) or "")
        return self._owners.get(path, (0, 0))

    def set_owner(self, path: str, uid: int | None, gid: int | None) -> None:
        """Raises OSError for those who may not."""
        path = self.resolved(path)
        self._check_owner(path, root_only=uid is not None)
        was = self.owner_of(path)
        owners, key = self._owners_at(path)
        owners[key] = (was[0] if uid is None else uid, was[1] if gid is None else gid)

    def own(self, path: str) -> None:
        """What is new at a path belongs to who made it; in a volume with a group, to that."""
        mounted = self.mounted(path)
        group = mounted.volume.group if mounted is not None else None
        who = (self.identity.uid, self.identity.gid if group is None else group)
        if who != (0, group or 0):
            owners, key = self._owners_at(path)
            owners[key] = who

    def _owners_at(self, path: str) -> tuple[dict[str, tuple[int, int]], str]:
        mounted = self.mounted(path)
        return (self._owners, path) if mounted is None else (mounted.volume.owners, mounted.key(path) or "")

    def _check_owner(self, path: str, *, root_only: bool = False) -> None:
        self._check_read_only(path)
        uid = self.identity.uid
        if uid and (root_only or self.owner_of(path)[0] != uid):
            raise OSError(errno.EPERM, os.strerror(errno.EPERM), path)

    # -- who may

    def check_writable(self, path: str, *, follow: bool = True) -> None:
        """Raises OSError if the processes may not write a file, or make what is not there yet."""
        path = self.resolved(path, last=follow)
        if path == self._termination_log:
            return
        self._check_read_only(path)
        if self._shown(path) is not None:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        if not self.identity.uid:
            return
        if path in self:
            allowed = self._allows(path, 2, self.mode_of(path) or 0o644)
        else:
            above = path.rstrip("/").rpartition("/")[0] or "/"
            known = above in self._of_image or self.mounted(above) is not None or above in self._owners
            allowed = not known or self._allows(above, 2, self.mode_of(above, directory=True) or DIRECTORY_MODE)
        if not allowed:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    def is_readable(self, path: str) -> bool:
        return not self.identity.uid or self._allows(path, 4, self.mode_of(path) or 0o644)

    def _allows(self, path: str, bit: int, mode: int) -> bool:
        uid, gid = self.owner_of(path)
        shift = 6 if uid == self.identity.uid else 3 if gid in self.identity.all_groups else 0
        return bool(mode >> shift & bit)

    def _check_read_only(self, path: str) -> None:
        mounted = self.mounted(path)
        if mounted is not None:
            refused = mounted.read_only
        elif path.startswith(_KERNEL):
            refused = not self.privileged
        else:
            refused = self.read_only and not path.startswith(_DEVICES)
        if refused:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)

    # -- a mapping

    def __getitem__(self, path: str) -> str:
        if (shown := self._shown(path)) is not None:
            return shown
        files, key = self._place(self.resolved(path))
        if files is self._own and key not in self._own and key not in self._hidden:
            return self._lower[key]
        return files[key]

    def __setitem__(self, path: str, text: str) -> None:
        path = self.resolved(path)
        self.check_writable(path)
        files, key = self._place(path)
        new = path not in self
        files[key] = text
        if new:
            self.own(path)
        if self._now is not None:
            self._written[path] = self._now()

    def _shown(self, path: str) -> str | None:
        return None if self.kernel is None else self.kernel.read(path)

    def provide(self, path: str, text: str) -> None:
        """Put there what the node and not a process of the container writes."""
        self._own[path] = text

    def __delitem__(self, path: str) -> None:
        if self._shown(path) is not None:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM), path)
        path = self.resolved(path, last=False)
        self._check_read_only(path)
        if self.link_at(path) is not None:
            self._unlink(path)
            return
        files, key = self._place(path)
        of_image = files is self._own and key in self._lower and key not in self._hidden
        if key in files or not of_image:
            del files[key]
        if of_image:
            self._hidden.add(key)
        self._written.pop(path, None)
        if files is self._own:
            self._modes.pop(path, None)
            self._owners.pop(path, None)

    def _unlink(self, path: str) -> None:
        mounted = self.mounted(path)
        if mounted is None:
            del self._links[path]
        else:
            del mounted.volume.links[mounted.key(path) or ""]
        self._written.pop(path, None)

    def __iter__(self) -> Iterator[str]:
        yield from self.stored()
        yield from (path for path in self.links() if path in self)
        if self.kernel is not None:
            yield from self.kernel.paths()

    def stored(self) -> Iterator[str]:
        """All but what the kernel shows."""
        yield from self._own
        for path in self._lower:
            if path not in self._own and path not in self._hidden and self._place(path)[0] is self._own:
                yield path
        for mounted in self.mounts:
            yield from mounted.shown(mounted.volume)

    def __len__(self) -> int:
        return sum(1 for _ in self)
