"""Expressions without a schema: what they come to, what they fail with, and what does not compile."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.cel import types
from engine.api.cel.environment import Environment
from engine.api.cel.syntax import CompileError
from engine.api.cel.values import equal

ENVIRONMENT = Environment(
    {"n": types.INT, "any": types.DYN, "s": types.STRING, "thing": types.struct("Thing")},
    structs={"Thing": {"name": types.STRING, "at": types.TIMESTAMP}},
)
VALUES: dict[str, Any] = {"n": 3, "any": {"a": {"b": [1, 2]}}, "s": "text", "thing": {"name": "x"}}

HOLD = [
    "1 + 2 * 3 - 4 / 2 == 5 && 7 % 4 == 3 && -7 / 2 == -3 && -7 % 2 == -1",
    "!false && !!true && (n > 2 ? 'big' : 'small') == 'big' && -n == -3",
    "0x1F == 31 && 3u + 4u == 7u && 1.5e3 == 1500.0 && .5 + .5 == 1.0",
    "n < 3.5 && 3u >= n && dyn(1) == dyn(1.0) && dyn(1u) == dyn(1)",
    r"'\u00e9\x41\101\n' == 'éAA\n' && r'\n' == '\\n' && b'\xff\x00'.size() == 2",
    "'''a\n'b''' == 'a\\n\\'b' && \"it's\" == 'it\\'s'",
    "dyn({1: 'a'})[1.0] == 'a' && dyn({true: 'a'})[true] == 'a' && dyn([1, 2])[1.0] == 2",
    "1 in [1, 2] && !(3 in [1, 2]) && 'a' in {'a': 1} && [1] + [2] == [1, 2]",
    "[1, 2, 3].all(x, x > 0) && [1, 2].exists(x, x == 2) && [1, 2, 2].exists_one(x, x == 1)",
    "[1, 2, 3].map(x, x > 1, x * 2) == [4, 6] && {'a': 1, 'b': 2}.filter(k, k != 'a') == ['b']",
    "[3, 4].all(i, v, v == i + 3) && {'a': 1}.exists(k, v, k == 'a' && v == 1) && [5].existsOne(i, v, v == 5)",
    "[1, 2].transformList(i, v, i > 0, v * 10) == [20]",
    "{'a': 1, 'b': 2}.transformMap(k, v, k == 'b', v + 1) == {'b': 3}",
    "{'a': 'x'}.transformMapEntry(k, v, {v: k}) == {'x': 'a'}",
    "has(any.a.b) && !has(any.a.c) && any.?a.?c.orValue(7) == 7 && any.?a.b[?5].hasValue() == false",
    "optional.of(2).optMap(x, x + 1).value() == 3 && optional.none().orValue(1) == 1",
    "optional.of(1).optFlatMap(x, optional.of(x + 1)).or(optional.of(9)).value() == 2",
    "{?'a': optional.none(), 'b': 1} == {'b': 1} && [?optional.of(1), 2] == [1, 2]",
    "true || 1 / 0 == 1 && true || false",
    "!(false && 1 / 0 == 1) && [1, 0].exists(x, 1 / x == 1)",
    "int('12') == 12 && uint(3) == 3u && double('1.5') == 1.5 && string(1.0) == '1' && string(1e21) == '1e+21'",
    "int(2.9) == 2 && bool('true') && bytes('a') == b'a' && string(b'a') == 'a' && string(true) == 'true'",
    "duration('1h30m') == duration('90m') && string(duration('1.5s')) == '1.5s' && int(duration('1ms')) == 1000000",
    "timestamp('2026-03-01T00:00:00Z') - duration('24h') == timestamp('2026-02-28T00:00:00Z')",
    "timestamp('2026-02-28T23:30:00-01:00').getDayOfMonth() == 0 && timestamp(0).getFullYear() == 1970",
    "string(timestamp('2026-02-28T23:30:00.500-01:00')) == '2026-02-28T23:30:00.5-01:00'",
    "timestamp('2026-07-01T10:00:00Z').getHours('Europe/Berlin') == 12 && timestamp(5).getDayOfWeek() == 4",
    "type(1) == int && type(n) != string && type(null) == null_type && type([]) == list && type(type(1)) == type",
    "'a-b-c'.split('-') == ['a', 'b', 'c'] && 'abc'.split('', 2) == ['a', 'bc'] && ['a', 'b'].join('/') == 'a/b'",
    "'abcabc'.indexOf('c', 3) == 5 && 'abcabc'.lastIndexOf('c') == 5 && 'abc'.charAt(3) == '' && ' x\\t'.trim() == 'x'",
    "strings.quote('a\"b\\n') == '\"a\\\\\"b\\\\n\"'",
    "[1, 3].sum() == 4 && [1.5, 2.0].max() == 2.0 && ['b', 'a'].min() == 'a' && [2, 1].isSorted() == false",
    "sets.equivalent([1, 2, 2], [2, 1]) && sets.contains([1, 2], [2]) && !sets.intersects([1], [2])",
    "quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('200M') == quantity('0.2G')",
    "quantity('50k').add(20).sub(quantity('100k')).sub(-50000).asInteger() == 20",
    "isQuantity('10Mi') && !isQuantity('10Mo') && !isQuantity('10Mm')",
    "semver('1.2.3-rc.1').isLessThan(semver('1.2.3')) && semver('v01.2', true) == semver('1.2.0')",
    "!isSemver('v1.0.0') && isSemver('1', true) && !isSemver('01.0.0') && semver('1.2.3').patch() == 3",
    "ip('::1').isLoopback() && ip('10.0.0.1').family() == 4 && !ip.isCanonical('2001:DB8::1') && !isIP('1.2.3.4.5')",
    "!isIP('::ffff:1.2.3.4') && !isIP('fe80::1%en0') && string(ip('2001:DB8::1')) == '2001:db8::1'",
    "cidr('10.0.0.7/8').masked() == cidr('10.0.0.0/8') && cidr('10.0.0.7/8').ip() == ip('10.0.0.7')",
    "cidr('10.0.0.0/8').containsIP('10.1.2.3') && cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.0/16'))",
    "type(ip('1.2.3.4')) == net.IP && string(cidr('10.0.0.0/8')) == '10.0.0.0/8' && !isCIDR('10.0.0.0/33')",
    "url('https://u:p@a.io:8443/x y?k=1&k=2#z').getHost() == 'a.io:8443' && url('/p').getHostname() == ''",
    "url('https://a.io/x y?k=1&k=2').getQuery() == {'k': ['1', '2']}",
    "url('https://a.io/x y').getEscapedPath() == '/x%20y'",
    "isURL('https://[::1]:80/') && !isURL('../x') && !isURL('https://a:b:c/') && !isURL('')",
    "format.dns1123Label().validate('a b').value().size() == 1 && !format.uri().validate('http://a.io').hasValue()",
    "format.named('uuid').value() == format.uuid() && !format.named('nope').hasValue()",
    "'a1b22'.find('[0-9]+') == '1' && 'a1b22'.findAll('[0-9]+', 1) == ['1'] && 'abc'.matches('^a.c$')",
    "'baaac'.findAll('a*') == ['', 'aaa', ''] && 'aa'.findAll('a', 0) == [] && 'aa'.findAll('a', -1) == ['a', 'a']",
    "'\u06633'.find('\\\\d') == '3' && 'a\\n'.find('a$') == '' && 'Ab'.find('b|(?i)a') == 'A'",
    "!isCIDR('::ffff:1.2.3.4/112') && !isIP('::ffff:1.2.3.4') && isCIDR('::1/128')",
    "!optional.ofNonZeroValue(duration('0s')).hasValue() && optional.ofNonZeroValue(timestamp(0)).hasValue()",
    "!optional.ofNonZeroValue(timestamp('0001-01-01T00:00:00Z')).hasValue()",
    "thing.name == 'x' && !has(thing.at) && thing != null",
    "any['a'].b[1] == 2",
    "{dyn(1): 'a', dyn(true): 'b'}[dyn(true)] == 'b' && {dyn(0): 'a', dyn(false): 'b'}[dyn(0)] == 'a'",
    "{dyn(1): 1} != {dyn(true): 1} && true in {true: 1} && !(dyn(1) in dyn({true: 1})) && {true: 1}.all(k, k)",
    "{false: 1}.transformMap(k, v, k)[false] == false && '%s'.format([{true: 1}]) == '{true:1}'",
    "!has(dyn(null).x) && !has(dyn(1).x) && !dyn(null).?x.hasValue() && dyn(null)[?'x'].orValue(2) == 2",
    "dyn(null).?x.y.orValue(3) == 3",
]


@pytest.mark.parametrize("expression", HOLD)
def test_an_expression_that_holds(expression: str) -> None:
    outcome = ENVIRONMENT.compile(expression).run(VALUES)
    assert (outcome.value, outcome.error) == (True, "")


FAIL = {
    "9223372036854775807 + 1 == 0": "integer overflow",
    "1 / (n - 3) == 1": "division by zero",
    "1 % (n - 3) == 1": "modulus by zero",
    "(-9223372036854775807 - 1) % (n - 4) == 0": "integer overflow",
    "cidr('::ffff:1.2.3.4/112').prefixLength() == 1": "network address parse error during conversion from string: "
    'IPv4-mapped IPv6 address "::ffff:1.2.3.4/112" is not allowed',
    "any.nope == 1": "no such key: nope",
    "dyn(null).x == 1": "no such key: x",
    "dyn(1).x == 1": "no such key: x",
    "has(dyn(null).x.y)": "no such key: x",
    "dyn(null)['x'] == 1": "no such key: x",
    "dyn('text')[0] == 't'": "no such key: 0",
    "dyn([1])[0.0 / 0.0] == 1": "unsupported index type 'double' in list",
    "dyn([1])[1.0 / 0.0] == 1": "unsupported index type 'double' in list",
    "dyn({1: 'a'})[true] == 'a'": "no such key: true",
    "dyn({true: 'a'})[1] == 'a'": "no such key: 1",
    "dyn([1]).x == 1": "unsupported index type 'string' in list",
    "dyn([1])['x'] == 1": "unsupported index type 'string' in list",
    "has(dyn([1]).x)": "unsupported index type 'string' in list",
    "any.a.b[7] == 1": "index out of bounds: 7",
    "any.a < 1": "no such overload: _<_",
    "1 < any.a": "no such overload",
    "dyn(s) < 1": "no such overload",
    "-any.a == 1": "no such overload: -_",
    "dyn(n).size() == 1": "no such overload: size",
    "dyn(n).matches('a')": "no such overload: matches",
    "dyn(n).startsWith('a')": "no such overload",
    "dyn(s).getHours() == 1": "no such overload: getHours(string)",
    "s.charAt(any.a) == ''": "no such overload: charAt(string, map)",
    "int(any.a) == 1": "no such overload: int(map)",
    "null.getHost() == ''": "no such overload: getHost(null_type)",
    "(n > 100 ? ip('::1') : null).family() == 4": "no such overload: family(null_type)",
    "(n > 0 ? [1] : dyn([])).unwrapOpt() == []": "value 1 is not optional",
    "null.getHours() == 1": "no such overload: getHours(null_type)",
    "dyn(n).distinct() == []": "no such overload: distinct(int)",
    "any.distinct() == []": "no such overload: distinct(map)",
    "(1 / (n - n) == 1 ? [1] : [2]).sortBy(x, x) == []": "division by zero",
    "any.b.sortBy(x, x) == []": "no such key: b",
    "quantity('1').isLessThan(any)": "no such overload: isLessThan(kubernetes.Quantity, map)",
    "any.flatten() == []": "no such overload: map(dyn, dyn).flatten()",
    "any.sort() == []": "no such overload: sort",
    "dyn([dyn(1), dyn('x')]).sum() == 1": "no such overload",
    "dyn(['x']).sum() == 1": "no such overload",
    "dyn([null]).sum() == 1": "no such overload",
    "dyn([dyn('a'), dyn(1)]).join('-') == 'a-1'": "join: invalid input: 1",
    "any.a + 'x' == 'y'": "no such overload: _+_",
    "optional.none().value() == 1": "optional.none() dereference",
    "any.a.b[1].all(x, x > 0)": "got 'types.Int', expected iterable type",
    "dyn(s).exists(x, true)": "got 'types.String', expected iterable type",
    "dyn(null).exists(x, true)": "got 'types.Null', expected iterable type",
    "dyn(semver('1.0.0')).map(x, x) == []": "got 'cel.Semver', expected iterable type",
    "dyn(optional.of([1])).exists_one(x, x == 1)": "got '*types.Optional', expected iterable type",
    "[n].filter(x, x > 5).min() == 1": "min called on empty list",
    "[1, 2].all(x, 1 / (x - 1) == 1)": "division by zero",
    "s.substring(3, 1) == ''": "invalid substring range. start: 3, end: 1",
    "s.charAt(9) == ''": "index out of range: 9",
    "s.substring(40) == ''": "index out of range: 40",
    "[true, true].transformMapEntry(i, v, {v: i}) == {}": "insert failed: key true already exists",
    "int(s) == 1": "type conversion error from 'string' to 'int'",
    "duration(s) == duration('1s')": "type conversion error from 'string' to 'google.protobuf.Duration'",
    "uint(-n) == 1u": "unsigned integer overflow",
    "timestamp(n * 1000000000000) == timestamp(0)": "timestamp overflow",
    "quantity(s) == quantity('1')": "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    "quantity('10Mm') == quantity('1')": "unable to parse quantity's suffix",
    "quantity('1.5').asInteger() == 1": "cannot convert value to integer",
    "semver('v1.0') == semver('1.0.0')": "No Major.Minor.Patch elements found",
    "ip('10.0.0.256') == ip('1.1.1.1')": 'IP Address "10.0.0.256" parse error during conversion from string: '
    'ParseAddr("10.0.0.256"): IPv4 field has value >255',
    **{
        f"ip('{text}') == ip('1.1.1.1')": f'IP Address "{text}" parse error during conversion from string: '
        f'ParseAddr("{text}"): {why}'
        for text, why in {
            "10.0.0." + "9" * 5000: "IPv4 field has value >255",
            "10.0.0.999x": "IPv4 field has value >255",
            "10.0.0.01x": "IPv4 field has octet with leading zero",
            "10.0.0.²": 'unexpected character (at "²")',
            "10.0..1": 'IPv4 field must have at least one digit (at ".1")',
            "10.0.0.1.": 'IPv4 field must have at least one digit (at ".")',
            "10.0.0.1.2": "IPv4 address too long",
            "10.0.1": "IPv4 address too short",
        }.items()
    },
    "ip('a:::b') == ip('1.1.1.1')": 'IP Address "a:::b" parse error during conversion from string: '
    'ParseAddr("a:::b"): each colon-separated field must have at least one digit (at ":b")',
    **{
        f"ip('{text}') == ip('::1')": f'IP Address "{text}" parse error during conversion from string: '
        f'ParseAddr("{text}"): {why}'
        for text, why in {
            "2001:db8::/32": 'each colon-separated field must have at least one digit (at "/32")',
            "2024-02:1": 'unexpected character, want colon (at "-02:1")',
            "1:2:": 'colon must be followed by more characters (at ":")',
            "1::2::3": 'multiple :: in address (at ":3")',
            "12345::": 'each group must have 4 or less digits (at "12345::")',
            "1:2:3:4:5:6:7:8:9": 'trailing garbage after address (at "9")',
            "1:2:3:4:5:6:7::8": "the :: must expand to at least one field of zeros",
            "1:2": "address string too short",
            "1:1.2.3.4": 'embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")',
            "::1.2.3": "IPv4 address too short",
        }.items()
    },
    "int(s) == 1 || any.nope == 1": "type conversion error from 'string' to 'int'",
    "any.nope == 1 && int(s) == 1": "no such key: nope",
    "cidr('10.0.0.0/8').containsIP('nope')": "no such overload",
    "'abc'.indexOf('', -1) == 0": "index out of range: -1",
    "[[1]].flatten(-1) == [1]": "level must be non-negative",
    r"semver('\\d', true) == semver('1.0.0')": r'Invalid character(s) found in major number "0\\d"',
    "url('../x').getHost() == ''": 'URL parse error during conversion from string: parse "../x": '
    "invalid URI for request",
    "{'a': 1, 'a': 2}.size() == 1": "Failed with repeated key [a]",
}


@pytest.mark.parametrize("expression", FAIL)
def test_an_expression_that_fails(expression: str) -> None:
    assert ENVIRONMENT.compile(expression).run(VALUES).error == FAIL[expression]


def _told(text: str, column: int, source: str) -> str:
    return f"compilation failed: ERROR: <input>:1:{column}: {text}\n | {source}\n | {'.' * (column - 1)}^"


WRONG = {
    "n + s": (3, "found no matching overload for '_+_' applied to '(int, string)'"),
    "n == 1.0": (3, "found no matching overload for '_==_' applied to '(int, double)'"),
    "n == null": (3, "found no matching overload for '_==_' applied to '(int, null)'"),
    "s.size(1)": (7, "found no matching overload for 'size' applied to 'string.(int)'"),
    "nope": (1, "undeclared reference to 'nope' (in container '')"),
    "nope(n)": (5, "undeclared reference to 'nope' (in container '')"),
    "n.nope()": (7, "undeclared reference to 'nope' (in container '')"),
    "thing.size": (6, "undefined field 'size'"),
    "has(thing.z)": (4, "undefined field 'z'"),
    "n.x": (2, "type 'int' does not support field selection"),
    "[1, 'a']": (5, "expected type 'int' but found 'string'"),
    "{'a': 1, 2: 2}": (10, "expected type 'string' but found 'int'"),
    "n.map(x, x)": (1, "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)"),
    "[1].all(x, x)": (12, "expected type 'bool' but found 'int'"),
    "true || n": (9, "expected type 'bool' but found 'int'"),
    "[] == 0": (4, "found no matching overload for '_==_' applied to '(list(dyn), int)'"),
    "[1].first() == 0": (13, "found no matching overload for '_==_' applied to '(optional_type(int), int)'"),
    "duration(n) == duration('1s')": (9, "found no matching overload for 'duration' applied to '(int)'"),
    ".nope == 1": (2, "undeclared reference to '.nope' (in container '')"),
    ".size()": (6, "found no matching overload for 'size' applied to '()'"),
    "[1].existsOne(x, true)": (14, "undeclared reference to 'existsOne' (in container '')"),
    "map{}": (4, "'map' is not a message type"),
    "1.99e999": (1, "invalid double literal"),
    r"'\udead' == s": (1, "invalid unicode code point"),
    "[%]": (
        2,
        "Syntax error: extraneous input '%' expecting {'[', ']', '{', '(', '.', ',', '-', '!', '?', 'true', 'false', "
        "'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
    ),
    "thing.true == 1": (7, "Syntax error: mismatched input 'true' expecting IDENTIFIER"),
    "{?'a': n": (9, "Syntax error: mismatched input '<EOF>' expecting {'}', ','}"),
    "thing['name']": (6, "found no matching overload for '_[_]' applied to '(Thing, string)'"),
    "['a'].sum()": (10, "found no matching overload for 'sum' applied to 'list(string).()'"),
    "has(n)": (5, "invalid argument to has() macro"),
    "[1].all(x.y, true)": (10, "argument must be a simple name"),
    "[1].map(1, 2)": (9, "argument is not an identifier"),
    "for": (1, "reserved identifier: for"),
    "99999999999999999999": (1, "invalid int literal"),
    "duration('x')": (10, "invalid duration argument"),
    "timestamp('x')": (11, "invalid timestamp argument"),
    "s.matches('(')": (11, "invalid matches argument"),
    "n in [1, 2, ": (13, "Syntax error: missing ']' at '<EOF>'"),
    "s s": (3, "Syntax error: extraneous input 's' expecting <EOF>"),
    "cel.bind(x, 1, x)": (1, "undeclared reference to 'cel' (in container '')"),
}


@pytest.mark.parametrize("expression", WRONG)
def test_what_does_not_compile(expression: str) -> None:
    column, text = WRONG[expression]
    with pytest.raises(CompileError) as wrong:
        ENVIRONMENT.compile(expression)
    assert str(wrong.value).split("\nERROR")[0] == _told(text, column, expression)


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("Nope{a: nope, b: Nope{}}", 1),  # what is in an object of no known type is not looked at
        ("nope.field.?other && 1", 3),  # a field of what is unknown may be anything
        ("{?'a': nope.field}", 1),
        (" || ".join(["nope"] * 101), 100),
    ],
)
def test_how_much_is_told_to_be_wrong(expression: str, told: int) -> None:
    with pytest.raises(CompileError) as wrong:
        ENVIRONMENT.compile(expression)
    assert str(wrong.value).count("ERROR: <input>") == told
    assert str(wrong.value).endswith("\n1 more errors were truncated") == (told == 100)


def test_errors_are_told_in_the_order_of_their_places() -> None:
    with pytest.raises(CompileError) as wrong:
        ENVIRONMENT.compile("n + s == 1 &&\n  nope > 2")
    assert str(wrong.value) == (
        "compilation failed: ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n"
        " | n + s == 1 &&\n | ..^\n"
        "ERROR: <input>:2:3: undeclared reference to 'nope' (in container '')\n |   nope > 2\n | ..^"
    )


@pytest.mark.parametrize(
    ("expression", "cost"),
    [
        ("n == 3", 2),
        ("any.a.b[0] == 1", 5),
        ("[1, 2].all(x, x > 0)", 11),
        ("has(any.a)", 1),
        ("n == 3 ? 1 : s.size()", 2),
        ("s.contains('ex') && s.startsWith('t')", 4),
    ],
)
def test_what_running_costs(expression: str, cost: int) -> None:
    assert ENVIRONMENT.compile(expression).run(VALUES).cost == cost


def test_a_run_ends_when_it_costs_too_much() -> None:
    outcome = ENVIRONMENT.compile("[1, 2, 3].all(x, [1, 2, 3].all(y, x * y > 0))").run(VALUES, limit=50)
    assert outcome.error == "operation cancelled: actual cost limit exceeded"
    assert outcome.cost > 50


def test_many_terms_are_no_deep_expression() -> None:
    many = " && ".join(f"n != {number}" for number in range(10, 1500))
    assert ENVIRONMENT.compile(many).run(VALUES).value is True
    assert ENVIRONMENT.compile(many).estimate(lambda path: 1).most == 2980


@pytest.mark.parametrize(
    ("before", "inner", "after"),
    [
        pytest.param("(", "true", ")", id="brackets"),
        pytest.param("!(", "true", ")", id="not"),
        pytest.param("dyn(", "true", ")", id="calls"),
        pytest.param("[", "", "]", id="lists"),
        pytest.param("{'a': ", "1", "}", id="maps"),
        pytest.param("", "n", " + n", id="sums"),
        pytest.param("n > 1 ? 1 : ", "2", "", id="choices"),
        pytest.param("", "any", ".?a", id="fields"),
        pytest.param("{1: 1}[", "1", "]", id="indices"),
        pytest.param("[1].all(x, ", "true", ")", id="loops"),
    ],
)
def test_an_expression_is_nested_as_deep_as_cel_go_takes_it(before: str, inner: str, after: str) -> None:
    program = ENVIRONMENT.compile(before * 248 + inner + after * 248)
    assert program.run(VALUES).error == ""
    assert program.estimate(lambda path: 1).most < 10_000


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("(" * 300 + "1" + ")" * 300, id="brackets"),
        pytest.param("(n == " * 125 + "n" + ")" * 125, id="relations on the right"),
        pytest.param("n > 1 ? 1 : " * 250 + "2", id="choices"),
        pytest.param("[" * 3000, id="lists"),
    ],
)
def test_what_is_nested_too_deep_is_refused(source: str) -> None:
    with pytest.raises(CompileError, match="expression recursion limit exceeded: 250"):
        ENVIRONMENT.compile(source)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("any" + ".a" * 251, id="fields"),
        pytest.param("n" + " + n" * 251, id="sums"),
        pytest.param("n" + " * n / n" * 126, id="products"),
        pytest.param("n" + " == n" * 251, id="relations"),
        pytest.param("(" * 126 + "any" + " + any).a" * 126, id="sums and fields"),
        pytest.param("[1].all(x, " * 125 + "n" + " == n" * 126 + ")" * 125, id="loops and relations"),
    ],
)
def test_chains_that_are_too_long_are_refused_otherwise(source: str) -> None:
    with pytest.raises(CompileError, match="max recursion depth exceeded"):
        ENVIRONMENT.compile(source)


def test_what_is_too_long_is_refused() -> None:
    with pytest.raises(CompileError, match="expression code point size exceeds limit: size: 100005, limit 100000"):
        ENVIRONMENT.compile("true" + " " * 100001)


def test_equality_is_deep_and_knows_numbers_from_truth() -> None:
    assert equal([1, {"a": 2.0}], [1.0, {"a": 2}])
    assert not equal(1, True)
    assert not equal({"a": 1}, {"a": 1, "b": 2})
