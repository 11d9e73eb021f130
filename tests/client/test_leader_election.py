"""Leader election: one leads, another takes over, and never do two lead at once."""

from __future__ import annotations

import asyncio

import pytest

from engine.api.types import LEASES, Object
from engine.api.wire import Request, Response
from engine.client import Client, Transport
from engine.client.leader_election import LeaderElector
from engine.world import World
from tests.client.server import Server, serving


class Candidate:
    """Notes when it leads."""

    def __init__(
        self,
        server: Server,
        identity: str,
        terms: list[str],
        *,
        faulty: bool = False,
        start: float = 0.0,
        transport: Transport | None = None,
    ) -> None:
        client = server.client if faulty else server.admin
        self._terms = terms
        self._clock = server.world.clock
        self._start = start  # seconds that it takes to begin to lead
        self.elector = LeaderElector(
            client if transport is None else Client(transport, user_agent="candidate"),
            server.world,
            name="kube-scheduler",
            identity=identity,
            lead=self._lead,
            yield_=self._yield,
        )
        self.elector.start()

    async def _lead(self) -> None:
        await self._clock.sleep(self._start)
        self._terms.append(f"{self.elector.identity} leads")

    async def _yield(self) -> None:
        self._terms.append(f"{self.elector.identity} yields")


async def test_one_leads_and_the_others_know_who(world: World) -> None:
    async with serving(world) as server:
        terms: list[str] = []
        candidates = [Candidate(server, name, terms) for name in ("a", "b", "c")]
        await world.clock.sleep(60)
        assert len(terms) == 1
        leader = terms[0].removesuffix(" leads")
        assert {candidate.elector.leader for candidate in candidates} == {leader}
        assert [candidate.elector.is_leader for candidate in candidates].count(True) == 1
        for candidate in candidates:
            await candidate.elector.stop()
        assert terms[1] == f"{leader} yields"


async def test_a_lease_that_is_given_back_is_taken_at_once(world: World) -> None:
    async with serving(world) as server:
        terms: list[str] = []
        first = Candidate(server, "first", terms)
        await world.clock.sleep(1)
        second = Candidate(server, "second", terms)
        await world.clock.sleep(20)
        await first.elector.stop()
        began = world.clock.monotonic()
        await server.eventually("the second leads", lambda: second.elector.is_leader)
        assert world.clock.monotonic() - began < 5
        assert terms == ["first leads", "first yields", "second leads"]
        lease = await server.admin.get(LEASES, "kube-scheduler", namespace="kube-system")
        assert lease["spec"]["leaseTransitions"] == 1
        await second.elector.stop()


async def test_one_that_is_cut_off_yields_before_another_leads(world: World) -> None:
    async with serving(world) as server:
        terms: list[str] = []
        first = Candidate(server, "first", terms, faulty=True)
        await world.clock.sleep(1)
        second = Candidate(server, "second", terms)
        await world.clock.sleep(20)
        server.transport.fail = lambda request: ConnectionRefusedError("cut off")
        began = world.clock.monotonic()
        await server.eventually("the second leads", lambda: second.elector.is_leader)
        assert 10 <= world.clock.monotonic() - began <= 22
        assert terms == ["first leads", "first yields", "second leads"]
        server.transport.fail = lambda request: None
        await world.clock.sleep(30)
        assert not first.elector.is_leader
        await second.elector.stop()
        await first.elector.stop()


async def test_a_long_start_does_not_cost_the_lead(world: World) -> None:
    async with serving(world) as server:
        terms: list[str] = []
        first = Candidate(server, "first", terms, start=60)
        await world.clock.sleep(1)
        second = Candidate(server, "second", terms)
        await world.clock.sleep(90)
        assert terms == ["first leads"]
        await second.elector.stop()
        await first.elector.stop()


async def test_one_that_loses_the_lead_while_it_starts_never_leads(world: World) -> None:
    async with serving(world) as server:
        terms: list[str] = []
        first = Candidate(server, "first", terms, faulty=True, start=60)
        await world.clock.sleep(1)
        second = Candidate(server, "second", terms)
        server.transport.fail = lambda request: ConnectionRefusedError("cut off")
        await server.eventually("the second leads", lambda: second.elector.is_leader)
        await world.clock.sleep(90)
        assert terms == ["first yields", "second leads"]
        await second.elector.stop()
        await first.elector.stop()


