"""Leader, terms and commits of the simulated members, on the model clock (etcd raft, as far as it can be seen).

A write is committed once a majority has it on disk. A leader that is stopped, cut off or too slow for its heartbeats is
followed by another after an election timeout, if a majority is left that can talk; else nobody leads and nothing can
be written. Times are etcd's defaults.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

from engine.clock import Clock, Timer
from engine.rng import Rng
from engine.store.members import BAD_TRANSFEREE, hashed_id
from engine.store.quorum.member import SimulatedMember
from engine.store.types import StoreError, StoreUnavailableError

ELECTION_TIMEOUT = 1.0  # --election-timeout; a member draws up to twice as much, so that two seldom stand at once
REQUEST_TIMEOUT = 7.0  # etcdserver ReqTimeout: 5 s and two election timeouts
TIMED_OUT = "etcdserver: request timed out"
NO_LEADER = "etcdserver: no leader"
TRANSFER_TIMED_OUT = "etcdserver: request timed out, leader transfer took too long"


class Proposal(NamedTuple):
    """An entry on its way: `seconds` of the model until a majority has it, if its term lasts so long."""

    entry: int
    term: int
    seconds: float


class Quorum:
    """`index` is the newest entry, `commit_index` the newest that a majority has; no `leader` means no writes."""

    def __init__(
        self, size: int, *, clock: Clock, rng: Rng, cluster_id: int, fsync: tuple[float, float] | None, index: int = 1
    ) -> None:
        self.term = 1
        self.index = self.commit_index = index
        self.elections = 0
        self._clock = clock
        self._rng = rng
        self.members = [
            SimulatedMember(f"etcd-{n}", hashed_id("member", cluster_id, n), rng.stream(f"etcd-{n}"), fsync)
            for n in range(size)
        ]
        for member in self.members:
            member.match_index = index
        self.leader: SimulatedMember | None = self.members[0]
        self._campaign: Timer | None = None
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def majority(self) -> int:
        return len(self.members) // 2 + 1

    def voters(self) -> list[SimulatedMember]:
        """The members that run and can talk to a majority; none where there is no quorum."""
        for side in dict.fromkeys(member.side for member in self.members):
            found = [member for member in self.members if member.running and member.side == side]
            if len(found) >= self.majority:
                return found
        return []

    # -- writing

    def deadline(self) -> float:
        """Until when a request that comes now must be done with."""
        return self._clock.monotonic() + REQUEST_TIMEOUT

    async def propose(self, deadline: float) -> Proposal:
        """Send an entry to all members; the caller waits its time out and then sees whether it was `committed`.

        Raises StoreUnavailableError with etcd's message where that cannot be in time.
        """
        while self.leader is None:
            await self._wait_for_leader(deadline)
        now = self._clock.monotonic()
        self.index += 1
        durable = sorted(member.append(self.index, now) for member in self.voters())
        seconds = durable[self.majority - 1] - now
        if now + seconds > deadline:
            await self._clock.sleep(deadline - now)
            raise StoreUnavailableError(TIMED_OUT)
        return Proposal(self.index, self.term, seconds)

    def committed(self, proposal: Proposal) -> bool:
        """Whether a majority has an entry whose time is over: its leader must lead still."""
        if self.leader is None or self.term != proposal.term:
            return False
        self.commit_index = max(self.commit_index, proposal.entry)
        return True

    async def _wait_for_leader(self, deadline: float) -> None:
        elected: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(elected)
        try:
            async with self._clock.timeout(max(deadline - self._clock.monotonic(), 0.0)):
                await elected
        except TimeoutError:
            raise StoreUnavailableError(TIMED_OUT) from None

    def check_leader(self) -> None:
        """Raises StoreUnavailableError where nobody leads."""
        if self.leader is None:
            raise StoreUnavailableError(NO_LEADER)

    # -- faults

    def member(self, name: str) -> SimulatedMember:
        """Raises StoreError for a name that no member has."""
        for member in self.members:
            if member.name == name:
                return member
        names = ", ".join(member.name for member in self.members)
        raise StoreError(f'there is no member "{name}"; there are: {names}')

    def stop(self, name: str) -> None:
        member = self.member(name)
        member.crash(self._clock.monotonic())
        member.running = False
        self._changed()

    def start(self, name: str) -> None:
        self.member(name).running = True
        self._changed()

    def slow(self, name: str, seconds: float) -> None:
        """Add so much to each answer of a member; 0 makes it as quick as it was."""
        if seconds < 0:
            raise StoreError("a member cannot be slowed by less than nothing")
        self.member(name).slow = seconds
        self._changed()

    def partition(self, names: Sequence[str]) -> None:
        """Cut these members off from all others."""
        chosen = [self.member(name) for name in names]
        for member in self.members:
            member.side = 1 if member in chosen else 0
        self._changed()

    def heal(self) -> None:
        """Undo every partition."""
        self.partition(())

    def _changed(self) -> None:
        """Members came, went or changed pace: bring who can up to date, and see whether the leader still leads."""
        self._catch_up()
        self._call_off()
        leader = self.leader
        if leader is not None and leader not in self.voters():
            self.leader = None
        if self.leader is None or self._overtaken(self.leader):
            self._arm()

    def _overtaken(self, leader: SimulatedMember) -> bool:
        """Whether a leader is too slow for its heartbeats, and another is not."""
        return leader.slow >= ELECTION_TIMEOUT and any(m.slow < ELECTION_TIMEOUT for m in self.voters())

    def _catch_up(self) -> None:
        """Whoever can hear the leader is sent what it lacks."""
        now = self._clock.monotonic()
        for member in self.voters():
            member.advance(now)
            if member.match_index < self.index:
                member.append(self.index, now)

    # -- elections

    def _arm(self) -> None:
        """The first member whose election timeout runs out stands for election."""
        candidates = self._candidates()
        if not candidates:
            return
        timeouts = [
            (ELECTION_TIMEOUT * (1 + self._rng.random()) + member.slow, position)
            for position, member in enumerate(candidates)
        ]
        seconds, position = min(timeouts)
        winner = candidates[position]
        self._campaign = self._clock.call_later(seconds, lambda: self._elect(winner))

    def _candidates(self) -> list[SimulatedMember]:
        """Those that a majority would vote for: they have all that is committed."""
        now = self._clock.monotonic()
        voters = self.voters()
        for member in voters:
            member.advance(now)
        newest = max((member.match_index for member in voters), default=0)
        least = min(self.commit_index, newest)
        able = [member for member in voters if member.match_index >= least and member is not self.leader]
        quick = [member for member in able if member.slow < ELECTION_TIMEOUT]
        return quick or able

    def move_leader(self, member_id: int) -> None:
        """The leader steps back for another member. Raises StoreError."""
        self.check_leader()
        chosen = next((member for member in self.members if member.id == member_id), None)
        if chosen is None:
            raise StoreError(BAD_TRANSFEREE)
        if chosen not in self.voters():
            raise StoreUnavailableError(TRANSFER_TIMED_OUT)
        if chosen is not self.leader:
            self._call_off()
            self._elect(chosen)

    def _elect(self, winner: SimulatedMember) -> None:
        self._campaign = None
        if winner not in self.voters():
            self._changed()
            return
        self.term += 1
        self.elections += 1
        self.leader = winner
        # A new leader begins its term with an entry of its own.
        self.index += 1
        for member in self.voters():
            member.append(self.index, self._clock.monotonic())
        waiting, self._waiting = self._waiting, []
        for elected in waiting:
            if not elected.done():
                elected.set_result(None)

    def _call_off(self) -> None:
        if self._campaign is not None:
            self._campaign.cancel()
            self._campaign = None

    def close(self) -> None:
        """No election is held any more."""
        self._call_off()

    # -- what is shown

    def state(self, member: SimulatedMember) -> str:
        if not member.running:
            return "stopped"
        if member not in self.voters():
            return "candidate"
        if member is self.leader:
            return "leader"
        return "follower" if self.leader is not None else "candidate"

    def _seen_commit_index(self) -> int:
        """With the entry that a new leader begins its term with, of which no proposal tells."""
        if self.leader is None:
            return self.commit_index
        held = sorted((member.match_index for member in self.voters()), reverse=True)
        return max(self.commit_index, held[self.majority - 1])

    def describe(self) -> dict[str, Any]:
        now = self._clock.monotonic()
        for member in self.members:
            member.advance(now)
        return {
            "simulated": True,
            "leader": self.leader.name if self.leader is not None else "",
            "term": self.term,
            "index": self.index,
            "commitIndex": self._seen_commit_index(),
            "quorum": self.majority,
            "hasQuorum": bool(self.voters()),
            "elections": self.elections,
            "members": [
                {
                    "name": member.name,
                    "id": f"{member.id:x}",
                    "state": self.state(member),
                    "running": member.running,
                    "partitioned": member.side != 0,
                    "matchIndex": member.match_index,
                    "lag": self.index - member.match_index,
                    "fsyncMs": round(member.fsync_ms, 3),
                    "slowMs": round(member.slow * 1000, 3),
                }
                for member in self.members
            ],
        }
