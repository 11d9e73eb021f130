"""Which expressions of an object are new: those may speak only of what the release before knew.

Source: the validation of the kinds that have expressions (preexistingExpressions of webhooks, policies and the rules of
definitions), apiserver pkg/cel/environment (EnvSet). CEL itself is not loaded here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.api.types import Object

_ALL_KNOWN_SINCE = (1, 36)  # with nothing more to come
_FIELDS = frozenset(("expression", "messageExpression", "valueExpression", "rule"))


class NewExpressions:
    """Of an object that is written in a release, and of what it was before."""

    def __init__(self, release: tuple[int, int] | None = None, old: Object | None = None) -> None:
        self._release = None if release is None or release >= _ALL_KNOWN_SINCE else release
        self._old = old
        self._kept: frozenset[str] | None = None

    def release_of(self, expression: str) -> tuple[int, int] | None:
        """The release that an expression is new in; None for one that may speak of all that there is."""
        if self._release is None:
            return None
        if self._kept is None:
            self._kept = frozenset(_expressions(self._old))
        return None if expression in self._kept else self._release


STORED = NewExpressions()


def _expressions(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _expressions(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name in _FIELDS and isinstance(item, str):
                yield item
            else:
                yield from _expressions(item)
