"""Themes: one YAML file each, with the colours of a Textual theme and one hue for each lane."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml
from textual.theme import Theme

from ktui.assets import asset_folder

DEFAULT_THEME = "ktui-dark"
LANE_VARIABLES = tuple(f"lane-{lane}" for lane in ("client", "api-server", "etcd", "controllers", "scheduler", "nodes"))
_FIELDS = frozenset(field.name for field in fields(Theme))


class ThemeError(ValueError):
    """A theme file that cannot be used; the message names the file and the key."""


def load_theme(file: Path) -> Theme:
    """Read one theme. Raises ThemeError."""
    try:
        values = yaml.safe_load(file.read_text())
    except (OSError, yaml.YAMLError) as error:
        raise ThemeError(f"cannot read the theme {file}: {error}") from error
    if not isinstance(values, dict) or "name" not in values or "primary" not in values:
        raise ThemeError(f"the theme {file} is not a mapping with at least name and primary")
    if unknown := sorted(set(values) - _FIELDS):
        raise ThemeError(f"the theme {file} has unknown keys: {', '.join(unknown)}")
    variables: dict[str, Any] = values.get("variables") or {}
    if missing := [name for name in LANE_VARIABLES if name not in variables]:
        raise ThemeError(f"the theme {file} lacks the variables {', '.join(missing)}")
    return Theme(**values)


def load_themes() -> Iterator[Theme]:
    """The themes that come with ktui."""
    for file in sorted(asset_folder("themes").glob("*.yaml")):
        yield load_theme(file)
