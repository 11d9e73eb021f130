"""Somebody waits: from a key or a click until the next picture.

A picture that a person waits for is drawn as soon as all is worked out, not at the next tick of Textual's frame clock,
and what only keeps the screen current steps aside until it is there. A wheel that turns or a key that is held down
asks for more pictures than an eye takes in: they come at the frame clock's pace.
"""

from __future__ import annotations

from engine.clock import Clock

PATIENCE_SECONDS = 0.1  # not every key changes what is shown
REST_SECONDS = 1 / 60


class Haste:
    """Told of each input and each picture."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._is_waited_for = False
        self._drawn_at = 0.0
        self.last_input = 0.0

    def come(self) -> None:
        self._is_waited_for = True
        self.last_input = self._clock.monotonic()

    def drawn(self) -> None:
        self._is_waited_for = False
        self._drawn_at = self._clock.monotonic()

    def is_waited_for(self) -> bool:
        return self._is_waited_for and self._clock.monotonic() < self.last_input + PATIENCE_SECONDS

    def is_due(self) -> bool:
        """Whether to draw now what has changed."""
        return self.is_waited_for() and self._clock.monotonic() >= self._drawn_at + REST_SECONDS
