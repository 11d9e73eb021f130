"""What screens share that look inside a component: they ask while they are looked at, and draw what has changed.

A subclass gives `ask` and `take` for the whole picture, `draw` to paint it, and, where one row of it can be looked
into, `subject` (what the cursor is on), `ask_inside` and `take_inside`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from textual import work

from ktui.feeds.poll import PERIOD_SECONDS, Poll
from ktui.guard import attempt
from ktui.models.summary import ClusterSummary
from ktui.models.trouble import ASKING
from ktui.screens.frame import FrameScreen
from ktui.widgets.grid import Grid
from ktui.widgets.table_pane import TablePane

FRAME_SECONDS = 0.05
LATE_SECONDS = 3  # without an answer, and what is shown is said to be old
SHARE = 19  # times what a frame took, until the next that nobody at the keys waits for


class PolledScreen(FrameScreen):
    absent: ClassVar[str] = ""  # what to say where nobody offers what is asked for
    period: ClassVar[float] = PERIOD_SECONDS  # between two questions

    def __init__(self) -> None:
        super().__init__()
        self.problem = ""  # why what is shown is not what is
        self._is_dirty = False
        self._next_frame = 0.0
        self._question = 1  # counted: a new one where what is asked for, or looked at, is another
        self._answered = 0  # the last one that was
        self._inside = ""  # what the newest inside is of
        self._polls: list[Poll] = []

    # -- what a subclass gives

    async def ask(self) -> Any:
        """The whole picture. May raise ApiError and ConnectionError."""
        raise NotImplementedError

    def take(self, value: Any) -> None:
        raise NotImplementedError

    def draw(self) -> None:
        raise NotImplementedError

    @property
    def subject(self) -> str:
        """What is looked into; "" for nothing."""
        return ""

    async def ask_inside(self, subject: str) -> Any:
        """The inside of one thing. May raise ApiError and ConnectionError."""
        raise NotImplementedError

    def take_inside(self, subject: str, value: Any, problem: str) -> None:
        raise NotImplementedError

    # -- the two questions

    def on_mount(self) -> None:
        clock = self.ktui.session.world.clock
        whole = Poll(clock, self._ask_whole, wanted=lambda: self.is_current, period=self.period)
        inside = Poll(clock, self._ask_inside, wanted=lambda: self.is_current and bool(self.subject))
        self._polls = [whole, inside]
        self._follow(whole)
        self._follow_inside(inside)
        self.set_interval(FRAME_SECONDS, self._frame)
        self.focus_body()

    async def _ask_whole(self) -> tuple[int, Any]:
        question = self._question
        return question, await self.ask()

    async def _ask_inside(self) -> tuple[str, Any]:
        subject = self.subject
        return subject, await self.ask_inside(subject)

    @work(group="whole", exit_on_error=False)
    async def _follow(self, poll: Poll) -> None:
        async for answer in poll.answers():
            self.problem = self.absent if answer.is_absent and self.absent else answer.problem
            question, value = answer.value or (0, None)
            if answer.problem:
                self.mark(at_once=True)
            elif question == self._question:  # else it tells of what was asked before
                is_first, self._answered = question != self._answered, question
                attempt(self.app, partial(self.take, value))
                self.mark(at_once=is_first)

    @work(group="inside", exit_on_error=False)
    async def _follow_inside(self, poll: Poll) -> None:
        async for answer in poll.answers():
            subject, value = answer.value or ("", None)
            is_other, self._inside = subject != self._inside, subject
            about = self.subject if answer.problem else subject
            attempt(self.app, partial(self.take_inside, about, value, answer.problem))
            self.mark(at_once=is_other)

    def resume(self) -> None:
        super().resume()
        self.hurry()

    def hurry(self) -> None:
        """Ask at once: what is looked at has changed, or may have while it was not looked at."""
        self._question += 1
        self.mark(at_once=True)
        for poll in self._polls:
            poll.hurry()

    def on_grid_moved(self, _: Grid.Moved) -> None:
        for poll in self._polls[1:]:
            poll.hurry()
        self.mark(at_once=True)

    def redraw(self) -> None:
        super().redraw()
        self.mark(at_once=True)

    def if_empty(self, words: str) -> str:
        """What to say in an empty table: `words` only where it is known that there is nothing."""
        return "" if self.problem else ASKING if self._answered != self._question else words

    # -- how old it is

    def show_summary(self, summary: ClusterSummary) -> None:
        super().show_summary(summary)
        for pane in self.query(TablePane).results():
            if pane.late != (late := self._late):
                pane.late = late
                pane.say()
            return  # the first is what was asked for

    @property
    def _late(self) -> str:
        asked_at = self._polls[0].asked_at if self._polls else None
        waited = int(self.ktui.session.world.clock.monotonic() - asked_at) if asked_at is not None else 0
        return f"asked {waited} s ago, no answer yet" if waited >= LATE_SECONDS else ""

    # -- frames

    def mark(self, *, at_once: bool = False) -> None:
        """What is shown has changed; `at_once` where somebody at the keys waits for it."""
        self._is_dirty = True
        if at_once:
            self._next_frame = 0.0

    def _frame(self) -> None:
        clock = self.ktui.session.world.clock
        now = clock.monotonic()
        if self._is_dirty and self.is_current and now >= self._next_frame:
            self._is_dirty = False
            self.draw()
            self._next_frame = now + SHARE * (clock.monotonic() - now)

    def on_resize(self) -> None:
        super().on_resize()
        self.mark(at_once=True)

    def on_detail_pane_reshaped(self) -> None:
        """Its parts get their sizes after the screen has: what was drawn in between was made for those before."""
        self.mark(at_once=True)
