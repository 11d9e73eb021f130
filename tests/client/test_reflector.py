"""The reflector against a server that follows a script: what it asks for, and what its sink ends with.

Cases after client-go tools/cache reflector_test.go and reflector_watchlist_test.go.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any, NamedTuple

import pytest

from engine.api.errors import ApiError
from engine.api.types import PODS, Object
from engine.api.wire import Request, Response, WatchEvent
from engine.client import Client
from engine.client.indexer import object_key
from engine.client.reflector import Reflector
from engine.clock import Clock
from engine.tasks import Supervisor
from engine.world import World


def pod(name: str, version: int) -> Object:
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "resourceVersion": str(version)}}


def added(name: str, version: int) -> WatchEvent:
    return WatchEvent("ADDED", pod(name, version))


def bookmark(version: int, *, end: str = "") -> WatchEvent:
    annotations = {"annotations": {"k8s.io/initial-events-end": end}} if end else {}
    return WatchEvent("BOOKMARK", {"kind": "Pod", "metadata": {"resourceVersion": str(version), **annotations}})


def status(code: int, reason: str, message: str = "no", **details: Any) -> Object:
    return ApiError(code, reason, message, details=details).status


def refusal(code: int, reason: str, message: str = "no", **details: Any) -> Response:
    return Response(code, status(code, reason, message, **details))


def failing(code: int, reason: str) -> WatchEvent:
    return WatchEvent("ERROR", status(code, reason))


def listed(version: int, *pods: Object, token: str = "") -> Response:
    metadata = {"resourceVersion": str(version), **({"continue": token} if token else {})}
    return Response(200, {"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": list(pods)})


class Stream:
    """Delivers its events and then ends, or stays open."""

    def __init__(self, clock: Clock, events: tuple[WatchEvent | BaseException, ...], *, stays: bool) -> None:
        self._clock = clock
        self._events = events
        self._stays = stays
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[WatchEvent]:
        for event in self._events:
            if isinstance(event, BaseException):
                raise event
            yield event
        if self._stays:
            await asyncio.Event().wait()
        await self._clock.sleep(0)

    async def aclose(self) -> None:
        self.closed = True


class Events(NamedTuple):
    """A watch of the script."""

    events: tuple[WatchEvent | BaseException, ...]
    stays: bool = False


def ends(*events: WatchEvent | BaseException) -> Events:
    return Events(events)


def stays(*events: WatchEvent | BaseException) -> Events:
    return Events(events, stays=True)


Answer = Response | Events | BaseException


class ScriptedServer:
    """A transport whose answers are the script's, in order; the last watch of it stays."""

    def __init__(self, world: World, script: list[Answer]) -> None:
        self._world = world
        self._script = list(script)
        self.asked: list[str] = []
        self.queries: list[dict[str, list[str]]] = []
        self.times: list[float] = []
        self.streams: list[Stream] = []

    async def send(self, request: Request) -> Response:
        self.asked.append(describe(request.query))
        self.queries.append(request.query)
        self.times.append(self._world.clock.monotonic())
        answer = self._script.pop(0) if self._script else stays()
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, Response):
            return answer
        stream = Stream(self._world.clock, answer.events, stays=answer.stays)
        self.streams.append(stream)
        return Response(200, events=stream)

    async def close(self) -> None:
        """Nothing to close."""


def describe(query: Mapping[str, list[str]]) -> str:
    """A request in short: `stream` is a watch with initial events."""
    verb = "stream" if "sendInitialEvents" in query else "watch" if "watch" in query else "list"
    words = [verb, *query.get("resourceVersion", [])]
    words += [f"limit={limit}" for limit in query.get("limit", ())]
    words += [f"continue={token}" for token in query.get("continue", ())]
    return " ".join(words)


class Sink:
    def __init__(self) -> None:
        self.objects: dict[str, str] = {}
        self.told: list[str] = []

    def replace(self, items: list[Object], causes: Mapping[str, str]) -> None:
        self.objects = {object_key(obj): obj["metadata"]["resourceVersion"] for obj in items}
        self.told.append(f"replace {len(items)}")

    def apply(self, event: WatchEvent) -> None:
        self.told.append(f"{event.type} {event.object['metadata']['name']}")
        key = object_key(event.object)
        if event.type == "DELETED":
            self.objects.pop(key, None)
        else:
            self.objects[key] = event.object["metadata"]["resourceVersion"]


class Run(NamedTuple):
    server: ScriptedServer
    sink: Sink
    reflector: Reflector


async def reflected(world: World, script: list[Answer], *, seconds: float = 100.0) -> Run:
    """Run a reflector against the script for some model time."""
    server, sink = ScriptedServer(world, script), Sink()
    reflector = Reflector(Client(server, user_agent="test"), world, PODS, sink)
    tasks = Supervisor("reflector")
    tasks.spawn(reflector.run(), "reflector")
    await world.clock.sleep(seconds)
    await tasks.close()
    return Run(server, sink, reflector)


