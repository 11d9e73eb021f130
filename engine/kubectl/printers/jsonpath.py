"""JSONPath templates: `{.items[*].metadata.name}`, ranges, filters, slices and recursive descent.

Source of the behaviour: client-go util/jsonpath (parser.go, jsonpath.go) and cli-runtime pkg/printers/jsonpath.go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from engine.api.go_floats import shown_float
from engine.kubectl.errors import CommandError


class MissingKeyError(CommandError):
    """A field that is not there, when missing fields are not allowed."""


Step = Callable[[list[Any], Any, bool], list[Any]]  # values, the root, whether missing keys are allowed


@dataclass(slots=True)
class _Text:
    text: str


@dataclass(slots=True)
class _Path:
    steps: list[Step]


@dataclass(slots=True)
class _Range:
    path: _Path
    body: list[_Text | _Path | _Range | _Failure] = field(default_factory=list)


@dataclass(slots=True)
class _Failure:
    """What can be parsed but not be done."""

    message: str


Node = _Text | _Path | _Range | _Failure


class JsonPath:
    """A parsed template. `find` gives the results of its paths, `render` the whole text."""

    def __init__(self, template: str, *, allow_missing: bool = True) -> None:
        self._template = template
        self._allow_missing = allow_missing
        self._nodes = _parse(template)

    def find(self, root: Any) -> list[list[Any]]:
        """For each path of the template, what it finds."""
        return [_walk(node, root, root, self._allow_missing) for node in self._nodes if isinstance(node, _Path)]

    def render(self, root: Any) -> str:
        return "".join(_render(self._nodes, root, root, self._allow_missing))


def _render(nodes: list[Node], value: Any, root: Any, allow_missing: bool) -> list[str]:
    parts: list[str] = []
    for node in nodes:
        if isinstance(node, _Text):
            parts.append(node.text)
        elif isinstance(node, _Failure):
            raise CommandError(node.message)
        elif isinstance(node, _Path):
            parts.append(" ".join(text_of(found) for found in _walk(node, value, root, allow_missing)))
        else:
            for item in _walk(node.path, value, root, allow_missing):
                parts += _render(node.body, item, root, allow_missing)
    return parts


def _walk(path: _Path, value: Any, root: Any, allow_missing: bool) -> list[Any]:
    values = [value]
    for step in path.steps:
        values = step(values, root, allow_missing)
    return values


def text_of(value: Any) -> str:
    """A result as text: strings bare, objects and lists as compact JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, float):
        return shown_float(value)
    if isinstance(value, dict | list):
        text = json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return str(value)


# -- parsing


def _parse(template: str) -> list[Node]:
    """Texts and actions, ranges nested. Raises CommandError."""
    stack: list[list[Node]] = [[]]
    position = 0
    while position < len(template):
        start = template.find("{", position)
        if start < 0:
            stack[-1].append(_Text(template[position:]))
            break
        if start > position:
            stack[-1].append(_Text(template[position:start]))
        end = _closing(template, start)
        _action(template[start + 1 : end].strip(), stack, template)
        position = end + 1
    return stack[0]  # a range that is not ended goes to the end


def _closing(template: str, start: int) -> int:
    quote = ""
    depth = 0
    for index in range(start, len(template)):
        char = template[index]
        if quote:
            if char == quote and template[index - 1] != "\\":
                quote = ""
        elif char in "\"'":
            quote = char
        elif char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if not depth:
                return index
    why = "unterminated quoted string" if quote else "unclosed action"
    raise CommandError(f"error parsing jsonpath {template}, {why}")


def _action(text: str, stack: list[list[Node]], template: str) -> None:
    if text == "end":
        if len(stack) == 1:
            stack[-1].append(_Failure("not in range, nothing to end"))
        else:
            stack.pop()
    elif text == "range" or text.startswith("range "):
        node = _Range(_Path(_steps(text[5:].strip(), template)))
        stack[-1].append(node)
        stack.append(node.body)
    elif text[:1] in "\"'" and text:
        stack[-1].append(_Text(_unquote(text)))
    elif match := re.fullmatch(r"[A-Za-z_]\w*", text):
        stack[-1].append(_Failure(f"unrecognized identifier {match[0]}"))
    else:
        stack[-1].append(_Path(_steps(text, template)))


