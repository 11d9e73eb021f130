"""JSON Patch and JSON Merge Patch."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.errors import ApiError
from engine.api.patch import json_patch, merge_patch, strategic_merge_patch, three_way_merge_patch, two_way_merge_patch
from engine.api.types import Object

DOCUMENT: Object = {"a": {"b": 1, "c~d/e": 2}, "l": [1, 2, 3], "t": True}


def operation(op: str, path: str, **rest: Any) -> Object:
    return {"op": op, "path": path, **rest}


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        pytest.param([operation("add", "/x", value=1)], {**DOCUMENT, "x": 1}, id="add a field"),
        pytest.param([operation("add", "/l/1", value=9)], {**DOCUMENT, "l": [1, 9, 2, 3]}, id="add within a list"),
        pytest.param([operation("add", "/l/-", value=9)], {**DOCUMENT, "l": [1, 2, 3, 9]}, id="add at the end"),
        pytest.param([operation("remove", "/l/0")], {**DOCUMENT, "l": [2, 3]}, id="remove"),
        pytest.param([operation("remove", "/a/c~0d~1e")], {**DOCUMENT, "a": {"b": 1}}, id="an escaped path"),
        pytest.param([operation("replace", "/a", value={})], {**DOCUMENT, "a": {}}, id="replace"),
        pytest.param(
            [{"op": "move", "from": "/a/b", "path": "/m"}], {**DOCUMENT, "a": {"c~d/e": 2}, "m": 1}, id="move"
        ),
        pytest.param([{"op": "copy", "from": "/l", "path": "/m"}], {**DOCUMENT, "m": [1, 2, 3]}, id="copy"),
        pytest.param([operation("test", "/a/b", value=1)], DOCUMENT, id="test that holds"),
        pytest.param([operation("test", "/none", value=None)], DOCUMENT, id="a missing field tests as null"),
        pytest.param([operation("replace", "/x", value=1)], {**DOCUMENT, "x": 1}, id="replace what is not there"),
        pytest.param([operation("add", "/x")], {**DOCUMENT, "x": None}, id="no value is null"),
        pytest.param([operation("remove", "/l/-1")], {**DOCUMENT, "l": [1, 2]}, id="the last of a list"),
        pytest.param([operation("replace", "", value={"n": 1})], {"n": 1}, id="the whole document"),
        pytest.param([operation("add", "none/x", value=1)], {**DOCUMENT, "x": 1}, id="a path before its slash"),
        pytest.param([operation("add", "/l/+1", value=9)], {**DOCUMENT, "l": [1, 9, 2, 3]}, id="an index with a sign"),
        pytest.param([operation("add", "/l/-1", value=9)], {**DOCUMENT, "l": [1, 2, 3, 9]}, id="behind the last"),
        pytest.param([operation("add", "/l/-4", value=9)], {**DOCUMENT, "l": [9, 1, 2, 3]}, id="before the first"),
        pytest.param([{"op": "copy", "from": "/none", "path": "/x"}], {**DOCUMENT, "x": None}, id="copy of nothing"),
        pytest.param(
            [{"op": "move", "from": "/l/0", "path": "/l/2"}], {**DOCUMENT, "l": [2, 3, 1]}, id="move within a list"
        ),
        pytest.param([operation("test", "", value=DOCUMENT)], DOCUMENT, id="test of the whole document"),
        pytest.param([operation("test", "/a", value={"c~d/e": 2, "b": 1})], DOCUMENT, id="test without an order"),
    ],
)
def test_json_patch(operations: list[Object], expected: Object) -> None:
    before = copy.deepcopy(DOCUMENT)
    assert json_patch(DOCUMENT, operations) == expected
    assert before == DOCUMENT


@pytest.mark.parametrize(
    "failing",
    [
        pytest.param(operation("test", "/a/b", value=2), id="test that fails"),
        pytest.param(operation("test", "/t", value=1), id="true is not 1"),
        pytest.param(operation("remove", "/none"), id="remove what is not there"),
        pytest.param(operation("add", "/none/x", value=1), id="no parent"),
        pytest.param(operation("add", "/l/7", value=1), id="beyond the list"),
        pytest.param(operation("add", "/l/x", value=1), id="no index"),
        pytest.param(operation("add", "x", value=1), id="no pointer"),
        pytest.param(operation("boom", "/x", value=1), id="unknown operation"),
        pytest.param(operation("add", "", value={}), id="add the whole document"),
        pytest.param({"op": "copy", "from": "", "path": "/x"}, id="copy the whole document"),
        pytest.param(operation("replace", "/l/7", value=1), id="replace beyond the list"),
        pytest.param(operation("remove", ""), id="the whole document"),
        pytest.param(operation("replace", "", value=[]), id="no object any more"),
        pytest.param(operation("test", "/a/b", value=1.0), id="a number that is written otherwise"),
        pytest.param(operation("test", "/a/b"), id="a value is not nothing"),
        pytest.param(operation("test", "/l", value=[1, 2]), id="a shorter list"),
        pytest.param(operation("add", "/l/1_0", value=1), id="an underscore in an index"),
        pytest.param(operation("add", "/l/-5", value=1), id="before the list"),
        pytest.param(operation("remove", "/l/-"), id="behind the list"),
        pytest.param(operation("add", "/t/x", value=1), id="below a truth"),
        pytest.param({"op": "move", "from": "/none", "path": "/x"}, id="move of nothing"),
        pytest.param({"op": "move", "from": "", "path": "/x"}, id="move of the whole document"),
        pytest.param({"op": "add", "value": 1}, id="no path"),
        pytest.param({"path": "/x", "value": 1}, id="no operation"),
        pytest.param(None, id="nothing"),
    ],
)
def test_json_patch_applies_whole_or_not_at_all(failing: Object) -> None:
    before = copy.deepcopy(DOCUMENT)
    with pytest.raises(ApiError) as caught:
        json_patch(DOCUMENT, [operation("add", "/first", value=1), failing])
    assert (caught.value.code, caught.value.reason) == (422, "Invalid")
    assert caught.value.message == "the server rejected our request due to an error in our request"
    assert before == DOCUMENT


@pytest.mark.parametrize(
    ("failing", "text"),
    [
        ({"op": "add"}, "add operation failed to decode path: missing value"),
        (
            {"op": "move", "from": "/a"},
            "move operation failed to decode path: operation missing path field: missing value",
        ),
        (
            {"op": "copy", "path": "/x"},
            "copy operation failed to decode from: operation, missing from field: missing value",
        ),
        (
            {"op": "copy", "from": 5, "path": "/x"},
            "copy operation failed to decode from: json: cannot unmarshal number into Go value of type string",
        ),
        (operation("boom", "/x"), "Unexpected kind: boom"),
        (operation("remove", "/no/x"), 'remove operation does not apply: doc is missing path: "/no/x": missing value'),
        (operation("test", "/t/x"), "test operation does not apply: is missing path: /t/x: missing value"),
        (
            operation("test", "/l/9"),
            "error in test for path: '/l/9': Unable to access invalid index: 9: invalid index referenced",
        ),
        (operation("replace", "/no/x"), "replace operation does not apply: doc is missing path: /no/x: missing value"),
        (operation("replace", "/l/x"), "replace operation does not apply: doc is missing key: /l/x: missing value"),
        (operation("replace", "", value=5), "replace operation value must be object or array: %!w(<nil>)"),
        (operation("remove", "/l/-"), "error in remove for path: '/l/-': strconv.Atoi: parsing \"-\": invalid syntax"),
        (
            operation("add", "/l/1e0"),
            "error in add for path: '/l/1e0': value was not a proper array index: '1e0': strconv.Atoi: parsing "
            '"1e0": invalid syntax',
        ),
        (
            operation("remove", f"/l/{'9' * 20}"),
            f"error in remove for path: '/l/{'9' * 20}': strconv.Atoi: parsing \"{'9' * 20}\": value out of range",
        ),
        (
            operation("add", f"/l/{'9' * 5000}"),
            f"error in add for path: '/l/{'9' * 5000}': value was not a proper array index: '{'9' * 5000}': "
            f'strconv.Atoi: parsing "{"9" * 5000}": value out of range',
        ),
        (
            operation("move", "/x", **{"from": "/z/y"}),
            "move operation does not apply: doc is missing from path: /z/y: missing value",
        ),
        (
            operation("move", "/x", **{"from": "/z"}),
            "error in move for path: 'z': Unable to remove nonexistent key: z: missing value",
        ),
        (
            operation("move", "/t/x", **{"from": "/a"}),
            "move operation does not apply: doc is missing destination path: /t/x: missing value",
        ),
        (
            operation("copy", "/x", **{"from": "/l/x"}),
            "error in copy for from: '/l/x': strconv.Atoi: parsing \"x\": invalid syntax",
        ),
        (
            operation("copy", "/l/9", **{"from": "/a"}),
            "error while adding value during copy: Unable to access invalid index: 9: invalid index referenced",
        ),
    ],
)
def test_why_a_patch_cannot_be_applied(failing: Object, text: str) -> None:
    """What webhooks' answers and policies that do not fit are refused with; a client's own patch is not told."""
    with pytest.raises(ApiError) as caught:
        json_patch(DOCUMENT, [failing])
    assert str(caught.value.__cause__) == text


def test_what_is_no_json_patch() -> None:
    with pytest.raises(ApiError) as caught:
        json_patch({}, {"op": "add"})
    assert (caught.value.code, caught.value.message) == (
        400,
        "json: cannot unmarshal object into Go value of type jsonpatch.Patch",
    )
    with pytest.raises(ApiError) as caught:
        json_patch({}, [operation("test", "/x", value=None)] * 10_001)
    assert (caught.value.code, caught.value.message) == (
        413,
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
    )


@pytest.mark.parametrize(
    ("original", "patch", "expected"),
    [  # the table of RFC 7386, as far as it has objects on both sides
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({"a": "b"}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"a": [1]}, {"a": [None, {"b": None, "c": 1}]}, {"a": [None, {"c": 1}]}),
        ({"a": {"x": 1}}, {"a": [{"b": None}]}, {"a": [{"b": None}]}),
    ],
)
def test_merge_patch(original: Object, patch: Object, expected: Object) -> None:
    before = copy.deepcopy((original, patch))
    assert merge_patch(original, patch) == expected
    assert (original, patch) == before


def test_copies_have_a_limit() -> None:
    operations = [{"op": "copy", "from": "/l", "path": f"/c{number}"} for number in range(4)]
    large = {"l": "x" * (1024 * 1024 - 3)}
    assert len(json_patch(large, operations[:3])) == 4
    with pytest.raises(ApiError, match="the server rejected our request due to an error in our request"):
        json_patch(large, operations)


def test_null_is_an_empty_patch_but_no_merge_patch() -> None:
    assert json_patch(DOCUMENT, None) == DOCUMENT
    assert strategic_merge_patch(DOCUMENT, None, None) == DOCUMENT
    with pytest.raises(ApiError, match="Invalid JSON Patch"):
        merge_patch(DOCUMENT, None)


def test_what_is_no_merge_patch() -> None:
    with pytest.raises(ApiError) as caught:
        merge_patch({}, [])
    assert (caught.value.code, caught.value.message) == (
        400,
        "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
    )


def test_three_way_deletes_what_was_given_up_and_keeps_what_others_set() -> None:
    last = {"spec": {"mine": 1, "old": 1, "m": {"a": 1}}}
    now = {"spec": {"mine": 2, "m": {}}}
    live = {"spec": {"mine": 1, "old": 1, "theirs": 1, "m": {"a": 1, "b": 1}}}
    patch = three_way_merge_patch(last, now, live)
    assert patch == {"spec": {"mine": 2, "old": None, "m": {"a": None}}}
    assert merge_patch(live, patch) == {"spec": {"mine": 2, "theirs": 1, "m": {"b": 1}}}
    assert three_way_merge_patch(now, now, {**now, "status": {}}) == {}


def test_three_way_leaves_nulls_out_of_lists() -> None:
    patch = three_way_merge_patch({}, {"l": [{"a": None, "b": 1}, None]}, {})
    assert patch == {"l": [{"b": 1}, None]}


VALUES = st.recursive(
    st.integers(0, 2) | st.booleans() | st.sampled_from("xy"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)


@given(DOCUMENTS, DOCUMENTS)
def test_the_two_way_patch_makes_the_modified_document(original: Object, modified: Object) -> None:
    assert merge_patch(original, two_way_merge_patch(original, modified)) == modified
