"""How a kubelet puts the files of ConfigMaps, Secrets, projected and downward API volumes on its disk: in a directory
with a time in its name, to which `..data` leads, and through it each name that is seen (pkg/volume/util
atomic_writer.go). A change makes another such directory and leads `..data` there, so that all files change at once.
"""

from __future__ import annotations

from datetime import datetime

from engine.clock import Clock
from engine.disks import Volume
from engine.rng import Rng

DATA = "..data"


class AtomicVolume(Volume):
    """`payload` is what it holds, by the paths that its source gives."""

    __slots__ = ("payload",)

    def __init__(self) -> None:
        super().__init__(read_only=True)
        self.payload: Volume | None = None

    def write(self, payload: Volume, group: int | None, clock: Clock, rng: Rng) -> None:
        """Show another payload; one that is as it was changes nothing."""
        if self.payload is not None and payload.holds_as(self.payload):
            return
        now = clock.now()
        directory = _directory(now, rng)
        self.payload, self.written_at, self.medium = payload, now, payload.medium
        self.clear()
        self.directories.clear()
        self.make_directory(directory)
        for path, text in payload.items():
            self[f"{directory}/{path}"] = text
            self.make_directory(f"{directory}/{path}".rpartition("/")[0])
        self.modes = {f"{directory}/{path}" if path else "": mode for path, mode in payload.modes.items()}
        self.owners = {f"{directory}/{path}": owner for path, owner in payload.owners.items()}
        shown = {path.partition("/")[0] for path in payload}
        self.links = {DATA: directory, **{name: f"{DATA}/{name}" for name in sorted(shown)}}
        self.give_to(group)

    def part(self, sub_path: str) -> Volume:
        """What a container is given of it that mounts a subPath: the file itself, which no later change reaches."""
        payload = self.payload or Volume()
        inside = f"{sub_path}/"
        kept = {path: text for path, text in payload.items() if path == sub_path or path.startswith(inside)}
        part = Volume(kept, {path: payload.modes[path] for path in kept if path in payload.modes}, medium=self.medium)
        part.owners = {path: payload.owners[path] for path in kept if path in payload.owners}
        part.give_to(self.group)
        part.read_only, part.written_at = True, self.written_at
        return part


def _directory(now: datetime, rng: Rng) -> str:
    """As Go's os.MkdirTemp names it."""
    return f"..{now:%Y_%m_%d_%H_%M_%S}.{rng.bits(32)}"
