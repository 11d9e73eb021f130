"""What is deleted along with what: owners and dependents, and namespaces with all that is in them."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import (
    CLUSTER_ROLES,
    CONFIGMAPS,
    DEPLOYMENTS,
    EVENTS,
    GVR,
    NAMESPACES,
    PODS,
    REPLICA_SETS,
    SECRETS,
    SERVICE_ACCOUNTS,
    Object,
)
from engine.controllers.namespace import NamespaceController
from engine.controllers.serviceaccount import ServiceAccountController
from engine.world import World
from tests.controllers.cluster import PodHands, TestCluster, running, web
from tests.controllers.objects import DEFINITIONS, ROLLOUT, ROLLOUTS

API_SERVICES = GVR("apiregistration.k8s.io", "v1", "apiservices")


async def one_web(cluster: TestCluster) -> tuple[str, str]:
    """The names of the ReplicaSet and Pod of a Deployment of one."""
    await cluster.admin.create(DEPLOYMENTS, web(1), namespace="default")
    await cluster.available("web", 1)
    rs = (await cluster.objects(REPLICA_SETS, namespace="default"))[0]["metadata"]["name"]
    return rs, (await cluster.objects(PODS, namespace="default"))[0]["metadata"]["name"]


async def test_background_deletion_takes_dependents_afterwards(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        rs, pod = await one_web(cluster)
        await cluster.admin.delete(DEPLOYMENTS, "web", namespace="default", propagation_policy="Background")
        assert await cluster.find(DEPLOYMENTS, "web") is None
        assert await cluster.find(REPLICA_SETS, rs) is not None
        await cluster.gone(REPLICA_SETS, rs)
        await cluster.gone(PODS, pod)


async def test_foreground_deletion_takes_dependents_first(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        rs, pod = await one_web(cluster)
        await cluster.admin.delete(DEPLOYMENTS, "web", namespace="default", propagation_policy="Foreground")
        waiting = await cluster.find(DEPLOYMENTS, "web")
        assert waiting is not None
        assert waiting["metadata"]["finalizers"] == ["foregroundDeletion"]
        await cluster.gone(DEPLOYMENTS, "web")
        assert await cluster.find(REPLICA_SETS, rs) is None
        assert await cluster.find(PODS, pod) is None


async def test_orphaned_dependents_live_on_without_an_owner(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        rs, pod = await one_web(cluster)
        await cluster.admin.delete(DEPLOYMENTS, "web", namespace="default", propagation_policy="Orphan")
        await cluster.gone(DEPLOYMENTS, "web")
        left = await cluster.find(REPLICA_SETS, rs)
        assert left is not None
        assert not left["metadata"].get("ownerReferences")
        assert await cluster.find(PODS, pod) is not None


def config_map(name: str, *owners: Object, **metadata: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default", "ownerReferences": list(owners), **metadata},
    }


def reference(owner: Object, **changed: Any) -> Object:
    metadata = owner["metadata"]
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": metadata["name"], "uid": metadata["uid"], **changed}


async def create(cluster: TestCluster, obj: Object) -> Object:
    return await cluster.admin.create(CONFIGMAPS, obj, namespace="default")


async def test_an_owner_that_never_was_takes_its_dependent_with_it(world: World) -> None:
    async with running(world) as cluster:
        ghost = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": "ghost",
            "uid": "00000000-0000-0000-0000-000000000000",
        }
        await create(cluster, config_map("child", ghost))
        await cluster.gone(CONFIGMAPS, "child")


async def test_one_owner_that_is_left_holds_an_object_and_the_other_is_struck_out(world: World) -> None:
    async with running(world) as cluster:
        first, second = await create(cluster, config_map("first")), await create(cluster, config_map("second"))
        await create(cluster, config_map("child", reference(first), reference(second)))
        await cluster.admin.delete(CONFIGMAPS, "first", namespace="default")

        async def one_owner() -> bool:
            child = await cluster.find(CONFIGMAPS, "child")
            owners = child["metadata"].get("ownerReferences") or [] if child is not None else []
            return [owner["name"] for owner in owners] == ["second"]

        await cluster.eventually("one owner is left", one_owner)


async def test_an_owner_of_another_uid_is_no_owner(world: World) -> None:
    async with running(world) as cluster:
        owner = await create(cluster, config_map("owner"))
        await create(cluster, config_map("child", reference(owner, uid="11111111-1111-1111-1111-111111111111")))
        await cluster.gone(CONFIGMAPS, "child")
        assert await cluster.find(CONFIGMAPS, "owner") is not None


async def test_who_names_an_owner_of_another_namespace_is_told(world: World) -> None:
    """kubernetes/kubernetes#65200, #92743: such an owner is none, whichever of the two was seen first."""
    async with running(world) as cluster:
        await cluster.admin.create(NAMESPACES, {"metadata": {"name": "elsewhere"}})
        owner = await create(cluster, config_map("owner"))
        uid = owner["metadata"]["uid"]
        child = {"metadata": {"name": "child", "namespace": "elsewhere", "ownerReferences": [reference(owner)]}}
        await cluster.admin.create(CONFIGMAPS, child, namespace="elsewhere")
        role = {"metadata": {"name": "reader", "ownerReferences": [reference(owner)]}}
        await cluster.admin.create(CLUSTER_ROLES, role)
        await cluster.gone(CONFIGMAPS, "child", "elsewhere")

        async def told() -> list[Object] | None:
            events = [each for each in await cluster.objects(EVENTS) if each["reason"] == "OwnerRefInvalidNamespace"]
            return events if len(events) == 2 else None

        events = await cluster.eventually("both are told", told)
        assert {
            (each["involvedObject"]["name"], each["metadata"]["namespace"]): each["message"] for each in events
        } == {
            ("child", "elsewhere"): f"ownerRef [v1/ConfigMap, namespace: elsewhere, name: owner, uid: {uid}] does not "
            'exist in namespace "elsewhere"',
            ("reader", "default"): f"ownerRef [v1/ConfigMap, namespace: , name: owner, uid: {uid}] does not exist in "
            'namespace ""',
        }
        assert {each["source"]["component"] for each in events} == {"garbage-collector-controller"}
        assert await cluster.find(CLUSTER_ROLES, "reader", None) is not None, "what cannot be resolved is kept"


