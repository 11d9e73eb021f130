"""When the engine's process collects garbage.

Its objects are plain JSON without cycles, which go by themselves: a roll-out of thousands of Pods leaves nothing to
collect, a request nothing, a connection some seven objects. To look through the hundred thousands that live for those
would stop the event loop for tenths of a second, over and over. So it is done when the engine has been at rest for a
while, and where it never rests, once an hour.
"""

from __future__ import annotations

import asyncio
import gc
import time

TICK_SECONDS = 1.0
REST_SHARE = 0.2  # of a core: three idle nodes take a tenth of that
REST_SECONDS = 60.0
AGAIN_SECONDS = 600.0
LATEST_SECONDS = 3600.0


def tame_the_collector() -> None:
    """Look through what is loaded by now a last time, and leave the rest to `RestingCollector`."""
    gc.collect()
    gc.freeze()
    gc.disable()


class RestingCollector:
    """Collects all garbage once the process has been at rest for a minute: at most every ten, at least every hour."""

    def __init__(self) -> None:
        self._processor = time.process_time()
        self._busy_at = self._collected_at = time.monotonic()

    def start(self) -> None:
        """Begin to look each second; needs a running event loop, and ends with it."""
        asyncio.get_running_loop().call_later(TICK_SECONDS, self._look)

    def _look(self) -> None:
        self.tick(time.monotonic(), time.process_time())
        self.start()

    def tick(self, now: float, processor: float) -> None:
        """Look at the machine's time and the processor's that the process has taken, both in seconds."""
        if processor - self._processor > REST_SHARE * TICK_SECONDS:
            self._busy_at = now
        self._processor = processor
        rested = now > self._busy_at + REST_SECONDS and now > self._collected_at + AGAIN_SECONDS
        if rested or now > self._collected_at + LATEST_SECONDS:
            self._collected_at = now
            gc.unfreeze()
            gc.collect()
            gc.freeze()
