from __future__ import annotations

from typing import Any

import orjson
import pytest

from engine.api.errors import ApiError
from engine.api.protobuf_writing import delimited, key
from engine.api.types import CONFIGMAPS
from engine.api.wire import PROTOBUF
from engine.apiserver.debug.etcd import METHODS
from engine.apiserver.protobuf.wire import LENGTH
from engine.client import Client
from engine.clock import Clock, VirtualClock
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ClientFor, config_map

PREFIX = "/debug/ktui"


async def get(client: Client, path: str, **query: str) -> Any:
    return await client.request("GET", f"{PREFIX}/{path}", query={name: [value] for name, value in query.items()})


async def test_the_status(client: Client, store: SqliteStore) -> None:
    status = await get(client, "status")
    assert status["revision"] == store.revision
    assert status["kubernetesVersion"].startswith("1.")
    assert (status["name"], status["profile"], status["seed"]) == ("default", "instant", 1)
    assert status["clock"]["mode"] == "virtual"


async def test_all_that_there_is_is_listed(client: Client) -> None:
    paths = (await client.request("GET", PREFIX))["paths"]
    assert {f"{PREFIX}/{name}" for name in ("clock", "watches", "store/log", "store/members")} <= set(paths)
    missing = sorted({f"{PREFIX}/store/{name}" for name in METHODS} - set(paths))
    assert missing == [], "what ktui store asks for is there too"


async def test_only_who_may_sees_the_inside(client_for: ClientFor) -> None:
    with pytest.raises(ApiError, match='User "jane" cannot get path "/debug/ktui/status"'):
        await get(client_for("jane"), "status")


async def test_the_keys_and_values_of_the_store(client: Client) -> None:
    first = await client.create(CONFIGMAPS, config_map("web", a="1"), namespace="default")
    await client.patch(CONFIGMAPS, "web", {"data": {"a": "2"}}, namespace="default")
    listed = await get(client, "store/keys", prefix="/registry/configmaps/default/")
    [key] = listed["keys"]
    assert (key["key"], key["version"], listed["count"]) == ("/registry/configmaps/default/web", 2, 1)
    assert key["createRevision"] == int(first["metadata"]["resourceVersion"])
    then = await get(client, "store/value", key=key["key"], revision=str(key["createRevision"]))
    assert then["value"]["data"] == {"a": "1"}
    now = await get(client, "store/value", key=key["key"])
    assert now["value"]["data"] == {"a": "2"}
    with pytest.raises(ApiError, match="not found"):
        await get(client, "store/value", key="/registry/nothing")


async def test_keys_come_in_pages(client: Client) -> None:
    for name in "abc":
        await client.create(CONFIGMAPS, config_map(name), namespace="default")
    page = await get(client, "store/keys", prefix="/registry/configmaps/default/", limit="2")
    assert (len(page["keys"]), page["more"]) == (2, True)
    rest = await get(client, "store/keys", prefix="/registry/configmaps/default/", after=page["keys"][-1]["key"])
    assert [key["key"] for key in rest["keys"]] == ["/registry/configmaps/default/c"]


async def test_keys_are_searched_by_words_and_labels(client: Client) -> None:
    for name in "abc":
        made = config_map(f"web-{name}")
        made["metadata"]["labels"] = {"tier": name}
        await client.create(CONFIGMAPS, made, namespace="default")
    query = {"contains": ["CONFIGMAPS", "web", "!web-b"], "limit": ["1"]}
    found = await client.request("GET", "/debug/ktui/store/keys", query=query)
    assert ([key["key"] for key in found["keys"]], found["count"], found["more"]) == (
        ["/registry/configmaps/default/web-a"], 2, True,
    )  # fmt: skip
    whole = await get(client, "store/keys", prefix="/registry/")
    assert found["searched"] >= whole["count"]
    labelled = await get(client, "store/keys", prefix="/registry/", labelSelector="tier in (b, c)")
    assert [key["key"].rpartition("/")[2] for key in labelled["keys"]] == ["web-b", "web-c"]
    with pytest.raises(ApiError, match="unable to parse requirement"):
        await get(client, "store/keys", labelSelector="a in")


