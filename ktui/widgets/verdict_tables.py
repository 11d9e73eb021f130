"""The two tables of a scheduling attempt, nodes by plugins: the verdicts of the filters, the points of the scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.text import Text

from ktui.models.scheduler import PASSED, REJECTED, FilterRow, filter_columns, filter_rows
from ktui.models.signs import DONE, PAST, WRONG, many
from ktui.widgets.line import fit, fit_middle

Json = Mapping[str, Any]
Colours = Mapping[str, str]

SHORT = {
    "NodeUnschedulable": "Cordon",
    "NodeName": "Name",
    "TaintToleration": "Taint",
    "NodeAffinity": "Affinity",
    "NodePorts": "Ports",
    "NodeResourcesFit": "Fit",
    "NodeResourcesBalancedAllocation": "Balance",
    "PodTopologySpread": "Spread",
    "InterPodAffinity": "PodAff",
    "ImageLocality": "Image",
    "VolumeRestrictions": "VolRestr",
    "NodeVolumeLimits": "VolLimit",
    "VolumeBinding": "VolBind",
    "VolumeZone": "VolZone",
    "DynamicResources": "Devices",
    "NodeDeclaredFeatures": "Features",
}
MARKS = {PASSED: (DONE, "success"), REJECTED: (WRONG, "error")}
NODE_WIDTH = 18  # at most
SUM_WIDTH = 7
NARROWEST_REASON = 12
NARROW_CELL, NARROWEST_CELL = 5, 2  # of a filter's column beside a reason, and at all
FEWEST, MOST = 3, 12  # nodes in a table, unless all are asked for


def short(plugin: str) -> str:
    return SHORT.get(plugin, plugin[:8])


def title(text: str) -> list[Text]:
    return [Text(""), Text(text, "bold")]


# -- filters


def filters(attempt: Json, width: int, most: int, colours: Colours) -> Iterator[Text]:
    columns = filter_columns(attempt)
    rows = list(filter_rows(attempt))
    if not rows:
        return
    yield from title("filter: which nodes may run it")
    if len(attempt["rejected"]) > FEWEST:
        yield from _rejected_by(attempt, colours)
    accepted, rejected = [row for row in rows if not row.reason], [row for row in rows if row.reason]
    shown = [*accepted[: max(FEWEST, most - len(rejected))], *rejected][:most]
    names = _names_width([row.node for row in shown])
    longest = max((len(row.reason) + 1 for row in shown if row.reason), default=0)
    cells = _cell_widths(columns, width - names, longest)
    yield Text.assemble(
        ("node".ljust(names), "dim"),
        *((_heading(short(column), cell), "dim") for column, cell in zip(columns, cells, strict=True)),
    )
    for row in shown:
        yield _filter_line(row, names, cells, width, colours)
    yield from _rest(attempt["nodes"] - len(shown), attempt.get("notEvaluated", 0))


def _heading(name: str, cell: int) -> str:
    """Over the middle of its column; one that is cut begins where the column does, a space before the next."""
    return name.center(cell) if len(name) + 2 <= cell else name[: cell - 1].ljust(cell)


def _cell_widths(columns: Sequence[str], room: int, reason: int) -> list[int]:
    """What the columns need; where that leaves no room for the longest reason, less, unless it would be cut anyway to
    a word or two; and less still where they have no room themselves."""
    whole = [max(5, len(short(column)) + 2) for column in columns]
    cells = _narrowed(whole, room - reason, NARROW_CELL)
    if room - sum(cells) <= min(reason, NARROWEST_REASON):
        cells = whole
    return _narrowed(cells, room, NARROWEST_CELL)


def _narrowed(cells: Sequence[int], room: int, least: int) -> list[int]:
    """The widest give way first, none below the least."""
    narrowed = list(cells)
    while narrowed and sum(narrowed) > room and max(narrowed) > least:
        narrowed[narrowed.index(max(narrowed))] -= 1
    return narrowed


def _rejected_by(attempt: Json, colours: Colours) -> Iterator[Text]:
    for told in attempt.get("rejectedBy") or ():
        yield Text.assemble(
            (f"{WRONG} {told['nodes']:>5} ", colours.get("error", "")),
            (short(told["plugin"]), "bold"),
            f"  {'; '.join(told['reasons'])}",
        )


def _filter_line(row: FilterRow, names: int, cells: Sequence[int], width: int, colours: Colours) -> Text:
    line = node(row.node, names, is_winner=row.is_winner)
    for verdict_, cell in zip(row.verdicts, cells, strict=False):
        sign, tone = MARKS.get(verdict_, (PAST, ""))
        line.append(sign.center(cell), colours.get(tone, "") if tone else "dim")
    room = width - line.cell_len
    if row.reason and room > NARROWEST_REASON:
        line.append(fit(f" {row.reason}", room), colours.get("error", ""))
    return line


def _rest(more: int, unlooked: int) -> Iterator[Text]:
    if 0 < more == unlooked:
        yield Text(f"{many(more, 'node')} not looked at: enough had been found", "dim")
    elif more > 0:
        looked = f", {unlooked} of them not looked at: enough had been found" if unlooked else ""
        yield Text(f"and {many(more, 'node')} more{looked}", "dim")


def _names_width(names: Sequence[str]) -> int:
    return min(NODE_WIDTH, max(4, *map(len, names)) + 3)


def node(name: str, width: int, *, is_winner: bool) -> Text:
    mark = " ◄" if is_winner else ""
    text = fit_middle(name, width - 1 - len(mark)) + mark
    return Text(text.ljust(width), "bold" if is_winner else "")


# -- scores


def scores(attempt: Json, width: int, most: int, colours: Colours, *, raw: bool) -> Iterator[Text]:
    scored = [row for row in attempt["scores"] if row["total"] is not None][:most]
    if not scored:
        if attempt["feasibleNodes"] == 1:
            yield from title("score")
            yield Text("one node fits: there is nothing to compare", "dim")
        return
    yield from title("score: which of them is best" + ("   raw→normalised below" if raw else ""))
    names = _names_width([row["node"] for row in scored])
    for block in _blocks(_score_widths(scored, raw=raw), width - names - SUM_WIDTH):
        yield from _score_block(attempt, scored, block, names, colours, raw=raw)
    if attempt["feasibleNodes"] > len(scored):
        yield Text(f"and {attempt['feasibleNodes'] - len(scored)} nodes with less", "dim")


def _score_widths(scored: Sequence[Json], *, raw: bool) -> list[int]:
    """What each plugin's column needs."""
    widths = []
    for index, head in enumerate(scored[0]["plugins"]):
        entries = [row["plugins"][index] for row in scored]
        below = [len(_raw(entry)) for entry in entries] if raw else []
        widths.append(max(len(_head(head)), *(len(str(entry["weighted"])) for entry in entries), *below) + 2)
    return widths


