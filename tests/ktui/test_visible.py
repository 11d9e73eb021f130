"""Characters that would steer the terminal, and those that take no cell or two."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from ktui.visible import NoControls, visible
from ktui.widgets.line import Line, fit, fit_middle


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("plain", "plain", id="plain"),
        pytest.param("a\x1b[2Jb", "a␛[2Jb", id="escape"),
        pytest.param("one\ntwo\tthree", "one␊two three", id="lines and tabs"),
        pytest.param("bell\x07 del\x7f", "bell␇ del␡", id="bell"),
        pytest.param("\x9b31m", "�31m", id="C1"),
        pytest.param("exe\u202egpj", "exe�gpj", id="direction"),
        pytest.param("שלום e\u0301 日本", "שלום e\u0301 日本", id="other writings"),
    ],
)
def test_a_control_character_becomes_a_picture(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_no_line_reaches_the_terminal_with_a_control_character() -> None:
    style = Style(bold=True)
    segments = [Segment("log \x1b]0;title\x07", style), Segment("fine")]
    assert NoControls().apply(segments, Color.parse("black")) == [Segment("log ]0;title", style), Segment("fine")]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("👩‍👩‍👧 family 🇩🇪", id="emoji of several characters"),
        pytest.param("e\u0301\u0301\u0301a\u0308" * 8, id="combining characters"),
        pytest.param("日本語のとても長い名前です", id="wide characters"),
        pytest.param("\u0301starts with a combining one", id="combining first"),
        pytest.param("a\x1b[31mb" * 4, id="control characters"),
        pytest.param("עברית عربى mixed", id="right to left"),
    ],
)
@pytest.mark.parametrize("width", [1, 2, 3, 7, 12, 30])
def test_a_cell_holds_what_it_has_room_for(text: str, width: int) -> None:
    assert cell_len(fit(visible(text), width)) <= width
    assert cell_len(fit_middle(visible(text), width)) <= width
    line = Line(width)
    line.put(0, text, None)
    assert cell_len(line.strip(Style()).text) == width