async def test_the_log_of_the_store(client: Client, store: SqliteStore) -> None:
    before = store.revision
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    await client.delete(CONFIGMAPS, "web", namespace="default")
    log = await get(client, "store/log", after=str(before))
    assert [(entry["type"], entry["key"]) for entry in log["entries"]] == [
        ("PUT", "/registry/configmaps/default/web"),
        ("DELETE", "/registry/configmaps/default/web"),
    ]
    assert log["entries"][0]["cause"].startswith("00-")


async def test_a_watch_of_the_store_says_how_far_it_is(client: Client, store: SqliteStore) -> None:
    """Every ten minutes, as etcd does; what happens elsewhere counts."""
    query = {"key": ["/registry/pods/"], "range_end": ["/registry/pods0"], "progress_notify": ["true"]}
    response = await client.send("GET", "/debug/ktui/store/watch", query=query)
    assert response.stream is not None
    for number in range(2):
        await client.create(CONFIGMAPS, config_map(f"c{number}"), namespace="default")
        told = orjson.loads(await anext(aiter(response.stream)))
        assert (told["Header"]["revision"], told["Events"], told["Canceled"]) == (store.revision, [], False)
    await response.stream.aclose()


async def test_an_event_says_how_far_a_watch_of_the_store_is(
    client: Client, store: SqliteStore, virtual_clock: VirtualClock
) -> None:
    """What has told something within ten minutes is asked only at the end of the next (v3rpc watch.go, sendLoop)."""
    query = {"key": ["/registry/configmaps/"], "range_end": ["/registry/configmaps0"], "progress_notify": ["true"]}
    response = await client.send("GET", "/debug/ktui/store/watch", query=query)
    assert response.stream is not None
    lines = aiter(response.stream)
    began = virtual_clock.monotonic()
    await virtual_clock.sleep(300)
    await client.create(CONFIGMAPS, config_map("c"), namespace="default")
    assert len(orjson.loads(await anext(lines))["Events"]) == 1
    assert orjson.loads(await anext(lines))["Events"] == []
    assert virtual_clock.monotonic() - began == pytest.approx(1200)
    await response.stream.aclose()


async def test_watches_of_the_store_can_be_asked_how_far_they_are(client: Client, store: SqliteStore) -> None:
    query = {"key": ["/registry/pods/"], "range_end": ["/registry/pods0"], "watch_id": ["7"]}
    response = await client.send("GET", "/debug/ktui/store/watch", query=query)
    assert response.stream is not None
    assert await client.request("POST", "/debug/ktui/store/progress", body={"watch_ids": [7, 8]}) == {}
    told = orjson.loads(await anext(aiter(response.stream)))
    assert (told["Header"]["revision"], told["Events"], told["Canceled"]) == (store.revision, [], False)
    await response.stream.aclose()
    await client.request("POST", "/debug/ktui/store/progress", body={"watch_ids": [7]})


async def test_a_watch_of_the_store_of_no_range_is_over_at_once(client: Client) -> None:
    query = {"key": ["b"], "range_end": ["a"]}
    response = await client.send("GET", "/debug/ktui/store/watch", query=query)
    assert response.stream is not None
    (told,) = [orjson.loads(line) async for line in response.stream]
    assert told == {"Header": {}, "Events": None, "CompactRevision": 0, "Canceled": True, "Created": False}


