"""Who runs, who waits and who is sent away when there is more to do than seats (API Priority and Fairness)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import product

import pytest

from engine.api.types import GVR, Object
from engine.api.wire import ClientCertificate, Response
from engine.apiserver.fairness.shuffle_sharding import deal, flow_hash
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import VirtualClock
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ADMIN

GROUP = "flowcontrol.apiserver.k8s.io"
SCHEMAS = GVR(GROUP, "v1", "flowschemas")
LEVELS = GVR(GROUP, "v1", "prioritylevelconfigurations")


def test_a_hand_has_no_card_twice() -> None:
    for queues, hand in ((8, 3), (6, 6), (1, 1), (128, 6)):
        for number in range(200):
            cards = deal(flow_hash("schema", f"user-{number}"), queues, hand)
            assert len(set(cards)) == hand
            assert all(0 <= card < queues for card in cards)


@pytest.mark.parametrize(("value", "cards"), [(0, [0, 1, 2]), (5, [2, 1, 0]), (1, [1, 0, 2]), (4, [1, 2, 0])])
def test_hands(value: int, cards: list[int]) -> None:
    assert deal(value, 3, 3) == cards


def test_every_hand_is_dealt_as_often() -> None:
    hands = Counter(tuple(deal(value, 4, 2)) for value in range(4 * 3 * 5))
    assert hands == {hand: 5 for hand in product(range(4), repeat=2) if hand[0] != hand[1]}


@dataclass
class Crowd:
    """A server whose authorization takes a second, and whoever asks it."""

    server: ApiServer
    clock: VirtualClock
    admin: Client

    async def level(self, queuing: Object | None, **limits: object) -> None:
        """A level of three seats for everybody named u..., which borrows none."""
        response: Object = {"type": "Reject"} if queuing is None else {"type": "Queue", "queuing": queuing}
        limited = {"nominalConcurrencyShares": 1, "borrowingLimitPercent": 0, "limitResponse": response, **limits}
        kind = {"apiVersion": f"{GROUP}/v1", "kind": "PriorityLevelConfiguration", "metadata": {"name": "few"}}
        await self.admin.create(LEVELS, {**kind, "spec": {"type": "Limited", "limited": limited}})
        subject = {"kind": "Group", "group": {"name": "crowd"}}
        every = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}
        spec = {
            "priorityLevelConfiguration": {"name": "few"},
            "matchingPrecedence": 50,
            "distinguisherMethod": {"type": "ByUser"},
            "rules": [{"subjects": [subject], "resourceRules": [every]}],
        }
        schema = {"apiVersion": f"{GROUP}/v1", "kind": "FlowSchema", "metadata": {"name": "few"}, "spec": spec}
        await self.admin.create(SCHEMAS, schema)

    async def ask(self, user: str) -> tuple[int, float, Response]:
        """The code, after how many seconds it came, and the answer."""
        certificate = ClientCertificate(user, ("crowd",))
        client = Client(InProcessTransport(self.server, certificate), user_agent="test")
        began = self.clock.monotonic()
        answer = await client.send("GET", "/api/v1/namespaces/default/configmaps")
        return answer.status, round(self.clock.monotonic() - began, 3), answer

    async def many(self, *users: str) -> list[tuple[int, float]]:
        return [each[:2] for each in await asyncio.gather(*map(self.ask, users))]


@pytest.fixture
async def crowd(virtual_clock: VirtualClock, request: pytest.FixtureRequest) -> AsyncIterator[Crowd]:
    seconds = getattr(request, "param", 1)
    world = World.create(clock=virtual_clock, seed=1, latencies={"authorization": (seconds * 1000, seconds * 1000)})
    store = await SqliteStore.open(None, clock=virtual_clock)
    server = ApiServer(world, store)
    await server.start()
    yield Crowd(server, virtual_clock, Client(InProcessTransport(server, ADMIN), user_agent="test"))
    await server.stop()
    await store.close()


async def test_a_level_without_queues_sends_away(crowd: Crowd) -> None:
    await crowd.level(None)
    answers = await asyncio.gather(*(crowd.ask("u") for _ in range(5)))
    assert [each[:2] for each in answers] == [(403, 1), (403, 1), (403, 1), (429, 0), (429, 0)]
    refused = answers[-1][2]
    assert refused.body == b"Too many requests, please try again later.\n"
    assert refused.headers["retry-after"] == "1"
    assert refused.headers["content-type"].startswith("text/plain")
    assert (
        refused.headers["x-kubernetes-pf-prioritylevel-uid"]
        == (await crowd.admin.get(LEVELS, "few"))["metadata"]["uid"]
    )
    assert await crowd.many("u") == [(403, 1)]  # there are seats again


async def test_those_who_find_no_seat_wait_in_line(crowd: Crowd) -> None:
    await crowd.level({"queues": 1, "handSize": 1, "queueLengthLimit": 4})
    answers = await crowd.many(*["u"] * 8)
    assert answers == [*[(403, 1)] * 3, *[(403, 2)] * 3, (403, 3), (429, 0)]


@pytest.mark.parametrize("crowd", [20], indirect=True)
async def test_nobody_waits_for_ever(crowd: Crowd) -> None:
    await crowd.level({"queues": 1, "handSize": 1, "queueLengthLimit": 9})
    assert await crowd.many(*["u"] * 5) == [*[(403, 20)] * 3, *[(429, 15)] * 2]
    assert await crowd.many("u") == [(403, 20)]


async def test_who_asks_little_does_not_wait_for_who_asks_much(crowd: Crowd) -> None:
    await crowd.level({"queues": 64, "handSize": 4, "queueLengthLimit": 50})
    much, little = ["u-much"] * 30, ["u-little"] * 2
    answers = await crowd.many(*much, *little)
    assert [seconds for _, seconds in answers[-2:]] == [2, 2]
    assert max(seconds for _, seconds in answers) == 11  # 32 requests, three at a time


async def test_others_lend_their_seats(crowd: Crowd) -> None:
    await crowd.level(None, borrowingLimitPercent=100)
    codes = Counter(code for code, _ in await crowd.many(*["u"] * 9))
    assert codes == {403: 6, 429: 3}


async def test_administrators_and_components_never_wait(crowd: Crowd) -> None:
    await crowd.level(None)
    began = crowd.clock.monotonic()
    await asyncio.gather(*(crowd.admin.list(LEVELS) for _ in range(700)))
    assert crowd.clock.monotonic() - began == pytest.approx(1)


async def test_a_watch_leaves_its_seat_once_it_is_open(crowd: Crowd) -> None:
    await crowd.level(None)
    role = {"kind": "ClusterRole", "apiGroup": "rbac.authorization.k8s.io", "name": "cluster-admin"}
    subject = {"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "crowd"}
    binding = GVR("rbac.authorization.k8s.io", "v1", "clusterrolebindings")
    kind = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "crowd"}}
    await crowd.admin.create(binding, {**kind, "roleRef": role, "subjects": [subject]})
    client = Client(InProcessTransport(crowd.server, ClientCertificate("u", ("crowd",))), user_agent="test")
    watches = [await client.watch(LEVELS) for _ in range(5)]
    assert await crowd.many("u", "u", "u") == [(200, 1)] * 3
    for watch in watches:
        await watch.aclose()


async def test_who_goes_leaves_the_line(crowd: Crowd) -> None:
    await crowd.level({"queues": 1, "handSize": 1, "queueLengthLimit": 1})
    running = [asyncio.ensure_future(crowd.ask("u")) for _ in range(4)]
    await crowd.clock.sleep(0.5)
    running[-1].cancel()
    assert (await asyncio.gather(*running, return_exceptions=True))[-1].__class__ is asyncio.CancelledError
    assert await crowd.many(*["u"] * 4) == [(403, 1)] * 3 + [(403, 2)]


DUMPS = "/debug/api_priority_and_fairness/dump_"


async def _dumped(crowd: Crowd, name: str, *, details: bool = False) -> str:
    """A dump at a moment when of five requests three run and two wait."""
    await crowd.level({"queues": 2, "handSize": 1, "queueLengthLimit": 4})
    query = {"includeRequestDetails": ["1"]} if details else {}
    dump = asyncio.ensure_future(crowd.admin.send("GET", DUMPS + name, query=query))
    await crowd.clock.sleep(0.5)
    await crowd.many(*["u"] * 5)
    response = await dump
    assert (response.status, response.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    return str(response.body.decode())


def _cells(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split(",")] for line in text.splitlines()]


async def test_the_priority_levels_can_be_looked_at(crowd: Crowd) -> None:
    text = await _dumped(crowd, "priority_levels")
    first, second = text.splitlines()[:2]
    assert first.startswith("PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests,")
    assert first.endswith(" DispatchedRequests, RejectedRequests, TimedoutRequests, CancelledRequests")
    assert second.startswith(
        "catch-all,         0,            true,   false,       0,               0,                 0,"
    )
    rows = {name: rest for name, *rest in _cells(text)[1:]}
    assert list(rows) == sorted(rows)
    assert rows["few"] == ["1", "false", "false", "2", "3", "3", "0", "0", "0"]
    assert rows["exempt"][:5] == ["0", "false", "false", "0", "1"]  # the one that asks


async def test_the_queues_can_be_looked_at(crowd: Crowd) -> None:
    head, *rows = _cells(await _dumped(crowd, "queues"))
    assert head[1:5] == ["Index", "PendingRequests", "ExecutingRequests", "SeatsInUse"]
    assert head[5:] == ["NextDispatchR", "InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum"]
    few = sorted(row[2:] for row in rows if row[0] == "few")
    assert few == [
        ["0", "0", "0", "0.00000000ss", "0", "0", "0.00000000ss"],
        ["2", "3", "3", "180.00000000ss", "2", "2", "120.00000000ss"],
    ]
    assert "exempt" not in {row[0] for row in rows}


async def test_the_requests_can_be_looked_at(crowd: Crowd) -> None:
    head, *rows = _cells(await _dumped(crowd, "requests", details=True))
    assert head[4:10] == [
        "FlowDistingsher",
        "ArriveTime",
        "InitialSeats",
        "FinalSeats",
        "AdditionalLatency",
        "StartTime",
    ]
    assert head[10:] == ["UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource"]
    few = [row for row in rows if row[0] == "few"]
    assert [row[3] for row in few] == ["0", "1", "-1", "-1", "-1"]
    waits, runs = few[0], few[-1]
    assert (waits[1], waits[4], waits[6:10]) == ("few", "u", ["1", "0", "0s", "0001-01-01T00:00:00Z"])
    assert runs[9] == runs[5] == waits[5]
    path = "/api/v1/namespaces/default/configmaps"
    assert runs[10:] == ["u", "list", path, "default", "", "v1", "configmaps", ""]
    [asking] = [row for row in rows if row[0] == "exempt"]
    assert (asking[2:4], asking[11]) == (["-1", "-1"], "get")


async def test_there_are_three_dumps(crowd: Crowd) -> None:
    assert (await crowd.admin.send("GET", f"{DUMPS}nothing")).status == 404
    anybody = Client(InProcessTransport(crowd.server, ClientCertificate("u", ("crowd",))), user_agent="test")
    assert (await anybody.send("GET", f"{DUMPS}requests")).status == 403


async def _figures(crowd: Crowd) -> list[str]:
    text = (await crowd.admin.send("GET", "/metrics")).body.decode()
    lines = [line for line in text.splitlines() if line.startswith("apiserver_flowcontrol_") and '"few"' in line]
    return [
        line.removeprefix("apiserver_flowcontrol_").replace('flow_schema="few",priority_level="few"', "")
        for line in lines
    ]


async def test_figures_of_who_ran_and_who_did_not(crowd: Crowd) -> None:
    await crowd.level({"queues": 1, "handSize": 1, "queueLengthLimit": 2})
    await crowd.many(*["u"] * 6)
    figures = await _figures(crowd)
    for expected in (
        "dispatched_requests_total{} 5",
        'rejected_requests_total{,reason="queue-full"} 1',
        "current_inqueue_requests{} 0",
        "current_executing_requests{} 0",
        "current_executing_seats{} 0",
        'request_wait_duration_seconds_count{execute="true",} 5',
        'request_wait_duration_seconds_sum{execute="true",} 2',
        "request_queue_length_after_enqueue_count{} 5",
        'nominal_limit_seats{priority_level="few"} 3',
        'lower_limit_seats{priority_level="few"} 3',
        'upper_limit_seats{priority_level="few"} 3',
    ):
        assert expected in figures


async def test_why_requests_were_sent_away(crowd: Crowd) -> None:
    await crowd.level(None)
    await crowd.many(*["u"] * 5)
    assert 'rejected_requests_total{,reason="concurrency-limit"} 2' in await _figures(crowd)
    counted = (
        'apiserver_request_total{code="429",component="apiserver",dry_run="",group="",resource="configmaps",'
        'scope="namespace",subresource="",verb="LIST",version="v1"} 2'
    )
    assert counted in (await crowd.admin.send("GET", "/metrics")).body.decode().splitlines()


@pytest.mark.parametrize("crowd", [20], indirect=True)
async def test_who_waited_in_vain_is_counted(crowd: Crowd) -> None:
    await crowd.level({"queues": 1, "handSize": 1, "queueLengthLimit": 9})
    gone = asyncio.gather(*(crowd.ask("u") for _ in range(5)))
    await crowd.clock.sleep(1)
    leaves = asyncio.ensure_future(crowd.ask("u"))
    await crowd.clock.sleep(1)
    leaves.cancel()
    await gone
    figures = await _figures(crowd)
    assert 'rejected_requests_total{,reason="time-out"} 2' in figures
    assert 'rejected_requests_total{,reason="cancelled"} 1' in figures
    assert 'request_wait_duration_seconds_count{execute="false",} 3' in figures
