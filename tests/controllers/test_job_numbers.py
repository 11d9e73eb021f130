"""The numbers that the Pods of a Job carry in annotations, as strconv reads them: anybody may have written them."""

from __future__ import annotations

import pytest

from engine.controllers.job.index_failures import FAILURES, all_failures
from engine.controllers.job.indexes import COMPLETION_INDEX, UNKNOWN, index_of
from tests.controllers.objects import pod

NO_NUMBERS = ["", "a", "1.0", " 1", "²", "1_0", "9" * 5000]


@pytest.mark.parametrize(
    ("text", "index"), [("0", 0), ("07", 7), ("+5", 5), ("-5", UNKNOWN), *((text, UNKNOWN) for text in NO_NUMBERS)]
)
def test_the_completion_index(text: str, index: int) -> None:
    made = pod("a")
    made["metadata"]["annotations"] = {COMPLETION_INDEX: text}
    assert index_of(made) == index


@pytest.mark.parametrize(
    ("text", "count"),
    [("3", 3), ("+3", 3), ("-3", 0), (f"{2**31 - 1}", 2**31 - 1), (f"{2**31}", 0), *((text, 0) for text in NO_NUMBERS)],
)
def test_the_count_of_failures(text: str, count: int) -> None:
    made = pod("a")
    made["metadata"]["annotations"] = {FAILURES: text}
    assert all_failures(made) == count
