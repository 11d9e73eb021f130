"""Invariants while pods and nodes come, change and go (issue: no node over its allocatable, no hard rule broken at bind
time, no pod lost, none left waiting that fits)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import NODES, PODS, Object
from engine.api.wire import JSON_PATCH
from engine.client import Client
from engine.scheduler.node_info import NodeInfo
from engine.scheduler.pod_info import PodInfo
from engine.world import World
from tests.scheduler.random_cluster import Cluster
from tests.scheduler.rules import fits
from tests.scheduler.stage import Stage, open_stage

STEPS = 80


class Chaos:
    """Random writes, one after another."""

    def __init__(self, stage: Stage, seed: int) -> None:
        self.stage = stage
        self.cluster = Cluster(seed, nodes=0, pods=0)
        self.chance = random.Random(seed)
        self.made = 0

    @property
    def admin(self) -> Client:
        return self.stage.admin

    async def step(self) -> None:
        nodes, pods = (await self.admin.list(NODES)).items, (await self.admin.list(PODS)).items
        acts: list[Any] = [self.add_pod] * 5 + [self.add_node] * (2 if len(nodes) < 6 else 0)
        if nodes:
            acts += [self.cordon, self.relabel, self.taint]
        if pods:
            acts += [self.delete_pod] * 3
        act = self.chance.choice(acts)
        await (act() if act in (self.add_pod, self.add_node) else act(nodes if act != self.delete_pod else pods))
        await self.stage.world.clock.sleep(self.chance.choice((0, 0, 0.5, 3)))

    async def add_pod(self) -> None:
        self.made += 1
        wanted = self.cluster.pod(f"p{self.made}")
        wanted["spec"].pop("priority")
        await self.admin.create(PODS, wanted, namespace="default")

    async def add_node(self) -> None:
        self.made += 1
        made = self.cluster.node(self.made)
        await self.admin.create(NODES, made)
        taints = made["spec"].get("taints") or []
        await self._patch(made, "/spec/taints", taints)

    async def delete_pod(self, pods: list[Object]) -> None:
        name = self.chance.choice(pods)["metadata"]["name"]
        try:
            await self.admin.delete(PODS, name, namespace="default", grace_period_seconds=0)
        except ApiError as error:
            # A write of the scheduler's to a pod that is marked already may be what takes it away.
            if error.code != 404:
                raise

    async def cordon(self, nodes: list[Object]) -> None:
        where = self.chance.choice(nodes)
        await self._patch(where, "/spec/unschedulable", not where["spec"].get("unschedulable", False))

    async def relabel(self, nodes: list[Object]) -> None:
        where = self.chance.choice(nodes)
        await self._patch(where, "/metadata/labels/disk", self.chance.choice(("ssd", "hdd")))

    async def taint(self, nodes: list[Object]) -> None:
        where = self.chance.choice(nodes)
        taints = self.chance.choice(([], [{"key": "dedicated", "effect": "NoSchedule"}]))
        await self._patch(where, "/spec/taints", taints)

    async def _patch(self, where: Object, path: str, value: Any) -> None:
        patch = [{"op": "add", "path": path, "value": value}]
        await self.admin.patch(NODES, where["metadata"]["name"], patch, content_type=JSON_PATCH)


def over_allocatable(node: Object, pods: list[Object]) -> bool:
    """Whether any resource of the node is promised more than once, by the scheduler's own sums."""
    info = NodeInfo(node["metadata"]["name"], node, [PodInfo(p) for p in pods])
    return (
        info.requested.milli_cpu > info.allocatable.milli_cpu
        or info.requested.memory > info.allocatable.memory
        or len(pods) > info.allocatable.allowed_pods
        or any(amount > info.allocatable.get(name) for name, amount in info.requested.scalar.items())
    )


@pytest.mark.parametrize("seed", range(6))
async def test_invariants_hold_through_chaos(world: World, seed: int) -> None:
    async with open_stage(world) as stage:
        chaos = Chaos(stage, seed)
        for _ in range(STEPS):
            await chaos.step()
        # Time for back-offs, and far less than the five minutes after which everything is tried again anyway.
        await world.clock.sleep(30)
        nodes, pods = (await stage.admin.list(NODES)).items, (await stage.admin.list(PODS)).items
        bound = [p for p in pods if p["spec"].get("nodeName")]
        waiting = [p for p in pods if not p["spec"].get("nodeName")]
        for where in nodes:
            assert not over_allocatable(where, [p for p in bound if p["spec"]["nodeName"] == where["metadata"]["name"]])
        for lost in waiting:
            condition = next(c for c in lost["status"]["conditions"] if c["type"] == "PodScheduled")
            assert condition["reason"] == "Unschedulable"
            open_to = [n["metadata"]["name"] for n in nodes if fits(lost, n, nodes=nodes, pods=bound)]
            assert not open_to, f"{lost['metadata']['name']} waits ({condition['message']}) but fits {open_to}"
        assert bound
        assert not stage.scheduler.cache.assumed_pods
        assert len(stage.scheduler.cache) == len(bound)
        assert len(stage.scheduler.queue.in_flight) == 0
