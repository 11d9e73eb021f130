"""Letting go of the history of heartbeats alone, long before that of all else.

Keys under the quiet prefixes (node leases, and nodes, whose status is a heartbeat too) are written for ever. Kept as
long as all else, their old versions would fill the room that the history has, and push out what people look at. So
their superseded versions go after a time of their own, from the log and from memory: below the *quiet revision* of a
prefix what its keys were is no longer known, and a read that asks for it is told that it is compacted. All other keys
have their whole history still.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from engine.store import log
from engine.store.types import CompactedError, prefix_end

Interval = tuple[bytes, bytes | None]


# Names in the log's meta table, before the prefix in hexadecimal: up to where it is quiet, and the rows looked at.
_REVISION, _CURSOR = log.QUIET_REVISION, "quieted_rows/"


def touches(interval: Interval, prefix: bytes) -> bool:
    """Whether an interval holds keys under a prefix."""
    start, end = interval
    return start < prefix_end(prefix) and (end is None or end > prefix)


class QuietHistory:
    """Up to where the history of each quiet prefix is gone."""

    def __init__(self, revisions: Mapping[bytes, int]) -> None:
        self.revisions = dict(revisions)

    @property
    def revision(self) -> int:
        """From here on nothing is gone."""
        return max(self.revisions.values(), default=0)

    def check_state(self, interval: Interval, revision: int) -> None:
        """Raises CompactedError for the state of quiet keys at a revision that is too old."""
        for prefix, kept in self.revisions.items():
            if revision < kept and touches(interval, prefix):
                raise CompactedError(kept)

    def check_changes(self, interval: Interval, first: int) -> None:
        """Raises CompactedError for changes of quiet keys from a revision on, of which some are gone."""
        for prefix, kept in self.revisions.items():
            if first <= kept and touches(interval, prefix):
                raise CompactedError(kept)


def quiet_revisions(meta: Mapping[str, int]) -> dict[bytes, int]:
    """Of each prefix, as a log has them."""
    return {
        bytes.fromhex(name.removeprefix(_REVISION)): value for name, value in meta.items() if name.startswith(_REVISION)
    }


def set_quiet_revision(connection: sqlite3.Connection, prefix: bytes, revision: int) -> None:
    log.set_meta(connection, _REVISION + prefix.hex(), revision)


def quiet_step(connection: sqlite3.Connection, prefix: bytes, target: int, size: int) -> bool:
    """Drop what the next `size` rows up to a revision have superseded under a prefix; says whether that was the last.

    The newest version of each key up to that revision stays: it is what the key was there.
    """
    meta = dict(connection.execute("SELECT name, value FROM meta"))
    cursor, stop = meta.get(_CURSOR + prefix.hex(), 0), (target + 1) << log.SUB_BITS
    window = "SELECT max(id), count(*) FROM (SELECT id FROM log WHERE id >= ? AND id < ? ORDER BY id LIMIT ?)"
    last, count = connection.execute(window, (cursor, stop, size)).fetchone()
    if count and meta.get("indexed", 0) < last:
        log.index_step(connection, size)
        return False
    with log.lazily_synced(connection), log.transaction(connection):
        # Together with the first rows that go: whoever opens the log must know that they may be missing.
        set_quiet_revision(connection, prefix, max(target, quiet_revisions(meta).get(prefix, 0)))
        if count:
            parameters = {"first": cursor, "last": last, "start": prefix, "end": prefix_end(prefix)}
            superseded = connection.execute(_SUPERSEDED, parameters).fetchall()
            connection.executemany("DELETE FROM log WHERE id = ?", [(row_id,) for _, row_id in superseded])
            connection.executemany("DELETE FROM log_key WHERE key = ? AND id = ?", superseded)
            log.set_meta(connection, _CURSOR + prefix.hex(), last + 1)
    return bool(count < size)


_SUPERSEDED = """
SELECT key, before FROM (
    SELECT key, (SELECT max(old.id) FROM log_key AS old WHERE old.key = log.key AND old.id < log.id) AS before
    FROM log WHERE id >= :first AND id <= :last AND key >= :start AND key < :end
) WHERE before IS NOT NULL
"""
