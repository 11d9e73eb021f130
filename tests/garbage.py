"""When a process of tests collects garbage.

Thousands of collected tests and the schemas live until the end; to look through them again and again took a third of
the processor's time. So what the collection of tests made is set aside, and all that a file left behind is collected
when the file ends: a coroutine of it that nobody awaited is then told of its own last test.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

THRESHOLDS = (10_000, 20, 20)  # Python's: within a file, the old are hardly ever looked through


def pytest_configure() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.enable()


@pytest.fixture(scope="module", autouse=True)
def garbage() -> Iterator[None]:
    """Made before all else of a file, and so ended after it."""
    yield
    gc.collect()
    gc.freeze()
