from __future__ import annotations

from typing import Any, cast

import pytest

from engine.api.errors import ApiError
from engine.api.types import NODES, PODS, Object
from engine.client import Client
from engine.clock import VirtualClock
from engine.streaming import LogLine, NodeStreams, StreamError, Target
from engine.world import World
from tests.apiserver.conftest import pod

PATH = "/api/v1/namespaces/default/pods/web/log"


class Log:
    """What a kubelet would offer, and the log that it has."""

    def __init__(self, world: World) -> None:
        self.lines: list[LogLine] = []
        self.closed = False
        self.why = ""
        world.streams.offer("node-1", cast("NodeStreams", self))

    def log(self, target: Target, *, previous: bool) -> Log:
        if self.why:
            raise StreamError(self.why)
        return self

    @property
    def written(self) -> int:
        return len(self.lines)

    def read(self, after: int = 0) -> list[LogLine]:
        return self.lines[after:]

    def write(self, second: int, text: str) -> None:
        self.lines.append(LogLine(f"2026-01-01T00:00:{second:02}.000000000Z", "stdout", text))


@pytest.fixture
async def log(client: Client, world: World, default_account: Object) -> Log:
    await client.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}})
    await client.create(PODS, pod(nodeName="node-1"), namespace="default")
    log = Log(world)
    for second in range(3):
        log.write(second, f"line {second}")
    return log


async def read(client: Client, **query: str) -> Any:
    response = await client.send("GET", PATH, query={name: [value] for name, value in query.items()})
    assert response.status == 200, response.body
    assert response.headers["content-type"] == "text/plain"
    return response.body


async def test_a_log_is_text(client: Client, log: Log) -> None:
    assert await read(client) == b"line 0\nline 1\nline 2\n"
    assert await read(client, tailLines="1") == b"line 2\n"
    assert await read(client, tailLines="0") == b""
    assert await read(client, limitBytes="8") == b"line 0\nl"
    assert await read(client, timestamps="true", tailLines="1") == b"2026-01-01T00:00:02.000000000Z line 2\n"
    assert await read(client, sinceTime="2026-01-01T00:00:02Z") == b"line 2\n"


async def test_a_log_is_followed_until_its_container_ends(
    client: Client, log: Log, virtual_clock: VirtualClock
) -> None:
    response = await client.send("GET", PATH, query={"follow": ["true"], "tailLines": ["1"]})
    assert response.stream is not None
    virtual_clock.call_later(10, lambda: log.write(10, "later"))
    virtual_clock.call_later(20, lambda: setattr(log, "closed", True))
    assert [chunk async for chunk in response.stream] == [b"line 2\n", b"later\n"]


async def test_the_kubelet_may_have_none(client: Client, log: Log, world: World) -> None:
    why = 'container "app" in pod "web" is waiting to start: ContainerCreating'
    log.why = why
    response = await client.send("GET", PATH)
    assert (response.status, response.body["reason"], response.body["message"]) == (400, "BadRequest", why)
    world.streams.withdraw("node-1")
    assert (await client.send("GET", PATH)).status == 500
    await client.delete(NODES, "node-1")
    for what in ("log", "exec", "attach"):
        gone = await client.send("GET", PATH.replace("log", what), query={"stdout": ["1"]})
        told = (gone.status, gone.body["reason"], gone.body["message"], gone.body["details"])
        assert told == (404, "NotFound", 'pods "node-1" not found', {"kind": "pods", "name": "node-1"}), what


async def test_which_container(client: Client, world: World, default_account: Object) -> None:
    two = pod(containers=[{"name": name, "image": "x"} for name in "ab"], initContainers=[{"name": "i", "image": "x"}])
    await client.create(PODS, two, namespace="default")
    response = await client.send("GET", PATH)
    assert response.body["message"] == "a container name must be specified for pod web, choose one of: [i a b]"
    response = await client.send("GET", PATH, query={"container": ["c"]})
    assert response.body["message"] == "container c is not valid for pod web"
    response = await client.send("GET", PATH, query={"container": ["a"]})
    assert (response.status, response.body) == (204, b"")  # the Pod is on no node yet


async def test_parameters_that_make_no_sense(client: Client, log: Log) -> None:
    for name, value in {"tailLines": "-1", "limitBytes": "0", "sinceSeconds": "0"}.items():
        response = await client.send("GET", PATH, query={name: [value]})
        assert response.status == 422, name
        assert response.body["message"].startswith(f'PodLogOptions "web" is invalid: {name}: Invalid value: {value}: ')
    since = {"sinceSeconds": ["1"], "sinceTime": ["2026-01-01T00:00:02Z"], "stream": ["Stdout"]}
    response = await client.send("GET", PATH, query=since)
    assert [cause["field"] for cause in response.body["details"]["causes"]] == ["[]", "stream"]
    with pytest.raises(ApiError, match="invalid syntax"):
        await client.request("GET", PATH, query={"tailLines": ["x"]})


async def test_parameters_are_looked_at_before_the_pod(client: Client, default_account: Object) -> None:
    for name, value, text in (
        ("sinceTime", "abc", 'parsing time "abc" as "2006-01-02T15:04:05Z07:00": cannot parse "abc" as "2006"'),
        ("sinceTime", "2026-13-01T00:00:00Z", 'parsing time "2026-13-01T00:00:00Z": month out of range'),
        ("sinceTime", "2026-01-01", 'parsing time "2026-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"'),
        ("stream", "a", 'PodLogOptions "web" is invalid: stream: Forbidden: may not be specified'),
        ("sinceTime", "null", 'pods "web" not found'),
    ):
        response = await client.send("GET", PATH, query={name: [value]})
        assert response.body["message"] == text


async def test_numbers_of_a_log_are_read_as_go_does(client: Client, log: Log) -> None:
    for text, problem in (("", "invalid syntax"), ("1_0", "invalid syntax"), ("9" * 5000, "value out of range")):
        response = await client.send("GET", PATH, query={"tailLines": [text]})
        expected = f'strconv.ParseInt: parsing "{text}": {problem}'
        assert (response.status, response.body["message"]) == (400, expected)
    assert await read(client, sinceSeconds="9223372036854775807", tailLines="1") == b"line 2\n"
