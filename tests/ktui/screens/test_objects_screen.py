"""The Objects screen on a real cluster: tables, YAML, edit, describe, logs, delete."""

from __future__ import annotations

import yaml
from textual.widgets import TextArea

from engine.api.types import DEPLOYMENTS, GVR, PODS
from ktui.models.link import Link
from ktui.screens.editor import Editor
from ktui.screens.objects import ObjectsScreen
from ktui.screens.output import Output
from ktui.widgets.dialogs import Question
from ktui.widgets.grid import Grid
from tests.ktui.screens.conftest import Show
from tests.ktui.screens.driver import WEB, Driver

CONFIG_MAPS = GVR("", "v1", "configmaps")


async def make_maps(driver: Driver, *names: str) -> None:
    for name in names:
        await driver.client.create(CONFIG_MAPS, {"metadata": {"name": name}, "data": {"a": "1"}}, namespace="default")


async def show_maps(driver: Driver, *names: str) -> Grid:
    await make_maps(driver, *names)
    await driver.command("cm default")
    await driver.sees("configmaps")
    await driver.until(lambda: set(names) <= set(row_names(driver.find(Grid))))
    return driver.find(Grid)


def row_names(grid: Grid) -> list[str]:
    return [row.key.partition("/")[2] for row in grid.rows]


async def test_a_resource_by_its_short_name_live(show: Show) -> None:
    async with show() as driver:
        await show_maps(driver, "one")
        await driver.sees("NAMESPACE", "NAME", "DATA", "AGE")
        await make_maps(driver, "two")
        await driver.sees("two")
        await driver.client.delete(CONFIG_MAPS, "one", namespace="default")
        await driver.misses("one ")


async def test_an_empty_list_says_what_to_do(show: Show) -> None:
    async with show() as driver:
        await driver.press("2")
        await driver.sees("No pods here", "a creates some from a sample")


async def test_an_unknown_resource_is_said_to_be_none(show: Show) -> None:
    async with show() as driver:
        await driver.command("gizmos")
        await driver.sees("gizmos")
        assert not isinstance(driver.shown, ObjectsScreen)


async def test_the_filter_and_the_way_back(show: Show) -> None:
    async with show() as driver:
        grid = await show_maps(driver, "apple", "pear")
        await driver.press("slash")
        await driver.type("pea")
        await driver.press("enter")
        await driver.until(lambda: row_names(grid) == ["pear"])
        await driver.sees("1 of 2", "/pea")
        await driver.press("escape")
        await driver.until(lambda: len(grid.rows) == 2)


async def test_sorting_by_a_column_and_in_reverse(show: Show) -> None:
    async with show() as driver:
        grid = await show_maps(driver, "b", "a", "c")
        await driver.press("o", "o")
        await driver.sees("NAME↑")
        await driver.press("O")
        await driver.sees("NAME↓")
        await driver.until(lambda: row_names(grid) == ["c", "b", "a"])


async def test_wide_shows_the_columns_of_o_wide(show: Show) -> None:
    async with show(size=(200, 60)) as driver:
        await driver.command("node")
        await driver.sees("node-1", "Ready")
        assert "INTERNAL-IP" not in driver.picture
        await driver.press("w")
        await driver.sees("INTERNAL-IP", "KERNEL-VERSION")


async def test_yaml_beside_the_table_follows_the_cursor(show: Show) -> None:
    async with show() as driver:
        await show_maps(driver, "one", "two")
        await driver.press("y")
        await driver.sees("kind: ConfigMap", "name: one")
        await driver.press("down")
        await driver.sees("name: two")
        await driver.press("escape")
        await driver.misses("kind: ConfigMap")


async def test_the_yaml_is_that_of_now_and_goes_with_its_object(show: Show) -> None:
    async with show() as driver:
        await show_maps(driver, "one")
        await driver.press("y")
        await driver.sees("kind: ConfigMap", "name: one")
        for value in ("first", "second"):
            await driver.client.patch(CONFIG_MAPS, "one", {"data": {"news": value}}, namespace="default")
            await driver.sees(f"news: {value}")
        await driver.client.delete(CONFIG_MAPS, "one", namespace="default")
        await driver.misses("kind: ConfigMap")


