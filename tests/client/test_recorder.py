"""Events as they reach the API server."""

from __future__ import annotations

import pytest

from engine.api.types import CONFIGMAPS, EVENTS, NAMESPACES, Object
from engine.client import NORMAL, WARNING, EventRecorder
from engine.trace import Hop
from engine.world import World
from tests.client.server import Server, config_map, serving


async def events(server: Server, namespace: str = "default") -> list[Object]:
    return (await server.admin.list(EVENTS, namespace=namespace)).items


async def test_an_event_says_what_happened_to_what_and_who_says_so(world: World) -> None:
    async with serving(world) as server:
        obj = await server.admin.create(CONFIGMAPS, config_map("web"), namespace="default")
        recorder = EventRecorder(server.client, world, "kubelet", host="node-1")
        recorder.event(obj, NORMAL, "Pulled", "Image is here", field_path="spec.containers{app}")
        await recorder.flush()
        event = (await events(server))[0]
        name, dot, nanos = event["metadata"]["name"].rpartition(".")
        assert (name, dot) == ("web", ".")
        assert int(nanos, 16) // 1_000_000_000 == int(world.clock.now().timestamp())
        assert event["involvedObject"] == {
            "kind": "ConfigMap",
            "apiVersion": "v1",
            "namespace": "default",
            "name": "web",
            "uid": obj["metadata"]["uid"],
            "resourceVersion": obj["metadata"]["resourceVersion"],
            "fieldPath": "spec.containers{app}",
        }
        assert (event["type"], event["reason"], event["message"]) == ("Normal", "Pulled", "Image is here")
        assert event["source"] == {"component": "kubelet", "host": "node-1"}
        assert (event["reportingComponent"], event["reportingInstance"]) == ("kubelet", "node-1")
        assert event["count"] == 1
        assert event["firstTimestamp"] == event["lastTimestamp"]
        await recorder.close()


async def test_the_same_again_counts_up_and_moves_the_last_time(world: World) -> None:
    async with serving(world) as server:
        obj = await server.admin.create(CONFIGMAPS, config_map("web"), namespace="default")
        recorder = EventRecorder(server.client, world, "kubelet")
        for _ in range(3):
            recorder.event(obj, WARNING, "BackOff", "Back-off")
            await recorder.flush()
            await world.clock.sleep(10)
        found = await events(server)
        assert [(event["count"], event["message"]) for event in found] == [(3, "Back-off")]
        assert found[0]["firstTimestamp"] != found[0]["lastTimestamp"]
        await server.admin.delete(EVENTS, found[0]["metadata"]["name"], namespace="default")
        recorder.event(obj, WARNING, "BackOff", "Back-off")
        await recorder.flush()
        assert [event["count"] for event in await events(server)] == [4], "an event that is gone is made anew"
        await recorder.close()


async def test_events_of_one_instant_have_names_of_their_own_and_keep_their_order(world: World) -> None:
    async with serving(world) as server:
        obj = await server.admin.create(CONFIGMAPS, config_map("web"), namespace="default")
        recorder = EventRecorder(server.client, world, "kubelet")
        for number in range(5):
            recorder.event(obj, NORMAL, f"Reason{number}", "")
        await recorder.flush()
        found = sorted(await events(server), key=lambda event: int(event["metadata"]["resourceVersion"]))
        assert [event["reason"] for event in found] == [f"Reason{number}" for number in range(5)]
        await recorder.close()


async def test_a_server_that_is_not_there_is_tried_again_and_one_that_refuses_is_not(world: World) -> None:
    async with serving(world) as server:
        obj = await server.admin.create(CONFIGMAPS, config_map("web"), namespace="default")
        recorder = EventRecorder(server.client, world, "kubelet")
        server.transport.fail = lambda request: ConnectionRefusedError("down")
        recorder.event(obj, NORMAL, "Late", "")
        await world.clock.sleep(15)
        assert await events(server) == []
        server.transport.fail = lambda request: None
        await recorder.flush()
        assert [event["reason"] for event in await events(server)] == ["Late"]
        lost = {**obj, "metadata": {**obj["metadata"], "namespace": "nowhere"}}
        recorder.event(lost, NORMAL, "Refused", "")
        recorder.event(obj, NORMAL, "Next", "")
        await recorder.flush()
        assert sorted(event["reason"] for event in await events(server)) == ["Late", "Next"]
        await recorder.close()


async def test_an_event_of_a_cluster_scoped_object_is_in_default_and_belongs_to_the_trace_it_was_said_in(
    world: World,
) -> None:
    async with serving(world) as server:
        obj = await server.admin.create(NAMESPACES, {"metadata": {"name": "team"}})
        recorder = EventRecorder(server.client, world, "namespace-controller")
        with world.tracer.span(Hop.CONTROLLER, component="namespace-controller", verb="reconcile") as span:
            recorder.event(obj, NORMAL, "Seen", "")
        await recorder.flush()
        event = next(event for event in await events(server) if event["reason"] == "Seen")
        writes = [each for each in world.tracer.recent if each.trace_id == span.trace_id and each.verb == "event"]
        assert [each.parent for each in writes] == [span.id]
        assert event["metadata"]["namespace"] == "default"
        await recorder.close()


async def test_events_that_are_too_many_are_counted_and_told_of_twice(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(world) as server:
        obj = await server.admin.create(CONFIGMAPS, config_map("web"), namespace="default")
        recorder = EventRecorder(server.client, world, "kubelet")
        for _ in range(1005):
            recorder.event(obj, NORMAL, "Pulled", "Image is here")
        await recorder.flush()

        assert recorder.dropped == 5
        assert [record.getMessage() for record in caplog.records] == [
            "kubelet: too many queued events, dropping from Pulled of web on",
            "kubelet: 5 events were dropped",
        ]
        await recorder.close()


@pytest.mark.parametrize("name", ["2001:db8::123", "system:node", "x" * 250])
async def test_an_object_whose_name_is_none_for_an_event_has_events_too(world: World, name: str) -> None:
    """client-go tools/events TestEventf, "event with invalid Event name" and "large event name"."""
    async with serving(world) as server:
        recorder = EventRecorder(server.client, world, "ipallocator")
        recorder.event_of({"kind": "IPAddress", "name": name}, WARNING, "IPAddressNotAllocated", "It leaked")
        await recorder.flush()
        (event,) = await events(server)
        assert event["involvedObject"]["name"] == name
        assert len(event["metadata"]["name"]) == 36, "a uuid"
        await recorder.close()