async def test_a_chain_goes_link_by_link(world: World) -> None:
    async with running(world) as cluster:
        link = await create(cluster, config_map("link-0"))
        for number in range(1, 5):
            link = await create(cluster, config_map(f"link-{number}", reference(link)))
        await cluster.admin.delete(CONFIGMAPS, "link-0", namespace="default")
        await cluster.gone(CONFIGMAPS, "link-4")


async def test_a_circle_deleted_in_the_foreground_does_not_wait_for_itself(world: World) -> None:
    async with running(world) as cluster:
        first = await create(cluster, config_map("first"))
        second = await create(cluster, config_map("second", reference(first, blockOwnerDeletion=True)))
        owners = [reference(second, blockOwnerDeletion=True)]
        await cluster.admin.patch(CONFIGMAPS, "first", {"metadata": {"ownerReferences": owners}}, namespace="default")
        await world.clock.sleep(1)
        await cluster.admin.delete(CONFIGMAPS, "first", namespace="default", propagation_policy="Foreground")
        await cluster.gone(CONFIGMAPS, "first")
        await cluster.gone(CONFIGMAPS, "second")


# -- namespaces


async def test_a_new_namespace_has_a_default_service_account_which_comes_back(world: World) -> None:
    async with running(world) as cluster:
        await cluster.admin.create(NAMESPACES, {"metadata": {"name": "team"}})
        for _ in range(2):

            async def there() -> bool:
                return await cluster.find(SERVICE_ACCOUNTS, "default", "team") is not None

            await cluster.eventually("the ServiceAccount is there", there)
            await cluster.admin.delete(SERVICE_ACCOUNTS, "default", namespace="team")


async def test_a_deleted_namespace_takes_all_with_it(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.admin.create(NAMESPACES, {"metadata": {"name": "team"}})
        deployment = web(2)
        deployment["metadata"]["namespace"] = "team"
        await cluster.admin.create(DEPLOYMENTS, deployment, namespace="team")
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "team"}}
        await cluster.admin.create(SECRETS, secret, namespace="team")

        async def two_pods() -> bool:
            return len(await cluster.objects(PODS, namespace="team")) == 2

        await cluster.eventually("two Pods", two_pods)
        await cluster.admin.delete(NAMESPACES, "team")
        leaving = await cluster.find(NAMESPACES, "team", None)
        assert leaving is not None
        assert leaving["status"]["phase"] == "Terminating"
        await cluster.gone(NAMESPACES, "team", None)
        for resource in (PODS, DEPLOYMENTS, REPLICA_SETS, SECRETS, SERVICE_ACCOUNTS):
            assert await cluster.objects(resource, namespace="team") == []


async def test_a_deleted_namespace_takes_what_is_served_in_other_versions_than_it_is_stored_in(world: World) -> None:
    async with running(world, controllers=(NamespaceController,)) as cluster:
        version = ROLLOUT["spec"]["versions"][0]
        versions = [{**version, "name": "v2", "served": False}, {**version, "storage": False}]
        await cluster.admin.create(DEFINITIONS, {**ROLLOUT, "spec": {**ROLLOUT["spec"], "versions": versions}})
        await cluster.admin.create(NAMESPACES, {"metadata": {"name": "team"}})
        made: Object = {"apiVersion": "example.com/v1", "kind": "Rollout", "metadata": {"name": "r"}}
        await cluster.admin.create(ROLLOUTS, made, namespace="team")
        await cluster.admin.delete(NAMESPACES, "team")
        await cluster.gone(NAMESPACES, "team", None)
        assert await cluster.objects(ROLLOUTS) == []


