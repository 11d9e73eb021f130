"""Where volumes are mounted in a simulated container, and which directories it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet
from typing import TYPE_CHECKING, NamedTuple

from engine.disks import Volume

if TYPE_CHECKING:
    from engine.kubelet.runtime.files import Files


class Mounted(NamedTuple):
    path: str  # where it is in the container, without a slash at the end
    volume: Volume
    sub_path: str
    read_only: bool

    def key(self, path: str) -> str | None:
        """The volume's key of a path in the container; None if the path is not below the mount."""
        if path != self.path and not path.startswith(f"{self.path}/"):
            return None
        inside = path[len(self.path) + 1 :]
        return "/".join(filter(None, (self.sub_path, inside)))

    def shown(self, keys: Iterable[str]) -> Iterator[str]:
        """Where keys of the volume are in the container."""
        for key in keys:
            if not self.sub_path or key == self.sub_path or key.startswith(f"{self.sub_path}/"):
                inside = key[len(self.sub_path) :].lstrip("/")
                yield f"{self.path}/{inside}" if inside else self.path


class Directories(MutableSet[str]):
    """Absolute paths. Those above a file are there because it is, and need not be among them."""

    def __init__(self, files: Files, paths: Iterable[str]) -> None:
        self._files = files
        self._own = set(paths)

    def __contains__(self, path: object) -> bool:
        where = self._files.resolved(str(path))
        if where in self._own:
            return True
        mounted = self._files.mounted(where)
        return mounted is not None and mounted.key(where) in mounted.volume.directories

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        for mounted in self._files.mounts:
            yield from mounted.shown(mounted.volume.directories)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def add(self, path: str) -> None:
        """Raises OSError where it may not be made."""
        path = self._files.resolved(path)
        if path in self or not path:
            return
        self._files.check_writable(path)
        mounted = self._files.mounted(path)
        if mounted is not None and (key := mounted.key(path)):
            mounted.volume.directories.add(key)
        else:
            self._own.add(path)
        self._files.own(path)

    def show(self, path: str) -> None:
        """Have it without asking who may make it: a mount point."""
        self._own.add(path)

    def discard(self, path: str) -> None:
        mounted = self._files.mounted(path)
        if mounted is not None:
            mounted.volume.directories.discard(mounted.key(path) or "")
        self._own.discard(path)
