"""Milliseconds of processor time that a frame of the busiest screens costs, with 10,000 Pods that all change.

No engine: the models are fed as fast as the screens draw. Flow takes forty spans between two frames, Objects a hundred
changes of rows among 10,000; a frame is all that happens from the change to the painted picture, at 120 by 40. The
memory of this process with both screens full is printed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import cycle, islice
from typing import Any

from textual.pilot import Pilot

from ktui.screens.objects import ObjectsScreen
from tests.benchmarks import Result
from tests.benchmarks.idle import resident_mib
from tests.ktui import recorded
from tests.ktui.many import pods, pods_changed
from tests.ktui.still import StillApp, settle

FRAMES = 60
SPANS, CHANGES = 40, 100


async def run() -> Result:
    app = StillApp()
    async with app.run_test(size=(120, 40)) as pilot:
        driver = await settle(pilot)
        spans = cycle(recorded.spans())
        numbers = iter(range(1_000_000))

        def spans_come() -> None:
            told = [{**span, "id": f"{span['id']}-{next(numbers)}"} for span in islice(spans, SPANS)]
            app.flow.add(told, now=app.session.world.clock.monotonic())

        flow = await _frames(pilot, spans_come)
        await driver.press("2")
        screen = app.shown
        assert isinstance(screen, ObjectsScreen)
        screen.table.replace(pods())
        changes = pods_changed()

        def rows_change() -> None:
            for event in islice(changes, CHANGES):
                screen.table.apply("MODIFIED", event, now=app.session.world.clock.monotonic())
            screen._is_dirty = True

        objects = await _frames(pilot, rows_change)
        memory = resident_mib(os.getpid())
    print(f"flow {flow:.1f} ms, objects {objects:.1f} ms a frame, {memory:.0f} MiB")
    return Result("frame_time", round(max(flow, objects), 1), "ms")


async def _frames(pilot: Pilot[Any], change: Callable[[], None]) -> float:
    """Processor time of a frame, the median of many."""
    took = []
    for _ in range(FRAMES):
        change()
        began = time.process_time()
        await pilot.pause(0.1)
        took.append((time.process_time() - began) * 1000)
    return sorted(took)[len(took) // 2]
