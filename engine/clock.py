"""Model time: the only source of time in the engine (design, law 5 and section 6).

All that the control plane calls time (timestamps, probe periods, back-offs, grace periods, simulated latencies) is
*model time*, kept by a `Clock`. A clock runs at a speed against the machine's: 1.0 is real time, 10.0 ten times
as fast, 0.0 paused. A `VirtualClock` has no speed: when nothing in the event loop can run, it jumps to the next timer.

*Wall time*, what this machine took, is measured with `wall()` and is only ever reported, never waited for.
"""

from __future__ import annotations

import asyncio
import heapq
import selectors
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta

from engine.timestamps import in_microseconds, in_seconds, moment

# Where a virtual clock starts, so that two runs give the same timestamps.
VIRTUAL_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)

# What a step lets happen before it goes on: turns of the loop, then waits for threads, all within so many seconds.
LOOP_TURNS, MOST_TURNS = 200, 220
THREAD_SECONDS, SETTLED_SECONDS = 0.001, 0.01
STEP_PATIENCE_SECONDS = 2.0
# How far a clock that is faster than the machine's goes beyond what is due, in model seconds.
MOST_AHEAD = 1.0


# Seconds of this machine's monotonic clock: for measuring, never for deciding. Every request asks some fifty times.
wall = time.perf_counter


class Timer:
    """A callback due at a model time. `cancel()` may be called at any point, also after it fired."""

    __slots__ = ("callback", "due")

    def __init__(self, due: float, callback: Callable[[], object]) -> None:
        self.due = due
        self.callback: Callable[[], object] | None = callback

    def cancel(self) -> None:
        self.callback = None

    def fire(self) -> None:
        callback, self.callback = self.callback, None
        if callback is not None:
            callback()


class Clock:
    """Model time that follows the machine's at `speed`; may be paused, scaled and stepped while it runs."""

    def __init__(self, *, speed: float = 1.0, epoch: datetime | None = None) -> None:
        if speed < 0:
            raise ValueError(f"speed {speed} is below 0")
        self._epoch = epoch or datetime.now(UTC)
        self._epoch_posix = self._epoch.timestamp()
        self._second, self._in_seconds = -1, ""
        self.speed = speed  # changed by `set_speed` alone
        self._resume_speed = speed or 1.0
        self._anchor_wall = wall()
        self._anchor_model = self._reached = 0.0
        self._timers: list[tuple[float, int, Timer]] = []
        self._sequence = 0
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_due = float("inf")

    # -- reading

    @property
    def mode(self) -> str:
        """`real`, `scaled` or `paused` (`virtual` for the subclass)."""
        if self.speed == 0:
            return "paused"
        return "real" if self.speed == 1.0 else "scaled"

    @property
    def resume_speed(self) -> float:
        """What a paused clock goes on with; of one that runs, its speed."""
        return self._resume_speed

    def monotonic(self) -> float:
        """Model seconds since the clock was made; never goes back."""
        model = self._anchor_model + (wall() - self._anchor_wall) * self.speed
        return self._held_back(model) if self.speed > 1.0 else model

    def _held_back(self, model: float) -> float:
        """A clock that is sped up waits for what is due: where the machine cannot follow, every grace period would be
        over before anybody could keep it."""
        due = self._next_due()
        if due is not None and model > due + MOST_AHEAD:
            model = max(due + MOST_AHEAD, self._reached)
            self._anchor_model, self._anchor_wall = model, wall()
        self._reached = model
        return model

    def now(self) -> datetime:
        """The model's date and time, in UTC."""
        return self._epoch + timedelta(0, self.monotonic())

    def posix(self) -> float:
        """`now` in seconds since 1970: a fourth of what a date costs, and each span asks."""
        if self.speed > 1.0:
            return self._epoch_posix + self.monotonic()
        return self._epoch_posix + self._anchor_model + (wall() - self._anchor_wall) * self.speed

    def timestamp(self) -> str:
        """`now` as metav1.Time prints it: RFC 3339, whole seconds, as in `2026-01-01T00:00:00Z`."""
        second = int(self.posix())
        if second != self._second:  # every write asks some times, and a second has thousands
            self._second, self._in_seconds = second, in_seconds(moment(second))
        return self._in_seconds

    def micro_timestamp(self) -> str:
        """`now` as metav1.MicroTime prints it, as in `2026-01-01T00:00:00.000000Z`."""
        return in_microseconds(self.now())

    # -- waiting

    def call_at(self, due: float, callback: Callable[[], object]) -> Timer:
        """Call back when `monotonic()` reaches `due`. Timers of one instant fire in the order they were set."""
        timer = Timer(due, callback)
        self._sequence += 1
        heapq.heappush(self._timers, (due, self._sequence, timer))
        self._arm()
        return timer

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        return self.call_at(self.monotonic() + max(seconds, 0.0), callback)

    async def sleep(self, seconds: float) -> None:
        """Wait for model seconds. Zero or less yields to the loop once, as asyncio.sleep(0) does."""
        if seconds <= 0:
            await asyncio.sleep(0)
        else:
            await self.reach(self.monotonic() + seconds)

    async def reach(self, due: float) -> None:
        """Wait until `monotonic()` is there. What is there already waits only for a clock that is paused: until it
        goes on, or is stepped."""
        done = asyncio.get_running_loop().create_future()
        timer = self.call_at(due, lambda: None if done.done() else done.set_result(None))
        try:
            await done
        finally:
            timer.cancel()

    @asynccontextmanager
    async def timeout(self, seconds: float | None) -> AsyncIterator[None]:
        """Raise TimeoutError in the body if it takes more than model seconds; None waits for ever."""
        async with asyncio.timeout(None) as scope:
            timer = None
            if seconds is not None:
                loop = asyncio.get_running_loop()
                timer = self.call_later(seconds, lambda: scope.reschedule(loop.time()))
            try:
                yield
            finally:
                if timer is not None:
                    timer.cancel()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Around a wait for something outside the model (a thread, a socket): virtual time stands still meanwhile,
        since the model takes no time for it. Other clocks go on."""
        yield

    # -- steering

    def set_speed(self, speed: float) -> None:
        """Run at `speed` times the machine's from now on; 0 pauses. Raises ValueError below 0."""
        if speed < 0:
            raise ValueError(f"speed {speed} is below 0")
        self._anchor_model = self._reached = self.monotonic()
        self._anchor_wall = wall()
        self.speed = speed
        if speed:
            self._resume_speed = speed
        self._disarm()
        self._arm()

    def pause(self) -> None:
        self.set_speed(0.0)

    def resume(self) -> None:
        """Go on at the speed the clock had before it was paused."""
        if not self.speed:
            self.set_speed(self._resume_speed)

    def step(self) -> bool:
        """Pause, jump to the next timer and fire it. Says whether there was one."""
        self.pause()
        if (due := self._next_due()) is None:
            return False
        self._anchor_model = max(due, self._anchor_model)
        self._fire_due()
        return True

    async def step_until(self, is_there: Callable[[], bool], *, within: float) -> bool:
        """Pause and jump from timer to timer until `is_there()`, but no further than `within` model seconds.

        Between two timers all that the first one woke is let run. Says whether it is there; gives up where this machine
        takes too long for it.
        """
        self.pause()
        last, patience = self.monotonic() + within, wall() + STEP_PATIENCE_SECONDS
        if await self._settles(is_there):
            return True
        while (due := self._next_due()) is not None and due <= last and wall() < patience:
            self.step()
            if await self._settles(is_there):
                return True
        return False

    async def _settles(self, is_there: Callable[[], bool]) -> bool:
        """Whether it is there once the loop has had its turns, and threads such as the store's their time."""
        began = wall()
        for turn in range(MOST_TURNS):
            if is_there():
                return True
            await asyncio.sleep(0 if turn < LOOP_TURNS else THREAD_SECONDS)
            if turn >= LOOP_TURNS and wall() > began + SETTLED_SECONDS:
                break
        return is_there()

    # -- the timers

    def _next_due(self) -> float | None:
        while self._timers and self._timers[0][2].callback is None:
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    def _fire_due(self) -> None:
        now = self.monotonic()
        while (due := self._next_due()) is not None and due <= now:
            heapq.heappop(self._timers)[2].fire()
        self._arm()

    def _arm(self) -> None:
        """Keep one loop timer set, for the earliest model timer."""
        due = self._next_due()
        if due is None or not self.speed:
            return
        if self._alarm is not None and self._alarm_due <= due:
            return
        self._disarm()
        self._alarm_due = due
        delay = max(0.0, (due - self.monotonic()) / self.speed)
        self._alarm = asyncio.get_running_loop().call_later(delay, self._ring)

    def _disarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm, self._alarm_due = None, float("inf")

    def _ring(self) -> None:
        self._alarm, self._alarm_due = None, float("inf")
        self._fire_due()


