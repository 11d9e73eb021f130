"""The pane of what a command printed: long outputs, scrolling in what goes on, what is left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TextIO

import pytest

from engine.api.types import GVR
from ktui.models.printed import LINES_KEPT, SLACK, PrintedLine
from ktui.screens.output import Command, Output
from ktui.widgets.printed_lines import PrintedLines
from tests.ktui.screens.conftest import Show

CONFIG_MAPS = GVR("", "v1", "configmaps")


def printing(*texts: str) -> tuple[Command, list[TextIO]]:
    """A command that prints these, and where its output goes."""
    streams: list[TextIO] = []

    async def command(out: TextIO, err: TextIO) -> int:
        streams[:] = out, err
        for text in texts:
            out.write(text)
        return 0

    return command, streams


async def test_all_lines_of_a_long_description_can_be_read(show: Show) -> None:
    async with show() as driver:
        data = {f"key{number:04}": f"value-{number}" for number in range(4_000)}
        await driver.client.create(CONFIG_MAPS, {"metadata": {"name": "long"}, "data": data}, namespace="default")
        await driver.command("describe cm long")
        await driver.sees("Name:         long", "value-0", "✓ done")
        await driver.press("G")
        await driver.sees("value-3999", "BinaryData", "Events:  <none>")
        await driver.press("g")
        await driver.sees("Name:         long")
        await driver.press("slash")
        await driver.type("value-3777")
        await driver.misses("Name:         long")
        await driver.sees("value-3777")


async def test_who_scrolls_up_in_what_goes_on_stays_there_until_the_end_key(show: Show) -> None:
    async with show() as driver:
        command, streams = printing("".join(f"line {number}\n" for number in range(100)))
        driver.app.push_screen(Output("logs x -f", command))
        await driver.sees("line 99")
        await driver.press("pageup")
        await driver.sees("f follows the end")
        streams[0].write("one more\n" * 50)
        await driver.misses("one more", "line 99")
        await driver.press("G")
        await driver.sees("one more")
        await driver.misses("f follows the end")
        streams[0].write("the last\n")
        await driver.sees("the last")


async def test_what_is_too_much_is_left_out_and_counted(show: Show) -> None:
    async with show() as driver:
        whole = LINES_KEPT + SLACK + 1
        command, _ = printing("".join(f"line {number}\n" for number in range(whole)))
        driver.app.push_screen(Output("get x", command))
        await driver.sees(f"{whole - LINES_KEPT:,} older lines left out · ✓ done", f"line {whole - LINES_KEPT}")


async def test_colours_of_a_log_are_shown_and_what_steers_a_terminal_is_not(show: Show) -> None:
    async with show() as driver:
        command, _ = printing("\x1b[31mred\x1b[0m and \x1b[2Jplain \x1b]0;title\x07日本語\n")
        driver.app.push_screen(Output("get x", command))
        await driver.sees("red and plain ", "日本語")
        await driver.misses("\x1b", "[2J")


async def test_lines_that_come_at_once_are_shown_at_once(show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of twelve thousand events comes line by line, and kept the screen for as long as each was shown."""
    shown: list[int] = []
    show_lines = PrintedLines.show

    def count(lines: PrintedLines, printed: Sequence[PrintedLine], **others: Any) -> None:
        shown.append(len(printed))
        show_lines(lines, printed, **others)

    monkeypatch.setattr(PrintedLines, "show", count)
    async with show() as driver:
        command, _ = printing(*(f"line {number}\n" for number in range(1_000)))
        driver.app.push_screen(Output("get x", command))
        await driver.sees("line 0", "✓ done")
        assert shown == [1_000]
