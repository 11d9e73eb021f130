"""Who of the webhooks, or of the mutating policies, is called again in the second round.

Source: apiserver pkg/admission/plugin/webhook/mutating reinvocationcontext.go; policy/mutating has the same.
"""

from __future__ import annotations

import orjson

from engine.api.types import Object


class Reinvocation:
    """What one plugin remembers of both rounds of a request. Keys name webhooks or policies."""

    def __init__(self) -> None:
        self._invoked: set[str] = set()  # those that want another call, should the object change from now on
        self._due: set[str] = set()
        self._left = b""  # the object as the plugin left it

    def begin(self, obj: Object | None) -> None:
        """A second round: what others have changed meanwhile is a reason to call all that want it."""
        if self._invoked and _told(obj) != self._left:
            self.require()

    def end(self, obj: Object | None) -> None:
        if self._invoked:
            self._left = _told(obj)

    def require(self) -> None:
        """The object has changed: all that were called before and want it are to be called again."""
        self._due |= self._invoked
        self._invoked = set()

    def add(self, key: str) -> None:
        """One that has been called, and wants to be again when others change the object."""
        self._invoked.add(key)

    def is_due(self, key: str) -> bool:
        return key in self._due


def _told(obj: Object | None) -> bytes:
    return orjson.dumps(obj, option=orjson.OPT_SORT_KEYS)
