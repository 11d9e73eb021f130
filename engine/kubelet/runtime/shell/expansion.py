"""Parameter, arithmetic and pathname rules that need no running shell (Shell Command Language, 2.6)."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Callable, Mapping

from engine.kubelet.runtime.shell.lexer import ShellSyntaxError

_TOKEN = re.compile(r"\s*(\d+|[A-Za-z_][A-Za-z0-9_]*|\$\{?[A-Za-z_][A-Za-z0-9_]*\}?|&&|\|\||[<>=!]=|<<|>>|.)")
_BINARY: tuple[Mapping[str, Callable[[int, int], int]], ...] = (
    {"||": lambda a, b: int(bool(a or b))},
    {"&&": lambda a, b: int(bool(a and b))},
    {"|": lambda a, b: a | b},
    {"^": lambda a, b: a ^ b},
    {"&": lambda a, b: a & b},
    {"==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b)},
    {
        "<": lambda a, b: int(a < b),
        ">": lambda a, b: int(a > b),
        "<=": lambda a, b: int(a <= b),
        ">=": lambda a, b: int(a >= b),
    },
    {"<<": lambda a, b: a << min(b, 63), ">>": lambda a, b: a >> b},
    {"+": lambda a, b: a + b, "-": lambda a, b: a - b},
    {"*": lambda a, b: a * b, "/": lambda a, b: _divide(a, b), "%": lambda a, b: a - b * _divide(a, b)},
)


def _divide(left: int, right: int) -> int:
    if right == 0:
        raise ShellSyntaxError("divide by zero")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


class Arithmetic:
    """`$(( ... ))`: integers, variables, assignment and C's operators."""

    def __init__(self, text: str, variables: dict[str, str]) -> None:
        self._tokens = [match[1] for match in _TOKEN.finditer(text) if match[1].strip()]
        self._at = 0
        self._variables = variables

    def value(self) -> int:
        if not self._tokens:
            return 0
        result = self._assignment()
        if self._at != len(self._tokens):
            raise ShellSyntaxError("arithmetic syntax error")
        return result

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _assignment(self) -> int:
        name, operator = self._peek(), self._peek(1)
        if (name[:1].isalpha() or name[:1] == "_") and operator == "=":
            self._at += 2
            value = self._assignment()
        elif (name[:1].isalpha() or name[:1] == "_") and operator in "+-*/%" and operator and self._peek(2) == "=":
            self._at += 3
            value = _BINARY[8 if operator in "+-" else 9][operator](self._variable(name), self._assignment())
        else:
            return self._ternary()
        self._variables[name] = str(value)
        return value

    def _ternary(self) -> int:
        condition = self._binary(0)
        if self._peek() != "?":
            return condition
        self._take()
        yes = self._assignment()
        if self._take() != ":":
            raise ShellSyntaxError("arithmetic syntax error")
        no = self._assignment()
        return yes if condition else no

    def _binary(self, level: int) -> int:
        if level == len(_BINARY):
            return self._unary()
        left = self._binary(level + 1)
        while self._peek() in _BINARY[level]:
            left = _BINARY[level][self._take()](left, self._binary(level + 1))
        return left

    def _unary(self) -> int:
        token = self._take()
        if token == "-":
            return -self._unary()
        if token == "+":
            return self._unary()
        if token == "!":
            return int(not self._unary())
        if token == "~":
            return ~self._unary()
        if token == "(":
            value = self._assignment()
            if self._take() != ")":
                raise ShellSyntaxError("arithmetic syntax error")
            return value
        if token.isdigit():
            return int(token)
        name = token.strip("${}")
        if not name or not (name[0].isalpha() or name[0] == "_"):
            raise ShellSyntaxError("arithmetic syntax error")
        return self._variable(name)

    def _variable(self, name: str) -> int:
        try:
            return int(self._variables.get(name) or 0)
        except ValueError:
            raise ShellSyntaxError("arithmetic syntax error") from None


def apply_operator(operator: str, value: str | None, argument: str) -> str:
    """`${name OPERATOR argument}` for the operators that change nothing (`:=` and `:?` are the interpreter's)."""
    if operator == "len":
        return str(len(value or ""))
    if operator in (":-", ":="):
        return value or argument
    if operator in ("-", "="):
        return argument if value is None else value
    if operator == ":+":
        return argument if value else ""
    if operator == "+":
        return "" if value is None else argument
    if operator in ("#", "##", "%", "%%"):
        return _trim(operator, value or "", argument)
    return value or ""


def _trim(operator: str, value: str, pattern: str) -> str:
    sizes = range(len(value) + 1) if len(operator) == 1 else range(len(value), -1, -1)
    for size in sizes:
        piece = value[:size] if operator[0] == "#" else value[len(value) - size :]
        if fnmatch.fnmatchcase(piece, pattern):
            return value[size:] if operator[0] == "#" else value[: len(value) - size]
    return value


def glob(pattern: str, names_in: Callable[[str], list[str]], *, directory: str) -> list[str]:
    """What a pattern matches, sorted; nothing leaves the pattern as it stands. `names_in` tells what is in a directory;
    names that begin with a dot are matched by a dot alone."""
    found = [""] if pattern.startswith("/") else [directory.rstrip("/")]
    for part in pattern.strip("/").split("/"):
        if part in (".", ".."):
            found = [f"{above}/{part}" for above in found]
            continue
        found = [
            f"{above}/{name}"
            for above in found
            for name in names_in(posixpath.normpath(above or "/"))
            if fnmatch.fnmatchcase(name, part) and (part.startswith(".") or not name.startswith("."))
        ]
    if not pattern.startswith("/"):
        found = [path[len(directory.rstrip("/")) + 1 :] for path in found]
    return sorted(found) or [pattern]
