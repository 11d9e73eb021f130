"""Taint evictions: what is told of deletions that are put off, called off, or no longer wait."""

from __future__ import annotations

from engine.api.types import NODES, PODS, SERVICE_ACCOUNTS, Object
from engine.controllers.tainteviction import TaintEvictionController
from engine.world import World
from tests.controllers.cluster import TestCluster, running

SOON: Object = {"key": "soon", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 20}
LATER: Object = {"key": "later", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}


async def make(cluster: TestCluster, name: str, *tolerations: Object) -> None:
    spec = {
        "nodeName": "node-1",
        "containers": [{"name": "c", "image": "busybox"}],
        "tolerations": list(tolerations),
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 0,
    }
    await cluster.admin.create(PODS, {"metadata": {"name": name}, "spec": spec}, namespace="default")


async def taint(cluster: TestCluster, *keys: str) -> None:
    taints = [{"key": key, "effect": "NoExecute"} for key in keys]
    await cluster.admin.patch(NODES, "node-1", {"spec": {"taints": taints or None}})


async def told(cluster: TestCluster, pod: str, *what: str) -> None:
    """Wait for exactly these events of the Pod, in order."""
    wanted = [f"{each} Pod default/{pod}" for each in what]

    async def same() -> bool:
        found = await cluster.events("TaintManagerEviction")
        return [each for each in found if each.endswith(f"/{pod}")] == wanted

    await cluster.eventually(f"of {pod} is told: {what}", same)


async def test_a_deletion_that_waits_is_kept_called_off_or_done_at_once(world: World) -> None:
    marking, cancelling = "Marking for deletion", "Cancelling deletion of"
    async with running(world, controllers=(TaintEvictionController,)) as cluster:
        await cluster.admin.create(SERVICE_ACCOUNTS, {"metadata": {"name": "default"}}, namespace="default")
        await cluster.admin.create(NODES, {"metadata": {"name": "node-1"}})
        for name, tolerations in {"kept": (SOON, LATER), "gone": (LATER,), "driven": (LATER,)}.items():
            await make(cluster, name, *tolerations)
        await taint(cluster, "later")
        await world.clock.sleep(5)
        await cluster.admin.delete(PODS, "gone", namespace="default", grace_period_seconds=0)
        await told(cluster, "gone", cancelling)

        began = cluster.now
        await taint(cluster, "later", "soon")
        await told(cluster, "driven", cancelling, marking)
        await cluster.gone(PODS, "kept")
        assert 50 <= cluster.now - began <= 60, "the time that ran already is what counts"
        await told(cluster, "kept", marking)
