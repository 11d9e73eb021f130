"""Validation rules: what they see, when they are asked and what is said when they fail."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.cel.syntax import CompileError
from engine.api.crd.cel.compiling import Compiler
from engine.api.crd.schema_rules import check_schema
from engine.api.crd.structural import Structural
from engine.api.types import Object
from engine.api.validation.problems import Problems
from tests.api.crd.samples import problems_of

SPEC: Object = {
    "type": "object",
    "properties": {
        "replicas": {"type": "integer"},
        "max": {"type": "integer"},
        "name": {"type": "string"},
        "my-field": {"type": "string"},
        "if": {"type": "string"},
        "ratio": {"type": "number"},
        "port": {"x-kubernetes-int-or-string": True},
        "start": {"type": "string", "format": "date-time"},
        "every": {"type": "string", "format": "duration"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "memory": {"type": "string"},
        "address": {"type": "string"},
    },
}
FULL: Object = {
    "replicas": 2,
    "max": 3,
    "name": "abc",
    "my-field": "x",
    "if": "y",
    "ratio": 1,
    "port": "80%",
    "start": "2026-01-02T03:04:05Z",
    "every": "90s",
    "tags": ["a", "b"],
    "labels": {"app": "web"},
    "memory": "1Gi",
    "address": "10.1.2.3",
}


def _with(*rules: Object, **more: Any) -> Object:
    return {**SPEC, **more, "x-kubernetes-validations": list(rules)}


@pytest.mark.parametrize(
    "rule",
    [
        "self.replicas <= self.max",
        "self.my__dash__field == 'x' && self.__if__ == 'y'",
        "self.ratio + 0.5 > 1.0",
        "type(self.port) == string && self.port == '80%'",
        "self.start.getFullYear() == 2026",
        "self.every == duration('90s')",
        "self.tags.all(t, t in ['a', 'b']) && self.tags.exists_one(t, t == 'a') && "
        "self.tags.map(t, t + '!')[0] == 'a!'",
        "self.labels.all(k, self.labels[k].startsWith('w')) && 'app' in self.labels",
        "!has(self.nothing) || true",
        "[3, 1].min() == 1 && [3, 1].max() == 3 && [1, 3].sum() == 4 && [1, 3].isSorted() && ['b'].indexOf('b') == 0",
        "'a,b'.split(',').join('-') == 'a-b' && 'ABC'.lowerAscii() == 'abc' && 'abc'.substring(1) == 'bc'",
        "'x12'.find('[0-9]+') == '12' && 'a1b2'.findAll('[0-9]') == ['1', '2'] && self.name.matches('^[a-c]+$')",
        "isQuantity(self.memory) && quantity(self.memory).isGreaterThan(quantity('512Mi'))",
        "quantity('1').add(quantity('500m')).compareTo(quantity('1500m')) == 0 && quantity('2k').asInteger() == 2000",
        "url('https://example.com:8443/a?b=c').getPort() == '8443' && url('https://e.com/a').getEscapedPath() == '/a'",
        "isIP(self.address) && ip(self.address).family() == 4 && cidr('10.0.0.0/8').containsIP(self.address)",
        "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !isCIDR('10.0.0.1')",
        "!format.dns1123Label().validate(self.name).hasValue()",
        "format.named('uuid').value().validate('x').hasValue() && !format.named('x').hasValue()",
        "semver('1.2.3').isLessThan(semver('1.10.0')) && semver('1.2.3').minor() == 2",
        "sets.contains(self.tags, ['a']) && sets.intersects(self.tags, ['b', 'z'])",
        "self.?name.orValue('none') == 'abc' && optional.of(1).hasValue()",
    ],
)
def test_a_rule_that_holds(rule: str) -> None:
    schema = _with({"rule": rule}) if "nothing" not in rule else _with({"rule": rule}, properties=None)
    if "nothing" in rule:
        schema["properties"] = {**SPEC["properties"], "nothing": {"type": "string"}}
    assert problems_of(schema, FULL) == []


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        pytest.param({"rule": "self.replicas > 5"}, "spec: Invalid value: failed rule: self.replicas > 5", id="plain"),
        pytest.param({"rule": "false", "message": " no "}, "spec: Invalid value: no", id="message"),
        pytest.param(
            {"rule": "false", "message": "m", "messageExpression": "'only ' + string(self.max)"},
            "spec: Invalid value: only 3",
            id="message expression",
        ),
        pytest.param(
            {"rule": "false", "message": "m", "messageExpression": "self.labels['none']"},
            "spec: Invalid value: m",
            id="message expression that fails",
        ),
        pytest.param(
            {"rule": "false", "message": "m", "fieldPath": ".replicas", "reason": "FieldValueForbidden"},
            "spec.replicas: Forbidden: m",
            id="path and reason",
        ),
        pytest.param(
            {"rule": "false", "message": "m", "reason": "FieldValueRequired"}, "spec: Required value: m", id="required"
        ),
        pytest.param({"rule": "false", "reason": "FieldValueDuplicate"}, "spec: Duplicate value", id="duplicate"),
        pytest.param(
            {"rule": "self.labels['none'] == 'x'"},
            "spec: Invalid value: \"object\": no such key: none evaluating rule: self.labels['none'] == 'x'",
            id="missing key",
        ),
        pytest.param(
            {"rule": "self.max / 0 == 1"},
            'spec: Invalid value: "object": division by zero evaluating rule: self.max / 0 == 1',
            id="division",
        ),
    ],
)
def test_a_rule_that_fails(rule: Object, wrong: str) -> None:
    assert problems_of(_with(rule), FULL) == [wrong]


def test_a_transition_rule_is_asked_on_updates_only() -> None:
    schema = _with({"rule": "self.replicas >= oldSelf.replicas", "message": "may only grow"})
    assert problems_of(schema, {"replicas": 1}) == []
    assert problems_of(schema, {"replicas": 3}, {"replicas": 2}) == []
    assert problems_of(schema, {"replicas": 1}, {"replicas": 2}) == ["spec: Invalid value: may only grow"]


def test_an_optional_old_self_is_asked_always() -> None:
    schema: Object = {
        "type": "object",
        "properties": {
            "size": {
                "type": "integer",
                "x-kubernetes-validations": [
                    {
                        "rule": "oldSelf.hasValue() ? self >= oldSelf.value() : self == 1",
                        "optionalOldSelf": True,
                        "message": "m",
                    }
                ],
            }
        },
    }
    assert problems_of(schema, {"size": 1}) == []
    assert problems_of(schema, {"size": 2}) == ["spec.size: Invalid value: 2: m"]
    assert problems_of(schema, {"size": 5}, {"size": 4}) == []
    assert problems_of(schema, {"size": 3}, {"size": 4}) == ["spec.size: Invalid value: 3: m"]


def test_a_message_is_checked_with_an_optional_old_self_and_told_with_a_plain_one() -> None:
    rule = {"rule": "oldSelf.hasValue() && self == oldSelf.value()", "optionalOldSelf": True, "message": "m"}
    for told, expected in {"oldSelf.hasValue() ? 'had' : 'has'": "m", "string(self)": "2"}.items():
        rules = [{**rule, "messageExpression": told}]
        schema: Object = {"type": "object", "properties": {"a": {"type": "integer", "x-kubernetes-validations": rules}}}
        problems = Problems()
        check_schema(schema, "schema", problems, status=False)
        assert problems == []
        assert problems_of(schema, {"a": 2}, {"a": 1}) == [f"spec.a: Invalid value: 2: {expected}"]


def test_elements_of_a_map_list_are_matched_by_their_keys() -> None:
    schema: Object = {
        "type": "object",
        "properties": {
            "ports": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {
                    "type": "object",
                    "required": ["name"],
                    "properties": {"name": {"type": "string"}, "port": {"type": "integer"}},
                    "x-kubernetes-validations": [{"rule": "self.port == oldSelf.port", "message": "port is immutable"}],
                },
            }
        },
    }
    old = {"ports": [{"name": "a", "port": 1}, {"name": "b", "port": 2}]}
    assert (
        problems_of(
            schema, {"ports": [{"name": "c", "port": 9}, {"name": "b", "port": 2}, {"name": "a", "port": 1}]}, old
        )
        == []
    )
    assert problems_of(schema, {"ports": [{"name": "b", "port": 3}]}, old) == [
        "spec.ports[0]: Invalid value: port is immutable"
    ]


def test_an_unchanged_value_that_a_new_rule_refuses_is_let_pass() -> None:
    schema: Object = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "x-kubernetes-validations": [{"rule": "self != 'bad'", "message": "m"}]},
            "b": {"type": "string"},
        },
    }
    assert problems_of(schema, {"a": "bad", "b": "2"}, {"a": "bad", "b": "1"}) == []
    assert problems_of(schema, {"a": "bad"}, {"a": "good"}) == ['spec.a: Invalid value: "bad": m']


def test_rules_are_not_asked_about_an_object_of_the_wrong_form() -> None:
    assert problems_of(_with({"rule": "self.replicas < 5"}), {"replicas": "x"})[-1] == (
        "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; "
        "correct the existing errors to complete validation"
    )


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        ("self.nope == 1", "undefined field 'nope'"),
        ("self.tags.all(t, t.x == 1)", "undefined field 'x'"),
        ("self.replicas + 1", "cel expression must evaluate to a bool"),
        ("self.replicas >", "Syntax error"),
        ("nope(self)", "undeclared reference to 'nope'"),
        ("'a' == 1", r"found no matching overload for '_==_' applied to '\(string, int\)'"),
    ],
)
def test_what_does_not_compile_is_told_in_the_words_of_cel(rule: str, wrong: str) -> None:
    schema: Object = {**SPEC, "properties": {**SPEC["properties"]}}
    if ".x ==" in rule:
        schema["properties"]["tags"] = {
            "type": "array",
            "items": {"type": "object", "properties": {"y": {"type": "string"}}},
        }
    with pytest.raises(CompileError, match=wrong):
        Compiler(Structural(schema), root=False).rule(rule)


@pytest.mark.parametrize(
    "rule",
    [
        "self.start < self.end",
        "self.start < timestamp('2027-01-01T00:00:00Z') && has(self.start)",
        "self.times.all(t, t > timestamp('2020-01-01T00:00:00Z'))",
        "self.times[0] == self.start",
        "self.start + self.every == timestamp('2026-01-01T00:01:30Z')",
    ],
)
def test_times_and_durations_are_such_wherever_they_stand(rule: str) -> None:
    time: Object = {"type": "string", "format": "date-time"}
    schema: Object = {
        "type": "object",
        "properties": {
            "start": time,
            "end": time,
            "times": {"type": "array", "items": time},
            "every": {"type": "string", "format": "duration"},
        },
        "x-kubernetes-validations": [{"rule": rule}],
    }
    spec = {"start": "2026-01-01T00:00:00Z", "end": "2026-01-02T00:00:00Z", "every": "90s"}
    assert problems_of(schema, {**spec, "times": [spec["start"]]}) == []


def test_a_time_itself_can_have_a_rule() -> None:
    rule = {"rule": "self > timestamp('2020-01-01T00:00:00Z') && self >= oldSelf", "message": "m"}
    schema: Object = {
        "type": "object",
        "properties": {"at": {"type": "string", "format": "date-time", "x-kubernetes-validations": [rule]}},
    }
    assert problems_of(schema, {"at": "2026-01-02T00:00:00Z"}, {"at": "2026-01-01T00:00:00Z"}) == []
    assert problems_of(schema, {"at": "2025-01-02T00:00:00Z"}, {"at": "2026-01-01T00:00:00Z"}) == [
        'spec.at: Invalid value: "2025-01-02T00:00:00Z": m'
    ]


def test_the_order_of_sets_and_map_lists_means_nothing() -> None:
    schema: Object = {
        "type": "object",
        "properties": {
            "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "ports": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {
                    "type": "object",
                    "required": ["name"],
                    "properties": {"name": {"type": "string"}, "port": {"type": "integer"}},
                },
            },
            "other": {"type": "string"},
        },
        "x-kubernetes-validations": [
            {"rule": "self.tags == oldSelf.tags && self.ports == oldSelf.ports", "message": "immutable"}
        ],
    }
    old = {"tags": ["a", "b"], "ports": [{"name": "x", "port": 1}, {"name": "y", "port": 2}]}
    new = {"tags": ["b", "a"], "ports": [{"name": "y", "port": 2}, {"name": "x", "port": 1}], "other": "z"}
    assert problems_of(schema, new, old) == []
    assert problems_of(schema, {**new, "tags": ["b"]}, old) == ["spec: Invalid value: immutable"]