class VirtualClock(Clock):
    """Model time that stands still while anything can run and then jumps to the next timer.

    It must own the event loop, because only the loop knows when nothing is left to run:

        clock = VirtualClock()
        asyncio.Runner(loop_factory=clock.new_event_loop).run(main(clock))
    """

    def __init__(self, *, epoch: datetime = VIRTUAL_EPOCH) -> None:
        super().__init__(epoch=epoch)
        self._now = 0.0
        self._holds = 0

    @property
    def mode(self) -> str:
        return "virtual"

    def monotonic(self) -> float:
        return self._now

    def posix(self) -> float:
        return self._epoch_posix + self._now

    def set_speed(self, speed: float) -> None:
        """A virtual clock has no speed; raises ValueError."""
        raise ValueError("a virtual clock jumps from timer to timer and has no speed")

    def new_event_loop(self) -> VirtualEventLoop:
        """An event loop that moves this clock on whenever it would have to wait."""
        return VirtualEventLoop(self)

    @contextmanager
    def hold(self) -> Iterator[None]:
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1

    def jump(self) -> bool:
        """Move to the next timer and fire all that are due then. Says whether there was one, and nothing holds time."""
        if self._holds:
            return False
        if (due := self._next_due()) is None:
            return False
        self._now = max(self._now, due)
        self._fire_due()
        return True

    def _arm(self) -> None:
        """Nothing to set: the loop jumps when it is idle."""


class VirtualEventLoop(asyncio.SelectorEventLoop):
    """The loop that `clock` lives in."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(_JumpingSelector(clock))
        self.clock = clock


class _JumpingSelector(selectors.DefaultSelector):
    """Asked to wait, it first lets the clock jump: the loop waits only when nothing is ready to run."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if self._clock.jump():
            return []
        return super().select(timeout)
