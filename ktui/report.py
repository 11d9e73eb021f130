"""Sections of text and tables, for a terminal or as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

GAP = "   "


@dataclass(slots=True)
class Section:
    """A title of a level, lines of prose, and a table; what is empty is left out."""

    title: str = ""
    lines: list[str] = field(default_factory=list)
    header: Sequence[str] = ()
    rows: list[Sequence[object]] = field(default_factory=list)
    level: int = 2


def aligned(header: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A table as kubectl prints one: columns by spaces, numbers to the right."""
    table = [[str(cell) for cell in row] for row in rows]
    numeric = [
        all(row[i].lstrip("-").replace(".", "", 1).isdigit() or not row[i] or row[i] == "-" for row in table)
        for i in range(len(header))
    ]
    table.insert(0, [title.upper() for title in header])
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    return [
        GAP.join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ).rstrip()
        for row in table
    ]


def plain(sections: Iterable[Section]) -> str:
    blocks = []
    for section in sections:
        block = [section.title] if section.title else []
        block += section.lines
        if section.rows:
            block += aligned(section.header, section.rows)
        if block:
            blocks.append("\n".join(block))
    return "\n\n".join(blocks)


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ") or " "


def markdown(sections: Iterable[Section]) -> str:
    blocks = []
    for section in sections:
        if section.title:
            blocks.append(f"{'#' * section.level} {section.title}")
        if section.lines:
            blocks.append("\n".join(f"- {line.strip()}" for line in section.lines))
        if section.rows:
            table = [f"| {' | '.join(section.header)} |", f"|{' --- |' * len(section.header)}"]
            table += [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in section.rows]
            blocks.append("\n".join(table))
    return "\n\n".join(blocks)
