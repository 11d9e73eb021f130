"""What rules see of objects, by the types of their schema."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.crd.cel.rules import Validator
from engine.api.crd.structural import MISSING, Structural
from engine.api.turns import at_once
from engine.api.types import Object
from engine.api.validation.problems import Problems

INTEGER: Object = {"type": "integer"}
TEXT: Object = {"type": "string"}
EITHER: Object = {"x-kubernetes-int-or-string": True}
ANYTHING: Object = {"x-kubernetes-preserve-unknown-fields": True}


def fields(**properties: Object) -> Object:
    return {"type": "object", "properties": properties}


def many(items: Object, kind: str = "", *keys: str) -> Object:
    more: Object = {"x-kubernetes-list-type": kind} if kind else {}
    return {"type": "array", "items": items, **more, **({"x-kubernetes-list-map-keys": list(keys)} if keys else {})}


def named(values: Object) -> Object:
    return {"type": "object", "additionalProperties": values}


def told(schema: Object, value: Any, rule: str, *, root: bool = False, old: Any = MISSING) -> list[str]:
    problems = Problems()
    validator = Validator.of(Structural({**schema, "x-kubernetes-validations": [{"rule": rule}]}), root=root)
    assert validator is not None
    at_once(validator.check(value, old, "root", problems))
    return [str(cause) for cause in problems]


POD: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "n"}, "spec": {"x": "y"}}
KEYED = many(fields(k=TEXT, v=TEXT), "map", "k")
A, B, B3 = {"k": "a", "v": "1"}, {"k": "b", "v": "2"}, {"k": "b", "v": "3"}

HOLD: list[tuple[Object, Any, str]] = [
    (fields(a={"type": "number"}), {"a": 1}, "type(self.a) == double && self.a == 1.0"),
    (fields(a={"type": "string", "format": "byte"}), {"a": "QUI="}, "self.a == b'AB' && size(self.a) == 2"),
    (
        fields(a={"type": "string", "format": "date"}),
        {"a": "2026-07-16"},
        "self.a == timestamp('2026-07-16T00:00:00Z')",
    ),
    (
        fields(a={"type": "string", "format": "date-time"}),
        {"a": "2026-08-18T19:03:37.01+01:00"},
        "self.a.getHours('01:00') == 19 && self.a.getHours() == 18 && string(self.a) == '2026-08-18T19:03:37.01+01:00'",
    ),
    (fields(a={"type": "string", "format": "duration"}), {"a": "1h2m"}, "self.a.getMinutes() == 62"),
    (fields(a=many(TEXT, "set"), b=many(TEXT, "set")), {"a": ["x", "y"], "b": ["y", "x"]}, "self.a == self.b"),
    (fields(a=many(TEXT, "set")), {"a": ["x", "y"]}, "self.a + ['y', 'z'] == ['z', 'x', 'y']"),
    (
        fields(a=many(KEYED)),
        {"a": [[A, B], [B, A]]},
        "self.a[0] == self.a[1] && self.a[0] == [self.a[1][1], self.a[1][0]]",
    ),
    (fields(a=many(KEYED)), {"a": [[A, B], [B3]]}, "self.a[0] + self.a[1] == [self.a[0][0], self.a[1][0]]"),
    (fields(a=named(TEXT)), {"a": {"x": "1"}}, "self.a == {'x': '1'} && has(self.a.x) && !has(self.a.y)"),
    (fields(a={**INTEGER, "nullable": True}), {"a": None}, "!has(self.a)"),
    (
        fields(a=named({**TEXT, "nullable": True})),
        {"a": {"x": None}},
        "'x' in self.a && type(self.a['x']) == null_type",
    ),
    (fields(a=many({**TEXT, "nullable": True})), {"a": [None]}, "self.a.size() == 1 && type(self.a[0]) == null_type"),
    (fields(a=EITHER), {"a": "25%"}, "self.a != 1 && self.a == '25%' && type(self.a) == string"),
    (fields(a=EITHER), {"a": 3}, "self.a != 'x' && self.a != ['x'] && type(self.a) == int && self.a > 2"),
    (fields(a=many({"type": "object", **ANYTHING})), {"a": [{"x": 1}, {"x": 2}, {"x": 2}]}, "self.a[0] != self.a[1]"),
    (fields(a=many({"type": "object", **ANYTHING})), {"a": [{"x": 1}, {"x": 2}, {"x": 2}]}, "self.a[1] == self.a[2]"),
    (fields(a=many(fields(x=ANYTHING))), {"a": [{"x": 1}, {"x": "a"}]}, "self.a[0] != self.a[1]"),
    (fields(a=many(fields(**{"k!": TEXT}), "map", "k!")), {"a": [{"k!": "1"}]}, "self.a[0] == self.a[0]"),
    (fields(a=many(fields(**{"k!": TEXT}))), {"a": [{"k!": "1"}, {"k!": "2"}]}, "self.a[0] != self.a[1]"),
    (
        fields(**{"a.b": INTEGER, "c__d": INTEGER}),
        {"a.b": 1, "c__d": 2},
        "self.a__dot__b + self.c__underscores__d == 3",
    ),
    (fields(**{"in": INTEGER, "int": INTEGER}), {"in": 1, "int": 2}, "self.__in__ + self.int == 3"),
    (
        fields(a=named(fields(x=INTEGER))),
        {"a": {"k": {"x": 1}}},
        "type(self.a['k']) == type(self) && self.a['k'].x == 1",
    ),
    (fields(a={"type": "object", "x-kubernetes-embedded-resource": True}), {"a": POD}, "self.a.metadata.name == 'a'"),
    (fields(a=many({"type": "number"})), {"a": []}, "self.a.sum() == 0.0 && self.a.isSorted()"),
]


@pytest.mark.parametrize(("schema", "value", "rule"), HOLD)
def test_what_rules_see(schema: Object, value: Any, rule: str) -> None:
    assert told(schema, value, rule) == []


WRONG: list[tuple[Object, Any, str, str]] = [
    (fields(a=fields(b=INTEGER)), {"a": {}}, "self.a['b'] == 1", "found no matching overload for '_[_]'"),
    (fields(a=fields(b=fields(c=INTEGER))), {"a": {}}, "has(self.a.b.c)", "no such key: b evaluating rule"),
    (fields(a=KEYED), {"a": [A]}, "self.a == {'k': 'a'}", "found no matching overload for '_==_'"),
    (fields(a=many(ANYTHING)), {"a": [1]}, "has(self.a)", "undefined field 'a'"),
    (fields(a=named(ANYTHING)), {"a": {}}, "has(self.a)", "undefined field 'a'"),
    (fields(a={"type": "object", **ANYTHING}), {"a": {"x": 1}}, "has(self.a.x)", "undefined field 'x'"),
    (
        fields(a={"type": "object", "x-kubernetes-embedded-resource": True, **ANYTHING}),
        {"a": POD},
        "has(self.a.metadata.namespace)",
        "undefined field 'namespace'",
    ),
    (fields(a={**EITHER, "nullable": True}), {"a": None}, "type(self.a) == int", "no such key: a"),
    (
        fields(a=EITHER),
        {"a": "x"},
        "self.a < 5",
        "'no such overload': call arguments did not match a supported operator",
    ),
    (
        fields(a=TEXT),
        {"a": "x"},
        "self.a.find(')') == ''",
        "program instantiation failed: error parsing regexp: unexpected )",
    ),
    (fields(a=INTEGER), {"a": 9223372036854775807}, "self.a + 1 == 0", "integer overflow evaluating rule"),
    (
        fields(a=named(TEXT)),
        {"a": {}},
        "string(type(self.a)) == ''",
        "no matching overload for 'string' applied to '(type(",
    ),
    # What is not of its type, as what was there before its schema said so may be, is not even known to be there.
    (fields(a=fields(b=TEXT)), {"a": []}, "has(self.a)", "expected a map for the provided schema with type=object"),
    (fields(a=many(TEXT)), {"a": {}}, "has(self.a)", "expected an array for the provided schema with type=array"),
    (fields(a=EITHER), {"a": True}, "has(self.a)", "expected XIntOrString value to be either a string or integer"),
    (fields(a=many(TEXT)), {"a": [None]}, "self.a[0] == 'x'", "got null for schema with nullable=false"),
]


@pytest.mark.parametrize(("schema", "value", "rule", "text"), WRONG)
def test_what_rules_do_not_see(schema: Object, value: Any, rule: str, text: str) -> None:
    (wrong,) = told(schema, value, rule)
    assert text in wrong


def test_a_resource_has_type_and_name_though_its_schema_does_not_say_so() -> None:
    schema = fields(spec=fields(x=TEXT))
    assert told(schema, POD, "self.kind == 'Pod' && self.metadata.name == 'a' && self.spec.x == 'y'", root=True) == []
    assert "undefined field 'kind'" in told(schema, POD, "self.kind == 'Pod'")[0]


def test_an_element_that_is_not_known_again_is_let_pass_if_its_list_has_not_changed() -> None:
    items: Object = {**TEXT, "x-kubernetes-validations": [{"rule": "self != 'bad'", "message": "m"}]}
    schema = fields(a=many(items), b=TEXT)
    assert told(schema, {"a": ["bad"], "b": "2"}, "true", old={"a": ["bad"], "b": "1"}) == []
    assert told(schema, {"a": ["bad", "x"]}, "true", old={"a": ["bad"]}) == ['root.a[0]: Invalid value: "bad": m']


def test_values_of_an_atomic_map_have_old_ones() -> None:
    values: Object = {**TEXT, "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "immutable"}]}
    schema = fields(a={**named(values), "x-kubernetes-map-type": "atomic"})
    assert told(schema, {"a": {"k": "2"}}, "true", old={"a": {"k": "1"}}) == [
        'root.a[k]: Invalid value: "2": immutable'
    ]
