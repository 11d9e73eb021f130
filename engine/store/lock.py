"""One process per store: an advisory lock on a file beside it, which the system drops when the process dies.

The file also says who holds the store and, from behind every commit, the last acknowledged revision. That is never
ahead of what is on disk, so a log that ends before it has lost its tail.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from engine.store.types import StoreError

_LINE = b"%020d %020d %020d\n"  # process, store id, acknowledged revision


class StoreLock:
    def __init__(self, store: Path) -> None:
        """Take the lock; raises StoreError if another process holds it or the folder cannot be written."""
        self.path = store.with_name(store.name + ".lock")
        self._store_id = 0
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(
                f"cannot open {self.path}: {error.strerror}; give ktui a folder that it may write"
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = self._read()[0]
            os.close(self._file)
            raise StoreError(
                f"{store} is in use by process {holder}; stop that first (ktui down), or name another data folder"
            ) from error

    def _read(self) -> tuple[int, int, int]:
        words = os.pread(self._file, 100, 0).split()
        try:
            holder, store_id, acknowledged = (int(word) for word in words)
        except ValueError:
            return 0, 0, 0
        return holder, store_id, acknowledged

    @property
    def last(self) -> int:
        """The last revision that was acknowledged by whichever store was here."""
        return self._read()[2]

    def acknowledged(self, store_id: int) -> int:
        """The last revision that was acknowledged by the store of this id; 0 if the file is about another one."""
        _, known_id, revision = self._read()
        return revision if known_id == store_id else 0

    def claim(self, store_id: int, revision: int) -> None:
        """Say that this process now holds the store."""
        self._store_id = store_id
        self.acknowledge(revision)

    def acknowledge(self, revision: int) -> None:
        os.pwrite(self._file, _LINE % (os.getpid(), self._store_id, revision), 0)

    def release(self) -> None:
        os.close(self._file)