async def test_a_namespace_that_cannot_go_says_why(world: World) -> None:
    async with running(world) as cluster:
        await cluster.admin.create(NAMESPACES, {"metadata": {"name": "team"}})
        held = config_map("held", finalizers=["example.com/hold"])
        held["metadata"]["namespace"] = "team"
        await cluster.admin.create(CONFIGMAPS, held, namespace="team")
        await cluster.admin.delete(NAMESPACES, "team")

        async def told() -> dict[str, Object] | None:
            found = await cluster.find(NAMESPACES, "team", None)
            assert found is not None
            conditions = {each["type"]: each for each in found["status"].get("conditions") or ()}
            remaining = conditions.get("NamespaceFinalizersRemaining") or {}
            return conditions if remaining.get("status") == "True" else None

        conditions = await cluster.eventually("the namespace says why", told)
        assert conditions["NamespaceContentRemaining"]["message"] == (
            "Some resources are remaining: configmaps. has 1 resource instances"
        )
        assert conditions["NamespaceFinalizersRemaining"]["message"] == (
            "Some finalizers are remaining: example.com/hold in 1 resource instances"
        )
        await cluster.admin.patch(CONFIGMAPS, "held", {"metadata": {"finalizers": None}}, namespace="team")
        await cluster.gone(NAMESPACES, "team", None)


async def test_a_namespace_stays_while_a_server_that_may_have_something_in_it_is_away(world: World) -> None:
    async with running(world) as cluster:
        service = {"namespace": "default", "name": "metrics", "port": 443}
        spec = {"group": "custom.metrics.k8s.io", "version": "v1beta1", "service": service}
        made = {
            "metadata": {"name": "v1beta1.custom.metrics.k8s.io"},
            "spec": {**spec, "groupPriorityMinimum": 100, "versionPriority": 100},
        }
        await cluster.admin.create(API_SERVICES, made)
        await cluster.admin.create(NAMESPACES, {"metadata": {"name": "team"}})
        await cluster.admin.delete(NAMESPACES, "team")

        async def told() -> Object | None:
            found = await cluster.find(NAMESPACES, "team", None)
            assert found is not None
            conditions = found["status"].get("conditions") or ()
            return next((each for each in conditions if each["type"] == "NamespaceDeletionDiscoveryFailure"), None)

        said = await cluster.eventually("the namespace says why", told)
        away = "custom.metrics.k8s.io/v1beta1: stale GroupVersion discovery: custom.metrics.k8s.io/v1beta1"
        listing = f"unable to retrieve the complete list of server APIs: {away}"
        assert (said["status"], said["reason"]) == ("True", "DiscoveryFailed")
        assert said["message"] == f"Discovery failed for some groups, 1 failing: {listing}"
        await world.clock.sleep(60)
        assert await cluster.find(NAMESPACES, "team", None) is not None
        await cluster.admin.delete(API_SERVICES, "v1beta1.custom.metrics.k8s.io")
        await cluster.gone(NAMESPACES, "team", None)


async def test_a_namespace_waits_for_half_of_the_longest_grace_period_at_a_time(world: World) -> None:
    async with running(world, controllers=(NamespaceController, ServiceAccountController)) as cluster:
        await cluster.admin.create(NAMESPACES, {"metadata": {"name": "team"}})
        await cluster.eventually_service_account("team")
        spec: Any = {"nodeName": "node-1", "terminationGracePeriodSeconds": 60}
        spec["containers"] = [{"name": "c", "image": "nginx"}]
        await cluster.admin.create(PODS, {"metadata": {"name": "slow"}, "spec": spec}, namespace="team")
        began = cluster.now
        await cluster.admin.delete(NAMESPACES, "team")
        await world.clock.sleep(15)
        await cluster.admin.delete(PODS, "slow", namespace="team", grace_period_seconds=0)
        await cluster.gone(NAMESPACES, "team", None)
        assert 40 <= cluster.now - began <= 42, "five seconds, five after it said why, then half a minute and one"


@pytest.mark.parametrize("seed", [1, 7])
async def test_the_same_seed_gives_the_same_objects(world: World, seed: int) -> None:
    async def run() -> list[tuple[str, str, str]]:
        again = World.create(clock=world.clock, seed=seed)
        async with running(again) as cluster, PodHands(cluster):
            await cluster.admin.create(DEPLOYMENTS, web(5), namespace="default")
            await cluster.available("web", 5)
            pods = await cluster.objects(PODS, namespace="default")
            return [
                (pod["metadata"]["name"], pod["metadata"]["uid"], pod["metadata"]["resourceVersion"]) for pod in pods
            ]

    assert await run() == await run()
