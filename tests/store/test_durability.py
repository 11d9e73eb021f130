"""What is on disk: reopening, damage, locks, and a disk that fails and comes back."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.clock import Clock, VirtualClock
from engine.rng import Rng
from engine.store import (
    DeleteRange,
    NoSpaceError,
    Put,
    Range,
    Retention,
    SqliteStore,
    StoreError,
    StoreUnavailableError,
)
from engine.store.members import Alarm
from tests.store.test_txn import get, put


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def sql(path: Path, statement: str, *parameters: object) -> list[tuple[object, ...]]:
    """Another hand on the file."""
    connection = sqlite3.connect(path)
    try:
        with connection:
            return connection.execute(statement, parameters).fetchall()
    finally:
        connection.close()


async def reopen(store: SqliteStore, path: Path, clock: Clock) -> SqliteStore:
    await store.close()
    return await SqliteStore.open(path, clock=clock)


async def test_reopening_restores_everything(virtual_clock: VirtualClock, path: Path) -> None:
    store = await SqliteStore.open(path, clock=virtual_clock)
    await store.txn([], [Put(b"/a", b"1"), Put(b"/b", b"\x00\xff")], cause="why")
    await put(store, b"/a", b"2")
    await store.txn([], [DeleteRange(b"/b")])
    await put(store, b"/a", b"3")
    await store.compact(3)
    before = await store.range(Range(b"/", b"0")), await store.log()
    store = await reopen(store, path, virtual_clock)
    assert (await store.range(Range(b"/", b"0")), await store.log()) == before
    assert (store.revision, store.compact_revision, await store.cause(5)) == (5, 3, "")
    assert await put(store, b"/c") == 6
    await store.close()


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        pytest.param(
            "UPDATE log SET value = x'00' WHERE revision = 3",
            r"row 3145728 of the revision log \(revision 3, sub-revision 0, key /k1\) does not match its checksum",
            id="value",
        ),
        pytest.param("UPDATE log SET key = '/k1' WHERE revision = 3", "does not match its checksum", id="type"),
        pytest.param("UPDATE log SET lease = 5 WHERE revision = 3", "does not match its checksum", id="lease"),
        pytest.param("UPDATE log SET cause = 'x' WHERE revision = 3", "does not match its checksum", id="cause"),
        pytest.param(
            "UPDATE log SET cause = CAST(x'ff' AS TEXT) WHERE revision = 3", "a text in it is no UTF-8", id="no text"
        ),
        pytest.param("DELETE FROM log WHERE revision = 3", "revision 3 is missing from the revision log", id="gap"),
        pytest.param(
            "DELETE FROM log WHERE revision > 7",
            r"it ends at revision 7, but revision 9 was acknowledged \(.*store.db.lock says so\)",
            id="tail",
        ),
    ],
)
async def test_damage_is_reported_at_open(virtual_clock: VirtualClock, path: Path, statement: str, text: str) -> None:
    store = await SqliteStore.open(path, clock=virtual_clock)
    for number in range(8):
        await put(store, b"/k%d" % number)
    await store.close()
    sql(path, statement)
    with pytest.raises(StoreError, match=rf"store.db is damaged: .*{text}.*ktui store snapshot restore"):
        await SqliteStore.open(path, clock=virtual_clock)


def test_an_emptied_file_is_not_taken_for_a_new_one(path: Path) -> None:
    async def used(*keys: bytes) -> int:
        store = await SqliteStore.open(path, clock=Clock())
        for key in keys:
            await put(store, key)
        await store.close()
        return store.revision

    assert asyncio.run(used(b"/k")) == 2
    path.write_bytes(b"")
    damaged = r"is damaged: it is empty, but revision 2 was acknowledged \(.*lock says so\)"
    with pytest.raises(StoreError, match=damaged):
        asyncio.run(used())
    path.unlink()  # set aside, as the message proposes
    assert asyncio.run(used()) == 1
    path.write_bytes(b"")
    assert asyncio.run(used()) == 1, "nothing was acknowledged"


async def killed(path: Path, clock: Clock) -> Path:
    """A copy of a store as kill -9 leaves it: one transaction is in the file, seven are in its WAL alone."""
    left = path.with_name("killed")
    left.mkdir()
    store = await SqliteStore.open(path, clock=clock)
    for number in range(7):
        await put(store, b"/k%d" % number)
    for suffix in ("", "-wal", ".lock"):
        shutil.copy(f"{path}{suffix}", left)
    await store.close()
    return left / path.name


def flip(file: Path, position: int) -> None:
    data = bytearray(file.read_bytes())
    data[position] ^= 0x55
    file.write_bytes(data)


def wal_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        pytest.param(lambda path: flip(wal_of(path), 5), "it is empty", id="head of the WAL"),
        pytest.param(lambda path: flip(wal_of(path), 30_000), "it is empty", id="middle of the WAL"),
        pytest.param(lambda path: flip(wal_of(path), -20), "it ends at revision 7", id="end of the WAL"),
        pytest.param(lambda path: wal_of(path).unlink(), "it is empty", id="no WAL"),
    ],
)
async def test_a_damaged_wal_is_reported_and_left_as_it_is(
    virtual_clock: VirtualClock, path: Path, damage: Callable[[Path], None], text: str
) -> None:
    path = await killed(path, virtual_clock)
    damage(path)
    files = [file for file in (path, wal_of(path)) if file.exists()]
    before = [file.read_bytes() for file in files]
    for _ in range(2):
        with pytest.raises(StoreError, match=rf"is damaged: {text}, but revision 8 was acknowledged"):
            await SqliteStore.open(path, clock=virtual_clock)
    assert [file.read_bytes() for file in files] == before
    path.with_name("store.db.lock").unlink()  # as the message proposes, to go on with what is left
    store = await SqliteStore.open(path, clock=virtual_clock)
    assert store.revision == (7 if text.endswith("7") else 1)
    await store.close()


async def test_a_wal_whose_file_is_gone_is_not_thrown_away(virtual_clock: VirtualClock, path: Path) -> None:
    path = await killed(path, virtual_clock)
    aside = path.rename(path.with_name("aside"))
    with pytest.raises(StoreError, match=r"store.db is not there, but store.db-wal is"):
        await SqliteStore.open(path, clock=virtual_clock)
    aside.rename(path)
    store = await SqliteStore.open(path, clock=virtual_clock)
    assert store.revision == 8
    await store.close()


@pytest.mark.parametrize("clock", [VirtualClock, Clock])
def test_a_store_behind_a_symbolic_link_is_that_store(path: Path, clock: Callable[[], Clock]) -> None:
    async def walk() -> None:
        link = path.with_name("link.db")
        link.symlink_to(path)
        for revision in (2, 3):
            store = await SqliteStore.open(link, clock=clock())
            assert await put(store, b"/k") == revision
            with pytest.raises(StoreError, match=r"store.db is in use by process"):
                await SqliteStore.open(path, clock=clock())
            await store.close()

    asyncio.run(walk())


def test_a_folder_is_no_store(path: Path) -> None:
    path.mkdir()
    with pytest.raises(StoreError, match=r"cannot open .*store.db: it is a folder; set it aside"):
        asyncio.run(SqliteStore.open(path, clock=Clock()))


async def test_a_damaged_old_row_is_never_served(virtual_clock: VirtualClock, path: Path) -> None:
    """Too old to be checked at the start: whoever asks for it is told."""
    store = await SqliteStore.open(path, clock=virtual_clock)
    await put(store, b"/a", b"old")
    await asyncio.gather(*(put(store, b"/a") for _ in range(10_100)))
    await store.close()
    sql(path, "UPDATE log SET value = 'mad' WHERE revision = 2")
    store = await SqliteStore.open(path, clock=virtual_clock)
    with pytest.raises(StoreError, match=r"revision 2, sub-revision 0, key /a\) does not match its checksum"):
        await store.range(Range(b"/a", revision=2))
    watcher = await store.watch(b"/a", start_revision=2)
    with pytest.raises(StoreError, match="does not match its checksum"):
        await watcher.__anext__()
    await store.close()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        pytest.param(b"not a database " * 100, "store.db is damaged", id="not-sqlite"),
        pytest.param(None, "is a SQLite file, but not a ktui store", id="another-database"),
    ],
)
def test_a_file_that_is_not_ours(path: Path, content: bytes | None, text: str) -> None:
    if content is None:
        sql(path, "CREATE TABLE other (x)")
    else:
        path.write_bytes(content)
    with pytest.raises(StoreError, match=text):
        asyncio.run(SqliteStore.open(path, clock=Clock()))


async def test_a_newer_format_is_left_alone(virtual_clock: VirtualClock, path: Path) -> None:
    await (await SqliteStore.open(path, clock=virtual_clock)).close()
    sql(path, "PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="has store format 99, this ktui reads 1"):
        await SqliteStore.open(path, clock=virtual_clock)


async def test_one_process_at_a_time(virtual_clock: VirtualClock, path: Path) -> None:
    store = await SqliteStore.open(path, clock=virtual_clock)
    with pytest.raises(StoreError, match=rf"store.db is in use by process {os.getpid()}; stop that first"):
        await SqliteStore.open(path, clock=virtual_clock)
    store = await reopen(store, path, virtual_clock)
    await store.close()


def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "store.db"
    with pytest.raises(StoreError, match=r"No such file or directory; give ktui a folder that it may write"):
        asyncio.run(SqliteStore.open(missing, clock=Clock()))


READ_ONLY = """
import asyncio, os, sys
from pathlib import Path
from engine.clock import Clock
from engine.store import SqliteStore, StoreError
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    asyncio.run(SqliteStore.open(Path(sys.argv[1]), clock=Clock()))
except StoreError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("mode", "suffix", "text"),
    [
        pytest.param(0o555, "", r"cannot open .*lock: Permission denied; give ktui a folder", id="the folder"),
        pytest.param(0o777, "", r"cannot write .*store.db: Permission denied; let ktui write it", id="the file"),
        pytest.param(0o777, "-wal", r"cannot write .*store.db-wal: Permission denied; let ktui", id="its WAL"),
    ],
)
def test_what_may_not_be_written_is_named(mode: int, suffix: str, text: str) -> None:
    """In a process of its own that gives up root's rights, which know nothing read-only."""
    with tempfile.TemporaryDirectory() as folder:  # pytest's own would be closed to it
        path = Path(folder, "store.db")
        if mode == 0o777:
            Path(f"{path}{suffix}").touch(0o444)
        path.parent.chmod(mode)
        try:
            done = subprocess.run([sys.executable, "-c", READ_ONLY, path], capture_output=True, text=True, check=True)
        finally:
            path.parent.chmod(0o755)
    assert re.match(text, done.stdout)


