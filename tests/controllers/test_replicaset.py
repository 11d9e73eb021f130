"""Which Pods a ReplicaSet deletes first, and its status (after controller_utils_test.go)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from engine.api.types import GVK, PODS, REPLICA_SETS, SERVICE_ACCOUNTS, Object
from engine.client import Client
from engine.controllers.hashing import template_hash
from engine.controllers.pod_control import pod_from_template
from engine.controllers.replicaset import ReplicaSetController
from engine.controllers.replicaset.ranking import pods_to_delete
from engine.controllers.replicaset.status import replica_set_status
from engine.rng import NAME_ALPHABET
from engine.world import World
from tests.controllers.cluster import running
from tests.controllers.objects import pod, replica_set, template

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
COST = "controller.kubernetes.io/pod-deletion-cost"


def cost(value: str) -> dict[str, Any]:
    return {"metadata": {"annotations": {COST: value}}}


def sidecar(restarts: int) -> dict[str, Any]:
    """Of two init containers the one that is restarted always; the other's restarts are nothing."""
    inits = [{"name": "proxy", "restartPolicy": "Always"}, {"name": "once"}]
    return {"initContainers": inits, "init_restarts": {"proxy": restarts, "once": 9 - restarts}}


def made(name: str, init_restarts: dict[str, int] | None = None, **fields: Any) -> Object:
    found = pod(name, **fields)
    statuses = [{"name": init, "restartCount": count} for init, count in (init_restarts or {}).items()]
    found["status"]["initContainerStatuses"] = statuses
    return found


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param({"node": ""}, {"ready": False}, id="unassigned before assigned"),
        pytest.param({"phase": "Pending", "ready": False}, {"ready": False}, id="pending before running"),
        pytest.param({"phase": "Pending", "ready": False}, {"phase": "Unknown", "ready": False}, id="before unknown"),
        pytest.param({"ready": False}, {}, id="not ready before ready"),
        pytest.param(cost("-5"), {}, id="low deletion cost before none"),
        pytest.param({}, cost("10"), id="no deletion cost before a high one"),
        pytest.param({"since": "2026-01-01T11:59:00Z"}, {"since": "2026-01-01T01:00:00Z"}, id="ready for less time"),
        pytest.param({"restarts": 3}, {"restarts": 1}, id="more restarts"),
        pytest.param(sidecar(2), sidecar(1), id="more restarts of a sidecar"),
        pytest.param({**sidecar(0), "restarts": 2}, {**sidecar(5), "restarts": 1}, id="restarts of others first"),
        pytest.param({"created": "2026-01-01T11:59:00Z"}, {"created": "2026-01-01T01:00:00Z"}, id="younger"),
    ],
)
def test_which_of_two_pods_goes(first: dict[str, Any], second: dict[str, Any]) -> None:
    goes, stays = made("goes", **first), made("stays", **second)
    for pods in ([goes, stays], [stays, goes]):
        assert pods_to_delete(pods, pods, count=1, now=NOW) == [goes]


def test_a_node_that_holds_more_of_the_same_owner_gives_up_one_first() -> None:
    crowded, alone = pod("crowded", node="node-1"), pod("alone", node="node-2")
    related = [crowded, alone, pod("sibling", node="node-1")]
    assert pods_to_delete([alone, crowded], related, count=1, now=NOW) == [crowded]


def test_ages_of_one_power_of_two_are_told_apart_by_uid_alone() -> None:
    a = pod("a", created="2026-01-01T06:00:00Z", metadata={"uid": "2"})
    b = pod("b", created="2026-01-01T06:30:00Z", metadata={"uid": "1"})
    assert pods_to_delete([a, b], [], count=1, now=NOW) == [b]


def test_status_counts() -> None:
    rs = replica_set("web", 3)
    rs["spec"]["minReadySeconds"] = 60
    rs["spec"]["template"] = template()
    pods = [
        pod("old", since="2026-01-01T11:00:00Z"),
        pod("fresh", since="2026-01-01T11:59:30Z"),
        pod("unready", ready=False, metadata={"labels": {}}),
    ]
    status = replica_set_status(rs, pods, terminating=1, failure=None, now=NOW)
    assert status == {
        "replicas": 3,
        "fullyLabeledReplicas": 2,
        "readyReplicas": 2,
        "availableReplicas": 1,
        "observedGeneration": 1,
        "terminatingReplicas": 1,
    }


@pytest.mark.parametrize(
    ("wanted", "reason", "message"),
    [
        pytest.param(3, "FailedCreate", "quota", id="too few"),
        pytest.param(0, "FailedDelete", "unable to delete pods: quota", id="too many"),
    ],
)
def test_a_failure_is_a_condition_until_it_is_over(wanted: int, reason: str, message: str) -> None:
    rs, pods = replica_set("web", wanted), [pod("a")]
    status = replica_set_status(rs, pods, terminating=None, failure=RuntimeError("quota"), now=NOW)
    condition = status["conditions"][0]
    assert condition == {
        "type": "ReplicaFailure",
        "status": "True",
        "reason": reason,
        "message": message,
        "lastTransitionTime": "2026-01-01T12:00:00Z",
    }
    rs["status"] = status
    assert "conditions" not in replica_set_status(rs, pods, terminating=None, failure=None, now=NOW)


def test_a_pod_of_a_template() -> None:
    made = pod_from_template(template(), replica_set("web-1", 1), GVK("apps", "v1", "ReplicaSet"))
    assert made["metadata"] == {
        "generateName": "web-1-",
        "labels": {"app": "web"},
        "ownerReferences": [
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": "web-1",
                "uid": "web-1-uid",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }
    assert made["spec"] == template()["spec"]


def test_the_template_hash_looks_like_one_and_tells_templates_and_collisions_apart() -> None:
    first: Object = template()
    hashes = {template_hash(first, None), template_hash(first, 1), template_hash(template("nginx:1.28"), None)}
    assert len(hashes) == 3
    assert template_hash(template(), None) == template_hash(first, None)
    assert all(8 <= len(each) <= 10 and set(each) <= set(NAME_ALPHABET) for each in hashes)


async def test_what_leaves_counts_as_far_as_it_is_selected(world: World) -> None:
    async def given(admin: Client) -> None:
        spec = {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": template()}
        rs = await admin.create(REPLICA_SETS, {"metadata": {"name": "web"}, "spec": spec}, namespace="default")
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": rs["metadata"]["uid"]}
        await admin.create(SERVICE_ACCOUNTS, {"metadata": {"name": "default"}}, namespace="default")
        for app in ("web", "other"):
            metadata = {"name": app, "labels": {"app": app}, "ownerReferences": [{**owner, "controller": True}]}
            leaving = {"metadata": metadata, "spec": {**template()["spec"], "nodeName": "node-1"}}
            await admin.create(PODS, leaving, namespace="default")
            await admin.delete(PODS, app, namespace="default")

    async with running(world, controllers=(ReplicaSetController,), given=given) as cluster:

        async def told() -> Object | None:
            status = (await cluster.admin.get(REPLICA_SETS, "web", namespace="default")).get("status") or {}
            return status if "terminatingReplicas" in status else None

        assert (await cluster.eventually("the status is written", told))["terminatingReplicas"] == 1
