"""What a command has printed, and a filter on it."""

from __future__ import annotations

import pytest

from ktui.models.printed import LINES_KEPT, SLACK, Printed, PrintedLine


@pytest.mark.parametrize(
    ("filter", "shown"),
    [
        pytest.param("", ["GET / 200", "GET /x 404", "POST / 500"], id="all"),
        pytest.param("get", ["GET / 200", "GET /x 404"], id="a word, whatever its case"),
        pytest.param("get 404", ["GET /x 404"], id="two words"),
        pytest.param("!get", ["POST / 500"], id="not a word"),
        pytest.param("!", [], id="an exclamation mark alone is what it is"),
    ],
)
def test_lines_that_meet_a_filter(filter: str, shown: list[str]) -> None:
    lines = [PrintedLine(text) for text in ("GET / 200", "GET /x 404", "POST / 500")]
    before, after = Printed(), Printed()
    before.filter = filter
    fresh, dropped = before.add(lines)
    after.add(lines)
    after.filter = filter
    assert ([line.text for line in fresh], dropped, before.count) == (shown, 0, 3)
    assert [line.text for line in before.shown] == [line.text for line in after.shown] == shown
    assert before.text == "\n".join(shown)


@pytest.mark.parametrize("at_once", [7, LINES_KEPT, 3 * LINES_KEPT])
def test_the_newest_lines_are_kept(at_once: int) -> None:
    printed, dropped = Printed(), 0
    printed.filter = "even"
    whole = 3 * LINES_KEPT
    lines = [PrintedLine(f"{number} {'odd' if number % 2 else 'even'}") for number in range(whole)]
    shown = 0
    for first in range(0, whole, at_once):
        fresh, gone = printed.add(lines[first : first + at_once])
        shown, dropped = shown + len(fresh), dropped + gone
    assert printed.count == whole
    assert shown - dropped == len(printed.shown)
    assert LINES_KEPT / 2 <= len(printed.shown) <= LINES_KEPT / 2 + SLACK
    assert printed.shown[-1].text == f"{whole - 2} even"
    printed.filter = ""
    assert LINES_KEPT <= len(printed.shown) <= LINES_KEPT + SLACK
    assert printed.left_out == whole - len(printed.shown)
