"""The program of an awk script as a tree (POSIX awk, grammar)."""

from __future__ import annotations

import re
from typing import NamedTuple


class Node(NamedTuple):
    """`kind` says what the parts are; expressions and statements alike."""

    kind: str
    parts: tuple[Node, ...] = ()
    text: str = ""


class Rule(NamedTuple):
    pattern: Node | None  # None: every record; BEGIN and END by their kind
    action: Node | None  # None: print the record


class Token(NamedTuple):
    kind: str  # number, string, regex, name, op, newline, end
    text: str


_TOKENS = re.compile(
    r"""(?P<blank>[ \t\r]+|\\\n|\#[^\n]*)|(?P<newline>\n)|(?P<number>\d+(?:\.\d+)?|\.\d+)|"(?P<string>(?:\\.|[^"\\])*)"
    |(?P<name>[A-Za-z_]\w*)|(?P<op>&&|\|\||\+\+|--|[-+*/%^]=|==|!=|<=|>=|!~|[-+*/%^=<>!~?:;,(){}\[\]$])""",
    re.VERBOSE,
)
_REGEX = re.compile(r"/((?:\\.|[^/\\\n])*)/")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "/": "/"}
_COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")
_ENDS_VALUE = ("number", "string", "name")
FUNCTIONS = frozenset(
    {"length", "substr", "index", "split", "sub", "gsub", "toupper", "tolower", "sprintf", "int", "match"}
)
_WORDS = frozenset({"print", "printf", "if", "else", "for", "in", "next", "exit", "BEGIN", "END", "while", "delete"})


def unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[0]), text)


def tokens(text: str) -> list[Token]:
    found: list[Token] = []
    at = 0
    while at < len(text):
        before = found[-1] if found else Token("newline", "")
        value = before.kind in _ENDS_VALUE and before.text not in _WORDS
        if text[at] == "/" and not value and before.text not in (")", "]"):
            regex = _REGEX.match(text, at)
            if regex is None:
                raise ValueError("syntax error")
            found.append(Token("regex", regex[1].replace("\\/", "/")))
            at = regex.end()
            continue
        match = _TOKENS.match(text, at)
        if match is None:
            raise ValueError("syntax error")
        at = match.end()
        if match.lastgroup == "string":
            found.append(Token("string", unescaped(match["string"])))
        elif match.lastgroup and match.lastgroup != "blank":
            found.append(Token(match.lastgroup, match[0]))
    return [*found, Token("end", "")]


