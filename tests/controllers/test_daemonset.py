"""DaemonSets: where their Pods belong, how they are replaced, and a set end to end."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from engine.api.types import NODES, PODS, SERVICE_ACCOUNTS, Object
from engine.client import Client
from engine.controllers.daemonset.controller import DAEMON_SETS, DaemonSetController
from engine.controllers.daemonset.fitting import Fit, daemon_tolerations, fit, pinned_to
from engine.controllers.daemonset.planning import Plan, by_node, daemon_set_status, plan_nodes, plan_update
from engine.controllers.history import CONTROLLER_REVISIONS, template_patch
from engine.world import World
from tests.controllers.cluster import TestCluster, running
from tests.controllers.objects import pod

NOW = datetime(2026, 1, 1, 1, tzinfo=UTC)


def daemon_set(spec: Object | None = None, **fields: Any) -> Object:
    containers = [{"name": "c", "image": "agent"}]
    template = {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": containers, **(spec or {})}}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": template, **fields},
    }


def node(name: str, *taints: tuple[str, str], unschedulable: bool = False, **labels: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": [{"key": key, "effect": effect} for key, effect in taints], "unschedulable": unschedulable},
    }


def affinity(**expression: Any) -> Object:
    terms = [{"matchExpressions": [expression]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {"affinity": {"nodeAffinity": required}}


@pytest.mark.parametrize(
    ("spec", "on", "expected"),
    [
        pytest.param({}, node("n"), Fit(True, True), id="everywhere"),
        pytest.param({"nodeName": "other"}, node("n"), Fit(False, False), id="another node by name"),
        pytest.param({"nodeSelector": {"disk": "ssd"}}, node("n"), Fit(False, False), id="node selector"),
        pytest.param({"nodeSelector": {"disk": "ssd"}}, node("n", disk="ssd"), Fit(True, True), id="selected"),
        pytest.param(affinity(key="a", operator="In", values=["1"]), node("n", a="1"), Fit(True, True), id="affinity"),
        pytest.param(affinity(key="a", operator="Gt", values=["5"]), node("n", a="3"), Fit(False, False), id="not >"),
        pytest.param(affinity(key="a", operator="Gt", values=["5"]), node("n", a="7"), Fit(True, True), id="greater"),
        pytest.param({}, node("n", ("gpu", "NoSchedule")), Fit(False, True), id="not scheduled, not driven off"),
        pytest.param({}, node("n", ("gpu", "NoExecute")), Fit(False, False), id="driven off"),
        pytest.param({}, node("n", ("gpu", "PreferNoSchedule")), Fit(True, True), id="a preference only"),
        pytest.param(
            {"tolerations": [{"operator": "Exists"}]}, node("n", ("gpu", "NoExecute")), Fit(True, True), id="tolerated"
        ),
        pytest.param({}, node("n", ("node.kubernetes.io/not-ready", "NoExecute")), Fit(True, True), id="not ready"),
        pytest.param({}, node("n", ("node.kubernetes.io/unschedulable", "NoSchedule")), Fit(True, True), id="cordoned"),
        pytest.param(
            {}, node("n", ("node.kubernetes.io/network-unavailable", "NoSchedule")), Fit(False, True), id="no network"
        ),
        pytest.param(
            {"hostNetwork": True},
            node("n", ("node.kubernetes.io/network-unavailable", "NoSchedule")),
            Fit(True, True),
            id="no network needed",
        ),
    ],
)
def test_where_a_daemon_belongs(spec: Object, on: Object, expected: Fit) -> None:
    assert fit(daemon_set(spec), on) == expected


def test_a_toleration_of_the_same_taint_gives_way_to_that_of_daemons() -> None:
    brief = {
        "key": "node.kubernetes.io/not-ready",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 30,
    }
    other = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoSchedule"}
    found = daemon_tolerations({"tolerations": [brief, other]})
    forever = {key: value for key, value in brief.items() if key != "tolerationSeconds"}
    assert found[:2] == [forever, other]
    assert len(found) == 7


def daemon(on: str, *, hashed: str = "new", name: str = "", **fields: Any) -> Object:
    labels = {"app": "agent", "controller-revision-hash": hashed}
    metadata = {"labels": labels, **fields.pop("metadata", {})}
    return pod(name or f"agent-{on}-{hashed}", node=on, metadata=metadata, **fields)


def acts(changes: Plan) -> tuple[list[str], list[str]]:
    return changes.create, [each["metadata"]["name"] for each in changes.delete]


def nodes_planned(target: Object, nodes: list[Object], pods: list[Object]) -> Plan:
    return plan_nodes(target, nodes, by_node(pods), hashed="new", now=NOW)


def test_one_on_each_node_and_none_where_none_may_stay() -> None:
    nodes = [node("a"), node("b"), node("tainted", ("gpu", "NoExecute")), node("kept", ("gpu", "NoSchedule"))]
    waiting = pod("waiting", node="")
    waiting["spec"]["affinity"] = pinned_to(None, "gone")
    pods = [
        daemon("a"),
        daemon("a", name="younger", created="2026-01-01T00:10:00Z"),
        daemon("tainted"),
        daemon("kept"),
        waiting,
    ]
    assert acts(nodes_planned(daemon_set(), nodes, pods)) == (
        ["b"],
        ["younger", "agent-tainted-new", "waiting"],
    )


def test_a_pod_that_waits_for_the_scheduler_counts_for_the_node_it_is_meant_for() -> None:
    waiting = pod("waiting", node="")
    waiting["spec"]["affinity"] = pinned_to({"podAffinity": {}}, "a")
    assert waiting["spec"]["affinity"]["podAffinity"] == {}
    assert acts(nodes_planned(daemon_set(), [node("a")], [waiting])) == ([], [])


def test_failed_pods_are_told_apart() -> None:
    pods = [daemon("a", phase="Failed"), daemon("b", phase="Succeeded")]
    changes = nodes_planned(daemon_set(), [node("a"), node("b")], pods)
    assert [each["metadata"]["name"] for each in changes.failed] == ["agent-a-new"]
    assert [each["metadata"]["name"] for each in changes.succeeded] == ["agent-b-new"]
    assert acts(changes) == ([], [])


LEAVING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("rolling", "pods", "expected"),
    [
        pytest.param({}, ["old", "old", "old"], ([], ["agent-a-old"]), id="one at a time"),
        pytest.param({"maxUnavailable": 2}, ["old", "old", "old"], ([], ["agent-a-old", "agent-b-old"]), id="two"),
        pytest.param({"maxUnavailable": "50%"}, ["old"] * 3, ([], ["agent-a-old", "agent-b-old"]), id="half"),
        pytest.param({}, ["new", "old", "old"], ([], ["agent-b-old"]), id="the next"),
        pytest.param({}, ["new unready", "old", "old"], ([], []), id="waits for the new one"),
        pytest.param({}, ["old", "old unready", "old"], ([], ["agent-b-old"]), id="one that is down goes first"),
        pytest.param({}, ["new", "new", "new"], ([], []), id="through"),
        pytest.param({}, ["old leaving", "old", "old"], ([], []), id="one that leaves is one that is missing"),
        pytest.param({}, ["none", "old", "old"], ([], []), id="so is one that is not there"),
        pytest.param({"maxUnavailable": 2}, ["none", "old", "old"], ([], ["agent-b-old"]), id="and one more may go"),
        pytest.param({}, ["old unready"] * 3, ([], ["agent-a-old", "agent-b-old", "agent-c-old"]), id="all are down"),
        pytest.param({"maxSurge": 1, "maxUnavailable": 0}, ["old", "old", "old"], (["a"], []), id="a new one beside"),
        pytest.param(
            {"maxSurge": 1, "maxUnavailable": 0}, ["old", "old unready", "old"], (["b", "a"], []),
            id="surge: beside what is down, and one more",
        ),
        pytest.param(
            {"maxSurge": 2, "maxUnavailable": 0}, ["new", "old", "old leaving"], (["b"], []),
            id="surge: one that leaves is replaced otherwise",
        ),
    ],
)  # fmt: skip
def test_updates(rolling: Object, pods: list[str], expected: tuple[list[str], list[str]]) -> None:
    made = []
    for name, state in zip("abc", pods, strict=True):
        hashed, _, health = state.partition(" ")
        if hashed != "none":
            leaving: Object = {"metadata": LEAVING} if health == "leaving" else {}
            made.append(daemon(name, hashed=hashed, ready=health != "unready", **leaving))
    target = daemon_set(updateStrategy={"type": "RollingUpdate", "rollingUpdate": rolling})
    nodes = [node(name) for name in "abc"]
    assert acts(plan_update(target, nodes, by_node(made), hashed="new", now=NOW)) == expected


SURGE = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        pytest.param({"a": ["old"], "x": ["old unready"]}, (["a"], ["agent-x-old"]), id="one that is down goes"),
        pytest.param({"a": ["new unready"], "x": ["old"]}, ([], []), id="one that is up waits for another"),
        pytest.param({"a": ["new"], "x": ["old"]}, ([], ["agent-x-old"]), id="there is another"),
        pytest.param({"a": ["old"], "b": ["new"], "x": ["old"], "y": ["old"]}, (["a"], ["agent-x-old", "agent-y-old"]),
                     id="there are enough"),
        pytest.param({"a": ["new"], "x": ["old", "new"]}, ([], ["agent-x-old"]), id="a new one is there as well"),
    ],
)  # fmt: skip
def test_a_surge_leaves_nodes_where_none_should_run_when_there_are_enough_elsewhere(
    states: dict[str, list[str]], expected: tuple[list[str], list[str]]
) -> None:
    made = []
    for name, pods in states.items():
        for state in pods:
            hashed, _, health = state.partition(" ")
            made.append(daemon(name, hashed=hashed, ready=health != "unready"))
    nodes = [node(name) for name in states if name in "ab"]
    nodes += [node(name, ("gpu", "NoSchedule")) for name in states if name in "xy"]
    changes = plan_update(daemon_set(updateStrategy=SURGE), nodes, by_node(made), hashed="new", now=NOW)
    assert acts(changes) == expected


def test_a_pod_that_is_over_and_deleted_is_replaced_at_once() -> None:
    over = daemon("a", phase="Succeeded", metadata={**LEAVING, "finalizers": ["example.com/hold"]})
    assert acts(nodes_planned(daemon_set(), [node("a")], [over])) == (["a"], [])


def test_a_pod_of_the_current_generation_is_up_to_date_whatever_its_hash() -> None:
    target = daemon_set(updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}})
    target["metadata"]["annotations"] = {"deprecated.daemonset.template.generation": "3"}
    made = daemon("a", hashed="another")
    made["metadata"]["labels"]["pod-template-generation"] = "3"
    pods, nodes = by_node([made]), [node("a")]
    assert acts(plan_update(target, nodes, pods, hashed="new", now=NOW)) == ([], [])
    status = daemon_set_status(target, nodes, pods, hashed="new", collisions=None, observed=1, now=NOW)
    assert status["updatedNumberScheduled"] == 1


async def make_pod(admin: Client, labels: Object, owner: Object) -> None:
    """A Pod of a DaemonSet on node a."""
    await admin.create(SERVICE_ACCOUNTS, {"metadata": {"name": "default"}}, namespace="default")
    metadata = {"name": "agent-a", "labels": labels, "ownerReferences": [{**owner, "controller": True}]}
    pod = {"metadata": metadata, "spec": {"nodeName": "a", "containers": [{"name": "c", "image": "agent"}]}}
    await admin.create(PODS, pod, namespace="default")


async def test_revisions_that_pods_have_count_among_those_that_are_kept(world: World) -> None:
    async def given(admin: Client) -> None:
        made = daemon_set(revisionHistoryLimit=1, updateStrategy={"type": "OnDelete"})
        made = await admin.create(DAEMON_SETS, made, namespace="default")
        owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": made["metadata"]["uid"]}
        for number in (1, 2, 3):
            labels = {"app": "agent", "controller-revision-hash": f"h{number}"}
            metadata = {
                "name": f"agent-h{number}",
                "labels": labels,
                "ownerReferences": [{**owner, "controller": True}],
            }
            data = {"spec": {"template": {"$patch": "replace", "spec": {"priority": number}}}}
            revision = {"metadata": metadata, "data": data, "revision": number}
            await admin.create(CONTROLLER_REVISIONS, revision, namespace="default")
        await make_pod(admin, labels, owner)

    async with running(world, controllers=(DaemonSetController,), given=given) as cluster:

        async def forgotten() -> bool:
            found = await cluster.objects(CONTROLLER_REVISIONS, namespace="default")
            return {each["revision"] for each in found} == {3, 4}

        await cluster.eventually("the two that no Pod has are gone", forgotten)


async def test_of_revisions_with_the_same_template_one_is_left(world: World) -> None:
    async def given(admin: Client) -> None:
        made = daemon_set(updateStrategy={"type": "OnDelete"})
        made = await admin.create(DAEMON_SETS, made, namespace="default")
        owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": made["metadata"]["uid"]}
        labels = {"app": "agent", "controller-revision-hash": "agent-1"}
        for number in (1, 2):
            metadata: Object = {"name": f"agent-{number}", "ownerReferences": [{**owner, "controller": True}]}
            metadata["labels"] = {"app": "agent"}
            revision = {"metadata": metadata, "data": template_patch(made), "revision": number}
            await admin.create(CONTROLLER_REVISIONS, revision, namespace="default")
        await make_pod(admin, labels, owner)

    async with running(world, controllers=(DaemonSetController,), given=given) as cluster:
        await world.clock.sleep(5)
        revisions = await cluster.objects(CONTROLLER_REVISIONS, namespace="default")
        pods = await cluster.objects(PODS, namespace="default")
    assert [each["metadata"]["name"] for each in revisions] == ["agent-2"]
    assert {each["metadata"]["labels"]["controller-revision-hash"] for each in (*pods, *revisions)} == {"agent-2"}


def test_surge_removes_the_old_one_when_the_new_one_is_there() -> None:
    target = daemon_set(updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}})
    pods = by_node([daemon("a", hashed="old"), daemon("a"), daemon("b", hashed="old")])
    changes = plan_update(target, [node("a"), node("b")], pods, hashed="new", now=NOW)
    assert acts(changes) == (["b"], ["agent-a-old"])


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        pytest.param(["old", "new unready"], ([], []), id="the new one is not ready yet"),
        pytest.param(["old", "new"], ([], ["agent-a-old"]), id="the new one is there"),
        pytest.param(["old unready", "new unready"], ([], ["agent-a-old"]), id="neither is ready"),
        pytest.param(["old leaving"], (["a"], []), id="the old one leaves"),
    ],
)
def test_two_beside_each_other_in_a_surge(pods: list[str], expected: tuple[list[str], list[str]]) -> None:
    target = daemon_set(updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}})
    made = []
    for state in pods:
        hashed, _, health = state.partition(" ")
        leaving: Object = {"metadata": LEAVING} if health == "leaving" else {}
        made.append(daemon("a", hashed=hashed, ready=health != "unready", **leaving))
    assert acts(nodes_planned(target, [node("a")], made)) == expected


async def bind_and_run(cluster: TestCluster) -> None:
    """Scheduler and kubelets in one: each Pod on the Node that its affinity names, and ready."""
    for each in await cluster.objects(PODS, namespace="default"):
        name = each["metadata"]["name"]
        if each["metadata"].get("deletionTimestamp"):
            await cluster.admin.delete(PODS, name, namespace="default", grace_period_seconds=0)
        elif not each["spec"].get("nodeName"):
            terms = each["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            target = terms["nodeSelectorTerms"][0]["matchFields"][0]["values"][0]
            binding = {
                "apiVersion": "v1",
                "kind": "Binding",
                "metadata": {"name": name, "namespace": "default"},
                "target": {"kind": "Node", "name": target},
            }
            await cluster.admin.create(PODS, binding, namespace="default", name=name, subresource="binding")
        elif each["status"]["phase"] == "Pending":
            condition = {"type": "Ready", "status": "True", "lastTransitionTime": cluster.world.clock.timestamp()}
            status = {"phase": "Running", "conditions": [condition]}
            await cluster.admin.patch(PODS, name, {"status": status}, namespace="default", subresource="status")


async def test_a_daemon_set_follows_the_nodes_and_its_template(world: World) -> None:
    async with running(world) as cluster:
        for name in ("a", "b"):
            await cluster.admin.create(NODES, node(name))
        await cluster.admin.create(DAEMON_SETS, daemon_set(), namespace="default")

        async def settled(number: int) -> Object | None:
            await bind_and_run(cluster)
            found = await cluster.admin.get(DAEMON_SETS, "agent", namespace="default")
            status = found.get("status") or {}
            done = (
                status.get("observedGeneration") == found["metadata"]["generation"]
                and status.get("desiredNumberScheduled") == number
                and status.get("numberAvailable", 0) == status.get("updatedNumberScheduled", 0) == number
                and len(await cluster.objects(PODS, namespace="default")) == number
            )
            return found if done else None

        await cluster.eventually("both nodes run one", lambda: settled(2))
        await cluster.admin.create(NODES, node("c"))
        await cluster.eventually("the third does too", lambda: settled(3))
        image = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "agent:2"}]}}}}
        await cluster.admin.patch(DAEMON_SETS, "agent", image, namespace="default")
        await cluster.eventually("all are replaced", lambda: settled(3))
        pods = await cluster.objects(PODS, namespace="default")
        assert {each["spec"]["containers"][0]["image"] for each in pods} == {"agent:2"}
