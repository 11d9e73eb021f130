"""Coscheduling, the sample for Permit; DynamicResources and the releases that have it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from engine.api.types import NODES, PODS, Object
from engine.api.wire import MERGE_PATCH
from engine.scheduler.configuration.loading import load
from engine.scheduler.plugins.coscheduling import GROUP_LABEL, MIN_AVAILABLE_LABEL
from engine.scheduler.plugins.resource_claims import DEVICE_CLASSES, RESOURCE_CLAIMS, RESOURCE_SLICES
from engine.world import World
from tests.scheduler.devices import DRIVER, device, device_class, published, wants
from tests.scheduler.devices import claim as asked
from tests.scheduler.objects import taint
from tests.scheduler.stage import Stage, open_stage

GANGS = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: Coscheduling}]}}
  pluginConfig: [{name: Coscheduling, args: {permitWaitingTimeSeconds: 20}}]
"""


@pytest.fixture
async def stage(world: World) -> AsyncIterator[Stage]:
    async with open_stage(world, configuration=load(GANGS)) as made:
        yield made


def member(size: int = 3) -> dict[str, str]:
    return {GROUP_LABEL: "train", MIN_AVAILABLE_LABEL: str(size)}


async def bound(stage: Stage) -> set[str]:
    pods = (await stage.admin.list(PODS)).items
    return {p["metadata"]["name"] for p in pods if p["spec"].get("nodeName")}


async def test_a_gang_waits_for_its_last_member(stage: Stage) -> None:
    await stage.add_node("n1")
    for i in range(2):
        await stage.add_pod(f"t{i}", cpu="1", labels=member())
    await stage.add_pod("alone", cpu="1")
    await stage.bound("alone")
    await stage.world.clock.sleep(5)
    assert await bound(stage) == {"alone"}
    assert (await stage.condition("t0"))["message"].startswith(
        "0/1 nodes are available: pod group train has 2 of 3 pods."
    )
    await stage.add_pod("t2", cpu="1", labels=member())
    await stage.bound("t2")
    await stage.bound("t0")
    assert await bound(stage) == {"alone", "t0", "t1", "t2"}


async def test_a_gang_that_does_not_fit_as_a_whole_gives_its_nodes_back(stage: Stage) -> None:
    await stage.add_node("n1", cpu="2")
    for i in range(3):
        await stage.add_pod(f"t{i}", cpu="1", labels=member())
    await stage.world.clock.sleep(15)
    assert await bound(stage) == set()
    # Two members hold both CPUs while they wait for the third; once their time is over others have a turn.
    await stage.add_pod("other", cpu="2")
    await stage.until(lambda p: p["spec"].get("nodeName"), "other", seconds=120)
    await stage.admin.delete(PODS, "other", namespace="default", grace_period_seconds=0)
    await stage.add_node("n2", cpu="2")
    for i in range(3):
        await stage.until(lambda p: p["spec"].get("nodeName"), f"t{i}", seconds=300)


MORE_CPU = {"status": {"allocatable": {"cpu": "2"}, "capacity": {"cpu": "2"}}}


@pytest.mark.parametrize(
    ("there", "patch", "subresource"),
    [
        pytest.param({"cpu": "2", "unschedulable": True}, {"spec": {"unschedulable": None}}, "", id="uncordoned"),
        pytest.param({"cpu": "2", "taints": [taint("mine")]}, {"spec": {"taints": None}}, "", id="untainted"),
        pytest.param({"cpu": "0"}, MORE_CPU, "status", id="grown"),
    ],
)
async def test_a_gang_that_gave_up_is_tried_again_once_a_node_has_room_for_it(
    stage: Stage, there: dict[str, Any], patch: Object, subresource: str
) -> None:
    await stage.add_node("n1", cpu="2")
    await stage.add_node("n2", **there)
    for i in range(3):
        await stage.add_pod(f"t{i}", cpu="1", labels=member())
    # By now the gang has given up more than once.
    await stage.world.clock.sleep(90)
    assert await bound(stage) == set()
    await stage.admin.patch(NODES, "n2", patch, content_type=MERGE_PATCH, subresource=subresource)
    for i in range(3):
        await stage.until(lambda p: p["spec"].get("nodeName"), f"t{i}", seconds=60)


async def test_the_record_of_an_attempt_says_what_became_of_it_after_the_node_was_chosen(stage: Stage) -> None:
    def told() -> set[tuple[str, str]]:
        kept = (decision.summary() for decision in stage.scheduler.decisions.newest())
        return {(one["binding"], one["bindingMessage"]) for one in kept if one["result"] == "scheduled"}

    await stage.add_node("n1", cpu="2")
    for i in range(3):
        await stage.add_pod(f"t{i}", cpu="1", labels=member())
    await stage.world.clock.sleep(5)
    assert told() == {("waiting", "waits at Permit for Coscheduling")}
    await stage.world.clock.sleep(16)
    late = 'rejected due to timeout after waiting for plugin "Coscheduling"'
    assert ("failed", f"0/1 nodes are available: 1 {late}.") in told()
    await stage.add_node("n2", cpu="2")
    for i in range(3):
        await stage.until(lambda p: p["spec"].get("nodeName"), f"t{i}", seconds=300)
    assert ("bound", "") in told()


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("1.33.0", "preemption: "),
        ("1.34.0", "no new claims to deallocate, "),
        ("1.36.0", "no new claims to deallocate, "),
        ("1.37.0", "preemption: "),
    ],
)
async def test_which_releases_say_that_there_are_no_claims_to_give_up(world: World, version: str, words: str) -> None:
    async with open_stage(world, kubernetes_version=version) as made:
        await made.add_node("n1", cpu="1")
        await made.add_pod("p", cpu="2")
        message = (await made.condition("p"))["message"]
        assert message.removeprefix("0/1 nodes are available: 1 Insufficient cpu. ").startswith(words)


