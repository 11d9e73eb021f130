"""What a command has printed, and a filter on it."""

from __future__ import annotations

import pytest

from ktui.models.printed import LINES_KEPT, Printed, PrintedLine


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
    printed = Printed(filter=filter)
    added = [line for line in ("GET / 200", "GET /x 404", "POST / 500") if printed.add(PrintedLine(line))]
    assert added == [line.text for line in printed.shown] == shown
    assert printed.text == "\n".join(shown)


def test_the_newest_lines_are_kept() -> None:
    printed = Printed()
    for number in range(LINES_KEPT + 5):
        printed.add(PrintedLine(str(number)))
    assert next(printed.shown).text == "5"
