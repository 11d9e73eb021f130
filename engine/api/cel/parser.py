"""From words to a tree (cel-go parser/parser.go, gen/CEL.g4).

What is wrong with an expression that is none is told by the CEL runtime's own parser (`grammar`): its words are those
of ANTLR, from the same grammar as cel-go's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from engine.api.cel.grammar import TOO_DEEP, TOO_HIGH, what_is_wrong
from engine.api.cel.macros import MacroError, Macros, expanded
from engine.api.cel.syntax import CompileError, Issue, Node, Source
from engine.api.cel.tokens import NoToken, Token, tokens
from engine.api.cel.values import MAX_INT, MAX_UINT, UInt

RESERVED = frozenset(
    ("as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package",
     "namespace", "return", "var", "void", "while")
)  # fmt: skip
_RELATIONS = {
    "==": "_==_", "!=": "_!=_", "<": "_<_", "<=": "_<=_", ">": "_>_", ">=": "_>=_", "in": "@in"
}  # fmt: skip
_ARITHMETIC = {
    "*": ("_*_", 2),
    "/": ("_/_", 2),
    "%": ("_%_", 2),
    "+": ("_+_", 1),
    "-": ("_-_", 1),
}  # and what binds closer
_MACROS = Macros()
_MOST_NESTED = 250  # rules of one kind within each other, or nodes of a tree above each other


class _Broken(Exception):
    """The words make no expression."""


class _TooDeep(Exception):
    """The words make an expression that is nested too deep."""


def parse(text: str, macros: Macros = _MACROS) -> Node:
    """Raises CompileError."""
    source = Source(text)
    parser = _Parser(macros)
    try:
        parser.tokens = tokens(text)
        root = parser.expression()
        parser.take("end")
        if parser.height > _MOST_NESTED:
            raise CompileError(TOO_HIGH)
    except (_TooDeep, RecursionError):
        raise CompileError(TOO_DEEP) from None
    except (_Broken, NoToken):
        raise CompileError(what_is_wrong(text)) from None
    if parser.issues:
        raise CompileError(source.shown(parser.issues))
    return root


class _Parser:
    def __init__(self, macros: Macros) -> None:
        self.tokens: list[Token] = []
        self.macros = macros
        self.place = 0
        self.depths = dict.fromkeys(("expr", "relation", "calc", "member"), 0)
        # Of what was read last: how many choices, operators, fields, calls on something and indices are within each
        # other. That counts as the tree is made, and the rules that are begun within each other before that.
        self.height = 0
        self.issues: list[Issue] = []

    # -- words

    def peek(self) -> Token:
        return self.tokens[self.place]

    def next(self) -> Token:
        token = self.tokens[self.place]
        self.place += 1
        return token

    def skip(self, kind: str) -> Token | None:
        return self.next() if self.peek().kind == kind else None

    def take(self, kind: str) -> Token:
        if self.peek().kind != kind:
            raise _Broken
        return self.next()

    def issue(self, offset: int, text: str) -> Node:
        self.issues.append(Issue(offset, text))
        return Node("const", offset)

    # -- expressions, from the loosest bond to the closest

    @contextmanager
    def _within(self, rule: str) -> Iterator[None]:
        """A rule of the grammar begins. One that takes what it has read so far as its own first part, as chains of
        operators do, is no deeper for it: ANTLR ends a rule before it begins the next."""
        self.depths[rule] += 1
        if self.depths[rule] > _MOST_NESTED:
            raise _TooDeep
        yield
        self.depths[rule] -= 1

    def _above(self, *heights: int) -> None:
        """What was read is a node above others."""
        self.height = 1 + max(heights)

    def expression(self) -> Node:
        with self._within("expr"):
            return self._conditional()

    def _conditional(self) -> Node:
        condition = self.either()
        mark = self.skip("?")
        if mark is not None:
            first = self.height
            yes = self.either()
            second = self.height
            self.take(":")
            condition = _call("_?_:_", mark.offset, condition, yes, self.expression())
            self._above(first, second, self.height)
        return condition

    def either(self) -> Node:
        return self._balanced(self.both, "||", "_||_")

    def both(self) -> Node:
        return self._balanced(self.relation, "&&", "_&&_")

    def relation(self) -> Node:
        with self._within("relation"):
            left = self.calc(1)
            while self.peek().kind in _RELATIONS:
                token, height = self.next(), self.height
                with self._within("relation"):
                    left = _call(_RELATIONS[token.kind], token.offset, left, self.calc(1))
                self._above(height, self.height)
        return left

    def calc(self, least: int) -> Node:
        """Of operators that bind at least as closely."""
        with self._within("calc"):
            left = self.unary()
            while (found := _ARITHMETIC.get(self.peek().kind)) is not None and found[1] >= least:
                token, height = self.next(), self.height
                left = _call(found[0], token.offset, left, self.calc(found[1] + 1))
                self._above(height, self.height)
        return left

    def _balanced(self, below: Callable[[], Node], operator: str, function: str) -> Node:
        """A tree that is as deep as it must be, so that there may be many terms."""
        terms, places = [below()], []
        while (token := self.skip(operator)) is not None:
            places.append(token.offset)
            height = self.height
            terms.append(below())
            self.height = max(height, self.height)

        def tree(first: int, last: int) -> Node:
            middle = (first + last + 1) // 2
            left = terms[middle] if middle == first else tree(first, middle - 1)
            right = terms[middle + 1] if middle == last else tree(middle + 1, last)
            return _call(function, places[middle], left, right)

        return tree(0, len(places) - 1) if places else terms[0]

    def unary(self) -> Node:
        first = self.peek()
        if first.kind == "-" and self.tokens[self.place + 1].kind in ("int", "float"):
            return self.member()
        if first.kind not in ("!", "-"):
            return self.member()
        count = 0
        while self.skip(first.kind) is not None:
            count += 1
        inner = self.member()
        if count % 2 == 0:
            return inner
        return _call("!_" if first.kind == "!" else "-_", first.offset, inner)

    # -- members

    def member(self) -> Node:
        with self._within("member"):
            made = self.primary()
            while self.peek().kind in (".", "["):
                height, self.height = self.height, 0
                made = self._index(made) if self.peek().kind == "[" else self._select(made)
                self._above(height, self.height)
        return made

    def _index(self, owner: Node) -> Node:
        bracket = self.take("[")
        optional = self.skip("?") is not None
        index = self.expression()
        self.take("]")
        return _call("_[?_]" if optional else "_[_]", bracket.offset, owner, index)

    def _select(self, owner: Node) -> Node:
        dot = self.take(".")
        optional = self.skip("?") is not None
        token = self.peek()
        name = self._field_name()
        if optional:
            return _call("_?._", dot.offset, owner, Node("const", token.offset, value=name))
        bracket = self.skip("(") if token.kind == "ident" else None
        if bracket is None:
            return Node("select", dot.offset, name, target=owner)
        return self._called(name, bracket, self._arguments(), owner)

    def _field_name(self) -> str:
        token = self.next()
        if token.kind not in ("ident", "quoted"):
            raise _Broken
        return token.text

    def _arguments(self) -> list[Node]:
        made: list[Node] = []
        if self.skip(")") is not None:
            return made
        made.append(self._part())
        while self.skip(",") is not None:
            made.append(self._part())
        self.take(")")
        return made

    def _part(self) -> Node:
        """One of several expressions beside each other, of which the highest counts."""
        before, self.height = self.height, 0
        made = self.expression()
        self.height = max(before, self.height)
        return made

    def _called(self, name: str, bracket: Token, args: list[Node], target: Node | None) -> Node:
        try:
            macro = expanded(name, bracket.offset, target, args, self.macros)
        except MacroError as error:
            return self.issue(error.offset, str(error))
        return macro or Node("call", bracket.offset, name, target=target, args=args)

    # -- primaries

    def primary(self) -> Node:
        self.height = 0
        token = self.peek()
        match token.kind:
            case "ident" | ".":
                return self._identifier()
            case "(":
                self.next()
                made = self.expression()
                self.take(")")
                return made
            case "[":
                return self._list()
            case "{":
                return self._map()
        return self._literal(self.next())

    def _identifier(self) -> Node:
        rooted = self.skip(".") is not None
        token = self.take("ident")
        name = f".{token.text}" if rooted else token.text
        bracket = self.skip("(")
        if bracket is not None:
            return self._called(name, bracket, self._arguments(), None)
        offset, place = token.offset, self.place
        path = [name]
        while self.peek().kind == "." and self.tokens[self.place + 1].kind == "ident":
            self.next()
            path.append(self.next().text)
        if self.peek().kind == "{" and all(each.lstrip(".") not in RESERVED for each in path):
            return self._struct(".".join(path))
        self.place = place
        if token.text in RESERVED:
            return self.issue(offset, f"reserved identifier: {token.text}")
        return Node("ident", offset, name)

    def _struct(self, name: str) -> Node:
        brace = self.take("{")
        made = Node("struct", brace.offset, name)
        optional = set()
        while self.skip("}") is None:
            if self.skip("?") is not None:
                optional.add(len(made.args))
            token = self.peek()
            made.keys.append((self._field_name(), token.offset))
            colon = self.take(":")
            made.args.append(self._part())
            made.keys[-1] = (made.keys[-1][0], colon.offset)
            if self.skip(",") is None and self.peek().kind != "}":
                raise _Broken
        made.optional = frozenset(optional)
        return made

    def _list(self) -> Node:
        made = Node("list", self.take("[").offset)
        optional = set()
        while self.skip("]") is None:
            if self.skip("?") is not None:
                optional.add(len(made.args))
            made.args.append(self._part())
            if self.skip(",") is None and self.peek().kind != "]":
                raise _Broken
        made.optional = frozenset(optional)
        return made

    def _map(self) -> Node:
        made = Node("map", self.take("{").offset)
        optional = set()
        while self.skip("}") is None:
            if self.skip("?") is not None:
                optional.add(len(made.args))
            made.keys.append(self._part())
            self.take(":")
            made.args.append(self._part())
            if self.skip(",") is None and self.peek().kind != "}":
                raise _Broken
        made.optional = frozenset(optional)
        return made

    def _literal(self, token: Token) -> Node:
        sign = token if token.kind == "-" else None
        if sign is not None:
            token = self.next()
            if token.kind not in ("int", "float"):
                raise _Broken
        offset = sign.offset if sign is not None else token.offset
        match token.kind:
            case "true" | "false":
                return Node("const", offset, value=token.kind == "true")
            case "null":
                return Node("const", offset)
            case "int" | "float":
                value = -token.value if sign is not None else token.value
                if token.kind == "int" and not -MAX_INT - 1 <= value <= MAX_INT:
                    return self.issue(offset, "invalid int literal")
                if token.kind == "float" and math.isinf(value):
                    return self.issue(offset, "invalid double literal")
                return Node("const", offset, value=value)
            case "uint":
                if token.value > MAX_UINT:
                    return self.issue(offset, "invalid uint literal")
                return Node("const", offset, value=UInt(token.value))
            case "string" | "bytes":
                if token.value is None:
                    return self.issue(offset, "invalid unicode code point")
                return Node("const", offset, value=token.value)
        raise _Broken


def _call(name: str, offset: int, *args: Node) -> Node:
    return Node("call", offset, name, args=list(args))
