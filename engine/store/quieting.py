"""Letting go of the history of heartbeats alone, long before that of all else.

Keys under the quiet prefixes (node leases) are written every few seconds for ever. Kept for hours, their old versions
would fill the room that the history has, and push out what people look at. So their superseded versions go after
minutes, from the log and from memory: below the *quiet revision* what such keys were is no longer known, and a read
that asks for it is told that it is compacted. All other keys have their whole history still.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from engine.store import log
from engine.store.types import CompactedError, prefix_end

Interval = tuple[bytes, bytes | None]


def touches(interval: Interval, prefixes: Sequence[bytes]) -> bool:
    """Whether an interval holds keys under any of the prefixes."""
    start, end = interval
    return any(start < prefix_end(prefix) and (end is None or end > prefix) for prefix in prefixes)


class QuietHistory:
    """Up to where the quiet keys' history is gone."""

    def __init__(self, prefixes: Sequence[bytes], revision: int) -> None:
        self.prefixes = prefixes
        self.revision = revision

    def check_state(self, interval: Interval, revision: int) -> None:
        """Raises CompactedError for the state of quiet keys at a revision that is too old."""
        if revision < self.revision and touches(interval, self.prefixes):
            raise CompactedError(self.revision)

    def check_changes(self, interval: Interval, first: int) -> None:
        """Raises CompactedError for changes of quiet keys from a revision on, of which some are gone."""
        if first <= self.revision and touches(interval, self.prefixes):
            raise CompactedError(self.revision)


def quiet_step(connection: sqlite3.Connection, target: int, size: int, *, prefixes: Sequence[bytes]) -> bool:
    """Drop what the next `size` rows up to a revision have superseded of quiet keys; says whether that was the last.

    The newest version of each key up to that revision stays: it is what the key was there.
    """
    meta = dict(connection.execute("SELECT name, value FROM meta"))
    cursor, stop = meta.get("quieted_rows", 0), (target + 1) << log.SUB_BITS
    window = "SELECT max(id), count(*) FROM (SELECT id FROM log WHERE id >= ? AND id < ? ORDER BY id LIMIT ?)"
    last, count = connection.execute(window, (cursor, stop, size)).fetchone()
    if count and meta.get("indexed", 0) < last:
        log.index_step(connection, size)
        return False
    with log.lazily_synced(connection), log.transaction(connection):
        # Together with the first rows that go: whoever opens the log must know that they may be missing.
        log.set_meta(connection, "quiet_revision", max(target, meta.get("quiet_revision", 0)))
        if count:
            for prefix in prefixes:
                _drop(connection, prefix, first=cursor, last=last)
            log.set_meta(connection, "quieted_rows", last + 1)
    return bool(count < size)


def _drop(connection: sqlite3.Connection, prefix: bytes, *, first: int, last: int) -> None:
    parameters = {"first": first, "last": last, "start": prefix, "end": prefix_end(prefix)}
    superseded = connection.execute(_SUPERSEDED, parameters).fetchall()
    connection.executemany("DELETE FROM log WHERE id = ?", [(row_id,) for _, row_id in superseded])
    connection.executemany("DELETE FROM log_key WHERE key = ? AND id = ?", superseded)


_SUPERSEDED = """
SELECT key, before FROM (
    SELECT key, (SELECT max(old.id) FROM log_key AS old WHERE old.key = log.key AND old.id < log.id) AS before
    FROM log WHERE id >= :first AND id <= :last AND key >= :start AND key < :end
) WHERE before IS NOT NULL
"""
