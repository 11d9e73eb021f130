"""Long pieces of work that are done in turns with others.

What may take long (asking the rules of a large object, engine.api.crd.cel) is a generator. It yields where others may
go on: None, or a `Task` that takes long by itself, whose result it is sent. This package does no waiting; whoever runs
the work says how (`at_once` here, the API server between its other requests).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeVar

T = TypeVar("T")
Task = Callable[[], Any]
Work = Generator[Task | None, Any, T]


def at_once(work: Work[T]) -> T:
    """The result of the work, with nobody let go on in between."""
    answer: Any = None
    while True:
        try:
            task = work.send(answer)
        except StopIteration as done:
            result: T = done.value
            return result
        answer = task() if task is not None else None
