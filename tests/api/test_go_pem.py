"""PEM blocks as encoding/pem of Go finds them."""

from __future__ import annotations

import pytest

from engine.api.golang.pem import PemBlock, pem_blocks

_HELLO = "-----BEGIN A-----\naGVsbG8=\n-----END A-----\n"
_FOUND = PemBlock("A", b"hello")

TEXTS: dict[str, tuple[str, list[PemBlock]]] = {
    "one block": (_HELLO, [_FOUND]),
    "with other text around": ("before\n" + _HELLO + "between\n" + _HELLO + "after", [_FOUND, _FOUND]),
    "not at the start of a line": (" " + _HELLO, []),
    "spread over lines, with blanks": ("-----BEGIN A-----\naGVs\n \t\nbG8=\r\n-----END A-----", [_FOUND]),
    "empty": ("-----BEGIN A-----\n-----END A-----\n", [PemBlock("A", b"")]),
    "no base64": ("-----BEGIN A-----\naGVsbG8???\n-----END A-----\n" + _HELLO, [_FOUND]),
    "another end": ("-----BEGIN A-----\naGVsbG8=\n-----END B-----\n", []),
    "more in the last line": ("-----BEGIN A-----\naGVsbG8=\n-----END A----- more\n", []),
    "headers": (
        "-----BEGIN A-----\nkey: value\n\naGVsbG8=\n-----END A-----\n",
        [PemBlock("A", b"hello", headers=True)],
    ),
    "headers and nothing else": ("-----BEGIN A-----\nkey: value\n", []),
    "begun twice": ("-----BEGIN A\n" + _HELLO, [_FOUND]),
    "lower case": (_HELLO.replace("A--", "a b--"), [PemBlock("a b", b"hello")]),
}


@pytest.mark.parametrize("name", TEXTS)
def test_blocks(name: str) -> None:
    text, expected = TEXTS[name]
    assert pem_blocks(text) == expected