async def test_the_cursor_moves_by_keys_and_clicks(show: Show) -> None:
    async with show() as driver:
        grid = await show_maps(driver, *(f"map-{number:02}" for number in range(60)))
        await driver.press("G")
        await driver.until(lambda: grid.key.endswith("map-59"))
        await driver.press("k", "up", "ctrl+b")
        await driver.until(lambda: grid.key < "default/map-40")
        await driver.press("home")
        await driver.pilot.click(Grid, offset=(5, 3))
        await driver.until(lambda: grid.key == grid.rows[2].key)


async def edit_map(driver: Driver) -> TextArea:
    await show_maps(driver, "mine")
    driver.find(Grid).move_to("default/mine")
    await driver.press("e")
    await driver.until(lambda: isinstance(driver.app.screen, Editor))
    await driver.sees("edit configmaps/mine")
    return driver.find(TextArea)


async def test_an_edit_is_saved(show: Show) -> None:
    async with show() as driver:
        text = await edit_map(driver)
        text.load_text(text.text.replace('a: "1"', 'a: "2"'))
        await driver.press("ctrl+s")
        await driver.until(lambda: isinstance(driver.shown, ObjectsScreen))
        found = await driver.client.get(CONFIG_MAPS, "mine", namespace="default")
        assert found["data"] == {"a": "2"}


async def test_what_is_not_yaml_is_told_with_its_line(show: Show) -> None:
    async with show() as driver:
        text = await edit_map(driver)
        text.load_text("kind: ConfigMap\nmetadata: {\n  name: [\n")
        await driver.press("ctrl+s")
        await driver.sees("not YAML at line 4, column 1: did not find expected node content")
        text.load_text("just words")
        await driver.press("ctrl+s")
        await driver.sees("not an object")


async def test_a_key_that_comes_twice_is_refused_with_its_line(show: Show) -> None:
    async with show() as driver:
        text = await edit_map(driver)
        text.load_text('kind: ConfigMap\nmetadata:\n  name: mine\ndata:\n  a: "1"\n  b: "2"\n  a: "3"\n')
        for key in ("ctrl+s", "ctrl+t", "ctrl+o"):
            await driver.press(key)
            await driver.sees("strict decoding error: yaml: unmarshal errors:", 'line 7: key "a" already set in map')
            assert text.cursor_location[0] == 6
        found = await driver.client.get(CONFIG_MAPS, "mine", namespace="default")
        assert found["data"] == {"a": "1"}


async def test_what_is_another_object_is_not_written_over_and_no_namespace_means_its_own(show: Show) -> None:
    async with show() as driver:
        other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other"}, "data": {"a": "theirs"}}
        await driver.client.create(CONFIG_MAPS, other, namespace="default")
        text = await edit_map(driver)
        plain = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: mine\ndata:\n  a: "2"\n'
        changed = "At least one of apiVersion, kind and name was changed"
        elsewhere = "the namespace of the provided object does not match the namespace sent on the request"
        for old, new, line, words in (
            ("name: mine", "name: other", 3, changed),
            ("kind: ConfigMap", "kind: Secret", 1, changed),
            ("apiVersion: v1", "apiVersion: v2", 0, changed),
            ("  name: mine", "  namespace: kube-system\n  name: mine", 3, elsewhere),
        ):
            text.load_text(plain.replace(old, new))
            for key in ("ctrl+s", "ctrl+t", "ctrl+o"):
                await driver.press(key)
                await driver.sees(words)
                assert text.cursor_location[0] == line
        text.load_text(plain)
        await driver.press("ctrl+s")
        await driver.until(lambda: isinstance(driver.shown, ObjectsScreen))
        values = [
            (await driver.client.get(CONFIG_MAPS, name, namespace="default"))["data"] for name in ("mine", "other")
        ]
        assert values == [{"a": "2"}, {"a": "theirs"}]


