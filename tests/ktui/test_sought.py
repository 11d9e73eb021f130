"""How well a text fits what is typed into the palette."""

from __future__ import annotations

import pytest

from ktui.models.sought import fit, marks

TREE = "Deployments, their ReplicaSets, their Pods, their containers; beside it why the object under the cursor is so"


def test_the_better_it_fits_the_more_it_counts() -> None:
    fits = [
        fit("store", "Store"),
        fit("store", "Store size"),
        fit("store", "The store"),
        fit("size store", "Store size"),
        fit("etcd store", "Store", "what etcd keeps"),
        fit("sti", "Store size"),
        fit("zz", "Store size"),
    ]
    assert fits == sorted(fits, reverse=True)
    assert len(set(fits)) == len(fits)
    assert fits[-1] == 0


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        pytest.param("pod web", ["Pod web"], id="as it stands"),
        pytest.param("web pod", ["Pod", "web"], id="word by word"),
        pytest.param("pdw", [], id="letters"),
    ],
)
def test_what_was_typed_is_marked(query: str, marked: list[str]) -> None:
    title = "Pod web-1 (shop)"
    assert sorted(title[start:end] for start, end in marks(query, title)) == marked


def test_letters_that_stand_everywhere_are_looked_for_once() -> None:
    """There are billions of ways to find these letters in this order."""
    assert fit("teeeeeeeeso", "Tree", TREE) == 0
    assert fit("teeeeeeeeso", TREE) > 0
