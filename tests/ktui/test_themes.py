"""Theme files: those that come along and those that are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from ktui.themes import DEFAULT_THEME, LANE_VARIABLES, ThemeError, load_theme, load_themes


def test_every_theme_that_comes_along_has_all_lane_colours() -> None:
    themes = {theme.name: theme for theme in load_themes()}
    assert DEFAULT_THEME in themes
    assert {"ktui-light"} <= set(themes)
    for theme in themes.values():
        assert len({theme.variables[name] for name in LANE_VARIABLES}) == len(LANE_VARIABLES)


LANES = "variables:\n" + "".join(f"  {name}: red\n" for name in LANE_VARIABLES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("name: x", "at least name and primary", id="no primary"),
        pytest.param("[1]", "not a mapping", id="a list"),
        pytest.param("name: x\nprimary: red\ncolour: blue", "yaml:3 has unknown keys: colour", id="unknown key"),
        pytest.param("name: x\nprimary: red", "lacks the variables lane-client", id="no lanes"),
        pytest.param(
            f'name: x\nprimary: "#zz"\n{LANES}', "yaml:2 has '#zz' for primary, which is no colour", id="colour"
        ),
        pytest.param(f"name: x\nprimary: 123456\n{LANES}", "yaml:2 has 123456 for primary", id="a number"),
        pytest.param(
            f"name: x\nprimary: red\n{LANES.replace('red', 'rde')}", "yaml:4 has 'rde' for lane-client", id="lane"
        ),
        pytest.param("a: [", "mine.yaml:1: ", id="not YAML"),
    ],
)
def test_a_wrong_theme_is_named_with_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(ThemeError, match=message) as error:
        load_theme(file)
    assert str(file) in str(error.value)
