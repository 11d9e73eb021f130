"""A cluster on a simulated quorum (`ktui up --etcd-members 3`), steered through the debug endpoint."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, SERVICES
from engine.client import Client
from engine.clock import VirtualClock
from engine.cluster import Cluster
from engine.config import ClusterConfig, Component
from engine.store.quorum.raft import ELECTION_TIMEOUT, REQUEST_TIMEOUT
from engine.trace import Hop

MEMBERS = "/debug/ktui/store/members"


def cluster(clock: VirtualClock, **options: Any) -> Cluster:
    config = ClusterConfig(components=frozenset({Component.APISERVER}), etcd_members=3, seed=1, **options)
    return Cluster(config, clock=clock)


async def create(client: Client, name: str) -> None:
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}}
    await client.create(CONFIGMAPS, obj, namespace="default")


async def befall(client: Client, **fault: Any) -> dict[str, Any]:
    found: dict[str, Any] = await client.request("PUT", MEMBERS, body=fault)
    return found


async def test_without_quorum_the_cluster_is_read_only_and_comes_back(virtual_clock: VirtualClock) -> None:
    async with cluster(virtual_clock) as running:
        client = running.client()
        await create(client, "before")
        await client.list(CONFIGMAPS, namespace="default")
        await befall(client, action="stop", member="etcd-0")
        found = await befall(client, action="stop", member="etcd-1")
        assert (found["simulated"], found["leader"], found["hasQuorum"]) == (True, "", False)

        began = virtual_clock.monotonic()
        with pytest.raises(ApiError) as refused:
            await create(client, "refused")
        error = refused.value
        assert (error.code, error.reason, error.message) == (500, "", "etcdserver: request timed out")
        assert virtual_clock.monotonic() - began == pytest.approx(REQUEST_TIMEOUT)

        assert (await client.get(CONFIGMAPS, "before", namespace="default"))["metadata"]["name"] == "before"
        names = [item["metadata"]["name"] for item in (await client.list(CONFIGMAPS, namespace="default")).items]
        assert "before" in names

        await befall(client, action="start", member="etcd-1")
        await create(client, "after")
        names = [item["metadata"]["name"] for item in (await client.list(CONFIGMAPS, namespace="default")).items]
        assert {"before", "after"} <= set(names)
        assert "refused" not in names


@pytest.mark.parametrize(
    ("spec", "code", "words"),
    [
        pytest.param({"ports": [{"port": 80}]}, 500, "failed to allocate a serviceIP", id="an address"),
        pytest.param(
            {"ports": [{"port": 80}], "clusterIP": "10.96.0.77"}, 422, "failed to allocate IP 10.96.0.77",
            id="this address",
        ),
        pytest.param(
            {"type": "NodePort", "ports": [{"port": 80}]}, 500, "failed to allocate a serviceIP", id="a node port"
        ),
    ],
)  # fmt: skip
async def test_without_quorum_nothing_is_allocated(
    virtual_clock: VirtualClock, spec: dict[str, Any], code: int, words: str
) -> None:
    """As registry/core/service/storage/alloc.go has it where an IPAddress cannot be made."""
    async with cluster(virtual_clock) as running:
        client = running.client()
        for name in ("etcd-0", "etcd-1"):
            await befall(client, action="stop", member=name)
        with pytest.raises(ApiError) as refused:
            await client.create(SERVICES, {"metadata": {"name": "a"}, "spec": spec}, namespace="default")
        assert refused.value.code == code
        assert f"{words}: etcdserver: request timed out" in refused.value.message


async def test_health_is_that_of_the_store_too(virtual_clock: VirtualClock) -> None:
    """apiserver pkg/server/healthz: reasons are withheld but from those who may ask for the check alone."""
    async with cluster(virtual_clock) as running:
        client = running.client()

        async def ask(path: str, **query: str) -> tuple[int, list[str]]:
            response = await client.send("GET", path, query={name: [value] for name, value in query.items()})
            return response.status, response.body.decode().splitlines()

        assert await ask("/readyz") == await ask("/livez/etcd") == (200, ["ok"])
        for name in ("etcd-0", "etcd-1"):
            await befall(client, action="stop", member=name)
        code, lines = await ask("/readyz")
        assert (code, lines[-1]) == (500, "readyz check failed")
        failed = [line for line in lines if line.startswith("[-]")]
        assert failed == ["[-]etcd failed: reason withheld", "[-]etcd-readiness failed: reason withheld"]
        code, lines = await ask("/livez", exclude="etcd", verbose="")
        assert (code, lines[2], lines[-1]) == (200, "[+]etcd excluded: ok", "livez check passed")
        reason = "error getting data from etcd: etcdserver: no leader"
        assert await ask("/livez/etcd") == (500, [f"internal server error: {reason}"])
        etcd = await client.request("GET", "/api/v1/componentstatuses/etcd-0")
        assert etcd["conditions"] == [{"type": "Healthy", "status": "False", "message": reason}]
        await befall(client, action="start", member="etcd-0")
        await virtual_clock.sleep(2 * ELECTION_TIMEOUT)
        assert await ask("/readyz") == (200, ["ok"])
        _, lines = await ask("/healthz", verbose="", exclude="nope")
        assert lines[-2:] == [
            'warn: some health checks cannot be excluded: no matches for "nope"',
            "healthz check passed",
        ]


async def test_the_hop_of_the_store_takes_the_time_of_the_quorum(virtual_clock: VirtualClock) -> None:
    async with cluster(virtual_clock, profile="realistic") as running:
        client = running.client()
        await create(client, "web")
        (span,) = [
            span
            for span in running.world.tracer.recent
            if span.hop == Hop.STORE and span.object == "configmap/default/web"
        ]
        members = (await client.request("GET", MEMBERS))["members"]
        assert span.model_ms == pytest.approx(sorted(member["fsyncMs"] for member in members)[1], abs=0.01)


async def test_members_are_shown_wherever_one_looks(virtual_clock: VirtualClock) -> None:
    async with cluster(virtual_clock) as running:
        client = running.client()
        await befall(client, action="slow", member="etcd-2", milliseconds=400)
        await create(client, "web")
        shown = await client.request("GET", MEMBERS)
        assert [member["state"] for member in shown["members"]] == ["leader", "follower", "follower"]
        assert shown["members"][2]["slowMs"] == 400
        assert shown["members"][2]["lag"] > 0
        status = await client.request("GET", "/debug/ktui/store/status")
        view = await client.request("GET", "/debug/ktui/views/etcd")
        assert status["details"]["quorum"] == view == shown
        endpoints = await client.request("GET", "/debug/ktui/store/endpoints")
        assert [endpoint["Simulated"] for endpoint in endpoints] == [True, True, True]
        await befall(client, action="partition", members=["etcd-0"])
        await virtual_clock.sleep(2 * ELECTION_TIMEOUT)
        healed = await befall(client, action="heal")
        assert (healed["term"], healed["leader"] != "etcd-0") == (2, True)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        pytest.param({"action": "burn"}, 'give an "action" of stop, start, slow, partition or heal', id="action"),
        pytest.param(
            {"action": "stop", "member": "x"}, 'there is no member "x"; there are: etcd-0, etcd-1, etcd-2', id="member"
        ),
        pytest.param({"action": "slow", "member": "etcd-0"}, 'give the "milliseconds"', id="how slow"),
        pytest.param(
            {"action": "slow", "member": "etcd-0", "milliseconds": -1},
            "a member cannot be slowed by less than nothing",
            id="less than nothing",
        ),
        pytest.param({"action": "partition"}, 'give the names of the "members" to cut off', id="whom to cut off"),
    ],
)
async def test_a_fault_that_cannot_be_is_refused(
    virtual_clock: VirtualClock, fault: dict[str, Any], message: str
) -> None:
    async with cluster(virtual_clock) as running:
        with pytest.raises(ApiError) as refused:
            await befall(running.client(), **fault)
        assert (refused.value.code, refused.value.message) == (400, message)


async def test_a_store_without_simulated_members_has_none_to_fail(virtual_clock: VirtualClock) -> None:
    config = ClusterConfig(components=frozenset({Component.APISERVER}), seed=1)
    async with Cluster(config, clock=virtual_clock) as running:
        client = running.client()
        shown = await client.request("GET", MEMBERS)
        assert (shown["simulated"], [member["state"] for member in shown["members"]]) == (False, ["leader"])
        with pytest.raises(ApiError) as refused:
            await befall(client, action="stop", member="default")
        assert refused.value.code == 501