async def test_an_unknown_field_is_refused_and_pointed_at(show: Show) -> None:
    async with show() as driver:
        text = await edit_map(driver)
        text.load_text(text.text + "flavour: sweet\n")
        await driver.press("ctrl+s")
        await driver.sees("400 BadRequest", 'unknown field "flavour"')
        assert text.document.get_line(text.cursor_location[0]) == "flavour: sweet"


async def test_a_value_that_is_refused_is_pointed_at(show: Show) -> None:
    async with show() as driver:
        await driver.client.create(DEPLOYMENTS, yaml.safe_load(WEB.read_text().split("---")[0]), namespace="default")
        await driver.command("edit deploy/web")
        await driver.until(lambda: isinstance(driver.app.screen, Editor))
        text = driver.find(TextArea)
        text.load_text(text.text.replace("  replicas: 3", "  replicas: -3", 1))
        await driver.press("ctrl+s")
        await driver.sees("422 Invalid", "spec.replicas")
        assert text.document.get_line(text.cursor_location[0]) == "  replicas: -3"


async def test_the_line_with_the_cursor_stays_in_sight_when_a_diff_opens_below_it(show: Show) -> None:
    async with show(size=(100, 30)) as driver:
        lines = {f"key-{number:02}": "1" for number in range(40)}
        await driver.client.create(CONFIG_MAPS, {"metadata": {"name": "long"}, "data": lines}, namespace="default")
        await driver.command("edit cm/long")
        await driver.until(lambda: isinstance(driver.app.screen, Editor))
        text = driver.find(TextArea)
        text.move_cursor((20, 0))
        await driver.press("end", "backspace", "backspace", "2", "quotation_mark")
        await driver.sees('key-18: "2"')
        newest = await driver.client.get(CONFIG_MAPS, "long", namespace="default")
        await driver.client.update(CONFIG_MAPS, {**newest, "data": {**lines, "key-00": "theirs"}})
        await driver.press("ctrl+s")
        await driver.sees("what was changed meanwhile", 'key-18: "2"')


async def test_a_conflict_leaves_both_ways_on(show: Show) -> None:
    async with show() as driver:
        text = await edit_map(driver)
        text.load_text(text.text.replace('a: "1"', "a: mine"))
        newest = await driver.client.get(CONFIG_MAPS, "mine", namespace="default")
        newest = await driver.client.update(CONFIG_MAPS, {**newest, "data": {"a": "theirs"}})
        await driver.press("ctrl+s")
        await driver.sees("409 Conflict", "the object has been modified", "Ctrl+R takes", "Ctrl+O puts")
        await driver.sees("what was changed meanwhile", "-  a: '1'", "+  a: theirs")
        assert "resourceVersion" not in driver.picture.partition("what was changed meanwhile")[2]
        await driver.press("ctrl+r")
        await driver.until(lambda: "a: theirs" in text.text)
        text.load_text(text.text.replace("a: theirs", "a: mine"))
        await driver.client.update(CONFIG_MAPS, {**newest, "data": {"a": "theirs again"}})
        await driver.press("ctrl+o")
        await driver.until(lambda: isinstance(driver.shown, ObjectsScreen))
        found = await driver.client.get(CONFIG_MAPS, "mine", namespace="default")
        assert found["data"] == {"a": "mine"}


async def test_leaving_the_editor_asks_only_where_something_changed(show: Show) -> None:
    async with show() as driver:
        text = await edit_map(driver)
        await driver.press("escape")
        await driver.until(lambda: isinstance(driver.shown, ObjectsScreen))
        await driver.press("e")
        await driver.until(lambda: isinstance(driver.app.screen, Editor))
        text = driver.find(TextArea)
        text.load_text(text.text + "# more\n")
        await driver.press("escape")
        await driver.sees("Leave without saving?")
        await driver.press("n")
        await driver.until(lambda: isinstance(driver.app.screen, Editor))
        await driver.press("escape", "y")
        await driver.until(lambda: isinstance(driver.shown, ObjectsScreen))


