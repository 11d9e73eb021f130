"""The model's time over a restart: it never goes back, also where it once ran faster than the machine's.

A cluster whose clock was sped up is ahead of the machine. Objects carry its times, and who compares them (leases, ages,
schedules) would wait for as long as it is ahead. So the newest time is kept beside the store, and the next start begins
there.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from pathlib import Path

from engine.clock import Clock

log = logging.getLogger(__name__)

PERIOD = 60.0  # model seconds; after a crash the next start is ahead by up to twice as much


class KeptTime:
    def __init__(self, file: Path) -> None:
        self._file = file

    def clock(self) -> Clock:
        """A clock that starts now, or at the time that was kept if that is later."""
        now = Clock().now()
        try:
            kept = datetime.fromisoformat(self._file.read_text())
            return Clock(epoch=max(now, kept))
        except (OSError, ValueError, TypeError):
            return Clock(epoch=now)

    async def keep(self, clock: Clock) -> None:
        """Until it is cancelled, in advance: what is not reached any more costs the next start no more than that."""
        while True:
            self.note(clock, ahead=2 * PERIOD)
            await clock.sleep(PERIOD)

    def note(self, clock: Clock, *, ahead: float = 0.0) -> None:
        try:
            self._note(clock.now(), ahead)
        except OSError as error:
            log.warning("the model's time is not kept, and may go back at the next start: %s", error)

    def _note(self, now: datetime, ahead: float) -> None:
        if now <= Clock().now() + timedelta(seconds=1):
            self._file.unlink(missing_ok=True)
            return
        partial = self._file.with_suffix(".partial")
        partial.write_text((now + timedelta(seconds=ahead)).isoformat())
        partial.replace(self._file)
