"""How long requests may take (upstream's TestParseTimeout, TestWithRequestDeadline and TestFinishRequest)."""

from __future__ import annotations

import asyncio

import pytest

from engine.api.types import CONFIGMAPS, Object
from engine.api.wire import Request
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import VirtualClock
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN, config_map

PATH = "/api/v1/namespaces/default/configmaps"
# A list waits three seconds for a revision that does not come.
SLOW = {"resourceVersion": ["100000"]}
OF_WRITES = "Timeout: request did not complete within requested timeout - context deadline exceeded"
OF_OTHERS = "Timeout: request did not complete within the allotted timeout"
INVALID = "invalid timeout specified in the request URL - time: "


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("foo", 'invalid duration "foo"'),
        ("10", 'missing unit in duration "10"'),
        ("10x", 'unknown unit "x" in duration "10x"'),
    ],
)
async def test_times_that_are_none(client: Client, text: str, why: str) -> None:
    answer = await client.send("GET", PATH, query={"timeout": [text]})
    assert (answer.status, answer.body["reason"], answer.body["message"]) == (400, "BadRequest", INVALID + why)


@pytest.mark.parametrize(
    ("text", "seconds", "status"),
    [("1s", 1.0, 504), ("500ms", 0.5, 504), ("10s", 3.0, 504), ("0s", 3.0, 504), ("", 3.0, 504), ("-1s", 3.0, 504)],
    ids=["shorter", "much shorter", "longer", "none", "not said", "below none"],
)
async def test_a_read_is_waited_for_so_long(
    client: Client, virtual_clock: VirtualClock, text: str, seconds: float, status: int
) -> None:
    answer = await client.send("GET", PATH, query={**SLOW, "timeout": [text]})
    assert virtual_clock.monotonic() == pytest.approx(seconds)
    assert answer.status == status
    assert (answer.body["message"] == OF_OTHERS) == (seconds < 3)
    if seconds < 3:
        assert (answer.body["reason"], answer.body["details"]) == ("Timeout", {})


async def test_what_is_given_up_is_counted(client: Client) -> None:
    await client.send("GET", PATH, query={**SLOW, "timeout": ["1s"]})
    await client.send("GET", PATH, query={"timeout": ["foo"]})
    lines = (await client.send("GET", "/metrics")).body.decode().splitlines()
    terminated = [line for line in lines if line.startswith("apiserver_request_terminations_total")]
    assert terminated == [
        'apiserver_request_terminations_total{code="504",component="apiserver",group="",resource="configmaps",'
        'scope="namespace",subresource="",verb="LIST",version="v1"} 1'
    ]


async def test_a_watch_stays_open(client: Client, virtual_clock: VirtualClock) -> None:
    query = {"watch": ["1"], "timeout": ["1s"], "timeoutSeconds": ["5"]}
    answer = await client.send("GET", PATH, query=query)
    assert answer.events is not None
    assert [event async for event in answer.events] == []
    assert virtual_clock.monotonic() == pytest.approx(5)


@pytest.mark.parametrize(
    ("method", "seconds", "message"),
    [("POST", 34, OF_WRITES), ("GET", None, "")],
    ids=["a write", "a read"],
)
async def test_what_comes_over_a_socket_is_not_waited_for_without_end(
    virtual_clock: VirtualClock, method: str, seconds: float | None, message: str
) -> None:
    """A write that is out of time goes on, and is there a while later."""
    world = World.create(clock=virtual_clock, seed=1, latencies={"store": (40_000, 40_000)})
    store = await SqliteStore.open(None, clock=virtual_clock)
    server = ApiServer(world, store)
    await server.start()
    began = virtual_clock.monotonic()
    made: Object = config_map("a")
    request = Request(method, PATH, body=made if method == "POST" else None, certificate=ADMIN)
    answer = await server.handle(request)
    if seconds is not None:
        assert (answer.status, answer.body["message"]) == (504, message)
        assert virtual_clock.monotonic() - began == pytest.approx(seconds)
        client = Client(InProcessTransport(server, ADMIN), user_agent="test")
        assert (await client.list(CONFIGMAPS, namespace="default")).items == []
        await virtual_clock.sleep(10)
        assert len((await client.list(CONFIGMAPS, namespace="default")).items) == 1
    else:
        assert answer.status == 200
    await server.stop()
    await store.close()


async def slow_server(clock: VirtualClock) -> tuple[ApiServer, SqliteStore]:
    """One whose store takes twenty seconds for each write."""
    world = World.create(clock=clock, seed=1, latencies={"store": (20_000, 20_000)})
    store = await SqliteStore.open(None, clock=clock)
    server = ApiServer(world, store)
    await server.start()
    return server, store


async def test_who_is_cut_off_by_a_stop_is_told_to_come_again(virtual_clock: VirtualClock) -> None:
    server, store = await slow_server(virtual_clock)
    request = Request("POST", PATH, body=config_map("a"), certificate=ADMIN)
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(server.handle(request))
        await virtual_clock.sleep(1)
        await server.stop()
    answer = asked.result()
    assert (answer.status, answer.body["message"]) == (503, "apiserver is shutting down")
    assert answer.headers["retry-after"] == "1"
    await store.close()


async def test_a_write_ends_with_who_waits_no_more(virtual_clock: VirtualClock) -> None:
    server, store = await slow_server(virtual_clock)
    request = Request("POST", PATH, body=config_map("a"), certificate=ADMIN)
    asked = asyncio.ensure_future(server.handle(request))
    await virtual_clock.sleep(1)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    await virtual_clock.sleep(60)
    client = Client(InProcessTransport(server, ADMIN), user_agent="test")
    assert (await client.list(CONFIGMAPS, namespace="default")).items == []
    await server.stop()
    await store.close()
