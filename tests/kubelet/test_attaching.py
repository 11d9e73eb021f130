"""A Pod's containers wait until its CSI volumes are attached to the node."""

from __future__ import annotations

import pytest

from engine.api.csi_volumes import CSI_DRIVERS
from engine.api.types import GVR, NODES, Object
from engine.world import World
from tests.kubelet.node import NODE, Node, running

CLAIMS = GVR("", "v1", "persistentvolumeclaims")
VOLUMES = GVR("", "v1", "persistentvolumes")
CSI: Object = {"csi": {"driver": "disk.example.com", "volumeHandle": "h-1"}}


async def bind(node: Node, source: Object) -> None:
    """A claim, bound to a volume of this source."""
    volume: Object = {
        "metadata": {"name": "disk"},
        "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
            "claimRef": {"namespace": "default", "name": "data"}, **source,
        },
    }  # fmt: skip
    claim: Object = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"], "volumeName": "disk", "resources": {"requests": {"storage": "1Gi"}},
        },
    }  # fmt: skip
    await node.admin.create(VOLUMES, volume)
    await node.admin.create(CLAIMS, claim, namespace="default")


async def run(node: Node) -> None:
    await node.run(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])


async def test_a_pod_waits_for_its_volume_and_runs_as_soon_as_it_is_attached(world: World) -> None:
    async with running(world) as node:
        await bind(node, CSI)
        await run(node)
        await node.sleep(300)
        assert (await node.container())["state"] == {"waiting": {"reason": "ContainerCreating"}}
        attached = [{"name": "kubernetes.io/csi/disk.example.com^h-1", "devicePath": ""}]
        await node.admin.patch(NODES, NODE, {"status": {"volumesAttached": attached}}, subresource="status")
        before = node.now
        await node.in_phase("Running")
        assert node.now - before < 2, "it does not wait for a turn of its own"


UNATTACHED: dict[str, tuple[Object, Object | None]] = {
    "of no driver": ({"hostPath": {"path": "/data"}}, None),
    "of a driver that does without": (CSI, {"attachRequired": False}),
}


@pytest.mark.parametrize("case", UNATTACHED)
async def test_what_need_not_be_attached_is_not_waited_for(world: World, case: str) -> None:
    source, driver = UNATTACHED[case]
    async with running(world) as node:
        if driver is not None:
            await node.admin.create(CSI_DRIVERS, {"metadata": {"name": "disk.example.com"}, "spec": driver})
        await bind(node, source)
        await run(node)
        await node.in_phase("Running")


async def test_a_pod_that_waits_can_be_deleted(world: World) -> None:
    async with running(world) as node:
        await bind(node, CSI)
        await run(node)
        await node.sleep(5)
        await node.delete()
        await node.gone()
