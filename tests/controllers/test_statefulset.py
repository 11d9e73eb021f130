"""StatefulSets: plans as upstream's stateful_set_control_test.go has them, and a set end to end."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from engine.api.persistent_volumes import CLAIMS
from engine.api.types import GVR, PODS, Object
from engine.controllers.features import promotes_revisions_on_delete
from engine.controllers.history import CONTROLLER_REVISIONS
from engine.controllers.statefulset.controller import STATEFUL_SETS
from engine.controllers.statefulset.identity import claims, make_pod
from engine.controllers.statefulset.planning import Plan, Revisions, plan, stateful_set_status
from engine.world import World
from tests.controllers.cluster import PodHands, TestCluster, running

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SERVICES = GVR("", "v1", "services")


def stateful_set(replicas: int = 3, **spec: Any) -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": "default", "uid": "set-uid", "generation": 1},
        "spec": {
            "replicas": replicas,
            "serviceName": "db",
            "selector": {"matchLabels": {"app": "db"}},
            "template": {
                "metadata": {"labels": {"app": "db"}},
                "spec": {"containers": [{"name": "c", "image": "postgres:17"}]},
            },
            **spec,
        },
    }


def revisions(set_: Object, current: str = "db-1", update: str = "db-1") -> Revisions:
    return Revisions(current, update, set_, set_)


def running_pod(set_: Object, ordinal: int, *, revision: str = "db-1", ready: bool = True, **metadata: Any) -> Object:
    pod = make_pod(set_, ordinal, revision)
    pod["metadata"] |= {"uid": f"pod-{ordinal}", **metadata}
    condition = {"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    pod["status"] = {"phase": "Running", "conditions": [condition]}
    return pod


def names(pods: list[Object]) -> list[str]:
    return [pod["metadata"]["name"] for pod in pods]


def acts(changes: Plan) -> tuple[list[str], list[str]]:
    return names(changes.create), names(changes.delete)


LEAVING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("replicas", "there", "created", "deleted"),
    [
        pytest.param(3, [], ["db-0"], [], id="the first"),
        pytest.param(3, [(0, {})], ["db-1"], [], id="the next when the first is ready"),
        pytest.param(3, [(0, {"ready": False})], [], [], id="none while the first is not ready"),
        pytest.param(3, [(0, {}), (2, {})], ["db-1"], [], id="a gap is filled"),
        pytest.param(3, [(0, LEAVING), (1, {}), (2, {})], [], [], id="waits for one that leaves"),
        pytest.param(1, [(0, {}), (1, {}), (2, {})], [], ["db-2"], id="the highest goes first"),
        pytest.param(1, [(0, {}), (1, {}), (2, LEAVING)], [], [], id="and the next waits for it"),
        pytest.param(1, [(0, {"ready": False}), (1, {})], [], [], id="nothing goes while one to stay is ill"),
        pytest.param(1, [(0, {}), (1, {"ready": False}), (2, {})], [], ["db-2"], id="a healthy one goes"),
        pytest.param(
            1, [(0, {}), (1, {"ready": False}), (2, {"ready": False})], [], [], id="an ill one waits for a lower one"
        ),
        pytest.param(1, [(0, {}), (1, {}), (2, {"ready": False})], [], ["db-2"], id="the ill one itself may go"),
    ],
)
def test_one_after_another(
    replicas: int, there: list[tuple[int, dict[str, Any]]], created: list[str], deleted: list[str]
) -> None:
    set_ = stateful_set(replicas)
    pods = [running_pod(set_, ordinal, **fields) for ordinal, fields in there]
    assert acts(plan(set_, revisions(set_), pods, NOW)) == (created, deleted)


def test_all_at_once() -> None:
    set_ = stateful_set(3, podManagementPolicy="Parallel")
    pods = [running_pod(set_, 1, ready=False), running_pod(set_, 4), running_pod(set_, 3)]
    assert acts(plan(set_, revisions(set_), pods, NOW)) == (["db-0", "db-2"], ["db-4", "db-3"])


def test_a_pod_that_is_over_is_replaced() -> None:
    set_ = stateful_set(1)
    pod = running_pod(set_, 0)
    pod["status"]["phase"] = "Failed"
    assert acts(plan(set_, revisions(set_), [pod], NOW)) == ([], ["db-0"])


@pytest.mark.parametrize(
    ("strategy", "updated", "deleted"),
    [
        pytest.param({"type": "RollingUpdate"}, [], ["db-3"], id="from the highest down"),
        pytest.param({"type": "RollingUpdate"}, [3], ["db-2"], id="one by one"),
        pytest.param({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}, [3, 2], [], id="to the partition"),
        pytest.param(
            {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}, [], ["db-3", "db-2"], id="two at a time"
        ),
        pytest.param({"type": "OnDelete"}, [], [], id="on delete"),
    ],
)
def test_updates(strategy: Object, updated: list[int], deleted: list[str]) -> None:
    set_ = stateful_set(4, updateStrategy=strategy)
    pods = [running_pod(set_, n, revision="db-2" if n in updated else "db-1") for n in range(4)]
    assert acts(plan(set_, revisions(set_, "db-1", "db-2"), pods, NOW)) == ([], deleted)


def test_a_missing_pod_below_the_partition_comes_back_as_it_was() -> None:
    set_ = stateful_set(2, updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 1}})
    created = plan(set_, revisions(set_, "db-1", "db-2"), [running_pod(set_, 1, revision="db-2")], NOW).create
    assert created[0]["metadata"]["labels"]["controller-revision-hash"] == "db-1"


def test_a_set_that_is_deleted_does_nothing_more() -> None:
    set_ = stateful_set(3)
    set_["metadata"] |= LEAVING
    pending = running_pod(set_, 0)
    pending["status"]["phase"] = "Pending"
    assert plan(set_, revisions(set_), [pending, running_pod(set_, 7)], NOW) == Plan(), (
        "no claims are made for it either"
    )


def test_claims_are_looked_at_as_far_as_the_pods_are_in_order() -> None:
    set_ = stateful_set(3)
    pods = [running_pod(set_, 0), running_pod(set_, 1, ready=False), running_pod(set_, 2), running_pod(set_, 5)]
    assert names(plan(set_, revisions(set_), pods, NOW).settle) == ["db-0"]
    pods[1] = running_pod(set_, 1)
    found = plan(set_, revisions(set_), pods, NOW)
    assert (names(found.settle), names(found.condemned)) == (["db-0", "db-1", "db-2"], ["db-5"])


BROKEN: dict[str, tuple[list[tuple[str, bool]], int, list[str]]] = {  # revision and readiness of each Pod, by ordinal
    "one that never came up": ([("db-1", False)], 1, ["db-0"]),
    "old ones do not count": ([("db-1", False), ("db-1", False), ("db-1", True)], 1, ["db-2"]),
    "new ones do": ([("db-1", True), ("db-1", True), ("db-2", False)], 1, []),
    "new ones as far as they go": ([("db-1", True), ("db-1", False), ("db-2", False)], 2, ["db-1"]),
}


@pytest.mark.parametrize("case", BROKEN)
def test_old_pods_that_are_broken_hold_up_no_update_where_pods_are_made_at_once(case: str) -> None:
    """Upstream's pull request 137666."""
    there, most, deleted = BROKEN[case]
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": most}}
    set_ = stateful_set(len(there), podManagementPolicy="Parallel", updateStrategy=strategy)
    pods = [running_pod(set_, n, revision=revision, ready=ready) for n, (revision, ready) in enumerate(there)]
    assert acts(plan(set_, revisions(set_, "db-1", "db-2"), pods, NOW)) == ([], deleted)


