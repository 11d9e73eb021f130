"""Requests that would be WebSockets: bearer tokens among the protocols, and logs (upstream's websocket
protocol_test.go, wsstream stream_test.go)."""

from __future__ import annotations

import base64

import pytest

from engine.api.types import NODES, PODS, Object
from engine.api.wire import Request, Response
from engine.apiserver.server import ApiServer
from engine.client import Client
from engine.clock import VirtualClock
from engine.world import World
from tests.apiserver.conftest import pod
from tests.apiserver.test_pod_logs import PATH, Log
from tests.apiserver.test_reviews import request_token

SOCKET = {"connection": "keep-alive, Upgrade", "upgrade": "websocket"}
BEARER = "base64url.bearer.authorization.k8s.io."


@pytest.fixture
async def log(client: Client, world: World, default_account: Object) -> Log:
    await client.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}})
    await client.create(PODS, pod(nodeName="node-1"), namespace="default")
    log = Log(world)
    log.write(0, "line 0")
    return log


class Browser:
    """The other end of a socket: what it has got, and when it goes."""

    def __init__(self, clock: VirtualClock, *, leaves_after: float) -> None:
        self.got: list[bytes | str] = []
        self._clock = clock
        self._stays = leaves_after

    async def receive(self) -> bytes | None:
        await self._clock.sleep(self._stays)
        return None

    async def send(self, message: bytes | str) -> None:
        self.got.append(message)


async def asked(client: Client, protocols: str | None = None, **query: str) -> Response:
    headers = {**SOCKET, **({"sec-websocket-protocol": protocols} if protocols is not None else {})}
    return await client.send("GET", PATH, query={name: [value] for name, value in query.items()}, headers=headers)


@pytest.mark.parametrize(
    ("protocols", "spoken", "got"),
    [
        pytest.param(None, "", [b"", b"line 0\n"], id="none"),
        pytest.param("", "", [b"", b"line 0\n"], id="an empty one"),
        pytest.param("binary.k8s.io", "binary.k8s.io", [b"", b"line 0\n"], id="binary"),
        pytest.param("base64.binary.k8s.io", "base64.binary.k8s.io", ["", "bGluZSAwCg=="], id="base64"),
        pytest.param("v9.binary.k8s.io, binary.k8s.io", "binary.k8s.io", [b"", b"line 0\n"], id="the second of two"),
    ],
)
async def test_a_log_may_be_read_from_a_socket(
    client: Client, log: Log, virtual_clock: VirtualClock, protocols: str | None, spoken: str, got: list[bytes | str]
) -> None:
    upgrade = (await asked(client, protocols)).upgrade
    assert upgrade is not None
    assert upgrade.protocol == spoken
    browser = Browser(virtual_clock, leaves_after=60)
    await upgrade.run(browser)
    assert browser.got == got


async def test_a_socket_that_follows_a_log_ends_with_its_client_or_container(
    client: Client, log: Log, virtual_clock: VirtualClock
) -> None:
    virtual_clock.call_later(5, lambda: log.write(5, "x" * 3000))
    virtual_clock.call_later(30, lambda: setattr(log, "closed", True))
    begun = virtual_clock.monotonic()
    for leaves_after, ends, sizes in ((10, 10, [0, 2048, 953]), (100, 30, [0])):
        upgrade = (await asked(client, follow="true", tailLines="0")).upgrade
        assert upgrade is not None
        browser = Browser(virtual_clock, leaves_after=leaves_after)
        await upgrade.run(browser)
        assert ends <= virtual_clock.monotonic() - begun <= ends + 1
        assert [len(message) for message in browser.got] == sizes  # messages of 2 KiB at most


def encoded(token: str | bytes) -> str:
    data = token.encode() if isinstance(token, str) else token
    return BEARER + base64.urlsafe_b64encode(data).decode().rstrip("=")


async def test_a_token_may_be_a_protocol(server: ApiServer, client: Client, default_account: Object) -> None:
    token = (await request_token(client))["status"]["token"]
    good = encoded(token)
    rows = {  # of the protocols: the code of /api and the user
        f"{good},dummy": "system:serviceaccount:default:default",
        f"dummy, {good}": "system:serviceaccount:default:default",
        "dummy": "system:anonymous",
        "": "system:anonymous",
        BEARER: "system:anonymous",  # an empty token is none
        good: 401,  # nothing is left to say back
        f"{good},{good},dummy": 401,
        f"{encoded('nonsense')},dummy": 401,
        f"{encoded(bytes((0xFF, 0xFE)))},dummy": 401,
        f"{BEARER}a+/,dummy": 401,
    }
    review = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    for protocols, who in rows.items():
        headers = {**SOCKET, "sec-websocket-protocol": protocols}
        response = await server.handle(Request("POST", review, headers=headers, body=body))
        found = response.status if response.status == 401 else _user(response)
        assert found == who, protocols
    plain = await server.handle(Request("POST", review, headers={"sec-websocket-protocol": f"{good},d"}, body=body))
    assert _user(plain) == "system:anonymous"  # no socket


def _user(response: Response) -> str:
    """Of a review, or whom it was refused."""
    if response.status == 403:
        return str(response.body["message"]).partition('User "')[2].partition('"')[0]
    return str(response.body["status"]["userInfo"]["username"])
