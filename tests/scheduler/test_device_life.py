"""Devices from the claim to the running pod: made ready first, behind extended resources, tainted while pods wait."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from engine.api.types import GVR, PODS, Object
from engine.api.wire import MERGE_PATCH
from engine.scheduler import Profile, SchedulerConfiguration
from engine.scheduler.plugins.resource_claims import (
    DEVICE_CLASSES,
    DEVICE_TAINT_RULES,
    RESOURCE_CLAIMS,
    RESOURCE_SLICES,
)
from engine.world import World
from tests.scheduler.devices import DRIVER, device, device_class, published, wants, way
from tests.scheduler.devices import claim as asked
from tests.scheduler.objects import container
from tests.scheduler.stage import Stage, open_stage

GPU = "example.com/gpu"
QUOTAS = GVR("", "v1", "resourcequotas")
USING = [{"name": "gpu", "resourceClaimName": "c"}]


@pytest.fixture
async def stage(world: World) -> AsyncIterator[Stage]:
    async with open_stage(world) as made:
        for name in ("n1", "n2"):
            await made.add_node(name)
        yield made


async def publish(stage: Stage, node: str, *devices: Object, **spec: Any) -> None:
    await stage.admin.create(RESOURCE_SLICES, published(*devices, name=f"of-{node}", node=node, **spec))


async def claimed(stage: Stage) -> Object:
    return await stage.admin.get(RESOURCE_CLAIMS, "c", namespace="default")


async def say(stage: Stage, condition: str, **fields: str) -> None:
    """What the driver sets in the claim once it is allocated."""
    found = await claimed(stage)
    (result,) = found["status"]["allocation"]["devices"]["results"]
    now = stage.world.clock.timestamp()
    told = {"type": condition, "status": "True", "reason": "Told", "message": "", "lastTransitionTime": now, **fields}
    device = {name: result[name] for name in ("driver", "pool", "device")}
    status = {**found["status"], "devices": [{**device, "conditions": [told]}]}
    await stage.admin.update_status(RESOURCE_CLAIMS, {**found, "status": status})


async def conditional(stage: Stage) -> None:
    conditions: dict[str, Any] = {"bindingConditions": ["ready"], "bindingFailureConditions": ["failed"]}
    await stage.admin.create(DEVICE_CLASSES, device_class("gpu"))
    await publish(stage, "n1", device("a", **conditions))
    await stage.admin.create(RESOURCE_CLAIMS, asked("c", wants()), namespace="default")
    await stage.add_pod("p", resourceClaims=USING)
    async with stage.world.clock.timeout(30):
        while "allocation" not in ((await claimed(stage)).get("status") or {}):
            await stage.world.clock.sleep(0.1)


async def waits(stage: Stage) -> dict[str, tuple[int, float]]:
    """How often devices of the driver were waited for, and how long, by how that ended."""
    body = (await stage.admin.send("GET", "/metrics")).body.decode()
    of = rf'{{driver="{DRIVER}",profile="default-scheduler",status="(\w+)"}} (\S+)'
    counted = re.findall(f"scheduler_dra_bindingconditions_allocations_total{of}", body)
    seconds = dict(re.findall(f"scheduler_dra_bindingconditions_wait_duration_seconds_sum{of}", body))
    return {status: (int(count), float(seconds[status])) for status, count in counted}


async def test_a_pod_waits_until_its_device_is_ready(stage: Stage) -> None:
    await conditional(stage)
    await stage.world.clock.sleep(20)
    assert await stage.node_of("p") == ""
    note = "waiting for binding conditions for device on node n1"
    assert ("Normal", "BindingConditionsPending", note) in await stage.events("p")
    assert (await claimed(stage))["status"]["allocation"]["allocationTimestamp"]
    assert await waits(stage) == {}
    (decision,) = stage.scheduler.decisions.of_pod("default/p")
    waiting = "waits at PreBind for DynamicResources: ResourceClaim c to have ready devices, for 10m0s at most"
    assert decision.summary()["bindingMessage"] == waiting
    await say(stage, "ready")
    assert await stage.bound("p") == "n1"
    ((status, (count, seconds)),) = (await waits(stage)).items()
    assert (status, count) == ("success", 1)
    assert 20 <= seconds <= 30


async def failures(stage: Stage) -> list[str]:
    """All that the pod has been told of its attempts: its condition has but the last, and that not for long."""
    return [note for _, reason, note in await stage.events("p") if reason == "FailedScheduling"]


async def test_a_device_that_fails_is_given_up_for_another(stage: Stage) -> None:
    await conditional(stage)
    await publish(stage, "n2", device("b"))
    # As long as it is there, the attempt after next finds it again before the other.
    await stage.admin.delete(RESOURCE_SLICES, "of-n1")
    await say(stage, "failed", message="no power")
    assert await stage.bound("p") == "n2"
    told = 'running PreBind plugin "DynamicResources": claim c binding failed: reason=Told, message="no power"'
    assert told in await failures(stage)
    assert {status: count for status, (count, _) in (await waits(stage)).items()} == {"failure": 1}
    assert "devices" not in (await claimed(stage))["status"]


async def test_a_device_that_does_not_become_ready_in_time(stage: Stage) -> None:
    await conditional(stage)
    await publish(stage, "n2", device("b"))
    await stage.admin.delete(RESOURCE_SLICES, "of-n1")
    found = await stage.until(lambda p: p["spec"].get("nodeName"), "p", seconds=1400)
    assert found["spec"]["nodeName"] == "n2"
    assert any(told.endswith(("claim c binding timeout", "device binding timeout")) for told in await failures(stage))
    assert {status: count for status, (count, _) in (await waits(stage)).items()} == {"timeout": 1}


async def test_a_claim_that_goes_while_its_device_is_waited_for(stage: Stage) -> None:
    await conditional(stage)
    await stage.admin.patch(
        RESOURCE_CLAIMS, "c", {"metadata": {"finalizers": None}}, namespace="default", content_type=MERGE_PATCH
    )
    await stage.admin.delete(RESOURCE_CLAIMS, "c", namespace="default")
    told = 'running PreBind plugin "DynamicResources": could not find ResourceClaim "default/c"'
    await stage.until(lambda p: told in str(p.get("status")), "p")
    assert [*await waits(stage)] == ["error"]


def with_gpus(*counts: int) -> dict[str, Any]:
    made = [container(f"c{i}", requests={GPU: str(n)} if n else {}) for i, n in enumerate(counts)]
    for each in made:
        if "resources" in each:
            each["resources"]["limits"] = each["resources"]["requests"]
    return {"containers": made}


async def own_claims(stage: Stage) -> list[Object]:
    return (await stage.admin.list(RESOURCE_CLAIMS, namespace="default")).items


async def test_an_extended_resource_that_devices_stand_behind(stage: Stage) -> None:
    await stage.admin.create(DEVICE_CLASSES, device_class("gpu", extendedResourceName=GPU))
    await publish(stage, "n2", *(device(name) for name in "abc"))
    await stage.add_pod("p", **with_gpus(2, 0, 1))
    assert await stage.bound("p") == "n2"
    (own,) = await own_claims(stage)
    pod = await stage.get("p")
    assert own["metadata"]["name"].startswith("p-extended-resources-")
    assert own["metadata"]["annotations"] == {"resource.kubernetes.io/extended-resource-claim": "true"}
    (owner,) = own["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("Pod", pod["metadata"]["uid"], True)
    requests = [
        (r["name"], r["exactly"]["deviceClassName"], r["exactly"]["count"]) for r in own["spec"]["devices"]["requests"]
    ]
    assert requests == [("container-0-request-0", "gpu", 2), ("container-2-request-0", "gpu", 1)]
    assert [user["name"] for user in own["status"]["reservedFor"]] == ["p"]
    assert pod["status"]["extendedResourceClaimStatus"] == {
        "resourceClaimName": own["metadata"]["name"],
        "requestMappings": [
            {"containerName": "c0", "resourceName": GPU, "requestName": "container-0-request-0"},
            {"containerName": "c2", "resourceName": GPU, "requestName": "container-2-request-0"},
        ],
    }
    # The devices are taken: the next pod waits, and no claim is left of its attempts.
    await stage.add_pod("q", **with_gpus(1))
    message = (await stage.condition("q"))["message"]
    assert message == (
        "0/2 nodes are available: 2 cannot allocate all claims. "
        "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
    )
    assert len(await own_claims(stage)) == 1


async def test_a_quota_refuses_the_claim_behind_an_extended_resource(stage: Stage) -> None:
    async def created() -> list[str]:
        lines = (await stage.admin.send("GET", "/metrics")).body.decode().splitlines()
        return [line for line in lines if line.startswith("resourceclaim_controller_creates_total")]

    hard = {"hard": {"count/resourceclaims.resource.k8s.io": "0"}}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "none"}, "spec": hard}
    made = await stage.admin.create(QUOTAS, quota, namespace="default")
    await stage.admin.update_status(QUOTAS, {**made, "status": {**hard, "used": {**hard["hard"]}}})
    await stage.admin.create(DEVICE_CLASSES, device_class("gpu", extendedResourceName=GPU))
    await publish(stage, "n1", device("a"))
    await stage.add_pod("p", **with_gpus(1))
    told = 'running PreBind plugin "DynamicResources": create claim for extended resources default/: resourceclaims'
    await stage.until(lambda p: told in str(p.get("status")), "p")
    assert await created() == ['resourceclaim_controller_creates_total{admin_access="false",status="failure"} 1']
    await stage.admin.delete(QUOTAS, "none", namespace="default")
    assert await stage.bound("p") == "n1"
    success = 'resourceclaim_controller_creates_total{admin_access="false",status="success"} 1'
    assert success in await created()


async def test_a_node_with_a_device_plugin_needs_no_claim(stage: Stage) -> None:
    await stage.admin.create(DEVICE_CLASSES, device_class("gpu", extendedResourceName=GPU))
    await stage.add_node("n3", allocatable={GPU: "1"})
    await stage.add_pod("p", **with_gpus(1))
    assert await stage.bound("p") == "n3"
    assert await own_claims(stage) == []
    await stage.add_pod("q", **with_gpus(1))
    assert (await stage.condition("q"))["message"].startswith(
        f"0/3 nodes are available: 1 Insufficient {GPU}, 2 cannot allocate all claims."
    )


async def test_a_resource_that_no_class_stands_behind(stage: Stage) -> None:
    await stage.add_pod("p", **with_gpus(1))
    assert (await stage.condition("p"))["message"].startswith(f"0/2 nodes are available: 2 Insufficient {GPU}.")
    await stage.admin.create(DEVICE_CLASSES, device_class("gpu", extendedResourceName=GPU))
    await publish(stage, "n1", device("a"))
    assert await stage.bound("p") == "n1"


async def test_a_rule_that_taints_a_device_and_goes_again(stage: Stage) -> None:
    await stage.admin.create(DEVICE_CLASSES, device_class("gpu"))
    await publish(stage, "n1", device("a"))
    taint = {"key": "sick", "effect": "NoSchedule"}
    rule = {"metadata": {"name": "sick"}, "spec": {"deviceSelector": {"driver": DRIVER}, "taint": taint}}
    await stage.admin.create(DEVICE_TAINT_RULES, rule)
    await stage.admin.create(RESOURCE_CLAIMS, asked("c", wants()), namespace="default")
    await stage.add_pod("p", resourceClaims=USING)
    assert "2 cannot allocate all claims." in (await stage.condition("p"))["message"]
    await stage.admin.delete(DEVICE_TAINT_RULES, "sick")
    assert await stage.bound("p") == "n1"


async def test_pods_of_two_profiles_do_not_get_the_same_device(world: World) -> None:
    profiles = (Profile(), Profile("plain"))
    async with open_stage(world, configuration=SchedulerConfiguration(profiles=profiles)) as stage:
        await stage.add_node("n1")
        await stage.admin.create(DEVICE_CLASSES, device_class("gpu"))
        await publish(stage, "n1", device("a"))
        for name in ("c", "d"):
            await stage.admin.create(RESOURCE_CLAIMS, asked(name, wants()), namespace="default")
        using = {"c": "default-scheduler", "d": "plain"}
        # At once, so that one is decided while the other's allocation is being written.
        await asyncio.gather(
            *(
                stage.add_pod(
                    f"p-{name}", schedulerName=profile, resourceClaims=[{**USING[0], "resourceClaimName": name}]
                )
                for name, profile in using.items()
            )
        )
        assert await stage.bound("p-c") == "n1"
        assert "cannot allocate all claims" in (await stage.condition("p-d"))["message"]
        (one,) = [claim for claim in await own_claims(stage) if (claim.get("status") or {}).get("allocation")]
        assert one["metadata"]["name"] == "c"


async def test_the_node_with_the_alternative_that_is_preferred(stage: Stage) -> None:
    await stage.admin.create(DEVICE_CLASSES, device_class("gpu"))
    big = f'device.attributes["{DRIVER}"].model == "big"'
    small = f'device.attributes["{DRIVER}"].model == "small"'
    await publish(stage, "n1", device("a", model="small"))
    await publish(stage, "n2", device("b", model="big"))
    request = {"name": "r", "firstAvailable": [way("best", big), way("good", small)]}
    await stage.admin.create(RESOURCE_CLAIMS, asked("c", request), namespace="default")
    # Without the preference the fuller node would lose.
    await stage.add_pod("there", cpu="1", nodeName="n2")
    await stage.add_pod("p", cpu="100m", resourceClaims=USING)
    assert await stage.bound("p") == "n2"
    decision = stage.scheduler.decisions.of_pod("default/p")[0]
    (column,) = [column for column in decision.scores if column.plugin == "DynamicResources"]
    assert (column.weight, sorted(column.raw.tolist()), sorted(column.normalized.tolist())) == (2, [7, 8], [87, 100])


async def test_a_pod_that_goes_while_its_device_is_made_ready_leaves_nothing(stage: Stage) -> None:
    await stage.admin.create(DEVICE_CLASSES, device_class("gpu", extendedResourceName=GPU))
    await publish(stage, "n1", device("a", bindingConditions=["ready"], bindingFailureConditions=["failed"]))
    await stage.add_pod("p", **with_gpus(1))
    async with stage.world.clock.timeout(30):
        while not await own_claims(stage):
            await stage.world.clock.sleep(0.1)
    await stage.admin.delete(PODS, "p", namespace="default", grace_period_seconds=0)
    async with stage.world.clock.timeout(700):
        while await own_claims(stage):
            await stage.world.clock.sleep(1)