async def test_ctrl_c_in_the_editor_copies_and_loses_nothing_unasked(show: Show) -> None:
    async with show() as driver:
        text = await edit_map(driver)
        text.select_line(0)
        await driver.press("ctrl+c")
        await driver.until(lambda: driver.app.clipboard == "apiVersion: v1")
        text.move_cursor((0, 0))
        await driver.type("# mine")
        await driver.press("ctrl+c")
        await driver.sees("Leave without saving?")
        await driver.press("n")
        await driver.until(lambda: isinstance(driver.app.screen, Editor))
        assert text.text.startswith("# mine")


async def test_delete_asks_first(show: Show) -> None:
    async with show() as driver:
        grid = await show_maps(driver, "doomed")
        grid.move_to("default/doomed")
        await driver.press("ctrl+d")
        await driver.sees("Delete configmaps/doomed in namespace default?")
        await driver.press("escape")
        await driver.until(lambda: not isinstance(driver.app.screen, Question))
        assert "doomed" in row_names(grid)
        await driver.press("ctrl+d", "y")
        await driver.until(lambda: "doomed" not in row_names(grid))


async def test_describe_and_logs_of_a_pod(show: Show) -> None:
    async with show(size=(160, 50)) as driver:
        await driver.client.create(
            PODS,
            {
                "metadata": {"name": "hello"},
                "spec": {"containers": [{"name": "main", "image": "busybox", "command": ["echo", "hello there"]}]},
            },
            namespace="default",
        )
        await driver.press("2")
        await driver.sees("hello")
        await driver.press("i")
        await driver.sees(":describe pods hello -n default", "Name:", "✓ done")
        await driver.press("escape")
        await driver.until(lambda: driver.app.summary.pods.get("waiting") == 0)
        await driver.press("l")
        await driver.until(lambda: isinstance(driver.app.screen, Output))
        await driver.sees(":logs hello")
        await driver.press("escape")
        await driver.until(lambda: isinstance(driver.shown, ObjectsScreen))


async def test_what_is_read_scrolls_by_vi_s_keys(show: Show) -> None:
    async with show(size=(80, 24)) as driver:

        def length() -> int:
            return driver.app.focused.max_scroll_y if driver.app.focused is not None else 0

        async def scrolls(key: str, place: int) -> None:
            await driver.press(key)
            await driver.until(lambda: driver.app.focused is not None and driver.app.focused.scroll_offset.y == place)

        await show_web(driver, "pods")
        for opened in ("enter", "d"):
            await driver.press(opened)
            await driver.until(lambda: length() > 20)
            for key, place in (("j", 1), ("j", 2), ("k", 1), ("G", length()), ("g", 0)):
                await scrolls(key, place)


async def test_logs_are_only_a_pods(show: Show) -> None:
    async with show() as driver:
        await show_maps(driver, "one")
        await driver.press("l")
        await driver.sees("logs are a Pod's")


async def show_web(driver: Driver, word: str = "deploy") -> Grid:
    await driver.client.create(DEPLOYMENTS, yaml.safe_load(WEB.read_text().split("---")[0]), namespace="default")
    await driver.command(word)
    await driver.until(lambda: driver.find(Grid).rows)
    grid = driver.find(Grid)
    await driver.until(lambda: grid.key.startswith("default/web"))
    return grid


async def test_scale_restart_and_undo(show: Show) -> None:
    async with show() as driver:
        await show_web(driver)
        await driver.press("s")
        await driver.sees("Replicas of deployments.apps/web", "Enter takes it · Esc leaves")
        await driver.press("backspace")
        await driver.type("5")
        await driver.press("enter")
        await driver.sees("deployment.apps/web scaled", "5/5")
        await driver.press("r")
        await driver.sees("Restart deployments.apps/web in namespace default?", "Esc goes back")
        await driver.press("y")
        await driver.sees("deployment.apps/web restarted")
        await driver.press("U")
        await driver.sees("Roll back deployments.apps/web in namespace default?")
        await driver.press("y")
        await driver.sees("deployment.apps/web rolled back")
        await driver.press("v")
        await driver.sees(":events --for deployments.apps/web", "ScalingReplicaSet", "✓ done")


