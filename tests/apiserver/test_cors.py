"""Pages of other origins (after apiserver's filters cors_test.go and options server_run_options_test.go)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import aiohttp
import pytest

from engine.api.wire import ClientCertificate, Request, Response
from engine.apiserver.http import HttpServer
from engine.apiserver.server import ApiServer
from engine.clock import Clock
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from ktui.commands import UsageError
from ktui.commands.up import configure
from ktui.engine_process import UpOptions
from tests.apiserver.conftest import ADMIN

METHODS = ["POST", "GET", "OPTIONS", "PUT", "DELETE", "PATCH"]
ALLOWED = "access-control-allow-origin"


@pytest.fixture
async def server() -> AsyncIterator[ApiServer]:
    world = World.create(clock=Clock(), seed=1)
    store = await SqliteStore.open(None, clock=world.clock)
    origins = ("//not-matching.com$", r"^https://([a-z]+\.)?example\.com(:|$)")
    served = ApiServer(world, store, config=ClusterConfig(cors_allowed_origins=origins))
    await served.start()
    yield served
    await served.stop()
    await store.close()


async def ask(
    server: ApiServer, method: str, path: str, origin: str, certificate: ClientCertificate | None = ADMIN
) -> Response:
    headers = {"origin": origin} if origin else {}
    return await server.handle(Request(method, path, headers=headers, certificate=certificate))


async def test_pages_of_allowed_origins_may_read_answers(server: ApiServer) -> None:
    rows = {
        "https://example.com": True,
        "https://example.com:8443": True,
        "https://dash.example.com": True,
        "http://not-matching.com": True,
        "https://example.com.evil.org": False,
        "http://example.com": False,
        "example.com": False,
        "": False,
    }
    for origin, allowed in rows.items():
        answer = await ask(server, "GET", "/version", origin)
        assert answer.status == 200
        assert answer.headers.get(ALLOWED, "") == (origin if allowed else "")
        assert [name for name in answer.headers if name.startswith("access-control-")] == (
            [
                ALLOWED, "access-control-allow-methods", "access-control-allow-headers",
                "access-control-expose-headers", "access-control-allow-credentials",
            ] if allowed else []
        )  # fmt: skip
    headers = (await ask(server, "GET", "/version", "https://example.com")).headers
    assert headers["access-control-allow-methods"].split(", ") == METHODS
    assert (headers["access-control-expose-headers"], headers["access-control-allow-credentials"]) == ("Date", "true")
    assert "Authorization" in headers["access-control-allow-headers"].split(", ")


async def test_every_method_may_be_sent_and_refusals_can_be_read_too(server: ApiServer) -> None:
    for method in METHODS:
        assert (await ask(server, method, "/version", "https://example.com")).headers[ALLOWED] == "https://example.com"
    refused = await ask(server, "GET", "/api/v1/pods", "https://example.com", certificate=None)
    assert (refused.status, refused.headers[ALLOWED]) == (403, "https://example.com")
    watch = await ask(server, "GET", "/api/v1/pods?watch=1", "https://example.com")
    assert watch.headers[ALLOWED] == "https://example.com"


async def test_a_browser_asks_for_leave_without_saying_who_it_is(server: ApiServer) -> None:
    world = World.create(clock=Clock(), seed=1)
    http = HttpServer(server, host="127.0.0.1", port=0, ssl_context=None, world=world)
    await http.start()
    try:
        async with aiohttp.ClientSession(f"http://127.0.0.1:{http.port}") as session:
            asked = {"access-control-request-method": "PATCH"}
            for origin, status in (("https://example.com", 204), ("https://evil.org", 403)):
                async with session.options("/api/v1/pods", headers={"origin": origin, **asked}) as answer:
                    assert (answer.status, answer.headers.get(ALLOWED)) == (
                        status, origin if status == 204 else None,
                    )  # fmt: skip
                    assert answer.headers["cache-control"] == "no-cache, private"
                    assert "audit-id" in answer.headers
                    if status == 204:
                        assert await answer.read() == b""
                        assert "content-type" not in answer.headers
    finally:
        await http.stop()


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("", ""),
        ("//example.com(:|$)", ""),
        ("^https://example.com$,//localhost:", ""),
        ('"^https://[a-z]{1,3}.com$"', ""),
        (",//a:", "empty value in --cors-allowed-origins"),
        ("example.com", "--cors-allowed-origins has an invalid regular expression: regular expression does not pin to"),
        ("^example.com", "regular expression does not pin to start/end of host in the origin header"),
        ("//a(:", "invalid regular expression: error parsing regexp: missing closing ): `//a(:`"),
        ("a,b", "[--cors-allowed-origins has an invalid"),
    ],
)
def test_a_pattern_says_where_a_host_begins_and_ends(given: str, error: str) -> None:
    options = UpOptions(cors_allowed_origins=given, ephemeral=True)
    assert f"--cors-allowed-origins={given}" in options.arguments() or not given
    if not error:
        configure(options)
        return
    with pytest.raises(UsageError) as refused:
        configure(options)
    assert error in str(refused.value)
