"""Regular expressions as Go has them: RE2, which the CEL runtime brings along.

That runtime only says whether a pattern is found. Where the words that were found are asked for, Python's own engine
finds them, for a pattern that RE2 has accepted.
"""

from __future__ import annotations

import re
from functools import lru_cache

from engine.api.cel.values import EvaluationError
from engine.api.crd import patterns


def matches(text: str, pattern: str) -> bool:
    if why := patterns.what_is_wrong(pattern):
        raise EvaluationError(why)
    return patterns.matches(pattern, text)


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """Raises EvaluationError."""
    if why := patterns.what_is_wrong(pattern):
        raise EvaluationError(f"Illegal regex: {why}")
    try:
        return re.compile(pattern.replace(r"\z", r"\Z"))
    except re.error as error:
        raise EvaluationError(f"Illegal regex: {error}") from None
