"""A text area whose YAML has the colours that YAML has elsewhere on the screen."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text
from textual.widgets import TextArea
from textual.widgets.text_area import TextAreaTheme

from ktui.widgets.ink import inks
from ktui.widgets.syntax import yaml_text


class _GroundOnly(TextAreaTheme):
    """The theme of the app, but for the line under the cursor: it has another ground and the colours of its text."""

    def apply_css(self, text_area: TextArea) -> None:
        super().apply_css(text_area)
        if self.cursor_line_style is not None:
            self.cursor_line_style = Style(bgcolor=self.cursor_line_style.bgcolor)


_THEME = _GroundOnly("yaml")


class YamlArea(TextArea):
    """Line by line: Textual's own colours want a parser that is compiled for each machine."""

    DEFAULT_CSS = """
    YamlArea .text-area--cursor-line, YamlArea .text-area--cursor-gutter { background: $panel; }
    """

    _height = 0  # when it was last resized

    def on_mount(self) -> None:
        self.register_theme(_THEME)
        self.theme = _THEME.name

    def on_resize(self) -> None:
        """What opens below the text leaves it less room: the line with the cursor stays in sight, if it was."""
        was_seen = 0 <= self._cursor_offset[1] - int(self.scroll_offset.y) < max(1, self._height)
        self._height = self.size.height
        if was_seen:
            self.scroll_cursor_visible()

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        for span in yaml_text(line.plain, inks(self.app)).spans:
            line.stylize(span.style, span.start, span.end)
        return line