async def test_what_cannot_be_restarted_or_restarted_is_said(show: Show) -> None:
    async with show() as driver:
        await show_maps(driver, "one")
        for key, words in (
            ("r", "restart is for"),
            ("ctrl+k", "kill is for"),
            ("z", "selects no Pods"),
            ("J", "nothing owns one"),
            ("u", "cordon is for"),
            ("x", "exec is for"),
        ):
            await driver.press(key)
            await driver.sees(words)


async def test_a_node_is_cordoned_and_uncordoned(show: Show) -> None:
    async with show() as driver:
        await driver.command("node")
        await driver.until(lambda: driver.find(Grid).key == "/node-1")
        await driver.press("u")
        await driver.sees("Cordon nodes/node-1?")
        await driver.press("y")
        await driver.sees("node/node-1 cordoned", "SchedulingDisabled")
        await driver.press("u")
        await driver.sees("Uncordon nodes/node-1?")
        await driver.press("y")
        await driver.misses("SchedulingDisabled")


async def test_one_letter_changes_nothing(show: Show) -> None:
    """As in k9s: it may be a slip of the hand."""
    async with show() as driver:
        await show_web(driver)
        before = await driver.client.get(DEPLOYMENTS, "web", namespace="default")
        for key, asked in (("r", "Restart deployments.apps/web"), ("U", "Roll back deployments.apps/web")):
            await driver.press(key)
            await driver.sees(asked)
            await driver.press("enter")
            await driver.misses(asked)
        now = await driver.client.get(DEPLOYMENTS, "web", namespace="default")
        assert now["spec"] == before["spec"]


async def test_a_command_in_a_container_is_asked_for_and_needs_a_socket(show: Show) -> None:
    async with show() as driver:
        await show_web(driver, "pods")
        await driver.press("x")
        await driver.sees("Run in pod/web-")
        await driver.press("enter")
        await driver.sees(":exec web-", "-- ls /", "streams need a connection over HTTPS", "✖ exit code 1")


async def test_what_is_owned_may_stay_when_its_owner_goes(show: Show) -> None:
    async with show() as driver:
        await show_web(driver)
        await driver.press("ctrl+d", "o")
        await driver.sees('deployment.apps "web" deleted', "No deployments here")
        await driver.command("rs")
        await driver.sees("replicasets.apps  1")


async def test_objects_are_created_from_a_sample(show: Show) -> None:
    async with show() as driver:
        await driver.command("deploy")
        await driver.sees("No deployments here")
        await driver.press("a")
        await driver.type("web")
        await driver.press("enter")
        await driver.sees("deployment.apps/web created", "3/3")


async def test_the_server_tries_an_edit_and_shows_what_would_change(show: Show) -> None:
    async with show() as driver:
        text = await edit_map(driver)
        text.load_text(text.text.replace('a: "1"', 'a: "2"'))
        await driver.press("ctrl+t")
        await driver.sees("the server would take this", "-  a: '1'", "+  a: '2'")
        found = await driver.client.get(CONFIG_MAPS, "mine", namespace="default")
        assert found["data"] == {"a": "1"}
        text.load_text(text.text.replace("data:", "flavour: sweet\ndata:", 1))
        await driver.press("ctrl+t")
        await driver.sees('unknown field "flavour"')
        await driver.misses("the server would take this")


async def test_a_diff_that_is_longer_than_its_place_is_walked_through(show: Show) -> None:
    async with show(size=(80, 24)) as driver:
        text = await edit_map(driver)
        added = "".join(f'  b{number:02}: "x"\n' for number in range(30))
        text.load_text(text.text.replace('  a: "1"\n', f'  a: "1"\n{added}'))
        await driver.press("ctrl+t")
        await driver.sees("the server would take this", "+  b00: x", "f6 Diff")
        await driver.misses("+  b29: x")
        await driver.press("f6", "end")
        await driver.sees("+  b29: x")
        await driver.press("f6")
        await driver.until(lambda: driver.app.focused is text)
        await driver.press("f6")
        text.load_text("nothing")
        await driver.press("ctrl+t")
        await driver.sees("this is not an object")
        await driver.until(lambda: driver.app.focused is text)


