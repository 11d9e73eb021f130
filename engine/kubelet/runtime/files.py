"""The files of a simulated container: its own, and those of the volumes that are mounted into it.

A volume is one mapping that all containers of the Pod share, so that what one writes into an emptyDir another reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

_NOTHING: Mapping[str, str] = MappingProxyType({})


class _Mounted(NamedTuple):
    path: str  # where it is in the container, without a slash at the end
    volume: MutableMapping[str, str]  # by path inside the volume
    sub_path: str

    def key(self, path: str) -> str | None:
        """The volume's key of a path in the container; None if the path is not below the mount."""
        if path != self.path and not path.startswith(f"{self.path}/"):
            return None
        inside = path[len(self.path) + 1 :]
        return "/".join(filter(None, (self.sub_path, inside)))

    def paths(self) -> Iterator[str]:
        for key in self.volume:
            if not self.sub_path or key == self.sub_path or key.startswith(f"{self.sub_path}/"):
                inside = key[len(self.sub_path) :].lstrip("/")
                yield f"{self.path}/{inside}" if inside else self.path


class Files(MutableMapping[str, str]):
    """Text by absolute path. `lower` is what the image has, which all its containers share; `now` gives the time of a
    write."""

    def __init__(self, lower: Mapping[str, str] = _NOTHING, now: Callable[[], datetime] | None = None) -> None:
        self._own: dict[str, str] = {}
        self._lower = lower
        self._hidden: set[str] = set()  # files of the image that the container has deleted
        self._mounts: list[_Mounted] = []
        self._now = now
        self._written: dict[str, datetime] = {}
        self.modes: dict[str, int] = {}  # of what chmod has been at
        self.created = now() if now is not None else None

    def modified(self, path: str) -> datetime | None:
        """When the container wrote it last; of all else when the container was made."""
        return self._written.get(path, self.created)

    def written(self) -> tuple[int, int]:
        """What the container has written itself, volumes apart: bytes and files."""
        return sum(len(text.encode(errors="surrogateescape")) for text in self._own.values()), len(self._own)

    def mount_points(self) -> list[str]:
        return sorted(mounted.path for mounted in self._mounts)

    def mount(self, path: str, volume: MutableMapping[str, str], sub_path: str = "") -> None:
        """Show a volume, or a part of it, at a path. The longest path wins."""
        self._mounts.append(_Mounted(path.rstrip("/"), volume, sub_path.strip("/")))
        self._mounts.sort(key=lambda mounted: -len(mounted.path))

    def _place(self, path: str) -> tuple[MutableMapping[str, str], str]:
        for mounted in self._mounts:
            key = mounted.key(path)
            if key is not None:
                return mounted.volume, key
        return self._own, path

    def __getitem__(self, path: str) -> str:
        files, key = self._place(path)
        if files is self._own and key not in self._own and key not in self._hidden:
            return self._lower[key]
        return files[key]

    def __setitem__(self, path: str, text: str) -> None:
        files, key = self._place(path)
        files[key] = text
        if self._now is not None:
            self._written[path] = self._now()

    def __delitem__(self, path: str) -> None:
        files, key = self._place(path)
        of_image = files is self._own and key in self._lower and key not in self._hidden
        if key in files or not of_image:
            del files[key]
        if of_image:
            self._hidden.add(key)
        self._written.pop(path, None)
        self.modes.pop(path, None)

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        for path in self._lower:
            if path not in self._own and path not in self._hidden and self._place(path)[0] is self._own:
                yield path
        for mounted in self._mounts:
            yield from mounted.paths()

    def __len__(self) -> int:
        return sum(1 for _ in self)
