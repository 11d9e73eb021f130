"""Themes: one YAML file each, with the colours of a Textual theme and one hue for each lane."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml
from textual.color import Color, ColorParseError
from textual.theme import Theme

from ktui.assets import asset_folder
from ktui.lines import lines_of, place, yaml_problem

DEFAULT_THEME = "ktui-dark"
LANE_VARIABLES = tuple(f"lane-{lane}" for lane in ("client", "api-server", "etcd", "controllers", "scheduler", "nodes"))
COLOURS = (
    "primary", "secondary", "warning", "error", "success", "accent",
    "foreground", "background", "surface", "panel", "boost",
)  # fmt: skip
_FIELDS = frozenset(field.name for field in fields(Theme))


class ThemeError(ValueError):
    """A theme file that cannot be used; the message names the file and the key."""


def load_theme(file: Path) -> Theme:
    """Read one theme. Raises ThemeError."""
    try:
        text = file.read_text()
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        line, why = yaml_problem(error)
        raise ThemeError(f"cannot read the theme {place(file, line)}: {why}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ThemeError(f"cannot read the theme {file}: {error}") from error
    if not isinstance(values, dict) or "name" not in values or "primary" not in values:
        raise ThemeError(f"the theme {file} is not a mapping with at least name and primary")
    if unknown := [name for name in values if name not in _FIELDS]:
        line = lines_of(text).get((str(unknown[0]),), 0)
        raise ThemeError(f"the theme {place(file, line)} has unknown keys: {', '.join(map(str, unknown))}")
    variables: dict[str, Any] = values.get("variables") or {}
    if missing := [name for name in LANE_VARIABLES if name not in variables]:
        raise ThemeError(f"the theme {file} lacks the variables {', '.join(missing)}")
    colours: dict[tuple[str, ...], Any] = {(name,): values.get(name) for name in COLOURS}
    colours |= {("variables", name): variables[name] for name in LANE_VARIABLES}
    for path, colour in colours.items():
        if colour is not None and not _is_colour(colour):
            line = lines_of(text).get(path, 0)
            raise ThemeError(f"the theme {place(file, line)} has {colour!r} for {path[-1]}, which is no colour")
    return Theme(**values)


def _is_colour(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        Color.parse(value)
    except ColorParseError:
        return False
    return True


def load_themes() -> Iterator[Theme]:
    """The themes that come with ktui."""
    for file in sorted(asset_folder("themes").glob("*.yaml")):
        yield load_theme(file)
