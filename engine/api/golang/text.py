"""Texts as Go has them: JSON as encoding/json takes it, UTF-8 and nothing else, with U+FFFD for what is no Unicode
(decode.go unquote, unicode/utf8); and quoted as %q shows them (strconv, quote.go)."""

from __future__ import annotations

import re

_REPLACEMENT = "\ufffd"
_NO_UNICODE = re.compile("[\udc80-\udcff]")  # one for each byte that is no UTF-8
# An escape: of two halves of a pair, of one half alone, or of anything else.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def json_text(body: bytes) -> str:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = _NO_UNICODE.sub(_REPLACEMENT, body.decode(errors="surrogateescape"))
    if "\\ud" in text or "\\uD" in text:
        return _ESCAPE.sub(lambda found: "\\ufffd" if found["half"] else found[0], text)
    return text


def unicode_of(text: str) -> str:
    """A text that came as bytes (`surrogateescape`) as encoding/json writes it: each byte that is no UTF-8 is
    U+FFFD."""
    return text if text.isascii() else _NO_UNICODE.sub(_REPLACEMENT, text)


_MARKS = dict(zip('"\\\a\b\f\n\r\t\v', '"\\abfnrtv', strict=True))


def quoted(text: str) -> str:
    """A text as Go's %q writes it."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{"".join(map(_shown, text))}"'


def _shown(letter: str) -> str:
    if letter in _MARKS:
        return f"\\{_MARKS[letter]}"
    if letter.isprintable():
        return letter
    number = ord(letter)
    if number < 0x20 or number == 0x7F:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
