"""Values of custom resources against their schemas, in kube-openapi's words."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.crd.default_rules import default_problems
from engine.api.crd.version import CustomVersion
from engine.api.schema import load_definitions
from engine.api.turns import at_once
from engine.api.types import Object
from tests.api.crd.samples import cron_tab, definition, problems_of

BODY = "spec.f in body"


def _not_in_range(what: str, kind: str) -> str:
    return f'<nil>: Invalid value: "": {what} value must be of type {kind} in spec.f'


def _spec(node: Object) -> Object:
    return {"type": "object", "properties": {"f": node}}


@pytest.mark.parametrize(
    ("node", "value", "wrong"),
    [
        pytest.param(
            {"type": "integer"}, "3", f'Invalid value: "string": {BODY} must be of type integer: "string"', id="type"
        ),
        pytest.param(
            {"type": "string"}, None, f'Invalid value: "null": {BODY} must be of type string: "null"', id="null"
        ),
        pytest.param(
            {"x-kubernetes-int-or-string": True},
            1.5,
            f'Invalid value: "number": {BODY} must be of type integer,string: "number"',
            id="int or string",
        ),
        pytest.param(
            {"type": "string", "enum": ["a", "b"]}, "c", 'Unsupported value: "c": supported values: "a", "b"', id="enum"
        ),
        pytest.param(
            {"type": "integer", "enum": [1, 2]},
            3,
            'Unsupported value: 3: supported values: "1", "2"',
            id="enum of numbers",
        ),
        pytest.param(
            {"type": "string", "pattern": "^a+$"},
            "b",
            f"Invalid value: \"b\": {BODY} should match '^a+$'",
            id="pattern",
        ),
        pytest.param(
            {"type": "string", "maxLength": 2}, "abc", "Too long: may not be more than 2 bytes", id="maxLength"
        ),
        pytest.param(
            {"type": "string", "minLength": 2},
            "a",
            f'Invalid value: "a": {BODY} should be at least 2 chars long',
            id="minLength",
        ),
        pytest.param(
            {"type": "integer", "minimum": 1},
            0,
            f"Invalid value: 0: {BODY} should be greater than or equal to 1",
            id="minimum",
        ),
        pytest.param(
            {"type": "number", "maximum": 1.5, "exclusiveMaximum": True},
            1.5,
            f"Invalid value: 1.5: {BODY} should be less than 1.5",
            id="exclusive maximum",
        ),
        pytest.param(
            {"type": "integer", "multipleOf": 5},
            7,
            f"Invalid value: 7: {BODY} should be a multiple of 5",
            id="multipleOf",
        ),
        pytest.param(
            {"type": "string", "format": "date-time"},
            "noon",
            f'Invalid value: "noon": {BODY} must be of type date-time: "noon"',
            id="format",
        ),
        pytest.param(
            {"type": "array", "items": {"type": "string"}, "minItems": 1},
            [],
            f"Invalid value: 0: {BODY} should have at least 1 items",
            id="minItems",
        ),
        pytest.param(
            {"type": "array", "items": {"type": "string"}, "maxItems": 1},
            ["a", "b"],
            "Too many: 2: must have at most 1 item",
            id="maxItems",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_told_of(node: Object, value: Any, wrong: str) -> None:
    assert problems_of(_spec(node), {"f": value}) == [f"spec.f: {wrong}"]


@pytest.mark.parametrize(
    ("node", "value"),
    [
        ({"type": "string", "nullable": True}, None),
        ({"x-kubernetes-int-or-string": True}, "50%"),
        ({"x-kubernetes-int-or-string": True}, 3),
        ({"type": "number"}, 3),
        ({"type": "string", "format": "a-format-of-mine"}, "x"),
        ({"type": "string", "format": "duration"}, "1h30m"),
        ({"type": "string", "format": "ipv4"}, "10.0.0.1"),
        ({"type": "string", "format": "uuid"}, "123e4567-e89b-12d3-a456-426614174000"),
        ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, {"any": [1, {"thing": None}]}),
    ],
)
def test_what_fits_is_not_told_of(node: Object, value: Any) -> None:
    assert problems_of(_spec(node), {"f": value}) == []


def test_required_fields_are_named_with_their_path() -> None:
    schema: Object = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}
    assert problems_of(schema, {}) == ["spec.a: Required value"]


def test_elements_are_named_by_their_index() -> None:
    schema = _spec(
        {"type": "array", "items": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}}
    )
    assert problems_of(schema, {"f": [{"n": 1}, {}, {"n": "x"}]}) == [
        "spec.f[1].n: Required value",
        'spec.f[2].n: Invalid value: "string": spec.f[2].n in body must be of type integer: "string"',
    ]


def test_junctors_say_that_nothing_fits_and_what_comes_closest() -> None:
    one_of = {**_spec({"type": "string"}), "oneOf": [{"required": ["a"]}, {"required": ["b", "c"]}]}
    assert problems_of(one_of, {}) == [
        '<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found none valid',
        "spec.a: Required value",
    ]
    any_of = {**_spec({"type": "string"}), "anyOf": [{"required": ["a"]}]}
    assert problems_of(any_of, {})[0] == '<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)'
    not_ = {**_spec({"type": "string"}), "not": {"required": ["f"]}}
    assert problems_of(not_, {"f": "x"}) == ['<nil>: Invalid value: "": "spec" must not validate the schema (not)']


def test_lists_that_are_sets_or_maps_hold_nothing_twice() -> None:
    schema: Object = {
        "type": "object",
        "properties": {
            "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "ports": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
            },
        },
    }
    assert problems_of(schema, {"tags": ["a", "b", "a"], "ports": [{"name": "x"}, {"name": "x"}]}) == [
        'spec.tags[2]: Duplicate value: "a"',
        'spec.ports[1]: Duplicate value: {"name":"x"}',
    ]


def test_what_was_wrong_before_and_has_not_changed_is_let_pass() -> None:
    schema: Object = {
        "type": "object",
        "properties": {"a": {"type": "integer", "minimum": 5}, "b": {"type": "integer", "minimum": 5}},
    }
    assert problems_of(schema, {"a": 1, "b": 7}, {"a": 1, "b": 6}) == []
    assert problems_of(schema, {"a": 1, "b": 2}, {"a": 1, "b": 6}) == [
        "spec.b: Invalid value: 2: spec.b in body should be greater than or equal to 5"
    ]


ROWS: list[tuple[str, Object, Any, list[str]]] = [
    (
        "of a text the first fault",
        {"type": "string", "maxLength": 1, "pattern": "^b"},
        "aa",
        ["spec.f: Too long: may not be more than 1 byte"],
    ),
    (
        "junctors before the rest",
        {"type": "string", "minLength": 3, "anyOf": [{"pattern": "^b"}], "enum": ["ab"]},
        "a",
        [
            '<nil>: Invalid value: "": "spec.f" must validate at least one schema (anyOf)',
            f"spec.f: Invalid value: \"a\": {BODY} should match '^b'",
            f'spec.f: Invalid value: "a": {BODY} should be at least 3 chars long',
            'spec.f: Unsupported value: "a": supported values: "ab"',
        ],
    ),
    (
        "what most was checked of comes closest",
        {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "oneOf": [
                {"required": ["c"]},
                {"properties": {"a": {"pattern": "x"}, "b": {"pattern": "x"}}},
            ],
        },
        {"a": "1", "b": "2"},
        [
            '<nil>: Invalid value: "": "spec.f" must validate one and only one schema (oneOf). Found none valid',
            "spec.f.a: Invalid value: \"1\": spec.f.a in body should match 'x'",
            "spec.f.b: Invalid value: \"2\": spec.f.b in body should match 'x'",
        ],
    ),
    (
        "too many fields, and what is wrong with them",
        {"type": "object", "maxProperties": 1, "required": ["c"], "additionalProperties": {"type": "string"}},
        {"a": 1, "b": "x"},
        [
            "spec.f: Too many: 2: must have at most 1 item",
            'spec.f.a: Invalid value: "integer": spec.f.a in body must be of type string: "integer"',
            "spec.f.c: Required value",
        ],
    ),
    (
        "too few fields, and what is wrong with them",
        {"type": "object", "minProperties": 2, "properties": {"a": {"type": "string"}}},
        {"a": 1},
        [
            "spec.f: Invalid value: 1: spec.f in body should have at least 2 properties",
            'spec.f.a: Invalid value: "integer": spec.f.a in body must be of type string: "integer"',
        ],
    ),
    (
        "more than less than nothing",
        {"type": "object", "maxProperties": -1},
        {},
        ["spec.f: Too many: 0: has too many items"],
    ),
    (
        "no range of what may be a text",
        {"type": "integer", "x-kubernetes-int-or-string": True},
        1.5,
        ['spec.f: Invalid value: "number": spec.f in body must be of type integer,string: "number"'],
    ),
    (
        "an integer or a text, whatever the type",
        {"type": "object", "x-kubernetes-int-or-string": True},
        {},
        ['spec.f: Invalid value: "object": spec.f in body must be of type integer,string: "object"'],
    ),
    (
        "no fields at all",
        {"type": "object", "additionalProperties": False},
        {"a": 1},
        ['spec.f: Invalid value: "a": spec.f.a in body is a forbidden property'],
    ),
    (
        "fields before those that are missing",
        {"type": "object", "required": ["b"], "properties": {"a": {"type": "string"}, "b": {}}},
        {"a": 1},
        [
            'spec.f.a: Invalid value: "integer": spec.f.a in body must be of type string: "integer"',
            "spec.f.b: Required value",
        ],
    ),
    ("a multiple of a fraction", {"type": "number", "multipleOf": 0.1}, 0.3, []),
    ("a multiple that floats are a little above", {"type": "number", "multipleOf": 0.01}, 0.07, []),
    (
        "a multiple that floats are a little below",
        {"type": "number", "multipleOf": 0.01},
        0.29,
        [f"spec.f: Invalid value: 0.29: {BODY} should be a multiple of 0.01"],
    ),
    ("a negative multiple", {"type": "number", "multipleOf": 0.5}, -1.5, []),
    ("a whole number's least is the whole part", {"type": "number", "minimum": 2.5}, 2, []),
    (
        "a least that no integer is",
        {"type": "integer", "minimum": 2.5},
        2,
        [
            _not_in_range("Minimum boundary", "integer (default format)"),
            f"spec.f: Invalid value: 2: {BODY} should be greater than or equal to 2.5",
        ],
    ),
    (
        "a most that no integer is",
        {"type": "integer", "maximum": 2.5},
        3000000000,
        [
            _not_in_range("Maximum boundary", "integer (default format)"),
            f"spec.f: Invalid value: 3e+09: {BODY} should be less than or equal to 2.5",
        ],
    ),
    (
        "no integer",
        {"type": "integer", "enum": [1, 2]},
        1.5,
        [
            f'spec.f: Invalid value: "number": {BODY} must be of type integer: "number"',
            _not_in_range("Checked", "integer (default format)"),
        ],
    ),
    (
        "a number that no whole part is allowed of",
        {"type": "number", "enum": [1, 2]},
        0.5,
        ['spec.f: Unsupported value: 0.5: supported values: "1", "2"'],
    ),
    (
        "an integer that a fraction is held against",
        {"type": "number", "multipleOf": 0.1},
        3,
        ["spec.f: Invalid value: 0: factor MultipleOf declared for spec.f must be positive: 0"],
    ),
    (
        "a whole number's most is the whole part",
        {"type": "number", "maximum": 2.5, "exclusiveMaximum": True},
        2,
        [f"spec.f: Invalid value: 2: {BODY} should be less than 2"],
    ),
    ("other numbers have all of the bound", {"type": "number", "maximum": 2.5, "minimum": 2.25}, 2.25, []),
    (
        "whole numbers count by the whole part",
        {"type": "number", "multipleOf": 2.5},
        5,
        [f"spec.f: Invalid value: 5: {BODY} should be a multiple of 2"],
    ),
    ("all of an int32", {"type": "integer", "format": "int32", "minimum": -(2**31)}, 2**31 - 1, []),
    (
        "more than an int32",
        {"type": "integer", "format": "int32"},
        2**31,
        [_not_in_range("Checked", "integer with format int32")],
    ),
    (
        "bounds that are no int32",
        {"type": "integer", "format": "int32", "maximum": 2**32, "minimum": 0.5, "multipleOf": 2},
        5,
        [
            f"spec.f: Invalid value: 5: {BODY} should be a multiple of 2",
            _not_in_range("Minimum boundary", "integer with format int32"),
            _not_in_range("Maximum boundary", "integer with format int32"),
        ],
    ),
    (
        "a bound that is one more than it looks like",
        {"type": "integer", "format": "int64", "maximum": 2**63 - 1},
        5,
        [_not_in_range("Maximum boundary", "integer with format int64")],
    ),
    (
        "half an integer",
        {"type": "integer", "format": "int64"},
        0.5,
        [
            f'spec.f: Invalid value: "float64": {BODY} must be of type int64: "float64"',
            _not_in_range("Checked", "integer with format int64"),
        ],
    ),
    ("all of a float", {"type": "number", "format": "float"}, 3.4028235e38, []),
    (
        "more than a float",
        {"type": "number", "format": "float"},
        3.5e38,
        [_not_in_range("Checked", "number with format float")],
    ),
    ("any number is a double", {"type": "number", "format": "double"}, 1.7e308, []),
    ("a format of another type", {"type": "integer", "format": "float"}, 2**62, []),
    (
        "a list where a format is that there is not",
        {"type": "string", "format": "odd"},
        [],
        [f'spec.f: Invalid value: "array": {BODY} must be of type string: "array"'],
    ),
    ("a list where a format is", {"type": "string", "format": "date"}, [], []),
    (
        "a number where a format is",
        {"type": "string", "format": "date"},
        1,
        [f'spec.f: Invalid value: "int64": {BODY} must be of type date: "int64"'],
    ),
    (
        "null is not one of a few words",
        {"type": "string", "nullable": True, "enum": ["a"]},
        None,
        ['spec.f: Unsupported value: null: supported values: "a"'],
    ),
    (
        "bounds from below to above",
        {"type": "number", "minimum": 5, "maximum": 1},
        3,
        [
            f"spec.f: Invalid value: 3: {BODY} should be greater than or equal to 5",
            f"spec.f: Invalid value: 3: {BODY} should be less than or equal to 1",
        ],
    ),
    (
        "no object in a map list",
        {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "properties": {"k": {"type": "string"}}},
        },
        ["a"],
        [
            'spec.f[0]: Invalid value: "string": spec.f[0] in body must be of type object: "string"',
            'spec.f[0]: Invalid value: "a": must be an object for an array of list-type map',
        ],
    ),
]


@pytest.mark.parametrize(("node", "value", "wrong"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_in_what_order_and_how_far_a_value_is_checked(node: Object, value: Any, wrong: list[str]) -> None:
    assert problems_of(_spec(node), {"f": value}) == wrong


def test_true_is_not_1_though_it_was_let_be() -> None:
    schema = _spec({"type": "integer", "minimum": 5})
    assert problems_of(schema, {"f": 1}, {"f": 1}) == []
    assert problems_of(schema, {"f": True}, {"f": 1}) != []


def test_before_1_36_the_range_of_a_format_was_not_looked_at() -> None:
    made = definition(_spec({"type": "integer", "format": "int32"}))
    for release, wrong in (("1.35", 0), ("1.36", 1)):
        version = CustomVersion(load_definitions(release), made, made["spec"]["versions"][0])
        assert len(at_once(version.problems(cron_tab({"f": 2**31}), None, []))) == wrong


def test_a_default_is_in_range_too() -> None:
    numbers: Object = {"type": "array", "items": {"type": "integer", "format": "int32"}, "default": [1, 2**31]}
    (wrong,) = map(str, default_problems({"type": "object", "properties": {"a": numbers}}, "x", pruned=True))
    assert wrong == (
        'x.properties[a].default: Invalid value: "": Checked value must be of type integer with format int32 in [1]'
    )
