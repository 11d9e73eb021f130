"""PodDisruptionBudgets: how many Pods may go now, and that evictions heed it."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import DEPLOYMENTS, EVENTS, PODS, REPLICA_SETS, SERVICE_ACCOUNTS, Object
from engine.client import Client
from engine.controllers.disruption import BUDGETS, DisruptionController
from engine.controllers.serviceaccount import ServiceAccountController
from engine.world import World
from tests.controllers.cluster import PodHands, TestCluster, running, web
from tests.controllers.objects import DEFINITIONS, ROLLOUT, ROLLOUTS


def budget(**spec: Any) -> Object:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec},
    }


async def status_of(cluster: TestCluster, allowed: int) -> Object:
    """The status once so many disruptions are allowed and it is up to date."""

    async def found() -> Object | None:
        each = await cluster.admin.get(BUDGETS, "web", namespace="default")
        status: Object = each.get("status") or {}
        return status if status.get("conditions") and status["disruptionsAllowed"] == allowed else None

    status: Object = await cluster.eventually(f"{allowed} disruptions are allowed", found)
    return status


@pytest.mark.parametrize(
    ("spec", "expected", "allowed"),
    [
        pytest.param({"minAvailable": 3}, (4, 3), 1, id="at least three"),
        pytest.param({"minAvailable": 9}, (4, 9), 0, id="more than there are"),
        pytest.param({"minAvailable": "50%"}, (4, 2), 2, id="half"),
        pytest.param({"maxUnavailable": 1}, (4, 3), 1, id="one may be missing"),
        pytest.param({"maxUnavailable": "30%"}, (4, 2), 2, id="a share, rounded up"),
        pytest.param({"maxUnavailable": "100%"}, (4, 0), 4, id="all"),
    ],
)
async def test_what_a_budget_allows(world: World, spec: Object, expected: tuple[int, int], allowed: int) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.admin.create(DEPLOYMENTS, web(4), namespace="default")
        await cluster.available("web", 4)
        await cluster.admin.create(BUDGETS, budget(**spec), namespace="default")
        status = await status_of(cluster, allowed)
        assert (status["expectedPods"], status["desiredHealthy"], status["currentHealthy"]) == (*expected, 4)
        condition = status["conditions"][0]
        assert condition["reason"] == ("SufficientPods" if allowed else "InsufficientPods")


async def test_an_eviction_beyond_the_budget_is_refused_until_a_replacement_is_ready(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster) as hands:
        await cluster.admin.create(DEPLOYMENTS, web(2), namespace="default")
        await cluster.available("web", 2)
        await cluster.admin.create(BUDGETS, budget(maxUnavailable=1), namespace="default")
        await status_of(cluster, 1)
        names = [pod["metadata"]["name"] for pod in await cluster.objects(PODS, namespace="default")]
        hands.ready = lambda pod: pod["metadata"]["name"] in names

        async def evict(name: str) -> None:
            eviction = {
                "apiVersion": "policy/v1",
                "kind": "Eviction",
                "metadata": {"name": name, "namespace": "default"},
            }
            await cluster.admin.create(PODS, eviction, namespace="default", name=name, subresource="eviction")

        await evict(names[0])
        await cluster.gone(PODS, names[0])
        await status_of(cluster, 0)
        with pytest.raises(ApiError) as refused:
            await evict(names[1])
        assert refused.value.code == 429
        hands.ready = lambda pod: True
        hands.look_again()
        await status_of(cluster, 1)
        await evict(names[1])
        await cluster.gone(PODS, names[1])


async def test_a_budget_of_nothing_allows_nothing(world: World) -> None:
    async with running(world) as cluster:
        await cluster.admin.create(BUDGETS, budget(maxUnavailable=1), namespace="default")
        status = await status_of(cluster, 0)
        assert status["expectedPods"] == 0
        assert await cluster.events("NoPods") == ["No matching pods found"]


def pod(name: str, owner: Object | None = None) -> Object:
    references = [{**owner, "controller": True}] if owner is not None else []
    return {
        "metadata": {"name": name, "labels": {"app": "web"}, "ownerReferences": references},
        "spec": {"containers": [{"name": "c", "image": "nginx"}]},
    }


def owner(api_version: str, kind: str, uid: str = "u") -> Object:
    return {"apiVersion": api_version, "kind": kind, "name": "web", "uid": uid}


UNKNOWN = {
    "a kind that is not scaled": (
        owner("batch/v1", "Job"), "jobs.batch does not implement the scale subresource",
    ),
    "a kind that there is not": (
        owner("example.com/v1", "Rollout"), 'no matches for kind "Rollout" in version "example.com/v1"',
    ),
    "a controller that has gone": (owner("apps/v1", "ReplicaSet"), 'found no controllers for pod "one"'),
}  # fmt: skip


@pytest.mark.parametrize("case", UNKNOWN)
async def test_where_nobody_says_how_many_pods_there_should_be_none_may_go(world: World, case: str) -> None:
    reference, message = UNKNOWN[case]
    async with running(world, controllers=(DisruptionController, ServiceAccountController)) as cluster:
        await cluster.eventually_service_account("default")
        await cluster.admin.create(PODS, pod("one", reference), namespace="default")
        await cluster.admin.create(BUDGETS, budget(maxUnavailable=1), namespace="default")
        status = await status_of(cluster, 0)
        [condition] = status["conditions"]
        assert (condition["reason"], condition["message"]) == ("SyncFailed", message)
        assert "observedGeneration" not in status, "nothing of what is wanted was taken up"
        assert "observedGeneration" not in condition
        await world.clock.sleep(100)
        events = [each for each in await cluster.objects(EVENTS) if each["reason"] == "CalculateExpectedPodCountFailed"]
        assert [each["message"] for each in events] == [f"Failed to calculate the number of expected pods: {message}"]
        assert events[0].get("count", 1) <= 2, "it is not tried again and again"


async def test_a_custom_resource_with_a_scale_says_how_many_pods_there_should_be(world: World) -> None:
    async with running(world, controllers=(DisruptionController, ServiceAccountController)) as cluster:
        await cluster.eventually_service_account("default")
        await cluster.admin.create(DEFINITIONS, ROLLOUT)
        made = {"apiVersion": "example.com/v1", "kind": "Rollout", "metadata": {"name": "web"}, "spec": {"replicas": 5}}
        found = await cluster.admin.create(ROLLOUTS, made, namespace="default")
        reference = owner("example.com/v1", "Rollout", found["metadata"]["uid"])
        await cluster.admin.create(PODS, pod("one", reference), namespace="default")
        await cluster.admin.create(BUDGETS, budget(minAvailable="40%"), namespace="default")
        status = await status_of(cluster, 0)
        assert (status["expectedPods"], status["desiredHealthy"]) == (5, 2)


async def test_a_replica_set_whose_deployment_has_gone_says_how_many_pods_there_should_be(world: World) -> None:
    async def given(admin: Client) -> None:
        await admin.create(SERVICE_ACCOUNTS, {"metadata": {"name": "default"}}, namespace="default")
        labels = {"app": "web"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}
        above = {**owner("apps/v1", "Deployment", "gone"), "controller": True}
        spec = {"replicas": 5, "selector": {"matchLabels": labels}, "template": template}
        made = {"metadata": {"name": "web", "ownerReferences": [above]}, "spec": spec}
        found = await admin.create(REPLICA_SETS, made, namespace="default")
        reference = owner("apps/v1", "ReplicaSet", found["metadata"]["uid"])
        await admin.create(PODS, pod("one", reference), namespace="default")
        await admin.create(BUDGETS, budget(minAvailable="40%"), namespace="default")

    async with running(world, controllers=(DisruptionController,), given=given) as cluster:
        status = await status_of(cluster, 0)
        assert (status["expectedPods"], status["desiredHealthy"]) == (5, 2)


async def test_what_is_said_of_pods_without_a_controller_and_of_pods_with_two_budgets(world: World) -> None:
    async with running(world, controllers=(DisruptionController, ServiceAccountController)) as cluster:
        await cluster.eventually_service_account("default")
        await cluster.admin.create(BUDGETS, budget(maxUnavailable=1), namespace="default")
        second = budget(minAvailable=1)
        second["metadata"]["name"] = "also"
        await cluster.admin.create(BUDGETS, second, namespace="default")
        await cluster.admin.create(PODS, pod("one"), namespace="default")

        async def told() -> list[str]:
            return await cluster.events("UnmanagedPods")

        [said] = await cluster.eventually("the event", told)
        assert said.startswith(
            "Pods selected by this PodDisruptionBudget (selector: &LabelSelector{MatchLabels:map[string]string{app: "
            "web,},MatchExpressions:[]LabelSelectorRequirement{},}) were found to be unmanaged."
        )
        assert await cluster.events("MultiplePodDisruptionBudgets") == [
            'Pod "default"/"one" matches multiple PodDisruptionBudgets.  Chose "web" arbitrarily.'
        ]
