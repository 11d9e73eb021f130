"""How much of a YAML document its aliases may make up: go-yaml's figures."""

from __future__ import annotations

import pytest

from engine.api.golang.yaml import YamlError, load

NAMES = "abcdefghi"
BOMB = "".join(
    f"{name}: &{name} [{', '.join([f'*{NAMES[at - 1]}' if at else 'lol'] * 9)}]\n" for at, name in enumerate(NAMES)
)


def repeated(keys: int, times: int) -> str:
    """A mapping of so many keys, and so many aliases of it: `(2 * keys + 2) * times` decoded for aliases."""
    mapping = ", ".join(f"k{number}: {number}" for number in range(keys))
    return f"a: &a {{{mapping}}}\nb: [{', '.join(['*a'] * times)}]\n"


LET_THROUGH = {
    "no more than a hundred values for aliases": repeated(10, 4),
    "less than 99 % of what is decoded": repeated(300, 97),
    "a text with stars": "a: '" + "*a " * 5000 + "'",
}
REFUSED = {
    "a few lines that stand for 387 million values": BOMB,
    "more than 99 %": repeated(300, 160),
    "less than 99 % of more than 400,000": repeated(3000, 90),
}


@pytest.mark.parametrize("text", LET_THROUGH.values(), ids=LET_THROUGH)
def test_let_through(text: str) -> None:
    assert isinstance(load(text), dict)


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_refused(text: str) -> None:
    with pytest.raises(YamlError, match=r"^yaml: document contains excessive aliasing$"):
        load(text)


@pytest.mark.parametrize("text", ["a: &a [*a, 1, 2, 3]", "a: &a {x: {y: *a}}"])
def test_an_alias_in_what_it_stands_for(text: str) -> None:
    with pytest.raises(YamlError, match=r"^yaml: anchor 'a' value contains itself$"):
        load(text)
