"""Every key that is bound anywhere, pressed once on a real cluster: a key that comes without a row here fails.

A row says whose key it is, where one has to be for it, and what is to be seen once it was pressed. That takes a minute:
`KTUI_EVERY_KEY=1 pytest tests/ktui/screens/test_every_key.py` presses them; what each does in full is in its own test.
"""

from __future__ import annotations

import io
import os
import pkgutil
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import pytest
from textual.binding import Binding
from textual.screen import ModalScreen
from textual.widgets import Input, TextArea

import ktui.screens
import ktui.widgets
from ktui.app import KtuiApp
from ktui.screens.catalogue import CATALOGUE
from ktui.screens.objects import SORT_KEYS
from ktui.screens.output import Output
from ktui.screens.shell import Shell
from ktui.screens.tour import TourGuide
from ktui.session import Session
from ktui.themes import DEFAULT_THEME
from ktui.widgets.command_line import CommandLine
from ktui.widgets.detail_pane import LinkLine
from ktui.widgets.dialogs import Choice
from ktui.widgets.flow_canvas import FlowCanvas
from ktui.widgets.grid import Grid
from tests.ktui.screens.driver import WEB, Driver

Seen = str | Callable[[Driver], object]
# That these do what they say is tested where a terminal, a small one, a connection over HTTPS or the engine's end is.
ELSEWHERE = {
    ("KtuiApp", "q"), ("KtuiApp", "ctrl+c"), ("KtuiApp", "ctrl+z"),
    ("Shell", "escape"), ("Shell", "ctrl+d"),
    ("TooSmall", "q"),
}  # fmt: skip


def bound() -> set[tuple[str, str]]:
    """Every key of every class of ours that binds some."""
    return {
        (kind.__name__, key)
        for kind in _classes()
        for binding in kind.__dict__["BINDINGS"]
        if isinstance(binding, Binding)
        for key in binding.key.split(",")
    }


def _classes() -> Iterator[type]:
    yield KtuiApp
    for package in (ktui.screens, ktui.widgets):
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            module = import_module(found.name)
            for kind in vars(module).values():
                if isinstance(kind, type) and kind.__module__ == module.__name__ and "BINDINGS" in kind.__dict__:
                    yield kind


class Telling(KtuiApp):
    """Keeps what it says, for it goes from the screen by itself."""

    said: ClassVar[list[str]] = []

    def notify(self, message: str, **how: Any) -> None:
        self.said.append(message)
        super().notify(message, **how)


def says(text: str) -> Callable[[Driver], object]:
    return lambda _: any(text in said for said in Telling.said)


def shows(mode: str) -> Callable[[Driver], object]:
    return lambda driver: driver.app.screen is driver.app.window and driver.app.shown.mode == mode


def at(row: int) -> Callable[[Driver], object]:
    """The cursor of the table is there; -1 is the last row."""
    return lambda driver: grid(driver)._cursor == (row if row >= 0 else len(grid(driver).rows) + row)


def grid(driver: Driver) -> Grid:
    return driver.find(Grid)


def canvas(driver: Driver) -> FlowCanvas:
    return driver.find(FlowCanvas)


def on(kind: type[ModalScreen[Any]]) -> Callable[[Driver], object]:
    return lambda driver: isinstance(driver.app.screen, kind)


def scrolled_to(least: int) -> Callable[[Driver], object]:
    """What has the focus is so many lines down; 0 is its top."""

    def holds(driver: Driver) -> object:
        at = driver.app.focused.scroll_offset.y if driver.app.focused is not None else -1
        return at == 0 if least == 0 else at >= least

    return holds


def closed(driver: Driver) -> object:
    return driver.app.screen is driver.app.window


def focused(kind: type) -> Callable[[Driver], object]:
    return lambda driver: isinstance(driver.app.focused, kind)


def typed(text: str) -> Callable[[Driver], object]:
    return lambda driver: driver.find(Input, "#command").value == text


def tables(driver: Driver) -> list[Grid]:
    return list(driver.app.shown.query(Grid).results(Grid))


def first_table(driver: Driver) -> object:
    return driver.app.focused is tables(driver)[0]


def second_table(driver: Driver) -> object:
    return driver.app.focused is tables(driver)[1]


# -- where one has to be


async def resource(driver: Driver, word: str, group: str = "") -> None:
    driver.app.open_resource(word)
    await driver.until(lambda: shows("objects")(driver) and grid(driver).rows and f" {word}{group}" in driver.picture)
    grid(driver).action_move(-1000)


async def screen(driver: Driver, mode: str) -> None:
    await driver.app.window.show(mode)
    await driver.until(lambda: shows(mode)(driver))


