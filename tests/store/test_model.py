"""Random operations on the store and on a plain model that keeps every state whole; reopened and crashed in between."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from engine.clock import Clock, VirtualClock
from engine.rng import Rng
from engine.store import (
    CompactedError,
    Compare,
    DeleteRange,
    Event,
    FutureRevisionError,
    KeyValue,
    Operation,
    Put,
    Range,
    Retention,
    SqliteStore,
    Store,
    StoreError,
    Watcher,
)
from engine.store.types import DeleteRangeResponse, EmptyRangeError, PutResponse, RangeResponse

T = TypeVar("T")

KEYS = [b"/a", b"/a/1", b"/b", b"/c", b"/c/1", b"\xff"]
key = st.sampled_from(KEYS)
end = st.sampled_from([b"", b"\0", *KEYS])
value = st.binary(max_size=3)
lease = st.sampled_from([0, 0, 0, 1, 2])
rarely = st.sampled_from([False, False, False, True])
put = st.builds(Put, key, value, lease, st.booleans(), rarely, rarely).map(
    lambda drawn: drawn._replace(
        value=b"" if drawn.ignore_value else drawn.value, lease=0 if drawn.ignore_lease else drawn.lease
    )
)
delete = st.builds(DeleteRange, key, end, st.booleans())
get = st.tuples(key, end, st.integers(0, 3)).map(lambda drawn: Range(drawn[0], drawn[1], limit=drawn[2]))
compare = st.one_of(
    st.builds(Compare, key, st.just("value"), st.sampled_from(["=", "!=", "<", ">"]), value),
    st.builds(
        Compare,
        key,
        st.sampled_from(["mod", "create", "version", "lease"]),
        st.sampled_from(["=", "!=", "<", ">"]),
        st.integers(0, 6),
    ),
)
operations = st.lists(st.one_of(put, put, delete, get), max_size=4)

DUPLICATE_KEY, NO_LEASE, NO_KEY = REFUSALS = (
    "duplicate key given in txn request",
    "requested lease not found",
    "key not found",
)

State = dict[bytes, KeyValue]


class Model:
    """Etcd as one would explain it: a list of states, one for each revision."""

    def __init__(self) -> None:
        self.states: list[State] = [{}, {}]
        self.events: list[list[Event]] = [[], []]
        self.causes = ["", ""]
        self.compacted = 0
        self.leases: set[int] = set()

    @property
    def revision(self) -> int:
        return len(self.states) - 1

    def commit(self, state: State, events: list[Event], cause: str) -> None:
        if events:
            self.states.append(state)
            self.events.append(events)
            self.causes.append(cause)

    def txn(self, compares: Sequence[Compare], branches: Sequence[Sequence[Operation]], cause: str) -> Any:
        for branch in branches:
            puts = [operation.key for operation in branch if isinstance(operation, Put)]
            deletes = [operation for operation in branch if isinstance(operation, DeleteRange)]
            if len(set(puts)) < len(puts) or any(within(k, d.key, d.range_end) for k in puts for d in deletes):
                return DUPLICATE_KEY
        succeeded = all(self.holds(condition) for condition in compares)
        branch = branches[0] if succeeded else branches[1]
        for operation in branch:
            if not isinstance(operation, Put):
                continue
            if (operation.ignore_value or operation.ignore_lease) and operation.key not in self.states[-1]:
                return NO_KEY
            if operation.lease not in {0, *self.leases}:
                return NO_LEASE
        return succeeded, self.run(branch, cause)

    def holds(self, condition: Compare) -> bool:
        kv = self.states[-1].get(condition.key)
        if kv is None and condition.target == "value":
            return False
        kv = kv or KeyValue(condition.key, b"", 0, 0, 0)
        names = {"mod": "mod_revision", "create": "create_revision"}
        have = getattr(kv, names.get(condition.target, condition.target))
        want: Any = condition.value
        return bool({"=": have == want, "!=": have != want, "<": have < want, ">": have > want}[condition.op])

    def run(self, branch: Sequence[Operation], cause: str) -> list[Any]:
        state, events, answers = dict(self.states[-1]), list[Event](), list[Any]()
        revision = self.revision + 1
        for operation in branch:
            before = state.get(operation.key)
            if isinstance(operation, Put):
                created, version = (before.create_revision, before.version) if before else (revision, 0)
                value = before.value if before and operation.ignore_value else operation.value
                lease = before.lease if before and operation.ignore_lease else operation.lease
                kv = KeyValue(operation.key, value, created, revision, version + 1, lease)
                state[operation.key] = kv
                events.append(Event("PUT", kv, before, cause))
                answers.append((revision, before if operation.prev_kv else None))
            elif isinstance(operation, DeleteRange):
                gone = [state.pop(k) for k in sorted(state) if within(k, operation.key, operation.range_end)]
                events += [Event("DELETE", KeyValue(kv.key, b"", 0, revision, 0), kv, cause) for kv in gone]
                answers.append((self.revision + bool(events), len(gone), gone if operation.prev_kv else []))
            else:
                answers.append((self.revision + bool(events), *self.range(state, operation)))
        self.commit(state, events, cause)
        return answers

    def range(self, state: State, request: Range) -> tuple[list[KeyValue], bool, int]:
        found = [state[k] for k in sorted(state) if within(k, request.key, request.range_end)]
        limit = request.limit or len(found)
        return found[:limit], len(found) > limit, len(found)

    def revoke(self, lease_id: int) -> None:
        self.leases.discard(lease_id)
        state = self.states[-1]
        gone = [state[k] for k in sorted(state) if state[k].lease == lease_id]
        revision = self.revision + 1
        events = [Event("DELETE", KeyValue(kv.key, b"", 0, revision, 0), kv) for kv in gone]
        self.commit({k: kv for k, kv in state.items() if kv.lease != lease_id}, events, "")


def within(key: bytes, start: bytes, range_end: bytes) -> bool:
    if not range_end:
        return key == start
    return key >= start and (range_end == b"\0" or key < range_end)


def plain(response: object) -> Any:
    """A response as the model gives it; first the revision that the operation saw."""
    if isinstance(response, PutResponse):
        return response.revision, response.prev_kv
    if isinstance(response, DeleteRangeResponse):
        return response.revision, response.deleted, response.prev_kvs
    assert isinstance(response, RangeResponse)
    return response.revision, response.kvs, response.more, response.count


class ShownStore(Store, Protocol):
    """A store with what the machine looks at besides."""

    @property
    def compact_revision(self) -> int: ...

    async def leases(self) -> list[int]: ...


class StoreMachine(RuleBasedStateMachine):
    on_disk = True
    first_told = 0  # compactions below tell nobody of themselves
    in_order = True  # writers that do not wait for one another are decided in the order in which they came

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.opened = 0
        self.model = Model()
        self.watchers: list[tuple[Watcher, int, bytes, bytes]] = []
        self.set_up()
        self.store = self.do(self.open())

    def set_up(self) -> None:
        clock = VirtualClock()
        self.clock: Clock = clock
        self.runner = asyncio.Runner(loop_factory=clock.new_event_loop)

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    async def open(self) -> ShownStore:
        self.opened += 1
        path = self.folder / f"{self.opened}.db" if self.on_disk else None
        return await SqliteStore.open(
            path, clock=self.clock, rng=Rng(self.opened), retention=Retention(automatic=False)
        )

    @rule(
        compares=st.lists(compare, max_size=2),
        success=operations,
        failure=operations,
        cause=st.sampled_from(["", "some cause"]),
    )
    def txn(self, compares: list[Compare], success: list[Operation], failure: list[Operation], cause: str) -> None:
        expected = self.model.txn(compares, [success, failure], cause)
        writing = self.store.txn(compares, success, failure, cause=cause)
        if expected in REFUSALS:
            with pytest.raises(StoreError, match=rf"^etcdserver: {expected}$"):
                self.do(writing)
            return
        response = self.do(writing)
        assert (response.succeeded, [plain(answer) for answer in response.responses]) == expected
        assert response.revision == self.model.revision

    @rule(puts=st.lists(st.tuples(key, value), min_size=2, max_size=6))
    def at_once(self, puts: list[tuple[bytes, bytes]]) -> None:
        """Writers that do not wait for one another: decided in order, committed together."""

        async def write() -> list[int]:
            responses = await asyncio.gather(*(self.store.txn([], [Put(k, v)]) for k, v in puts))
            return [response.revision for response in responses]

        first = self.model.revision + 1
        revisions = self.do(write())
        assert sorted(revisions) == list(range(first, first + len(puts)))
        assert revisions == sorted(revisions) or not self.in_order
        for _, (k, v) in sorted(zip(revisions, puts, strict=True)):
            self.model.txn([], [[Put(k, v)], []], "")

    @rule(key=key, range_end=end, back=st.integers(-1, 12), limit=st.integers(0, 3))
    def range(self, key: bytes, range_end: bytes, back: int, limit: int) -> None:
        revision = max(0, self.model.revision - back)
        request = Range(key, range_end, revision=revision, limit=limit)
        try:
            response = self.do(self.store.range(request))
        except CompactedError:
            assert 0 < revision < self.model.compacted
        except FutureRevisionError:
            assert revision > self.model.revision
        else:
            state = self.model.states[revision or -1]
            assert plain(response) == (self.model.revision, *self.model.range(state, request))

    @precondition(lambda self: self.model.revision > max(self.model.compacted, 1))
    @rule(back=st.integers(0, 6))
    def compact(self, back: int) -> None:
        revision = max(self.model.revision - back, self.model.compacted + 1)

        async def compact() -> None:
            await self.store.compact(revision)
            await self.clock.sleep(0.001)

        self.do(compact())
        self.model.compacted = revision

    @rule(key=key, range_end=end, back=st.integers(-1, 8))
    def watch(self, key: bytes, range_end: bytes, back: int) -> None:
        start = max(1, self.model.revision - back)
        try:
            watcher = self.do(self.store.watch(key, range_end, start_revision=start, prev_kv=True))
        except EmptyRangeError:
            assert b"\0" < range_end <= key
        except CompactedError:
            assert start < self.model.compacted
        else:
            assert range_end <= b"\0" or key < range_end
            self.watchers.append((watcher, start, key, range_end))

    @precondition(lambda self: self.watchers)
    @rule()
    def look_at_watchers(self) -> None:
        for watcher, start, key, range_end in self.watchers:
            try:
                events = self.do(self.drain(watcher, start))
            except CompactedError:
                assert start < self.model.compacted
                continue
            expected = [
                event._replace(prev_kv=None) if event.kv.mod_revision == self.model.compacted else event
                for revision in range(start, self.model.revision + 1)
                for event in self.model.events[revision]
                if within(event.kv.key, key, range_end)
            ]
            told = [self.forget(event) for event in events]
            assert told == [event for event in expected if event in told or not self.may_lose(event)]
        self.watchers.clear()

    def may_lose(self, event: Event) -> bool:
        """Whether a watcher may miss the event without its store being wrong."""
        return False

    def forget(self, event: Event) -> Event:
        """What was before the compacted revision may be gone, or still in memory."""
        return event._replace(prev_kv=None) if event.kv.mod_revision == self.model.compacted else event

    async def drain(self, watcher: Watcher, start: int) -> list[Event]:
        events: list[Event] = []
        if start <= self.model.revision:
            watcher.request_progress()
            async for response in watcher:
                events += response.events
                if response.revision >= self.model.revision:
                    break
        await watcher.aclose()
        return events

    @rule(lease_id=st.sampled_from([1, 2]))
    def grant(self, lease_id: int) -> None:
        granting = self.store.lease_grant(1000, lease_id)
        if lease_id in self.model.leases:
            with pytest.raises(StoreError, match=r"^etcdserver: lease already exists$"):
                self.do(granting)
        else:
            self.do(granting)
            self.model.leases.add(lease_id)

    @precondition(lambda self: self.model.leases)
    @rule(data=st.data())
    def revoke(self, data: st.DataObject) -> None:
        lease_id = data.draw(st.sampled_from(sorted(self.model.leases)))
        self.do(self.store.lease_revoke(lease_id))
        self.model.revoke(lease_id)

    @precondition(lambda self: self.on_disk)
    @rule(crash=st.booleans())
    def reopen(self, crash: bool) -> None:
        """A crash is what the file and its WAL hold while the store is still open."""
        old = self.folder / f"{self.opened}.db"
        copies = [(old.with_name(old.name + suffix), f"{self.opened + 1}.db{suffix}") for suffix in ("", "-wal")]
        if not crash:
            self.do(self.store.close())
        for file, name in copies:
            if file.exists():
                shutil.copyfile(file, self.folder / name)
        if crash:
            self.do(self.store.close())
        self.watchers.clear()
        self.store = self.do(self.open())

    @invariant()
    def agrees(self) -> None:
        assert self.store.revision == self.model.revision
        assert max(self.store.compact_revision, self.first_told) == max(self.model.compacted, self.first_told)
        assert sorted(self.do(self.store.leases())) == sorted(self.model.leases)
        kvs = self.do(self.store.range(Range(b"\0", b"\0"))).kvs
        assert {kv.key: kv for kv in kvs} == self.model.states[-1]
        for revision in range(max(self.model.compacted + 1, 2), self.model.revision + 1):
            assert self.do(self.store.cause(revision)) == self.model.causes[revision]

    def teardown(self) -> None:
        self.do(self.store.close())
        self.runner.close()
        shutil.rmtree(self.folder)


class MemoryMachine(StoreMachine):
    on_disk = False


@pytest.mark.parametrize("machine", [StoreMachine, MemoryMachine])
def test_the_store_does_as_the_model(machine: type[StoreMachine]) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=30, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
