"""What is let be on an update though the schema has come to refuse it (apiextensions-apiserver ratcheting_test)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import Object
from tests.api.crd.samples import problems_of

TEXT: Object = {"type": "string"}
NUMBER: Object = {"type": "integer"}
PORTS: Object = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name", "port"],
    "items": {
        "type": "object",
        "required": ["name", "port"],
        "properties": {"name": TEXT, "port": NUMBER, "text": TEXT},
    },
}


def fields(**nodes: Object) -> Object:
    return {"type": "object", "properties": nodes}


def port(name: str, number: int, text: str = "") -> Object:
    return {"name": name, "port": number, "text": text}


THREE = [port("a", 443), port("b", 2379), port("c", 6443)]
ODD: Object = {
    **PORTS,
    "items": {**PORTS["items"], "properties": {**PORTS["items"]["properties"], "port": {**NUMBER, "multipleOf": 2}}},
}
LONG: Object = {"type": "object", "additionalProperties": {**TEXT, "minLength": 6}}
SMALL: Object = {"minProperties": 1, "maxProperties": 1}


@pytest.mark.parametrize(
    ("schema", "new", "old"),
    [
        pytest.param(fields(f={**TEXT, "enum": ["A"]}, o=TEXT), {"f": "Z", "o": "x"}, {"f": "Z"}, id="a field beside"),
        pytest.param(
            fields(f={"type": "object", "additionalProperties": {**NUMBER, "minimum": 10}}),
            {"f": {"a": 1, "b": 20}},
            {"f": {"a": 1, "b": 30}},
            id="a value beside",
        ),
        pytest.param(
            fields(f={"type": "object", "additionalProperties": TEXT, **SMALL}, o=TEXT),
            {"f": {"a": "1", "b": "2"}, "o": "x"},
            {"f": {"a": "1", "b": "2"}},
            id="a map as a whole",
        ),
        pytest.param(
            fields(f={"type": "array", "items": TEXT, "minItems": 10}, o=TEXT),
            {"f": ["a"], "o": "x"},
            {"f": ["a"]},
            id="a list as a whole",
        ),
        pytest.param(
            fields(f={**PORTS, "maxItems": 2}), {"f": THREE[1:] + THREE[:1]}, {"f": THREE}, id="another order"
        ),
        pytest.param(
            fields(f=ODD),
            {"f": [port("c", 6443, "changed"), THREE[0], port("d", 8080)]},
            {"f": THREE},
            id="keys of elements",
        ),
        pytest.param(
            fields(f={"type": "array", "items": LONG}, o=TEXT),
            {"f": [{"a": "1"}], "o": "x"},
            {"f": [{"a": "1"}]},
            id="elements of a list that stays",
        ),
        pytest.param(
            fields(f={"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"minLength": 6}}),
            {"f": {"a": "1", "b": "sixsix"}},
            {"f": {"a": "1"}},
            id="values of a map that is written as one",
        ),
    ],
)
def test_what_has_not_changed_is_let_be(schema: Object, new: Any, old: Any) -> None:
    assert problems_of(schema, new) != []
    assert problems_of(schema, new, old) == []


@pytest.mark.parametrize(
    ("schema", "new", "old"),
    [
        pytest.param(
            fields(f={"type": "object", "additionalProperties": TEXT, **SMALL}),
            {"f": {"a": "1", "b": "3"}},
            {"f": {"a": "1", "b": "2"}},
            id="a map with another value",
        ),
        pytest.param(
            fields(f={"type": "array", "items": TEXT, "minItems": 10}), {"f": ["b"]}, {"f": ["a"]}, id="another element"
        ),
        pytest.param(
            fields(f={**PORTS, "maxItems": 2}), {"f": [*THREE, port("d", 1)]}, {"f": THREE}, id="one more element"
        ),
        pytest.param(
            fields(f={"type": "array", "items": LONG}),
            {"f": [{"a": "1"}, {"a": "sixsix"}]},
            {"f": [{"a": "1"}]},
            id="elements of a list that is no map",
        ),
        pytest.param(
            fields(
                f={
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": True,
                    "required": ["a"],
                    "properties": {"a": TEXT},
                },
                o=TEXT,
            ),
            {"f": {"unknown": 1}, "o": "x"},
            {"f": {"unknown": 1}},
            id="an object with fields that no schema describes",
        ),
        pytest.param(fields(f={**NUMBER, "minimum": 5}), {"f": 1}, {"f": True}, id="1 for true"),
        pytest.param(
            fields(f={**fields(a=NUMBER, b=TEXT), "allOf": [{"properties": {"a": {"minimum": 5}}}]}),
            {"f": {"a": 1, "b": "x"}},
            {"f": {"a": 1}},
            id="what allOf says of a field",
        ),
    ],
)
def test_what_is_told_all_the_same(schema: Object, new: Any, old: Any) -> None:
    assert problems_of(schema, new) != []
    assert problems_of(schema, new, old) == problems_of(schema, new)


NO_MAP = 'Invalid value: "object": invalid data, expected a map for the provided schema with type=object evaluating'
RULED: Object = {"x-kubernetes-validations": [{"rule": "self.n <= 9"}]}
OBJECT: Object = {**fields(n=NUMBER), **RULED}


@pytest.mark.parametrize(
    ("schema", "new", "old", "wrong"),
    [
        pytest.param(
            fields(f=OBJECT),
            {"f": [{"n": 8}]},
            {"f": [{"n": 8}]},
            [f"spec.f: {NO_MAP} rule: self.n <= 9"],
            id="a list that is to be an object",
        ),
        pytest.param(
            fields(f={"type": "object", "items": OBJECT}), {"f": [{"n": 8}]}, {"f": [{"n": 8}]}, [], id="its elements"
        ),
        pytest.param(
            fields(f={**OBJECT, "x-kubernetes-validations": [{"rule": "self.n >= oldSelf.n"}]}),
            {"f": {"n": 8}},
            {"f": [{"n": 8}]},
            [f"spec.f: {NO_MAP} rule: self.n >= oldSelf.n"],
            id="an object that was a list",
        ),
        pytest.param(
            {**fields(n=NUMBER, o=TEXT), **RULED},
            {"n": "8", "o": "x"},
            {"n": "8"},
            ['spec: Invalid value: "object": invalid data, expected int, got string evaluating rule: self.n <= 9'],
            id="a text that is to be a number",
        ),
        pytest.param(
            {
                **fields(n={"type": "array", "items": NUMBER}, o=TEXT),
                "x-kubernetes-validations": [{"rule": "self.n[0] < 9"}],
            },
            {"n": [True], "o": "x"},
            {"n": [True]},
            ['spec: Invalid value: "object": invalid data, expected int, got bool evaluating rule: self.n[0] < 9'],
            id="an element",
        ),
    ],
)
def test_rules_cannot_speak_of_what_is_of_another_type_and_let_be(
    schema: Object, new: Any, old: Any, wrong: list[str]
) -> None:
    """kubernetes issue 126133: the type in the definition was changed under the objects that are there."""
    assert problems_of(schema, new, old) == wrong
