"""How the picture is put together from what the widgets draw: only lines that changed, and of them only what is seen.

Textual's own asks every widget within the smallest rectangle around all changes for all of its lines, those that others
cover too: a clock in the first line and a key in the last one have everything between them drawn. Six containers lie
under each table, and most of what changes is a line or a table alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from textual._compositor import Compositor
from textual.geometry import Region
from textual.strip import Strip


class SeenOnly(Compositor):
    """Front to back, as Textual's: the first to draw a stretch of a line wins, and whoever has nothing left to win is
    not asked.
    """

    def _render_chops(self, crop: Region, is_rendered_line: Callable[[int], bool]) -> Sequence[Mapping[int, Strip]]:
        cuts = self.cuts
        chops: list[dict[int, Strip | None]] = [dict.fromkeys(line_cuts[:-1]) for line_cuts in cuts]
        bare = {y: len(chops[y]) for y in crop.line_range if is_rendered_line(y)}  # stretches that nobody drew yet
        for widget, (region, clip) in self.visible_widgets.items():
            shown = region.intersection(clip)
            lines = [y for y in shown.line_range if bare.get(y)] if shown else []
            if not lines:
                continue
            top, first, last = lines[0], shown.x, shown.right
            strips = widget.render_lines(Region(first - region.x, top - region.y, shown.width, lines[-1] + 1 - top))
            for y in lines:
                of_line = [cut for cut in cuts[y] if first <= cut <= last]
                line = chops[y]
                if all(line[cut] is not None for cut in of_line[:-1]):
                    continue
                pieces = strips[y - top].divide([cut - first for cut in of_line[1:]])
                for cut, piece in zip(of_line, pieces, strict=False):
                    if line[cut] is None:
                        line[cut] = piece
                        bare[y] -= 1
        return cast("Sequence[Mapping[int, Strip]]", chops)