class SilentTransport:
    """A server that at times answers nothing."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.silent = False

    async def send(self, request: Request) -> Response:
        if self.silent:
            await asyncio.Event().wait()
        return await self._inner.send(request)

    async def close(self) -> None:
        await self._inner.close()


async def test_a_server_that_does_not_answer_is_not_waited_for_to_give_the_lease_back(world: World) -> None:
    async with serving(world) as server:
        transport = SilentTransport(server.transport)
        terms: list[str] = []
        candidate = Candidate(server, "baz", terms, transport=transport)
        await server.eventually("it leads", lambda: candidate.elector.is_leader)
        transport.silent = True
        began = world.clock.monotonic()
        await candidate.elector.stop()
        assert world.clock.monotonic() - began == pytest.approx(5), "half of the renew deadline"
        assert terms == ["baz leads", "baz yields"]


async def test_a_candidate_asks_again_where_a_server_does_not_answer(world: World) -> None:
    async with serving(world) as server:
        transport = SilentTransport(server.transport)
        transport.silent = True
        terms: list[str] = []
        candidate = Candidate(server, "baz", terms, transport=transport)
        await world.clock.sleep(60)
        assert terms == []
        transport.silent = False
        await world.clock.sleep(10)
        assert terms == ["baz leads"]
        await candidate.elector.stop()


SPEC = {"holderIdentity": "bing", "leaseDurationSeconds": 3, "leaseTransitions": 4}


@pytest.mark.parametrize(
    ("spec", "seconds", "transitions"),
    [
        pytest.param(None, 0.0, 0, id="there is none"),
        pytest.param({}, 0.0, 1, id="nobody has ever held it"),
        pytest.param({"holderIdentity": "", "leaseDurationSeconds": 1, "leaseTransitions": 4}, 0.0, 5, id="given back"),
        pytest.param({"holderIdentity": "bing"}, 0.0, 1, id="held for no time"),
        pytest.param(SPEC, 3.0, 5, id="held, and not renewed for as long as its holder said"),
    ],
)
async def test_a_lease_is_taken(world: World, spec: Object | None, seconds: float, transitions: int) -> None:
    """client-go TestTryAcquireOrRenewLeases."""
    async with serving(world) as server:
        metadata = {"name": "kube-scheduler", "namespace": "kube-system"}
        if spec is not None:
            lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}
            await server.admin.create(LEASES, lease, namespace="kube-system")
        candidate = Candidate(server, "baz", [])
        began = world.clock.monotonic()
        await server.eventually("it leads", lambda: candidate.elector.is_leader)
        assert seconds <= world.clock.monotonic() - began <= seconds + 4.5
        found = (await server.admin.get(LEASES, "kube-scheduler", namespace="kube-system"))["spec"]
        assert (found["holderIdentity"], found["leaseTransitions"]) == ("baz", transitions)
        assert found["acquireTime"] <= found["renewTime"]
        await candidate.elector.stop()


async def test_a_lease_is_renewed_without_reading_it_until_somebody_else_writes_it(world: World) -> None:
    """client-go's fast path (TestTryAcquireOrRenewLeases, "renew already acquired object")."""
    async with serving(world) as server:
        candidate = Candidate(server, "baz", [], faulty=True)
        await world.clock.sleep(1)
        server.transport.requests.clear()
        await world.clock.sleep(8)
        assert {request.method for request in server.transport.requests} == {"PUT"}
        before = await server.admin.get(LEASES, "kube-scheduler", namespace="kube-system")
        labels = {"metadata": {"labels": {"touched": "yes"}}}
        await server.admin.patch(LEASES, "kube-scheduler", labels, namespace="kube-system")
        server.transport.requests.clear()
        await world.clock.sleep(4)
        assert [request.method for request in server.transport.requests] == ["PUT", "GET", "PUT", "PUT"]
        after = await server.admin.get(LEASES, "kube-scheduler", namespace="kube-system")
        assert after["metadata"]["labels"] == {"touched": "yes"}
        assert after["spec"]["acquireTime"] == before["spec"]["acquireTime"] < after["spec"]["renewTime"]
        assert (candidate.elector.slow_paths, candidate.elector.is_leader) == (1, True)
        await candidate.elector.stop()


async def test_one_that_cannot_renew_leads_on_for_the_renew_deadline_of_its_last_try(world: World) -> None:
    async with serving(world) as server:
        candidate = Candidate(server, "baz", [], faulty=True)
        await world.clock.sleep(0.5)
        assert candidate.elector.is_leader
        server.transport.fail = lambda request: ConnectionRefusedError("cut off")
        await server.eventually("it yields", lambda: not candidate.elector.is_leader)
        assert 11.9 <= world.clock.monotonic() <= 12.2, "the next try begins two seconds after the last, for ten"
        await candidate.elector.stop()
