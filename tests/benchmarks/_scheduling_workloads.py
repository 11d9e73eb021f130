"""Workloads after upstream's test/integration/scheduler_perf, with its templates: nodes of 4 CPU, 32 Gi and 110 Pods,
Pods of 100m and 500 Mi. At 500 nodes there are 500 Pods before and 1,000 are measured; at 5,000 as many as upstream's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from engine.api.persistent_volumes import CLAIMS, VOLUMES
from engine.api.types import GVR, NODES, PODS, SECRETS, SERVICES, Object
from engine.client import Client
from engine.scheduler.plugins.migrated_topology import CSI_NODES
from tests.benchmarks._scheduling import Measured, Stage, many, open_stage
from tests.scheduler.objects import affinity, container, near, node, pod, spread

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
PRIORITY_CLASSES = GVR("scheduling.k8s.io", "v1", "priorityclasses")
DRIVER = "ebs.csi.aws.com"
CHURN_SECONDS = 0.2

Make = Callable[[str], Object]
Work = Callable[[Client, str, int], Coroutine[Any, Any, None]]  # for so many Pods whose names begin so


@dataclass(frozen=True, slots=True)
class Workload:
    """`floor` is upstream's published threshold at 5,000 nodes in binds a second; `large` and `small` say how many
    Pods are there before and how many are measured."""

    floor: float
    make: Make
    make_before: Make | None = None
    zones: int = 1
    small: tuple[int, int] = (500, 1_000)
    large: tuple[int, int] = (1_000, 5_000)
    backlog: int = 0  # Pods that fit nowhere, made first
    prepare: Work | None = None  # done for the Pods that are measured, and for those before them
    beside: Callable[[Client], Coroutine[Any, Any, None]] | None = None
    classes: dict[str, int] = field(default_factory=dict)


def _basic(name: str, **fields: Any) -> Object:
    return pod(name, cpu="100m", memory="500Mi", **fields)


def _labelled(labels: dict[str, str], make: Callable[[], dict[str, Any]]) -> Make:
    return lambda name: _basic(name, labels=labels, **make())


def _node_affinity(name: str) -> Object:
    zones = [{"key": ZONE, "operator": "In", "values": ["zone1", "zone2"]}]
    required = {"nodeSelectorTerms": [{"matchExpressions": zones}]}
    return _basic(name, affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}})


_near = _labelled({"color": "blue"}, lambda: {"affinity": affinity(near=[near(ZONE, {"color": "blue"})])})
_far = _labelled({"color": "green"}, lambda: {"affinity": affinity(far=[near(HOST, {"color": "green"})])})
_prefer_near = _labelled(
    {"color": "red"}, lambda: {"affinity": affinity(prefer_near=[(1, near(HOST, {"color": "red"}))])}
)
_prefer_far = _labelled(
    {"color": "yellow"}, lambda: {"affinity": affinity(prefer_far=[(1, near(HOST, {"color": "yellow"}))])}
)


def _spread(hard: bool) -> Make:
    constraints = [spread(ZONE, {"color": "blue"}, max_skew=5, hard=hard)]
    return _labelled({"color": "blue"}, lambda: {"topologySpreadConstraints": constraints})


def _mixed(name: str) -> Object:
    kinds = (_basic, _near, _far, _prefer_near, _prefer_far)
    return kinds[int(name.rpartition("-")[2]) % len(kinds)](name)


def _with_secret(name: str) -> Object:
    return _basic(name, volumes=[{"name": "secret", "secret": {"secretName": "secret"}}])


def _with_claim(name: str) -> Object:
    return _basic(name, volumes=[{"name": "vol", "persistentVolumeClaim": {"claimName": f"pvc-{name}"}}])


def _low(name: str) -> Object:
    return pod(name, cpu="900m", memory="500Mi", priorityClassName="low", terminationGracePeriodSeconds=0)


def _high(name: str) -> Object:
    return pod(name, cpu="3000m", memory="500Mi", priorityClassName="high")


def _too_big(name: str) -> Object:
    return pod(name, containers=[container(requests={"cpu": "9", "memory": "500Mi"})])


async def _make_secret(client: Client, prefix: str, count: int) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "secret"}, "stringData": {"password": "x"}}
    if not (await client.list(SECRETS, namespace="default")).items:
        await client.create(SECRETS, secret, namespace="default")


async def _make_claims(client: Client, prefix: str, count: int) -> None:
    """A volume and a claim that are bound to one another for each Pod; the nodes attach 39 of the driver's."""

    async def add(i: int) -> None:
        await client.create(VOLUMES, _volume(f"{prefix}-{i}"))
        await client.create(CLAIMS, _claim(f"{prefix}-{i}"), namespace="default")

    await many(count, add)


