"""Ports of this machine that lead to Pods while one walks about the screens."""

from __future__ import annotations

import io
from collections.abc import Callable

from textual import work
from textual.worker import Worker

from ktui.commanding import Commanding


class _Told(io.StringIO):
    """Hands on each line as it is written."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._tell = tell

    def write(self, text: str, /) -> int:
        for line in text.splitlines():
            self._tell(line)
        return len(text)


class Forwards(Commanding):
    """The part of the app that forwards ports; `_forwards` are those that are open, by object and namespace."""

    def __init__(self) -> None:
        super().__init__()
        self._forwards: dict[tuple[str, str | None], Worker[None]] = {}

    def forward(self, name: str, namespace: str | None, ports: str) -> None:
        """Open one; where it leads, and what goes wrong, is said."""
        self._forwards[name, namespace] = self._forward(name, namespace, ports)

    def end_forward(self, name: str, namespace: str | None) -> bool:
        """Says whether it was open."""
        worker = self._forwards.pop((name, namespace), None)
        if worker is None or worker.is_finished:
            return False
        worker.cancel()
        return True

    @work(group="forwards", exit_on_error=False)
    async def _forward(self, name: str, namespace: str | None, ports: str) -> None:
        place = ("-n", namespace) if namespace else ()
        told = _Told(lambda line: self.notify(line, title=name, markup=False))
        wrong = _Told(lambda line: self.notify(line, title=name, severity="error", markup=False))
        try:
            await self._kubectl(("port-forward", name, ports, *place), told, wrong)
        finally:
            self._forwards.pop((name, namespace), None)
