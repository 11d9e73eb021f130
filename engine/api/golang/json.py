"""JSON as Go's encoding/json writes it, and where it is broken, in the words of its scanner (scanner.go): clients see
both in answers.

Go's decoder reads byte by byte and names the first byte that cannot go on, and what it expected there.
"""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

_SPACE = " \t\r\n"
_LITERALS = {"t": "true", "f": "false", "n": "null"}
_ESCAPES = '"\\/bfnrt'
_ESCAPED = [(each.encode(), f"\\u{ord(each):04x}".encode()) for each in "&<>\u2028\u2029"]
_ESCAPED_LETTERS = {ord(each): f"\\u{ord(each):04x}" for each in "&<>\u2028\u2029"}
_CLOSING = {"{": "}", "[": "]"}
_BEGINNING = "looking for beginning of value"
_AFTER = {"}": "after object key:value pair", "]": "after array element"}
_DEEPEST = 10_000  # maxNestingDepth
_END = "unexpected end of JSON input"
_NUMBER_STATES = {
    "in numeric literal": re.compile(r"-?"),
    "after decimal point in numeric literal": re.compile(r"-?(0|[1-9][0-9]*)\."),
    "in exponent of numeric literal": re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?[eE][+-]?"),
}


def written(value: Any) -> str:
    """Keys are sorted, as those of a map, and what HTML gives a meaning to is escaped."""
    return escaped(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).decode()


def written_in_order(value: Any) -> str:
    """As a struct is written, whose fields come as they are."""
    return escaped(orjson.dumps(value)).decode()


def escaped(encoded: bytes) -> bytes:
    """JSON with escapes for what HTML gives a meaning to, and for what ends a line in JavaScript: only within texts is
    there any of it."""
    for character, escape in _ESCAPED:
        encoded = encoded.replace(character, escape)
    return encoded


def escaped_text(text: str) -> str:
    """As `escaped`, of JSON that is a text yet."""
    return text.translate(_ESCAPED_LETTERS)


def syntax_error(data: bytes | str) -> str:
    """What is wrong with a text that is no JSON; empty for one that is."""
    encoded = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    text = encoded.decode("latin-1")  # Go's scanner looks at single bytes, and shows them as characters
    scanner = _Scanner(text)
    try:
        scanner.document()
    except _Broken as broken:
        return str(broken)
    return ""


def first_value(data: bytes) -> Any:
    """The value that a stream begins with, as json.Decoder reads it: what comes after is not looked at. Raises
    ValueError, in its words."""
    scanner = _Scanner(data.decode("latin-1"))
    try:
        end = scanner.value()
    except _Broken as broken:
        if str(broken) != _END:
            raise ValueError(str(broken)) from None
        raise ValueError("unexpected EOF" if data.strip(_SPACE.encode()) else "EOF") from None
    return json.loads(data[:end].decode(errors="replace"))


class _Broken(Exception):
    pass


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def value(self) -> int:
        """Where the first value ends."""
        self._value(_BEGINNING)
        return self._at

    def document(self) -> None:
        self.value()
        self._space()
        if self._at < len(self._text):
            self._refuse("after top-level value")

    def _space(self) -> None:
        while self._at < len(self._text) and self._text[self._at] in _SPACE:
            self._at += 1

    def _peek(self) -> str:
        if self._at >= len(self._text):
            raise _Broken(_END)
        return self._text[self._at]

    def _refuse(self, context: str) -> None:
        raise _Broken(f"invalid character {_quoted(self._peek())} {context}")

    def _value(self, context: str) -> None:
        """One value, whatever is in it: what is open is kept in a list, since Go goes deeper than Python can call."""
        opened: list[str] = []
        while True:
            self._space()
            if self._peek() not in _CLOSING:
                self._scalar(context)
            elif not self._opens(opened):
                context = _BEGINNING
                continue
            while opened and not self._goes_on(opened[-1], _AFTER[opened[-1]]):
                opened.pop()
            if not opened:
                return
            if opened[-1] == "}":
                self._key()
            context = _BEGINNING

    def _opens(self, opened: list[str]) -> bool:
        """An object or array begins; says whether it is over already. Go's limit counts empty ones too."""
        closing = _CLOSING[self._peek()]
        if len(opened) >= _DEEPEST:
            self._refuse("exceeded max depth")
        self._at += 1
        self._space()
        if self._peek() == closing:
            self._at += 1
            return True
        opened.append(closing)
        if closing == "}":
            self._key()
        return False

    def _scalar(self, context: str) -> None:
        first = self._peek()
        if first == '"':
            self._string()
        elif first in "-0123456789":
            self._number()
        elif first in _LITERALS:
            self._literal(_LITERALS[first])
        else:
            self._refuse(context)

    def _key(self) -> None:
        self._space()
        if self._peek() != '"':
            self._refuse("looking for beginning of object key string")
        self._string()
        self._space()
        if self._peek() != ":":
            self._refuse("after object key")
        self._at += 1

    def _goes_on(self, end: str, context: str) -> bool:
        """Whether a comma follows; otherwise the end does."""
        self._space()
        found = self._peek()
        if found not in (",", end):
            self._refuse(context)
        self._at += 1
        return found == ","

    def _string(self) -> None:
        self._at += 1
        while (found := self._peek()) != '"':
            if found < " ":
                self._refuse("in string literal")
            self._at += 1
            if found == "\\":
                self._escape()
        self._at += 1

    def _escape(self) -> None:
        found = self._peek()
        if found != "u":
            if found not in _ESCAPES:
                self._refuse("in string escape code")
            self._at += 1
            return
        for _ in range(4):
            self._at += 1
            if self._peek() not in "0123456789abcdefABCDEF":
                self._refuse("in \\u hexadecimal character escape")
        self._at += 1

    def _literal(self, word: str) -> None:
        for letter in word:
            if self._peek() != letter:
                self._refuse(f"in literal {word} (expecting {_quoted(letter)})")
            self._at += 1

    def _number(self) -> None:
        whole = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?").match(self._text, self._at)
        if whole is None:
            self._at += 1  # a minus sign alone
            self._refuse("in numeric literal")
            return
        for context, start in _NUMBER_STATES.items():
            part = start.match(self._text, self._at)
            if part is not None and part.end() > whole.end():
                self._at = part.end()
                self._refuse(context)
        self._at = whole.end()


def _quoted(character: str) -> str:
    if character == "'":
        return r"'\''"
    if character == '"':
        return "'\"'"
    return f"'{json.dumps(character, ensure_ascii=False)[1:-1]}'"
