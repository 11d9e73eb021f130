"""Ports of this machine that lead to Pods while one walks about the screens."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field

from textual import work
from textual.worker import Worker

from ktui.commanding import Commanding
from ktui.widgets.dialogs import Choice


class _Told(io.StringIO):
    """Hands on each line as it is written."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._tell = tell

    def write(self, text: str, /) -> int:
        for line in text.splitlines():
            self._tell(line)
        return len(text)


@dataclass(slots=True)
class Forward:
    worker: Worker[None]
    leads: list[str] = field(default_factory=list)  # "127.0.0.1:8080 -> 80", once it does


class Forwards(Commanding):
    """The part of the app that forwards ports; `_forwards` are those that are open, by object and namespace."""

    def __init__(self) -> None:
        super().__init__()
        self._forwards: dict[tuple[str, str | None], Forward] = {}

    def forward(self, name: str, namespace: str | None, ports: str) -> None:
        """Open one; where it leads, and what goes wrong, is said."""
        self._forwards[name, namespace] = Forward(self._forward(name, namespace, ports))

    def end_forward(self, name: str, namespace: str | None) -> bool:
        """Says whether it was open."""
        forward = self._forwards.pop((name, namespace), None)
        if forward is None or forward.worker.is_finished:
            return False
        forward.worker.cancel()
        self.notify(f"{name} is forwarded no longer", markup=False)
        return True

    @work(exclusive=True, group="forward", exit_on_error=False)
    async def action_forwards(self) -> None:
        """Those that are open; what is chosen ends."""
        if not self._forwards:
            self.notify("no port is forwarded: F on a Pod, a Service or a workload forwards one", markup=False)
            return
        lines = {
            f"{namespace or ''}/{name}": f"{name}{f'  in {namespace}' if namespace else ''}  {' '.join(forward.leads)}"
            for (name, namespace), forward in self._forwards.items()
        }
        chosen = await self.push_screen_wait(Choice("forwarded ports: Enter ends one", lines, width=90))
        if chosen is not None:
            namespace, _, name = chosen.partition("/")
            self.end_forward(name, namespace or None)

    def _told(self, key: tuple[str, str | None], line: str) -> None:
        """What kubectl says: where it leads is kept, for the list."""
        said = line.removeprefix("Forwarding from ")
        if said != line and key in self._forwards:
            self._forwards[key].leads.append(said)
            line += " · :forwards ends it"
        self.notify(line, title=key[0], markup=False)

    @work(group="forwards", exit_on_error=False)
    async def _forward(self, name: str, namespace: str | None, ports: str) -> None:
        place = ("-n", namespace) if namespace else ()
        told = _Told(lambda line: self._told((name, namespace), line))
        wrong = _Told(lambda line: self.notify(line, title=name, severity="error", markup=False))
        try:
            await self._kubectl(("port-forward", name, ports, *place), told, wrong)
        finally:
            self._forwards.pop((name, namespace), None)
