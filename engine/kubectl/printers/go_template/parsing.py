"""A template's text as a tree.

Source of the behaviour: Go's text/template/parse (lex.go, parse.go).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any


class ParseError(Exception):
    """What is wrong with a template, and in which line."""


class TemplateInt(int):
    """A whole number of the template's own: an int, where those of objects are int64."""


@dataclass(slots=True)
class Text:
    text: str


@dataclass(slots=True)
class Constant:
    value: Any
    place: tuple[int, int, str]


@dataclass(slots=True)
class Chain:
    """Fields of the dot, of a variable or of another pipeline: `.a.b`, `$x.a`, `(...).a`."""

    start: Any  # None for the dot, a variable's name, or a Pipeline
    fields: list[str]
    place: tuple[int, int, str]


@dataclass(slots=True)
class Call:
    """A function with its arguments; or one operand alone, `name` then being ""."""

    name: str
    arguments: list[Any]
    place: tuple[int, int, str]


@dataclass(slots=True)
class Pipeline:
    commands: list[Call]
    variables: list[str] = field(default_factory=list)
    assigns: bool = False


@dataclass(slots=True)
class Branch:
    """`if`, `with` or `range`; or a `template` to call by name."""

    kind: str
    pipeline: Pipeline | None
    body: list[Any] = field(default_factory=list)
    otherwise: list[Any] = field(default_factory=list)
    name: str = ""
    place: tuple[int, int, str] = (1, 0, "")  # of a template's name


@dataclass(slots=True)
class Jump:
    kind: str  # break or continue


_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
      | (?P<string>"(?:\\.|[^"\\\n])*"|`[^`]*`)
      | (?P<char>'(?:\\.|[^'\\\n])+')
      | (?P<number>[+-]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|\d[\d_]*(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+))
      | (?P<variable>\$\w*)
      | (?P<field>\.\w+)
      | (?P<dot>\.)
      | (?P<word>\w+)
      | (?P<sign>:=|=|\||,|\(|\))""",
    re.VERBOSE,
)
_ACTION = re.compile(r"\{\{(-\s)?")
_NAMES = ("variable", "field", "dot", "word")
_TERMINATORS = " \t\r\n.,|:)("  # what may follow a name


def parse(text: str, functions: Collection[str]) -> tuple[list[Any], dict[str, list[Any]]]:
    """The tree and the named templates that it defines. Raises ParseError."""
    return _Parser(text, functions).parse()


def _place(before: list[tuple[str, str, int]]) -> str:
    """Where something stands that comes after these tokens, in Go's words."""
    words = [text for kind, text, _ in before if kind != "space"]
    if not words or words[-1] == "|":
        return "command"
    return words[0] if len(words) == 1 and words[0] in ("if", "with", "range") else "operand"


def _is_empty(nodes: list[Any]) -> bool:
    return all(isinstance(node, Text) and not node.text.strip() for node in nodes)