def _volume(name: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"pv-{name}"},
        "spec": {
            "accessModes": ["ReadOnlyMany"],
            "capacity": {"storage": "1Gi"},
            "csi": {"driver": DRIVER, "volumeHandle": name},
            "persistentVolumeReclaimPolicy": "Retain",
            "claimRef": {"namespace": "default", "name": f"pvc-{name}"},
        },
    }


def _claim(name: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": f"pvc-{name}", "annotations": {"pv.kubernetes.io/bind-completed": "true"}},
        "spec": {
            "accessModes": ["ReadOnlyMany"],
            "resources": {"requests": {"storage": "1Gi"}},
            "volumeName": f"pv-{name}",
        },
    }


async def _churn(client: Client) -> None:
    """A node, a Pod that fits nowhere and a Service come and go (SchedulingWithMixedChurn)."""
    number = 0
    while True:
        name = f"churn-{number}"
        await client.create(NODES, node(name, cpu="4", memory="32Gi"))
        await client.create(PODS, _too_big(name), namespace="default")
        service = {"metadata": {"name": name}, "spec": {"selector": {"app": "foo"}, "ports": [{"port": 8080}]}}
        await client.create(SERVICES, service, namespace="default")
        await asyncio.sleep(CHURN_SECONDS)
        await client.delete(NODES, name)
        await client.delete(PODS, name, namespace="default")
        await client.delete(SERVICES, name, namespace="default")
        number += 1


WORKLOADS: dict[str, Workload] = {
    "SchedulingBasic": Workload(680, _basic, large=(1_000, 10_000)),
    "SchedulingNodeAffinity": Workload(220, _node_affinity, large=(5_000, 10_000)),
    "SchedulingPodAffinity": Workload(35, _near, large=(5_000, 5_000)),
    "SchedulingPodAntiAffinity": Workload(60, _far, small=(100, 400), large=(1_000, 2_000)),
    "SchedulingPreferredPodAffinity": Workload(90, _prefer_near, large=(5_000, 5_000)),
    "SchedulingPreferredPodAntiAffinity": Workload(90, _prefer_far, large=(5_000, 5_000)),
    "TopologySpreading": Workload(460, _spread(True), _basic, zones=3, large=(5_000, 5_000)),
    "PreferredTopologySpreading": Workload(340, _spread(False), _basic, zones=3, large=(5_000, 5_000)),
    "MixedSchedulingBasePod": Workload(140, _basic, _mixed, large=(5_000, 5_000)),
    "Unschedulable": Workload(590, _basic, backlog=200, large=(0, 10_000)),
    "SchedulingWithMixedChurn": Workload(710, _basic, large=(0, 10_000), beside=_churn),
    "SchedulingSecrets": Workload(790, _with_secret, large=(5_000, 5_000), prepare=_make_secret),
    "SchedulingCSIPVs": Workload(100, _with_claim, large=(5_000, 5_000), prepare=_make_claims),
    "PreemptionBasic": Workload(
        570, _high, _low, small=(2_000, 500), large=(20_000, 5_000), classes={"low": 1, "high": 10}
    ),
}


async def measure(name: str, nodes: int) -> Measured:
    """One workload on so many nodes."""
    workload = WORKLOADS[name]
    before, count = workload.small if nodes < 5_000 else workload.large
    async with open_stage() as stage:
        await _furnish(stage, workload, nodes)
        if before:
            await _prepare(stage, workload, "before", before)
            make = workload.make_before or workload.make
            await stage.add_pods([make(f"before-{i}") for i in range(before)])
            await stage.schedule(before)
        if workload.backlog:
            await stage.add_pods([_too_big(f"backlog-{i}") for i in range(workload.backlog)])
        await _prepare(stage, workload, "pod", count)
        await stage.add_pods([workload.make(f"pod-{i}") for i in range(count)])
        beside = workload.beside
        return await stage.schedule(count, (lambda: beside(stage.admin)) if beside is not None else None)


async def _furnish(stage: Stage, workload: Workload, nodes: int) -> None:
    for name, value in workload.classes.items():
        made = {"metadata": {"name": name}, "value": value}
        await stage.admin.create(PRIORITY_CLASSES, made)
    zones = [f"zone{i % workload.zones + 1}" for i in range(nodes)]
    await stage.add_nodes([node(f"node-{i}", cpu="4", memory="32Gi", labels={ZONE: zones[i]}) for i in range(nodes)])
    if workload.prepare is _make_claims:
        await many(nodes, lambda i: stage.admin.create(CSI_NODES, _csi_node(f"node-{i}")))


def _csi_node(name: str) -> Object:
    driver = {"name": DRIVER, "nodeID": name, "topologyKeys": [], "allocatable": {"count": 39}}
    return {"metadata": {"name": name}, "spec": {"drivers": [driver]}}


async def _prepare(stage: Stage, workload: Workload, prefix: str, count: int) -> None:
    if workload.prepare is not None:
        await workload.prepare(stage.admin, prefix, count)
