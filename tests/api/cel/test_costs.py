"""What running costs, and may cost at most: literals are made once, what attributes start from is counted once, and
functions of libraries have costs of their own (apiserver pkg/cel/library/cost_test.go, schema/cel/celcoststability)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.cel import types
from engine.api.cel.environment import Environment
from engine.api.cel.syntax import ProgramError

ENVIRONMENT = Environment(
    {"s": types.STRING, "any": types.DYN, "l": types.list_of(types.INT), "m": types.map_of(types.STRING, types.INT),
     "items": types.list_of(types.map_of(types.STRING, types.STRING)), "o": types.struct("O")},
    structs={"O": {"a": types.STRING, "z": types.STRING}},
    literals=True,
)  # fmt: skip
VALUES: dict[str, Any] = {
    "s": "text", "any": 25, "l": [1, 1, 2, 2, 3, 3, 4, 5], "m": {"b": 1, "d": 2}, "o": {"a": "x"},
    "items": [{"k": "a"}, {"k": "b"}, {"k": "c", "v": "z"}],
}  # fmt: skip

RUN = {
    "literals": ("s in ['a', 'text'] && double(5) < 10.0 && duration('1m') == duration('60s')", 3),
    "a list of literals": ("[1, 2].size() == 2 && {'a': [1]}.size() == 1", 4),
    "nothing is in nothing": ("!(any.no.such in [])", 1),
    "the name of a type": ("type(any) == int", 3),
    "a key that is a name": ("m.all(k, m[k] > 0)", 14),
    "a branch that is a name": ("l.exists_one(e, e > 4)", 21),
    "a branch of a filter": ("l.filter(e, e % 2 == 0).size() == 3", 67),
    "a field of what a call gives": ("optional.of({'a': s}).value().a == 'text'", 36),
    "an element of literals": ("['a', 'b'][1] == s", 4),
    "a field that is not there": ("items.exists(m, m.v == 'z')", 23),
    "an optional field that is not there": ("o.?z == optional.none()", 3),
    "what is there instead": ("o.?a.orValue('v') == 'x'", 3),
    "or": ("optional.none().or(optional.of('a')).hasValue()", 3),
    "a failing call": ("l.exists(e, 1 / (e - 5) > 0 || e == 5)", 82),
    "what a text begins with": ("s.startsWith('te') && '0123456789 0123456789'.endsWith('9')", 3),
    "a list that is not known to be one": ("1 in dyn([1, 2, 3])", 1),
    "bytes among others": ("b'b' in [b'a', b'b']", 2),
    "a URI": ("format.uri().validate('http://x.io').hasValue() == false", 555),
    "sets": ("sets.contains(l, [1, 2])", 18),
    "equal sets": ("!sets.equivalent(l, [1])", 19),
    "a format": ("'%d %d %d %d %d %d'.format([1, 2, 3, 4, 5, 6]).size() > 0", 4),
    "a quote": ("strings.quote('ABCDEFGHIJ abcdefghij').size() > 0", 5),
    "a patch's key": ("jsonpatch.escapeKey('ABCDEFGHIJ abcdefghij').size() > 0", 5),
    "a version": ('isSemver("1234.56789012345.67890123456789")', 4),
    "a named format": ("format.named('dns1123Subdomain').value().validate('my-name').hasValue()", 18),
    "a named format of CRDs": ("format.uuid().validate('0123456789').hasValue()", 38),
    "a network of six": ("cidr('2001:db8::/32').containsIP(ip('2001:db8::1'))", 5),
    "equal addresses": ("ip('2001:db8::1') == ip('2001:db8::1')", 5),
}


@pytest.mark.parametrize("name", RUN)
def test_what_running_costs(name: str) -> None:
    expression, cost = RUN[name]
    outcome = ENVIRONMENT.compile(expression).run(VALUES)
    assert (outcome.error, outcome.cost) == ("", cost)


def test_what_fails_on_the_way_to_an_object_costs_the_object() -> None:
    outcome = ENVIRONMENT.compile("Object{spec: Object.spec{x: any.nope}}").run({"any": {}})
    assert (outcome.error, outcome.cost) == ("no such key: nope", 82)


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("int('a') == 1", "type conversion error from 'string' to 'int'"),
        ("l.all(x, x == int(string('b')))", "type conversion error from 'string' to 'int'"),
    ],
)
def test_literals_are_converted_beforehand(expression: str, why: str) -> None:
    with pytest.raises(ProgramError) as wrong:
        ENVIRONMENT.compile(expression)
    assert str(wrong.value) == f"program instantiation failed: {why}"


ESTIMATES = {
    "quantity(s).isInteger()": (2, 12),
    "quantity('1') == quantity('2')": (3, 3),
    "semver('1.0.0') == semver('1.0.0')": (3, 3),
    "isSemver(s)": (1, 11),
    "cidr(s) == cidr('10.0.0.0/8')": (3, 13),
    "ip.isCanonical(s)": (1, 21),
    "url('https:://kubernetes.io/') == url('https:://kubernetes.io/')": (7, 9),
    "url('https:://kubernetes.io/') == url('http://x.b')": (5, 5),
    "format.named('uuid').value() == format.named('uri').value()": (5, 11),
    "format.named('dns1123Label').value().validate('my-name')": (34, 34),
    "sets.contains([1, 2, 3, 4], [2, 3])": (29, 29),
    "['a', 'b'].distinct()": (30, 30),
    "[1, 2].distinct()": (29, 29),
    "[[1]].flatten(-1)": (31, 31),
    "sets.equivalent(l, l)": (3, 20003),
    "jsonpatch.escapeKey(s)": (1, 11),
}


@pytest.mark.parametrize("expression", ESTIMATES)
def test_what_it_may_cost(expression: str) -> None:
    assert ENVIRONMENT.compile(expression).estimate(lambda path: 100) == ESTIMATES[expression]
