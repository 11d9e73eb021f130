"""`python -m tests.ktui.recorded`: records again, from a cluster on the virtual clock."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import orjson

from engine.api.types import DEPLOYMENTS, PODS
from engine.api.wire import Request
from engine.client import Client
from engine.clock import VirtualClock
from engine.cluster import Cluster
from engine.config import ClusterConfig
from engine.kubectl.main import run
from ktui.feeds.objects import PAGE, TABLE
from tests.ktui.recorded import ANSWERS, SPANS, question

_LEFT_OUT = ("groups", "tried")


async def main(clock: VirtualClock) -> None:
    async with Cluster(ClusterConfig(seed=1, profile="realistic"), clock=clock) as cluster:
        await clock.sleep(3)
        client = cluster.client(user_agent="kubectl/v1.37.1")
        before = cluster.world.tracer.ended
        await run(["apply", "-f", "samples/web.yaml"], client=client, stdout=sys.stdout, stderr=sys.stderr, clock=clock)
        await clock.sleep(12)
        told = [span.to_json() for span in cluster.world.tracer.recent if span.sequence > before]
        SPANS.write_bytes(b"".join(orjson.dumps(shortened(span)) + b"\n" for span in told))
        answers = await ask(client)
        ANSWERS.write_bytes(orjson.dumps(answers, option=orjson.OPT_INDENT_2))
        print(f"{len(told)} spans, {len(answers)} answers")


def shortened(span: dict[str, Any]) -> dict[str, Any]:
    """A span without what no screen shows; the times of this machine in a range that pictures can keep."""
    detail = {key: value for key, value in span["detail"].items() if key not in _LEFT_OUT}
    if isinstance(detail.get("rules"), list):
        detail["rules"] = len(detail["rules"])
    return {**span, "detail": detail, "wall_ms": round(min(span["wall_ms"], 3.0), 1)}


async def ask(client: Client) -> dict[str, Any]:
    table, page = {"accept": TABLE}, {"limit": [str(PAGE)]}
    pods = (await client.list(PODS, namespace="default")).items
    pod = pods[0]["metadata"]["name"]
    requests = [
        Request("GET", PODS.path(), page, table),
        Request("GET", DEPLOYMENTS.path(), page, table),
        Request("GET", PODS.path("default", pod)),
    ]
    return {
        question(request): await client.request(
            request.method, request.path, query=request.query, headers=request.headers
        )
        for request in requests
    }


if __name__ == "__main__":
    clock = VirtualClock()
    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        runner.run(main(clock))