class _Parser:
    def __init__(self, text: str, functions: Collection[str]) -> None:
        self._text = text
        self._functions = functions
        self._templates: dict[str, list[Any]] = {}
        self._variables = ["$"]

    def parse(self) -> tuple[list[Any], dict[str, list[Any]]]:
        root: list[Any] = []
        stack: list[tuple[Branch | None, list[Any], int]] = [(None, root, 0)]
        position, trim = 0, False
        while position < len(self._text):
            match = _ACTION.search(self._text, position)
            literal = self._text[position : match.start() if match else len(self._text)]
            literal = literal.lstrip(" \t\r\n") if trim else literal
            literal = literal.rstrip(" \t\r\n") if match and match[1] else literal
            if literal:
                stack[-1][1].append(Text(literal))
            if match is None:
                break
            action, position, trim = self._action(match.end())
            if not action.startswith("/*"):
                self._do(action, match.end(), stack)
        if len(stack) > 1:
            raise self._error("unexpected EOF", len(self._text))
        return root, self._templates

    def _action(self, start: int) -> tuple[str, int, bool]:
        """The text of an action, where it ends, and whether space after it goes."""
        if self._text.startswith("/*", start):
            return self._comment(start)
        position = start
        while not re.compile(r"(?:(?<=\s)-)?\}\}").match(self._text, position):
            if quoted := re.compile(r'"(?:\\.|[^"\\\n])*"|`[^`]*`').match(self._text, position):
                position = quoted.end()
            else:
                position += 1
            if position >= len(self._text):
                raise self._unclosed(start)
        trim = self._text[position] == "-"
        return self._text[start:position], position + (3 if trim else 2), trim

    def _unclosed(self, start: int) -> ParseError:
        """Of an action without an end: a brace alone is looked at like any other letter that does not belong there."""
        brace = re.compile(r"""(?:"(?:\\.|[^"\\\n])*"|`[^`]*`|[^}"`])*\}""").match(self._text, start)
        if brace is not None:
            self._tokens(self._text[start : brace.end()], start)
        return self._error("unclosed action", start)

    def _comment(self, start: int) -> tuple[str, int, bool]:
        """As `_action`, for a comment, which stands alone between the delimiters (text/template/parse, lexComment)."""
        end = self._text.find("*/", start + 2)
        if end < 0:
            raise self._error("unclosed comment", start)
        closed = re.compile(r"(\s-)?\}\}").match(self._text, end + 2)
        if closed is None:
            raise self._error("comment ends before closing delimiter", start)
        return self._text[start:end], closed.end(), closed[1] is not None

    def _do(self, action: str, start: int, stack: list[tuple[Branch | None, list[Any], int]]) -> None:
        """Add one action to the innermost body."""
        tokens = self._tokens(action, start)
        word = tokens[0][1] if tokens and tokens[0][0] == "word" else ""
        branch, body, depth = stack[-1]
        if word in ("if", "with", "range"):
            known = len(self._variables)
            opened = Branch(word, self._pipeline(tokens[1:], start, word=word))
            body.append(opened)
            stack.append((opened, opened.body, known))
        elif word in ("define", "block"):
            if word == "define" and len(stack) > 1:
                raise self._error("unexpected <define> in command", start)
            name, rest = self._template_name(tokens, start)
            if word == "define" and rest:
                raise self._error(f"unexpected {json.dumps(rest[0][1])} in define clause", start)
            opened = Branch(word, None, name=name)
            if word == "block":
                body.append(Branch("template", self._pipeline(rest, start, word="block clause"), name=name))
            stack.append((opened, opened.body, len(self._variables)))
        elif word == "template":
            name, rest = self._template_name(tokens, start)
            called = self._pipeline(rest, start, word="template clause") if rest else None
            line, column, _ = self._place(tokens[1][2], tokens[1][2] + 1)
            body.append(Branch("template", called, name=name, place=(line, column, f"{{{{{action.strip()}}}}}")))
        elif word == "else":
            if branch is None:
                raise self._error("unexpected {{else}}", start)
            stack[-1] = (branch, branch.otherwise, depth)
            if len(tokens) > 1:  # else if
                nested = Branch(tokens[1][1], self._pipeline(tokens[2:], start, word=tokens[1][1]))
                branch.otherwise.append(nested)
                stack[-1] = (branch, nested.body, depth)
                stack[-1] = (nested, nested.body, depth)
        elif word == "end":
            if branch is None:
                raise self._error("unexpected {{end}}", start)
            del self._variables[depth:]
            stack.pop()
            if branch.kind in ("define", "block"):
                self._define(branch, start)
        elif word in ("break", "continue"):
            if not any(opened is not None and opened.kind == "range" for opened, _, _ in stack):
                raise self._error(f"{{{{{word}}}}} outside {{{{range}}}}", start)
            body.append(Jump(word))
        else:
            body.append(self._pipeline(tokens, start))

    def _template_name(self, tokens: list[tuple[str, str, int]], start: int) -> tuple[str, list[tuple[str, str, int]]]:
        """The name that an action begins with, and what follows."""
        rest = [token for token in tokens[1:] if token[0] != "space"]
        if not rest or rest[0][0] != "string":
            found = rest[0][1] if rest else "}}"
            raise self._error(f"unexpected {json.dumps(found)} in {tokens[0][1]} clause", start)
        return str(self._constant("string", rest[0][1], start)), rest[1:]

    def _define(self, branch: Branch, start: int) -> None:
        """Of two that have one name, the one that is not empty counts."""
        if not _is_empty(branch.body) and not _is_empty(self._templates.get(branch.name, [])):
            raise self._error(f'template: multiple definition of template "{branch.name}"', start)
        if branch.name not in self._templates or not _is_empty(branch.body):
            self._templates[branch.name] = branch.body

    def _tokens(self, action: str, start: int) -> list[tuple[str, str, int]]:
        tokens: list[tuple[str, str, int]] = []
        position = 0
        while position < len(action):
            match = _TOKEN.match(action, position)
            if match is None:
                if action[position] == "'":
                    raise self._error("unterminated character constant", start + position)
                if action[position] in '"`':
                    kind = "quoted" if action[position] == '"' else "raw quoted"
                    raise self._error(f"unterminated {kind} string", start)
                if sign := re.compile(r"[+-]\w?").match(action, position):
                    kind = "bad" if sign.end() > position + 1 else "illegal"
                    raise self._error(f"{kind} number syntax: {json.dumps(sign[0])}", start)
                raise self._error(f"unexpected {json.dumps(action[position])} in {_place(tokens)}", start)
            tokens.append((str(match.lastgroup), match[0], start + position))
            position = match.end()
            if match.lastgroup in _NAMES and position < len(action) and action[position] not in _TERMINATORS:
                letter = action[position]
                raise self._error(f"bad character U+{ord(letter):04X} '{letter}'", start)
        while tokens and tokens[-1][0] == "space":
            tokens.pop()
        while tokens and tokens[0][0] == "space":
            tokens.pop(0)
        return [t for i, t in enumerate(tokens) if t[0] != "space" or (i and tokens[i + 1][0] in ("field", "dot"))]

    # -- pipelines

    def _pipeline(self, tokens: list[tuple[str, str, int]], start: int, *, word: str = "") -> Pipeline:
        tokens = tokens[1:] if tokens and tokens[0][0] == "space" else tokens
        pipeline = Pipeline([])
        signs = [t[1] for t in tokens[:5] if t[0] != "space"]
        for sign in (":=", "="):
            if tokens and tokens[0][0] == "variable" and sign in signs[:4]:
                until = next(i for i, t in enumerate(tokens) if t[1] == sign)
                pipeline.variables = [t[1] for t in tokens[:until] if t[0] == "variable"]
                pipeline.assigns = sign == "="
                tokens = tokens[until + 1 :]
                tokens = tokens[1:] if tokens and tokens[0][0] == "space" else tokens
                break
        if tokens and tokens[0][1] == "|":
            raise self._error(f'unexpected "|" in {word or "command"}', start)
        rest = self._commands(pipeline, tokens, start)
        if rest:
            raise self._error(f"unexpected {json.dumps(rest[0][1])} in {word or 'command'}", start)
        if not pipeline.commands:
            raise self._error(f"missing value for {word or 'command'}", start)
        self._variables += pipeline.variables
        return pipeline

    def _commands(
        self, pipeline: Pipeline, tokens: list[tuple[str, str, int]], start: int
    ) -> list[tuple[str, str, int]]:
        operands: list[Any] = []
        first = tokens[0][2] if tokens else start
        while tokens and tokens[0][1] != ")":
            if tokens[0][0] == "space":
                tokens = tokens[1:]
                continue
            if tokens[0][1] == "|":
                self._finish(pipeline, operands, first, tokens[0][2])
                operands, tokens = [], tokens[1:]
                first = tokens[0][2] if tokens else start
                continue
            operand, tokens = self._operand(tokens, start)
            operands.append(operand)
        if operands:
            self._finish(pipeline, operands, first, tokens[0][2] if tokens else 0)
        return tokens

    def _finish(self, pipeline: Pipeline, operands: list[Any], first: int, end: int) -> None:
        head = operands[0] if operands else None
        if isinstance(head, str):
            pipeline.commands.append(Call(head, operands[1:], self._place(first, end)))
        else:
            pipeline.commands.append(Call("", operands, self._place(first, end)))

    def _operand(self, tokens: list[tuple[str, str, int]], start: int) -> tuple[Any, list[tuple[str, str, int]]]:
        """One operand: a constant, a chain of fields, or a function's name as a str."""
        kind, text, at = tokens[0]
        if text == "(":
            inner = Pipeline([])
            rest = self._commands(inner, tokens[1:], start)
            if not rest:
                raise self._error("unclosed left paren", start)
            return self._chain(inner, rest[1:], at)
        if kind == "variable":
            if text not in self._variables:
                raise self._error(f'undefined variable "{text}"', at)
            return self._chain(text, tokens[1:], at)
        if kind == "field":
            return self._chain(None, tokens, at)
        if kind == "dot":
            return Chain(None, [], self._place(at, at + 1)), tokens[1:]
        if kind == "word":
            if text in ("true", "false", "nil"):
                value = {"true": True, "false": False, "nil": None}[text]
                return Constant(value, self._place(at, at + len(text))), tokens[1:]
            if text not in self._functions:
                raise self._error(f'function "{text}" not defined', at)
            return text, tokens[1:]
        return Constant(self._constant(kind, text, start), self._place(at, at + len(text))), tokens[1:]

    def _chain(
        self, head: Any, tokens: list[tuple[str, str, int]], at: int
    ) -> tuple[Chain, list[tuple[str, str, int]]]:
        fields: list[str] = []
        end = at + (len(head) if isinstance(head, str) else 0)
        starts = [at]  # Go reports a chain where its second part begins
        while tokens and tokens[0][0] == "field":
            end = tokens[0][2] + len(tokens[0][1])
            starts += [tokens[0][2]] if fields or head is not None else []
            fields.append(tokens[0][1][1:])
            tokens = tokens[1:]
        line, _, text = self._place(at, end)
        return Chain(head, fields, (line, self._place(starts[:2][-1], end)[1], text)), tokens

    def _constant(self, kind: str, text: str, start: int) -> Any:
        if kind == "string":
            return text[1:-1] if text[0] == "`" else json.loads(text.replace("\\'", "'"))
        if kind == "char":
            return ord(json.loads('"' + text[1:-1].replace('"', '\\"') + '"'))
        if kind == "number":
            digits = text.replace("_", "")
            is_float = not digits.lower().startswith("0x") and re.search(r"[.eE]", digits)
            return float(digits) if is_float else TemplateInt(int(digits, 0))
        raise self._error(f"unexpected {json.dumps(text)} in operand", start)

    # -- places

    def _place(self, start: int, end: int) -> tuple[int, int, str]:
        """Line, column and the text there."""
        line = self._text.count("\n", 0, start) + 1
        column = start - (self._text.rfind("\n", 0, start) + 1)
        stop = end if end > start else self._text.find("}}", start)
        return line, column, re.sub(r"\s+-?$", "", self._text[start:stop]).strip()

    def _error(self, message: str, position: int) -> ParseError:
        return ParseError(f"template: output:{self._text.count(chr(10), 0, position) + 1}: {message}")
