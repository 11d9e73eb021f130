"""What all screens share: the bar, the keys, the command line, the clock, leaving, and an engine that is away."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input

from engine.api.types import GVR
from engine.client import Client
from engine.client.transport import InProcessTransport
from engine.cluster import Cluster
from engine.pki import ADMIN
from engine.world import World
from ktui.app import KtuiApp
from ktui.feeds.summary import follow
from ktui.models.grid_row import GridRow
from ktui.screens.flow import FlowScreen
from ktui.screens.help import Help
from ktui.screens.objects import ObjectsScreen
from ktui.screens.output import Output
from ktui.screens.store import StoreScreen
from ktui.session import LateTransport, Session
from ktui.settings import Settings
from ktui.stopped_time import PATIENCE_SECONDS
from ktui.widgets.command_line import CommandLine
from ktui.widgets.table_pane import TablePane
from tests.ktui.screens.conftest import Show
from tests.ktui.screens.driver import Driver

CONFIG_MAPS = GVR("", "v1", "configmaps")


async def test_the_bar_tells_the_cluster_in_a_line(show: Show) -> None:
    async with show() as driver:
        await driver.sees(" ktui  default ", "nodes 3/3", "pods 0● 0◐ 0✖", "▶ 4×", "instant~", "v1.")


async def test_a_key_for_each_screen(show: Show) -> None:
    async with show() as driver:
        for key, screen in (("2", ObjectsScreen), ("3", StoreScreen), ("1", FlowScreen)):
            await driver.press(key)
            await driver.shows(screen)


async def test_screens_resources_and_themes_by_name(show: Show) -> None:
    async with show() as driver:
        await driver.command("store")
        await driver.shows(StoreScreen)
        await driver.command("nodes")
        await driver.sees("node-3", "Ready")
        await driver.command("theme light")
        assert driver.app.theme == "ktui-light"
        await driver.command("theme mauve")
        await driver.sees('there is no theme "mauve"', "high-contrast")
        driver.app.settings.broken_themes["bad"] = "bad.yaml line 3: primary: no colour"
        await driver.command("theme bad")
        await driver.sees("bad.yaml line 3: primary: no colour")
        await driver.press("T")
        assert driver.app.theme != "ktui-light"


@pytest.mark.parametrize("screen", ["1", "2", "3"])
async def test_help_names_every_key(show: Show, screen: str) -> None:
    async with show(size=(120, 100)) as driver:
        await driver.press(screen, "question_mark")
        await driver.until(lambda: isinstance(driver.app.screen, Help))
        await driver.sees("this screen", "moving", "everywhere", "reading", "Esc closes", "pause the engine's clock")
        await driver.press("escape")
        await driver.until(lambda: not isinstance(driver.app.screen, Help))


# -- the command line


async def test_kubectl_s_words_print_into_a_pane(show: Show) -> None:
    async with show() as driver:
        await driver.command("get nodes")
        await driver.sees(":get nodes", "node-1", "STATUS", "✓ done")
        await driver.press("escape")
        await driver.command("kubectl get gizmos")
        await driver.sees("the server doesn't have a resource type", "✖ exit code 1")
        await driver.press("q")
        await driver.shows(FlowScreen)
        await driver.command("get nodes")
        await driver.sees("✓ done")
        await driver.press("2")
        await driver.shows(ObjectsScreen)


async def test_from_what_a_command_printed_one_goes_to_the_next_command(show: Show) -> None:
    async with show() as driver:
        await driver.command("get nodes")
        await driver.sees("✓ done")
        await driver.command("get services")
        await driver.sees(":get services", "kubernetes", "✓ done")


async def test_a_watch_goes_on_until_escape_ends_it(show: Show) -> None:
    async with show() as driver:
        await driver.command("get cm -w")
        await driver.sees("◐ running · Esc ends it")
        await driver.client.create(CONFIG_MAPS, {"metadata": {"name": "watched"}}, namespace="default")
        await driver.sees("watched")
        output = driver.app.screen
        assert isinstance(output, Output)
        await driver.press("escape")
        await driver.until(lambda: not any(worker.node is output for worker in driver.app.workers))
        assert isinstance(driver.shown, FlowScreen)


async def test_a_command_that_fails_says_what_kubectl_says(show: Show) -> None:
    async with show() as driver:
        await driver.command("scale deploy/web --replicas=5")
        await driver.sees('deployments.apps "web" not found', "✖ exit code 1")


async def test_history_and_the_ways_out_of_the_line(show: Show) -> None:
    async with show() as driver:
        await driver.command("store")
        await driver.command("flow")
        await driver.press("colon", "up", "up")
        assert driver.find(Input, "#command").value == "store"
        await driver.press("down", "down")
        assert driver.find(Input, "#command").value == ""
        await driver.type("get 'pods")
        await driver.press("enter")
        await driver.sees("No closing quotation")
        await driver.press("colon", "escape")
        assert not driver.find(CommandLine).has_class("-open")
        await driver.press("colon", "enter")
        await driver.shows(FlowScreen)


async def test_the_key_line_tells_the_keys_of_the_line_that_is_typed(show: Show) -> None:
    async with show() as driver:
        for key, said in (
            ("colon", "↑ Earlier  ⏎ Run  tab Complete  esc Close"),
            ("slash", "⏎ To the rows  f9 Pause  esc No filter"),
        ):
            await driver.press("2", key)
            await driver.sees(said)
            told = driver.picture.splitlines()[-1]
            assert "/ Filter" not in told
            assert "Describe" not in told
            await driver.press("escape")
            await driver.sees("/ Filter", "Describe")


async def test_a_line_that_comes_at_once_goes_to_the_command_line(show: Show) -> None:
    async with show() as driver:
        driver.all_at_once("2", "colon", *"theme", "space", *"light", "enter", "3")
        await driver.shows(StoreScreen)
        assert driver.app.theme == "ktui-light"
        driver.all_at_once("2", "slash", *"web", "enter")
        await driver.sees("pods  0", "/web")


async def test_keys_wait_however_slow_the_machine_is(show: Show) -> None:
    loop = asyncio.get_running_loop()

    def take_the_processor() -> None:
        time.sleep(0.03)
        if driver.app.theme != "ktui-light":
            loop.call_soon(take_the_processor)

    async with show() as driver:
        loop.call_soon(take_the_processor)
        driver.all_at_once("2", "colon", *"theme", "space", *"light", "enter")
        await driver.until(lambda: driver.app.theme == "ktui-light")


async def test_a_word_that_names_nothing_is_said_in_kubectl_s_words(show: Show) -> None:
    async with show() as driver:
        await driver.command("foo")
        await driver.sees('the server doesn\'t have a resource type "foo"')
        await driver.misses("open_resource")
        assert "Error" not in driver.picture


# -- the clock


async def test_pause_resume_step_and_speed(show: Show, cluster: Cluster) -> None:
    clock = cluster.world.clock
    async with show() as driver:
        await driver.press("space")
        await driver.until(lambda: clock.mode == "paused")
        await driver.sees("⏸ paused")
        before = clock.monotonic()
        await driver.press("s")
        await driver.until(lambda: clock.monotonic() > before)
        assert clock.mode == "paused"
        await driver.press("plus")  # at which it goes on, when it does
        await driver.sees("will run at 5×")
        assert clock.mode == "paused"
        await driver.press("minus")
        await driver.sees("will run at 2×")
        await driver.press("space")
        await driver.until(lambda: clock.speed == 2)
        await driver.command("speed 4")
        await driver.until(lambda: clock.speed == 4)
        await driver.press("plus")
        await driver.until(lambda: clock.speed == 5)
        await driver.press("minus", "minus")
        await driver.until(lambda: clock.speed == 1)
        await driver.sees("▶ 1×")


async def test_the_clock_is_steered_by_words_too(show: Show, cluster: Cluster) -> None:
    clock = cluster.world.clock
    async with show() as driver:
        await driver.command("pause")
        await driver.until(lambda: clock.mode == "paused")
        before = clock.monotonic()
        await driver.command("step")
        await driver.until(lambda: clock.monotonic() > before)
        await driver.command("speed 2.5")
        await driver.command("resume")
        await driver.sees("▶ 2.5×")
        assert clock.speed == 2.5


async def test_what_waits_for_the_time_of_a_paused_cluster_says_so(show: Show) -> None:
    async with show() as driver:
        await driver.command("pause")
        await driver.sees("⏸ paused")
        await driver.command("run mine --image=nginx:1.27")
        await driver.sees("⏸ the cluster's time is paused: this waits · f9 lets it go on")
        await driver.press("f9")
        await driver.sees("▶", "pod/mine created", "✓ done")
        await driver.misses("time is paused: this waits")
        await driver.press("escape", "space")
        await driver.sees("⏸ paused")
        driver.app.do_and_say(("create", "configmap", "late"))
        await driver.sees("the cluster's time is paused: this waits")
        await driver.press("space")
        await driver.sees("configmap/late created")


async def test_what_is_typed_is_remembered_at_once(session: Session, tmp_path: Path) -> None:
    """Also by a screen that is killed, and beside others."""
    app = KtuiApp(session, settings=Settings.load(tmp_path, tmp_path / "state"))
    app.settings.mark_toured()
    async with app.run_test() as pilot:
        await Driver(app, pilot).command("store")
        assert Settings.load(tmp_path, tmp_path / "state").history() == ["store"]


async def test_enter_that_was_pressed_before_the_terminal_was_ready_is_enter(show: Show) -> None:
    """Until the app has told it otherwise, a terminal makes a line feed of it."""
    async with show() as driver:
        await driver.press("colon")
        await driver.type("store")
        await driver.press("ctrl+j")
        await driver.until(lambda: isinstance(driver.shown, StoreScreen))


async def test_what_only_reads_waits_for_no_time(show: Show) -> None:
    """However long it takes."""
    async with show() as driver:
        await driver.command("pause")
        await driver.sees("⏸ paused")
        await driver.command("get nodes -w")
        await driver.sees("node-1", "◐ running")
        clock = driver.app.session.world.clock
        end = clock.monotonic() + 2 * PATIENCE_SECONDS
        await driver.until(lambda: clock.monotonic() > end)
        await driver.misses("time is paused: this waits")


async def test_the_command_line_says_which_namespace_it_works_in(show: Show) -> None:
    async with show() as driver:
        await driver.press("colon")
        await driver.sees(" default :")
        await driver.press("escape")
        await driver.command("ns kube-system")
        await driver.press("colon")
        await driver.sees(" kube-system :")


# -- terminals


async def test_a_terminal_that_is_too_small_says_so_and_recovers(show: Show) -> None:
    async with show() as driver:
        await driver.pilot.resize_terminal(60, 20)
        await driver.sees("This terminal is 60×20; ktui needs 80×24.")
        await driver.pilot.resize_terminal(100, 30)
        await driver.misses("This terminal is")
        await driver.sees("client", "nodes")


async def test_no_key_acts_unseen_while_the_terminal_is_too_small(show: Show) -> None:
    async with show() as driver:
        await driver.press("2")
        theme = driver.app.theme
        await driver.pilot.resize_terminal(60, 20)
        await driver.sees("This terminal is 60×20")
        await driver.press("3", "colon", "n", "enter", "question_mark", "space", "enter", "T", "ctrl+p", "escape")
        await driver.pilot.resize_terminal(100, 30)
        await driver.misses("This terminal is")
        assert driver.app.screen is driver.app.window
        assert (driver.app.shown.mode, driver.app.theme) == ("objects", theme)
        await driver.sees("▶")  # the clock runs
        await driver.press("colon")
        await driver.pilot.resize_terminal(60, 20)
        await driver.sees("This terminal is 60×20")
        await driver.press("q")
        await driver.until(lambda: not driver.app.is_running)


async def test_a_question_above_the_cover_goes_before_it(session: Session) -> None:
    app = KtuiApp(replace(session, stop_engine=lambda: None))
    async with app.run_test(size=(100, 30)) as pilot:
        driver = Driver(app, pilot)
        await driver.sees("client", "nodes")
        await pilot.resize_terminal(70, 20)
        await driver.sees("This terminal is 70×20")
        await driver.press("q")
        await driver.sees("Esc")
        await pilot.resize_terminal(100, 30)
        await driver.settle()
        assert len(app.screen_stack) == 3  # the question stays
        await driver.press("escape")
        await driver.misses("This terminal is")
        assert app.screen is app.window


# -- leaving


async def test_q_leaves_at_once_where_the_engine_is_not_this_person_s(show: Show) -> None:
    async with show() as driver:
        await driver.press("q")
        await driver.until(lambda: not driver.app.is_running)


@pytest.mark.parametrize(
    ("keys", "is_stopped", "is_left"),
    [
        pytest.param(["k"], False, True, id="keep"),
        pytest.param(["s"], True, True, id="stop"),
        pytest.param(["escape"], False, False, id="stay"),
        pytest.param(["enter"], False, True, id="an engine that was there before goes on by default"),
    ],
)
async def test_q_asks_what_becomes_of_the_cluster(
    session: Session, keys: list[str], is_stopped: bool, is_left: bool
) -> None:
    stopped: list[str] = []
    app = KtuiApp(replace(session, stop_engine=lambda: stopped.append("it")))
    async with app.run_test() as pilot:
        driver = Driver(app, pilot)
        await driver.press("q")
        await driver.sees("What becomes of cluster default?")
        await pilot.press(*keys)
        await driver.until(lambda: app.is_running != is_left)
    assert bool(stopped) == is_stopped


async def test_control_c_leaves_and_the_cluster_goes_on(session: Session) -> None:
    stopped: list[str] = []
    app = KtuiApp(replace(session, stop_engine=lambda: stopped.append("it")))
    async with app.run_test() as pilot:
        await pilot.press("ctrl+c")
        await Driver(app, pilot).until(lambda: not app.is_running)
    assert not stopped


# -- an engine that is away


class Engine:
    """A session whose engine can go and come back."""

    def __init__(self, cluster: Cluster) -> None:
        self.transport = LateTransport()
        self.alive = True
        self._cluster = cluster
        self.session = Session(
            name="default",
            client=Client(self.transport, user_agent="ktui"),
            world=World.create(),
            begin=self.begin,
            is_alive=lambda: self.alive,
        )

    async def begin(self) -> None:
        if self.alive:
            await self.transport.attach(InProcessTransport(self._cluster.api_server, ADMIN))


async def test_the_screen_is_there_before_the_engine_is(cluster: Cluster) -> None:
    engine = Engine(cluster)
    engine.alive = False
    app = KtuiApp(engine.session)
    async with app.run_test(size=(120, 40)) as pilot:
        driver = Driver(app, pilot)
        await driver.sees("◐ starting the engine", "client", "nodes", "◐ asking the engine")
        engine.alive = True
        await engine.begin()
        await driver.sees("nodes 3/3")


async def test_an_engine_that_is_not_started_from_here_is_connected_to(session: Session) -> None:
    assert session.begin is None
    async with aclosing(follow(session)) as summaries:
        first = await anext(summaries)
    assert (first.state, first.is_starting) == ("connecting to the engine …", True)


async def test_an_engine_that_has_ended_is_said_and_up_starts_it_again(cluster: Cluster) -> None:
    engine = Engine(cluster)
    app = KtuiApp(engine.session)
    async with app.run_test(size=(120, 40)) as pilot:
        driver = Driver(app, pilot)
        await driver.sees("nodes 3/3")
        engine.alive = False
        engine.transport.fail("connection refused")
        await driver.sees("✖ the engine has ended · :up starts it again")
        engine.alive = True
        await driver.command("up")
        await driver.sees("nodes 3/3")


async def test_a_lost_connection_is_said_and_taken_up_again(cluster: Cluster) -> None:
    engine = Engine(cluster)
    app = KtuiApp(engine.session)
    async with app.run_test(size=(120, 40)) as pilot:
        driver = Driver(app, pilot)
        await driver.sees("nodes 3/3")
        engine.transport.fail("connection reset")
        await driver.sees("✖ lost the connection")
        await engine.begin()
        await driver.sees("nodes 3/3")
        client = cluster.client(user_agent="kubectl/v1.37.1")
        await client.create(CONFIG_MAPS, {"metadata": {"name": "back"}}, namespace="default")
        await driver.sees("cm/back")


async def test_an_engine_that_does_not_start_ends_the_screen_with_its_words(cluster: Cluster) -> None:
    engine = Engine(cluster)

    async def fail() -> None:
        raise ConnectionError("no room on the disk")

    app = KtuiApp(replace(engine.session, begin=fail))
    async with app.run_test() as pilot:
        await Driver(app, pilot).until(lambda: not app.is_running)
    assert app.return_value == "no room on the disk"
    assert app.return_code == 1


async def test_a_table_that_fits_has_no_bar_below_it(show: Show) -> None:
    """The bar beside it takes a cell; a table that had been measured without it kept a bar below while nothing came."""
    rows = [GridRow(str(number), ("x" * 40, "y" * 60)) for number in range(50)]
    async with show(size=(80, 24)) as driver:
        pane = TablePane("rows")
        await driver.app.window.mount(pane, before=0)
        await driver.settle()
        pane.show(("ONE", "TWO"), rows)
        await driver.sees("xxx", "yyy")
        await driver.settle()
        assert pane.grid.show_vertical_scrollbar
        assert not pane.grid.show_horizontal_scrollbar