def claim(**status: Any) -> Object:
    made: Object = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "gpu"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpus"}}]}},
    }
    return {**made, "status": status} if status else made


CLAIMED = [{"name": "gpu", "resourceClaimName": "gpu"}]


async def test_claims_of_a_pod(world: World) -> None:
    async with open_stage(world) as made:
        await made.add_node("n1", labels={"gpus": "no"})
        await made.add_node("n2", labels={"gpus": "yes"})
        await made.add_pod("p", resourceClaims=CLAIMED)
        await made.world.clock.sleep(1)
        found = made.scheduler.queue.find("default/p")
        assert found is not None
        told = found[0].to_json()
        missing = 'could not find ResourceClaim "default/gpu"'
        assert (told["gatedBy"], told["gatedMessage"]) == ("DynamicResources", missing)
        written = await made.admin.create(RESOURCE_CLAIMS, claim(), namespace="default")
        condition = await made.condition("p")
        assert condition["message"].startswith("0/2 nodes are available: request r: device class gpus does not exist.")
        kind: Object = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": "gpus"},
            "spec": {},
        }
        await made.admin.create(DEVICE_CLASSES, kind)
        await made.until(lambda p: "cannot allocate all claims" in str(p["status"]), "p")
        term = {"matchExpressions": [{"key": "gpus", "operator": "In", "values": ["yes"]}]}
        device = {"request": "r", "driver": "example.com", "pool": "n2", "device": "gpu-0"}
        allocation = {"devices": {"results": [device]}, "nodeSelector": {"nodeSelectorTerms": [term]}}
        await made.admin.update_status(RESOURCE_CLAIMS, {**written, "status": {"allocation": allocation}})
        assert await made.bound("p") == "n2"
        (user,) = (await made.admin.get(RESOURCE_CLAIMS, "gpu", namespace="default"))["status"]["reservedFor"]
        assert (user["resource"], user["name"]) == ("pods", "p")


async def given(made: Stage, name: str) -> list[str]:
    """The devices of a claim."""
    status = (await made.admin.get(RESOURCE_CLAIMS, name, namespace="default")).get("status") or {}
    return [result["device"] for result in (status.get("allocation") or {"devices": {}})["devices"].get("results", [])]


async def test_devices_are_allocated_to_the_claims_of_pods(world: World) -> None:
    async with open_stage(world) as made:
        await made.add_node("n1")
        await made.add_node("n2")
        await made.admin.create(DEVICE_CLASSES, device_class("gpu", f'device.driver == "{DRIVER}"'))
        await made.admin.create(RESOURCE_SLICES, published(device("a"), name="s1", node="n1"))
        for i in (1, 2):
            await made.admin.create(RESOURCE_CLAIMS, asked(f"c{i}", wants()), namespace="default")
            await made.add_pod(f"p{i}", resourceClaims=[{"name": "gpu", "resourceClaimName": f"c{i}"}])
        assert await made.bound("p1") == "n1"
        assert await given(made, "c1") == ["a"]
        written = await made.admin.get(RESOURCE_CLAIMS, "c1", namespace="default")
        assert written["metadata"]["finalizers"] == ["resource.kubernetes.io/delete-protection"]
        assert [user["name"] for user in written["status"]["reservedFor"]] == ["p1"]
        condition = await made.condition("p2")
        assert condition["message"] == (
            "0/2 nodes are available: 2 cannot allocate all claims. "
            "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
        )
        # A further device lets the Pod fit at once, and a third Pod may use what the second one uses.
        await made.admin.create(RESOURCE_SLICES, published(device("b"), name="s2", node="n2"))
        assert await made.bound("p2") == "n2"
        await made.add_pod("p3", resourceClaims=[{"name": "gpu", "resourceClaimName": "c2"}])
        assert await made.bound("p3") == "n2"
        users = (await made.admin.get(RESOURCE_CLAIMS, "c2", namespace="default"))["status"]["reservedFor"]
        assert [user["name"] for user in users] == ["p2", "p3"]
        # Devices that are given up are somebody else's.
        await made.admin.create(RESOURCE_CLAIMS, asked("c4", wants()), namespace="default")
        await made.add_pod("p4", resourceClaims=[{"name": "gpu", "resourceClaimName": "c4"}])
        assert (await made.condition("p4"))["reason"] == "Unschedulable"
        await made.admin.update_status(RESOURCE_CLAIMS, {**written, "status": {}})
        assert await made.bound("p4") == "n1"
        assert await given(made, "c4") == ["a"]


async def test_a_selector_that_breaks_is_the_schedulers_error(world: World) -> None:
    async with open_stage(world) as made:
        await made.add_node("n1")
        await made.admin.create(DEVICE_CLASSES, device_class("gpu"))
        await made.admin.create(RESOURCE_SLICES, published(device("a")))
        broken = asked("c", wants("r", f'device.attributes["{DRIVER}"].none'))
        await made.admin.create(RESOURCE_CLAIMS, broken, namespace="default")
        await made.add_pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "c"}])
        condition = await made.condition("p")
        assert (condition["reason"], condition["message"]) == (
            "SchedulerError",
            'running "DynamicResources" filter plugin: claim default/c: selector #0 on device '
            "gpu.example.com/n1/a: CEL runtime error: no such key: none",
        )
