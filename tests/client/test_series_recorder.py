"""Events of events.k8s.io as they reach the API server, and what the same again makes of them."""

from __future__ import annotations

from engine.api.types import CONFIGMAPS, EVENTS, Object
from engine.client import NORMAL, WARNING, SeriesRecorder
from engine.client.series_recorder import FINISH_TIME, NEW_EVENTS, REFRESH_TIME
from engine.world import World
from tests.client.server import Server, config_map, serving


async def events(server: Server) -> list[Object]:
    return (await server.admin.list(EVENTS, namespace="default")).items


async def made(server: Server, name: str) -> Object:
    return await server.admin.create(CONFIGMAPS, config_map(name), namespace="default")


async def test_an_event_names_the_action_the_reporter_and_the_microsecond(world: World) -> None:
    async with serving(world) as server:
        web, other = await made(server, "web"), await made(server, "other")
        recorder = SeriesRecorder(server.client, world, "default-scheduler", "here")
        recorder.event(web, NORMAL, "Preempted", "Preempting", "Preempted by other", related=other)
        await recorder.flush()
        (event,) = await events(server)
        assert event["eventTime"] == world.clock.micro_timestamp()
        assert (event["action"], event["reason"], event["message"]) == ("Preempting", "Preempted", "Preempted by other")
        assert (event["reportingComponent"], event["reportingInstance"]) == (
            "default-scheduler",
            "default-scheduler-here",
        )
        assert (event["involvedObject"]["name"], event["related"]["name"]) == ("web", "other")
        # What only the events of core/v1 have is there and empty, as Go writes it.
        assert (event["firstTimestamp"], event["lastTimestamp"], event["source"]) == (None, None, {})
        assert "count" not in event
        assert "series" not in event
        (new,) = (await server.admin.list(NEW_EVENTS, namespace="default")).items
        assert (new["deprecatedFirstTimestamp"], new["deprecatedLastTimestamp"], new["deprecatedSource"]) == (
            None,
            None,
            {},
        )
        assert "f:deprecatedFirstTimestamp" not in new["metadata"]["managedFields"][0]["fieldsV1"]
        await recorder.close()


async def test_the_same_again_is_a_series_that_is_told_when_it_begins_and_when_it_ends(world: World) -> None:
    async with serving(world) as server:
        web = await made(server, "web")
        recorder = SeriesRecorder(server.client, world, "default-scheduler", "here")
        for note in ("0/1 nodes are available", "0/2 nodes are available", "0/3 nodes are available"):
            recorder.event(web, WARNING, "FailedScheduling", "Scheduling", note)
            await world.clock.sleep(1)
        (event,) = await events(server)
        assert (event["message"], event["series"]["count"]) == ("0/1 nodes are available", 2)
        await world.clock.sleep(2 * FINISH_TIME)
        (event,) = await events(server)
        assert event["series"]["count"] == 3
        assert event["series"]["lastObservedTime"] > event["eventTime"]
        recorder.event(web, WARNING, "FailedScheduling", "Scheduling", "0/4 nodes are available")
        await recorder.flush()
        assert [e["message"] for e in await events(server)] == ["0/1 nodes are available", "0/4 nodes are available"]
        await recorder.close()


async def test_a_long_series_is_told_anew_before_it_expires(world: World) -> None:
    async with serving(world) as server:
        web = await made(server, "web")
        recorder = SeriesRecorder(server.client, world, "default-scheduler", "here")
        for _ in range(int(REFRESH_TIME) // 60 + 2):
            recorder.event(web, WARNING, "FailedScheduling", "Scheduling", "0/1 nodes are available")
            await world.clock.sleep(60)
        (event,) = await events(server)
        assert event["series"]["count"] == int(REFRESH_TIME) // 60
        await recorder.close()


async def test_what_differs_in_more_than_the_note_is_another_event(world: World) -> None:
    async with serving(world) as server:
        web, other = await made(server, "web"), await made(server, "other")
        recorder = SeriesRecorder(server.client, world, "default-scheduler", "here")
        recorder.event(web, WARNING, "FailedScheduling", "Scheduling", "no")
        recorder.event(other, WARNING, "FailedScheduling", "Scheduling", "no")
        recorder.event(web, NORMAL, "Scheduled", "Binding", "yes")
        recorder.event(web, NORMAL, "Scheduled", "Binding", "yes", related=other)
        await recorder.flush()
        assert len(await events(server)) == 4
        await recorder.close()
