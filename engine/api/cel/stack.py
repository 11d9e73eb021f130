"""Room on the stack for expressions as deep as cel-go takes them: 250 brackets are more frames than Python allows."""

from __future__ import annotations

import sys
import threading

_FRAMES = 10_000  # twice what 250 nested expressions take, from their words to their values


class _Room:
    """To be entered by several threads: the limit is one for all of them, and ends with the last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._usual = 0

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._usual = sys.getrecursionlimit()
                sys.setrecursionlimit(self._usual + _FRAMES)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                sys.setrecursionlimit(self._usual)


room = _Room()
