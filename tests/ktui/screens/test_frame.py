"""The ways through the app: links and back, the palette, completion, namespaces, the tour, exports, own keys."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from textual.command import CommandPalette
from textual.widget import Widget
from textual.widgets import Input

from engine.api.types import DEPLOYMENTS, GVR, NAMESPACES
from ktui.app import KtuiApp
from ktui.models.link import Link
from ktui.screens.catalogue import ENTRIES
from ktui.screens.flow import FlowScreen
from ktui.screens.objects import ObjectsScreen
from ktui.screens.store import StoreScreen
from ktui.screens.store_value import KeyValue
from ktui.screens.too_small import TooSmall
from ktui.screens.tour import STOPS, TourGuide
from ktui.session import Session
from ktui.settings import Settings
from ktui.widgets.detail_pane import DetailPane, LinkLine
from ktui.widgets.dialogs import Choice
from ktui.widgets.grid import Grid
from ktui.widgets.inspector import Inspector
from ktui.widgets.key_line import KeyLine
from tests.ktui.screens.conftest import Show
from tests.ktui.screens.driver import Driver

CONFIG_MAPS = GVR("", "v1", "configmaps")
OWNED = {
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "main", "image": "nginx"}]},
        },
    },
}


async def test_a_link_leads_to_the_object_and_backspace_comes_back(show: Show) -> None:
    async with show(size=(160, 50)) as driver:
        await driver.client.create(DEPLOYMENTS, OWNED, namespace="default")
        await driver.press("3")
        await driver.shows(StoreScreen)
        await driver.command("pods")
        await driver.sees("Running", "default")
        await driver.until(lambda: driver.find(Grid).rows)
        await driver.press("enter")
        await driver.sees("→ owner replicasets.apps/web-", "→ node nodes/node-")
        link = driver.find(DetailPane).query(LinkLine).first()
        link.focus()
        await driver.press("enter")
        await driver.sees("replicasets.apps  1", "→ owner deployments.apps/web")
        assert driver.find(Grid).key.startswith("default/web-")
        await driver.press("backspace")
        await driver.sees(" pods  1")
        await driver.press("backspace")
        await driver.shows(StoreScreen)
        await driver.press("backspace")
        await driver.shows(FlowScreen)
        await driver.press("backspace")
        await driver.sees("this is where you began")


async def test_a_link_to_what_is_filtered_away_takes_the_filter_away(show: Show) -> None:
    async with show() as driver:
        for name in ("apple", "pear"):
            await driver.client.create(CONFIG_MAPS, {"metadata": {"name": name}}, namespace="default")
        await driver.command("cm")
        await driver.sees("apple", "pear")
        await driver.press("slash")
        await driver.type("apple")
        await driver.misses("pear")
        await driver.press("enter")
        driver.app.go_to(Link("configmaps", "pear", "default"))
        await driver.until(lambda: driver.find(Grid).key == "default/pear")


async def test_a_line_may_name_one_object(show: Show) -> None:
    async with show() as driver:
        await driver.command("node/node-2")
        await driver.sees("▌node-2", "kind: Node")
        await driver.command("no/node-9")
        await driver.sees('nodes "node-9" not found')
        await driver.command("help")
        await driver.sees("Esc closes")


async def test_a_link_to_a_kind_that_there_is_not_is_said(show: Show) -> None:
    async with show() as driver:
        driver.app.go_to(Link("gizmos.example.com", "one"))
        await driver.sees("gizmos")
        assert isinstance(driver.shown, FlowScreen)


async def test_the_palette_finds_screens_keys_themes_and_kinds(show: Show) -> None:
    async with show(size=(120, 50)) as driver:
        await driver.press("ctrl+p")
        await driver.until(lambda: isinstance(driver.app.screen, CommandPalette))
        await driver.type("etcd")
        await driver.misses("any resource, live")
        await driver.sees("etcd's keys")
        await driver.press("enter")
        await driver.shows(StoreScreen)
        await driver.press("ctrl+p")
        await driver.type("configmaps")
        await driver.sees("list every ConfigMap")


async def test_the_palette_finds_objects_by_a_part_of_their_name(show: Show) -> None:
    async with show(size=(120, 50)) as driver:
        await driver.client.create(NAMESPACES, {"metadata": {"name": "shop"}})
        await driver.client.create(CONFIG_MAPS, {"metadata": {"name": "my-settings"}}, namespace="shop")
        driver.app.use_namespace("default")
        await driver.press("ctrl+p")
        await driver.type("y-sett")
        await driver.sees("ConfigMap my-settings (shop)")
        await driver.press("enter")
        await driver.shows(ObjectsScreen)
        await driver.until(lambda: driver.find(Grid).key == "shop/my-settings")
        await driver.press("ctrl+p")
        await driver.type("node-2")
        await driver.sees("Node node-2")
        await driver.press("enter")
        await driver.until(lambda: driver.find(Grid).key.endswith("node-2"))


async def test_copying_takes_the_row_or_the_yaml(show: Show) -> None:
    async with show() as driver:
        await driver.client.create(CONFIG_MAPS, {"metadata": {"name": "mine"}}, namespace="default")
        await driver.command("cm")
        await driver.until(lambda: any(row.key == "default/mine" for row in driver.find(Grid).rows))
        driver.find(Grid).move_to("default/mine")
        await driver.press("c")
        assert driver.app.clipboard.split("\t")[:2] == ["default", "mine"]
        await driver.press("y")
        await driver.sees("kind: ConfigMap")
        await driver.press("c")
        assert "kind: ConfigMap" in driver.app.clipboard


async def test_tab_completes_and_goes_through_what_fits(show: Show) -> None:
    async with show() as driver:
        await driver.press("colon")
        await driver.type("describe node")
        line = driver.find(Input, "#command")
        await driver.press("tab")
        await driver.until(lambda: line.value == "describe nodes ")
        await driver.press("tab")
        await driver.until(lambda: line.value == "describe nodes node-")
        await driver.press("tab")
        await driver.until(lambda: line.value == "describe nodes node-1")
        await driver.press("shift+tab")
        await driver.until(lambda: line.value == "describe nodes node-3")
        await driver.type("x")
        await driver.press("tab")
        await driver.sees("nothing begins so")
        line.value = "describe nodes node-"
        await driver.press("tab")
        await driver.sees("node-1  node-2  node-3")
        await driver.press("shift+tab")
        await driver.until(lambda: line.value == "describe nodes node-3")


async def test_candidates_that_have_no_room_are_counted_and_names_of_files_stand_without_their_folder(
    show: Show,
) -> None:
    async with show(size=(80, 24)) as driver:
        await driver.press("colon")
        await driver.type("apply -f samples/")
        await driver.press("tab")
        found = len(list((Path(__file__).parents[3] / "samples").iterdir()))
        await driver.until(lambda: "  and " in driver.picture.splitlines()[-3])
        shown, left = driver.picture.splitlines()[-3].strip().split("  and ")
        assert "samples/" not in shown
        assert left.split("▏")[0].strip() == f"{found - len(shown.split())} more"


async def test_a_namespace_is_chosen_by_a_key_or_a_word(show: Show) -> None:
    async with show() as driver:
        await driver.client.create(NAMESPACES, {"metadata": {"name": "shop"}})
        for place in ("default", "shop"):
            await driver.client.create(CONFIG_MAPS, {"metadata": {"name": f"in-{place}"}}, namespace=place)
        await driver.command("cm")
        await driver.sees("in-default", "in-shop")
        await driver.press("n")
        await driver.until(lambda: isinstance(driver.app.screen, Choice))
        await driver.type("sho")
        await driver.press("enter")
        await driver.misses("in-default")
        await driver.sees("in-shop", "namespace shop")
        await driver.command("get cm")
        await driver.sees("in-shop", "✓ done")
        await driver.press("escape")
        await driver.command("ns all")
        await driver.sees("in-default", "in-shop")
        await driver.press("n", "escape")
        assert driver.app.namespace == ""


async def maps_in(driver: Driver, **names: str) -> None:
    for name, place in names.items():
        labels = {"labels": {"app": name}}
        await driver.client.create(CONFIG_MAPS, {"metadata": {"name": f"map-{name}", **labels}}, namespace=place)


async def test_a_resource_with_its_namespace_and_a_filter_in_one_line(show: Show) -> None:
    async with show() as driver:
        await driver.client.create(NAMESPACES, {"metadata": {"name": "shop"}})
        await maps_in(driver, one="default", two="shop", three="shop")
        await driver.command("cm shop")
        await driver.sees("namespace shop", "map-two", "map-three")
        assert "map-one" not in driver.picture
        await driver.command("cm app=two")
        await driver.sees("map-two", "/-l app=two")
        await driver.misses("map-three")
        await driver.command("cm nowhere")
        await driver.sees('namespaces "nowhere" not found')
        assert driver.app.namespace == "shop"
        await driver.press("0")
        await driver.sees("map-one", "map-two", "map-three")
        await driver.command("sec all")  # k9s's word
        await driver.sees(" secrets  ")
        await driver.command("fetch cm")
        await driver.sees('unknown command "fetch"')


async def test_a_namespace_that_there_is_not_is_not_shown(show: Show) -> None:
    async with show() as driver:
        await driver.command("ns nowhere")
        await driver.sees('namespaces "nowhere" not found')
        assert driver.app.namespace == ""


async def test_a_namespace_that_goes_while_it_is_shown_is_said_to_have_gone(show: Show) -> None:
    async with show() as driver:
        await driver.client.create(NAMESPACES, {"metadata": {"name": "shop"}})
        await driver.command("cm shop")
        await driver.sees("configmaps in shop  0", "No configmaps here")
        await driver.client.delete(NAMESPACES, "shop")
        await driver.sees('There is no namespace "shop" any more. 0 shows all namespaces')
        await driver.client.create(NAMESPACES, {"metadata": {"name": "shop"}})
        await driver.sees("No configmaps here")
        await driver.press("0")
        await driver.misses("configmaps in shop")


async def test_back_and_forward_through_what_was_shown(show: Show) -> None:
    async with show() as driver:
        await driver.client.create(NAMESPACES, {"metadata": {"name": "shop"}})
        await maps_in(driver, one="default", two="shop")
        await driver.command("cm")
        await driver.sees("map-one", "map-two")
        await driver.command("sec shop")
        await driver.sees(" secrets in shop  ")
        await driver.press("left_square_bracket")
        await driver.sees(" configmaps  ", "map-one", "map-two")
        await driver.press("right_square_bracket")
        await driver.sees(" secrets in shop  ")
        assert driver.app.namespace == "shop"
        await driver.press("right_square_bracket")
        await driver.sees("this is the last place")


async def test_backspace_steps_from_a_detail_to_its_table_and_then_to_the_screen_before(show: Show) -> None:
    insides: dict[str, type[Widget]] = {"objects": DetailPane, "store": KeyValue, "flow": Inspector}
    async with show(size=(80, 24)) as driver:
        await maps_in(driver, one="default")
        await driver.command("cm")
        await driver.sees("map-one")
        for mode, inside in insides.items():
            await show_mode(driver, "dashboard")
            await show_mode(driver, mode)
            body = driver.app.focused
            await driver.press("down", "down", "enter")
            await driver.until(partial(focus_is_in, driver, inside))
            await driver.press("backspace")
            assert (driver.app.focused, driver.app.shown.mode) == (body, mode)
            assert not driver.app.shown.has_class("inspecting", "reading")
            await driver.press("backspace")
            await driver.until(lambda: driver.app.shown.mode == "dashboard")


async def show_mode(driver: Driver, mode: str) -> None:
    await driver.press(ENTRIES[mode].key)
    await driver.until(lambda: driver.app.shown.mode == mode)


def focus_is_in(driver: Driver, kind: type[Widget]) -> bool:
    return isinstance(driver.app.focused, kind)


async def test_a_link_into_another_namespace_goes_there(show: Show) -> None:
    async with show() as driver:
        await driver.client.create(NAMESPACES, {"metadata": {"name": "shop"}})
        await maps_in(driver, one="default", two="shop")
        await driver.command("cm shop")
        await driver.sees("map-two")
        driver.app.go_to(Link("configmaps", "map-one", "default"))
        await driver.until(lambda: driver.find(Grid).key == "default/map-one")


async def test_all_resources_by_their_names(show: Show) -> None:
    async with show() as driver:
        await driver.press("ctrl+a")
        await driver.until(lambda: isinstance(driver.app.screen, Choice))
        await driver.type("sts")
        await driver.sees("statefulsets", "StatefulSet  ", "apps/v1")
        await driver.press("enter")
        await driver.sees(" statefulsets.apps  0")


async def test_the_list_of_resources_has_their_kinds_whole(show: Show) -> None:
    async with show(size=(80, 24)) as driver:
        await driver.press("ctrl+a")
        await driver.type("admission")
        await driver.sees("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding")


async def test_the_tree_below_one_kind(show: Show) -> None:
    async with show() as driver:
        await driver.client.create(DEPLOYMENTS, OWNED, namespace="default")
        await driver.command("xray rs")
        await driver.sees("replicasets.apps and what they own", "replicaset/web-", "Running")
        assert "deployment/web" not in driver.picture
        await driver.press("escape")
        await driver.sees("workloads by owner", "deployment/web")
        await driver.command("xray cm")
        await driver.sees("the tree shows deployments.apps")


async def test_the_way_on_to_the_tree_leads_to_the_namespace_that_it_showed(show: Show) -> None:
    async with show() as driver:
        await driver.client.create(DEPLOYMENTS, OWNED, namespace="default")
        await driver.command("cm kube-system")
        await driver.sees("configmaps in kube-system")
        await driver.press("9")
        await driver.sees("workloads by owner in kube-system")
        await driver.press("0")
        await driver.sees("deployment/web")
        await driver.misses("workloads by owner in")
        await driver.press("left_square_bracket")
        await driver.sees("configmaps in kube-system")
        await driver.press("right_square_bracket")
        await driver.sees("deployment/web")
        assert driver.app.namespace == ""


async def test_the_tour_shows_an_apply_and_goes_through_the_screens(show: Show) -> None:
    async with show() as driver:
        await driver.command("tour")
        for number, stop in enumerate(STOPS, start=1):
            await driver.sees(f"{stop.title}  {number}/{len(STOPS)}")
            assert driver.app.shown.mode == (stop.screen or "flow")
            await driver.press("enter")
        await driver.until(lambda: not isinstance(driver.app.screen, TourGuide))
        await driver.client.get(DEPLOYMENTS, "web", namespace="default")


async def test_in_the_tour_a_line_is_chosen_behind_its_words_and_the_end_is_followed_again(show: Show) -> None:
    async with show() as driver:
        await driver.command("tour")
        await driver.press("enter")
        await driver.sees("An apply, as it happens")
        await driver.press("enter")
        await driver.sees("↑ and ↓ choose a line")
        await driver.until(lambda: len(driver.app.flow.rows) > 2)
        await driver.press("up")
        await driver.sees("End follows")
        await driver.sees("began ")
        await driver.press("escape")
        await driver.until(lambda: not isinstance(driver.app.screen, TourGuide))
        await driver.misses("End follows")


async def test_the_tour_comes_by_itself_once_and_can_be_left(session: Session, tmp_path: Path) -> None:
    app = KtuiApp(session, settings=Settings.load(tmp_path, tmp_path))
    async with app.run_test(size=(120, 40)) as pilot:
        driver = Driver(app, pilot)
        await driver.sees("Welcome", "leaves the tour")
        await driver.press("escape")
        await driver.until(lambda: isinstance(app.shown, FlowScreen))
        await driver.command("store")
    again = Settings.load(tmp_path, tmp_path)
    assert (again.has_toured, again.history()) == (True, ["store"])


async def test_the_tour_waits_until_there_is_room(session: Session, tmp_path: Path) -> None:
    settings = Settings.load(tmp_path, tmp_path)
    app = KtuiApp(session, settings=settings)
    async with app.run_test(size=(60, 20)) as pilot:
        driver = Driver(app, pilot)
        await driver.sees("This terminal is 60×20")
        await driver.press("enter", "enter", "escape", "colon", "2", "question_mark")
        assert isinstance(app.screen, TooSmall)
        assert not settings.has_toured
        await pilot.resize_terminal(100, 30)
        await driver.sees(f"Welcome  1/{len(STOPS)}", "client")
        await pilot.resize_terminal(60, 20)
        await driver.sees("This terminal is 60×20")
        await driver.press("enter", "escape")
        await pilot.resize_terminal(100, 30)
        await driver.sees(f"Welcome  1/{len(STOPS)}", "client")
        await driver.press("enter")
        await driver.sees(STOPS[1].title)
        await driver.press("escape")
        await driver.until(lambda: app.screen is app.window)


async def test_the_tour_leads_back_to_the_screen_that_was_asked_for(session: Session, tmp_path: Path) -> None:
    app = KtuiApp(session, settings=Settings.load(tmp_path, tmp_path), screen="store")
    async with app.run_test(size=(120, 40)) as pilot:
        driver = Driver(app, pilot)
        await driver.sees("Welcome", "/registry/")
        await driver.press("enter")
        await driver.sees("An apply, as it happens")
        assert app.shown.mode == "flow"
        await driver.press("escape")
        await driver.until(lambda: app.shown.mode == "store")


async def test_keys_and_the_theme_of_one_s_own(session: Session) -> None:
    settings = Settings(theme="light", keys={"screen.objects": "f2", "objects.nothing": "x"})
    app = KtuiApp(session, settings=settings)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        driver = Driver(app, pilot)
        await driver.sees("no such keys: objects.nothing")
        assert app.theme == "ktui-light"
        await driver.press("2")
        assert isinstance(app.shown, FlowScreen)
        await driver.press("f2")
        await driver.until(lambda: isinstance(app.shown, ObjectsScreen))


async def test_keys_of_one_s_own_that_cannot_be_used_are_said_with_their_lines(
    session: Session, tmp_path: Path
) -> None:
    (tmp_path / "config.yaml").write_text('keys:\n  clock.faster: "notakey"\n  screen.store: 5\n')
    settings = Settings.load(tmp_path, tmp_path / "state")
    settings.mark_toured()
    app = KtuiApp(session, settings=settings)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        driver = Driver(app, pilot)
        await driver.until(lambda: len(app._notifications) == 1)
        [told] = app._notifications  # all in one: of many the first had no room
        assert told.message.replace(str(tmp_path), "").splitlines() == [
            "/config.yaml:2 clock.faster: there is no key 'notakey'",
            "/config.yaml:3 screen.store: 5 is screen.controllers too",
        ]


async def test_a_key_of_one_s_own_is_told_where_keys_are_told(session: Session) -> None:
    settings = Settings(keys={"screen.objects": "f2", "objects.describe": "f3,question_mark", "table.filter": "f"})
    app = KtuiApp(session, settings=settings)
    async with app.run_test(size=(120, 100), notifications=True) as pilot:
        driver = Driver(app, pilot)
        await driver.sees("1 Flow   f2 Objects   3 Store")
        await driver.press("f2")
        await driver.until(lambda: isinstance(app.shown, ObjectsScreen))
        app.action_keys()
        await driver.sees("f3 ?", "Describe", "1 f2 3 4 5 6 7 8 9")
        assert "d i " not in driver.picture
        assert " / " not in driver.picture


async def test_the_help_tells_what_a_key_does_here(show: Show) -> None:
    """One key may be several actions', each on other resources."""
    async with show(size=(120, 60)) as driver:
        await driver.command("pods")
        await driver.sees(" pods  0")
        await driver.press("question_mark")
        await driver.sees("a shell in a Pod's", "run a command in a Pod's", "Sort by STATUS")
        assert "how many replicas" not in driver.picture
        await driver.press("escape")
        await driver.command("deploy")
        await driver.sees(" deployments.apps  0")
        await driver.press("question_mark")
        await driver.sees("set how many replicas there are")
        assert "a shell in a Pod's" not in driver.picture
        assert "Sort by STATUS" not in driver.picture


