"""What holds of server-side apply whatever is applied."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.api.types import Object
from tests.api.ownership import LATER, applied, config_map, deployment, edited, owners, stored, updated

NAMES = st.sampled_from("abcd")
CONTAINERS = st.dictionaries(
    NAMES, st.fixed_dictionaries({}, optional={"image": st.sampled_from("xy"), "tty": st.booleans()}), max_size=3
).map(lambda found: [{"name": name, **fields} for name, fields in found.items()])
METADATA = st.fixed_dictionaries(
    {},
    optional={
        "labels": st.dictionaries(NAMES, st.sampled_from("12"), min_size=1, max_size=3),
        "finalizers": st.lists(NAMES, unique=True, min_size=1, max_size=3),
    },
)
CONFIGS = st.builds(
    lambda replicas, containers, metadata: deployment(replicas, *containers, **metadata),
    st.none() | st.integers(1, 3),
    CONTAINERS,
    METADATA,
)


@given(CONFIGS, CONFIGS)
def test_applying_twice_is_a_no_op(base: Object, config: Object) -> None:
    live = stored(updated(None, base, "other"))
    once = applied(live, config, "me", force=True)
    assert applied(once, config, "me", now=LATER) is once
    assert applied(once, config, "me", force=True, now=LATER) is once


@given(CONFIGS, CONFIGS)
def test_nothing_given_is_changed(base: Object, config: Object) -> None:
    live = stored(applied(None, base, "other"))
    before = copy.deepcopy((live, config))
    applied(live, config, "me", force=True)
    updated(live, edited(live, config), "me")
    assert (live, config) == before


def keyed(prefix: str) -> st.SearchStrategy[dict[str, str]]:
    return st.dictionaries(NAMES.map(lambda name: prefix + name), st.sampled_from("12"), min_size=1, max_size=3)


@given(keyed("l-"), keyed("r-"), keyed("b-"))
def test_disjoint_managers_commute_and_never_conflict(
    left: dict[str, str], right: dict[str, str], base: dict[str, str]
) -> None:
    live = stored(updated(None, config_map(**base), "base"))
    one = applied(applied(live, config_map(**left), "l"), config_map(**right), "r")
    other = applied(applied(live, config_map(**right), "r"), config_map(**left), "l")
    assert one["data"] == other["data"] == {**base, **left, **right}
    assert owners(one) == owners(other)


@given(CONFIGS, CONFIGS)
def test_giving_all_up_leaves_what_the_other_applied(mine: Object, theirs: Object) -> None:
    both = applied(stored(applied(None, theirs, "them")), mine, "me", force=True)
    after = applied(both, deployment(), "me")
    left = owners(both).get("them", {})
    assert owners(after).get("them", {}) == left
    for step in left.get("f:metadata", {}).get("f:labels", {}):
        assert after["metadata"]["labels"][step[2:]] == theirs["metadata"]["labels"][step[2:]]
    containers = after["spec"].get("template", {}).get("spec", {}).get("containers", [])
    names = left.get("f:spec", {}).get("f:template", {}).get("f:spec", {}).get("f:containers", {})
    assert sorted(f'k:{{"name":"{container["name"]}"}}' for container in containers) == sorted(names)


def owned_leaves(fields: Any, path: str = "") -> set[str]:
    if not fields:
        return {path}
    return {leaf for step, node in fields.items() if step != "." for leaf in owned_leaves(node, f"{path}/{step}")}


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.sampled_from(["m1", "m2", "m3"]), st.dictionaries(NAMES, st.sampled_from("12"))), max_size=6)
)
def test_managed_fields_cover_exactly_what_is_set(writes: list[tuple[str, dict[str, str]]]) -> None:
    live = stored(updated(None, {**config_map(), "immutable": False}, "m0"))
    for manager, data in writes:
        live = updated(live, edited(live, {"data": data}), manager)
    covered: set[str] = set()
    for fields in owners(live).values():
        leaves = owned_leaves({step: node for step, node in fields.get("f:data", {}).items() if step != "."}, "")
        assert not covered & leaves - {""}, "an update owns alone"
        covered |= leaves
    assert covered - {""} == {f"/f:{key}" for key in live["data"]}
