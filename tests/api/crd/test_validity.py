"""What objects are checked for besides the types of their values: nulls, embedded resources, scales, list types."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.crd.defaulting import completed
from engine.api.crd.structural import Structural
from engine.api.turns import at_once
from engine.api.types import Object
from tests.api.crd.samples import compiled, cron_tab, problems_of, texts

A: Object = {"a": {"type": "string", "default": "A"}}
NESTED: Object = {"default": {}, "properties": {"y": {"default": {}, "properties": {"z": {"default": 1}}}}}


@pytest.mark.parametrize(
    ("schema", "value", "made"),
    [
        ({"default": "foo"}, 4, 4),
        ({"items": {"default": "foo"}}, [1, None], [1, "foo"]),
        ({"items": {"properties": A}}, [{}, {"a": 0}, {"a": ""}, {"a": None}, {"a": []}],
         [{"a": "A"}, {"a": 0}, {"a": ""}, {"a": "A"}, {"a": []}]),
        ({"items": {"properties": A}}, [None], [None]),
        ({"properties": {"a": {"nullable": True, "default": "A"}}}, {"a": None}, {"a": None}),
        ({"properties": {"a": {"type": "string"}}}, {"a": None, "b": None}, {"b": None}),
        ({"properties": {"a": {"type": "string", "nullable": True}}}, {"a": None}, {"a": None}),
        ({"additionalProperties": {"default": "A"}}, {"a": None}, {"a": "A"}),
        ({"additionalProperties": {"type": "string"}}, {"a": None, "b": "x"}, {"b": "x"}),
        ({"additionalProperties": {"nullable": True, "default": "A"}}, {"a": None}, {"a": None}),
        ({"additionalProperties": True}, {"a": None}, {"a": None}),
        ({"items": {"properties": {"a": {"type": "string"}}}}, [{"a": None}], [{}]),
        ({"properties": {"x": NESTED}}, {}, {"x": {"y": {"z": 1}}}),
        ({"properties": {"x": NESTED}}, {"x": {"y": None}}, {"x": {"y": {"z": 1}}}),
    ],
)  # fmt: skip
def test_defaults_and_nulls(schema: Object, value: Any, made: Any) -> None:
    assert completed(Structural(schema), value) == made


EMBEDDED: Object = {
    "type": "object",
    "properties": {
        "one": {
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "x-kubernetes-preserve-unknown-fields": True,
        },
        "many": {
            "type": "array",
            "items": {
                "type": "object",
                "x-kubernetes-embedded-resource": True,
                "x-kubernetes-preserve-unknown-fields": True,
            },
        },
    },
}
FOO: Object = {"apiVersion": "foo/v1", "kind": "Foo"}


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ({"one": FOO, "many": [FOO]}, []),
        ({"one": {**FOO, "metadata": {"namespace": "a"}}}, []),
        ({"one": {**FOO, "metadata": {"name": "a"}}}, []),
        (
            {"one": {}},
            ["one.apiVersion: Required value", "one.kind: Required value"],
        ),
        ({"many": [FOO, {"kind": "Foo"}]}, ["many[1].apiVersion: Required value"]),
        (
            {"one": {"apiVersion": "", "kind": ""}},
            [f'one.{field}: Invalid value: "": must not be empty' for field in ("apiVersion", "kind")],
        ),
        (
            {"one": {"apiVersion": "a/b/c", "kind": "Foo"}},
            ['one.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
        ),
        ({"one": {**FOO, "metadata": {"name": ".."}}}, ["one.metadata.name: Invalid value: \"..\": may not be '..'"]),
    ],
)
def test_embedded_resources(value: Object, wrong: list[str]) -> None:
    assert problems_of(EMBEDDED, value) == [f"spec.{text}" for text in wrong]


SCALE = {
    "scale": {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".status.selector",
    }
}


@pytest.mark.parametrize(
    ("spec", "status", "wrong"),
    [
        ({"replicas": 2}, {"replicas": 1, "selector": "a=b"}, []),
        ({}, {}, []),
        ({"replicas": -1}, {}, [".spec.replicas: Invalid value: -1: should be a non-negative integer"]),
        (
            {"replicas": 2147483648},
            {},
            [".spec.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647"],
        ),
        (
            {},
            {"replicas": "a", "selector": 3},
            [
                ".status.replicas: Invalid value: 0: .status.replicas accessor error: a is of the type string, "
                "expected int64",
                '.status.selector: Invalid value: "": .status.selector accessor error: 3 is of the type int64, '
                "expected string",
            ],
        ),
        (
            {"n": 1},
            {"replicas": {"b": [None, True], "a": 1e7}, "selector": []},
            [
                ".status.replicas: Invalid value: 0: .status.replicas accessor error: map[a:1e+07 b:[<nil> true]] is "
                "of the type map[string]interface {}, expected int64",
                '.status.selector: Invalid value: "": .status.selector accessor error: [] is of the type '
                "[]interface {}, expected string",
            ],
        ),
    ],
)
def test_what_a_scale_wants(spec: Object, status: Object, wrong: list[str]) -> None:
    version = compiled({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, subresources=SCALE)
    assert texts(at_once(version.problems({**cron_tab(spec), "status": status}, None, []))) == wrong


ODD_STATUS: Object = {
    "replicas": -1,
    "kept": {},
    "tags": ["a", "a"],
}


def test_with_a_status_nothing_else_is_looked_at_nor_what_is_embedded_in_it() -> None:
    anything: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = compiled(anything, subresources={"status": {}, **SCALE})
    tags = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}, "maxItems": 1}
    properties: Object = {"kept": {**anything, "x-kubernetes-embedded-resource": True}, "tags": tags}
    schema: Object = {**anything, "properties": {"spec": anything, "status": {**anything, "properties": properties}}}
    version.structural = Structural({**schema, "required": ["more"]})
    old = cron_tab({"replicas": -1})
    new = {**old, "status": ODD_STATUS}
    of_the_status = [
        "status.tags: Too many: 2: must have at most 1 item",
        ".status.replicas: Invalid value: -1: should be a non-negative integer",
        'status.tags[1]: Duplicate value: "a"',
    ]
    assert texts(at_once(version.problems(new, old, [], status=True))) == of_the_status
    of_all = texts(at_once(version.problems(new, old, [])))
    assert set(of_all) - set(of_the_status) == {
        "more: Required value",
        ".spec.replicas: Invalid value: -1: should be a non-negative integer",
        "status.kept.apiVersion: Required value",
        "status.kept.kind: Required value",
    }


def test_a_set_that_held_something_twice_may_go_on_to() -> None:
    tags: Object = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}
    schema: Object = {"type": "object", "properties": {"tags": tags}}
    twice = {"tags": ["a", "b", "a"]}
    assert problems_of(schema, twice) == ['spec.tags[2]: Duplicate value: "a"']
    assert problems_of(schema, twice, {"tags": ["a"]}) == ['spec.tags[2]: Duplicate value: "a"']
    assert problems_of(schema, twice, {"tags": ["c", "c"]}) == []
