"""`python -m tests.ktui.recorded.inside`: records what the screens ask that look inside, from a cluster on the virtual
clock that runs `samples/web.yaml` and `inside.yaml`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson

from engine.api.types import PODS
from engine.api.wire import Request, Response
from engine.client import Client
from engine.client.transport import Transport
from engine.clock import VirtualClock
from engine.cluster import Cluster
from engine.config import ClusterConfig
from engine.kubectl.main import run
from ktui.feeds import inside as inside_feed
from ktui.feeds import nodes as nodes_feed
from ktui.feeds import scheduler as scheduler_feed
from tests.ktui.recorded import INSIDE, question

MANIFESTS = ("samples/web.yaml", str(Path(__file__).with_suffix(".yaml")))
SETTLED_SECONDS, AFTER_SECONDS = 20.0, 2.2
URGENT = {  # takes the place of another
    "metadata": {"name": "urgent-0"},
    "spec": {
        "priorityClassName": "urgent",
        "nodeSelector": {"kubernetes.io/hostname": "node-2"},
        "containers": [{"name": "c", "image": "nginx:1.27", "resources": {"requests": {"cpu": "2"}}}],
    },
}


class Recorder:
    """A transport that keeps what it was answered."""

    def __init__(self, inner: Transport) -> None:
        self.answers: dict[str, Any] = {}
        self._inner = inner

    async def send(self, request: Request) -> Response:
        response = await self._inner.send(request)
        body = response.body
        self.answers[question(request)] = shortened(orjson.loads(orjson.dumps(body)) if body is not None else None)
        return response

    async def close(self) -> None:
        await self._inner.close()


@asynccontextmanager
async def busy_cluster(clock: VirtualClock) -> AsyncIterator[Client]:
    async with Cluster(ClusterConfig(seed=1, profile="realistic"), clock=clock) as cluster:
        await clock.sleep(3)
        client = cluster.client(user_agent="kubectl/v1.37.1")
        for manifest in MANIFESTS:
            await run(["apply", "-f", manifest], client=client, stdout=sys.stdout, stderr=sys.stderr, clock=clock)
        await clock.sleep(SETTLED_SECONDS)
        await client.create(PODS, URGENT, namespace="default")
        await clock.sleep(AFTER_SECONDS)
        yield client


async def main(clock: VirtualClock) -> None:
    async with busy_cluster(clock) as client:
        recorder = Recorder(client.transport)
        await ask(Client(recorder, user_agent="ktui"))
        INSIDE.write_bytes(orjson.dumps(recorder.answers))
        print(f"{len(recorder.answers)} answers")


def shortened(value: Any) -> Any:
    """The times of this machine in a range that pictures can keep."""
    if isinstance(value, dict):
        return {key: _short(key, entry) for key, entry in value.items()}
    return [shortened(entry) for entry in value] if isinstance(value, list) else value


def _short(key: str, value: Any) -> Any:
    return round(min(value, 3.0), 1) if key == "wall_ms" else shortened(value)


async def ask(client: Client) -> None:
    """All that the screens ask."""
    overview = await scheduler_feed.overview(client)
    waiting = [pod["pod"] for place in ("active", "backoff", "unschedulable") for pod in overview["queue"][place]]
    for pod in dict.fromkeys([*waiting, *(attempt["pod"] for attempt in overview["attempts"]["decisions"])]):
        await scheduler_feed.decision(client, pod)
    for node in await nodes_feed.node_map(client):
        await nodes_feed.kubelet(client, node["name"])
    await inside_feed.watches(client)
    for shown in (await inside_feed.controllers(client)).values():
        await inside_feed.controller(client, shown["name"])


if __name__ == "__main__":
    clock = VirtualClock()
    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        runner.run(main(clock))