SYNCED = (added("p1", 1), bookmark(2, end="true"))
NO_STREAMS = refusal(422, "Invalid", 'ListOptions.meta.k8s.io "" is invalid')
TOO_LARGE = refusal(504, "Timeout", "Too large resource version: 5, current: 3", causes=[])
TOO_LARGE_CAUSE = refusal(504, "Timeout", "no", causes=[{"reason": "ResourceVersionTooLarge", "message": "no"}])
TOO_LARGE_OLD = refusal(504, "Timeout", "no", causes=[{"message": "Too large resource version"}])
EXPIRED = refusal(410, "Expired", "too old resource version: 2 (3)")


@pytest.mark.parametrize(
    ("script", "asked", "objects"),
    [
        pytest.param([stays(*SYNCED)], ["stream"], {"p1": "1"}, id="the bookmark ends the initial events"),
        pytest.param(
            [stays(*SYNCED, added("p3", 3))], ["stream"], {"p1": "1", "p3": "3"}, id="the same stream goes on"
        ),
        pytest.param(
            [
                stays(
                    added("p1", 1),
                    added("p2", 2),
                    WatchEvent("MODIFIED", pod("p1", 3)),
                    added("p3", 4),
                    WatchEvent("DELETED", pod("p3", 5)),
                    bookmark(5, end="true"),
                )
            ],
            ["stream"],
            {"p1": "3", "p2": "2"},
            id="changes among the initial events count",
        ),
        pytest.param([stays(added("p1", 1))], ["stream"], {}, id="nothing is there before the bookmark"),
        pytest.param([stays(added("p1", 1), bookmark(2, end="false"))], ["stream"], {}, id="its annotation is read"),
        pytest.param([stays(added("p1", 1), bookmark(2))], ["stream"], {}, id="another bookmark is none"),
        pytest.param(
            [
                stays(
                    WatchEvent("RENAMED", pod("p0", 1)),
                    *SYNCED,
                    WatchEvent("ADDED", {"kind": "Pod"}),
                    WatchEvent("RENAMED", pod("p2", 3)),
                    added("p3", 3),
                )
            ],
            ["stream"],
            {"p1": "1", "p3": "3"},
            id="what cannot be understood is passed over",
        ),
        pytest.param(
            [NO_STREAMS, listed(1, pod("p1", 1)), stays(added("p2", 2))],
            ["stream", "list 0 limit=500", "watch 1"],
            {"p1": "1", "p2": "2"},
            id="a server without streams is listed",
        ),
        pytest.param(
            [refusal(500, "InternalError"), listed(1, pod("p1", 1)), stays(added("p2", 2))],
            ["stream", "list 0 limit=500", "watch 1"],
            {"p1": "1", "p2": "2"},
            id="so is one that fails to stream",
        ),
        pytest.param(
            [refusal(429, "TooManyRequests"), refusal(429, "TooManyRequests"), stays(*SYNCED)],
            ["stream"] * 3,
            {"p1": "1"},
            id="a busy server is asked again",
        ),
        pytest.param(
            [ends(added("p1", 1)), stays(added("p1", 1), bookmark(1, end="true"))],
            ["stream"] * 2,
            {"p1": "1"},
            id="a stream that ends before the bookmark is begun anew",
        ),
        pytest.param(
            [ends(*SYNCED, added("p3", 3)), stays(added("p4", 4))],
            ["stream", "watch 3"],
            {"p1": "1", "p3": "3", "p4": "4"},
            id="one that ends later is gone on with",
        ),
        pytest.param(
            [ends(*SYNCED, ConnectionResetError("reset by peer")), stays(added("p4", 4))],
            ["stream", "watch 2"],
            {"p1": "1", "p4": "4"},
            id="so is one whose connection is lost",
        ),
        pytest.param(
            [ends(*SYNCED, added("p3", 3)), EXPIRED, stays(added("p3", 3), bookmark(9, end="true"))],
            ["stream", "watch 3", "stream 3"],
            {"p3": "3"},
            id="an expired version asks for the state anew, not older than what was seen",
        ),
        pytest.param(
            [ends(*SYNCED, added("p3", 3), failing(410, "Expired")), stays(bookmark(9, end="true"))],
            ["stream", "stream 3"],
            {},
            id="told by an event too",
        ),
        *(
            pytest.param(
                [ends(*SYNCED, added("p3", 3), error), stays(bookmark(9, end="true"))],
                ["stream", "stream 3"],
                {},
                id=f"so does {name} in a stream",
            )
            for name, error in (
                ("an object that could not be read", failing(500, "StorageReadError")),
                ("an error that is no status", WatchEvent("ERROR", pod("p1", 4))),
            )
        ),
        pytest.param(
            [ends(*SYNCED), EXPIRED, EXPIRED, stays(bookmark(9, end="true"))],
            ["stream", "watch 2", "stream 2", "stream"],
            {},
            id="a state that is expired is asked for at its newest",
        ),
        pytest.param(
            [ends(*SYNCED), EXPIRED, ends(WatchEvent("ERROR", TOO_LARGE.body)), stays(bookmark(9, end="true"))],
            ["stream", "watch 2", "stream 2", "stream"],
            {},
            id="so is one that the server has not reached",
        ),
        pytest.param(
            [ends(*SYNCED), refusal(429, "TooManyRequests"), ConnectionRefusedError("no"), stays(added("p3", 3))],
            ["stream", "watch 2", "watch 2", "watch 2"],
            {"p1": "1", "p3": "3"},
            id="no new state because a server is busy or away",
        ),
        pytest.param(
            [ends(*SYNCED), ends(), stays(*SYNCED)],
            ["stream", "watch 2", "stream 2"],
            {"p1": "1"},
            id="a very short watch is a fault",
        ),
        pytest.param(
            [ends(), listed(1, pod("p1", 1)), stays()],
            ["stream", "list 0 limit=500", "watch 1"],
            {"p1": "1"},
            id="a very short stream is too",
        ),
        pytest.param(
            [NO_STREAMS, listed(1), EXPIRED, NO_STREAMS, listed(2, pod("p2", 2)), stays()],
            ["stream", "list 0 limit=500", "watch 1", "stream 1", "list 1", "watch 2"],
            {"p2": "2"},
            id="a list of a version has no limit, so that a watch cache can answer it",
        ),
        *(
            pytest.param(
                [NO_STREAMS, listed(2), EXPIRED, NO_STREAMS, refused, listed(9, pod("p9", 9)), stays()],
                ["stream", "list 0 limit=500", "watch 2", "stream 2", "list 2", "list limit=500", "watch 9"],
                {"p9": "9"},
                id=f"a list that is {name} is asked for at its newest",
            )
            for name, refused in (
                ("expired", EXPIRED),
                ("gone", refusal(410, "Gone")),
                ("too new", TOO_LARGE),
                ("too new by its cause", TOO_LARGE_CAUSE),
                ("too new by an old server", TOO_LARGE_OLD),
            )
        ),
        pytest.param(
            [
                NO_STREAMS,
                listed(5, pod("p1", 1), token="C1"),
                listed(5, pod("p2", 2), token="C2"),
                listed(5, pod("p3", 3)),
                EXPIRED,
                NO_STREAMS,
                listed(6, pod("p1", 1)),
                stays(),
            ],
            [
                "stream",
                "list 0 limit=500",
                "list limit=500 continue=C1",
                "list limit=500 continue=C2",
                "watch 5",
                "stream 5",
                "list 5 limit=500",
                "watch 6",
            ],
            {"p1": "1"},
            id="a server that pages a list from its cache has none, and pages on",
        ),
        pytest.param(
            [NO_STREAMS, listed(5, pod("p1", 1), token="C1"), EXPIRED, listed(7, pod("p1", 1), pod("p2", 2)), stays()],
            ["stream", "list 0 limit=500", "list limit=500 continue=C1", "list 0", "watch 7"],
            {"p1": "1", "p2": "2"},
            id="an expired page brings the whole list",
        ),
    ],
)
async def test_what_is_asked_for_and_what_becomes_of_it(
    world: World, script: list[Answer], asked: list[str], objects: dict[str, str]
) -> None:
    run = await reflected(world, script)
    assert run.server.asked == asked
    assert run.sink.objects == objects
    assert all(stream.closed for stream in run.server.streams), "no stream is left open"


