"""The ResourceQuota controller counts what there is, and counts again when something goes."""

from __future__ import annotations

import pytest

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, GVR, PODS, Object
from engine.world import World
from tests.api.crd.samples import GROUP, definition
from tests.controllers.cluster import TestCluster, running

QUOTAS = GVR("", "v1", "resourcequotas")
DEFINITIONS = GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions")
CRON_TABS = GVR(GROUP, "v1", "crontabs")


async def used(cluster: TestCluster, wanted: dict[str, str]) -> None:
    async def reached() -> bool:
        found = await cluster.find(QUOTAS, "q")
        return found is not None and (found.get("status") or {}).get("used") == wanted

    await cluster.eventually(f"{wanted} are used", reached)


async def test_usage_is_counted_and_given_back(world: World) -> None:
    async with running(world) as cluster:
        made: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
        await cluster.admin.create(CONFIGMAPS, made, namespace="default")
        hard = {"configmaps": "5", "count/deployments.apps": "2", "requests.cpu": "1"}
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard}}
        await cluster.admin.create(QUOTAS, quota, namespace="default")
        await used(cluster, {"configmaps": "1", "count/deployments.apps": "0", "requests.cpu": "0"})
        await cluster.admin.create(CONFIGMAPS, {**made, "metadata": {"name": "b"}}, namespace="default")
        await used(cluster, {"configmaps": "2", "count/deployments.apps": "0", "requests.cpu": "0"})
        await cluster.admin.delete(CONFIGMAPS, "a", namespace="default")
        await used(cluster, {"configmaps": "1", "count/deployments.apps": "0", "requests.cpu": "0"})
        await cluster.admin.patch(QUOTAS, "q", {"spec": {"hard": {"requests.cpu": None}}}, namespace="default")
        await used(cluster, {"configmaps": "1", "count/deployments.apps": "0"})


async def test_of_what_nothing_takes_nothing_is_told(world: World) -> None:
    async with running(world) as cluster:
        hard = {"pods": "5", "count/widgets.example.com": "2", "requests.kubernetes.io/x": "1"}
        await cluster.admin.create(QUOTAS, {"metadata": {"name": "q"}, "spec": {"hard": hard}}, namespace="default")
        await used(cluster, {"pods": "0"})


async def test_custom_resources_are_counted_once_there_are_any(world: World) -> None:
    """test/e2e/apimachinery/resource_quota.go, the life of a custom resource."""
    count = f"count/crontabs.{GROUP}"
    async with running(world) as cluster:
        hard = {"pods": "5", count: "1"}
        await cluster.admin.create(QUOTAS, {"metadata": {"name": "q"}, "spec": {"hard": hard}}, namespace="default")
        await used(cluster, {"pods": "0"})
        made = definition()
        del made["metadata"]["uid"]
        await cluster.admin.create(DEFINITIONS, made)
        await used(cluster, {"pods": "0", count: "0"})
        tab: Object = {"apiVersion": f"{GROUP}/v1", "kind": "CronTab", "metadata": {"name": "a"}}
        await cluster.admin.create(CRON_TABS, tab, namespace="default")
        with pytest.raises(ApiError, match=f"exceeded quota: q, requested: {count}=1, used: {count}=1, limited"):
            await cluster.admin.create(CRON_TABS, {**tab, "metadata": {"name": "b"}}, namespace="default")
        await cluster.admin.delete(CRON_TABS, "a", namespace="default")
        await used(cluster, {"pods": "0", count: "0"})


async def test_a_pod_that_is_to_end_leaves_the_quota_of_those_that_are_not(world: World) -> None:
    """At once, not only when all is counted anew (update_filter_test.go)."""
    async with running(world) as cluster:
        pod: Object = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        await cluster.admin.create(PODS, pod, namespace="default")
        quota = {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "5"}, "scopes": ["NotTerminating"]}}
        await cluster.admin.create(QUOTAS, quota, namespace="default")
        await used(cluster, {"pods": "1"})
        began = world.clock.monotonic()
        await cluster.admin.patch(PODS, "p", {"spec": {"activeDeadlineSeconds": 600}}, namespace="default")
        await used(cluster, {"pods": "0"})
        assert world.clock.monotonic() - began < 60


async def test_devices_are_counted_by_all_their_names(world: World) -> None:
    async with running(world) as cluster:
        gpu = {"metadata": {"name": "gpu"}, "spec": {"extendedResourceName": "example.com/gpu"}}
        await cluster.admin.create(GVR("resource.k8s.io", "v1", "deviceclasses"), gpu)
        asked = {"name": "r", "exactly": {"deviceClassName": "gpu", "count": 2}}
        claim = {"metadata": {"name": "c"}, "spec": {"devices": {"requests": [asked]}}}
        claims = GVR("resource.k8s.io", "v1", "resourceclaims")
        await cluster.admin.create(claims, claim, namespace="default")
        names = ("requests.example.com/gpu", "requests.deviceclass.resource.kubernetes.io/gpu")
        quota = {"metadata": {"name": "q"}, "spec": {"hard": dict.fromkeys(names, "5")}}
        await cluster.admin.create(QUOTAS, quota, namespace="default")
        await used(cluster, dict.fromkeys(names, "2"))
        await cluster.admin.delete(claims, "c", namespace="default")
        await used(cluster, dict.fromkeys(names, "0"))
