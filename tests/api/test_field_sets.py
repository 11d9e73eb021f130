"""Field sets: their algebra against plain sets of paths, and how paths are shown."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.apply.field_sets import (
    MEMBER,
    SELF,
    FieldSet,
    canonical,
    difference,
    in_order,
    intersection,
    paths,
    union,
    valid,
)
from engine.api.apply.steps import keys_step, path_text, value_step

Path = tuple[str, ...]


def of(members: set[Path]) -> FieldSet:
    """The trie of some paths, made without the operations under test."""
    root: FieldSet = {}
    for path in sorted(members):
        node = root
        for step in path:
            node = node.setdefault(step, {})
        node[SELF] = {}
    return _without_lone_marks(root)


def _without_lone_marks(node: FieldSet) -> FieldSet:
    if set(node) == {SELF}:
        return {}
    return {step: child if step == SELF else _without_lone_marks(child) for step, child in sorted(node.items())}


STEPS = st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', 'v:"y"'])
PATHS = st.lists(STEPS, min_size=1, max_size=4).map(tuple)
SETS = st.sets(PATHS, max_size=8)


@given(SETS)
def test_a_set_holds_its_paths(members: set[Path]) -> None:
    assert set(paths(of(members))) == members
    assert valid(of(members))


@given(SETS, SETS)
def test_the_algebra_is_that_of_sets(left: set[Path], right: set[Path]) -> None:
    one, other = of(left), of(right)
    before = copy.deepcopy((one, other))
    assert union(one, other) == of(left | right)
    assert difference(one, other) == of(left - right)
    assert intersection(one, other) == of(left & right)
    assert (one, other) == before, "operands are shared, never changed"


@given(SETS, SETS)
def test_what_does_not_change_is_the_operand_itself(left: set[Path], right: set[Path]) -> None:
    one, other = of(left), of(right)
    if not left & right:
        assert difference(one, other) is one
    if right <= left:
        assert union(one, other) is one


@given(SETS, SETS)
def test_steps_are_in_order(left: set[Path], right: set[Path]) -> None:
    assert list(paths(union(of(left), of(right)))) == list(paths(of(left | right)))


def test_values_that_are_lists_and_maps_are_in_order() -> None:
    steps = ["v:1", 'v:"a"', "v:[]", "v:[1]", "v:[1,2]", "v:[10]", "v:{}", 'v:{"a":2}', 'v:{"a":10}', "v:null"]
    fields: FieldSet = {step: {} for step in reversed(steps)}
    assert list(in_order(fields)) == steps


def test_how_paths_are_shown() -> None:
    assert path_text(("f:spec", 'k:{"port":80,"protocol":"TCP"}', "f:name")) == '.spec[port=80,protocol="TCP"].name'
    assert path_text(("f:metadata", "f:finalizers", 'v:"a/b"')) == '.metadata.finalizers[="a/b"]'
    assert (
        path_text(("f:metadata", "f:labels", "f:app.kubernetes.io/name")) == ".metadata.labels.app.kubernetes.io/name"
    )
    assert path_text(("f:l", "i:3")) == ".l[3]"


@pytest.mark.parametrize(
    ("step", "text"),
    [
        ('k:{"name":"\\"a\\" \\\\\\n\\u0007\u00e9\u200b"}', '[name="\\"a\\" \\\\\\n\\a\u00e9\\u200b"]'),
        ('v:"\\u003ca\\u003e"', '[="<a>"]'),
        ("v:2.5e6", "[=2.5e+06]"),
        ('v:["a",null,true]', '[=["a",null,true]]'),
        ('v:{"b":1,"a":"x"}', '[=a="x"b=1]'),
    ],
)
def test_how_values_are_shown(step: str, text: str) -> None:
    """value.ToString, which has texts as %q and numbers as %v."""
    assert path_text((step,)) == text


@pytest.mark.parametrize(
    ("value", "step"),
    [
        ("https://a?b=<1>&c", 'v:"https://a?b=\\u003c1\\u003e\\u0026c"'),
        ("\u2028\u2029\u2030", 'v:"\\u2028\\u2029\u2030"'),
        ("\b\f\n\x01\x7f", 'v:"\\u0008\\u000c\\n\\u0001\x7f"'),
        ("\\b\\<", 'v:"\\\\b\\\\\\u003c"'),
        ({"<": "&"}, 'k:{"<":"\\u0026"}'),
        ({"a": 1, "b": "\\"}, 'k:{"a":1,"b":"\\\\"}'),
    ],
)
def test_values_are_escaped_as_json_iterator_does(value: Any, step: str) -> None:
    """What HTML gives a meaning to in values, but not in the names of keys."""
    assert (keys_step(value) if isinstance(value, dict) else value_step(value)) == step
    assert list(canonical({step: {}})) == [step]


def test_what_is_no_set() -> None:
    assert valid({"f:a": {".": {}, 'k:{"a":1}': MEMBER}})
    wrong: list[Any] = [[], {"a": {}}, {"k:[1]": {}}, {"v:{": {}}, {"f:a": []}, {"f:a": {"b": {}}}]
    wrong += [
        {step: {}}
        for step in (
            "",
            "f",
            "i:",
            "i:1.2",
            "i: 0",
            "i:0 ",
            f"i:{2**63}",
            f"i:{'9' * 5000}",
            "v:",
            'v:{"a":1} {"b":2}',
            "k:{a}",
        )
    ]
    assert not any(map(valid, wrong))


def test_null_is_a_set_of_nothing() -> None:
    assert valid(None)
    assert valid({"f:a": None})


def test_steps_of_a_kind_that_is_not_known_are_let_be() -> None:
    assert all(valid({step: {}}) for step in ("r:Hello", "f:", "i:12", "v:null", "k:null", 'k: {"name":"a"} '))