PLACES: dict[str, Callable[[Driver], Awaitable[None]]] = {
    **{entry.name: partial(screen, mode=entry.name) for entry in CATALOGUE},
    "pods": lambda driver: resource(driver, "pods"),
    "deployments": lambda driver: resource(driver, "deployments", ".apps"),
    "list of nodes": lambda driver: resource(driver, "nodes"),
    "accounts": lambda driver: resource(driver, "serviceaccounts"),
}


@dataclass(frozen=True)
class Row:
    owner: str
    key: str
    place: str
    seen: Seen
    before: tuple[str, ...] = ()  # keys that lead there from the place


def rows(owner: str, place: str, *keys: tuple[str, Seen] | tuple[str, Seen, tuple[str, ...]]) -> list[Row]:
    return [Row(owner, key, place, seen, *before) for key, seen, *before in keys]


DELETE = ("ctrl+d",)
LINE_BEFORE = ("colon", *"theme dark", "enter", "colon")
WEB_KEY = ("slash", *"deployments/default/web", "enter", "down")
ROWS = [
    *(Row("KtuiApp", entry.key, "tree" if entry.name != "tree" else "flow", shows(entry.name)) for entry in CATALOGUE),
    *rows(
        "KtuiApp",
        "store",
        ("space", "⏸ paused"),
        ("f9", "⏸ paused"),
        ("s", "⏸ paused"),
        ("full_stop", "⏸ paused"),
        ("plus", "▶ 5×"),
        ("minus", "▶ 2×"),
        ("vertical_line", lambda driver: driver.app.window.is_split),
        ("ctrl+w", says("there is one screen")),
        ("f6", says("there is one screen")),
        ("colon", "get pods -o wide · apply"),
        ("question_mark", "Esc closes"),
        ("n", on(Choice)),
        ("0", says("all namespaces"), ("colon", *"cm default", "enter")),
        ("ctrl+a", on(Choice)),
        ("f8", says("no port is forwarded")),
        ("ctrl+s", says("written to")),
        ("T", says("theme ")),
    ),
    *rows(
        "KtuiApp",
        "pods",
        ("left_square_bracket", shows("objects"), ("8",)),
        ("right_square_bracket", shows("dashboard"), ("8", "left_square_bracket")),
    ),
    *rows(
        "FrameScreen",
        "pods",
        ("slash", "!web"),
        ("o", "NAMESPACE↑"),
        ("O", lambda driver: driver.app.shown.pane is not None and driver.app.shown.pane.view.descending),
        ("c", says("copied")),
        ("backspace", shows("objects"), ("1",)),
        ("escape", lambda driver: "kind: Pod" not in driver.picture, ("y",)),
    ),
    *rows(
        "FlowScreen",
        "flow",
        ("p", "alone · p shows all"),
        ("left_square_bracket", "hop "),
        ("right_square_bracket", "hop 1 of"),
        ("left_curly_bracket", "hop 1 of"),
        ("t", lambda driver: shows("objects")(driver) or says("names no object")(driver), ("up",)),
        ("r", lambda driver: "reads" in driver.app.flow.show),
        ("e", lambda driver: "events" in driver.app.flow.show),
        ("h", lambda driver: "heartbeats" in driver.app.flow.show),
        ("i", lambda driver: "idle reconciles" in driver.app.flow.show),
        ("C", lambda driver: driver.app.flow.chains),
    ),
    *rows(
        "FlowCanvas",
        "flow",
        *((key, "stopped,") for key in ("up", "k", "down", "j", "pageup", "ctrl+b", "pagedown", "ctrl+f")),
        *((key, lambda driver: canvas(driver).cursor == 0) for key in ("home", "g")),
        *((key, lambda driver: canvas(driver).following, ("up",)) for key in ("end", "G")),
        ("enter", "began"),
    ),
    *rows(
        "ObjectsScreen",
        "pods",
        ("y", "kind: Pod"),
        ("e", focused(TextArea)),
        ("d", ":describe pods"),
        ("i", ":describe pods"),
        ("ctrl+d", "Delete pods/web-"),
        ("delete", "Delete pods/web-"),
        ("l", ":logs web-"),
        ("p", "previous terminated container"),
        ("v", ":events --for"),
        ("r", says("restart is for")),
        ("U", says("undo is for")),
        ("u", says("cordon is for")),
        ("s", on(Shell)),
        ("X", on(Shell)),
        ("F", "[LOCAL]:PORT"),
        ("x", "Run in pod/web-"),
        ("a", "create from a sample"),
        ("t", shows("tree")),
        ("w", "NOMINATED NODE"),
        ("I", "IP↑"),
        ("w", lambda driver: "NOMINATED NODE" not in driver.picture),
        ("space", "◆ 1 marked"),
        ("ctrl+@", "◆ 1 marked"),
        ("ctrl+backslash", lambda driver: "marked" not in driver.picture, ("space",)),
        *((key, f"{title}↑") for key, title in SORT_KEYS.items() if title != "IP"),
        ("J", "→ owner deployments.apps/web"),
        ("ctrl+k", says("deleted")),
    ),
    *rows(
        "ObjectsScreen",
        "deployments",
        ("s", "Replicas of deployments.apps/web"),
        ("z", "/-l app=web"),
    ),
    *rows("ObjectsScreen", "accounts", ("x", says("exec is for"))),
    *rows(
        "Grid",
        "accounts",
        ("down", at(1)),
        ("j", at(1)),
        ("up", at(0), ("down",)),
        ("k", at(0), ("down",)),
        *((key, at(-1)) for key in ("pagedown", "ctrl+f", "end", "G")),
        *((key, at(0), ("end",)) for key in ("pageup", "ctrl+b", "home", "g")),
        ("enter", "kind: ServiceAccount"),
    ),
    *rows(
        "LinkLine",
        "pods",
        ("down", focused(LinkLine), ("y", "tab", "tab")),
        ("j", focused(LinkLine), ("y", "tab", "tab")),
        ("up", lambda driver: not focused(Grid)(driver), ("y", "tab", "tab", "tab")),
        ("k", lambda driver: not focused(Grid)(driver), ("y", "tab", "tab", "tab")),
        ("enter", "kind: ReplicaSet", ("y", "tab", "tab")),
    ),
    *rows(
        "StoreScreen",
        "store",
        (
            "left_square_bracket",
            lambda driver: "against" in driver.picture and "the newest" not in driver.picture,
            WEB_KEY,
        ),
        ("right_square_bracket", says("that is as far as it goes"), (*WEB_KEY, *["right_square_bracket"] * 3)),
        ("m", says("all others are compared with rev"), WEB_KEY),
        ("l", lambda driver: driver.app.shown.has_class("streaming")),
        ("p", "held at rev"),
        ("z", "▸ "),
        ("t", shows("objects"), WEB_KEY),
    ),
    *rows("ControllersScreen", "controllers", ("tab", second_table), ("shift+tab", first_table, ("tab",))),
    *rows(
        "SchedulerScreen",
        "scheduler",
        ("left_square_bracket", says("that is as far as it goes")),
        ("right_square_bracket", says("that is as far as it goes")),
        ("r", lambda driver: not getattr(driver.app.shown, "_raw", True)),
        ("a", lambda driver: getattr(driver.app.shown, "shows_all_nodes", False)),
    ),
    *rows(
        "NodesScreen",
        "nodes",
        ("tab", second_table),
        ("shift+tab", first_table, ("tab",)),
        ("n", first_table, ("tab",)),
    ),
    *rows("TreeScreen", "tree", ("t", shows("objects"))),
    *rows(
        "Output",
        "pods",
        ("escape", closed, ("d",)),
        ("q", closed, ("d",)),
        ("colon", lambda driver: driver.find(CommandLine).has_class("-open"), ("d",)),
        ("slash", "error  ·  !GET", ("d",)),
        ("f", lambda driver: isinstance(driver.app.screen, Output) and driver.app.screen.lines.follows, ("d",)),
        ("c", says("copied what is shown"), ("d",)),
        *((key, "⏸ paused", ("d",)) for key in ("space", "f9")),
        *((entry.key, shows(entry.name), ("d",)) for entry in CATALOGUE if entry.name != "objects"),
        ("2", closed, ("d",)),
    ),
    *rows(
        "Editor",
        "accounts",
        ("ctrl+s", "nothing changed", ("e",)),
        ("ctrl+t", "nothing changed", ("e",)),
        ("ctrl+r", focused(TextArea), ("e",)),
        ("ctrl+o", closed, ("e",)),
        ("f6", focused(TextArea), ("e",)),  # there is no diff yet
        ("escape", closed, ("e",)),
        ("f9", "⏸ paused", ("e",)),
    ),
    *rows("Help", "store", *((key, closed, ("question_mark",)) for key in ("escape", "q", "question_mark", "enter"))),
    *rows("Question", "pods", ("escape", closed, DELETE), ("left", "No", DELETE), ("right", "No", DELETE)),
    *rows("Choice", "pods", ("escape", closed, ("a",))),
    *rows(
        "CommandLine",
        "pods",
        ("tab", typed("get "), ("colon", *"ge")),
        ("shift+tab", typed("tree"), ("colon", "t", "tab")),
        ("up", typed("theme dark"), LINE_BEFORE),
        ("down", typed(""), (*LINE_BEFORE, "up")),
        ("escape", lambda driver: not driver.find(CommandLine).has_class("-open"), ("colon",)),
    ),
    *rows("_Typed", "pods", ("enter", shows("store"), ("colon", *"store"))),
    *rows(
        "FilterLine",
        "pods",
        ("enter", lambda driver: driver.find(Grid).has_focus, ("slash", "w")),
        ("escape", lambda driver: "/w" not in driver.picture, ("slash", "w")),
    ),
    *rows(
        "Scrolled",
        "pods",
        *((key, scrolled_to(0), ("enter", "down")) for key in ("up", "k", "pageup", "ctrl+b", "home", "g")),
        *((key, scrolled_to(1), ("enter",)) for key in ("down", "j")),
        *((key, scrolled_to(2), ("enter",)) for key in ("pagedown", "ctrl+f", "end", "G")),
    ),
    *rows(
        "PrintedLines",
        "pods",
        *((key, scrolled_to(0), ("d", "down")) for key in ("up", "k", "pageup", "ctrl+b", "home", "g")),
        *((key, scrolled_to(1), ("d",)) for key in ("down", "j")),
        *((key, scrolled_to(2), ("d",)) for key in ("pagedown", "ctrl+f", "end", "G")),
    ),
    *rows("Inspector", "flow", ("escape", focused(FlowCanvas), ("up", "tab"))),
    *rows("Prompt", "pods", ("escape", closed, ("x",))),
]
TOUR = [
    *(Row("TourGuide", key, "flow", "2/6") for key in ("enter", "right", "space")),
    *(Row("TourGuide", key, "flow", "1/6", ("enter",)) for key in ("left", "backspace")),
    *(Row("TourGuide", key, "flow", closed) for key in ("escape", "q")),
    *(Row("TourGuide", key, "flow", "stopped, ") for key in ("up", "down")),
]


