"""How two screens share a terminal."""

from __future__ import annotations

import pytest

from ktui.models.halves import Layout, layout_for, refusal


@pytest.mark.parametrize(
    ("size", "layout"),
    [
        pytest.param((80, 24), Layout.ALONE, id="room for one"),
        pytest.param((159, 39), Layout.ALONE, id="nearly"),
        pytest.param((120, 40), Layout.STACKED, id="one above the other"),
        pytest.param((160, 24), Layout.BESIDE, id="side by side"),
        pytest.param((200, 60), Layout.BESIDE, id="side by side where both would do"),
    ],
)
def test_layout(size: tuple[int, int], layout: Layout) -> None:
    assert layout_for(*size) is layout


def test_a_refusal_says_what_is_needed_and_what_there_is() -> None:
    assert refusal(80, 24) == (
        "two screens need 160 columns to stand side by side, or 40 rows to stand one above the other; "
        "this terminal is 80×24"
    )
    assert not refusal(120, 40)
