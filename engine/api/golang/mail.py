"""What Go takes for one mail address: `gopher@example.com`, or with a name, `Gopher <gopher@example.com>`.

Source: Go's net/mail (ParseAddress). Groups of addresses are not told apart: one with a single address is a rarity.
"""

from __future__ import annotations

import re

_ATOM = r"[^\x00-\x20\x7f()<>\[\]:;@\\,\".]+"
_DOTTED = rf"{_ATOM}(?:\.{_ATOM})*"
_QUOTED = r'"(?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\[^\x00-\x08\x0a-\x1f\x7f])*"'
_LITERAL = r"\[[^\x00-\x20\x7f\[\]\\]*\]"
_SPACE = r"[ \t]*"
_COMMENT = r"\((?:[^()\\]|\\.)*\)"
_BETWEEN = rf"(?:[ \t]|{_COMMENT})*"
_ADDRESS = rf"(?:{_DOTTED}|(?!\"\"){_QUOTED})@{_SPACE}(?:{_DOTTED}|{_LITERAL})"
_WORD = rf"(?:{_QUOTED}|(?:{_ATOM}|\.)+)"
_NAME = rf"{_WORD}(?:{_BETWEEN}{_WORD})*"
_ONE = re.compile(rf"{_BETWEEN}(?:{_ADDRESS}|(?:{_NAME})?{_BETWEEN}<{_SPACE}{_ADDRESS}{_SPACE}>){_BETWEEN}")


def is_address(text: str) -> bool:
    return _ONE.fullmatch(text) is not None
