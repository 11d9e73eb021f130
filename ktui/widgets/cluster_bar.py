"""The top line: cluster, revision, nodes, Pods, clock and latency profile."""

from __future__ import annotations

from collections.abc import Mapping

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.widgets import Static

from ktui.models.summary import ClusterSummary
from ktui.widgets.ink import inks

GAP = "   "


class ClusterBar(Static):
    DEFAULT_CSS = """
    ClusterBar { height: 1; width: 1fr; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", id=id)
        self._before_clock, self._clock = "", ""

    def show(self, summary: ClusterSummary) -> None:
        line = self.line(summary, self.size.width or 80, inks(self.app))
        before, clock, _ = line.plain.partition(summary.clock_text)
        self._before_clock, self._clock = before, clock
        self.update(line, layout=False)

    async def on_click(self, event: events.Click) -> None:
        """On the clock: pause it, or let it go on."""
        begin = cell_len(self._before_clock)
        if begin <= event.x < begin + cell_len(self._clock):
            event.stop()
            await self.app.run_action("app.toggle_pause")

    @staticmethod
    def line(summary: ClusterSummary, width: int, colours: Mapping[str, str]) -> Text:
        """The bar for a width: what matters least leaves first."""
        good, wait, bad = (colours.get(name, "") for name in ("success", "warning", "error"))
        head = Text.assemble((" ktui ", f"bold reverse {colours.get('primary', '')}"), (f" {summary.name}", "bold"))
        if summary.state:
            sign, colour = ("◐", wait) if summary.is_starting else ("✖", bad)
            return Text.assemble(head, GAP, (f"{sign} {summary.state}", f"bold {colour}"))
        if summary.waited:
            head.append_text(Text.assemble(GAP, (f"◷ busy, no answer for {summary.waited:.0f} s", f"bold {wait}")))
        if summary.refusing:
            head.append_text(Text.assemble(GAP, (f"✖ takes no writes: {summary.refusing}", f"bold {bad}")))
        pods = summary.pods
        all_up = summary.members_up == summary.members and summary.leader != ""
        all_ready = summary.nodes_ready == summary.nodes
        parts = [
            head,
            Text(f"rev {summary.revision}"),
            Text(f"nodes {summary.nodes_ready}/{summary.nodes}", "" if all_ready else wait),
            Text.assemble(
                "pods ",
                (f"{pods.get('ready', 0)}●", good),
                " ",
                (f"{pods.get('waiting', 0)}◐", wait if pods.get("waiting") else "dim"),
                " ",
                (f"{pods.get('failed', 0)}✖", bad if pods.get("failed") else "dim"),
            ),
            Text(summary.clock_text, f"bold {wait}" if summary.clock_mode == "paused" else ""),
            Text(summary.clock_now),
            *([Text(summary.etcd_text, "" if all_up else f"bold {wait}")] if summary.etcd_text else []),
            Text(f"{summary.profile}~" if summary.profile else ""),
            Text(summary.kubernetes_version, "dim"),
        ]
        while len(parts) > 4 and sum(part.cell_len + len(GAP) for part in parts) > width:
            parts.pop()
        return Text(GAP).join(parts)