# -- a disk that fails


async def fill_disk(store: SqliteStore) -> None:
    """SQLite's own limit stands for a full disk: it fails in the same place, with the same code."""
    journal = store._journal
    assert journal is not None
    await journal.run(lambda connection: connection.execute("PRAGMA max_page_count = 1").fetchall())


async def free_disk(store: SqliteStore) -> None:
    journal = store._journal
    assert journal is not None
    await journal.run(lambda connection: connection.execute("PRAGMA max_page_count = 1000000").fetchall())


async def put_many(store: SqliteStore, size: int) -> None:
    for number in range(100):
        await put(store, b"/k%d" % number, bytes(size))


@pytest.mark.parametrize("threaded", [False, True], ids=["inline", "thread"])
def test_a_full_disk_refuses_writes_and_forgives(path: Path, threaded: bool) -> None:
    async def scenario() -> None:
        store = await SqliteStore.open(path, clock=clock)
        watcher = await store.watch(b"/", b"0")
        await put(store, b"/first")
        await fill_disk(store)
        with pytest.raises(StoreUnavailableError, match=r"store.db: the disk is full; writes go on once"):
            await put_many(store, 4096)
        acknowledged = [b"/k%d" % number for number in range(store.revision - 2)]
        # Writers decided on top of one another fail together, and readers see none of them.
        results = await asyncio.gather(*(put(store, b"/x", bytes(9000)) for _ in range(5)), return_exceptions=True)
        assert [type(result) for result in results] == [StoreUnavailableError] * 5
        kvs = (await store.range(Range(b"/", b"0"))).kvs
        assert [kv.key for kv in kvs] == sorted([b"/first", *acknowledged])
        revision = store.revision
        details = (await store.status()).details
        assert (details["failed_batches"] > 1, "disk is full" in details["refusing"]) == (True, True)
        assert [member.errors for member in await store.members()] == [(details["refusing"],)]
        await free_disk(store)
        assert await put(store, b"/after") == revision + 1
        assert [member.errors for member in await store.members()] == [()]
        assert (await store.status()).details["refusing"] == ""
        assert (await get(store, b"/x"), await get(store, b"/after")) != (None, None)
        seen: list[int] = []
        while not seen or seen[-1] < store.revision:
            seen += [event.kv.mod_revision for event in (await watcher.__anext__()).events]
        assert seen == list(range(2, store.revision + 1))
        await store.close()
        store = await SqliteStore.open(path, clock=clock)
        assert store.revision == revision + 1
        await store.close()

    clock = Clock() if threaded else VirtualClock()
    factory = clock.new_event_loop if isinstance(clock, VirtualClock) else None
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(scenario())


