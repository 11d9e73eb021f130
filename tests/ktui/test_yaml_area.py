"""YAML that is edited, in the colours of YAML that is shown."""

from __future__ import annotations

from textual.app import App, ComposeResult

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
