"""What the Store screen says of the store as a whole: commits, comparisons, members, compaction, room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ktui.models.dashboard import spark
from ktui.models.signs import DONE, WAITING, WRONG, bar

Json = Mapping[str, Any]
BAR_CELLS = 8
MEBI = 2**20
_STATES = {"leader": ("L", ""), "follower": ("f", ""), "candidate": (WAITING, "warning"), "stopped": (WRONG, "error")}


@dataclass(frozen=True, slots=True)
class Line:
    """`tone` is a theme variable, `rest` stands dim behind the words."""

    words: str
    tone: str = ""
    rest: str = ""


@dataclass(slots=True)
class StoreFigures:
    """Rates are per second of the model's clock, from one answer to the next."""

    status: Json = field(default_factory=dict)
    members: Json = field(default_factory=dict)
    compacted_at: str = ""  # when, on the model's clock; "" for before this was looked at
    _rate: float = 0.0
    _at: float = 0.0

    def take(self, status: Json, members: Json, *, at: float, now: str = "") -> None:
        """`at` is the model's time in seconds, `now` in words."""
        before = self.status
        if before and status["compact_revision"] > before["compact_revision"]:
            self.compacted_at = now
        if before and at > self._at:
            made = status["details"].get("batches", 0) - before["details"].get("batches", 0)
            self._rate = max(0, made) / (at - self._at)
        self.status, self.members, self._at = status, members, at

    def lines(self, width: int) -> list[Line]:
        """In the order in which they stand; each no wider than `width`, but for its rest."""
        if not self.status:
            return [Line("…")]
        return [*self._commits(width), *self._comparisons(), *self._quorum(), *self._kept(), *self._problems()]

    def _commits(self, width: int) -> Iterator[Line]:
        details = self.status["details"]
        commits = details.get("recent_commits") or ()
        if not commits:
            yield Line(f"backend {self.status['backend']}", rest=self.status["version"])
            return
        cells = max(10, min(50, width - 22))
        sizes = [commit["changes"] for commit in commits]
        times = [commit["ms"] for commit in commits]
        yield Line(
            f"commits {self._rate:.1f}/s",
            rest=f"batch {details['batch_p50']} p50 {details['batch_max']} max, {details['batches']} in all",
        )
        yield Line(f"  changes {spark(sizes[1:] or sizes, cells)} {sizes[-1]}", "lane-etcd")
        if any(times):
            yield Line(f"  fsync   {spark(times, cells)} {times[-1]:.2f} ms", "lane-etcd")
            p50, p99 = details["commit_ms_p50"], details["commit_ms_p99"]
            yield Line(f"  p50 {p50:.2f} ms, p99 {p99:.2f} ms", rest="of this machine")
        else:
            yield Line("  in memory: nothing is synced to a disk")

    def _comparisons(self) -> Iterator[Line]:
        details = self.status["details"]
        if "txns" not in details:
            return
        failed, all_txns = details["failed_compares"], details["txns"]
        share = f"{failed / all_txns:.1%}" if all_txns else "none"
        yield Line(
            f"compare-and-swap {DONE} {all_txns - failed}  {WRONG} {failed}",
            "warning" if failed else "",
            f"{share} refused: the writer had read an older revision",
        )

    def _quorum(self) -> Iterator[Line]:
        members: Sequence[Json] = self.members.get("members") or ()
        if not self.members.get("simulated"):
            names = ", ".join(f"{member['name']} {member['state']}" for member in members)
            yield Line(f"members {names}", rest="no simulated quorum: ktui up --etcd-members 3")
            return
        leader = self.members["leader"] or "no leader"
        yield Line(
            f"quorum~ {leader} leads, term {self.members['term']}" if self.members["leader"] else f"quorum~ {leader}",
            "" if self.members["hasQuorum"] else "error",
            f"commit index {self.members['commitIndex']}, {self.members['elections']} elections (simulated)",
        )
        index = max(1, self.members["index"])
        for member in members:
            yield self._member(member, index)

    @staticmethod
    def _member(member: Json, index: int) -> Line:
        sign, tone = _STATES[member["state"]]
        apart = "  cut off" if member["partitioned"] else ""
        reach = bar(max(0.0, 1 - member["lag"] / max(100, index)), BAR_CELLS)
        slow = f"+{member['slowMs']:g}" if member["slowMs"] else ""
        lag = f"lag {member['lag']}" if member["lag"] else f"fsync~ {member['fsyncMs']:.1f}{slow} ms"
        words = f"  {member['name']} {sign} {reach} {member['matchIndex']}  {lag}{apart}"
        rest = f"fsync~ {member['fsyncMs']:.1f}{slow} ms" if member["lag"] else "in step"
        is_behind = member["lag"] or apart or slow
        return Line(words, tone or ("warning" if is_behind else "lane-etcd"), rest)

    def _kept(self) -> Iterator[Line]:
        status, details = self.status, self.status["details"]
        compacted = status["compact_revision"]
        oldest = max(1, compacted)
        if compacted:
            when = f" at {self.compacted_at}" if self.compacted_at else ""
            yield Line(f"compacted to rev {compacted}{when}", rest=f"{details.get('compactions', 0)} times in this run")
        else:
            yield Line("never compacted")
        yield Line(
            f"kept rev {oldest} to {status['revision']}", rest=f"{status['revision'] - oldest + 1} revisions to read"
        )
        for prefix, revision in sorted((details.get("quiet_revisions") or {}).items()):
            if revision > compacted:
                yield Line(f"  {prefix.removeprefix('/registry/').rstrip('/')} from rev {revision}", rest="heartbeats")
        quota, used = details.get("quota") or 0, status["db_size_in_use"]
        room = f"{bar(used / quota, BAR_CELLS)} of {quota / MEBI:.0f} MiB" if quota else ""
        yield Line(f"{status['keys']} keys, {used / MEBI:.1f} MiB in use", rest=room)

    def _problems(self) -> Iterator[Line]:
        details = self.status["details"]
        for alarm in self.status["alarms"]:
            yield Line(f"{WRONG} alarm {alarm}", "error")
        if details.get("refusing"):
            yield Line(f"{WRONG} refuses writes: {details['refusing']}", "error")
        if details.get("failed_batches"):
            yield Line(f"{WRONG} {details['failed_batches']} commits failed", "error", details.get("last_error", ""))
