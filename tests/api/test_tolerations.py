"""Which tolerations others cover, what is left of two sets, what is permissible (upstream's tolerations_test.go)."""

from __future__ import annotations

import pytest

from engine.api.tolerations import covers, merged, permitted
from engine.api.types import Object


def _of(text: str) -> Object:
    """`key=value:effect/seconds`, each but the key left out at will; a key of `*` is none."""
    text, _, seconds = text.partition("/")
    text, _, effect = text.partition(":")
    key, equal, value = text.partition("=")
    made: Object = {"operator": "Equal" if equal else "Exists"}
    made |= {"key": key} if key != "*" else {}
    made |= {"value": value} if equal else {}
    made |= {"effect": effect} if effect else {}
    return made | ({"tolerationSeconds": int(seconds)} if seconds else {})


NAMES = [
    "*", "*:NoSchedule", "*:NoExecute", "foo", "foo=bar", "foo:NoSchedule",
    "foo=bar:NoSchedule", "foo=baz:NoSchedule", "faz:NoSchedule", "faz=baz:NoSchedule", "foo:PreferNoSchedule",
    "foo:NoExecute", "foo=bar:NoExecute", "foo:NoExecute/10", "foo:NoExecute/0", "foo=bar:NoExecute/10",
]  # fmt: skip
COVERED = {
    "*": set(NAMES),
    "*:NoSchedule": {name for name in NAMES if name.endswith(":NoSchedule")},
    "*:NoExecute": {name for name in NAMES if ":NoExecute" in name},
    "foo": {name for name in NAMES if name.startswith("foo")},
    "foo=bar": {"foo=bar:NoSchedule", "foo=bar:NoExecute", "foo=bar:NoExecute/10"},
    "foo:NoSchedule": {"foo=bar:NoSchedule", "foo=baz:NoSchedule"},
    "faz:NoSchedule": {"faz=baz:NoSchedule"},
    "foo:NoExecute": {name for name in NAMES if name.startswith("foo") and ":NoExecute" in name},
    "foo=bar:NoExecute": {"foo=bar:NoExecute/10"},
    "foo:NoExecute/10": {"foo:NoExecute/0", "foo=bar:NoExecute/10"},
}


@pytest.mark.parametrize("wider", NAMES)
def test_what_a_toleration_covers(wider: str) -> None:
    assert {name for name in NAMES if covers(_of(wider), _of(name))} == COVERED.get(wider, set()) | {wider}


ONE, TWO, THREE = "foo=bar:NoSchedule", "faz=baz:NoSchedule", "foo:NoExecute/10"
MERGED = {
    "disjoint": ((ONE, TWO, THREE), ("foo:PreferNoSchedule", "foo=baz:NoSchedule"),
                 (ONE, TWO, THREE, "foo:PreferNoSchedule", "foo=baz:NoSchedule")),
    "the same": ((ONE, TWO, THREE), (ONE, TWO, THREE), (ONE, TWO, THREE)),
    "needless ones": ((ONE, "foo=baz:NoSchedule"), ("foo:NoSchedule", TWO), ("foo:NoSchedule", TWO)),
    "into all": ((ONE, "foo=baz:NoSchedule", THREE), ("*",), ("*",)),
    "all that is there": (("*",), (ONE, "foo=baz:NoSchedule", THREE), ("*",)),
}  # fmt: skip


@pytest.mark.parametrize(("first", "second", "left"), MERGED.values(), ids=MERGED.keys())
def test_what_is_left_of_two_sets(first: tuple[str, ...], second: tuple[str, ...], left: tuple[str, ...]) -> None:
    assert merged([_of(name) for name in first], [_of(name) for name in second]) == [_of(name) for name in left]


PERMITTED = [
    ((ONE, "foo=baz:NoSchedule"), (ONE, "foo=baz:NoSchedule"), True),
    ((ONE, ONE), (ONE, "foo=baz:NoSchedule"), True),
    ((ONE, ONE), ("*",), True),
    ((ONE, ONE), ("foo=baz:NoSchedule",), False),
    ((ONE, "foo=baz:NoSchedule"), ("foo=baz:NoSchedule",), False),
    (("foo=bar",), ("foo:NoSchedule",), False),
    (("foo=bar",), (), True),
    ((), ("foo=bar",), True),
]


@pytest.mark.parametrize(("wanted", "permissible", "fine"), PERMITTED)
def test_what_is_permissible(wanted: tuple[str, ...], permissible: tuple[str, ...], fine: bool) -> None:
    assert permitted([_of(name) for name in wanted], [_of(name) for name in permissible]) is fine


def test_an_operator_that_is_left_out_covers_but_is_not_covered() -> None:
    """As upstream has it, though both mean `Equal`."""
    bare: Object = {"key": "foo", "value": "bar"}
    assert covers(bare, {**bare, "operator": "Equal", "effect": "NoSchedule"})
    assert not covers({**bare, "operator": "Equal"}, {**bare, "effect": "NoSchedule"})
