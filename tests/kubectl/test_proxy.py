"""`proxy`: another program's requests with one's own credentials, those that are let through."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from engine.kubectl.main import run
from engine.tasks import Supervisor
from tests.kubectl.oracle import NO_HOME, ours, real
from tests.kubectl.parity import normal
from tests.kubectl.served import served


class Said(io.StringIO):
    """What was printed; `ready` is set by the first line."""

    def __init__(self) -> None:
        super().__init__()
        self.ready = asyncio.Event()

    def flush(self) -> None:
        self.ready.set()


@asynccontextmanager
async def proxied(folder: Path, *options: str) -> AsyncIterator[str]:
    """The address of a proxy to a server of the test's own."""
    async with served(folder) as server:
        said, tasks = Said(), Supervisor("proxy")
        environment = {"KUBECONFIG": server.kubeconfig, "HOME": NO_HOME}
        words = ["proxy", "--port=0", *options]
        tasks.spawn(run(words, stdout=said, stderr=said, environment=environment), "proxy")
        try:
            async with asyncio.timeout(60):
                await said.ready.wait()
            assert said.getvalue().startswith("Starting to serve on 127.0.0.1:")
            yield f"http://{said.getvalue().rpartition(' ')[2].strip()}"
        finally:
            await tasks.close()


ROWS = [
    pytest.param("GET", "/api/v1/namespaces/default", {}, (), 200, id="a read"),
    pytest.param("GET", "/api/v1/namespaces?limit=1&labelSelector=a%3Db", {}, (), 200, id="a query"),
    pytest.param("DELETE", "/api/v1/namespaces/default/pods/none", {}, (), 404, id="the server's own failure"),
    pytest.param("POST", "/api/v1/namespaces/default/pods/web/exec", {}, (), 403, id="exec is rejected"),
    pytest.param("GET", "/api/v1/namespaces", {"Host": "evil.example.com"}, (), 403, id="another host"),
    pytest.param("PUT", "/api/v1/namespaces/x", {}, ("--reject-methods=PUT,PATCH",), 403, id="a rejected method"),
    pytest.param("GET", "/version", {}, ("--accept-paths=^/api",), 403, id="a path that is not accepted"),
    pytest.param("GET", "/custom/version", {}, ("--api-prefix=/custom/",), 200, id="under a prefix"),
    pytest.param("GET", "/version", {}, ("--api-prefix=/custom/",), 404, id="outside of the prefix"),
]


@pytest.mark.parametrize(("method", "path", "headers", "options", "code"), ROWS)
async def test_what_is_let_through(
    method: str, path: str, headers: dict[str, str], options: tuple[str, ...], code: int, tmp_path: Path
) -> None:
    async with (
        proxied(tmp_path, *options) as url,
        aiohttp.ClientSession() as http,
        http.request(method, url + path, headers=headers) as answer,
    ):
        assert answer.status == code, await answer.text()


async def test_what_is_sent_and_watched_passes(tmp_path: Path) -> None:
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    path = "/api/v1/namespaces/default/configmaps"
    async with proxied(tmp_path) as url, aiohttp.ClientSession(url) as http, asyncio.timeout(60):
        async with http.get(path, params={"watch": "true", "resourceVersion": "0"}) as watch:
            async with http.post(path, json=made) as answer:
                assert answer.status == 201
            lines = [await watch.content.readline() for _ in range(1)]
        assert b'"ADDED"' in lines[0]


REFUSED = (
    "--port=-1",
    "--port=-1 --www=/nonexistent",
    "--port=-1 --www=/etc/passwd",
    "--port=-1 --www=/tmp --www-prefix=x",
    "--port=-1 --disable-filter --accept-hosts=[",
    "--port=0 --accept-hosts=[",
    "--port=0 --accept-paths=(",
    "--port=0 --reject-methods=+",
    "--port=0 --address=9.9.9.9",
    "--unix-socket=/nonexistent/x",
    "--unix-socket=/nonexistent/x --disable-filter",
)


async def test_what_keeps_it_from_serving(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        different = {}
        for words in REFUSED:
            told = [await by(f"proxy {words}", kubeconfig=server.kubeconfig) for by in (real, ours)]
            if len({(each.code, each.stdout, normal(each.stderr)) for each in told}) > 1:
                different[words] = told
        assert not different