async def test_a_screen_to_begin_with(session: Session) -> None:
    app = KtuiApp(session, screen="store")
    async with app.run_test() as pilot:
        await Driver(app, pilot).until(lambda: isinstance(app.shown, StoreScreen))


async def test_a_screen_becomes_a_picture_or_text(show: Show, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with show() as driver:
        await driver.press("ctrl+s")
        await driver.sees("ktui-flow-1.svg")
        svg = (tmp_path / "ktui-flow-1.svg").read_text()
        assert "<svg" in svg
        assert "font-family: Fira Code, hop-numerals" in svg  # ⑪ is in few fonts: the picture brings it along
        assert 'font-family: "hop-numerals";\n        src: url("data:font/woff2;base64,d09GMg' in svg
        driver.app.export("text", "flow.txt")
        assert "nodes 3/3" in (tmp_path / "flow.txt").read_text()
        driver.app.export("mermaid")
        await driver.sees("no write was seen yet")
        await driver.client.create(CONFIG_MAPS, {"metadata": {"name": "mine"}}, namespace="default")
        await driver.until(lambda: driver.app.flow.story)
        await driver.command("export mermaid trace.mmd")
        await driver.until((tmp_path / "trace.mmd").exists)
        assert (tmp_path / "trace.mmd").read_text().startswith("sequenceDiagram")
        driver.app.export("svg", "no/such/folder.svg")
        await driver.sees("No such file or directory")


async def test_what_is_said_in_passing_is_no_part_of_a_picture(
    show: Show, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with show() as driver:
        driver.app.notify("scaled-to-nine", timeout=60)
        await driver.sees("scaled-to-nine")
        before = driver.picture
        for format, file in (("text", "flow.txt"), ("svg", "flow.svg")):
            driver.app.export(format, file)
            assert "scaled-to-nine" not in (tmp_path / file).read_text()
            assert "Follow" in (tmp_path / file).read_text()
        assert driver.picture == before
        await driver.settle()
        await driver.sees("scaled-to-nine", "flow.svg")


async def test_a_click_on_a_key_s_word_does_what_the_key_does(show: Show) -> None:
    async with show() as driver:
        line = driver.picture.splitlines()[-1]
        await driver.pilot.click(KeyLine, offset=(line.index("Help"), 0))
        await driver.sees("everywhere")


async def test_what_is_said_never_lies_over_what_one_looks_at(show: Show) -> None:
    """Flow's newest lines are its last; of a table the first rows are looked at."""

    def line(text: str) -> int:
        return next((at for at, said in enumerate(driver.picture.splitlines()) if text in said), -1)

    async with show(size=(80, 24)) as driver:
        driver.app.notify("said on Flow")
        await driver.until(lambda: 5 < line("said on Flow") < 12)
        await driver.press("2")
        driver.app.notify("said on Objects")
        await driver.until(lambda: line("said on Objects") > 16)


async def test_of_two_screens_what_is_said_lies_on_the_right_or_lower_one_that_is_seen(show: Show) -> None:
    def line(text: str) -> int:
        return next((at for at, said in enumerate(driver.picture.splitlines()) if text in said), -1)

    async with show(size=(120, 40)) as driver:
        await driver.press("2", "vertical_line", "1")  # Flow below Objects
        driver.app.notify("said below")
        await driver.until(lambda: 23 <= line("said below") <= 28)
        await driver.press("ctrl+w")
        await driver.pilot.resize_terminal(80, 24)  # Objects alone
        driver.app.notify("said alone")
        await driver.until(lambda: line("said alone") > 16)
        await driver.press("ctrl+w")  # Flow alone
        driver.app.notify("said on Flow")
        await driver.until(lambda: 5 < line("said on Flow") < 12)
