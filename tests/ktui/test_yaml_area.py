"""YAML that is edited, in the colours of YAML that is shown."""

from __future__ import annotations

import pytest
from rich.color import Color
from textual.app import App, ComposeResult
from textual.theme import Theme

from ktui.themes import load_themes
from ktui.widgets.ink import inks
from ktui.widgets.yaml_area import YamlArea


class Window(App[None]):
    def compose(self) -> ComposeResult:
        yield YamlArea.code_editor("spec:\n  replicas: 3\n", theme="css")


async def test_keys_and_values_have_their_colours_as_they_are_typed() -> None:
    app = Window()
    async with app.run_test(size=(40, 6)):
        area, colours = app.query_one(YamlArea), inks(app)
        area.load_text("spec:\n  paused: true\n")
        line = area.get_line(1)
        assert line.plain == "  paused: true"
        assert {(span.start, span.end, str(span.style)) for span in line.spans} == {
            (2, 8, colours["primary"]),
            (10, 14, colours["accent"]),
        }


THEMES = load_themes()
LINE = "- paused: true"


def colours(area: YamlArea, line: int) -> list[Color | None]:
    """Of the text of a line, character by character."""
    return [
        segment.style.color if segment.style is not None else None
        for segment in area.render_line(line)
        for _ in segment.text
    ]


def grounds(area: YamlArea, line: int) -> set[Color | None]:
    return {segment.style.bgcolor for segment in area.render_line(line) if segment.style is not None}


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
async def test_the_line_under_the_cursor_has_them_too(theme: Theme) -> None:
    app = Window()
    async with app.run_test(size=(40, 6)) as pilot:
        app.register_theme(theme)
        app.theme = theme.name
        area = app.query_one(YamlArea)
        area.cursor_blink = False
        area.load_text(f"{LINE}\n{LINE}\n")
        area.move_cursor((0, len(LINE)))
        await pilot.pause()
        begin, end = area.gutter_width, area.gutter_width + len(LINE)
        under, other = colours(area, 0)[begin:end], colours(area, 1)[begin:end]
        assert len(set(under)) > 2  # the dash and the value, the key, the colon
        assert under == other
        if theme.name != "ktui-ansi":  # whose panels have the terminal's own ground
            assert grounds(area, 0) != grounds(area, 1)
