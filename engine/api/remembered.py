"""What was found out of values that say the same, as many as were newest."""

from __future__ import annotations

from typing import Generic, TypeVar

REMEMBERED = 500
LONGEST = 16_384  # bytes of JSON; what says more is seldom said twice, and would fill the memory

T = TypeVar("T")


class Remembered(Generic[T]):
    """Findings by what was said, as JSON. They are shared: who gets one must not change it."""

    def __init__(self) -> None:
        self._found: dict[bytes, T] = {}

    def get(self, said: bytes) -> T | None:
        return self._found.get(said)

    def put(self, said: bytes, finding: T) -> None:
        if len(said) > LONGEST:
            return
        if len(self._found) >= REMEMBERED:
            del self._found[next(iter(self._found))]
        self._found[bytes(memoryview(said))] = finding  # orjson's own buffer is many times as long
