"""Ages as tables print them."""

from __future__ import annotations

import pytest

from engine.api.duration import human_age, human_duration
from engine.clock import VIRTUAL_EPOCH

DAY = 24 * 3600


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-2, "<invalid>"),
        (-1, "0s"),
        (-0.5, "0s"),
        (0, "0s"),
        (119.9, "119s"),
        (120, "2m"),
        (200, "3m20s"),
        (599, "9m59s"),
        (600, "10m"),
        (3 * 3600 - 1, "179m"),
        (3 * 3600, "3h"),
        (3 * 3600 + 61, "3h1m"),
        (8 * 3600 - 1, "7h59m"),
        (8 * 3600 + 61, "8h"),
        (47 * 3600, "47h"),
        (2 * DAY, "2d"),
        (2 * DAY + 3 * 3600, "2d3h"),
        (8 * DAY + 3 * 3600, "8d"),
        (729 * DAY, "729d"),
        (730 * DAY, "2y"),
        (800 * DAY, "2y70d"),
        (8 * 365 * DAY + DAY, "8y"),
    ],
)
def test_human_duration(seconds: float, text: str) -> None:
    assert human_duration(seconds) == text


def test_human_age() -> None:
    assert human_age("2025-12-31T23:59:00Z", VIRTUAL_EPOCH) == "60s"
    assert human_age("2025-12-31T23:59:59.500000Z", VIRTUAL_EPOCH) == "0s"
    assert human_age(None, VIRTUAL_EPOCH) == "<unknown>"