async def test_the_inside_of_another_object_begins_at_its_top(show: Show) -> None:
    async with show(size=(80, 24)) as driver:
        grid = await show_maps(driver, "one", "two")
        for name in ("one", "two"):
            many = {"data": {f"key{number:02}": "x" for number in range(60)}}
            await driver.client.patch(CONFIG_MAPS, name, many, namespace="default")
        grid.move_to("default/one")
        await driver.press("enter")
        await driver.sees("apiVersion: v1")
        await driver.press("end")
        await driver.misses("apiVersion: v1")
        await driver.press("escape", "down", "enter")
        await driver.sees("apiVersion: v1")


async def test_a_filter_on_a_column_that_is_not_shown_says_so(show: Show) -> None:
    async with show() as driver:
        await show_maps(driver, "one")
        await driver.press("slash")
        await driver.type("node=node-1")
        await driver.sees("No row meets the filter", "There is no column NODE here.")


async def test_a_field_selector_is_the_server_s_to_apply(show: Show) -> None:
    async with show() as driver:
        grid = await show_maps(driver, "one", "two")
        await driver.press("slash")
        await driver.type("-F metadata.name=two")
        await driver.until(lambda: row_names(grid) == ["two"])
        await driver.press("escape")
        await driver.until(lambda: {"one", "two"} <= set(row_names(grid)))


async def test_the_tree_of_owners_and_the_way_to_an_object_of_it(show: Show) -> None:
    async with show() as driver:
        await show_web(driver)
        await driver.press("t")
        await driver.sees("✓ deployment/web", "└─ ✓ replicaset/web-", "├─ ✓ pod/web-", "3/3")
        await driver.press("down", "enter")
        await driver.until(lambda: isinstance(driver.shown, ObjectsScreen))
        await driver.sees("replicasets.apps  1", "kind: ReplicaSet")
        await driver.press("backspace")
        await driver.sees("✓ deployment/web")


async def test_several_are_marked_and_deleted_together(show: Show) -> None:
    async with show() as driver:
        grid = await show_maps(driver, "one", "three", "two")
        grid.move_to("default/one")
        await driver.press("space")
        await driver.sees("◆ 1 marked", "◆default")
        assert grid.key == "default/three"
        await driver.press("down", "ctrl+@")
        await driver.sees("◆ 3 marked")
        await driver.press("up", "space", "ctrl+d")
        await driver.sees("Delete 2 configmaps?", "one", "two")
        await driver.press("y")
        await driver.sees('configmap "one" deleted', 'configmap "two" deleted')
        await driver.until(lambda: {"one", "two"}.isdisjoint(row_names(grid)) and "three" in row_names(grid))
        await driver.misses("marked")
        await driver.press("up", "space")
        await driver.sees("◆ 1 marked")
        await driver.press("ctrl+backslash")
        await driver.misses("marked")


async def test_what_is_done_is_done_to_what_was_asked_about(show: Show) -> None:
    """What goes away while a question is open leaves the cursor on another row."""
    async with show() as driver:
        grid = await show_maps(driver, "one", "three", "two")
        grid.move_to("default/one")
        await driver.press("ctrl+d")
        await driver.sees("Delete configmaps/one in namespace default?")
        await driver.client.delete(CONFIG_MAPS, "one", namespace="default")
        await driver.until(lambda: "one" not in row_names(grid) and grid.key == "default/three")
        await driver.press("y")
        await driver.sees('configmaps "one" not found')
        assert "three" in row_names(grid)


