"""Rollbacks that an annotation asks for, as upstream's rollback.go answers them, and what a Recreate waits for."""

from __future__ import annotations

from engine.api.types import DEPLOYMENTS, REPLICA_SETS, Object
from engine.client import Client
from engine.controllers.deployment import DeploymentController
from engine.world import World
from tests.controllers.cluster import PodHands, TestCluster, running, web

ROLLBACK = "deprecated.deployment.rollback.to"
NOTE = "example.com/note"


async def asked(cluster: TestCluster, revision: str) -> Object:
    """The Deployment when what the annotation asked for is done."""
    patch = {"metadata": {"annotations": {ROLLBACK: revision}}}
    await cluster.admin.patch(DEPLOYMENTS, "web", patch, namespace="default")

    async def done() -> Object | None:
        found = await cluster.admin.get(DEPLOYMENTS, "web", namespace="default")
        return None if ROLLBACK in found["metadata"]["annotations"] else found

    await cluster.eventually(f"{revision} is answered", done)
    return await cluster.available("web", 2)


async def test_an_annotation_asks_for_an_earlier_revision(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        first = web(2)
        first["metadata"]["annotations"] = {NOTE: "one"}
        await cluster.admin.create(DEPLOYMENTS, first, namespace="default")
        await cluster.available("web", 2)
        assert ROLLBACK not in (await asked(cluster, "0"))["metadata"]["annotations"]
        assert await cluster.events("DeploymentRollbackRevisionNotFound") == ["Unable to find last revision."]

        container = {"name": "web", "image": "nginx:1.28"}
        second: Object = {"spec": {"template": {"spec": {"containers": [container]}}}}
        second["metadata"] = {"annotations": {NOTE: "two"}}
        await cluster.admin.patch(DEPLOYMENTS, "web", second, namespace="default")
        await cluster.available("web", 2)
        for revision, image, note in (
            ("0", "nginx:1.27", "one"),
            ("2", "nginx:1.28", "two"),
            ("9", "nginx:1.28", "two"),
        ):
            found = await asked(cluster, revision)
            assert found["spec"]["template"]["spec"]["containers"][0]["image"] == image
            assert found["spec"]["template"]["metadata"]["labels"] == {"app": "web"}
            assert found["metadata"]["annotations"][NOTE] == note
        assert await cluster.events("DeploymentRollback") == [
            'Rolled back deployment "web" to revision 1',
            'Rolled back deployment "web" to revision 2',
        ]
        await asked(cluster, "4")
        same = 'The rollback revision contains the same template as current deployment "web"'
        assert await cluster.events("DeploymentRollbackTemplateUnchanged") == [same]
        assert "Unable to find the revision to rollback to." in (
            await cluster.events("DeploymentRollbackRevisionNotFound")
        )


async def test_a_recreate_waits_for_pods_that_only_their_replica_set_tells_of(world: World) -> None:
    async def given(admin: Client) -> None:
        deployment = await admin.create(DEPLOYMENTS, web(1, strategy={"type": "Recreate"}), namespace="default")
        owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": deployment["metadata"]["uid"]}
        old = web(0, image="nginx:1.26")
        metadata = {"name": "web-old", "labels": {"app": "web"}, "ownerReferences": [{**owner, "controller": True}]}
        made = {**old, "kind": "ReplicaSet", "metadata": metadata}
        await admin.create(REPLICA_SETS, made, namespace="default")
        await counted(admin, 1)

    async def counted(admin: Client, pods: int) -> None:
        status = {"status": {"replicas": pods}}
        await admin.patch(REPLICA_SETS, "web-old", status, namespace="default", subresource="status")

    async with running(world, controllers=(DeploymentController,), given=given) as cluster:
        await world.clock.sleep(5)
        assert len(await cluster.objects(REPLICA_SETS, namespace="default")) == 1
        await counted(cluster.admin, 0)

        async def made() -> bool:
            return len(await cluster.objects(REPLICA_SETS, namespace="default")) == 2

        await cluster.eventually("the new one is made", made)