def _unquote(text: str) -> str:
    inner = text[1:-1]
    escapes = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\"}
    return re.sub(r"\\(.)", lambda match: escapes.get(match[1], match[0]), inner)


_FIELD = re.compile(r"((?:\\.|[^.\[\]\s\\(){}|&=!<>,'\"`$@?*])+)")


def _steps(text: str, template: str) -> list[Step]:
    steps: list[Step] = []
    position = 0
    while position < len(text):
        char = text[position]
        if char == "$":
            steps.append(lambda values, root, allow: [root])
            position += 1
        elif char == "@":
            position += 1
        elif text.startswith("..", position):
            steps.append(_recursive)
            position += 1 if text[position + 2 : position + 3] not in ("[", "") else 2
        elif char == ".":
            position += 1
            if text[position : position + 1] == "*":
                steps.append(_wildcard)
                position += 1
            elif match := _FIELD.match(text, position):
                steps.append(_field(re.sub(r"\\(.)", r"\1", match[1])))
                position = match.end()
        elif char == "[":
            end = _bracket(text, position, template)
            steps.append(_subscript(text[position + 1 : end].strip(), template))
            position = end + 1
        elif match := _FIELD.match(text, position):
            if position == 0 and not text.startswith((".", "[", "$", "@")):
                raise CommandError(f"error parsing jsonpath {template}, unrecognized identifier {match[1]}")
            position = match.end()
        elif char.isspace():
            position += 1
        else:
            raise CommandError(
                f"error parsing jsonpath {template}, unrecognized character in action: U+{ord(char):04X} '{char}'"
            )
    return steps


def _bracket(text: str, start: int, template: str) -> int:
    quote, depth = "", 0
    for index in range(start, len(text)):
        char = text[index]
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
            if not depth:
                return index
    raise CommandError(f"error parsing jsonpath {template}, unterminated array")


# -- steps


def _field(name: str) -> Step:
    def step(values: list[Any], root: Any, allow: bool) -> list[Any]:
        found = []
        for value in values:
            if isinstance(value, dict) and name in value:
                found.append(value[name])
            elif isinstance(value, dict) and not allow:
                raise MissingKeyError(f"{name} is not found")
        return found

    return step


def _dotted(text: str) -> Step:
    """A quoted key is a path of its own: a dot in it parts fields unless a backslash is before it."""
    steps = [_field(re.sub(r"\\(.)", r"\1", name)) for name in re.findall(r"(?:\\.|[^.\\])+", text)]

    def step(values: list[Any], root: Any, allow: bool) -> list[Any]:
        for one in steps:
            values = one(values, root, allow)
        return values

    return step


def _wildcard(values: list[Any], root: Any, allow: bool) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if isinstance(value, dict):
            found += [value[key] for key in sorted(value)]
        elif isinstance(value, list):
            found += value
    return found


def _recursive(values: list[Any], root: Any, allow: bool) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if isinstance(value, dict):
            found.append(value)
            found += _recursive([value[key] for key in sorted(value)], root, allow)
        elif isinstance(value, list):
            found.append(value)
            found += _recursive(value, root, allow)
    return found


def _subscript(text: str, template: str) -> Step:
    if text == "*":
        return _wildcard
    if text.startswith("?("):
        return _filter(text[2:-1].strip(), template)
    parts = _union(text)
    if all(part[:1] == "'" for part in parts):
        steps = [_dotted(_unquote(part)) for part in parts]
    else:
        steps = [_slice(part, template) for part in parts]
    return lambda values, root, allow: [found for step in steps for found in step(values, root, allow)]


def _union(text: str) -> list[str]:
    return [match[0].strip() for match in re.finditer(r"'[^']*'|\"[^\"]*\"|[^,'\"]+", text) if match[0].strip(", ")]