async def test_a_lease_that_ends_on_a_full_disk_ends_once_there_is_space(
    virtual_clock: VirtualClock, path: Path
) -> None:
    store = await SqliteStore.open(path, clock=virtual_clock)
    lease = await store.lease_grant(10)
    await put(store, b"/a", bytes(4096), lease)
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    await virtual_clock.sleep(15)
    assert await get(store, b"/a") is not None
    blocker.execute("ROLLBACK")
    blocker.close()
    await virtual_clock.sleep(1.1)
    assert (await get(store, b"/a"), await store.leases()) == (None, [])
    await store.close()


async def test_a_file_that_another_process_locks(virtual_clock: VirtualClock, path: Path) -> None:
    store = await SqliteStore.open(path, clock=virtual_clock)
    await put(store, b"/a")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailableError, match=r"store.db: another process has locked it \(database is locked\)"):
        await put(store, b"/b")
    assert await get(store, b"/a") is not None
    other.execute("ROLLBACK")
    other.close()
    assert await put(store, b"/b") == 3
    await store.close()


@pytest.mark.parametrize("kept", ["memory", "file"])
async def test_the_quota_raises_an_alarm_and_lifts_it(virtual_clock: VirtualClock, path: Path, kept: str) -> None:
    store = await SqliteStore.open(path if kept == "file" else None, clock=virtual_clock, quota=4 << 20)
    with pytest.raises(NoSpaceError, match=r"^etcdserver: mvcc: database space exceeded$"):
        await put_many(store, 100_000)
    assert (await store.status()).alarms == ["NOSPACE"]
    with pytest.raises(NoSpaceError):
        await store.lease_grant(60)
    assert await get(store, b"/k1") is not None
    await store.txn([], [DeleteRange(b"/", b"0")])
    await virtual_clock.sleep(1)
    assert (await store.status()).alarms == []
    assert await put(store, b"/again") == store.revision
    await store.close()


