"""What files take up: of a container's own layer, of its log and of volumes (what cAdvisor and the runtime measure)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from engine.disks import size_of
from engine.kubelet.cri.services import ContainerLog


class Space(NamedTuple):
    size: int = 0
    files: int = 0

    def plus(self, other: Space) -> Space:
        return Space(self.size + other.size, self.files + other.files)


def space_of(texts: Iterable[str]) -> Space:
    sizes = [size_of(text) for text in texts]
    return Space(sum(sizes), len(sizes))


def log_space(log: ContainerLog) -> Space:
    """A line of the file has its time, its stream and whether it is whole before it (CRI's log format)."""
    size = 0
    for line in log.read():
        size += len(line.timestamp) + len(line.stream) + len("  F \n") + size_of(line.text)
    return Space(size, 1)
