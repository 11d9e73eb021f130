"""The simulated quorum: whose time a write takes, who leads after a fault, and what fails without a majority."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from engine.clock import VirtualClock
from engine.latency import Latency
from engine.rng import Rng
from engine.store import Put, Range, SqliteStore, StoreError, StoreUnavailableError
from engine.store.quorum import Quorum, QuorumStore
from engine.store.quorum.raft import ELECTION_TIMEOUT, REQUEST_TIMEOUT

FSYNC = (3.0, 10.0)
Make = Callable[..., "QuorumStore"]


@pytest.fixture
async def inner(virtual_clock: VirtualClock) -> AsyncIterator[SqliteStore]:
    inner = await SqliteStore.open(None, clock=virtual_clock, rng=Rng(1))
    yield inner
    await inner.close()


@pytest.fixture
def make(inner: SqliteStore, virtual_clock: VirtualClock) -> Make:
    """Makes a store behind so many members, whose fsyncs take their bounds in milliseconds."""

    def made(size: int = 3, fsync: tuple[float, float] | None = None) -> QuorumStore:
        quorum = Quorum(size, clock=virtual_clock, rng=Rng(7), cluster_id=1, fsync=fsync)
        return QuorumStore(inner, quorum, Latency(virtual_clock, Rng(1), {}))

    return made


async def put(store: QuorumStore, key: bytes = b"/a") -> int:
    return (await store.txn([], [Put(key, b"1")])).revision


def shown(store: QuorumStore) -> dict[str, dict[str, Any]]:
    return {member["name"]: member for member in store.quorum.describe()["members"]}


def states(store: QuorumStore) -> list[str]:
    return [member["state"] for member in shown(store).values()]


@pytest.mark.parametrize("size", [1, 3, 5])
async def test_a_write_takes_the_time_of_the_majority(make: Make, virtual_clock: VirtualClock, size: int) -> None:
    store = make(size, FSYNC)
    for _ in range(20):
        began = virtual_clock.monotonic()
        await put(store)
        took = (virtual_clock.monotonic() - began) * 1000
        fsyncs = sorted(member["fsyncMs"] for member in shown(store).values())
        assert took == pytest.approx(fsyncs[size // 2], abs=0.01)
        await virtual_clock.sleep(1)


async def test_without_simulated_latency_a_write_takes_no_model_time(make: Make, virtual_clock: VirtualClock) -> None:
    store = make(5)
    assert await put(store) == 2
    assert virtual_clock.monotonic() == 0


async def test_a_slow_follower_lags_and_nobody_waits_for_it(make: Make, virtual_clock: VirtualClock) -> None:
    store = make()
    store.quorum.slow("etcd-2", 0.5)
    for _ in range(4):
        await put(store)
        await virtual_clock.sleep(0.1)
    assert virtual_clock.monotonic() == pytest.approx(0.4)
    assert [member["lag"] for member in shown(store).values()] == [0, 0, 4]
    await virtual_clock.sleep(0.5)
    assert [member["lag"] for member in shown(store).values()] == [0, 0, 0]


async def test_two_slow_members_of_three_slow_every_write(make: Make, virtual_clock: VirtualClock) -> None:
    store = make()
    store.quorum.slow("etcd-1", 0.2)
    store.quorum.slow("etcd-2", 0.3)
    await put(store)
    assert virtual_clock.monotonic() == pytest.approx(0.2)


@pytest.mark.parametrize(
    "befall",
    [
        pytest.param(lambda quorum: quorum.stop("etcd-0"), id="stopped"),
        pytest.param(lambda quorum: quorum.partition(["etcd-0"]), id="cut off"),
        pytest.param(lambda quorum: quorum.slow("etcd-0", 2.0), id="too slow for its heartbeats"),
    ],
)
async def test_a_lost_leader_is_followed_by_another(
    make: Make, virtual_clock: VirtualClock, befall: Callable[[Quorum], None]
) -> None:
    store = make()
    await put(store)
    befall(store.quorum)
    await virtual_clock.sleep(2 * ELECTION_TIMEOUT + 0.1)
    await put(store)
    leader = store.quorum.leader
    assert leader is not None
    assert leader.name != "etcd-0"
    assert (store.quorum.term, store.quorum.elections) == (2, 1)
    assert states(store).count("leader") == 1


async def test_a_write_waits_for_the_next_leader(make: Make, virtual_clock: VirtualClock) -> None:
    store = make()
    store.quorum.stop("etcd-0")
    assert await put(store) == 2
    assert ELECTION_TIMEOUT <= virtual_clock.monotonic() <= 2 * ELECTION_TIMEOUT


async def test_a_write_whose_leader_is_lost_on_the_way_is_made_once(make: Make, virtual_clock: VirtualClock) -> None:
    store = make(3, (400.0, 500.0))
    virtual_clock.call_later(0.1, lambda: store.quorum.stop("etcd-0"))
    assert await put(store) == 2
    assert store.quorum.term == 2
    assert [kv.version for kv in (await store.range(Range(b"/a"))).kvs] == [1]


async def test_a_write_that_loses_leader_after_leader_has_no_more_time_than_another(
    make: Make, virtual_clock: VirtualClock
) -> None:
    store = make(5, (2500.0, 2700.0))

    def stop_the_leader() -> None:
        assert store.quorum.leader is not None
        store.quorum.stop(store.quorum.leader.name)

    for seconds in (2.0, 5.0):
        virtual_clock.call_later(seconds, stop_the_leader)
    with pytest.raises(StoreUnavailableError, match=r"^etcdserver: request timed out$"):
        await put(store)
    assert virtual_clock.monotonic() == pytest.approx(REQUEST_TIMEOUT)
    await virtual_clock.sleep(3)
    assert await put(store) == 2, "what timed out was not made"


async def test_without_a_majority_writes_time_out_and_reads_have_no_leader(
    make: Make, virtual_clock: VirtualClock
) -> None:
    store = make(5)
    await put(store)
    for name in ("etcd-1", "etcd-3", "etcd-4"):
        store.quorum.stop(name)
    began = virtual_clock.monotonic()
    with pytest.raises(StoreUnavailableError, match=r"^etcdserver: request timed out$"):
        await put(store)
    assert virtual_clock.monotonic() - began == pytest.approx(REQUEST_TIMEOUT)
    with pytest.raises(StoreUnavailableError, match=r"^etcdserver: no leader$"):
        await store.range(Range(b"/a"))
    assert states(store) == ["candidate", "stopped", "candidate", "stopped", "stopped"]
    assert [member.errors for member in await store.members()] == [
        ("etcdserver: no leader",),
        ("stopped",),
        ("etcdserver: no leader",),
        ("stopped",),
        ("stopped",),
    ]
    assert store.revision == 2


async def test_a_member_that_comes_back_restores_the_quorum_and_catches_up(
    make: Make, virtual_clock: VirtualClock
) -> None:
    store = make(3, FSYNC)
    store.quorum.stop("etcd-2")
    for _ in range(5):
        await put(store)
    assert shown(store)["etcd-2"]["lag"] == 5
    store.quorum.stop("etcd-1")
    assert not store.quorum.describe()["hasQuorum"]
    store.quorum.start("etcd-2")
    await put(store)
    leader = store.quorum.leader
    assert leader is not None
    assert leader.name == "etcd-0"  # the one that had all that was committed
    await virtual_clock.sleep(0.1)
    assert [member["lag"] for member in shown(store).values()][::2] == [0, 0]


async def test_the_larger_side_of_a_partition_goes_on(make: Make, virtual_clock: VirtualClock) -> None:
    store = make(5)
    store.quorum.partition(["etcd-0", "etcd-1"])
    await put(store)
    assert states(store)[:2] == ["candidate", "candidate"]
    store.quorum.heal()
    await put(store)
    assert sorted(states(store)) == ["follower", "follower", "follower", "follower", "leader"]
    assert store.quorum.term == 2


async def test_members_are_said_to_be_simulated(make: Make) -> None:
    store = make()
    status = await store.status()
    assert status.details["quorum"]["simulated"] is True
    members = await store.members()
    assert {member.simulated for member in members} == {True}
    assert [member.is_leader for member in members] == [True, False, False]
    identity = store.identity()
    assert (identity.member_id, identity.raft_term) == (members[0].id, 1)


async def test_an_unknown_member_is_named(make: Make) -> None:
    with pytest.raises(StoreError, match=r'^there is no member "etcd-9"; there are: etcd-0, etcd-1, etcd-2$'):
        make().quorum.stop("etcd-9")


async def test_no_lease_ends_while_nobody_leads(make: Make, virtual_clock: VirtualClock) -> None:
    store = make()
    lease = await store.lease_grant(60)
    await store.txn([], [Put(b"/event", b"1", lease=lease)])
    store.quorum.stop("etcd-0")
    store.quorum.stop("etcd-1")
    with pytest.raises(StoreUnavailableError, match=r"^etcdserver: no leader$"):
        await store.lease_keep_alive(lease)
    revision = store.revision
    await virtual_clock.sleep(120)
    assert store.revision == revision
    store.quorum.start("etcd-0")
    await virtual_clock.sleep(5)
    assert (await store.range(Range(b"/event"))).kvs == []
