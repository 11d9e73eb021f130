"""When the screen's process collects garbage: never while somebody waits.

A screen that follows ten thousand Pods holds a million objects: to look through them takes longer than a key may wait.
Nearly all of them are data without cycles, which go by themselves. So what has lived for a while is set aside
(`gc.freeze`), young objects are collected as ever, and all of them when nobody has touched a key for a while.
"""

from __future__ import annotations

import gc

YOUNG = (1_000, 3, 1_000_000)  # Python's thresholds: each look is short, and the oldest are left to `tick`
FREEZE_SECONDS = 5.0
REST_SECONDS = 60.0  # without a key
AGAIN_SECONDS = 600.0


class Collector:
    """`tick` wants to be called about once a second, with the time and when the last key came."""

    def __init__(self) -> None:
        self._frozen_at = self._rested_at = 0.0

    def begin(self) -> None:
        gc.set_threshold(*YOUNG)
        gc.freeze()

    def tick(self, now: float, last_key: float) -> None:
        if now > last_key + REST_SECONDS and now > self._rested_at + AGAIN_SECONDS:
            self._rested_at = now
            gc.unfreeze()
            gc.collect()
            gc.freeze()
        elif now > self._frozen_at + FREEZE_SECONDS:
            self._frozen_at = now
            gc.freeze()

    def end(self) -> None:
        gc.unfreeze()
