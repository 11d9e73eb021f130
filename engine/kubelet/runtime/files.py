"""The files of a simulated container: its own, and those of the volumes that are mounted into it.

A volume is one mapping that all containers of the Pod share, so that what one writes into an emptyDir another reads.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import NamedTuple


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
    """Text by absolute path."""

    def __init__(self) -> None:
        self._own: dict[str, str] = {}
        self._mounts: list[_Mounted] = []

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
        return files[key]

    def __setitem__(self, path: str, text: str) -> None:
        files, key = self._place(path)
        files[key] = text

    def __delitem__(self, path: str) -> None:
        files, key = self._place(path)
        del files[key]

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        for mounted in self._mounts:
            yield from mounted.paths()

    def __len__(self) -> int:
        return sum(1 for _ in self)
