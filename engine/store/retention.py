"""How much history is kept, and when to compact what is older (etcd server/etcdserver/api/v3compactor).

A revision is let go once it is both old enough and followed by enough others. Writes under the quiet prefixes (node
heartbeats) do not count as others: they never push the history that people look at out of the window. When the space
runs short, history goes first. Their own history is kept for a shorter time (`quieting`).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

from engine.clock import Clock
from engine.store.index import Revision

_MARKS = 240  # marks per period: how finely time is divided
_QUIET_MARKS = 24  # the quiet period is divided into a tenth as many
_MIN_STEP = 100  # revisions that make a compaction worth its commit


class Quiet(NamedTuple):
    """Keys that are written all the time: their history is kept for `period` model seconds."""

    prefix: bytes
    period: float


@dataclass(frozen=True, slots=True)
class Retention:
    """`period` is in model seconds; `revisions` are kept whatever their age.

    History that takes more than `disk` bytes in the log, or `memory` bytes in a store without one, is halved whatever
    its age and number.
    """

    period: float = 4 * 3600
    revisions: int = 10_000
    disk: int = 256 << 20
    memory: int = 64 << 20
    quiet: tuple[Quiet, ...] = (Quiet(b"/registry/leases/", 600), Quiet(b"/registry/minions/", 4 * 3600))
    automatic: bool = True


class _Mark(NamedTuple):
    at: float
    revision: int
    counted: int  # revisions up to here that are not quiet


class RetentionKeeper:
    """Notes when revisions were made, and names the revision to compact at."""

    def __init__(self, retention: Retention, clock: Clock, *, revision: int) -> None:
        self.retention = retention
        self._clock = clock
        self.quiet_targets: dict[bytes, int] = {}  # up to here the history under quiet prefixes may go
        self._quiet_prefixes = tuple(quiet.prefix for quiet in retention.quiet)
        self._pause = min(retention.period, *(_QUIET_MARKS * quiet.period for quiet in retention.quiet)) / _MARKS
        self._counted = 0
        self._marks: deque[_Mark] = deque([_Mark(clock.monotonic(), revision, 0)])

    def note(self, revisions: list[Revision]) -> None:
        quiet = self._quiet_prefixes
        for revision in revisions:
            for change in revision.changes:
                if not change.kv.key.startswith(quiet):
                    self._counted += 1
                    break

    def target(self, revision: int, compacted: int, *, pressed: bool, alarmed: bool) -> int:
        """The revision to compact at now, 0 for none.

        `pressed`: space runs short, half of the history must go. `alarmed`: there is none left, all of it must.
        """
        if alarmed and self.retention.automatic:
            return revision
        if not self.retention.automatic or not self._mark(revision, pressed=pressed):
            return 0
        target = (compacted + revision) // 2 if pressed else self._unneeded()
        while len(self._marks) > 1 and self._marks[0].revision <= target:
            self._marks.popleft()
        return target if pressed or target - compacted >= _MIN_STEP else 0

    def _mark(self, revision: int, *, pressed: bool) -> bool:
        """Whether time or writes have moved on enough since the last mark to look again."""
        now, last = self._clock.monotonic(), self._marks[-1]
        step = max(_MIN_STEP, self.retention.revisions // _MARKS)
        if not pressed and now - last.at < self._pause and self._counted - last.counted < step:
            return False
        if revision == last.revision:
            return False
        self._marks.append(_Mark(now, revision, self._counted))
        self._let_quiet_go(now)
        return True

    def _let_quiet_go(self, now: float) -> None:
        for prefix, period in self.retention.quiet:
            for mark in reversed(self._marks):
                if now - mark.at >= period:
                    self.quiet_targets[prefix] = max(mark.revision, self.quiet_targets.get(prefix, 0))
                    break

    def _unneeded(self) -> int:
        now, found = self._clock.monotonic(), 0
        for mark in self._marks:
            old = now - mark.at >= self.retention.period
            if not old or self._counted - mark.counted < self.retention.revisions:
                break
            found = mark.revision
        return found
