"""The top line: cluster, revision, nodes, Pods, clock and latency profile."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import Static

from ktui.models.summary import ClusterSummary


class ClusterBar(Static):
    DEFAULT_CSS = """
    ClusterBar { height: 1; width: 1fr; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def show(self, summary: ClusterSummary) -> None:
        self.update(self.line(summary, self.size.width or 80))

    @staticmethod
    def line(summary: ClusterSummary, width: int) -> Text:
        """The bar for a width: what matters least leaves first."""
        if summary.connection:
            return Text.assemble(
                (" ktui ", "bold reverse"), f"  {summary.name}  ", (f"✖ {summary.connection}", "bold red")
            )
        pods = summary.pods
        parts = [
            Text.assemble((" ktui ", "bold reverse"), f"  {summary.name}"),
            Text(f"rev {summary.revision}"),
            Text(f"nodes {summary.nodes_ready}/{summary.nodes}"),
            Text.assemble(
                "pods ",
                (f"{pods.get('ready', 0)}●", "green"),
                " ",
                (f"{pods.get('waiting', 0)}◐", "yellow"),
                " ",
                (f"{pods.get('failed', 0)}✖", "red"),
            ),
            Text(summary.clock_text, "bold yellow" if summary.clock_mode == "paused" else ""),
            Text(summary.clock_now),
            Text(f"{summary.profile}~" if summary.profile else ""),
        ]
        while len(parts) > 4 and sum(part.cell_len + 3 for part in parts) > width:
            parts.pop()
        return Text("   ").join(parts)
