"""A template's tree carried out on a value.

Source of the behaviour: Go's text/template/exec.go.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.api.golang.values import shown_value
from engine.kubectl.printers.go_template.functions import (
    FUNCTIONS,
    FunctionError,
    shown_kind,
    truth,
    wrong_number,
)
from engine.kubectl.printers.go_template.parsing import (
    Branch,
    Call,
    Chain,
    Constant,
    Jump,
    ParseError,
    Pipeline,
    Text,
    parse,
)

CALL = "call"
_NOTHING = object()
_DOT = "."  # in a scope, whether the dot is an item of a range
Place = tuple[int, int, str]
Scope = dict[str, list[Any]]


class TemplateError(Exception):
    """A template that cannot be read or carried out. `written` is what it gave before it failed."""

    def __init__(self, message: str, written: str = "") -> None:
        super().__init__(message)
        self.written = written


class _Jumped(Exception):
    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Template:
    def __init__(self, text: str, *, allow_missing: bool = True) -> None:
        """Raises TemplateError."""
        self._allow_missing = allow_missing
        try:
            self._root, self._templates = parse(text, {*FUNCTIONS, CALL})
        except ParseError as error:
            raise TemplateError(f"error parsing template {text}, {error}") from error

    def render(self, value: Any) -> str:
        """Raises TemplateError."""
        written: list[str] = []
        try:
            self._body(self._root, value, {"$": [value]}, written)
        except TemplateError as error:
            raise TemplateError(str(error), "".join(written)) from error
        return "".join(written)

    def _body(self, nodes: Iterable[Any], dot: Any, scope: Scope, out: list[str]) -> None:
        scope = dict(scope)
        for node in nodes:
            if isinstance(node, Text):
                out.append(node.text)
            elif isinstance(node, Pipeline):
                value = self._pipeline(node, dot, scope)
                if not node.variables:
                    out.append("<no value>" if value is None else shown_value(value))
            elif isinstance(node, Jump):
                raise _Jumped(node.kind)
            elif node.kind == "range":
                self._range(node, dot, scope, out)
            elif node.kind == "template":
                self._template(node, dot, scope, out)
            elif isinstance(node, Branch) and node.pipeline is not None:
                inner = dict(scope)
                value = self._pipeline(node.pipeline, dot, inner)
                if truth(value):
                    if node.kind == "with":
                        inner[_DOT] = [False]
                    self._body(node.body, value if node.kind == "with" else dot, inner, out)
                else:
                    self._body(node.otherwise, dot, inner, out)

    def _template(self, node: Branch, dot: Any, scope: Scope, out: list[str]) -> None:
        value = self._pipeline(node.pipeline, dot, scope) if node.pipeline is not None else None
        if node.name not in self._templates:
            raise _failed(node.place, f'template "{node.name}" not defined')
        self._body(self._templates[node.name], value, {"$": [value]}, out)

    def _range(self, node: Branch, dot: Any, scope: Scope, out: list[str]) -> None:
        assert node.pipeline is not None
        names = node.pipeline.variables
        value = self._pipeline(Pipeline(node.pipeline.commands), dot, scope)
        place = node.pipeline.commands[0].place
        items = list(_items(value, place))
        counted = isinstance(value, int)
        if counted and len(names) > 1:
            raise _failed(place, f"can't use {value} to iterate over more than one variable")
        for key, item in items:
            inner = dict(scope)
            for name, given in zip(names, (key, item) if len(names) > 1 else (item,), strict=False):
                inner[name] = [given] if counted else [given, True]
            inner[_DOT] = [not counted]
            try:
                self._body(node.body, item, inner, out)
            except _Jumped as jump:
                if jump.kind == "break":
                    break
        if not items:
            self._body(node.otherwise, dot, scope, out)

    def _pipeline(self, pipeline: Pipeline, dot: Any, scope: Scope) -> Any:
        value: Any = _NOTHING
        for command in pipeline.commands:
            value = self._command(command, dot, scope, value)
        for name in pipeline.variables[-1:]:
            if pipeline.assigns and name in scope:
                scope[name][0] = value
            else:
                scope[name] = [value]
        return value

    def _command(self, command: Call, dot: Any, scope: Scope, final: Any) -> Any:
        if not command.name:
            head = command.arguments[0]
            if isinstance(head, Constant) and head.value is None:
                raise _failed(command.place, "nil is not a command")
            if len(command.arguments) > 1 or final is not _NOTHING:
                raise _failed(command.place, f"can't give argument to non-function {command.place[2].split(' ')[0]}")
            return self._value(head, dot, scope)
        if command.name in ("and", "or") and (command.arguments or final is not _NOTHING):
            return self._lazily(command, dot, scope, final)
        if wrong := wrong_number(command.name, len(command.arguments) + (final is not _NOTHING)):
            line, column, _ = command.place
            raise _failed((line, column, command.name), f"wrong number of args for {command.name}: {wrong}")
        arguments = [self._value(argument, dot, scope) for argument in command.arguments]
        if final is not _NOTHING:
            arguments.append(final)
        if command.name == CALL:
            raise _failed(command.place, _uncallable(command.place[2], arguments))
        try:
            return FUNCTIONS[command.name](*arguments)
        except FunctionError as error:
            raise _failed(command.place, f"error calling {command.name}: {error}") from error
        except (TypeError, AttributeError) as error:
            raise _failed(command.place, f"wrong number or type of args for {command.name}") from error

    def _lazily(self, command: Call, dot: Any, scope: Scope, final: Any) -> Any:
        """`and` and `or` evaluate no more than they need."""
        value: Any = None
        for argument in command.arguments:
            value = self._value(argument, dot, scope)
            if truth(value) == (command.name == "or"):
                return value
        return value if final is _NOTHING else final

    def _value(self, operand: Any, dot: Any, scope: Scope) -> Any:
        if isinstance(operand, Constant):
            return operand.value
        if isinstance(operand, str):
            return self._command(Call(operand, [], (1, 0, operand)), dot, scope, _NOTHING)
        assert isinstance(operand, Chain)
        value, boxed = dot, scope.get(_DOT, [False])[0]
        if isinstance(operand.start, str):
            value, boxed = scope[operand.start][0], len(scope[operand.start]) > 1
        elif isinstance(operand.start, Pipeline):
            value, boxed = self._pipeline(operand.start, dot, scope), False
        for depth, name in enumerate(operand.fields):
            value = self._field(value, name, operand.place, boxed=boxed or depth > 0)
        return value

    def _field(self, value: Any, name: str, place: Place, *, boxed: bool) -> Any:
        """`boxed`: the value is one that a map or a list holds, of which Go knows no more than that."""
        if isinstance(value, dict):
            if name not in value and not self._allow_missing:
                raise _failed(place, f'map has no entry for key "{name}"')
            return value.get(name)
        if value is None:
            return None
        kind = "interface {}" if boxed else shown_kind(value)
        raise _failed(place, f"can't evaluate field {name} in type {kind}")


def _items(value: Any, place: Place) -> Iterable[tuple[Any, Any]]:
    if value is None:
        return ()
    if isinstance(value, dict):
        return [(key, value[key]) for key in sorted(value)]
    if isinstance(value, list):
        return list(enumerate(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return [(number, number) for number in range(value)]
    raise _failed(place, f"range can't iterate over {shown_value(value)}")


def _uncallable(text: str, arguments: list[Any]) -> str:
    """Why `call` fails, as it always does: no value of an object is a function (Go's text/template/funcs.go)."""
    if arguments[0] is None:
        return f"error calling {CALL}: call of nil"
    kind = shown_kind(arguments[0])
    _, _, shown = text.partition(" ")
    shown = shown[1:].partition(")")[0] if shown.startswith("(") else shown.partition(" ")[0]
    return f"error calling {CALL}: non-function {shown or f'<{kind} Value>'} of type {kind}"


def _failed(place: Place, message: str) -> TemplateError:
    line, column, text = place
    return TemplateError(f'template: output:{line}:{column}: executing "output" at <{text}>: {message}')
