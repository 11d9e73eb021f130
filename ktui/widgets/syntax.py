"""Highlighted YAML, in the terminal's own colours, so that it fits every theme."""

from __future__ import annotations

from typing import Any

from rich.syntax import Syntax
from rich.text import Text
from textual.app import App


def syntax_theme(app: App[Any]) -> str:
    return "ansi_dark" if app.current_theme.dark else "ansi_light"


def yaml_text(text: str, theme: str) -> Text:
    """YAML as text that is cut off, not wrapped, where it is too long."""
    shown = Syntax("", "yaml", theme=theme, background_color="default").highlight(text)
    shown.no_wrap, shown.overflow = True, "ellipsis"
    return shown
