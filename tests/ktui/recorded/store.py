"""`python -m tests.ktui.recorded.store`: records what the Store screen asks, from a simulated quorum."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import orjson

from engine.api.types import PODS
from engine.api.wire import Request
from engine.client import Client
from engine.clock import VirtualClock
from engine.cluster import Cluster
from engine.config import ClusterConfig
from engine.kubectl.main import run
from ktui.feeds.store import MOST_KEYS, STREAM_MOST
from ktui.models.flow import FlowModel
from tests.ktui.recorded import STORE, question

PATH = "/debug/ktui/store"
PREFIX = "/registry/pods/"
FSYNC_MS = (4.1, 5.2, 3.9, 7.4, 4.4)  # the store is in memory: of a disk it would tell times such as these


async def main(clock: VirtualClock) -> None:
    config = ClusterConfig(seed=1, profile="realistic", etcd_members=3)
    async with Cluster(config, clock=clock) as cluster:
        await clock.sleep(3)
        client = cluster.client(user_agent="kubectl/v1.37.1")
        await run(["apply", "-f", "samples/web.yaml"], client=client, stdout=sys.stdout, stderr=sys.stderr, clock=clock)
        await clock.sleep(12)
        answers = named(await ask(client), [span.to_json() for span in cluster.world.tracer.recent])
        STORE.write_bytes(orjson.dumps(answers, option=orjson.OPT_INDENT_2))
        print(f"{len(answers)} answers")


async def ask(client: Client) -> dict[str, Any]:
    answers: dict[str, Any] = {}

    async def get(name: str, **query: str) -> Any:
        request = Request("GET", f"{PATH}/{name}", {key: [value] for key, value in query.items()})
        answer = await client.request(request.method, request.path, query=request.query)
        answers[question(request)] = answer
        return answer

    key = f"{PREFIX}default/{(await client.list(PODS, namespace='default')).items[0]['metadata']['name']}"
    status = with_fsyncs(await get("status"))
    await get("members")
    await get("keys", prefix=PREFIX, limit=str(MOST_KEYS))
    await get("log", after=str(max(0, status["revision"] - STREAM_MOST)), limit=str(STREAM_MOST))
    await get("transactions", limit=str(STREAM_MOST))
    found = await get("value", key=key)
    while found["modRevision"] > found["createRevision"]:
        found = await get("value", key=key, revision=str(found["modRevision"] - 1))
    return answers


def named(answers: dict[str, Any], spans: list[dict[str, Any]]) -> dict[str, Any]:
    """The answers with who wrote in the place of the causes, whose spans no picture has."""
    flow = FlowModel()
    flow.add(spans)
    for answer in answers.values():
        for told in (*answer.get("entries", ()), *answer.get("transactions", ())):
            told["cause"] = flow.writer(told["cause"])
    return answers


def with_fsyncs(status: dict[str, Any]) -> dict[str, Any]:
    details = status["details"]
    details |= {"commit_ms_p50": 4.4, "commit_ms_p99": 7.4}
    for number, commit in enumerate(details["recent_commits"]):
        commit["ms"] = FSYNC_MS[number % len(FSYNC_MS)]
    return status


if __name__ == "__main__":
    clock = VirtualClock()
    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        runner.run(main(clock))