def _slice(text: str, template: str) -> Step:
    if not re.fullmatch(r"-?\d*(:-?\d*){0,2}", text) or not text:
        raise CommandError(f"error parsing jsonpath {template}, invalid array index {text}")

    def step(values: list[Any], root: Any, allow: bool) -> list[Any]:
        found: list[Any] = []
        for value in values:
            if value is None:
                continue
            if not isinstance(value, list):
                raise CommandError(f"{_go_type(value)} is not array or slice")
            found += _part(value, text)
        return found

    return step


def _part(value: list[Any], text: str) -> list[Any]:
    """`[2]`, `[-1]`, `[1:3]`, `[::2]` of a list. Raises CommandError for places that it has not."""
    words = text.split(":")
    start = int(words[0] or 0)
    after = str(start + 1 or "") if len(words) == 1 else words[1]
    end = int(after) if after else len(value)
    step = int(words[2]) if len(words) > 2 and words[2] else 1
    start += len(value) if start < 0 else 0
    end += len(value) if end < 0 else 0
    if start != end:
        for index in (start, end - 1):
            if not 0 <= index < len(value):
                raise CommandError(f"array index out of bounds: index {index}, length {len(value)}")
        if start > end:
            raise CommandError(f"ending index is larger than starting index: {start} > {end}")
    if step <= 0:
        raise CommandError("step must be > 0")
    return value[start:end:step]


def _go_type(value: Any) -> str:
    if isinstance(value, dict):
        return "map[string]interface {}"
    return {str: "string", bool: "bool", float: "float64"}.get(type(value), "int64")


_COMPARE = re.compile(r"\s*(==|!=|<=|>=|<|>)\s*")


def _filter(text: str, template: str) -> Step:
    if (found := re.search(r"[&|]", re.sub(r"'[^']*'|\"[^\"]*\"", "", text))) is not None:
        raise CommandError(
            f"error parsing jsonpath {template}, unrecognized character in action: U+{ord(found[0]):04X} '{found[0]}'"
        )
    match = _COMPARE.search(text)
    left = _operand(text[: match.start()] if match else text, template)
    right = _operand(text[match.end() :], template) if match else None
    operator = match[1] if match else "exists"

    def keep(item: Any, root: Any) -> bool:
        ours = left(item, root)
        if operator == "exists" or right is None:
            return bool(ours)
        theirs = right(item, root)
        return bool(ours) and bool(theirs) and _compares(ours[0], operator, theirs[0])

    def step(values: list[Any], root: Any, allow: bool) -> list[Any]:
        found: list[Any] = []
        for value in values:
            items = value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else []
            found += [item for item in items if keep(item, root)]
        return found

    return step


def _operand(text: str, template: str) -> Callable[[Any, Any], list[Any]]:
    text = text.strip()
    if text[:1] in ("'", '"'):
        literal: Any = _unquote(text)
    elif re.fullmatch(r"-?\d+(\.\d+)?", text):
        literal = float(text) if "." in text else int(text)
    elif text in ("true", "false"):
        literal = text == "true"
    else:
        path = _Path(_steps(text, template))
        return lambda item, root: _walk(path, item, root, True)
    return lambda item, root: [literal]


def _compares(left: Any, operator: str, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool) or type(left) is not type(right):
        left, right = text_of(left), text_of(right)
    match operator:
        case "==":
            return bool(left == right)
        case "!=":
            return bool(left != right)
        case "<":
            return bool(left < right)
        case ">":
            return bool(left > right)
        case "<=":
            return bool(left <= right)
    return bool(left >= right)


def relaxed(expression: str) -> str:
    """`metadata.name`, `.metadata.name` or `{.metadata.name}`, as --sort-by takes it, as a template."""
    text = expression.strip()
    if not text:
        return text
    inner = text[1:-1] if text.startswith("{") and text.endswith("}") else text
    if "{" in inner or "}" in inner:
        raise CommandError(
            "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'"
        )
    return f"{{{inner}}}" if inner.startswith((".", "[", "$", "@")) else f"{{.{inner}}}"
