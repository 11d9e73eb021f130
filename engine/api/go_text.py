"""JSON text as Go's encoding/json takes it: UTF-8 and nothing else, with U+FFFD for what is no Unicode (decode.go
unquote, unicode/utf8)."""

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
