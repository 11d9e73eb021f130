"""Pods leave devices with a NoExecute taint (upstream's device_taint_eviction_test.go)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from engine.api.types import PODS, Object
from engine.config import ClusterConfig
from engine.controllers.devicetainteviction import RULES, SLICES, DeviceTaintEvictionController
from engine.controllers.resourceclaim import CLAIMS
from engine.controllers.serviceaccount import ServiceAccountController
from engine.world import World
from tests.controllers.cluster import TestCluster, running

DRIVER = "gpu.example.com"
TAINT = {"key": "broken", "value": "yes", "effect": "NoExecute"}
EXISTS = {"key": "broken", "operator": "Exists", "effect": "NoExecute"}


@pytest.fixture
async def cluster(world: World) -> AsyncIterator[TestCluster]:
    controllers = (DeviceTaintEvictionController, ServiceAccountController)
    async with running(world, controllers=controllers) as made:
        await made.eventually_service_account("default")
        yield made


def slice_of(*taints: Object, device: str = "a", generation: int = 1) -> Object:
    spec = {
        "driver": DRIVER,
        "nodeName": "n1",
        "pool": {"name": "n1", "generation": generation, "resourceSliceCount": 1},
        "devices": [{"name": device, "taints": list(taints)} if taints else {"name": device}],
    }
    return {"metadata": {"name": f"n1-{generation}"}, "spec": spec}


def rule(effect: str = "NoExecute", *, name: str = "r", **selector: str) -> Object:
    return {
        "metadata": {"name": name},
        "spec": {"deviceSelector": {"driver": DRIVER, **selector}, "taint": {**TAINT, "effect": effect}},
    }


async def user(cluster: TestCluster, name: str, *tolerations: Object, node: str = "n1", reserved: bool = True) -> None:
    """A Pod that uses the device `a`, as the scheduler leaves it."""
    spec: Object = {
        "containers": [{"name": "c", "image": "i"}],
        "resourceClaims": [{"name": "gpu", "resourceClaimName": name}],
    }
    if node:
        spec["nodeName"] = node
    pod = await cluster.admin.create(PODS, {"metadata": {"name": name}, "spec": spec}, namespace="default")
    wanted = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
    claim = await cluster.admin.create(CLAIMS, {"metadata": {"name": name}, "spec": wanted}, namespace="default")
    device: Object = {"request": "r", "driver": DRIVER, "pool": "n1", "device": "a"}
    if tolerations:
        device["tolerations"] = list(tolerations)
    status: Object = {"allocation": {"devices": {"results": [device]}}}
    if reserved:
        status["reservedFor"] = [{"resource": "pods", "name": name, "uid": pod["metadata"]["uid"]}]
    await cluster.admin.update_status(CLAIMS, {**claim, "status": status})


async def going(cluster: TestCluster) -> list[str]:
    return [p["metadata"]["name"] for p in await cluster.objects(PODS) if p["metadata"].get("deletionTimestamp")]


async def told(cluster: TestCluster, reason: str, name: str = "r") -> str:
    """What a rule says of its evictions, once it is that."""

    async def found() -> Any:
        status = (await cluster.admin.get(RULES, name)).get("status") or {}
        return next((each for each in status.get("conditions") or () if each["reason"] == reason), None)

    condition = await cluster.eventually(reason, found)
    assert condition["type"] == "EvictionInProgress"
    assert condition["status"] == ("True" if reason == "PodsPendingEviction" else "False")
    return str(condition["message"])


async def test_who_goes_and_when(cluster: TestCluster) -> None:
    written = await cluster.admin.create(SLICES, slice_of())
    await user(cluster, "bare")
    await user(cluster, "for-ever", EXISTS)
    await user(cluster, "all-effects", {"operator": "Exists"})
    await user(cluster, "a-while", {**EXISTS, "tolerationSeconds": 60}, {**EXISTS, "tolerationSeconds": 30})
    await user(cluster, "no-time", {**EXISTS, "tolerationSeconds": -5})
    await user(cluster, "no-node", node="")
    await user(cluster, "no-user", reserved=False)
    await cluster.world.clock.sleep(5)
    assert await going(cluster) == []

    await cluster.admin.update(SLICES, {**written, "spec": slice_of(TAINT)["spec"]})
    await cluster.world.clock.sleep(20)
    assert await going(cluster) == ["all-effects", "bare", "no-time"]
    pod = await cluster.admin.get(PODS, "bare", namespace="default")
    condition = next(each for each in pod["status"]["conditions"] if each["type"] == "DisruptionTarget")
    assert (condition["status"], condition["reason"]) == ("True", "DeletionByDeviceTaintManager")
    assert condition["message"] == "Device Taint manager: deleting due to NoExecute taint"
    assert await cluster.events("DeviceTaintManagerEviction") == ["Marking for deletion"] * 3
    await cluster.world.clock.sleep(20)
    assert await going(cluster) == ["a-while", "all-effects", "bare", "no-time"]


async def test_a_pod_may_stay_when_the_taint_goes(cluster: TestCluster) -> None:
    await cluster.admin.create(SLICES, slice_of(TAINT))
    await user(cluster, "p", {**EXISTS, "tolerationSeconds": 60})
    await cluster.world.clock.sleep(10)
    await cluster.admin.create(SLICES, slice_of(generation=2))  # the driver publishes its pool anew
    await cluster.world.clock.sleep(120)
    assert await going(cluster) == []
    assert await cluster.events("DeviceTaintManagerEviction") == ["Cancelling deletion"]


async def test_a_rule_says_what_it_does(cluster: TestCluster) -> None:
    await cluster.admin.create(SLICES, slice_of())
    await user(cluster, "p")
    await cluster.admin.create(RULES, rule("None"))
    assert await told(cluster, "NoEffect") == (
        "1 published device selected. 1 allocated device selected. 1 pod would be evicted in 1 namespace if the effect "
        "was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to trigger an update."
    )
    await cluster.admin.create(RULES, rule("NoSchedule", name="other"))
    assert await told(cluster, "OtherEffect", "other") == "Eviction only happens for the NoExecute effect."
    await cluster.admin.create(RULES, rule(name="elsewhere", device="b"))
    assert await told(cluster, "NotStarted", "elsewhere") == ""
    assert await going(cluster) == []

    found = await cluster.admin.get(RULES, "r")
    await cluster.admin.update(RULES, {**found, "spec": rule()["spec"]})
    assert await told(cluster, "PodsPendingEviction") == "1 pod needs to be evicted in 1 namespace."
    await cluster.eventually("it goes", lambda: going(cluster))
    assert await told(cluster, "Completed") == "1 pod evicted since starting the controller."
    applied = next(each for each in found["metadata"]["managedFields"] if each.get("subresource") == "status")
    assert (applied["manager"], applied["operation"]) == ("device-taint-eviction-controller", "Apply")


def test_since_when_there_is_such_a_controller() -> None:
    needed = [
        DeviceTaintEvictionController.is_needed(ClusterConfig(kubernetes_version=v)) for v in ("1.35", "1.36", "1.37")
    ]
    assert needed == [False, True, True]
