"""The JSONPath of printer columns, selectable fields and scales (client-go util/jsonpath, the part that these use).

Fields (also quoted in brackets), indices, slices, wildcards, recursive descent, unions and filters. What is missing
is nothing, never an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

Step = Callable[[Any], Iterator[Any]]

_TOKEN = re.compile(
    r"""\.\.(?P<deep>[A-Za-z0-9_\-*/]+|\*)
      | \.(?P<field>(?:\\.|[^.\[\]\\])+)
      | \[\?\((?P<filter>.*?)\)\]
      | \[(?P<inside>(?:'(?:\\.|[^'])*'|"(?:\\.|[^"])*"|[^\]])*)\]""",
    re.VERBOSE,
)
_FILTER = re.compile(r"\s*(?P<left>@[^=!<>]*?)\s*(?:(?P<operator>==|!=|<=|>=|<|>)\s*(?P<right>.+?))?\s*")


class JsonPathError(ValueError):
    """Not a JSONPath."""


class JsonPath:
    """`find` gives all that the path leads to, in order."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._steps = _steps(text)

    def find(self, value: Any) -> list[Any]:
        found = [value]
        for step in self._steps:
            found = [item for each in found for item in step(each)]
        return found

    def first(self, value: Any) -> Any:
        """The first that it leads to; None for nothing."""
        found = self.find(value)
        return found[0] if found else None


@lru_cache(maxsize=4096)
def parse(text: str) -> JsonPath:
    """Raises JsonPathError."""
    return JsonPath(text)


def simple_fields(text: str) -> tuple[str, ...]:
    """The names of a path that is nothing but fields, such as `.spec.replicas`."""
    return tuple(part.replace("\\.", ".") for part in re.split(r"(?<!\\)\.", text.lstrip(".")) if part)


def _steps(text: str) -> tuple[Step, ...]:
    steps, place = [], 0
    text = text.strip()
    if text.startswith("$"):
        place = 1
    if text == ".":
        return ()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise JsonPathError(f"unexpected {text[place:]!r} in {text!r}")
        steps.append(_step(match))
        place = match.end()
    return tuple(steps)


def _step(match: re.Match[str]) -> Step:
    if match["deep"] is not None:
        return _deep(match["deep"])
    if match["field"] is not None:
        name = re.sub(r"\\(.)", r"\1", match["field"])
        return _every if name == "*" else _field(name)
    if match["filter"] is not None:
        return _filter(match["filter"])
    return _inside(match["inside"].strip())


def _field(name: str) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and name in value:
            yield value[name]

    return step


def _every(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _deep(name: str) -> Step:
    wanted = _every if name == "*" else _field(name)

    def step(value: Any) -> Iterator[Any]:
        yield from wanted(value)
        for below in _every(value):
            yield from step(below)

    return step


def _inside(text: str) -> Step:
    if text == "*":
        return _every
    if text[:1] in ("'", '"'):
        names = [_unquoted(part) for part in re.findall(r"'(?:\\.|[^'])*'|\"(?:\\.|[^\"])*\"", text)]
        steps = [_field(name) for name in names]
        return lambda value: (item for each in steps for item in each(value))
    if ":" in text:
        return _slice(text)
    try:
        indices = [int(part) for part in text.split(",")]
    except ValueError:
        raise JsonPathError(f"invalid array index {text}") from None
    return lambda value: (item for index in indices for item in _index(value, index))


def _index(value: Any, index: int) -> Iterator[Any]:
    if isinstance(value, list) and -len(value) <= index < len(value):
        yield value[index]


def _slice(text: str) -> Step:
    try:
        bounds = [int(part) if part.strip() else None for part in text.split(":")]
    except ValueError:
        raise JsonPathError(f"invalid slice {text}") from None
    cut = slice(*bounds)
    return lambda value: iter(value[cut]) if isinstance(value, list) else iter(())


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1])


def _filter(text: str) -> Step:
    match = _FILTER.fullmatch(text)
    if match is None:
        raise JsonPathError(f"unrecognized filter {text}")
    left = JsonPath(match["left"].strip().removeprefix("@"))
    operator, right = match["operator"], _literal(match["right"]) if match["right"] else None

    def step(value: Any) -> Iterator[Any]:
        for item in _every(value):
            found = left.find(item)
            if found and (operator is None or _holds(found[0], operator, right)):
                yield item

    return step


def _literal(text: str) -> Any:
    text = text.strip()
    if text[:1] in ("'", '"'):
        return _unquoted(text)
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text) if re.search(r"[.eE]", text) else int(text)
    except ValueError:
        raise JsonPathError(f"unrecognized literal {text}") from None


def _holds(left: Any, operator: str, right: Any) -> bool:
    if operator == "==":
        return bool(left == right)
    if operator == "!=":
        return bool(left != right)
    if type(left) is not type(right) and not (_number(left) and _number(right)):
        return False
    try:
        order = {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}
    except TypeError:
        return False
    return bool(order[operator])


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
