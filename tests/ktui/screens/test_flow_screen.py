"""The Flow screen on a real cluster: what is drawn, and every key."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from textual.widgets import Static

from engine.api.errors import ApiError
from engine.api.types import GVR
from engine.api.wire import ClientCertificate
from engine.cluster import Cluster
from ktui.models.flow import APPLY_SECONDS
from ktui.models.flow_rows import FlowRow, Kind
from ktui.widgets.flow_canvas import FlowCanvas
from ktui.widgets.inspector import Inspector
from tests.ktui.screens.conftest import Show
from tests.ktui.screens.driver import WEB, Driver

CONFIG_MAPS = GVR("", "v1", "configmaps")


async def write(cluster: Cluster, name: str) -> None:
    client = cluster.client(user_agent="kubectl/v1.37.1")
    await client.create(CONFIG_MAPS, {"metadata": {"name": name}}, namespace="default")


async def apply_web(driver: Driver) -> None:
    await driver.command(f"apply -f {WEB}")
    await driver.sees("deployment.apps/web created", "service/web created", "✓ done")
    await driver.press("escape")


async def test_an_apply_goes_through_all_hops_and_lights_the_lamps(show: Show) -> None:
    async with show(size=(200, 60)) as driver:
        await apply_web(driver)
        await driver.until(lambda: driver.app.summary.pods == {"ready": 3, "waiting": 0, "failed": 0})
        canvas = driver.find(FlowCanvas)
        canvas.move_to(next(row for row in canvas.model.rows if row.text == "POST deployments/web"))
        await driver.press("p", "g")
        await driver.sees("create deployment/web · by kubernetes-admin", "⑫●")
        await driver.sees(
            "├─POST deployments/web─", "schema ✓", "├─txn put─", "◄─201─", "├┄┄ADDED deployments/web", "◄─POST pods"
        )


async def test_a_request_of_another_client_appears_as_it_happens(show: Show, cluster: Cluster) -> None:
    async with show() as driver:
        await write(cluster, "mine")
        await driver.sees("├─POST cm/mine", "◄─201─")


async def test_what_is_only_tried_says_so(show: Show, cluster: Cluster) -> None:
    async with show(size=(200, 50)) as driver:
        for line, said in (
            ("create configmap tried --dry-run=server", "configmap/tried created (server dry run)"),
            ("delete service kubernetes --dry-run=server", 'service "kubernetes" deleted'),
        ):
            await driver.command(line)
            await driver.sees(said, "✓ done")
            await driver.press("escape")
            await cluster.world.clock.sleep(2 * APPLY_SECONDS)  # else they were one apply, of which one is told
        tried = ("POST configmaps/tried", "DELETE services/kubernetes")
        flow = driver.app.flow
        await driver.until(lambda: [row.note for row in flow.rows if row.text in tried] == ["dry run"] * 2)
        await driver.sees("delete service/kubernetes (dry run) · by kubernetes-admin")


async def test_a_refusal_is_red_in_words_too(show: Show, cluster: Cluster) -> None:
    async with show() as driver:
        nobody = cluster.client(ClientCertificate("nobody"), user_agent="curl")
        with pytest.raises(ApiError, match="cannot create"):
            await nobody.create(CONFIG_MAPS, {"metadata": {"name": "x"}}, namespace="default")
        await driver.sees("RBAC ✖", "✖ 403 Forbidden")


async def test_reads_are_hidden_and_counted_until_r_shows_them(show: Show, cluster: Cluster) -> None:
    async with show() as driver:
        await driver.client.list(CONFIG_MAPS, namespace="kube-public")  # the screen's own
        await driver.sees("r reads")
        await driver.misses("GET configmaps")
        await driver.press("r")
        await driver.sees("GET configmaps")
        await driver.misses("r reads")


async def test_events_and_heartbeats_have_their_keys(show: Show) -> None:
    async with show(size=(200, 60)) as driver:
        await apply_web(driver)
        await driver.until(lambda: driver.app.flow.hidden["events"] > 3)
        await driver.press("e")
        await driver.sees("POST events")
        await driver.press("e")
        await driver.misses("POST events")
        await driver.press("h")
        await driver.misses("h heartbeats")
        await driver.press("i")
        await driver.misses("i idle")


async def test_c_shows_the_chain_of_components_requests(show: Show) -> None:
    async with show(size=(200, 60)) as driver:
        await apply_web(driver)
        await driver.until(lambda: driver.app.summary.pods.get("ready") == 3)

        def chains() -> int:
            rows = driver.app.flow.rows
            of_dns = {row.trace_id for row in rows if "kube-dns" in row.name}  # with which every cluster comes
            return sum(row.kind is Kind.CHAIN and row.trace_id not in of_dns for row in rows)

        clients = 2  # the Deployment and its Service; components have written much more
        await driver.until(lambda: chains() == clients)
        await driver.press("C")
        await driver.until(lambda: chains() > 2 * clients)
        await driver.press("C")
        await driver.until(lambda: chains() == clients)


async def test_the_cursor_stops_the_following_and_end_takes_it_up(show: Show, cluster: Cluster) -> None:
    async with show() as driver:
        canvas = driver.find(FlowCanvas)
        await write(cluster, "one")
        await driver.until(lambda: any(row.text == "POST configmaps/one" for row in canvas.model.rows))
        await driver.press("up")
        await driver.sees("stopped,")
        canvas.move_to(next(row for row in canvas.model.rows if row.text == "POST configmaps/one"))
        row = canvas.current
        for number in range(5):
            await write(cluster, f"later-{number}")
        await driver.sees("newer · End follows")
        await driver.until(lambda: any(row.name == "later-4" for row in canvas.model.rows))
        await driver.until(lambda: canvas.current is row)  # once the canvas has seen what came before it
        await driver.press("end")
        await driver.misses("stopped,")
        assert canvas.following


async def test_moving_through_the_rows(show: Show, cluster: Cluster) -> None:
    async with show() as driver:
        canvas = driver.find(FlowCanvas)
        for number in range(30):
            await write(cluster, f"map-{number}")
        await driver.until(lambda: len(canvas.model.rows) > 100)
        await driver.press("g")
        assert canvas.cursor == 0
        await driver.press("j", "j", "k")
        assert canvas.cursor == 1
        await driver.press("pagedown")
        assert canvas.cursor > 20
        await driver.press("ctrl+b")
        assert canvas.cursor == 1
        await driver.press("G")
        assert canvas.following


async def test_the_inspector_shows_what_crossed_the_wire_and_what_changed(show: Show, cluster: Cluster) -> None:
    async with show(size=(160, 50)) as driver:
        await driver.sees("From keystroke to Ready")
        await write(cluster, "looked-at")
        canvas = driver.find(FlowCanvas)
        await driver.until(lambda: any(row.name == "looked-at" for row in canvas.model.rows))
        request = next(row for row in canvas.model.rows if row.name == "looked-at")
        canvas.move_to(request)
        await driver.sees("x509", "SystemMasters")
        inspector = driver.find(Inspector)
        await driver.until(lambda: "POST /api/v1/namespaces/default" in str_of(inspector))
        assert "user-agent: kubectl/v1.37.1" in str_of(inspector)
        await driver.press("down", "down")
        await driver.until(lambda: "+kind: ConfigMap" in str_of(inspector))


async def test_the_inspector_shows_the_scheduler_s_scores(show: Show) -> None:
    async with show(size=(160, 50)) as driver:
        await apply_web(driver)
        canvas = driver.find(FlowCanvas)
        await driver.until(lambda: any(row.label == "schedule" for row in canvas.model.rows))
        await driver.until(lambda: driver.app.summary.pods.get("ready") == 3)
        canvas.move_to(next(row for row in canvas.model.rows if row.label == "schedule"))
        await driver.press("enter")
        inspector = driver.find(Inspector)
        await driver.until(lambda: "nodes 3 → fit 3" in str_of(inspector) and "node-1" in str_of(inspector))


async def test_pinning_shows_one_trace_and_escape_all_again(show: Show, cluster: Cluster) -> None:
    async with show() as driver:
        await write(cluster, "first")
        await write(cluster, "second")
        await driver.sees("cm/first", "cm/second")
        canvas = driver.find(FlowCanvas)
        canvas.move_to(next(row for row in canvas.model.rows if row.name == "first"))
        await driver.press("p")
        await driver.sees("cm/first", "alone · p shows all", "pinned")
        await driver.misses("cm/second")
        await driver.press("escape")
        await driver.sees("cm/second")


async def test_a_narrow_terminal_puts_the_detail_behind_enter(show: Show, cluster: Cluster) -> None:
    async with show(size=(80, 24)) as driver:
        await write(cluster, "narrow")
        await driver.sees("├─POST", "narrow")
        assert "From keystroke" not in driver.picture
        canvas = driver.find(FlowCanvas)
        await driver.until(lambda: any(row.name == "narrow" for row in canvas.model.rows))
        canvas.move_to(next(row for row in canvas.model.rows if row.name == "narrow"))
        await driver.press("enter")
        await driver.sees("what  ", "began  ")
        await driver.misses("├─POST")
        await driver.sees("esc Close", "q Leave")
        await driver.press("escape")
        await driver.sees("├─POST")


async def test_a_click_chooses_a_row(show: Show, cluster: Cluster) -> None:
    async with show() as driver:
        await write(cluster, "clicked")
        canvas = driver.find(FlowCanvas)
        await driver.until(lambda: len(canvas.model.rows) > 3)
        await driver.pilot.click(FlowCanvas, offset=(10, 2))
        await driver.until(lambda: not canvas.following)
        assert canvas.current is canvas.model.rows[canvas.cursor]


def str_of(inspector: Inspector) -> str:
    """All that the inspector holds, also below its edge."""
    console = Console(width=60, record=True, file=io.StringIO())
    console.print(inspector.query_one("#inspected", Static).content)
    return console.export_text()


async def test_a_pinned_trace_is_stepped_through_and_rewound(show: Show) -> None:
    async with show(size=(200, 60)) as driver:
        await apply_web(driver)
        await driver.until(lambda: driver.app.summary.pods.get("ready") == 3)
        canvas = driver.find(FlowCanvas)
        canvas.move_to(next(row for row in canvas.model.rows if row.text == "POST deployments/web"))
        await driver.press("p", "right_square_bracket")
        await driver.sees("hop 1 of", "② authentication", "├─POST deployments─", "⑩○")
        assert len(canvas.model.rows) == 2
        await driver.press("right_square_bracket", "right_square_bracket")
        await driver.sees("hop 3 of", "④ mutating admission")
        await driver.press("left_square_bracket")
        await driver.sees("hop 2 of", "③ authorization")
        await driver.press("escape", "left_square_bracket")
        await driver.misses("hop 2 of")
        await driver.sees("⑫●")
        await driver.press("left_curly_bracket")
        await driver.sees("hop 1 of")
        await driver.press("escape", "escape")
        await driver.misses("pinned ")


async def test_there_is_nothing_to_step_through_before_a_write(show: Show) -> None:
    async with show() as driver:
        driver.app.flow.traces.clear()
        driver.app.flow._writes.clear()
        await driver.press("right_square_bracket")
        await driver.sees("there is no trace yet")


async def test_the_answer_shows_both_directions_of_the_wire(show: Show, cluster: Cluster) -> None:
    async with show(size=(200, 60)) as driver:
        await write(cluster, "mine")
        canvas = driver.find(FlowCanvas)
        await driver.sees("├─POST configmaps/mine", "◄─201─")
        trace = next(row.trace_id for row in canvas.model.rows if row.text == "POST configmaps/mine")
        answers = [row for row in canvas.model.rows if row.label == "201" and row.trace_id == trace]
        canvas.move_to(answers[0])
        await driver.sees(
            "request", "POST /api/v1/namespaces/default/configmaps", "response 201", "user-agent: kubectl"
        )


async def test_a_watch_event_shows_what_the_write_changed(show: Show, cluster: Cluster) -> None:
    async with show(size=(200, 60)) as driver:
        client = cluster.client(user_agent="kubectl/v1.37.1")
        made = await client.create(CONFIG_MAPS, {"metadata": {"name": "x"}, "data": {"a": "1"}}, namespace="default")
        await client.update(CONFIG_MAPS, {**made, "data": {"a": "2"}})
        canvas = driver.find(FlowCanvas)
        await driver.until(lambda: any(row.text == "MODIFIED configmaps/x" for row in canvas.model.rows))
        canvas.move_to(next(row for row in canvas.model.rows if row.text == "MODIFIED configmaps/x"))
        await driver.sees("against rev", "-  a: '1'", "+  a: '2'")


async def test_from_a_row_to_its_object(show: Show, cluster: Cluster) -> None:
    async with show() as driver:
        await write(cluster, "mine")
        canvas = driver.find(FlowCanvas)
        await driver.until(lambda: any(row.text == "POST configmaps/mine" for row in canvas.model.rows))
        canvas.move_to(next(row for row in canvas.model.rows if row.text == "POST configmaps/mine"))
        await driver.press("t")
        await driver.sees(" configmaps  ", "name: mine")


async def test_the_filter_finds_what_has_labels(show: Show, cluster: Cluster) -> None:
    """No span tells of them, so the server is asked, again and again: what comes later is found too."""
    async with show() as driver:
        client = cluster.client()

        async def make(name: str) -> None:
            metadata = {"name": name, "labels": {"app": name.partition("-")[0]}}
            await client.create(CONFIG_MAPS, {"metadata": metadata}, namespace="default")

        await make("shop-1")
        await make("blog-1")
        await driver.sees("POST cm/blog-1", "POST cm/shop-1")
        await driver.press("slash")
        await driver.type("-l app=shop")
        await driver.misses("blog-1")
        await driver.sees("POST cm/shop-1", "/-l app=shop")
        await make("shop-2")
        await make("blog-2")
        await driver.sees("POST cm/shop-2")
        await client.delete(CONFIG_MAPS, "shop-1", namespace="default")
        await driver.sees("DELETE cm/shop-1", "POST cm/shop-1")
        assert "blog" not in driver.picture
        await driver.press("escape")
        await driver.sees("POST cm/blog-2")


async def test_where_no_line_is_shown_it_is_said_why(show: Show, cluster: Cluster) -> None:
    async with show() as driver:
        await write(cluster, "mine")
        await driver.sees("POST cm/mine")
        await driver.press("slash")
        await driver.type("zzz")
        await driver.sees("No line meets zzz.")
        await driver.press("escape")
        await driver.until(lambda: driver.app.flow.hidden["heartbeats"])
        await driver.press("h")
        canvas = driver.find(FlowCanvas)

        def renewals() -> list[FlowRow]:
            return [row for row in canvas.model.rows if "lease" in row.label and row.kind is Kind.REQUEST]

        await driver.until(renewals)
        canvas.move_to(renewals()[0])
        await driver.press("p", "h")
        await driver.sees("All of this trace is hidden.", "h shows heartbeats")


async def test_what_is_wrong_with_a_filter_is_said_where_there_is_little_room(show: Show) -> None:
    async with show(size=(80, 24)) as driver:
        await driver.press("slash")
        await driver.type("-F nope=1")
        await driver.press("enter")
        await driver.sees("nope=1: -F takes ")
