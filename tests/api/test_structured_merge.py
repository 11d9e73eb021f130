"""Server-side apply of every form of map and list: what comes of the object, and who owns what of it.

The cases are those of structured-merge-diff (merge/*_test.go), in our own objects.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from engine.api.errors import ApiError
from engine.api.types import Object
from tests.api.typed_objects import ANY, LABELS, NUMBER, TEXT, TEXTS, Thing, atomic, elements, owned, struct

RECURSIVE: Object = {"type": "object", "additionalProperties": ANY}
NESTED = struct(
    lists=elements("name", value=TEXTS),
    maps=elements("name", value=LABELS),
    keyedLists={"type": "object", "additionalProperties": TEXTS},
    keyedMaps={"type": "object", "additionalProperties": LABELS},
    deep=RECURSIVE,
    struct=struct(name=TEXT, value=NUMBER),
    deepList=struct(name=TEXT, list=elements("name")),
)
LIST = struct(list=elements("name", value=NUMBER))
A: Object = {"name": "a"}
B: Object = {"name": "b"}


class Row(NamedTuple):
    """Writes in order: (`apply`, `force` or `update`, manager, fields); then the object and the owners."""

    type: Object
    writes: list[tuple[str, str, Object]]
    fields: Object
    owners: dict[str, Any]


def twice(first: Object, second: Object) -> list[tuple[str, str, Object]]:
    return [("apply", "me", first), ("apply", "me", second)]


ROWS = {
    "a list in a list changes": Row(
        NESTED,
        twice({"lists": [{**A, "value": ["b", "c"]}]}, {"lists": [{**A, "value": ["a", "c"]}]}),
        {"lists": [{**A, "value": ["a", "c"]}]},
        {"me": owned(*(("lists", A, *rest) for rest in ((), ("name",), ("value", ["a"]), ("value", ["c"]))))},
    ),
    "a list in a list, under another key": Row(
        NESTED,
        twice({"lists": [{**A, "value": ["b"]}]}, {"lists": [{**B, "value": ["a"]}]}),
        {"lists": [{**B, "value": ["a"]}]},
        {"me": owned(("lists", B), ("lists", B, "name"), ("lists", B, "value", ["a"]))},
    ),
    "a map in a list changes": Row(
        NESTED,
        twice({"maps": [{**A, "value": {"b": "x", "c": "y"}}]}, {"maps": [{**A, "value": {"a": "x", "c": "z"}}]}),
        {"maps": [{**A, "value": {"a": "x", "c": "z"}}]},
        {"me": owned(("maps", A), ("maps", A, "name"), ("maps", A, "value", "a"), ("maps", A, "value", "c"))},
    ),
    "a list in a map, under another key": Row(
        NESTED,
        twice({"keyedLists": {"a": ["b"]}}, {"keyedLists": {"b": ["a"]}}),
        {"keyedLists": {"b": ["a"]}},
        {"me": owned(("keyedLists", "b"), ("keyedLists", "b", ["a"]))},
    ),
    "a map in a map changes": Row(
        NESTED,
        twice({"keyedMaps": {"a": {"b": "x", "c": "y"}}}, {"keyedMaps": {"a": {"a": "x", "c": "z"}}}),
        {"keyedMaps": {"a": {"a": "x", "c": "z"}}},
        {"me": owned(("keyedMaps", "a"), ("keyedMaps", "a", "a"), ("keyedMaps", "a", "c"))},
    ),
    "a middle key changes": Row(
        NESTED,
        twice({"deep": {"a": {"b": {"c": None}}}}, {"deep": {"a": {"d": {"c": None}}}}),
        {"deep": {"a": {"d": {"c": None}}}},
        {"me": owned(("deep", "a"), ("deep", "a", "d"), ("deep", "a", "d", "c"))},
    ),
    "a struct that is given up": Row(NESTED, twice({"struct": {"name": "a", "value": 1}}, {}), {}, {}),
    "a struct that stays as null": Row(
        NESTED, twice({"struct": A}, {"struct": None}), {"struct": None}, {"me": owned("struct")}
    ),
    "a struct that is given up, but for what another set": Row(
        NESTED,
        [("apply", "me", {"struct": A}), ("update", "you", {"struct": {**A, "value": 1}}), ("apply", "me", {})],
        {"struct": {"value": 1}},
        {"you": owned(("struct", "value"))},
    ),
    "an empty struct leaves what another set": Row(
        NESTED,
        [
            ("apply", "me", {"struct": A}),
            ("update", "you", {"struct": {**A, "value": 1}}),
            ("apply", "me", {"struct": {}}),
        ],
        {"struct": {"value": 1}},
        {"me": owned("struct"), "you": owned(("struct", "value"))},
    ),
    "a null struct leaves what another set": Row(
        NESTED,
        [
            ("apply", "me", {"struct": A}),
            ("update", "you", {"struct": {**A, "value": 1}}),
            ("apply", "me", {"struct": None}),
        ],
        {"struct": {"value": 1}},
        {"me": owned("struct"), "you": owned(("struct", "value"))},
    ),
    "a null struct leaves what another took over": Row(
        NESTED,
        [
            ("apply", "me", {"struct": A}),
            ("update", "you", {"struct": {"name": "b", "value": 1}}),
            ("apply", "me", {"struct": None}),
        ],
        {"struct": {"name": "b", "value": 1}},
        {"me": owned("struct"), "you": owned(("struct", "name"), ("struct", "value"))},
    ),
    "what one applies as null another may fill": Row(
        struct(map=LABELS),
        [("apply", "one", {"map": None}), ("apply", "two", {"map": {"a": "x", "b": "y"}})],
        {"map": {"a": "x", "b": "y"}},
        {"one": owned("map"), "two": owned(("map", "a"), ("map", "b"))},
    ),
    "a struct of empty lists alone is nobody's": Row(
        NESTED,
        [("apply", "me", {"struct": {"name": "a"}, "deepList": {"list": []}, "keyedLists": {"a": []}})],
        {"struct": {"name": "a"}, "deepList": {"list": []}, "keyedLists": {"a": []}},
        {"me": owned(("struct", "name"), ("keyedLists", "a"))},
    ),
    "a struct in which only empty lists are left goes": Row(
        NESTED,
        twice({"struct": A, "deepList": {"name": "a", "list": []}}, {"struct": A, "deepList": {}}),
        {"struct": A},
        {"me": owned(("struct", "name"), "deepList")},
    ),
    "a list in place of a map": Row(
        NESTED,
        twice({"deep": {"a": {"b": "x"}}}, {"deep": {"a": ["y"]}}),
        {"deep": {"a": ["y"]}},
        {"me": owned(("deep", "a"))},
    ),
    "one of two appliers removes its element": Row(
        LIST,
        [
            ("apply", "one", {"list": [A, B]}),
            ("apply", "two", {"list": [{"name": "c"}]}),
            ("apply", "one", {"list": [A]}),
        ],
        {"list": [A, {"name": "c"}]},
        {
            "one": owned(("list", A), ("list", A, "name")),
            "two": owned(("list", {"name": "c"}), ("list", {"name": "c"}, "name")),
        },
    ),
    "a shared element stays": Row(
        LIST,
        [("apply", "one", {"list": [A, B]}), ("apply", "two", {"list": [B]}), ("apply", "one", {"list": [A]})],
        {"list": [A, B]},
        {
            "one": owned(("list", A), ("list", A, "name")),
            "two": owned(("list", B), ("list", B, "name")),
        },
    ),
    "an item in a shared element goes": Row(
        NESTED,
        [
            ("apply", "one", {"lists": [A, {**B, "value": ["c"]}]}),
            ("apply", "two", {"lists": [{**B, "value": ["d"]}]}),
            ("update", "three", {"lists": [A, {**B, "value": ["c", "d", "e"]}]}),
            ("apply", "one", {"lists": [A]}),
        ],
        {"lists": [A, {**B, "value": ["d", "e"]}]},
        {
            "one": owned(("lists", A), ("lists", A, "name")),
            "two": owned(("lists", B), ("lists", B, "name"), ("lists", B, "value", ["d"])),
            "three": owned(("lists", B, "value", ["e"])),
        },
    ),
    "an element goes with what an updater put into it": Row(
        NESTED,
        [
            ("apply", "one", {"lists": [A, {**B, "value": ["c"]}]}),
            ("apply", "two", {"lists": [{**A, "value": ["b"]}]}),
            ("update", "three", {"lists": [{**A, "value": ["b"]}, {**B, "value": ["c", "d"]}]}),
            ("apply", "one", {"lists": [A]}),
        ],
        {"lists": [{**A, "value": ["b"]}]},
        {
            "one": owned(("lists", A), ("lists", A, "name")),
            "two": owned(("lists", A), ("lists", A, "name"), ("lists", A, "value", ["b"])),
        },
    ),
    "values without a schema": Row(
        ANY,
        [
            ("apply", "one", {"a": {"b": None}, "c": {"d": None}}),
            ("apply", "two", {"a": None, "c": {"d": None}}),
            ("update", "three", {"a": {"b": {"c": None}}, "c": {"d": {"e": None}}}),
            ("update", "four", {"a": {"b": {"c": {"d": None}}}, "c": {"d": {"e": {"f": None}}}}),
            ("update", "three", {"a": {"b": {"c": {"d": {"e": None}}}}, "c": {"d": {"e": {"f": {"g": None}}}}}),
            ("apply", "one", {}),
        ],
        {"a": None, "c": {"d": {"e": {"f": {"g": None}}}}},
        {
            "two": owned("a", "c", ("c", "d")),
            "three": owned(("c", "d", "e"), ("c", "d", "e", "f", "g")),
            "four": owned(("c", "d", "e", "f")),
        },
    ),
    "a list without a schema is one thing": Row(
        ANY, twice({"list": ["a", "c"]}, {"list": ["a", "d"]}), {"list": ["a", "d"]}, {"me": owned("list")}
    ),
    "what was a map without a schema becomes a text": Row(
        ANY,
        [("update", "one", {"a": {"b": 1}}), ("update", "two", {"a": "text"})],
        {"a": "text"},
        {"two": owned("a")},
    ),
    "a map that loses its last key stays as null, and another owns it": Row(
        struct(labels=LABELS),
        [
            ("update", "one", {"labels": {"a": "1"}}),
            ("force", "two", {"labels": {"a": "2"}}),
            ("apply", "two", {}),
        ],
        {"labels": None},
        {"one": owned("labels")},
    ),
    "a null label is a value": Row(
        struct(labels=LABELS),
        [("apply", "one", {"labels": {"a": "1", "b": "1"}}), ("force", "two", {"labels": {"a": None}})],
        {"labels": {"a": None, "b": "1"}},
        {"one": owned(("labels", "b")), "two": owned(("labels", "a"))},
    ),
    "an empty list under the key of a map is owned": Row(
        NESTED, twice({}, {"keyedLists": {"a": []}}), {"keyedLists": {"a": []}}, {"me": owned(("keyedLists", "a"))}
    ),
    "values that were there twice stay so, and nobody owns more than that": Row(
        struct(list=TEXTS),
        [("update", "one", {"list": ["a", "b", "a"]}), ("apply", "two", {"list": ["c"]})],
        {"list": ["a", "b", "a", "c"]},
        {"one": owned("list", ("list", ["a"]), ("list", ["b"])), "two": owned(("list", ["c"]))},
    ),
    "an applied value takes the place of those that were there twice": Row(
        struct(list=TEXTS),
        [("update", "one", {"list": ["a", "b", "a"]}), ("force", "two", {"list": ["a"]})],
        {"list": ["a", "b"]},
        {"one": owned("list", ("list", ["b"])), "two": owned(("list", ["a"]))},
    ),
    "an element that was there twice is whole again": Row(
        LIST,
        [
            ("update", "one", {"list": [{**A, "value": 1}, {**A, "value": 2}]}),
            ("update", "two", {"list": [{**A, "value": 2}]}),
        ],
        {"list": [{**A, "value": 2}]},
        {"one": owned("list"), "two": owned(("list", A), ("list", A, "name"), ("list", A, "value"))},
    ),
    "a new twin takes an element from its owner": Row(
        LIST,
        [("update", "one", {"list": [{**A, "value": 1}]}), ("update", "two", {"list": [{**A, "value": 1}, A]})],
        {"list": [{**A, "value": 1}, A]},
        {"one": owned("list"), "two": owned(("list", A))},
    ),
    "twins that change are their changer's": Row(
        LIST,
        [
            ("update", "one", {"list": [{**A, "value": 1}, A]}),
            ("update", "two", {"list": [{**A, "value": 2}, A]}),
        ],
        {"list": [{**A, "value": 2}, A]},
        {"one": owned("list"), "two": owned(("list", A))},
    ),
}


def written(row: Row) -> Thing:
    thing = Thing(row.type)
    for verb, manager, fields in row.writes:
        if verb == "update":
            thing.updated(manager, fields)
        else:
            thing.applied(manager, fields, force=verb == "force")
    return thing


@pytest.mark.parametrize("name", ROWS)
def test_what_comes_of_writes(name: str) -> None:
    row = ROWS[name]
    thing = written(row)
    assert (thing.fields, thing.owners) == (row.fields, row.owners)


ORDERS = {
    "both the same": ("abc", "abc", "abc"),
    "new ones at the end": ("abc", "abcd", "abcd"),
    "the applied order": ("abc", "cba", "cba"),
    "what is not applied stays before what followed it": ("abcd", "db", "acdb"),
    "new ones among the shared": ("ab", "axb", "axb"),
    "live ones before new ones": ("ab", "xy", "abxy"),
    "a live one between": ("xay", "bac", "xbayc"),
}


@pytest.mark.parametrize("name", ORDERS)
def test_the_order_of_a_merged_list(name: str) -> None:
    live, applied, merged = ORDERS[name]
    thing = Thing(struct(list=TEXTS))
    thing.updated("one", {"list": list(live)})
    thing.applied("two", {"list": list(applied)})
    assert "".join(thing.fields["list"]) == merged


CONFLICTS: dict[str, tuple[Object, Object, Object, list[str]]] = {
    "a value": (LIST, {"list": [{**A, "value": 0}]}, {"list": [{**A, "value": 1}]}, ['.list[name="a"].value']),
    "the same value": (LIST, {"list": [{**A, "value": 0}]}, {"list": [{**A, "value": 0}]}, []),
    "null in place of a value": (struct(a=TEXT), {"a": "1"}, {"a": None}, [".a"]),
    "null in place of a map": (struct(labels=LABELS), {"labels": {"a": "1"}}, {"labels": None}, []),
    "members come before what is below": (
        ANY,
        {"a": {"x": 1}, "b": 1},
        {"a": {"x": 2}, "b": 2},
        [".b", ".a.x"],
    ),
    "numbers in their order": (
        struct(ports={**elements("port", name=TEXT), "items": struct(port=NUMBER, name=TEXT)}),
        {"ports": [{"port": 443, "name": "a"}, {"port": 80, "name": "a"}]},
        {"ports": [{"port": 443, "name": "b"}, {"port": 80, "name": "b"}]},
        [".ports[port=80].name", ".ports[port=443].name"],
    ),
    "an atomic struct": (
        struct(selector=atomic(struct(a=TEXT, b=TEXT))),
        {"selector": {"a": "1"}},
        {"selector": {"b": "1"}},
        [".selector"],
    ),
    "without a schema": (
        ANY,
        {"b": {"c": {"d": 3, "e": [1, 2], "f": [{"name": "n", "value": 2}]}}},
        {"b": {"c": {"d": 2, "e": [3], "f": [{"name": "n", "value": 1}]}}},
        [".b.c.d", ".b.c.e", ".b.c.f"],
    ),
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_conflicts(name: str) -> None:
    kind, live, applied, fields = CONFLICTS[name]
    thing = Thing(kind)
    thing.updated("one", live)
    assert thing.conflicts("two", applied) == [('conflict with "one" using v1', field) for field in fields]


KEEPS = {"x-kubernetes-preserve-unknown-fields": True}
OWNED_BY_VALUE: dict[str, tuple[Object, Object, Object]] = {
    "what is in a struct that keeps what it does not declare": (
        {**struct(a=struct(b=TEXT), c={"type": "array", "items": struct(b=TEXT)}), **KEEPS},
        {"a": {"b": "1", "x": {"y": 1}}, "c": [{"z": 1}]},
        owned(("a", "b"), ("a", "x"), ("a", "x", "y"), ("c",)),
    ),
    "a map of which nothing is declared": ({"type": "object"}, {"a": {"b": 1}}, owned(("a",), ("a", "b"))),
    "an integer or text that is a map": (
        struct(a={"x-kubernetes-int-or-string": True}),
        {"a": {"b": [1]}},
        owned(("a", "b")),
    ),
}


@pytest.mark.parametrize("name", OWNED_BY_VALUE)
def test_what_no_schema_tells_is_owned_as_its_value_is(name: str) -> None:
    kind, value, fields = OWNED_BY_VALUE[name]
    thing = Thing(struct(spec=kind))
    thing.applied("me", {"spec": value})
    assert thing.owners == {"me": {"f:spec": fields}}


REFUSED: dict[str, tuple[Object, Object, str]] = {
    "no key at all": (
        struct(list=elements("b", "a", n=NUMBER)),
        {"list": [{"a": "x"}, {"n": 1}]},
        '.list: element 1: associative list with keys has an element that omits all key fields ["b" "a"] '
        "(and doesn't have default values for any key fields)",
    ),
    "a text for a map that keeps all": (
        struct(a={"type": "object", **KEEPS}),
        {"a": "b"},
        ".a: expected map, got &{b}",
    ),
    "no element": (LIST, {"list": [None]}, ".list: element 0: associative list with keys may not have a null element"),
    "a text for an element": (
        LIST,
        {"list": ["a"]},
        ".list: element 0: associative list with keys may not have non-map elements",
    ),
    "an element twice": (LIST, {"list": [A, A]}, '.list: duplicate entries for key [name="a"]'),
    "a value twice": (struct(list=TEXTS), {"list": ["a", "a"]}, '.list: duplicate entries for key [="a"]'),
    "a map in a set": (
        struct(list=TEXTS),
        {"list": [{}]},
        ".list: element 0: associative list without keys has an element that's a map type",
    ),
    "a list in a set": (
        struct(list=TEXTS),
        {"list": [[]]},
        ".list: element 0: not supported: associative list with lists as elements",
    ),
    "null in a set": (
        struct(list=TEXTS),
        {"list": [None]},
        ".list: element 0: associative list without keys has an element that's an explicit null",
    ),
    "an unknown field, and no more of its kind": (
        struct(a=TEXT),
        {"x": 1, "y": 1},
        ".x: field not declared in schema",
    ),
    "a map for a text": (
        struct(a=TEXT),
        {"a": {"b": ["c"]}},
        '.a: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"b":[]interface {}{"c"}}}',
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_told_apart_is_refused(name: str) -> None:
    kind, applied, text = REFUSED[name]
    thing = Thing(kind)
    with pytest.raises(ApiError) as caught:
        thing.applied("me", applied)
    assert caught.value.message == f"failed to create typed patch object (/t; /v1, Kind=Thing): {text}"


def test_what_has_become_atomic_is_owned_as_a_whole() -> None:
    fields = {"numeric": NUMBER, "string": TEXT}
    thing = Thing(struct(struct=struct(**fields)))
    thing.applied("one", {"struct": {"numeric": 1}})
    thing.schema = Thing(struct(struct=atomic(struct(**fields)))).schema
    assert thing.conflicts("two", {"struct": {"string": "a"}}) == [('conflict with "one"', ".struct")]
    thing.applied("two", {"struct": {"string": "a"}}, force=True)
    assert (thing.fields, thing.owners) == ({"struct": {"string": "a"}}, {"two": owned("struct")})


def test_what_was_atomic_is_owned_by_nobody_below() -> None:
    fields = {"numeric": NUMBER, "string": TEXT}
    thing = Thing(struct(struct=atomic(struct(**fields))))
    thing.applied("one", {"struct": {"numeric": 1, "string": "a"}})
    thing.schema = Thing(struct(struct=struct(**fields))).schema
    thing.applied("two", {"struct": {"string": "b"}})
    assert thing.owners == {"one": owned("struct"), "two": owned(("struct", "string"))}


def test_owners_in_a_version_that_is_gone_are_forgotten() -> None:
    thing = Thing(struct(a=TEXT, b=TEXT))
    thing.updated("old", {"a": "1"}, version="gone")
    thing.applied("me", {"b": "1"})
    assert thing.owners == {"me": owned("b")}
    thing = Thing(struct(a=TEXT, b=TEXT))
    thing.updated("old", {"a": "1"}, version="gone")
    thing.updated("new", {"a": "1", "b": "1"})
    assert thing.owners == {"new": owned("b")}


def test_an_applier_comes_back_from_a_version_that_is_gone() -> None:
    thing = Thing(struct(a=TEXT, b=TEXT))
    thing.applied("me", {"a": "1"}, version="gone")
    thing.applied("me", {"b": "1"})
    assert (thing.fields, thing.owners) == ({"a": "1", "b": "1"}, {"me": owned("b")})
