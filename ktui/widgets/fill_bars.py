"""How full the nodes are: a bar for cpu, one for memory, and the Pods, a line a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text
from textual.widgets import Static

from ktui.models.scheduler import Fill
from ktui.models.signs import bar
from ktui.widgets.ink import inks
from ktui.widgets.line import fit_middle

TIGHT, FULL = 0.75, 0.9
NARROWEST_BAR, WIDEST_BAR = 6, 20
AMOUNT_WIDTH = 14


class FillBars(Static):
    DEFAULT_CSS = """
    FillBars { height: auto; width: 1fr; padding: 0 1; border-top: hkey $panel; text-wrap: nowrap; }
    """

    _fills: tuple[Sequence[Fill], int] | None = None  # none before they are known

    def show(self, fills: Sequence[Fill], more: int = 0) -> None:
        self._fills = fills, more
        self._draw()

    def on_resize(self) -> None:
        """They were made for another width: a screen is told of its own size before its parts have theirs."""
        self._draw()

    def _draw(self) -> None:
        if self._fills is None:
            return
        fills, more = self._fills
        width = max(20, self.content_size.width)
        name = min(18, max((len(fill.node) for fill in fills), default=0))
        lines = [fill_line(fill, name, width, inks(self.app)) for fill in fills]
        if more > 0:
            lines.append(Text(f"and {more} nodes that are emptier", "dim"))
        self.update(Text("\n").join(lines) if lines else Text("No nodes.", "dim"))


def fill_line(fill: Fill, name_width: int, width: int, colours: Mapping[str, str]) -> Text:
    """Bars and percentages always; the number of Pods, then the amounts, where there is room for them too."""
    parts = (("cpu", fill.cpu, fill.cpu_text), ("mem", fill.memory, fill.memory_text))
    pods = f"  pods {fill.pods}/{fill.allowed_pods}"
    room = width - name_width - sum(len(f"  {head}  100 %") for head, *_ in parts)
    with_pods = room - len(pods) >= 2 * NARROWEST_BAR
    room -= len(pods) if with_pods else 0
    with_amounts = room - 2 * AMOUNT_WIDTH >= 2 * NARROWEST_BAR
    room -= 2 * AMOUNT_WIDTH if with_amounts else 0
    size = max(1, min(WIDEST_BAR, room // 2))
    line = Text(fit_middle(fill.node, name_width).ljust(name_width), "bold")
    for head, share, amount in parts:
        tone = colours.get("error" if share >= FULL else "warning" if share >= TIGHT else "lane-nodes", "")
        line.append(f"  {head} ", "dim")
        line.append(bar(share, size), tone)
        line.append(f" {share * 100:3.0f} %")
        line.append(f" {amount}".ljust(AMOUNT_WIDTH) if with_amounts else "", "dim")
    line.append(pods if with_pods else "", "dim")
    if fill.cordoned:
        line.append("  cordoned", colours.get("warning", ""))
    return line
