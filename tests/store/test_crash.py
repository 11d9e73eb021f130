"""kill -9 under load: what was acknowledged is there, what was not is whole or absent, revisions have no gap."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.clock import Clock
from engine.rng import Rng
from engine.store import Range, SqliteStore
from tests.store.test_watch import ALL, drain

ROUNDS = int(os.environ.get("KTUI_CRASH_ROUNDS", "8"))  # 200 in a long run

# Eight writers, each counting up its own key; every acknowledged write is said on stdout. Compaction runs along.
WRITER = """
import asyncio, os, sys
from pathlib import Path
from engine.clock import Clock
from engine.store import Compare, DeleteRange, Put, Retention, SqliteStore

async def write(store, writer):
    number = 0
    while True:
        number += 1
        key, pair = b"/w/%d" % writer, b"/pair/%d" % writer
        if number % 7 == 0:
            operations = [Put(key, b"%d" % number), DeleteRange(pair)]
        else:
            operations = [Put(key, b"%d" % number), Put(pair, b"%d" % number)]
        response = await store.txn([], operations, cause="%d/%d" % (writer, number))
        os.write(1, b"%d %d %d\\n" % (writer, number, response.revision))

async def main():
    store = await SqliteStore.open(Path(sys.argv[1]), clock=Clock(), retention=Retention(period=0, revisions=500))
    os.write(1, b"ready\\n")
    await asyncio.gather(*(write(store, writer) for writer in range(8)))

asyncio.run(main())
"""


def run_and_kill(path: Path, after: float) -> list[tuple[int, int, int]]:
    """Let writers loose and kill them: (writer, number, revision) of each acknowledged write."""
    process = subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    time.sleep(after)  # this machine's time: the moment of the kill is the chance in this test
    process.send_signal(signal.SIGKILL)
    output = process.stdout.read()
    process.stdout.close()
    process.wait()
    lines = [line.split() for line in output.split(b"\n")[:-1]]
    return [(int(writer), int(number), int(revision)) for writer, number, revision in lines]


async def check(path: Path, acknowledged: list[tuple[int, int, int]], before: int) -> int:
    """Look at what a killed process left; the revision it left."""
    store = await SqliteStore.open(path, clock=Clock())
    newest: dict[int, tuple[int, int]] = {}
    for writer, number, revision in acknowledged:
        newest[writer] = max(newest.get(writer, (0, 0)), (number, revision))
    values = {kv.key: kv for kv in (await store.range(Range(b"\0", b"\0"))).kvs}
    for writer, (number, revision) in newest.items():
        kv = values[b"/w/%d" % writer]
        assert (int(kv.value), kv.mod_revision) >= (number, revision)
        assert int(kv.value) <= number + 1  # the one that was on its way, at most
        pair = values.get(b"/pair/%d" % writer)
        assert (pair.value if pair else None) == (kv.value if int(kv.value) % 7 else None)
    start = max(store.compact_revision, before, 2)
    watcher = await store.watch(*ALL, start_revision=start)
    seen = list(dict.fromkeys(event.kv.mod_revision for event in await drain(watcher, store.revision)))
    assert seen == list(range(start, store.revision + 1))
    revisions = [revision for _, _, revision in acknowledged]
    assert len(set(revisions)) == len(revisions)
    revision = store.revision
    assert revision >= max(revisions, default=0)
    await store.close()
    return revision


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_kill_9_loses_nothing_that_was_acknowledged(tmp_path: Path, seed: int) -> None:
    path, rng, revision = tmp_path / "store.db", Rng(seed), 1
    for _ in range(2):  # the second kill hits a store that has recovered from the first
        acknowledged = run_and_kill(path, rng.uniform(0.0, 0.25))
        revision = asyncio.run(check(path, acknowledged, revision))
