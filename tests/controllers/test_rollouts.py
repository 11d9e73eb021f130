"""Deployments end to end: from an apply to ready Pods, updates, scaling, pausing, failing and rolling back."""

from __future__ import annotations

from typing import Any

from engine.api.types import DEPLOYMENTS, PODS, REPLICA_SETS, Object
from engine.trace import Hop
from engine.world import World
from tests.controllers.cluster import PodHands, TestCluster, running, web

REVISION = "deployment.kubernetes.io/revision"


async def patch(cluster: TestCluster, spec: Any) -> Object:
    return await cluster.admin.patch(DEPLOYMENTS, "web", {"spec": spec}, namespace="default")


def image(name: str) -> Any:
    return {"template": {"spec": {"containers": [{"name": "web", "image": name}]}}}


async def test_a_deployment_becomes_available(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.admin.create(DEPLOYMENTS, web(), namespace="default")
        done = await cluster.available("web", 3)
        sets = await cluster.objects(REPLICA_SETS, namespace="default")
        name = sets[0]["metadata"]["name"]
        hashed = name.removeprefix("web-")
        assert sets[0]["metadata"]["labels"] == {"app": "web", "pod-template-hash": hashed}
        assert sets[0]["spec"]["selector"]["matchLabels"] == {"app": "web", "pod-template-hash": hashed}
        assert sets[0]["metadata"]["annotations"] == {
            "deployment.kubernetes.io/desired-replicas": "3",
            "deployment.kubernetes.io/max-replicas": "4",
            REVISION: "1",
        }
        assert done["metadata"]["annotations"][REVISION] == "1"
        conditions = {each["type"]: each for each in done["status"]["conditions"]}
        assert conditions["Available"]["reason"] == "MinimumReplicasAvailable"
        assert conditions["Progressing"]["message"] == f'ReplicaSet "{name}" has successfully progressed.'
        assert await cluster.events("ScalingReplicaSet") == [f"Scaled up replica set {name} from 0 to 3"]
        pods = await cluster.objects(PODS, namespace="default")
        created = [f"Created pod: {pod['metadata']['name']}" for pod in pods]
        assert sorted(await cluster.events("SuccessfulCreate")) == sorted(created)
        assert all(pod["metadata"]["name"].startswith(f"{name}-") for pod in pods)


async def test_a_rolling_update_replaces_all_pods_within_its_bounds(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.admin.create(DEPLOYMENTS, web(4), namespace="default")
        await cluster.available("web", 4)
        totals: list[tuple[int, int]] = []

        def watch(old: Object | None, new: Object | None, origin: Any) -> None:
            pods = [pod for pod in cluster.manager.informers.lister(PODS).list("default") if _alive(pod)]
            totals.append((len(pods), sum(_ready(pod) for pod in pods)))

        cluster.manager.informers.informer(PODS).add_handler(watch)
        totals.clear()
        await patch(cluster, image("nginx:1.28"))
        await cluster.available("web", 4)
        assert await cluster.sizes() == {"nginx:1.27": 0, "nginx:1.28": 4}
        assert max(total for total, _ in totals) == 5, "one surge Pod at most"
        assert min(ready for _, ready in totals) >= 3, "one unavailable at most"


def _alive(pod: Object) -> bool:
    return not pod["metadata"].get("deletionTimestamp")


def _ready(pod: Object) -> bool:
    conditions = pod["status"].get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


async def test_rolling_back_reuses_the_old_replica_set(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.admin.create(DEPLOYMENTS, web(2), namespace="default")
        await cluster.available("web", 2)
        await patch(cluster, image("nginx:1.28"))
        await cluster.available("web", 2)
        await patch(cluster, image("nginx:1.27"))
        done = await cluster.available("web", 2)
        assert done["metadata"]["annotations"][REVISION] == "3"
        sets = await cluster.objects(REPLICA_SETS, namespace="default")
        assert len(sets) == 2
        current = next(rs for rs in sets if rs["spec"]["replicas"] == 2)
        assert current["metadata"]["annotations"]["deployment.kubernetes.io/revision-history"] == "1"


async def test_scaling_says_from_and_to(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.admin.create(DEPLOYMENTS, web(3), namespace="default")
        await cluster.available("web", 3)
        await patch(cluster, {"replicas": 5})
        await cluster.available("web", 5)
        await patch(cluster, {"replicas": 1})
        await cluster.available("web", 1)
        name = (await cluster.objects(REPLICA_SETS, namespace="default"))[0]["metadata"]["name"]
        assert await cluster.events("ScalingReplicaSet") == [
            f"Scaled up replica set {name} from 0 to 3",
            f"Scaled up replica set {name} from 3 to 5",
            f"Scaled down replica set {name} from 5 to 1",
        ]
        assert len(await cluster.events("SuccessfulDelete")) == 4


async def test_recreate_never_runs_two_templates_at_once(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.admin.create(DEPLOYMENTS, web(3, strategy={"type": "Recreate"}), namespace="default")
        await cluster.available("web", 3)
        images: list[set[str]] = []

        def watch(old: Object | None, new: Object | None, origin: Any) -> None:
            pods = cluster.manager.informers.lister(PODS).list("default")
            images.append({pod["spec"]["containers"][0]["image"] for pod in pods})

        cluster.manager.informers.informer(PODS).add_handler(watch)
        await patch(cluster, image("nginx:1.28"))
        await cluster.available("web", 3)
        assert all(len(found) <= 1 for found in images)
        assert images[-1] == {"nginx:1.28"}


async def test_a_paused_deployment_scales_and_does_not_roll(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.admin.create(DEPLOYMENTS, web(2), namespace="default")
        await cluster.available("web", 2)
        await patch(cluster, {"paused": True, "replicas": 3, **image("nginx:1.28")})

        async def scaled() -> bool:
            return await cluster.sizes() == {"nginx:1.27": 3}

        await cluster.eventually("scaled while paused", scaled)
        found = await cluster.admin.get(DEPLOYMENTS, "web", namespace="default")
        conditions = {each["type"]: each for each in found["status"]["conditions"]}
        assert (conditions["Progressing"]["status"], conditions["Progressing"]["reason"]) == (
            "Unknown",
            "DeploymentPaused",
        )
        await patch(cluster, {"paused": False})
        await cluster.available("web", 3)
        assert await cluster.sizes() == {"nginx:1.27": 0, "nginx:1.28": 3}


async def test_a_rollout_that_does_not_get_on_runs_into_its_deadline(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster) as hands:
        await cluster.admin.create(DEPLOYMENTS, web(2, progressDeadlineSeconds=60), namespace="default")
        await cluster.available("web", 2)
        hands.ready = lambda pod: pod["spec"]["containers"][0]["image"] != "broken"
        began = cluster.now
        await patch(cluster, image("broken"))

        async def timed_out() -> Object | None:
            found = await cluster.admin.get(DEPLOYMENTS, "web", namespace="default")
            conditions = {each["type"]: each for each in found["status"]["conditions"]}
            condition: Object = conditions["Progressing"]
            return condition if condition["reason"] == "ProgressDeadlineExceeded" else None

        condition = await cluster.eventually("the deadline is exceeded", timed_out)
        assert condition["status"] == "False"
        assert 60 <= cluster.now - began <= 70
        assert (await cluster.sizes())["nginx:1.27"] == 2, "the old Pods go on"


async def test_old_revisions_are_cleaned_up(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.admin.create(DEPLOYMENTS, web(1, revisionHistoryLimit=1), namespace="default")
        for tag in ("1.28", "1.29", "1.30"):
            await cluster.available("web", 1)
            await patch(cluster, image(f"nginx:{tag}"))
        await cluster.available("web", 1)

        async def cleaned() -> bool:
            return await cluster.sizes() == {"nginx:1.29": 0, "nginx:1.30": 1}

        await cluster.eventually("one old revision is kept", cleaned)


async def test_min_ready_seconds_hold_a_rollout_back(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        began = cluster.now
        await cluster.admin.create(DEPLOYMENTS, web(2, minReadySeconds=30), namespace="default")
        await cluster.available("web", 2)
        assert 30 <= cluster.now - began <= 35


async def test_a_deleted_pod_is_replaced_and_an_orphan_is_adopted(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.admin.create(DEPLOYMENTS, web(2), namespace="default")
        await cluster.available("web", 2)
        pods = await cluster.objects(PODS, namespace="default")
        name = pods[0]["metadata"]["name"]
        await cluster.admin.delete(PODS, name, namespace="default")
        await cluster.gone(PODS, name)
        await cluster.available("web", 2)
        labels = pods[1]["metadata"]["labels"]
        orphan = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "orphan", "namespace": "default", "labels": labels},
            "spec": pods[1]["spec"],
        }
        orphan["spec"] = {"containers": [{"name": "web", "image": "nginx:1.27"}]}
        await cluster.admin.create(PODS, orphan, namespace="default")

        async def settled() -> bool:
            found = await cluster.objects(PODS, namespace="default")
            return len(found) == 2 and all(pod["metadata"].get("ownerReferences") for pod in found)

        await cluster.eventually("two Pods, both owned", settled)


async def test_a_pod_that_loses_its_label_is_released_and_replaced(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.admin.create(DEPLOYMENTS, web(1), namespace="default")
        await cluster.available("web", 1)
        name = (await cluster.objects(PODS, namespace="default"))[0]["metadata"]["name"]
        await cluster.admin.patch(PODS, name, {"metadata": {"labels": {"app": "debug"}}}, namespace="default")

        async def released() -> bool:
            pod = await cluster.find(PODS, name)
            return pod is not None and not pod["metadata"].get("ownerReferences")

        await cluster.eventually("the Pod has no owner", released)
        await cluster.available("web", 1)
        assert len(await cluster.objects(PODS, namespace="default")) == 2


async def test_what_a_reconcile_writes_carries_on_the_trace_that_woke_it(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        with world.tracer.span(Hop.CLIENT, component="kubectl", verb="apply") as keystroke:
            await cluster.admin.create(DEPLOYMENTS, web(1), namespace="default")
        await cluster.available("web", 1)
        spans = [span for span in world.tracer.recent if span.trace_id == keystroke.trace_id]
        reconciles = [(span.component, span.object.split("-")[0]) for span in spans if span.verb == "reconcile"]
        assert ("deployment-controller", "deployment/default/web") in reconciles
        assert ("replicaset-controller", "replicaset/default/web") in reconciles
        woken = [span for span in spans if span.verb == "reconcile" and span.component == "deployment-controller"]
        assert woken[0].woken_by
        assert woken[0].revision == woken[0].woken_by[0]
        assert woken[0].detail["desired"] == {"replicas": 1}


async def test_a_controllers_view_shows_its_queue_and_what_it_did(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        await cluster.admin.create(DEPLOYMENTS, web(1), namespace="default")
        await cluster.available("web", 1)
        view = world.views.look("controllers/replicaset-controller", {})
        assert view["queue"]["depth"] == 0
        assert view["reconciles"] >= 1
        assert view["last"][0]["desired"] == {"replicas": 1}
        assert view["last"][0]["outcome"] == "ok"
        informers = world.views.look("informers/kube-controller-manager/kube-controller-manager", {})
        assert all(informer["synced"] for informer in informers)
