"""The theme's colours in the words that Rich understands, for what is drawn cell by cell or as text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from rich.style import Style
from textual.app import App

NAMES = (
    "primary", "secondary", "accent", "warning", "error", "success", "foreground", "background", "surface", "panel",
    "lane-client", "lane-api-server", "lane-etcd", "lane-controllers", "lane-scheduler", "lane-nodes",
)  # fmt: skip


SAID_IN_WORDS = ("warning", "error", "success")  # and by signs: no meaning is lost without their hue
_known: dict[tuple[str, bool], Mapping[str, str]] = {}


def inks(app: App[Any]) -> Mapping[str, str]:
    """Theme variable → colour; worked out once for each theme, since every cell that is drawn asks."""
    found = _known.get((app.theme, app.no_color))
    if found is None:
        # The theme's own, not the app's: those are still the last theme's while one is being changed.
        theme = app.current_theme
        variables = theme.to_color_system().generate()
        found = {name: rich_colour(theme.variables.get(name) or variables.get(name, "")) for name in NAMES}
        if app.no_color:  # in shades of grey red is darker than text: what failed would be seen last
            found.update(dict.fromkeys(SAID_IN_WORDS, found["foreground"]))
        _known[app.theme, app.no_color] = found
    return found


def rich_colour(value: str) -> str:
    """`#5aa9e6` as it is; Textual's `ansi_bright_red` as `bright_red`; what is neither as the terminal's own colour."""
    if value.startswith("ansi_"):
        return value.removeprefix("ansi_")
    if value.startswith("#") and len(value) in (7, 9):
        return value[:7]
    return "default"


@lru_cache(maxsize=512)
def style(colour: str, ground: str, bold: bool = False, dim: bool = False) -> Style:
    """A style in Rich's words; made once, since every cell that is drawn asks for one."""
    return Style(color=colour, bgcolor=ground, bold=bold, dim=dim)
