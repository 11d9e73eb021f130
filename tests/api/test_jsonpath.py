"""JSONPath as kubectl's: what templates find, and how those that cannot be read or followed fail."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.jsonpath import JsonPath, JsonPathError

POD: dict[str, Any] = {
    "kind": "Pod",
    "metadata": {"name": "web", "labels": {"a.b": "c"}},
    "spec": {
        "grace": 30,
        "containers": [{"name": "a", "image": "x", "ports": [{"port": 80}]}, {"name": "b", "image": "y"}],
    },
    "status": {"ready": True, "conditions": [{"type": "Ready", "probed": None}]},
}

FOUND: dict[str, tuple[str, list[list[Any]]]] = {
    "text around an action": ("is {.kind}!", [["is "], ["Pod"], ["!"]]),
    "no braces": (".kind", [[".kind"]]),
    "nothing between braces": ("{}", [[POD]]),
    "the root again": ("{.kind$.kind}", [[]]),
    "a space within a path": ("{.metadata .name}", [["web"]]),
    "numbers and booleans": ("{1}{-1}{1.5}{+3}{true}", [[1], [-1], [1.5], [3], [True]]),
    "a number too large": ("{99999999999999999999}", [[1e20]]),
    "quotes": ("{'it\\'s'}{\"a\\\"b\"}", [["it's"], ['a"b']]),
    "escapes": ('{"\\x41\\102\\u0043\\n"}', [["ABC\n"]]),
    "an escaped dot": ("{.metadata.labels.a\\.b}", [["c"]]),
    "a quoted key is a path": ("{.metadata['labels.a']}{.metadata['labels']}", [[], [{"a.b": "c"}]]),
    "a union of keys": ("{.metadata['name', 'nope']}", [["web"]]),
    "a union of places": ("{.spec.containers[1, 0].name}", [["b", "a"]]),
    "no place is the first": ("{.spec.containers[].name}", [["a"]]),
    "the last": ("{.spec.containers[-1].name}", [["b"]]),
    "a slice": ("{.spec.containers[0:2:2].name}{.spec.containers[-1:].name}", [["a"], ["b"]]),
    "a slice of nothing": ("{.spec.containers[1:1].name}", [[]]),
    "all items": ("{.spec.containers[*].name}{.spec.containers.*.name}", [["a", "b"], ["a", "b"]]),
    "the bytes of a text": ("{.kind.*}", [[80, 111, 100]]),
    "descent": ("{..name}{.metadata..labels}", [["web", "a", "b"], [{"a.b": "c"}]]),
    "descent before a point": ("{...name}", [["web", "a", "b"]]),
    "a filter": ('{.spec.containers[?(@.name == "b")].image}', [["y"]]),
    "a filter by single quotes": ("{.spec.containers[?(@.name!='b')].image}", [["x"]]),
    "a filter of what is there": ("{.spec.containers[?(@.ports)].name}", [["a"]]),
    "a filter that compares two fields": ("{.spec.containers[?(@.name==@.name)].name}", [["a", "b"]]),
    "a filter of numbers": ("{.spec.containers[?(@.ports[0].port>=80)].name}", [["a"]]),
    "a filter of nothing": ("{.spec.containers[?()].name}", [["a", "b"]]),
    "a filter whose left side fails later": ('{.spec.containers[?(@.name in "b")].name}', [["a", "b"]]),
    "a parenthesis in quotes": ('{.spec.containers[?(@.name==")")].name}', [[]]),
    "a range": ("{range .spec.containers[*]}{.name},{end}!", [["a"], [","], ["b"], [","], ["!"]]),
    "a range in a range": (
        "{range .spec.containers[*]}{range .ports[*]}{.port}{end}{.name}{end}",
        [[80], ["a"], ["b"]],
    ),
    "a range without an end": ("{range .spec.containers[*]}{.name}", [["a"], ["b"], []]),
    "a range of nothing": ("{range .nope[*]}x{.name}{end}done", [["done"]]),
    "null": ("{.status.conditions[0].probed}{.status.conditions[0].probed.x}", [[None], []]),
}

FAILURES: dict[str, tuple[str, str]] = {
    "no closing brace": ("{.kind", "unclosed action"),
    "a line's end": ("{.kind\n}", "unclosed action"),
    "no closing bracket": ("{.spec.containers[0}", "unterminated array"),
    "no closing quote": ('{"abc}', "unterminated quoted string"),
    "no escape": ("{'a\\q'}", "unquote string 'a\\q' error invalid syntax"),
    "no end of a filter": ('{.spec.containers[?(@.name=="a"].name}', "unterminated filter"),
    "no end of quotes in a filter": ('{.spec.containers[?(@.name=="a)].name}', "unterminated filter"),
    "no bracket after a filter": ("{.spec.containers[?(@.name).name}", "unclosed array expect ]"),
    "a name as place": ("{.spec.containers[name]}", "invalid array index name"),
    "double quotes as key": ('{.metadata["name"]}', 'invalid array index "name"'),
    "four bounds": ("{.spec.containers[0:1:2:3]}", "invalid array index 0:1:2:3"),
    "a place too large": ("{.a[99999999999999999999]}", "array index 99999999999999999999 is not a number"),
    "a mark": ("{.kind#}{#}", "unrecognized character in action: U+0023 '#'"),
    "a star after descent": ("{..*}", "unrecognized character in action: U+002A '*'"),
    "descent twice": ("{.. ..name}", "invalid multiple recursive descent"),
    "no number": ("{1.2.3}", "cannot parse number 1.2.3"),
    "a word": ("{hello}", "unrecognized identifier hello"),
    "a word after a path": ("{.metadata hello}", "unrecognized identifier hello"),
    "an end of nothing": ("{end}", "not in range, nothing to end"),
    "out of bounds": ("{.spec.containers[5]}", "array index out of bounds: index 5, length 2"),
    "a slice past the end": ("{.spec.containers[0:5]}", "array index out of bounds: index 4, length 2"),
    "a slice backwards": ("{.spec.containers[1:0]}", "starting index 1 is greater than ending index 0"),
    "no step": ("{.spec.containers[0:1:0]}", "step must be > 0"),
    "a place in a text": ("{.kind[0]}", "string is not array or slice"),
    "a place in an object": ("{.metadata[0]}", "map[string]interface {} is not array or slice"),
    "a filter of an object": (
        "{.metadata.labels[?(@.x)]}",
        "map[a.b:c] is not array or slice and cannot be filtered",
    ),
    "a text beside a number": ("{.spec.containers[?(@.name>1)]}", "incompatible types for comparison"),
    "null compared": ("{.status.conditions[?(@.probed==1)]}", "invalid type for comparison"),
    "an order of booleans": ("{.spec.containers[?(true<false)]}", "invalid type for comparison"),
    "several compared": ("{.spec.containers[?(@.*==1)]}", "can only compare one element at a time"),
    "an operator that there is not": ("{.spec.containers[?(@.name===1)]}", "unrecognized filter operator ==="),
}


@pytest.mark.parametrize("name", FOUND)
def test_a_template_finds(name: str) -> None:
    template, found = FOUND[name]
    assert JsonPath(template).find(POD) == found


@pytest.mark.parametrize("name", FAILURES)
def test_a_template_fails(name: str) -> None:
    template, message = FAILURES[name]
    with pytest.raises(JsonPathError) as failure:
        JsonPath(template).find(POD)
    assert str(failure.value) == message


def test_missing_fields_fail_where_they_must_be_there() -> None:
    path = JsonPath("{.metadata.nope}", allow_missing=False)
    with pytest.raises(JsonPathError, match=r"^nope is not found$"):
        path.find(POD)