class Reader:
    """Recursive descent; raises ValueError for what it does not know."""

    def __init__(self, text: str) -> None:
        self._tokens = tokens(text)
        self._at = 0

    # -- tokens

    def _sees(self, *texts: str) -> bool:
        token = self._tokens[self._at]
        return token.kind in ("op", "name") and token.text in texts

    def _take(self, *texts: str) -> bool:
        if self._sees(*texts):
            self._at += 1
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._take(text):
            raise ValueError("syntax error")

    def _skip_lines(self) -> None:
        while self._tokens[self._at].kind == "newline" or self._sees(";"):
            self._at += 1

    # -- rules and statements

    def program(self) -> list[Rule]:
        rules = []
        self._skip_lines()
        while self._tokens[self._at].kind != "end":
            pattern = None
            if self._sees("BEGIN", "END"):
                pattern = Node(self._tokens[self._at].text)
                self._at += 1
            elif not self._sees("{"):
                pattern = self._expression()
                if self._take(","):
                    pattern = Node("range", (pattern, self._expression()))
            rules.append(Rule(pattern, self._block() if self._sees("{") else None))
            self._skip_lines()
        return rules

    def _block(self) -> Node:
        self._expect("{")
        self._skip_lines()
        statements = []
        while not self._take("}"):
            statements.append(self._statement())
            self._skip_lines()
        return Node("block", tuple(statements))

    def _statement(self) -> Node:
        if self._sees("{"):
            return self._block()
        if self._take("if"):
            return self._if()
        if self._take("for"):
            return self._for()
        if self._take("while"):
            self._expect("(")
            condition = self._expression()
            self._expect(")")
            self._skip_newlines()
            return Node("while", (condition, self._statement()))
        if self._sees("print", "printf"):
            kind = self._tokens[self._at].text
            self._at += 1
            return Node(kind, self._printed())
        if self._take("next"):
            return Node("next")
        if self._take("exit"):
            return Node("exit", () if self._ended() else (self._expression(),))
        if self._take("delete"):
            return Node("delete", (self._primary(),))
        return self._expression()

    def _skip_newlines(self) -> None:
        while self._tokens[self._at].kind == "newline":
            self._at += 1

    def _ended(self) -> bool:
        return self._sees(";", "}") or self._tokens[self._at].kind in ("newline", "end")

    def _if(self) -> Node:
        self._expect("(")
        condition = self._expression()
        self._expect(")")
        self._skip_newlines()
        then = self._statement()
        mark = self._at
        self._skip_lines()
        if self._take("else"):
            self._skip_newlines()
            return Node("if", (condition, then, self._statement()))
        self._at = mark
        return Node("if", (condition, then))

    def _for(self) -> Node:
        self._expect("(")
        if self._tokens[self._at + 1].text == "in" and self._tokens[self._at + 3].text == ")":
            name, array = self._tokens[self._at].text, self._tokens[self._at + 2].text
            self._at += 4
            self._skip_newlines()
            return Node("each", (Node("name", (), name), Node("name", (), array), self._statement()))
        parts = []
        for end in (";", ";", ")"):
            parts.append(Node("block") if self._sees(end) else self._expression())
            self._expect(end)
        self._skip_newlines()
        start, condition, step = parts
        body = Node("block", (self._statement(), step))
        if condition.kind == "block":
            condition = Node("number", (), "1")
        return Node("block", (start, Node("while", (condition, body))))

    def _printed(self) -> tuple[Node, ...]:
        if self._ended():
            return ()
        values = [self._expression(printing=True)]
        while self._take(","):
            values.append(self._expression(printing=True))
        if self._sees(">"):
            raise ValueError("syntax error")
        if len(values) == 1 and values[0].kind == "list":
            return values[0].parts
        return tuple(values)

    # -- expressions, loosest first

    def _expression(self, *, printing: bool = False) -> Node:
        left = self._choice(printing=printing)
        for operator in ("=", "+=", "-=", "*=", "/=", "%="):
            if left.kind in ("name", "field", "item") and self._take(operator):
                right = self._expression(printing=printing)
                value = right if operator == "=" else Node("binary", (left, right), operator[0])
                return Node("assign", (left, value))
        return left

    def _choice(self, *, printing: bool) -> Node:
        condition = self._joined("||", printing=printing)
        if not self._take("?"):
            return condition
        yes = self._expression(printing=printing)
        self._expect(":")
        return Node("choice", (condition, yes, self._expression(printing=printing)))

    def _joined(self, operator: str, *, printing: bool) -> Node:
        def inner() -> Node:
            return self._joined("&&", printing=printing) if operator == "||" else self._member(printing=printing)

        left = inner()
        while self._take(operator):
            self._skip_newlines()
            left = Node(operator, (left, inner()))
        return left

    def _member(self, *, printing: bool) -> Node:
        left = self._matched(printing=printing)
        while self._take("in"):
            left = Node("in", (left, Node("name", (), self._name())))
        return left

    def _name(self) -> str:
        token = self._tokens[self._at]
        self._at += 1
        if token.kind != "name":
            raise ValueError("syntax error")
        return token.text

    def _matched(self, *, printing: bool) -> Node:
        left = self._compared(printing=printing)
        while self._sees("~", "!~"):
            negated = self._take("!~") or not self._take("~")
            match = Node("matches", (left, self._compared(printing=printing)))
            left = Node("not", (match,)) if negated else match
        return left

    def _compared(self, *, printing: bool) -> Node:
        left = self._concatenated()
        operators = tuple(each for each in _COMPARISONS if each != ">" or not printing)
        for operator in operators:
            if self._take(operator):
                return Node("compare", (left, self._concatenated()), operator)
        return left

    def _concatenated(self) -> Node:
        left = self._sum()
        while self._begins_value():
            left = Node("concat", (left, self._sum()))
        return left

    def _begins_value(self) -> bool:
        token = self._tokens[self._at]
        if token.kind == "name":
            return token.text not in _WORDS
        return token.kind in ("number", "string") or (
            token.kind == "op" and token.text in ("$", "(", "!", "-", "++", "--")
        )

    def _sum(self) -> Node:
        left = self._product()
        while self._sees("+", "-"):
            operator = self._tokens[self._at].text
            self._at += 1
            left = Node("binary", (left, self._product()), operator)
        return left

    def _product(self) -> Node:
        left = self._unary()
        while self._sees("*", "/", "%"):
            operator = self._tokens[self._at].text
            self._at += 1
            left = Node("binary", (left, self._unary()), operator)
        return left

    def _unary(self) -> Node:
        if self._take("!"):
            return Node("not", (self._unary(),))
        if self._take("-"):
            return Node("binary", (Node("number", (), "0"), self._unary()), "-")
        if self._take("+"):
            return Node("binary", (Node("number", (), "0"), self._unary()), "+")
        for operator, by in (("++", "+"), ("--", "-")):
            if self._take(operator):
                target = self._primary()
                return Node("assign", (target, Node("binary", (target, Node("number", (), "1")), by)))
        base = self._primary()
        if base.kind in ("name", "field", "item") and self._sees("++", "--"):
            operator = self._tokens[self._at].text[0]
            self._at += 1
            return Node("after", (base,), operator)
        if self._take("^"):
            return Node("binary", (base, self._unary()), "^")
        return base

    def _primary(self) -> Node:
        token = self._tokens[self._at]
        self._at += 1
        if token.kind in ("number", "string", "regex"):
            return Node(token.kind, (), token.text)
        if token.text == "$":
            return Node("field", (self._primary(),))
        if token.text == "(":
            values = [self._expression()]
            while self._take(","):
                values.append(self._expression())
            self._expect(")")
            return Node("group", (values[0],)) if len(values) == 1 else Node("list", tuple(values))
        if token.kind == "name" and token.text in FUNCTIONS:
            return Node("call", self._arguments() if self._sees("(") else (), token.text)
        if token.kind != "name" or token.text in _WORDS:
            raise ValueError("syntax error")
        if self._take("["):
            keys = [self._expression()]
            while self._take(","):
                keys.append(self._expression())
            self._expect("]")
            return Node("item", tuple(keys), token.text)
        return Node("name", (), token.text)

    def _arguments(self) -> tuple[Node, ...]:
        self._expect("(")
        values: list[Node] = []
        while not self._take(")"):
            if values:
                self._expect(",")
            values.append(self._expression())
        return tuple(values)
