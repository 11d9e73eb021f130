"""What the store on a real etcd promises beyond agreement: causes, watches over a cut, clear failures."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from engine.clock import Clock
from engine.store import (
    CompactedError,
    Compare,
    DeleteRange,
    NoSpaceError,
    Put,
    Range,
    RequestTooLargeError,
    Retention,
    StoreError,
    StoreUnavailableError,
    Watcher,
)
from engine.store.etcd import EtcdStore
from engine.store.etcd.compactor import INTERVAL
from engine.store.etcd.translation import CAUSE_KEY
from engine.store.members import Alarm
from engine.store.types import prefix_end
from tests.real_etcd import RealEtcd, free_port

PODS = b"/registry/pods/"
WEB = b"/registry/pods/default/web"


async def read(watcher: Watcher, count: int) -> list[tuple[str, bytes, int, str]]:
    """The next events: type, key, revision, cause."""
    found: list[tuple[str, bytes, int, str]] = []
    async for response in watcher:
        found += [(event.type, event.kv.key, event.kv.mod_revision, event.cause) for event in response.events]
        if len(found) >= count:
            break
    return found


async def open_second(etcd: RealEtcd) -> EtcdStore:
    return await EtcdStore.open([etcd.endpoint], clock=Clock(), retention=Retention(automatic=False))


async def test_values_are_what_etcdctl_reads_and_writes(etcd: RealEtcd, store: EtcdStore) -> None:
    made = await store.txn([], [Put(WEB, b'{"kind":"Pod"}')], cause="traceparent")
    printed = etcdctl_get(etcd, WEB.decode())
    assert printed == [(WEB.decode(), {"kind": "Pod"})]
    watcher = await store.watch(PODS, prefix_end(PODS), start_revision=made.revision + 1)
    etcd.etcdctl("put", WEB.decode(), '{"kind":"Pod","changed":true}')
    assert await read(watcher, 1) == [("PUT", WEB, made.revision + 1, "")]
    assert (await store.range(Range(WEB))).kvs[0].version == 2
    await watcher.aclose()


def etcdctl_get(etcd: RealEtcd, key: str) -> list[tuple[str, object]]:
    lines = etcd.etcdctl("get", key).splitlines()
    return [(name, json.loads(value)) for name, value in zip(lines[0::2], lines[1::2], strict=True)]


async def test_each_revision_keeps_its_cause_for_every_process(etcd: RealEtcd, store: EtcdStore) -> None:
    put = await store.txn([], [Put(WEB, b"{}")], cause="put")
    bare = await store.txn([], [Put(WEB, b"{}")])
    deleted = await store.txn([Compare(WEB, "mod", "=", bare.revision)], [DeleteRange(WEB)], cause="delete")
    second = await open_second(etcd)
    try:
        revisions = (put.revision, bare.revision, deleted.revision)
        assert [await second.cause(revision) for revision in revisions] == ["put", "", "delete"]
        watcher = await second.watch(PODS, prefix_end(PODS), start_revision=put.revision)
        assert await read(watcher, 3) == [
            ("PUT", WEB, put.revision, "put"),
            ("PUT", WEB, bare.revision, ""),
            ("DELETE", WEB, deleted.revision, "delete"),
        ]
        assert [(entry.type, entry.revision, entry.cause) for entry in await second.log()] == [
            ("PUT", put.revision, "put"),
            ("PUT", bare.revision, ""),
            ("DELETE", deleted.revision, "delete"),
        ]
    finally:
        await second.close()


async def test_what_changes_nothing_makes_no_revision_for_its_cause(store: EtcdStore) -> None:
    before = store.revision
    response = await store.txn([], [DeleteRange(PODS, prefix_end(PODS))], cause="nothing")
    assert (response.revision, response.responses[0]) == (before, (before, 0, []))
    failed = await store.txn([Compare(WEB, "version", ">", 0)], [Put(WEB, b"{}")], cause="nothing")
    assert (failed.succeeded, store.revision) == (False, before)


async def test_nobody_sees_or_deletes_the_key_of_the_causes(etcd: RealEtcd, store: EtcdStore) -> None:
    for key in (b"/a", b"/z"):
        await store.txn([], [Put(key, b"1")], cause="cause")
    everything = await store.range(Range(b"\0", b"\0", limit=1))
    assert ([kv.key for kv in everything.kvs], everything.count, everything.more) == ([b"/a"], 2, True)
    counted = await store.range(Range(b"\0", b"\0", count_only=True))
    assert (counted.kvs, counted.count) == ([], 2)
    response = await store.txn([], [DeleteRange(b"\0", b"\0", prev_kv=True)], cause="the end")
    assert response.responses[0][1] == 2  # type: ignore[index]
    assert etcd.etcdctl("get", "", "--prefix") == f"{CAUSE_KEY.decode()}\nthe end\n"


async def test_the_cause_is_one_of_the_operations_that_etcd_takes(store: EtcdStore) -> None:
    puts = [Put(b"/%03d" % number, b"x", prev_kv=True) for number in range(128)]
    response = await store.txn([], puts[:127], cause="many")
    assert (len(response.responses), await store.cause(response.revision)) == (127, "many")
    assert len((await store.txn([], puts)).responses) == 128
    with pytest.raises(StoreError, match=r"^etcdserver: too many operations in txn request$"):
        await store.txn([], [*puts, Put(b"/more", b"x")])


async def test_what_etcd_refuses_is_said_in_its_words(store: EtcdStore) -> None:
    with pytest.raises(RequestTooLargeError):
        await store.txn([], [Put(b"/large", b"x" * (2 << 20))])
    with pytest.raises(StoreError, match=r"^etcdserver: requested lease not found$"):
        await store.txn([], [Put(b"/leased", b"x", lease=7)])
    with pytest.raises(StoreError, match=r"^etcdserver: key is not provided$"):
        await store.range(Range(b""))


async def test_a_compacted_revision_is_named(store: EtcdStore) -> None:
    for number in range(5):
        await store.txn([], [Put(WEB, b"%d" % number)])
    await store.compact(4)
    with pytest.raises(CompactedError) as range_error:
        await store.range(Range(WEB, revision=3))
    with pytest.raises(CompactedError) as watch_error:
        await store.watch(WEB, start_revision=3)
    assert (range_error.value.compact_revision, watch_error.value.compact_revision) == (4, 4)
    assert (await store.status()).compact_revision == 4


async def test_a_watcher_asked_how_far_it_is_waits_for_the_stream(store: EtcdStore) -> None:
    """Whoever has written must find its write in the cache that a watcher fills."""
    watcher = await store.watch(PODS, prefix_end(PODS))
    for number in range(20):
        revision = (await store.txn([], [Put(b"/registry/nodes/%d" % number, b"{}")])).revision
        watcher.request_progress()
        response = await anext(watcher)
        assert (response.events, response.revision >= revision) == ([], True)
    await watcher.aclose()


async def test_without_etcd_writes_fail_and_a_watch_goes_on_when_it_is_back(etcd: RealEtcd, store: EtcdStore) -> None:
    watcher = await store.watch(PODS, prefix_end(PODS))
    first = await store.txn([], [Put(WEB, b"1")], cause="before")
    etcd.kill()
    with pytest.raises(StoreUnavailableError, match=rf"^etcd at {etcd.endpoint} cannot be reached: "):
        await store.txn([], [Put(WEB, b"2")])
    with pytest.raises(StoreUnavailableError):
        await store.range(Range(WEB))
    etcd.start()
    second = await written(store)
    events = await read(watcher, 2)
    assert events == [("PUT", WEB, first.revision, "before"), ("PUT", WEB, second, "after")]
    await watcher.aclose()


async def written(store: EtcdStore) -> int:
    """The revision of a write that is tried until etcd takes it."""
    while True:
        try:
            return (await store.txn([], [Put(WEB, b"3")], cause="after")).revision
        except StoreUnavailableError:
            continue


async def test_history_that_memory_no_longer_holds_comes_from_etcd(etcd: RealEtcd, store: EtcdStore) -> None:
    for number in range(1500):
        await store.txn([], [Put(WEB, b"%d" % number)])
    second = await open_second(etcd)
    try:
        watcher = await second.watch(WEB, start_revision=2, prev_kv=True)
        events = await read(watcher, 1500)
        assert [revision for _, _, revision, _ in events] == list(range(2, 1502))
        await watcher.aclose()
    finally:
        await second.close()


async def test_a_lease_takes_its_keys_along(store: EtcdStore) -> None:
    lease = await store.lease_grant(60)
    await store.txn([], [Put(WEB, b"{}", lease=lease)])
    left, granted, keys = await store.lease_time_to_live(lease)
    assert (0 < left <= 60, granted, keys) == (True, 60, [WEB])
    assert await store.lease_keep_alive(lease) == 60
    await store.lease_revoke(lease)
    assert (await store.range(Range(WEB))).kvs == []
    assert await store.lease_time_to_live(lease) == (-1, 0, [])
    with pytest.raises(StoreError, match=r"^etcdserver: requested lease not found$"):
        await store.lease_keep_alive(lease)


async def test_a_snapshot_is_etcds_own(etcd: RealEtcd, store: EtcdStore, tmp_path: Path) -> None:
    await store.txn([], [Put(WEB, b"{}")])
    file = tmp_path / "saved.db"
    await store.snapshot(file)
    status = json.loads(etcd.etcdctl("snapshot", "status", str(file), "-w", "json"))
    assert status["revision"] == store.revision
    with pytest.raises(StoreError, match="is there already"):
        await store.snapshot(file)
    await store.defrag()
    (member,) = await store.members()
    (shown,) = json.loads(etcd.etcdctl("endpoint", "status", "-w", "json"))
    assert (member.endpoint, member.id, member.is_leader) == (etcd.endpoint, shown["Status"]["leader"], True)


async def test_a_full_etcd_says_so(etcd: RealEtcd, store: EtcdStore) -> None:
    from aetcd import rpc

    (member,) = await store.members()
    raise_alarm = rpc.AlarmRequest(action=1, memberID=member.id, alarm=1)
    await store._connection.call("maintenance", "Alarm", raise_alarm)
    with pytest.raises(NoSpaceError):
        await store.txn([], [Put(WEB, b"{}")])
    assert (await store.status()).alarms == ["NOSPACE"]
    assert await store.disarm() == [Alarm(member.id, "NOSPACE")]
    assert etcd.etcdctl("alarm", "list") == ""
    await store.txn([], [Put(WEB, b"{}")])
    assert await store.disarm() == []


async def test_a_physical_compaction_and_the_members(etcd: RealEtcd, store: EtcdStore) -> None:
    for _ in range(3):
        made = await store.txn([], [Put(WEB, b"{}")])
    await store.compact(made.revision, physical=True)
    with pytest.raises(CompactedError):
        await store.range(Range(WEB, revision=made.revision - 1))
    (listed,) = await store.member_list()
    (shown,) = json.loads(etcd.etcdctl("member", "list", "-w", "json"))["members"]
    assert (listed.id, listed.name) == (shown["ID"], shown["name"])
    assert (list(listed.peer_urls), list(listed.client_urls)) == (shown["peerURLs"], shown["clientURLs"])


@pytest.mark.etcd
@pytest.mark.parametrize(
    ("endpoint", "message"),
    [
        pytest.param("http://127.0.0.1:{port}", "cannot be reached: ", id="nobody listens"),
        pytest.param("127.0.0.1:2379", "is no etcd endpoint; give URLs like http://127.0.0.1:2379", id="no URL"),
        pytest.param("http://127.0.0.1:x", "is no etcd endpoint", id="no port"),
    ],
)
async def test_a_start_without_etcd_says_what_to_do(endpoint: str, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        await EtcdStore.open([endpoint.format(port=free_port())], clock=Clock())


async def test_another_endpoint_takes_over_where_one_does_not_answer(etcd: RealEtcd) -> None:
    store = await EtcdStore.open([f"http://127.0.0.1:{free_port()}", etcd.endpoint], clock=Clock())
    response = await store.txn([], [Put(WEB, b"{}")])
    assert (await store.range(Range(WEB))).kvs[0].mod_revision == response.revision
    await store.close()


async def test_old_history_is_compacted_by_the_clock_of_the_model(etcd: RealEtcd) -> None:
    clock = Clock(speed=0)
    retention = Retention(period=2 * INTERVAL, revisions=2)
    store = await EtcdStore.open([etcd.endpoint], clock=clock, retention=retention)
    for number in range(10):
        await store.txn([], [Put(WEB, b"%d" % number)])
    kept = store.revision
    clock.step()  # a mark at this revision
    for number in range(10):
        await store.txn([], [Put(WEB, b"%d" % number)])
    for _ in range(40):
        clock.step()
        await store.range(Range(WEB))
    assert (await store.status()).compact_revision >= kept
    await store.close()


async def test_a_watcher_that_a_compaction_has_overtaken_is_told(etcd: RealEtcd, store: EtcdStore) -> None:
    watcher = await store.watch(PODS, prefix_end(PODS))
    await store.txn([], [Put(WEB, b"1")])
    assert len(await read(watcher, 1)) == 1
    # All of this before the store's own tasks run again.
    etcd.kill()
    etcd.start()
    for number in range(5):
        etcd.etcdctl("put", WEB.decode(), str(number))
    etcd.etcdctl("compact", "7")
    with pytest.raises(CompactedError) as overtaken:
        await read(watcher, 1)
    assert overtaken.value.compact_revision == 7
    (kv,) = (await store.range(Range(WEB))).kvs
    again = await store.watch(PODS, prefix_end(PODS), start_revision=kv.mod_revision)
    assert await read(again, 1) == [("PUT", WEB, 7, "")]
    assert store.revision == 7


async def test_a_watcher_that_must_read_history_waits_for_etcd(etcd: RealEtcd, store: EtcdStore) -> None:
    for number in range(10):
        await store.txn([], [Put(WEB, b"%d" % number)])
    second = await open_second(etcd)
    try:
        watcher = await second.watch(WEB, start_revision=2)
        etcd.kill()
        reading = asyncio.ensure_future(read(watcher, 10))
        with pytest.raises(StoreUnavailableError):
            await second.range(Range(WEB))
        etcd.start()
        assert [revision for _, _, revision, _ in await reading] == list(range(2, 12))
    finally:
        await second.close()
