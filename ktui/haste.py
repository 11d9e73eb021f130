"""Somebody waits: from a key until the picture of what it did.

That picture is drawn as soon as all is worked out, not at the next tick of Textual's frame clock, and what only keeps
the screen current steps aside until it is there: news that were drawn first would keep the key waiting. A wheel that
turns or a key that is held down asks for more pictures than an eye takes in: they come at the frame clock's pace.
"""

from __future__ import annotations

from engine.clock import Clock

PATIENCE_SECONDS = 0.2  # not every key changes what is shown
REST_SECONDS = 1 / 60


class Haste:
    """Told of each key, when what it brings about is worked out, and of each picture."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._is_waited_for = self._is_handled = False
        self._answered_at = 0.0
        self._came_at = 0.0

    def come(self) -> None:
        self._is_waited_for, self._is_handled = True, False
        self._came_at = self._clock.monotonic()

    def handled(self) -> None:
        self._is_handled = True

    def drawn(self) -> None:
        if self._is_waited_for and self._is_handled:
            self._is_waited_for = False
            self._answered_at = self._clock.monotonic()

    def is_waited_for(self) -> bool:
        return self._is_waited_for and self._clock.monotonic() < self._came_at + PATIENCE_SECONDS

    def is_under_way(self) -> bool:
        """Whether what a key brings about is still being worked out."""
        return self.is_waited_for() and not self._is_handled

    def is_due(self) -> bool:
        """Whether to draw now what has changed."""
        is_ready = self._is_handled and self.is_waited_for()
        return is_ready and self._clock.monotonic() >= self._answered_at + REST_SECONDS