async def test_the_transactions_show_a_comparison_that_failed(client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    with pytest.raises(ApiError, match="already exists"):
        await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    last = (await get(client, "store/transactions"))["transactions"][-1]
    assert (await get(client, "store/transactions", limit="1"))["transactions"] == [last]
    assert (last["succeeded"], last["wrote"]) == (False, False)
    assert last["compare"] == [
        {"key": "/registry/configmaps/default/web", "target": "mod", "op": "=", "value": 0},
    ]


async def test_the_open_watches(client: Client) -> None:
    async with await client.watch(CONFIGMAPS, namespace="default", label_selector="app=web", resource_version="0"):
        caches = {cache["prefix"]: cache for cache in (await get(client, "watches"))["caches"]}
    [watch] = caches["/registry/configmaps"]["watchers"]
    assert (watch["user"], watch["namespace"]) == ("kubernetes-admin", "default")
    assert watch["selector"] == {"labels": "app=web"}
    assert caches["/registry/configmaps"]["ring"]["size"] == 1000


async def test_views_are_what_components_offer(client: Client, world: World) -> None:
    world.views.offer("scheduler/queue", lambda parameters: {"active": [], "asked": parameters})
    assert "scheduler/queue" in (await get(client, "views"))["views"]
    world.views.offer("other", lambda parameters: 1)
    shown = (await get(client, "views", under="scheduler/", limit="3"))["shown"]
    assert shown == {"scheduler/queue": {"active": [], "asked": {"under": "scheduler/", "limit": "3"}}}
    assert await get(client, "views/scheduler/queue", limit="3") == {"active": [], "asked": {"limit": "3"}}
    with pytest.raises(ApiError, match='view "nothing" not found'):
        await get(client, "views/nothing")


async def test_spans_by_object_and_by_trace(client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    found = await get(client, "traces", kind="ConfigMap", namespace="default", name="web")
    assert {span["hop"] for span in found["spans"]} >= {1, 2, 3, 4, 5, 6, 7}
    assert await get(client, "traces", trace=found["trace"]) == found


async def test_a_stream_of_spans(client: Client) -> None:
    response = await client.send("GET", f"{PREFIX}/trace", query={"follow": ["true"]})
    assert response.stream is not None
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    chunk = await anext(aiter(response.stream))
    spans = [orjson.loads(line) for line in chunk.splitlines()]
    assert [span["hop"] for span in spans if span["object"] == "configmap/default/web"][-1] in (1, 8)
    await response.stream.aclose()
    kept = await get(client, "trace", after=str(spans[0]["sequence"] - 1))
    assert kept["spans"][: len(spans)] == spans


async def put_clock(client: Client, **wanted: object) -> Any:
    return await client.request("PUT", f"{PREFIX}/clock", body=wanted)


async def test_a_virtual_clock_has_no_speed(client: Client) -> None:
    with pytest.raises(ApiError, match="has no speed"):
        await put_clock(client, speed=2)
    with pytest.raises(ApiError, match='give a "speed"'):
        await put_clock(client, action="jump")


async def test_the_clock_is_steered() -> None:
    from engine.apiserver.server import ApiServer
    from engine.client import InProcessTransport
    from tests.apiserver.conftest import ADMIN

    world = World.create(clock=Clock(), seed=1)
    store = await SqliteStore.open(None, clock=world.clock)
    server = ApiServer(world, store)
    await server.start()
    client = Client(InProcessTransport(server, ADMIN), user_agent="test")
    assert (await put_clock(client, speed=10))["mode"] == "scaled"
    paused = await put_clock(client, action="pause")
    assert (paused["mode"], paused["speed"]) == ("paused", 0.0)
    assert (await put_clock(client, action="resume"))["speed"] == 10
    await server.stop()
    await store.close()


async def test_what_is_not_there(client: Client) -> None:
    for path in ("nothing", "store/nothing"):
        with pytest.raises(ApiError) as caught:
            await get(client, path)
        assert caught.value.code == 404
    with pytest.raises(ApiError) as caught:
        await client.request("POST", f"{PREFIX}/status", body={})
    assert caught.value.code == 405


async def test_the_request_and_response_of_a_hop(client: Client, world: World) -> None:
    made = await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    span = next(span for span in reversed(world.tracer.recent) if span.hop == 2 and span.verb == "create")
    shown = await get(client, "payloads", span=span.detail["payload"])
    assert (shown["request"]["method"], shown["request"]["body"]) == ("POST", config_map("web"))
    assert (shown["response"]["status"], shown["response"]["body"]) == (201, made)
    with pytest.raises(ApiError, match='payload "x" not found'):
        await get(client, "payloads", span="x")


async def test_credentials_are_hidden(client: Client, world: World) -> None:
    headers = {"authorization": "Bearer secret"}
    await client.send("POST", "/api/v1/namespaces/default/configmaps", body=config_map("web"), headers=headers)
    span = next(span for span in reversed(world.tracer.recent) if span.hop == 2 and span.verb == "create")
    shown = await get(client, "payloads", span=span.detail["payload"])
    assert shown["request"]["headers"]["authorization"] == "(hidden)"


async def test_a_token_that_is_asked_for_is_hidden(client: Client, world: World) -> None:
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    await client.request("POST", accounts, body={"metadata": {"name": "robot"}})
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": []}}
    answer = await client.request("POST", f"{accounts}/robot/token", body=body)
    assert answer["status"]["token"]
    span = [span for span in world.tracer.recent if span.hop == 2 and span.verb == "create"][-1]
    shown = await get(client, "payloads", span=span.detail["payload"])
    assert shown["response"]["body"]["status"] == {**answer["status"], "token": "(hidden)"}


def field(number: int, data: bytes) -> bytes:
    return key(number, LENGTH) + delimited(data)


TOKEN_REQUEST = b"".join(
    (
        b"k8s\0",
        field(1, field(1, b"authentication.k8s.io/v1") + field(2, b"TokenRequest")),
        field(2, field(2, field(1, b"here"))),
    )
)


async def test_what_came_in_protobuf_can_be_read_but_for_its_token(client: Client, world: World) -> None:
    """kubectl asks for a token in protobuf, and gets it so."""
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    await client.request("POST", accounts, body={"metadata": {"name": "robot"}})
    headers = {"content-type": PROTOBUF, "accept": f"{PROTOBUF},application/json"}
    answer = await client.send("POST", f"{accounts}/robot/token", body=TOKEN_REQUEST, headers=headers)
    assert (answer.status, answer.body[:4]) == (201, b"k8s\0")
    span = [span for span in world.tracer.recent if span.hop == 2 and span.verb == "create"][-1]
    shown = await get(client, "payloads", span=span.detail["payload"])
    asked, told = shown["request"], shown["response"]
    assert (asked["body"]["kind"], asked["body"]["spec"]["audiences"]) == ("TokenRequest", ["here"])
    assert asked["encoded"] == f"{len(TOKEN_REQUEST)} bytes of protobuf"
    assert told["body"]["status"]["token"] == "(hidden)"
    await client.send("POST", accounts, body=b"k8s\0\xff\xff", headers=headers)
    span = [span for span in world.tracer.recent if span.hop == 2 and span.verb == "create"][-1]
    shown = await get(client, "payloads", span=span.detail["payload"])
    assert shown["request"]["body"] == "(6 bytes of protobuf)"


async def test_a_token_in_the_protocols_of_a_socket_is_hidden(client: Client, world: World) -> None:
    headers = {"sec-websocket-protocol": "base64url.bearer.authorization.k8s.io.c2VjcmV0, v5.channel.k8s.io"}
    await client.send("POST", "/api/v1/namespaces/default/configmaps", body=config_map("web"), headers=headers)
    span = next(span for span in reversed(world.tracer.recent) if span.hop == 2 and span.verb == "create")
    shown = await get(client, "payloads", span=span.detail["payload"])
    offered = shown["request"]["headers"]["sec-websocket-protocol"]
    assert offered == "base64url.bearer.authorization.k8s.io.(hidden), v5.channel.k8s.io"


ENDLESS = "9" * 5000


@pytest.mark.parametrize(
    ("method", "path", "query", "body", "message"),
    [
        pytest.param(
            "GET",
            "store/keys",
            {"limit": "9223372036854775808"},
            None,
            'limit: strconv.ParseInt: parsing "9223372036854775808": value out of range',
            id="more than 64 bits",
        ),
        pytest.param(
            "GET",
            "store/log",
            {"after": ENDLESS},
            None,
            f'after: strconv.ParseInt: parsing "{ENDLESS}": value out of range',
            id="digits without end",
        ),
        pytest.param(
            "GET",
            "store/log",
            {"limit": "-1"},
            None,
            "limit: must be greater than or equal to 0",
            id="less than nothing",
        ),
        pytest.param(
            "GET",
            "store/range",
            {"key": "/a", "revision": "²"},
            None,
            'revision: strconv.ParseInt: parsing "²": invalid syntax',
            id="a digit that is none",
        ),
        pytest.param(
            "POST",
            "store/txn",
            {},
            {"compare": [{"result": {}, "target": []}]},
            "there is no compare of [] with {}",
            id="a compare of the wrong type",
        ),
        pytest.param(
            "POST",
            "store/txn",
            {},
            {"success": [{"request_range": {"key": "L2E=", "sort_target": 1}}]},
            "bad sort target 1",
            id="a target of the wrong type",
        ),
    ],
)
async def test_what_the_store_is_not_asked_so(
    client: Client, method: str, path: str, query: dict[str, str], body: Any, message: str
) -> None:
    named = {name: [value] for name, value in query.items()}
    response = await client.send(method, f"{PREFIX}/{path}", query=named, body=body)
    assert (response.status, response.body["message"]) == (400, message)