def test_all_at_once_an_update_goes_on_beside_pods_that_are_missing() -> None:
    """As far as they leave some of what may be unavailable."""
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}
    set_ = stateful_set(4, podManagementPolicy="Parallel", updateStrategy=strategy)
    pods = [running_pod(set_, ordinal) for ordinal in (0, 1, 3)]
    assert acts(plan(set_, revisions(set_, "db-1", "db-2"), pods, NOW)) == (["db-2"], ["db-3"])


def test_the_current_revision_moves_on_when_the_rollout_is_through() -> None:
    set_ = stateful_set(2)
    pods = [running_pod(set_, 0, revision="db-1"), running_pod(set_, 1, revision="db-2")]
    status = stateful_set_status(set_, revisions(set_, "db-1", "db-2"), pods, collisions=0, now=NOW)
    assert (status["currentRevision"], status["currentReplicas"], status["updatedReplicas"]) == ("db-1", 1, 1)
    pods[0] = running_pod(set_, 0, revision="db-2")
    status = stateful_set_status(set_, revisions(set_, "db-1", "db-2"), pods, collisions=0, now=NOW)
    assert (status["currentRevision"], status["currentReplicas"], status["updatedReplicas"]) == ("db-2", 2, 2)


@pytest.mark.parametrize(("version", "current"), [("1.36", ("db-1", 0)), ("1.37", ("db-2", 2))])
def test_the_current_revision_moves_on_too_where_somebody_deletes_the_pods(
    version: str, current: tuple[str, int]
) -> None:
    """Since 1.37 (upstream's pull request 136833): it stayed what it was."""
    set_ = stateful_set(2, updateStrategy={"type": "OnDelete"})
    promotes = promotes_revisions_on_delete(version)

    def told(*found: str) -> tuple[str, int]:
        pods = [running_pod(set_, ordinal, revision=revision) for ordinal, revision in enumerate(found)]
        status = stateful_set_status(
            set_, revisions(set_, "db-1", "db-2"), pods, collisions=0, now=NOW, promotes_on_delete=promotes
        )
        return status["currentRevision"], status.get("currentReplicas", 0)

    assert (told("db-2", "db-1"), told("db-2", "db-2")) == (("db-1", 1), current)


