"""Taking superseded rows out of the revision log, a few at a time, and giving their space back.

After etcd's server/storage/mvcc `kvstore_compaction.go`, which works in batches with pauses for the same reason.
"""

from __future__ import annotations

import sqlite3

from engine.store import log


def compact_step(connection: sqlite3.Connection, size: int) -> bool:
    """Drop what the next `size` rows up to the compacted revision have superseded; says whether that was the last.

    Every row drops the one before it of the same key, and a deletion itself. A deletion at the compacted revision
    stays until the next compaction, for a watch that starts there.
    """
    meta = dict(connection.execute("SELECT name, value FROM meta"))
    target, cursor = meta.get("compact_revision", 0), meta.get("compacted_rows", 0)
    edge, stop = target << log.SUB_BITS, (target + 1) << log.SUB_BITS
    if cursor == edge:
        return True
    window = "SELECT max(id), count(*) FROM (SELECT id FROM log WHERE id >= ? AND id < ? ORDER BY id LIMIT ?)"
    last, count = connection.execute(window, (cursor, stop, size)).fetchone()
    if count and meta.get("indexed", 0) < last:
        log.index_step(connection, size)
        return False
    done = bool(count < size)
    with log.lazily_synced(connection), log.transaction(connection):
        if count:
            connection.execute("CREATE TEMP TABLE IF NOT EXISTS doomed (key BLOB, id INTEGER PRIMARY KEY)")
            connection.execute(_SUPERSEDED, {"first": cursor, "last": last, "edge": edge})
            connection.execute("DELETE FROM log WHERE id IN (SELECT id FROM doomed)")
            connection.execute("DELETE FROM log_key WHERE (key, id) IN (SELECT key, id FROM doomed)")
            connection.execute("DELETE FROM doomed")
        # The next compaction looks at the rows of the compacted revision once more.
        log.set_meta(connection, "compacted_rows", edge if done else last + 1)
    return done


_SUPERSEDED = """
INSERT INTO doomed
SELECT key, before FROM (
    SELECT key, (SELECT max(old.id) FROM log_key AS old WHERE old.key = log.key AND old.id < log.id) AS before
    FROM log WHERE id >= :first AND id <= :last
) WHERE before IS NOT NULL
UNION
SELECT key, id FROM log WHERE version = 0 AND id >= :first AND id <= :last AND id < :edge
"""


def defrag(connection: sqlite3.Connection) -> None:
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