async def test_an_alarm_that_is_taken_back_comes_again_while_there_is_a_reason(
    virtual_clock: VirtualClock, path: Path
) -> None:
    store = await SqliteStore.open(path, clock=virtual_clock, quota=4 << 20)
    assert await store.disarm() == []
    number = 0
    while not (await store.status()).alarms:  # none of it is history that could go
        number += 1
        await put(store, b"/k%d" % number, bytes(100_000))
    member = store.identity().member_id
    assert await store.disarm() == [Alarm(member, "NOSPACE")]
    assert (await store.status()).alarms == ["NOSPACE"]
    with pytest.raises(NoSpaceError):
        await put(store, b"/again")
    await store.close()


@pytest.mark.parametrize("kept", ["memory", "file"])
async def test_history_goes_before_the_quota_is_reached(virtual_clock: VirtualClock, path: Path, kept: str) -> None:
    store = await SqliteStore.open(path if kept == "file" else None, clock=virtual_clock, quota=8 << 20)
    for _ in range(400):
        await put(store, b"/a", bytes(50_000))
    status = await store.status()
    assert (status.alarms, status.revision) == ([], 401)
    assert 0 < status.compact_revision < 401
    await store.close()


async def test_a_closed_store_refuses(virtual_clock: VirtualClock) -> None:
    store = await SqliteStore.open(None, clock=virtual_clock, retention=Retention(automatic=False))
    await store.close()
    await store.close()
    with pytest.raises(StoreError, match=r"^etcdserver: server stopped$"):
        await put(store, b"/a")
    with pytest.raises(StoreError, match=r"^etcdserver: server stopped$"):
        await store.watch(b"/a")


def test_one_seed_gives_the_same_rows(tmp_path: Path) -> None:
    """The law behind repeatable runs: the log is the same, byte for byte."""
    logs = []
    for run in ("one", "two"):
        clock = VirtualClock()
        with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
            path = tmp_path / run
            runner.run(_busy_hour(path, clock))
            logs.append(sql(path, "SELECT id, version, create_revision, lease, checksum, key, cause, value FROM log"))
    assert logs[0] == logs[1]
    assert len(logs[0]) > 100


async def _busy_hour(path: Path, clock: VirtualClock) -> None:
    store = await SqliteStore.open(path, clock=clock, rng=Rng(3), retention=Retention(period=60, revisions=100))

    async def write(number: int) -> None:
        rng = Rng(number)
        for turn in range(200):
            lease = await store.lease_grant(rng.randrange(100)) if turn % 20 == 0 else 0
            await store.txn([], [Put(b"/%d/%d" % (number, rng.randrange(5)), b"%d" % turn, lease)], cause=f"{turn}")
            await clock.sleep(rng.uniform(0, 30))

    await asyncio.gather(*(write(number) for number in range(5)))
    await store.close()