async def test_a_set_whose_pods_somebody_deletes_has_their_revision_when_all_are_new(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        set_ = stateful_set(2, updateStrategy={"type": "OnDelete"})
        set_["metadata"] = {"name": "db", "namespace": "default"}
        await cluster.admin.create(STATEFUL_SETS, set_, namespace="default")
        before = (await settled(cluster, 2))["status"]["currentRevision"]
        image = {"template": {"spec": {"containers": [{"name": "c", "image": "postgres:18"}]}}}
        await cluster.admin.patch(STATEFUL_SETS, "db", {"spec": image}, namespace="default")
        for ordinal in range(2):
            await cluster.admin.delete(PODS, f"db-{ordinal}", namespace="default", grace_period_seconds=0)
        assert (await settled(cluster, 2))["status"]["currentRevision"] != before


CLAIM: Object = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}


def test_identity_and_storage_of_a_pod() -> None:
    set_ = stateful_set(volumeClaimTemplates=[CLAIM], ordinals={"start": 5})
    pod = make_pod(set_, 5, "db-1")
    assert pod["metadata"]["labels"] == {
        "app": "db",
        "statefulset.kubernetes.io/pod-name": "db-5",
        "apps.kubernetes.io/pod-index": "5",
        "controller-revision-hash": "db-1",
    }
    assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("db-5", "db")
    assert pod["spec"]["volumes"] == [{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-5"}}]
    claim = claims(set_, pod)[0]
    assert (claim["metadata"]["name"], claim["metadata"]["labels"]) == ("data-db-5", {"app": "db"})
    assert plan(set_, revisions(set_), [], NOW).create[0]["metadata"]["name"] == "db-5"


async def test_pods_that_end_are_told_of_and_come_back(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        set_ = stateful_set(1)
        set_["metadata"] = {"name": "db", "namespace": "default"}
        await cluster.admin.create(STATEFUL_SETS, set_, namespace="default")
        await settled(cluster, 1)
        pod = await cluster.admin.get(PODS, "db-0", namespace="default")
        before = pod["metadata"]["uid"]
        assert pod["metadata"]["generateName"] == "db-"
        await cluster.admin.patch(
            PODS, "db-0", {"status": {"phase": "Failed"}}, namespace="default", subresource="status"
        )

        async def back() -> bool:
            found = await cluster.find(PODS, "db-0")
            return found is not None and found["metadata"]["uid"] != before

        await cluster.eventually("another one", back)
        message = "StatefulSet default/db is recreating failed Pod db-0"
        assert await cluster.events("RecreatingFailedPod") == [message]


async def settled(cluster: TestCluster, replicas: int) -> Object:
    async def through() -> Object | None:
        found = await cluster.admin.get(STATEFUL_SETS, "db", namespace="default")
        status = found.get("status") or {}
        done = (
            status.get("observedGeneration") == found["metadata"]["generation"]
            and status.get("availableReplicas", 0) == status.get("updatedReplicas", 0) == replicas
            and status.get("currentRevision") == status.get("updateRevision")
            and status.get("replicas", 0) == replicas
        )
        return found if done else None

    found: Object = await cluster.eventually(f"{replicas} of the set run", through)
    return found


async def test_a_set_comes_up_in_order_is_updated_from_the_end_and_keeps_its_claims(world: World) -> None:
    async with running(world) as cluster, PodHands(cluster):
        request = {"resources": {"requests": {"storage": "1Gi"}}}
        template = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], **request}}
        set_ = stateful_set(3, volumeClaimTemplates=[template])
        set_["metadata"] = {"name": "db", "namespace": "default"}
        await cluster.admin.create(STATEFUL_SETS, set_, namespace="default")
        await settled(cluster, 3)
        created = await cluster.events("SuccessfulCreate")
        assert [each for each in created if "create Pod" in each] == [
            f"create Pod db-{n} in StatefulSet db successful" for n in range(3)
        ]
        assert "create Claim data-db-0 Pod db-0 in StatefulSet db success" in created
        image = {"template": {"spec": {"containers": [{"name": "c", "image": "postgres:18"}]}}}
        await cluster.admin.patch(STATEFUL_SETS, "db", {"spec": image}, namespace="default")
        await settled(cluster, 3)
        assert await cluster.events("SuccessfulDelete") == [
            f"delete Pod db-{n} in StatefulSet db successful" for n in (2, 1, 0)
        ]
        kept = [each["data"]["spec"]["template"] for each in await cluster.objects(CONTROLLER_REVISIONS)]
        assert [list(each) for each in kept] == [["$patch", "metadata", "spec"]] * 2
        assert list(kept[0]["spec"]["containers"][0])[:3] == ["image", "imagePullPolicy", "name"]
        await cluster.admin.patch(STATEFUL_SETS, "db", {"spec": {"replicas": 1}}, namespace="default")
        await settled(cluster, 1)
        assert names(await cluster.objects(PODS, namespace="default")) == ["db-0"]
        assert len(await cluster.objects(CLAIMS, namespace="default")) == 3
