"""What-if with devices: dumps of older versions, extended resources, and what would make a Pod fit."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from engine.api.types import Object
from engine.scheduler.whatif import ClusterObjects, Simulation
from tests.scheduler.devices import claim, device, device_class, published, wants
from tests.scheduler.objects import container, node, pod
from tests.scheduler.test_whatif import simulate, why_not

GPU = "example.com/gpu"
USING: list[Object] = [{"name": "gpu", "resourceClaimName": "c"}]
NODES = [node("n1"), node("n2")]


def older(obj: Object, version: str) -> Object:
    """An object as an older server printed it."""
    made: Object = {**obj, "apiVersion": f"resource.k8s.io/{version}"}
    if version in ("v1beta2", "v1"):
        return made
    spec = made["spec"]
    if made["kind"] == "ResourceSlice":
        devices = [{"name": d["name"], "basic": {k: v for k, v in d.items() if k != "name"}} for d in spec["devices"]]
        if version == "v1alpha3":
            for each in devices:
                capacity = each["basic"].get("capacity") or {}
                each["basic"]["capacity"] = {name: amount["value"] for name, amount in capacity.items()}
        return {**made, "spec": {**spec, "devices": devices}}
    if made["kind"] == "ResourceClaim":
        requests = [{"name": r["name"], **r["exactly"]} for r in spec["devices"]["requests"]]
        return {**made, "spec": {"devices": {"requests": requests}}}
    return made


@pytest.mark.parametrize("version", ["v1alpha3", "v1beta1", "v1beta2", "v1"])
def test_a_dump_of_an_older_server(version: str) -> None:
    big = 'device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0'
    objects = [
        device_class("gpu"),
        published(device("a", capacity={"memory": "10Gi"}), name="s1", node="n1"),
        published(device("b", capacity={"memory": "80Gi"}), name="s2", node="n2"),
        claim("c", wants("r", big)),
    ]
    (outcome,) = simulate([*NODES, *(older(obj, version) for obj in objects)], pod("p", resourceClaims=USING))
    assert (outcome.node, outcome.message) == ("n2", "")


def test_an_older_budget_and_capacity_are_read_as_those_of_today() -> None:
    budget: Object = {
        "apiVersion": "policy/v1beta1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "x"}}},
        "status": {"disruptionsAllowed": 0},
    }
    there = [
        pod("a", cpu="4", node_name="n1", priority=0, labels={"app": "x"}),
        pod("b", cpu="4", node_name="n2", priority=1),
    ]
    (outcome,) = simulate([*NODES, budget, *there], pod("p", cpu="2", priority=10))
    assert (outcome.node, outcome.preempted, outcome.violations) == ("n2", ["default/b"], 0)


def with_gpu(name: str) -> Object:
    return pod(name, containers=[container(resources={"requests": {GPU: "1"}, "limits": {GPU: "1"}})])


def test_extended_resources_count_for_the_next_pod() -> None:
    objects = [device_class("gpu", extendedResourceName=GPU), published(device("a"), name="s1", node="n1")]
    first, second = simulate([*NODES, *objects], with_gpu("p"), with_gpu("q"))
    assert first.node == "n1"
    assert second.message.startswith("0/2 nodes are available: 2 cannot allocate all claims.")
    assert [found.remedies[0].action for found in second.remedies] == [
        f"free or add devices in reach of {name}: the claim for extended resources asks for 1 of class gpu"
        for name in ("n1", "n2")
    ]


FROM_TEMPLATE: list[Object] = [{"name": "gpu", "resourceClaimTemplateName": "t"}]


def claim_template(version: str = "v1") -> Object:
    request = wants() if version == "v1" else {"name": "r", "deviceClassName": "gpu"}
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "t", "namespace": "default"},
        "spec": {"metadata": {"labels": {"a": "b"}}, "spec": {"devices": {"requests": [request]}}},
    }


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_claims_are_made_from_templates_for_each_pod(version: str) -> None:
    devices = [published(device(f"d{i}"), name=f"s{i}", node=f"n{i}") for i in (1, 2)]
    there = [*NODES, device_class("gpu"), claim_template(version), *devices]
    placed = simulate(there, *(pod(f"p{i}", resourceClaims=FROM_TEMPLATE) for i in range(3)))
    assert [outcome.node for outcome in placed[:2]] in (["n1", "n2"], ["n2", "n1"])
    assert placed[2].message.startswith("0/2 nodes are available: 2 cannot allocate all claims.")
    assert "claim p2-gpu-1 asks for 1 of class gpu" in placed[2].remedies[0].remedies[0].action


def test_a_template_that_is_missing_is_told() -> None:
    (outcome,) = simulate(NODES, pod("p", resourceClaims=FROM_TEMPLATE))
    missing = 'resource claim template "t": resourceclaimtemplate.resource.k8s.io "t" not found'
    assert (outcome.node, outcome.gate) == ("", missing)


def test_a_pod_that_is_placed_again_gives_up_the_claim_that_was_made_for_it() -> None:
    there = [*NODES, device_class("gpu"), claim_template(), published(device("a"), name="s1", node="n1")]
    cluster = ClusterObjects.of_dump(there)
    simulation = Simulation(cluster)
    wanted = pod("p", resourceClaims=FROM_TEMPLATE)

    async def twice() -> list[str]:
        first = await simulation.place(wanted)
        simulation.take_away({**wanted, "metadata": {**wanted["metadata"], "namespace": "default"}})
        return [first.node, (await simulation.place(wanted)).node]

    assert asyncio.run(twice()) == ["n1", "n1"]


def restarting() -> Object:
    rule = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}
    return pod("p", containers=[container(restartPolicy="Never", restartPolicyRules=[rule])])


ELSEWHERE = claim(
    "c",
    wants(),
    status={
        "allocation": {
            "devices": {"results": [{"request": "r", "driver": "d", "pool": "x", "device": "a"}]},
            "nodeSelector": {
                "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}]
            },
        },
        "reservedFor": [
            {"resource": "pods", "name": "other", "uid": "u"},
            {"resource": "pods", "name": "q", "uid": "v"},
        ],
    },
)
WHY: dict[str, tuple[list[Object], Object, str]] = {
    "no devices": (
        [device_class("gpu"), claim("c", wants(count=2))],
        pod("p", resourceClaims=USING),
        "free or add devices in reach of n1: claim c asks for 2 of class gpu",
    ),
    "devices elsewhere": (
        [device_class("gpu"), ELSEWHERE],
        pod("p", resourceClaims=USING),
        "give up the devices of claim c, which n1 does not reach: stop other, q",
    ),
    "features": ([], restarting(), "run a kubelet on n1 that declares RestartAllContainersOnContainerExits"),
}


@pytest.mark.parametrize(("objects", "wanted", "expected"), WHY.values(), ids=WHY)
def test_what_would_make_it_fit(objects: list[Object], wanted: Object, expected: str) -> None:
    found: dict[str, Any] = why_not([node("n1"), *objects], wanted)
    assert found == {"n1": [expected]}