async def test_a_stream_is_asked_for_as_client_go_does(world: World) -> None:
    run = await reflected(world, [stays(*SYNCED)])
    (query,) = run.server.queries
    timeout = int(query.pop("timeoutSeconds")[0])
    assert 300 <= timeout <= 600
    assert query == {
        "watch": ["true"],
        "allowWatchBookmarks": ["true"],
        "sendInitialEvents": ["true"],
        "resourceVersionMatch": ["NotOlderThan"],
    }
    assert run.sink.told == ["replace 1"], "initial events are no changes"
    assert run.reflector.last_version == "2"


async def test_a_server_that_is_away_is_waited_for_longer_and_longer(world: World) -> None:
    run = await reflected(world, [ends(*SYNCED), *[ConnectionRefusedError("no")] * 9, stays()], seconds=600)
    gaps = [after - before for before, after in zip(run.server.times[1:], run.server.times[2:], strict=False)]
    assert run.server.asked == ["stream", *["watch 2"] * 10]
    for gap, base in zip(gaps, (0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30, 30), strict=True):
        assert base <= gap <= 2 * base


async def test_bookmarks_move_the_version_on(world: World) -> None:
    run = await reflected(world, [ends(*SYNCED, WatchEvent("MODIFIED", pod("p1", 20)), bookmark(30)), stays()])
    assert run.server.asked == ["stream", "watch 30"]
    assert run.sink.told == ["replace 1", "MODIFIED p1"]
