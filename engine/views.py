"""Named views of what a component holds inside: queues, decisions, workers (design, section 4, debug endpoints).

A component offers views; the API server of its process serves them under `/debug/ktui/views/NAME`. So the screen sees
inside without any component calling another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

View = Callable[[Mapping[str, str]], Any]  # query parameters in, plain JSON out; must return at once


class Views:
    def __init__(self) -> None:
        self._views: dict[str, View] = {}

    def offer(self, name: str, view: View) -> None:
        """Offer a view under a name such as `scheduler/queue` or `kubelet/node-1/workers`; the newest offer stands."""
        self._views[name] = view

    def withdraw(self, name: str) -> None:
        self._views.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._views))

    def look(self, name: str, parameters: Mapping[str, str]) -> Any:
        """What the view shows now. Raises KeyError if nobody offers it."""
        return self._views[name](parameters)
