"""What rules may cost at most, by the sizes that their schema allows, and the limits of one object."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.crd.cel.compiling import Compiler
from engine.api.crd.cel.definition_rules import over_budget
from engine.api.crd.default_rules import default_problems
from engine.api.crd.schema_rules import check_schema
from engine.api.crd.structural import Structural
from engine.api.types import Object
from engine.api.validation.problems import Problems
from tests.api.crd.samples import problems_of, texts

TEXT: Object = {"type": "string"}
NUMBER: Object = {"type": "number"}
EITHER: Object = {"x-kubernetes-int-or-string": True}
DATE: Object = {"type": "string", "format": "date"}
MOMENT: Object = {"type": "string", "format": "date-time"}
SPAN: Object = {"type": "string", "format": "duration"}


def many(items: Object, most: int | None = None) -> Object:
    return {"type": "array", "items": items, **({} if most is None else {"maxItems": most})}


def named(values: Object, most: int | None = None) -> Object:
    return {"type": "object", "additionalProperties": values, **({} if most is None else {"maxProperties": most})}


def text(most: int | None = None, **more: Any) -> Object:
    return {"type": "string", **more, **({} if most is None else {"maxLength": most})}


ALL = "self.all(x, true)"
COSTS: list[tuple[str, Object, int]] = [
    (ALL, many(NUMBER), 4718591),
    (ALL, many(NUMBER, 10), 32),
    (ALL, many(TEXT), 3145727),
    (ALL, many({"type": "boolean"}), 1887437),
    (ALL, many(many(NUMBER)), 3145727),
    (ALL, many(EITHER), 4718591),
    (ALL, many(SPAN), 2359295),
    (ALL, many(DATE), 725936),
    (ALL, many(MOMENT), 428963),
    (ALL, named(NUMBER), 1348169),
    (ALL, named(TEXT, 3), 11),
    (ALL, named(MOMENT), 349526),
    (ALL, named(named(NUMBER)), 1179647),
    (ALL, many({"type": "object", "properties": {"required": TEXT}, "required": ["required"]}), 555128),
    ("self.all(x, self.all(y, true))", many(NUMBER, 10), 352),
    ("self.all(x, x == 0.0)", many(NUMBER, 3 * 1024 * 2048), 25165826),
    ("self[1] == 0.0", many(NUMBER), 2),
    ("self[1] == self[1]", many(TEXT), 314577),
    ("self[0] == 5", many(EITHER), 3),
    ("self[0].getHours() == 2", many(SPAN), 4),
    ("self['a'] == self['b']", named(MOMENT), 8),
    ("oldSelf.size() == self.size()", named(NUMBER), 5),
    ("self.contains('test')", text(), 314574),
    ("self.contains('test')", text(10), 5),
    ("self.contains('A')", text(enum=["A", "LongValue"]), 2),
    ("self.contains('A')", text(1000, enum=["A", "LongValue"]), 401),
    ("self.startsWith('test')", text(), 2),
    ("size(self + 'hello') > size('hello')", text(), 314578),
    ("self == b'x'", text(format="byte"), 2),
    ("self.matches('x')", text(50), 22),
    ("self.find('[0-9]+') == ''", text(), 629147),
    ("self.lowerAscii() == 'lower!'", text(10), 6),
    ("self.all(x, x.contains(self[x]))", named(text(10), 10), 72),
    ("self.join(' ') == 'aa bb'", many(TEXT), 329853068905),
    ("self.join(' ') == 'aa bb'", many(text(10), 10), 43),
    ("self.isSorted() == true", many(text(10), 10), 52),
    (
        "self.s.replace(self.old, self.new) == 'does not matter'",
        {"type": "object", "properties": {"s": text(4), "old": text(2), "new": text(4)}},
        12,
    ),
    ("self.s.split(self.by) == []", {"type": "object", "properties": {"s": text(10), "by": text(10)}}, 22),
]


@pytest.mark.parametrize(("rule", "schema", "cost"), COSTS)
def test_what_a_rule_may_cost(rule: str, schema: Object, cost: int) -> None:
    assert Compiler(Structural(schema), root=False).rule(rule).cost == cost


def _named(**name: Any) -> Object:
    metadata = {"type": "object", "properties": {"name": {"type": "string", **name}}} if name else {"type": "object"}
    return {"type": "object", "properties": {"metadata": metadata, "l": many(text(10), 10)}}


@pytest.mark.parametrize(
    ("rule", "schema", "cost"),
    [
        pytest.param("self.metadata.name.contains('-')", _named(), 105, id="of 253 letters"),
        pytest.param("self.metadata.generateName.contains('-')", _named(), 105, id="before it is made, too"),
        pytest.param("self.metadata.name.contains('-')", _named(maxLength=10), 7, id="as the schema has it"),
        pytest.param("self.kind.contains('-')", _named(), 314575, id="a kind has no limit"),
    ],
)
def test_a_name_has_a_limit_that_the_schema_need_not_tell(rule: str, schema: Object, cost: int) -> None:
    assert Compiler(Structural(schema), root=True).rule(rule).cost == cost


AT = "schema.properties[spec].properties[a]"
ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are "
    "declared)"
)
TOTAL = "Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"


def _wrong(schema: Object) -> list[str]:
    problems = Problems()
    properties = {"spec": {"type": "object", "properties": {"a": schema}}}
    check_schema({"type": "object", "properties": properties}, "schema", problems, status=False)
    return [str(cause) for cause in problems]


def _ruled(schema: Object, rule: str, **more: Any) -> Object:
    return {**schema, "x-kubernetes-validations": [{"rule": rule, **more}]}


def test_a_rule_that_costs_too_much_for_one() -> None:
    schema = _ruled(many(NUMBER), "self.all(x, self.all(y, x == y))")
    rule = f"{AT}.x-kubernetes-validations[0].rule"
    assert _wrong(schema) == [
        f"{rule}: Forbidden: estimated rule cost exceeds budget by factor of more than 100x {ADVICE}",
        f"{rule}: {TOTAL}",
        "schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire "
        f"OpenAPIv3 schema exceeds budget by factor of more than 100x {ADVICE}",
    ]


def test_a_rule_below_a_list_costs_as_often_as_there_are_elements() -> None:
    schema = many(_ruled(text(), "self.contains('keyword')"), 50)
    (wrong,) = _wrong(schema)
    assert "estimated rule cost exceeds budget by factor of 1.6x" in wrong
    assert _wrong(many(_ruled(text(100), "self.contains('keyword')"), 50)) == []
    assert "1.572864x" not in wrong
    assert "more than 100x" in _wrong(many(_ruled(text(), "self.contains('keyword')")))[0]


def test_a_message_expression_costs_too() -> None:
    schema = _ruled(many(NUMBER), "true", messageExpression="self.map(x, self.map(y, string(y)))[0][0]")
    assert _wrong(schema)[0] == (
        f"{AT}.x-kubernetes-validations[0].messageExpression: Forbidden: estimated messageExpression cost exceeds "
        f"budget by factor of more than 100x {ADVICE}"
    )


@pytest.mark.parametrize(
    ("cost", "factor"),
    [(10_000_001, "1.000000x"), (14_000_000, "1.400000x"), (15_000_000, "1.5x"), (2**40, "more than 100x")],
)
def test_how_a_factor_is_told(cost: int, factor: str) -> None:
    assert over_budget("this", cost, 10_000_000) == f"this exceeds budget by factor of {factor} {ADVICE}"


def test_a_rule_that_turns_out_costly_ends_them_all() -> None:
    numbers = {"type": "array", "items": {"type": "integer"}, "maxItems": 1000}
    schema: Object = {"type": "object", "properties": {"a": numbers}}
    rules = [
        {"rule": "self.a.all(x, self.a.all(y, x < y + 1000))", "message": "m"},
        {"rule": "false", "message": "never asked"},
    ]
    assert problems_of({**schema, "x-kubernetes-validations": rules}, {"a": list(range(600))}) == [
        "spec: Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further validation "
        "rules will be run due to call cost exceeds limit for rule: m"
    ]


def test_all_rules_of_an_object_have_one_budget() -> None:
    schema: Object = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    rules = [{"rule": "self.a.contains(self.b)"}] * 13  # each of 810,000
    long = {"a": "x" * 9000, "b": "x" * 9000}
    assert problems_of({**schema, "x-kubernetes-validations": rules[:12]}, long) == []
    assert problems_of({**schema, "x-kubernetes-validations": rules}, long) == [
        'spec: Invalid value: "object": validation failed due to running out of cost budget, no further validation '
        "rules will be run"
    ]


def test_all_defaults_of_a_schema_have_one_budget() -> None:
    """And what comes after it is spent is not looked at (TestDefaultValidationWithCostBudget of upstream)."""
    rules = [{"rule": "self.contains(self)"}] * 6  # each of 810,000
    dear: Object = {"type": "string", "default": "x" * 9000, "x-kubernetes-validations": rules}
    wrong: Object = {"type": "integer", "default": "x"}

    def told(**properties: Object) -> list[str]:
        return texts(default_problems({"type": "object", "properties": properties}, "p", pruned=True))

    assert told(a=dear, b=dear) == []
    assert told(a=dear, b=dear, c=dear, d=wrong) == [
        'p.properties[c].default: Invalid value: "string": validation failed due to running out of cost budget, no '
        "further validation rules will be run"
    ]
    assert told(a=dear, b=dear, d=wrong) == [
        'p.properties[d].default: Invalid value: "string":  in body must be of type integer: "string"'
    ]