async def test_nothing_is_done_to_what_a_filter_hides(show: Show) -> None:
    async with show() as driver:
        grid = await show_maps(driver, "one", "three", "two")
        grid.move_to("default/one")
        await driver.press("space", "space", "slash")
        await driver.type("three")
        await driver.press("enter")
        await driver.sees("◆ 1 marked")
        await driver.press("ctrl+d")
        await driver.sees("Delete configmaps/three in namespace default?")


async def test_marks_go_with_the_namespace_that_they_were_made_in(show: Show) -> None:
    async with show() as driver:
        grid = await show_maps(driver, "one", "two")
        grid.move_to("default/one")
        await driver.press("space")
        await driver.sees("◆ 1 marked")
        await driver.command("ns kube-system")
        await driver.misses("marked")
        await driver.press("0")
        await driver.until(lambda: "one" in row_names(grid))
        assert "marked" not in driver.picture


async def test_pods_are_killed_unasked(show: Show) -> None:
    async with show() as driver:
        await show_web(driver)
        await driver.command("po app=web")
        await driver.until(lambda: len(row_names(driver.find(Grid))) == 3)
        killed = driver.find(Grid).key
        await driver.press("ctrl+k")
        await driver.sees(f'pod "{killed.partition("/")[2]}" deleted')
        await driver.until(lambda: killed not in [row.key for row in driver.find(Grid).rows])


async def test_a_key_sorts_by_its_column_and_back(show: Show) -> None:
    async with show() as driver:
        grid = await show_maps(driver, "b", "a", "c")
        await driver.press("N")
        await driver.sees("NAME↑")
        await driver.press("N")
        await driver.sees("NAME↓")
        await driver.until(lambda: row_names(grid)[0] == "kube-root-ca.crt" or row_names(grid)[0] == "c")
        await driver.press("A")
        await driver.sees("AGE↑")
        await driver.press("S")  # there is no STATUS
        await driver.sees("AGE↑")


async def test_the_row_under_the_cursor_stays_in_sight_when_the_order_is_another(show: Show) -> None:
    async with show(size=(80, 24)) as driver:
        grid = await show_maps(driver, *(f"map-{number:02}" for number in range(60)))
        grid.move_to("default/map-00")
        await driver.press("N", "N")
        await driver.sees("NAME↓")
        await driver.sees("▌default     map-00")
        assert grid.key == "default/map-00"


async def test_from_an_object_to_its_pods_and_to_its_owner(show: Show) -> None:
    async with show() as driver:
        await show_web(driver)
        await driver.press("z")
        await driver.sees("pods in default  3", "/-l app=web")
        await driver.press("J")
        await driver.sees("replicasets.apps in default", "→ owner deployments.apps/web")
        await driver.press("left_square_bracket")
        await driver.sees("pods in default  3", "/-l app=web")
        await driver.press("left_square_bracket")
        await driver.sees(" deployments.apps  1")
        assert "/-l" not in driver.picture
        await driver.command("node")
        await driver.until(lambda: driver.find(Grid).key == "/node-1")
        await driver.press("z")
        await driver.sees("/--field-selector spec.nodeName=node-1")
        assert driver.app.namespace == ""
        await driver.command("ns")
        await driver.until(lambda: driver.find(Grid).key == "/default")
        await driver.press("u")
        await driver.sees("namespace default")
        assert driver.app.namespace == "default"


async def test_a_secret_is_decoded(show: Show) -> None:
    async with show() as driver:
        secret = {
            "metadata": {"name": "keys"},
            "stringData": {"word": "sesame", "two": "a\nb"},
            "data": {"raw": "/w=="},
        }
        await driver.client.create(GVR("", "v1", "secrets"), secret, namespace="default")
        await driver.command("secrets")
        await driver.until(lambda: driver.find(Grid).key == "default/keys")
        await driver.press("x")
        await driver.sees(":secrets/keys, decoded", "word: sesame", "raw: (1 bytes that are no text)", "two: |-")


async def test_what_a_link_leads_to_and_is_gone_is_said_to_be(show: Show) -> None:
    async with show() as driver:
        driver.app.go_to(Link("deployments", "gone", "default"))
        await driver.sees("default/gone is not there")
