"""A text area whose YAML has the colours that YAML has elsewhere on the screen."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import TextArea

from ktui.widgets.ink import inks
from ktui.widgets.syntax import yaml_text


class YamlArea(TextArea):
    """Line by line: Textual's own colours want a parser that is compiled for each machine."""

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        for span in yaml_text(line.plain, inks(self.app)).spans:
            line.stylize(span.style, span.start, span.end)
        return line