def _blocks(widths: Sequence[int], room: int) -> Iterator[dict[int, int]]:
    """Columns with their widths, as many side by side as there is room for."""
    block: dict[int, int] = {}
    for index, width in enumerate(widths):
        if block and sum(block.values()) + width > room:
            yield block
            block = {}
        block[index] = width
    yield block


def _score_block(
    attempt: Json, scored: Sequence[Json], block: Mapping[int, int], names: int, colours: Colours, *, raw: bool
) -> Iterator[Text]:
    is_last = len(scored[0]["plugins"]) - 1 in block
    head = Text("node".ljust(names), "dim")
    for index, width in block.items():
        head.append(_head(scored[0]["plugins"][index]).rjust(width), "dim")
    yield head.append("Σ".rjust(SUM_WIDTH) if is_last else "", "dim")
    for row in scored:
        is_winner = row["node"] == attempt["node"]
        line, below = node(row["node"], names, is_winner=is_winner), Text(" " * names)
        for index, width in block.items():
            entry = row["plugins"][index]
            line.append(str(entry["weighted"]).rjust(width), "bold" if is_winner else "")
            below.append(_raw(entry).rjust(width), "dim")
        if is_last:
            line.append(str(row["total"]).rjust(SUM_WIDTH), f"bold {colours.get('accent', '')}")
        yield line
        if raw:
            yield below


def _head(entry: Json) -> str:
    return f"{short(entry['plugin'])} ×{entry['weight']}"


def _raw(entry: Json) -> str:
    return f"{entry['raw']}→{entry['normalized']}"
