"""What is on the simulated disks behind PersistentVolumes: text by path, by the volume's name.

A disk outlives the Pods that mount it, wherever they run; the provisioner deletes it with its volume. It lives and
dies with the process, as containers do.
"""

from __future__ import annotations


class Disks:
    def __init__(self) -> None:
        self._files: dict[str, dict[str, str]] = {}

    def open(self, volume: str) -> dict[str, str]:
        """The files of a volume, which is empty at first."""
        return self._files.setdefault(volume, {})

    def delete(self, volume: str) -> None:
        self._files.pop(volume, None)