def test_no_key_is_without_a_row_and_no_row_without_a_key() -> None:
    told = {(row.owner, row.key) for row in (*ROWS, *TOUR)} | ELSEWHERE
    assert told == bound()


async def problem_with(driver: Driver, row: Row) -> str:
    """Press the key where it belongs; "" once what is to be seen is there."""
    for key in row.before:
        await driver.press(key)
        await settled(driver)
    await driver.press(row.key)
    seen = row.seen
    try:
        await driver.until((lambda: seen in driver.picture) if isinstance(seen, str) else (lambda: seen(driver)))
    except AssertionError as error:
        return f"{row.owner}: {row.key} at {row.place}: {error}"
    return ""


async def settled(driver: Driver) -> None:
    """What a key set off has come to its end: no worker but those that last as long as what they follow."""
    lasting = {
        "follow", "_follow", "_follow_inside", "follow_summary", "follow_trace", "follow_figures", "feed_flow",
        "start_tour",
    }  # fmt: skip
    waiting = {"action_delete", "action_sample", "action_exec", "action_edit", "action_namespace"}  # for an answer
    await driver.until(lambda: {worker.name for worker in driver.app.workers} <= lasting | waiting)


async def leave_all(driver: Driver) -> None:
    """Back to a screen with nothing over it, as it was, the clock too, once what steers it has done so."""
    app = driver.app
    await driver.until(lambda: not any(worker.name == "_steer" for worker in app.workers))
    for _ in range(10):
        if app.screen is app.window and not app.window.query_one("CommandLine").has_class("-open"):
            break
        await driver.press("escape")
        await driver.pilot.pause(0.02)
    if app.window.is_split:
        await app.window.close_second()
    app.use_namespace("")
    app.flow.show.clear()
    app.clear_notifications()
    Telling.said.clear()
    app.theme = DEFAULT_THEME
    await app.session.client.request("PUT", "/debug/ktui/clock", body={"speed": 4})
    for shown in app.window.screens:
        shown.action_escape()


@pytest.mark.skipif("KTUI_EVERY_KEY" not in os.environ, reason="by hand: it takes a minute")
async def test_each_key_does_what_it_says(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # for the picture that a key writes
    app = Telling(session)
    wrong = []
    async with app.run_test(size=(160, 50), notifications=True) as pilot:
        driver = Driver(app, pilot)
        await app._kubectl(("apply", "-f", str(WEB)), io.StringIO(), io.StringIO())
        await driver.until(lambda: app.summary.pods.get("ready") == 3)
        for row in (*ROWS, *TOUR):
            await PLACES[row.place](driver)
            if row.owner == "TourGuide":
                app.start_tour()
                await driver.until(lambda: isinstance(app.screen, TourGuide))
            if problem := await problem_with(driver, row):
                wrong.append(problem)
            await leave_all(driver)
    assert not wrong, "\n".join(wrong)
