"""KYAML: YAML in flow style with quoted strings, one value a line.

Source of the behaviour: KEP-5295 and sigs.k8s.io/yaml kyaml.
"""

from __future__ import annotations

import json
import re
from typing import Any

from engine.api.field_order import by_name
from engine.api.types import Object
from engine.kubectl.errors import CommandError
from engine.kubectl.yaml import float_text, read_back

_PLAIN = re.compile(r"[^\W\d][\w./-]*")
_ZERO_OF_EXPONENT = re.compile("e-0")  # which JSON does without
_ESCAPES = {
    **dict(zip('"\\\a\b\f\n\r\v\x1b', '"\\abfnrve', strict=True)),
    "\xa0": "_",
    "\u2028": "L",
    "\u2029": "P",
}
_AMBIGUOUS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "~"))


def dump(value: Object, *, sort_keys: bool = True) -> str:
    """One document, its head line included. Raises CommandError for what cannot be read back."""
    try:
        value = read_back(value)
    except CommandError as error:
        raise CommandError(f"error decoding: {error}") from error
    if sort_keys:
        value = by_name(value)
    return f"---\n{_value(value, '')}\n"


def _value(value: Any, indent: str) -> str:
    inner = f"{indent}  "
    if isinstance(value, dict):
        if not value:
            return "{}"
        lines = "".join(f"{inner}{_key(key)}: {_value(value[key], inner)},\n" for key in value)
        return f"{{\n{lines}{indent}}}"
    if isinstance(value, list):
        if not value:
            return "[]"
        if all(isinstance(item, dict | list) for item in value):
            return f"[{', '.join(_value(item, indent) for item in value)}]"
        return "[\n" + "".join(f"{inner}{_value(item, inner)},\n" for item in value) + f"{indent}]"
    if isinstance(value, str):
        return _string(value, indent)
    return _ZERO_OF_EXPONENT.sub("e-", float_text(value)) if isinstance(value, float) else json.dumps(value)


def _key(key: str) -> str:
    return key if _PLAIN.fullmatch(key) and key.lower() not in _AMBIGUOUS else _quoted(key).replace("\t", "\\t")


def _string(text: str, indent: str) -> str:
    """Quoted; text of several lines line by line, each joined to the next by a backslash."""
    if "\n" not in text:
        return _quoted(text)
    *lines, last = text.split("\n")
    shown = [_line(f"{line}\n", indent) for line in lines]
    if last:
        shown.append(_line(last, indent))
    return '"\\\n' + "".join(shown) + f'{indent}  "'


def _line(line: str, indent: str) -> str:
    start = "\\" if line[0].isspace() and line[0] != "\n" else " "
    return f"{indent}  {start}{_quoted(line)[1:-1]}\\\n"


def _quoted(text: str) -> str:
    """With tabs as they are."""
    return f'"{"".join(map(_letter, text))}"'


def _letter(letter: str) -> str:
    if letter in _ESCAPES:
        return f"\\{_ESCAPES[letter]}"
    if letter == "\t" or letter.isprintable():
        return letter
    number = ord(letter)
    if number < 0x20:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
