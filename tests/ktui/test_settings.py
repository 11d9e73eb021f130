"""What a person has set, and what ktui does with files that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.folder import clusters
from ktui.keymap import as_yaml, clashes, is_key, keys_of, named_keys, unknown_names
from ktui.settings import HISTORY_KEPT, Settings
from ktui.themes import DEFAULT_THEME, load_themes


def load(folder: Path, config: str = "") -> Settings:
    if config:
        (folder / "config.yaml").write_text(config)
    return Settings.load(folder, folder / "state")


def test_nothing_set_is_no_problem(tmp_path: Path) -> None:
    settings = load(tmp_path)
    assert (settings.theme, settings.keys, settings.themes, settings.problems) == ("", {}, [], [])


def test_theme_and_keys(tmp_path: Path) -> None:
    settings = load(tmp_path, 'theme: light\nkeys:\n  objects.yaml: "Y"\n')
    assert (settings.theme, settings.keys, settings.problems) == ("light", {"objects.yaml": "Y"}, [])


def test_several_keys_are_a_list_or_a_text(tmp_path: Path) -> None:
    settings = load(tmp_path, 'keys:\n  frame.help: [f1, "?"]\n  frame.copy: "c, Y"\n')
    assert (settings.keys, settings.problems) == ({"frame.help": "f1,?", "frame.copy": "c,Y"}, [])


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        pytest.param("theme: [", "config.yaml:1 cannot be read", id="no YAML"),
        pytest.param("theme: dark\nkeys:\n  a: b: c", "config.yaml:3 cannot be read: mapping values", id="its line"),
        pytest.param("- a", "is no mapping", id="a list"),
        pytest.param("keys: 3", "keys is no mapping", id="keys that are none"),
        pytest.param("# mine\nthme: dark", "config.yaml:2: unknown entry: thme", id="a word that is not known"),
        pytest.param("theme: dark\nkeys: 3", "config.yaml:2: keys is no mapping", id="the line of keys"),
    ],
)
def test_what_cannot_be_used_is_said(tmp_path: Path, config: str, problem: str) -> None:
    assert problem in load(tmp_path, config).problems[0]


def test_themes_of_one_s_own_and_those_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "themes").mkdir()
    dark = next(theme for theme in load_themes() if theme.name == DEFAULT_THEME)
    lanes = "".join(f'  {name}: "{value}"\n' for name, value in dark.variables.items() if name.startswith("lane-"))
    (tmp_path / "themes" / "mine.yaml").write_text(f'name: mine\nprimary: "#123456"\nvariables:\n{lanes}')
    (tmp_path / "themes" / "other.yaml").write_text("name: other\n")
    settings = load(tmp_path)
    assert [theme.name for theme in settings.themes] == ["ktui-mine"]
    assert list(settings.broken_themes) == ["other"]
    assert settings.problems == [settings.broken("other")] == [settings.broken("ktui-other")]
    assert "other.yaml" in settings.problems[0]
    assert not settings.broken("mine")


def test_history_and_the_tour_are_remembered(tmp_path: Path) -> None:
    settings = load(tmp_path)
    assert not settings.has_toured
    settings.mark_toured()
    settings.remember("get pods")
    beside = load(tmp_path)  # another screen, at the same time
    settings.remember("store")
    beside.remember("flow")
    again = load(tmp_path)
    assert (again.history(), again.has_toured) == (["get pods", "store", "flow"], True)


def test_of_a_long_history_the_newest_is_kept(tmp_path: Path) -> None:
    settings = load(tmp_path)
    for number in range(3 * HISTORY_KEPT):
        settings.remember(f"get pods -n n{number}")
    assert len(settings.history()) == HISTORY_KEPT
    (file,) = (found for found in tmp_path.rglob("history"))
    assert file.read_text().splitlines() == settings.history()
    assert settings.history()[-1] == f"get pods -n n{3 * HISTORY_KEPT - 1}"


def test_what_is_remembered_lies_beside_the_clusters_where_they_have_a_place_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KTUI_HOME", str(tmp_path / "home"))
    Settings.load(tmp_path).mark_toured()
    assert (tmp_path / "home" / ".state" / "toured").exists()
    assert clusters() == []


def test_without_a_folder_nothing_is_remembered() -> None:
    settings = Settings()
    settings.remember("get pods")
    assert (settings.history(), settings.has_toured, settings.problems) == ([], True, [])


def test_every_key_of_every_screen_has_a_name_and_no_two_the_same() -> None:
    names = named_keys()
    assert {"screen.flow", "clock.pause", "table.filter", "objects.yaml", "flow.pin", "store.older"} <= set(names)
    assert all("." in name for name in names)
    assert unknown_names({"objects.yaml": "Y", "objects.yml": "Y"}) == ["objects.yml"]
    assert '  objects.edit: "e"' in as_yaml()


def test_a_key_that_no_terminal_sends_is_said_with_its_line_and_the_action_keeps_its_own(tmp_path: Path) -> None:
    settings = load(tmp_path, 'keys:\n  clock.faster: "notakey"\n  objects.yaml: "f3, Enter"\n')
    file = tmp_path / "config.yaml"
    assert settings.problems == [
        f"{file}:2 clock.faster: there is no key 'notakey'",
        f"{file}:3 objects.yaml: there is no key 'Enter'",
    ]
    assert settings.keys == {"objects.yaml": "f3"}


def test_the_keys_that_ktui_has_are_keys() -> None:
    assert all(is_key(key) for binding in named_keys().values() for key in keys_of(binding.key))
    assert all(map(is_key, ("+", "é", "ctrl+plus", "alt+x", "shift+f5", "exclamation_mark")))
    assert not any(map(is_key, ("", "plus_sign", "latin_small_letter_a", "F5", "ctrl+", "hyper")))


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        pytest.param({"screen.store": "5"}, {"screen.store": "5 is screen.controllers too"}, id="two for all screens"),
        pytest.param({"screen.store": "5", "screen.controllers": "3"}, {}, id="two that change places"),
        pytest.param({"clock.faster": "e"}, {"clock.faster": "e is flow.events too"}, id="a screen has it for its own"),
        pytest.param({"objects.yaml": "+"}, {"objects.yaml": "plus is clock.faster too"}, id="by its character"),
        pytest.param({"objects.yaml": "l"}, {"objects.yaml": "l is objects.logs too"}, id="two of a screen"),
        pytest.param({"objects.yaml": "m"}, {}, id="another screen has it"),
        pytest.param({name: binding.key for name, binding in named_keys().items()}, {}, id="all as they are"),
        pytest.param({"objects.nothing": "5"}, {}, id="no action, which is said elsewhere"),
    ],
)
def test_a_key_that_two_actions_have_in_one_place_is_said(keys: dict[str, str], told: dict[str, str]) -> None:
    assert clashes(keys) == told


def test_a_key_that_is_set_is_known_with_its_line(tmp_path: Path) -> None:
    settings = load(tmp_path, 'theme: dark\nkeys:\n  objects.yaml: "Y"\n')
    assert settings.places == {"objects.yaml": f"{tmp_path / 'config.yaml'}:3"}
