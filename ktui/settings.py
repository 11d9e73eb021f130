"""What a person has set: `config.yaml` in ktui's config folder, their own themes beside it, and what ktui remembers.

    theme: light               # one of ktui's, or of themes/*.yaml in this folder
    keys:                      # `ktui keys` prints all names with their keys; several keys are parted by commas
      objects.describe: "i"
      screen.flow: "f1,1"

A file that cannot be used is said and left out: nobody is kept from their cluster by a typing error.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs
import yaml
from textual.theme import Theme

from engine.folder import HOME_VARIABLE, data_home
from ktui.keymap import is_key
from ktui.lines import lines_of, place, yaml_problem
from ktui.themes import ThemeError, load_theme

HISTORY_KEPT = 500


@dataclass(slots=True)
class Settings:
    """`problems` are what could not be used, each in a sentence. Without folders nothing is read or remembered."""

    theme: str = ""
    keys: dict[str, str] = field(default_factory=dict)
    themes: list[Theme] = field(default_factory=list)
    broken_themes: dict[str, str] = field(default_factory=dict)  # by its file's name what is wrong with one
    places: dict[str, str] = field(default_factory=dict)  # file and line of each of `keys`
    problems: list[str] = field(default_factory=list)
    state_folder: Path | None = None

    @classmethod
    def load(cls, config: Path | None = None, state: Path | None = None) -> Settings:
        folder = config if config is not None else platformdirs.user_config_path("ktui")
        settings = cls(state_folder=state if state is not None else _state_folder())
        settings._read_config(folder / "config.yaml")
        settings._read_themes(folder / "themes")
        return settings

    def _read_config(self, file: Path) -> None:
        try:
            text = file.read_text()
            values = yaml.safe_load(text)
        except FileNotFoundError:
            return
        except yaml.YAMLError as error:
            line, why = yaml_problem(error)
            self.problems.append(f"{place(file, line)} cannot be read: {why}")
            return
        except (OSError, UnicodeDecodeError) as error:
            self.problems.append(f"{file} cannot be read: {error}")
            return
        if not isinstance(values, dict):
            self.problems.append(f"{file} is no mapping with theme and keys")
            return
        lines = lines_of(text)
        self._take(file, values, lines)
        self.places = {name: place(file, lines.get(("keys", name), 0)) for name in self.keys}

    def _take(self, file: Path, values: dict[str, Any], lines: dict[tuple[str, ...], int]) -> None:
        theme, keys = values.pop("theme", ""), values.pop("keys", None) or {}
        if isinstance(theme, str):
            self.theme = theme
        if isinstance(keys, dict):
            for name, text in keys.items():
                told = ",".join(map(str, text)) if isinstance(text, list) else str(text)
                self._take_key(str(name), told, place(file, lines.get(("keys", str(name)), 0)))
        else:
            self.problems.append(f"{place(file, lines.get(('keys',), 0))}: keys is no mapping of names to keys")
        for entry in values:
            self.problems.append(f"{place(file, lines.get((str(entry),), 0))}: unknown entry: {entry}")

    def _take_key(self, name: str, text: str, where: str) -> None:
        """The keys of an entry that there are; where there is none the action keeps those that it has."""
        keys = [key.strip() for key in text.split(",")]
        self.problems.extend(f"{where} {name}: there is no key {key!r}" for key in keys if not is_key(key))
        if usable := [key for key in keys if is_key(key)]:
            self.keys[name] = ",".join(usable)

    def _read_themes(self, folder: Path) -> None:
        for file in sorted(folder.glob("*.yaml")):
            try:
                theme = load_theme(file)
            except ThemeError as error:
                self.problems.append(str(error))
                self.broken_themes[file.stem] = str(error)
                continue
            theme.name = f"ktui-{theme.name.removeprefix('ktui-')}"
            self.themes.append(theme)

    def broken(self, theme: str) -> str:
        """What is wrong with the file of a theme; "" for nothing."""
        return self.broken_themes.get(theme.removeprefix("ktui-"), "")

    # -- what ktui remembers

    def history(self) -> list[str]:
        """What was typed after `:` before."""
        file = self._file("history")
        try:
            lines = file.read_text().splitlines() if file is not None else []
        except (OSError, UnicodeDecodeError):
            return []
        if len(lines) > 2 * HISTORY_KEPT:
            self._write("history", "".join(f"{line}\n" for line in lines[-HISTORY_KEPT:]))
        return lines[-HISTORY_KEPT:]

    def remember(self, line: str) -> None:
        """At once, behind what other screens have remembered."""
        self._write("history", f"{line}\n", mode="a")

    @property
    def has_toured(self) -> bool:
        file = self._file("toured")
        return file is None or file.exists()

    def mark_toured(self) -> None:
        self._write("toured", "")

    def _file(self, name: str) -> Path | None:
        return self.state_folder / name if self.state_folder is not None else None

    def _write(self, name: str, text: str, *, mode: str = "w") -> None:
        """A disk that is full or read-only costs the memory, not the screen."""
        file = self._file(name)
        if file is None:
            return
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open(mode) as opened:
                opened.write(text)
        except OSError as error:
            self.problems.append(f"{file} cannot be written: {error}")


def _state_folder() -> Path:
    """Beside the clusters where those are in a place of their own, else the user's for such things."""
    return data_home() / ".state" if os.environ.get(HOME_VARIABLE) else platformdirs.user_state_path("ktui")
