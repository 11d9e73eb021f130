"""Runs an awk program on records."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress

from engine.kubelet.runtime.shell.commands.awk.functions import FUNCTIONS, formatted
from engine.kubelet.runtime.shell.commands.awk.reading import Node, Rule
from engine.kubelet.runtime.shell.commands.awk.values import Input, Unset, Value, compared, number, text, truth
from engine.kubelet.runtime.shell.commands.regex import compiled

# A program that never ends would never let go of the event loop: this many steps take it some 5 ms.
MAX_STEPS = 5_000


class NextRecord(Exception):
    pass


class Exit(Exception):
    pass


class Runner:
    def __init__(self, rules: list[Rule], variables: Mapping[str, str], out: Callable[[str], None]) -> None:
        self._rules = rules
        self._out = out
        self._fields: list[Value] = [""]
        self._variables: dict[str, Value] = {"FS": " ", "OFS": " ", "ORS": "\n", "NR": 0.0, "NF": 0.0}
        self._variables.update({name: Input(value) for name, value in variables.items()})
        self._arrays: dict[str, dict[str, Value]] = {}
        self._inside: set[int] = set()  # ranges that have begun
        self._steps = 0
        self.status = 0

    def run(self, source: Callable[[], str]) -> int:
        """`source` gives the input, which is asked for only if a rule wants it."""
        with suppress(Exit):
            self._special("BEGIN")
            if any(rule.pattern is None or rule.pattern.kind != "BEGIN" for rule in self._rules):
                for line in source().splitlines():
                    self._record(line)
        with suppress(Exit):
            self._special("END")
        return self.status

    def _special(self, kind: str) -> None:
        for rule in self._rules:
            if rule.pattern is not None and rule.pattern.kind == kind and rule.action is not None:
                self._do(rule.action)

    def _record(self, line: str) -> None:
        self._variables["NR"] = number(self._variables["NR"]) + 1
        self._split(line)
        try:
            for at, rule in enumerate(self._rules):
                if self._selects(at, rule.pattern):
                    self._do(rule.action or Node("print"))
        except NextRecord:
            pass

    def _selects(self, at: int, pattern: Node | None) -> bool:
        if pattern is None:
            return True
        if pattern.kind in ("BEGIN", "END"):
            return False
        if pattern.kind != "range":
            return truth(self._value(pattern))
        first, last = pattern.parts
        if at not in self._inside and not truth(self._value(first)):
            return False
        self._inside.add(at)
        if truth(self._value(last)):
            self._inside.discard(at)
        return True

    # -- fields

    def _split(self, line: str) -> None:
        pieces = pieces_of(line, text(self._variables["FS"]))
        self._fields = [Input(line), *(Input(piece) for piece in pieces)]
        self._variables["NF"] = float(len(pieces))

    def _field(self, at: int) -> Value:
        return self._fields[at] if at < len(self._fields) else Unset()

    def _set_field(self, at: int, value: Value) -> None:
        if at == 0:
            self._split(text(value))
            return
        self._fields += [Input()] * (at + 1 - len(self._fields))
        self._fields[at] = value
        self._join()

    def _join(self) -> None:
        self._variables["NF"] = float(len(self._fields) - 1)
        self._fields[0] = Input(text(self._variables["OFS"]).join(map(text, self._fields[1:])))

    # -- statements

    def _do(self, node: Node) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise ValueError("this program takes too long to be simulated")
        kind, parts = node.kind, node.parts
        if kind == "block":
            for part in parts:
                self._do(part)
        elif kind == "print":
            values = [text(self._value(part)) for part in parts] or [text(self._fields[0])]
            self._out(text(self._variables["OFS"]).join(values) + text(self._variables["ORS"]))
        elif kind == "printf":
            self._out(formatted([self._value(part) for part in parts]))
        elif kind == "if":
            if truth(self._value(parts[0])):
                self._do(parts[1])
            elif len(parts) > 2:
                self._do(parts[2])
        elif kind == "while":
            while truth(self._value(parts[0])):
                self._do(parts[1])
        elif kind == "each":
            for key in list(self._arrays.get(parts[1].text, {})):
                self._variables[parts[0].text] = Input(key)
                self._do(parts[2])
        else:
            self._leave_or_value(node)

    def _leave_or_value(self, node: Node) -> None:
        if node.kind == "next":
            raise NextRecord
        if node.kind == "exit":
            self.status = int(number(self._value(node.parts[0]))) & 0xFF if node.parts else self.status
            raise Exit
        if node.kind == "delete":
            target = node.parts[0]
            if target.kind == "item":
                self._arrays.get(target.text, {}).pop(self._key(target), None)
            else:
                self._arrays.pop(target.text, None)
            return
        self._value(node)

    # -- expressions

    def _value(self, node: Node) -> Value:
        return _EXPRESSIONS[node.kind](self, node)

    def _key(self, node: Node) -> str:
        return "\x1c".join(text(self._value(part)) for part in node.parts)

    def read(self, node: Node) -> Value:
        if node.kind == "field":
            return self._field(self._at(node))
        if node.kind == "item":
            return self._arrays.setdefault(node.text, {}).setdefault(self._key(node), Unset())
        return self._variables.get(node.text, Unset())

    def _at(self, node: Node) -> int:
        at = int(number(self._value(node.parts[0])))
        if at < 0:
            raise ValueError("Access to negative field")
        return at

    def write(self, node: Node, value: Value) -> Value:
        if node.kind == "field":
            self._set_field(self._at(node), value)
        elif node.kind == "item":
            self._arrays.setdefault(node.text, {})[self._key(node)] = value
        elif node.kind == "name":
            self._variables[node.text] = value
            if node.text == "NF":
                count = int(number(value))
                self._fields = self._fields[: count + 1] + [Input()] * (count + 1 - len(self._fields))
                self._join()
        else:
            raise ValueError("syntax error")
        return value

    def assign(self, node: Node) -> Value:
        return self.write(node.parts[0], self._value(node.parts[1]))

    def after(self, node: Node) -> Value:
        before = number(self.read(node.parts[0]))
        self.write(node.parts[0], before + (1 if node.text == "+" else -1))
        return before

    def binary(self, node: Node) -> Value:
        left, right = (number(self._value(part)) for part in node.parts)
        if node.text in "/%" and right == 0:
            raise ValueError("Division by zero")
        if node.text == "%":
            return left - right * int(left / right)
        if node.text == "^":
            return float(left**right)
        return (
            {"+": left + right, "-": left - right, "*": left * right}[node.text] if node.text != "/" else left / right
        )

    def pattern(self, node: Node) -> re.Pattern[str]:
        return compiled(node.text if node.kind == "regex" else text(self._value(node)), extended=True)

    def choose(self, node: Node) -> Value:
        return self._value(node.parts[1 if truth(self._value(node.parts[0])) else 2])

    def truth_of(self, node: Node) -> bool:
        return truth(self._value(node))

    def compare(self, node: Node) -> Value:
        return float(compared(self._value(node.parts[0]), node.text, self._value(node.parts[1])))

    def member(self, node: Node) -> Value:
        key = self._key(node.parts[0]) if node.parts[0].kind == "list" else text(self._value(node.parts[0]))
        return float(key in self._arrays.get(node.parts[1].text, {}))

    def concatenate(self, node: Node) -> Value:
        return "".join(text(self._value(part)) for part in node.parts)

    def call(self, node: Node) -> Value:
        name, parts = node.text, node.parts
        if name == "length":
            if parts and parts[0].kind == "name" and parts[0].text in self._arrays:
                return float(len(self._arrays[parts[0].text]))
            return float(len(text(self._value(parts[0]) if parts else self._fields[0])))
        if name in ("sub", "gsub"):
            return self._substitute(node)
        if name == "match":
            found = self.pattern(parts[1]).search(text(self._value(parts[0])))
            self._variables["RSTART"] = float(found.start() + 1 if found else 0)
            self._variables["RLENGTH"] = float(len(found[0]) if found else -1)
            return self._variables["RSTART"]
        if name == "split":
            separator = text(self._value(parts[2]) if len(parts) > 2 else self._variables["FS"])
            pieces = pieces_of(text(self._value(parts[0])), separator)
            self._arrays[parts[1].text] = {str(at): Input(piece) for at, piece in enumerate(pieces, start=1)}
            return float(len(pieces))
        return FUNCTIONS[name]([self._value(part) for part in parts])

    def _substitute(self, node: Node) -> Value:
        target = node.parts[2] if len(node.parts) > 2 else Node("field", (Node("number", (), "0"),))
        replacement = text(self._value(node.parts[1]))

        def one(match: re.Match[str]) -> str:
            return re.sub(r"\\&|&", lambda part: match[0] if part[0] == "&" else "&", replacement)

        once = 1 if node.text == "sub" else 0
        changed, count = self.pattern(node.parts[0]).subn(one, text(self.read(target)), count=once)
        if count:
            self.write(target, changed)
        return float(count)

    def record_matches(self, node: Node) -> Value:
        return float(self.pattern(node).search(text(self._fields[0])) is not None)

    def matches(self, node: Node) -> Value:
        return float(self.pattern(node.parts[1]).search(text(self._value(node.parts[0]))) is not None)


def pieces_of(line: str, separator: str) -> list[str]:
    if separator == " ":
        return line.split()
    if not line:
        return []
    if len(separator) == 1:
        return line.split(separator)
    return compiled(separator, extended=True).split(line)


_EXPRESSIONS: Mapping[str, Callable[[Runner, Node], Value]] = {
    "number": lambda runner, node: float(node.text),
    "string": lambda runner, node: node.text,
    "regex": Runner.record_matches,
    "name": Runner.read,
    "field": Runner.read,
    "item": Runner.read,
    "assign": Runner.assign,
    "after": Runner.after,
    "binary": Runner.binary,
    "compare": Runner.compare,
    "concat": Runner.concatenate,
    "choice": Runner.choose,
    "in": Runner.member,
    "matches": Runner.matches,
    "call": Runner.call,
    "group": lambda runner, node: _EXPRESSIONS[node.parts[0].kind](runner, node.parts[0]),
    "not": lambda runner, node: float(not runner.truth_of(node.parts[0])),
    "&&": lambda runner, node: float(all(runner.truth_of(part) for part in node.parts)),
    "||": lambda runner, node: float(any(runner.truth_of(part) for part in node.parts)),
}
