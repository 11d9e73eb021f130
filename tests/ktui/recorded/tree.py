"""`python -m tests.ktui.recorded.tree`: records what the Tree screen asks, from the cluster of `inside`."""

from __future__ import annotations

import asyncio

import orjson

from engine.api.types import EVENTS, Object
from engine.client import Client
from engine.clock import VirtualClock
from engine.kubectl.discovery import Discovery
from ktui.models.owner_tree import KINDS
from ktui.screens.tree import MOST
from tests.ktui.recorded import TREE
from tests.ktui.recorded.inside import Recorder, busy_cluster


async def main(clock: VirtualClock) -> None:
    async with busy_cluster(clock) as client:
        recorder = Recorder(client.transport)
        await ask(Client(recorder, user_agent="ktui"))
        TREE.write_bytes(orjson.dumps(recorder.answers))
        print(f"{len(recorder.answers)} answers")


async def ask(client: Client) -> None:
    discovery = Discovery()
    for kind in KINDS:
        resource = await discovery.resolve(client, kind)
        listed = await client.request("GET", resource.gvr.path(), query={"limit": [str(MOST)]})
        for obj in listed["items"]:
            await ask_events(client, obj)


async def ask_events(client: Client, obj: Object) -> None:
    query = {"fieldSelector": [f"involvedObject.uid={obj['metadata']['uid']}"], "limit": [str(MOST)]}
    await client.request("GET", EVENTS.path(obj["metadata"]["namespace"]), query=query)


if __name__ == "__main__":
    clock = VirtualClock()
    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        runner.run(main(clock))
