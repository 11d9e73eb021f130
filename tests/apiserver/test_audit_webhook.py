"""A server that audit events are sent to (apiserver plugin/pkg/audit webhook, buffered and truncate tests)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from aiohttp import web

from engine.api.types import CONFIGMAPS, Object
from engine.api.wire import Request
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import VirtualClock
from engine.config import AuditWebhookConfig, ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from ktui.commands import UsageError
from ktui.commands.up import configure
from ktui.engine_process import UpOptions
from tests.apiserver.conftest import ADMIN, config_map

RULES = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "rules": [{"level": "RequestResponse", "users": ["kubernetes-admin"]}],
}


def kubeconfig(folder: Path, url: str) -> Path:
    file = folder / "webhook.kubeconfig"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "audit", "cluster": {"server": url}}],
        "users": [{"name": "server", "user": {"token": "secret"}}],
        "contexts": [{"name": "c", "context": {"cluster": "audit", "user": "server"}}],
        "current-context": "c",
    }
    file.write_text(yaml.safe_dump(document))
    return file


@dataclass
class Listener:
    """The server: what came in, and how it answers, one after another (200 in the end)."""

    folder: Path
    url: str = ""
    codes: list[int] = field(default_factory=list)
    batches: list[Object] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def events(self) -> list[tuple[str, str]]:
        return [(each["stage"], each["requestURI"]) for batch in self.batches for each in batch["items"]]


@pytest.fixture
async def listener(tmp_path: Path) -> AsyncIterator[Listener]:
    found = Listener(tmp_path)

    async def serve(request: web.BaseRequest) -> web.StreamResponse:
        found.headers.append(
            {**{name.lower(): value for name, value in request.headers.items()}, "path": request.path_qs}
        )
        document = orjson.loads(await request.read())
        if found.codes and (code := found.codes.pop(0)) != 200:
            return web.Response(status=code)
        found.batches.append(document)
        return web.Response()

    runner = web.ServerRunner(web.Server(serve), shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    found.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield found
    await runner.cleanup()


async def _served(world: World, store: SqliteStore, listener: Listener, **config: Any) -> tuple[ApiServer, Client]:
    policy = listener.folder / "policy.yaml"
    policy.write_text(yaml.safe_dump(RULES))
    file = kubeconfig(listener.folder, listener.url)
    asked = AuditWebhookConfig(config_file=file, initial_backoff=0.001, **config)
    server = ApiServer(world, store, config=ClusterConfig(audit_policy_file=policy, audit_webhook=asked))
    await server.start()
    return server, Client(InProcessTransport(server, ADMIN), user_agent="test")


async def _until(world: World, listener: Listener, count: int) -> None:
    async with asyncio.timeout(20):
        while len(listener.events()) < count:
            with world.clock.hold():
                await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=0.01)


def _metric(text: str, name: str) -> float:
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name))


async def _metrics(server: ApiServer) -> str:
    answer = await server.handle(Request("GET", "/metrics", certificate=ADMIN, in_process=True))
    return answer.body.decode() if isinstance(answer.body, bytes) else str(answer.body)


async def test_events_are_sent_together_when_the_time_is_over(
    world: World, store: SqliteStore, virtual_clock: VirtualClock, listener: Listener
) -> None:
    server, client = await _served(world, store, listener)
    await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    assert listener.batches == []
    await virtual_clock.sleep(31)
    await _until(world, listener, 2)
    (batch,) = listener.batches
    assert {name: batch[name] for name in ("kind", "apiVersion", "metadata")} == {
        "kind": "EventList",
        "apiVersion": "audit.k8s.io/v1",
        "metadata": {},
    }
    assert [each["stage"] for each in batch["items"]] == ["RequestReceived", "ResponseComplete"]
    assert next(iter(batch["items"][0])) == "level"
    headers = listener.headers[0]
    assert (headers["path"], headers["authorization"]) == ("/?timeout=30s", "Bearer secret")
    await server.stop()


async def test_enough_events_are_sent_at_once_and_the_rest_when_it_stops(
    world: World, store: SqliteStore, listener: Listener
) -> None:
    server, client = await _served(world, store, listener, batch_max_size=3)
    for name in "ab":
        await client.create(CONFIGMAPS, config_map(name), namespace="default")
    await _until(world, listener, 3)
    assert [len(each["items"]) for each in listener.batches] == [3]
    await server.stop()
    assert [len(each["items"]) for each in listener.batches] == [3, 1]


async def test_what_finds_no_room_is_counted(world: World, store: SqliteStore, listener: Listener) -> None:
    server, client = await _served(world, store, listener, batch_buffer_size=1)
    await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    name = 'apiserver_audit_error_total{plugin="buffered"}'
    assert _metric(await _metrics(server), name) >= 1
    await server.stop()


async def test_what_fails_is_sent_again(world: World, store: SqliteStore, listener: Listener) -> None:
    server, client = await _served(world, store, listener, mode="blocking")
    listener.codes = [500, 404, 403, 429, 200]
    await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    assert [stage for stage, _ in listener.events()] == ["RequestReceived", "ResponseComplete"]
    await server.stop()


@pytest.mark.parametrize(("mode", "code"), [("blocking", 201), ("blocking-strict", 500)])
async def test_what_never_arrives(world: World, store: SqliteStore, listener: Listener, mode: str, code: int) -> None:
    """In the strict mode a request that could not be told of does not go on."""
    server, _ = await _served(world, store, listener, mode=mode)
    path = "/api/v1/namespaces/default/configmaps"
    listener.codes = [500] * 5
    request = Request("POST", path, body=config_map("a"), certificate=ADMIN, in_process=True)
    answer = await server.handle(request)
    assert answer.status == code
    if code == 500:
        assert answer.body == f'Internal Server Error: "{path}": failed to store audit event\n'.encode()
    text = await _metrics(server)
    assert _metric(text, 'apiserver_audit_error_total{plugin="webhook"}') == 1
    assert _metric(text, "apiserver_audit_requests_rejected_total") == (code == 500)
    await server.stop()


async def test_large_events_are_shortened_or_left_out(world: World, store: SqliteStore, listener: Listener) -> None:
    server, client = await _served(
        world, store, listener, mode="blocking", truncate_enabled=True, truncate_max_event_size=2000
    )
    await client.create(CONFIGMAPS, config_map("small"), namespace="default")
    await client.create(CONFIGMAPS, config_map("large", a="x" * 3000), namespace="default")
    complete = [each for batch in listener.batches for each in batch["items"] if each["stage"] == "ResponseComplete"]
    small, large = complete
    assert "requestObject" in small
    assert "audit.k8s.io/truncated" not in small["annotations"]
    assert not {"requestObject", "responseObject"} & large.keys()
    assert large["annotations"]["audit.k8s.io/truncated"] == "true"
    long = {"kubectl.kubernetes.io/x": ["x" * 3000]}
    await server.handle(Request("GET", "/version", long, certificate=ADMIN, in_process=True))
    assert _metric(await _metrics(server), 'apiserver_audit_error_total{plugin="truncate"}') == 2
    await server.stop()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"mode": "now"}, 'invalid audit webhook mode now, allowed modes are "batch,blocking,blocking-strict"'),
        ({"batch_buffer_size": "-3"}, "invalid audit batch webhook buffer size -3, must be a positive number"),
        ({"batch_max_size": "0"}, "invalid audit batch webhook max batch size 0, must be a positive number"),
        ({"batch_throttle_qps": "0"}, "invalid audit batch webhook throttle QPS 0, must be a positive number"),
        ({"batch_throttle_burst": "0"}, "invalid audit batch webhook throttle burst 0, must be a positive number"),
        (
            {"truncate_max_event_size": "-1"},
            "invalid audit truncate webhook max event size -1, must be a positive number",
        ),
        (
            {"truncate_max_event_size": "2", "truncate_max_batch_size": "1"},
            "invalid audit truncate webhook max batch size 1, must be greater than max event size (2)",
        ),
        (
            {"batch_max_size": "x"},
            'invalid argument "x" for "--audit-webhook-batch-max-size" flag: strconv.ParseInt: parsing "x": invalid '
            "syntax",
        ),
        ({"version": "audit.k8s.io/v2"}, 'invalid group version, allowed versions are ["audit.k8s.io/v1"]'),
        (
            {"config_file": "{0}/none"},
            "--audit-webhook-config-file: initializing audit webhook: stat {0}/none: no such file or directory",
        ),
    ],
)
def test_what_no_server_starts_with(tmp_path: Path, options: dict[str, str], why: str) -> None:
    file = str(kubeconfig(tmp_path, "http://127.0.0.1:1"))
    given = {"config_file": file, **{name: value.format(tmp_path) for name, value in options.items()}}
    with pytest.raises(UsageError) as caught:
        configure(UpOptions(**{f"audit_webhook_{name}": value for name, value in given.items()}))  # type: ignore[arg-type]
    assert str(caught.value) == why.format(tmp_path)


def test_what_is_not_used_is_not_checked(tmp_path: Path) -> None:
    (tmp_path / "policy").write_text(yaml.safe_dump(RULES))
    config = configure(
        UpOptions(
            audit_policy_file=str(tmp_path / "policy"),
            audit_webhook_config_file=str(kubeconfig(tmp_path, "http://127.0.0.1:1")),
            audit_webhook_mode="blocking",
            audit_webhook_batch_max_size="0",
        )
    )
    assert config.audit_webhook is not None
    assert config.audit_webhook.mode == "blocking"
