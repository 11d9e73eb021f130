"""The query of a URL, read as Go's net/url does (parseQuery): a pair that is malformed is left out."""

from __future__ import annotations

import re
from urllib.parse import unquote_plus

_MALFORMED = re.compile(r"%(?![0-9A-Fa-f]{2})")


def read_query(text: str) -> dict[str, list[str]]:
    query: dict[str, list[str]] = {}
    for pair in text.split("&"):
        if not pair or ";" in pair or _MALFORMED.search(pair):
            continue
        name, _, value = pair.partition("=")
        query.setdefault(unquote_plus(name), []).append(unquote_plus(value))
    return query
