"""Regular expressions as Go has them: RE2, which the CEL runtime brings along.

That runtime only says whether a pattern is found. Where the words that were found are asked for, Python's own engine
finds them, once RE2 has said that there are some.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from engine.api.cel.values import EvaluationError
from engine.api.crd import patterns
from engine.api.golang.regex import translated


def matches(text: str, pattern: str) -> bool:
    if why := patterns.what_is_wrong(pattern):
        raise EvaluationError(why)
    return patterns.matches(pattern, text)


def found(text: str, pattern: str) -> Iterator[str]:
    """Each after the one before; nothing is not found where that ends (regexp.FindAll). Raises EvaluationError."""
    expression = _compiled(pattern)
    if not patterns.matches(pattern, text):
        return
    end = -1
    for match in expression.finditer(text):
        if match[0] or match.start() != end:
            yield match[0]
        end = match.end()


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Raises EvaluationError."""
    if why := patterns.what_is_wrong(pattern):
        raise EvaluationError(f"Illegal regex: {why}")
    try:
        return re.compile(translated(pattern))
    except (re.error, ValueError) as error:
        raise EvaluationError(f"Illegal regex: {error}") from None
