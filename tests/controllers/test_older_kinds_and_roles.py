"""ReplicationControllers, aggregated ClusterRoles and the TTL of Nodes."""

from __future__ import annotations

import pytest

from engine.api.types import CLUSTER_ROLES, GVR, NODES, PODS, Object
from engine.controllers.ttl import ANNOTATION
from engine.world import World
from tests.controllers.cluster import PodHands, TestCluster, running

REPLICATION_CONTROLLERS = GVR("", "v1", "replicationcontrollers")


async def test_a_replication_controller_keeps_its_size(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.eventually_service_account("default")
        made = {
            "apiVersion": "v1",
            "kind": "ReplicationController",
            "metadata": {"name": "old"},
            "spec": {
                "replicas": 2,
                "selector": {"app": "old"},
                "template": {
                    "metadata": {"labels": {"app": "old"}},
                    "spec": {"containers": [{"name": "c", "image": "nginx"}]},
                },
            },
        }
        await cluster.admin.create(REPLICATION_CONTROLLERS, made, namespace="default")

        async def settled(size: int) -> Object | None:
            found = await cluster.admin.get(REPLICATION_CONTROLLERS, "old", namespace="default")
            return found if found.get("status", {}).get("availableReplicas", 0) == size else None

        found = await cluster.eventually("two run", lambda: settled(2))
        assert found["status"] == {
            "replicas": 2, "fullyLabeledReplicas": 2, "readyReplicas": 2, "availableReplicas": 2,
            "observedGeneration": 1,
        }  # fmt: skip
        pods = await cluster.objects(PODS, namespace="default")
        owner = pods[0]["metadata"]["ownerReferences"][0]
        assert (owner["kind"], owner["apiVersion"], owner["controller"]) == ("ReplicationController", "v1", True)

        await cluster.admin.delete(PODS, pods[0]["metadata"]["name"], namespace="default")
        await cluster.admin.patch(REPLICATION_CONTROLLERS, "old", {"spec": {"replicas": 3}}, namespace="default")
        await cluster.eventually("three run", lambda: settled(3))
        assert len(await cluster.events("SuccessfulCreate")) == 4


def role(name: str, verb: str, **labels: str) -> Object:
    rules = [{"apiGroups": ["example.com"], "resources": ["widgets"], "verbs": [verb]}]
    metadata = {"name": name, "labels": labels}
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules,
    }  # fmt: skip


async def rules_of(cluster: TestCluster, name: str) -> list[Object]:
    found: list[Object] = (await cluster.admin.get(CLUSTER_ROLES, name)).get("rules") or []
    return found


async def test_rules_gather_in_a_role_that_aggregates(world: World) -> None:
    async with running(world) as cluster:
        whole = role("whole", "none")
        whole["aggregationRule"] = {
            "clusterRoleSelectors": [{"matchLabels": {"part": "one"}}, {"matchLabels": {"part": "two"}}]
        }
        whole["rules"] = []
        first, second = role("b", "get", part="one"), role("a", "list", part="two")
        for each in (whole, first, second, role("same", "get", part="two"), role("other", "watch", part="three")):
            await cluster.admin.create(CLUSTER_ROLES, each)

        async def gathered(*wanted: Object) -> bool:
            return await rules_of(cluster, "whole") == [rule for each in wanted for rule in each["rules"]]

        await cluster.eventually("both are in", lambda: gathered(first, second))
        managers = (await cluster.admin.get(CLUSTER_ROLES, "whole"))["metadata"]["managedFields"]
        (applied,) = (each for each in managers if each["operation"] == "Apply")
        assert (applied["manager"], applied["fieldsV1"]) == ("clusterrole-aggregation-controller", {"f:rules": {}})
        await cluster.admin.delete(CLUSTER_ROLES, "b")
        await cluster.eventually("one has gone", lambda: gathered(second, first))
        await cluster.admin.patch(CLUSTER_ROLES, "same", {"metadata": {"labels": {"part": "none"}}})
        await cluster.eventually("and the other", lambda: gathered(second))


async def test_what_is_added_to_view_may_be_viewed(world: World) -> None:
    async with running(world) as cluster:
        before = await rules_of(cluster, "view")
        added = role("widgets-view", "get", **{"rbac.authorization.k8s.io/aggregate-to-view": "true"})
        await cluster.admin.create(CLUSTER_ROLES, added)

        async def grown() -> bool:
            return len(await rules_of(cluster, "view")) == len(before) + 1

        await cluster.eventually("view has it", grown)


@pytest.mark.parametrize(
    ("sizes", "seconds"),
    [
        pytest.param([1], "0", id="small"),
        pytest.param([100], "0", id="as many as are small"),
        pytest.param([101], "15", id="one more"),
        pytest.param([101, 95], "15", id="a few less change nothing"),
        pytest.param([101, 89], "0", id="many less do"),
    ],
)
async def test_the_ttl_of_nodes_follows_their_number(world: World, sizes: list[int], seconds: str) -> None:
    async with running(world) as cluster:
        there = 0
        for size in sizes:
            for number in range(there, size):
                await cluster.admin.create(NODES, {"kind": "Node", "metadata": {"name": f"n{number}"}})
            for number in range(size, there):
                await cluster.admin.delete(NODES, f"n{number}")
            there = size
            await world.clock.sleep(1)

        async def told() -> bool:
            nodes = await cluster.objects(NODES)
            return {(node["metadata"].get("annotations") or {}).get(ANNOTATION) for node in nodes} == {seconds}

        await cluster.eventually(f"all are told {seconds}", told)
