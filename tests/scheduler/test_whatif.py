"""What-if: where Pods would go, and what would make them fit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from engine.api.types import Object, copy_object
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.whatif import ClusterObjects, DumpError, Outcome, Simulation, pods_of
from engine.scheduler.whatif.capacity import Capacity, capacity
from engine.scheduler.whatif.workloads import more_of
from tests.scheduler.objects import affinity, container, near, node, pod, spread, taint
from tests.scheduler.random_cluster import Cluster

ZONE = "topology.kubernetes.io/zone"


def simulate(objects: Sequence[Object], *pods: Object, **options: Any) -> list[Outcome]:
    cluster = ClusterObjects.of_dump(objects)
    simulation = Simulation(cluster, **options)

    async def place() -> list[Outcome]:
        return [await simulation.place(made) for obj in pods for made in pods_of(obj, cluster)]

    return asyncio.run(place())


def why_not(objects: Sequence[Object], wanted: Object) -> dict[str, list[str]]:
    """What would make the Pod fit, by node."""
    (outcome,) = simulate(objects, wanted)
    assert not outcome.node
    return {found.node: [remedy.action for remedy in found.remedies] for found in outcome.remedies}


def workload(kind: str, name: str, spec: Object, *, api: str = "apps/v1") -> Object:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def template(cpu: str = "1") -> Object:
    return {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container(requests={"cpu": cpu})]}}


# -- placing


def test_pods_count_for_those_after_them() -> None:
    nodes = [node("a", cpu="2"), node("b", cpu="2")]
    placed = simulate(nodes, workload("Deployment", "web", {"replicas": 5, "template": template()}))
    assert sorted(outcome.node for outcome in placed) == ["", "a", "a", "b", "b"]
    assert placed[4].message.startswith("0/2 nodes are available: 2 Insufficient cpu.")


def test_the_same_seed_places_the_same() -> None:
    nodes = [node(f"n{i}") for i in range(20)]
    deployment = workload("Deployment", "web", {"replicas": 10, "template": template()})
    first, again, other = (
        [(o.pod, o.node) for o in simulate(nodes, deployment, seed=seed)] for seed in ("x", "x", "y")
    )
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("obj", "names"),
    [
        (workload("StatefulSet", "db", {"replicas": 2, "template": template()}), ["default/db-0", "default/db-1"]),
        (
            workload("StatefulSet", "db", {"replicas": 1, "ordinals": {"start": 5}, "template": template()}),
            ["default/db-5"],
        ),
        (workload("DaemonSet", "agent", {"template": template()}), ["default/agent-", "default/agent-"]),
        (
            workload("Job", "sum", {"parallelism": 3, "completions": 2, "template": template()}, api="batch/v1"),
            ["default/sum-", "default/sum-"],
        ),
        (
            workload("CronJob", "night", {"jobTemplate": {"spec": {"template": template()}}}, api="batch/v1"),
            ["default/night-1-"],
        ),
        (workload("ReplicaSet", "rs", {"replicas": 0, "template": template()}), []),
        (pod("alone"), ["default/alone"]),
    ],
    ids=["statefulset", "ordinals", "daemonset", "job", "cronjob", "no replicas", "pod"],
)
def test_the_pods_of_a_workload(obj: Object, names: list[str]) -> None:
    placed = simulate([node("a", cpu="8"), node("b", cpu="8")], obj)
    assert len(placed) == len(names)
    assert all(outcome.pod.startswith(name) for outcome, name in zip(placed, names, strict=True))
    assert all(outcome.node for outcome in placed)


def test_a_daemonset_has_a_pod_on_each_node_that_it_means() -> None:
    nodes = [node("a"), node("b", taints=[taint("gpu")]), node("c", unschedulable=True), node("d", labels={"os": "x"})]
    made = template()
    assert sorted(o.node for o in simulate(nodes, workload("DaemonSet", "agent", {"template": made}))) == [
        "a",
        "c",
        "d",
    ]
    made["spec"]["nodeSelector"] = {"os": "x"}
    assert [o.node for o in simulate(nodes, workload("DaemonSet", "agent", {"template": made}))] == ["d"]


def test_claim_templates_are_made_and_volumes_are_used_up() -> None:
    storage = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "local"},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "disk"},
        "spec": {
            "capacity": {"storage": "10Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "nodeAffinity": {
                "required": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["b"]}]}
                    ]
                }
            },
        },
        "status": {"phase": "Available"},
    }
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "storageClassName": "local",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "5Gi"}},
        },
    }
    stateful = workload("StatefulSet", "db", {"replicas": 2, "template": template(), "volumeClaimTemplates": [claim]})
    first, second = simulate([node("a"), node("b"), storage, volume], stateful)
    assert first.node == "b"
    assert second.message.startswith("0/2 nodes are available: 2 node(s) didn't find available persistent volumes")
    assert second.remedies[0].remedies[0].action == (
        "offer a a PersistentVolume for claim data-db-1: 5Gi of class local for ReadWriteOnce"
    )


def test_preemption_is_followed_through() -> None:
    classes = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 1000,
    }
    there = [pod("low", cpu="2", node_name="a"), pod("mid", cpu="2", node_name="b", priority=10)]
    wanted, told = pod("vip", cpu="2", priorityClassName="high"), (("a", "low"), ("b", "mid"))
    (outcome,) = simulate([node("a", cpu="2"), node("b", cpu="2"), classes, *there], wanted)
    assert (outcome.node, outcome.preempted) == ("a", ["default/low"])
    # The candidates are told as they were when it was decided, though the victim has gone since.
    assert outcome.to_json()["decision"]["notes"]["candidates"] == [
        {"node": name, "victims": [f"default/{victim}"], "pdbViolations": 0} for name, victim in told
    ]


def test_gates_and_other_schedulers_are_told() -> None:
    gated = pod("p", schedulingGates=[{"name": "example.com/quota"}])
    assert simulate([node("a")], gated)[0].gate == "waiting for scheduling gates: [example.com/quota]"
    other = simulate([node("a")], pod("p", schedulerName="mine"))[0]
    assert other.gate == 'no profile serves schedulerName "mine"; there are: default-scheduler'


def test_the_scheduler_never_sees_a_pod_that_names_its_node() -> None:
    """It counts there all the same."""
    named, lost, after = pod("named", cpu="3", node_name="a"), pod("lost", node_name="z"), pod("after", cpu="2")
    outcomes = simulate([node("a", cpu="4")], pod("lost-too", node_name="z"), named, lost, after)
    assert [(outcome.node, outcome.gate) for outcome in outcomes[1:3]] == [
        (
            "",
            "spec.nodeName is a, so the scheduler never sees the Pod: the kubelet of that node takes it or rejects it",
        ),
        (
            "",
            "spec.nodeName is z, so the scheduler never sees the Pod: there is no such node, and the Pod garbage "
            "collector deletes it",
        ),
    ]
    assert outcomes[3].message.startswith("0/1 nodes are available: 1 Insufficient cpu.")


def test_limit_ranges_and_runtime_classes_count() -> None:
    limits = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "l", "namespace": "default"},
        "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "3"}}]},
    }
    sandbox = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "sandbox"},
        "handler": "x",
        "overhead": {"podFixed": {"cpu": "2"}},
    }
    nodes = [node("a", cpu="4"), limits, sandbox]
    assert simulate(nodes, pod("p"))[0].node == "a"
    assert simulate(nodes, pod("p", runtimeClassName="sandbox"))[0].message.startswith(
        "0/1 nodes are available: 1 Insufficient cpu."
    )


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (pod("p", priorityClassName="none"), "Pod p: no PriorityClass with name none was found"),
        (pod("p", runtimeClassName="none"), 'Pod p: pod rejected: RuntimeClass "none" not found'),
        (pod("p", nodeSelektor={"a": "b"}), 'Pod p: strict decoding error: unknown field "spec.nodeSelektor"'),
        ({"apiVersion": "v1", "kind": "Pod", "metadata": {}}, "a Pod has no metadata.name"),
        (workload("Deployment", "web", {}), "Deployment web: spec.template.spec: Required value"),
        (
            workload("Deployment", "web", {"templat": {}}),
            'Deployment web: strict decoding error: unknown field "spec.templat"',
        ),
        (
            workload("StatefulSet", "db", {"replicas": "two", "template": template()}),
            'StatefulSet db: StatefulSet in version "v1" cannot be handled as a StatefulSet: json: cannot unmarshal '
            "string into Go struct field StatefulSetSpec.spec.replicas of type int32",
        ),
    ],
    ids=["priority class", "runtime class", "unknown field", "name", "template", "field of a workload", "no number"],
)
def test_pods_that_cannot_be_are_refused(wanted: Object, message: str) -> None:
    with pytest.raises(DumpError, match=f"^{message.replace('(', '.').replace(')', '.')}$"):
        simulate([node("a")], wanted)


def in_namespaces(*names: str, phase: str = "Active") -> list[Object]:
    made = {"apiVersion": "v1", "kind": "Namespace", "status": {"phase": phase}}
    return [{**made, "metadata": {"name": name}} for name in names]


@pytest.mark.parametrize(
    ("there", "namespace", "message"),
    [
        pytest.param(in_namespaces("default", "shop"), "nowhere", 'namespaces "nowhere" not found', id="none"),
        pytest.param(
            in_namespaces("shop", phase="Terminating"),
            "shop",
            'pods "p" is forbidden: unable to create new content in namespace shop because it is being terminated',
            id="on its way out",
        ),
    ],
)
def test_a_pod_needs_its_namespace(there: list[Object], namespace: str, message: str) -> None:
    with pytest.raises(DumpError, match=f"^{message}$"):
        simulate([node("a"), *there], pod("p", namespace=namespace))


@pytest.mark.parametrize(
    ("there", "namespace"),
    [
        pytest.param(in_namespaces("default", "shop"), "shop", id="there"),
        pytest.param([], "nowhere", id="namespaces not known"),
        pytest.param(in_namespaces("shop"), "default", id="one that every cluster has"),
        pytest.param([*in_namespaces("shop"), pod("q", namespace="x")], "x", id="others have Pods there"),
    ],
)
def test_a_namespace_that_is_there_or_may_be(there: list[Object], namespace: str) -> None:
    assert simulate([node("a"), *there], pod("p", namespace=namespace))[0].node == "a"


def test_a_dump_without_nodes_is_refused() -> None:
    with pytest.raises(DumpError, match=r"^there are no Nodes in the dump: take it with .kubectl get nodes,pods"):
        ClusterObjects.of_dump([pod("p")])


# -- what would make it fit

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def wants_node(*expressions: Object) -> Object:
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}}}


def ported(port: int) -> list[Object]:
    return [container(ports=[{"containerPort": port, "hostPort": port, "protocol": "TCP"}])]


HOST = "kubernetes.io/hostname"
GPU = "example.com/gpu"
NAMED_B = {"key": "metadata.name", "operator": "In", "values": ["b"]}
HONORING = spread(HOST, {"app": "web"}, nodeTaintsPolicy="Honor", minDomains=2)


def with_gpu() -> list[Object]:
    return [container(resources={"limits": {GPU: "1"}, "requests": {GPU: "1"}})]


@pytest.mark.parametrize(
    ("nodes", "there", "wanted", "actions"),
    [
        (
            [node("a", cpu="4")],
            [pod("x", cpu="3500m", node_name="a")],
            pod("p", cpu="1"),
            ["free 500m cpu: the Pod asks for 1, 500m of 4 are free"],
        ),
        (
            [node("a", memory="1Gi")],
            [],
            pod("p", memory="2Gi"),
            ["ask for 1Gi less memory, or add a bigger node: the Pod asks for 2Gi, a has 1Gi in all"],
        ),
        (
            [node("a", pods=1)],
            [pod("x", node_name="a")],
            pod("p"),
            ["take 1 Pod from a: 1 run, 1 may"],
        ),
        (
            [node("a", taints=[taint("k", value="v"), taint("l", "NoExecute"), taint("m", "PreferNoSchedule")])],
            [],
            pod("p"),
            ["tolerate k=v:NoSchedule", "tolerate l:NoExecute"],
        ),
        ([node("a", unschedulable=True)], [], pod("p"), ["uncordon a"]),
        (
            [node("a", unschedulable=True, taints=[taint("node.kubernetes.io/unschedulable"), taint("k")])],
            [],
            pod("p"),
            ["uncordon a", "tolerate k:NoSchedule"],
        ),
        # The cordon's own taint goes with it: there is nothing more to mend.
        (
            [node("a", unschedulable=True, taints=[taint("node.kubernetes.io/unschedulable")])],
            [],
            pod("p"),
            ["uncordon a"],
        ),
        (
            [node("a")],
            [],
            pod("p", nodeSelector={"disk": "ssd"}),
            ["label a disk=ssd, as the Pod's nodeSelector asks"],
        ),
        (
            [node("a", labels={"arch": "arm", "cores": "4"})],
            [],
            pod(
                "p",
                affinity=wants_node(
                    {"key": "arch", "operator": "NotIn", "values": ["arm"]},
                    {"key": "cores", "operator": "Gt", "values": ["8"]},
                ),
            ),
            ["label a cores=9 and take label arch from a, as the Pod's node affinity asks"],
        ),
        (
            [node("a")],
            [pod("x", node_name="a", containers=ported(80))],
            pod("p", containers=ported(80)),
            ["free host port 80/TCP: default/x has it"],
        ),
        (
            [node("a", labels={ZONE: "z"})],
            [pod("x", node_name="a", labels={"app": "db"})],
            pod("p", affinity=affinity(far=[near(ZONE, {"app": "db"})])),
            [f"move default/x out of {ZONE}=z: the Pod's anti-affinity excludes app=db there"],
        ),
        (
            [node("a", labels={ZONE: "z"})],
            [pod("x", node_name="a", affinity=affinity(far=[near(ZONE, {"app": "web"})]))],
            pod("p", labels={"app": "web"}),
            ["move default/x, whose anti-affinity keeps the Pod out"],
        ),
        (
            [node("a", labels={ZONE: "z"})],
            [],
            pod("p", affinity=affinity(near=[near(ZONE, {"app": "db"})])),
            [f"run a Pod with app=db in {ZONE}=z: the Pod's affinity asks for one"],
        ),
        (
            [node("a")],
            [],
            pod("p", affinity=affinity(near=[near(ZONE, {"app": "db"})])),
            [f"label a {ZONE} as a node near a Pod with app=db: the Pod's affinity asks for one"],
        ),
        (
            [node("a")],
            [],
            pod("p", labels={"app": "db"}, affinity=affinity(near=[near(ZONE, {"app": "db"})])),
            [f"label a {ZONE}: the Pod's affinity goes by it"],
        ),
        (
            [node("a")],
            [],
            pod("p", labels={"app": "web"}, topologySpreadConstraints=[spread(ZONE, {"app": "web"})]),
            [f"label a {ZONE}: the Pod is spread over it"],
        ),
        (
            [node("a")],
            [],
            pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]),
            ["create PersistentVolumeClaim default/data"],
        ),
        # A machine does not become another one by its label.
        (
            [node("a", labels={ZONE: "x"})],
            [],
            pod("p", nodeSelector={ZONE: "y", "disk": "ssd"}),
            [
                f"let the Pod's nodeSelector ask for {ZONE}=x, as a has it",
                "label a disk=ssd, as the Pod's nodeSelector asks",
            ],
        ),
        (
            [node("a", labels={ZONE: "x"})],
            [],
            pod("p", affinity=wants_node({"key": ZONE, "operator": "In", "values": ["y", "z"]})),
            [f"let the Pod's node affinity admit a: it asks for {ZONE} in (y,z)"],
        ),
        (
            [node("a")],
            [],
            pod("p", affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchFields": [NAMED_B]}]}}}),
            ["let the Pod's node affinity admit a: it asks for metadata.name=b"],
        ),
        (
            [node("a", labels={ZONE: "x"})],
            [],
            pod("p", affinity=affinity(near=[near(ZONE, {"app": "db"})], far=[near(HOST, {"app": "db"})])),
            ["take app=db from the Pod's affinity or from its anti-affinity: it asks for one nearby and for none"],
        ),
        (
            [node("a")],
            [pod(f"x{i}", node_name="a", containers=with_gpu()) for i in range(2)],
            pod("p", containers=with_gpu()),
            [f"ask for 1 less {GPU}, or add a bigger node: the Pod asks for 1, a has 0 in all and -2 free"],
        ),
        (
            [node("a", cpu="2")],
            [pod("x", cpu="1", status={"nominatedNodeName": "a"})],
            pod("p", cpu="2"),
            ["free 1 cpu: the Pod asks for 2, 1 of 2 are free once default/x has come, nominated to the node"],
        ),
        (
            [node("a")],
            [pod("x", containers=ported(80), status={"nominatedNodeName": "a"})],
            pod("p", containers=ported(80)),
            ["free host port 80/TCP: default/x has it"],
        ),
        (
            [node("a", taints=[taint("k")])],
            [pod(f"x{i}", node_name="a", labels={"app": "web"}) for i in range(2)],
            pod("p", labels={"app": "web"}, topologySpreadConstraints=[HONORING]),
            [
                "tolerate k:NoSchedule",
                f"allow maxSkew 3 over {HOST} (now 1), or take 2 of the 2 Pods with app=web from {HOST}=a: "
                "the emptiest domain has 0",
            ],
        ),
    ],
    ids=[
        "cpu", "too big", "pods", "taints", "cordon", "cordon, taint", "its own taint", "selector", "affinity", "port",
        "anti-affinity", "existing anti-affinity", "pod affinity", "no topology label", "first of its kind",
        "spread label", "claim", "another zone", "another zone by affinity", "named node", "affinity against itself",
        "overcommitted", "nominated", "nominated port", "counts once tolerated",
    ],
)  # fmt: skip
def test_the_smallest_change(nodes: list[Object], there: list[Object], wanted: Object, actions: list[str]) -> None:
    assert list(why_not([*nodes, *there], wanted).values()) == [actions]


def test_the_smallest_change_of_a_skew() -> None:
    nodes = [node("a", labels={ZONE: "a"}), node("b", labels={ZONE: "b"}, unschedulable=True)]
    there = [pod(f"x{i}", node_name="a", labels={"app": "web"}) for i in range(3)]
    wanted = pod("p", labels={"app": "web"}, topologySpreadConstraints=[spread(ZONE, {"app": "web"})])
    assert why_not([*nodes, *there], wanted) == {
        "b": ["uncordon b"],
        "a": [
            f"allow maxSkew 4 over {ZONE} (now 1), or take 3 of the 3 Pods with app=web from {ZONE}=a: "
            "the emptiest domain has 0"
        ],
    }


def test_nodes_that_need_less_come_first_and_all_filters_are_told() -> None:
    nodes = [
        node("full", cpu="2", taints=[taint("k")]),
        node("small", cpu="1"),
        node("tainted", taints=[taint("k")]),
    ]
    there = [pod("x", cpu="1500m", node_name="full")]
    found = why_not([*nodes, *there], pod("p", cpu="2"))
    assert list(found) == ["tainted", "full", "small"]
    assert found["full"] == ["tolerate k:NoSchedule", "free 1500m cpu: the Pod asks for 2, 500m of 2 are free"]


class Mended:
    """A cluster and a Pod that are changed as remedies say."""

    def __init__(self, nodes: list[Object], pods: list[Object], wanted: Object) -> None:
        self.nodes = {n["metadata"]["name"]: copy_object(n) for n in nodes}
        self.pods = {PodInfo(p).key: p for p in pods}
        self.wanted = copy_object(wanted)

    def outcome(self) -> Outcome:
        return simulate([*self.nodes.values(), *self.pods.values()], self.wanted, preemption=False)[0]

    def apply(self, name: str, change: Object) -> None:
        target = self.nodes[name]
        for resource, amount in change.get("lacking", {}).items():
            grown = _amount(target["status"]["allocatable"].get(resource, "0"), resource) + amount
            target["status"]["allocatable"][resource] = f"{grown}m" if resource == "cpu" else str(grown)
        if "tolerate" in change:
            self.wanted["spec"].setdefault("tolerations", []).append(change["tolerate"])
        if "uncordon" in change:
            target["spec"].pop("unschedulable")
        for key, value in change.get("label", {}).items():
            target["metadata"]["labels"].pop(key, None)
            if value is not None:
                target["metadata"]["labels"][key] = value
        self.wanted["spec"].get("nodeSelector", {}).update(change.get("nodeSelector", {}))
        if "labelKey" in change:
            target["metadata"]["labels"][change["labelKey"]] = "new"
        for key in change.get("removePods", ()):
            self.pods.pop(key, None)
        if "addPod" in change:
            label, _, value = change["addPod"].partition("=")
            made = pod(f"added-{len(self.pods)}", node_name=name, labels={label: value})
            self.pods[PodInfo(made).key] = made
        if "maxSkew" in change:
            for constraint in self.wanted["spec"]["topologySpreadConstraints"]:
                if constraint["topologyKey"] == change["topologyKey"]:
                    constraint["maxSkew"] = max(constraint["maxSkew"], change["maxSkew"])


def _amount(text: str, resource: str) -> int:
    from engine.scheduler.resource import milli, whole

    return milli(text) if resource == "cpu" else whole(text)


@pytest.mark.parametrize("seed", range(300, 330))
def test_doing_what_a_remedy_says_makes_the_pod_fit(seed: int) -> None:
    cluster = Cluster(seed, nodes=6, pods=30)
    tried = 0
    for number in range(12):
        wanted = cluster.pod(f"new-{number}")
        first = Mended(cluster.nodes, cluster.pods, wanted).outcome()
        for found in first.remedies[:3]:
            mended = Mended(cluster.nodes, cluster.pods, wanted)
            rounds, remedies = 0, found.remedies
            # A further Pod may be in the way itself: what is left then is told by the next round.
            while remedies and rounds < 4:
                rounds += 1
                for remedy in remedies:
                    mended.apply(found.node, remedy.change)
                outcome = mended.outcome()
                remedies = next((n.remedies for n in outcome.remedies if n.node == found.node), [])
                kinds = {kind for remedy in found.remedies for kind in remedy.change}
                assert not remedies or "addPod" in kinds, (wanted, remedies)
            assert outcome.node, (wanted, [r.action for r in found.remedies], outcome.message)
            tried += 1
    assert tried or all(Mended(cluster.nodes, cluster.pods, cluster.pod(f"p{i}")).outcome().node for i in range(3))


# -- capacity


def ask_capacity(objects: Sequence[Object], wanted: Object, *, limit: int = 100) -> Capacity:
    cluster = ClusterObjects.of_dump(objects)
    simulation = Simulation(cluster, preemption=False)
    return asyncio.run(capacity(simulation, more_of(wanted, cluster, limit)))


def test_how_many_more_fit_and_what_runs_out() -> None:
    nodes = [node("a", cpu="4"), node("b", cpu="2", pods=3), node("c", taints=[taint("k")])]
    found = ask_capacity([*nodes, pod("x", cpu="1", node_name="a")], pod("p", cpu="500m"))
    assert (found.count, found.nodes, found.limited) == (9, {"a": 6, "b": 3}, False)
    assert found.reasons == {"Insufficient cpu": 1, "Too many pods": 1, "node(s) had untolerated taint(s)": 1}


def test_what_runs_out_is_told_of_the_nodes_that_had_room() -> None:
    """Not of those that take none of the Pods whatever they have, though they are more."""
    nodes = [node("a", cpu="1"), *(node(name, unschedulable=True) for name in "bcd")]
    found = ask_capacity(nodes, pod("p", cpu="500m"))
    assert (found.count, found.spent, found.first) == (2, {"Insufficient cpu": 1}, "Insufficient cpu")
    assert found.had_room == 1
    none = ask_capacity(nodes[1:], pod("p"))
    assert (none.count, none.spent, none.first) == (0, {}, "node(s) were unschedulable")


def test_each_replica_that_is_counted_has_claims_of_its_own_beside_those_that_are_there() -> None:
    """One claim for all would have held them to the node of the first."""
    claims = [{"metadata": {"name": "data"}, "spec": sized("local")}]
    stateful = workload("StatefulSet", "db", {"template": template(), "volumeClaimTemplates": claims})
    disks = [local_volume(f"disk-{i}", host) for i, host in enumerate("aab")]
    there = pod("db-0", node_name="a", cpu="1")
    found = ask_capacity([node("a"), node("b"), storage_class("local"), *disks, there], stateful)
    assert (found.pod, found.count, found.nodes) == ("default/db-1", 3, {"a": 2, "b": 1})
    assert found.first == "node(s) didn't find available persistent volumes to bind"
    assert [r.change for r in found.remedies[0].remedies] == [{"volumeFor": "data-db-4"}]


def test_capacity_evicts_nobody_and_ends_at_its_limit() -> None:
    nodes, low = [node("a", cpu="4")], pod("low", cpu="4", node_name="a")
    assert ask_capacity([*nodes, low], pod("p", cpu="1", priority=100)).count == 0
    limited = ask_capacity(nodes, pod("p"), limit=7)
    assert (limited.count, limited.limited) == (7, True)


def test_no_two_replicas_have_the_same_made_up_name() -> None:
    """Nor may a copy have the name of a Pod that is there."""
    cluster = ClusterObjects.of_dump([node("a"), pod("p-2", node_name="a")])
    replicas = workload("ReplicaSet", "web", {"template": template()})
    names = [made["metadata"]["name"] for made in more_of(replicas, cluster, 10_000)]
    assert len(set(names)) == 10_000
    assert names == [made["metadata"]["name"] for made in more_of(replicas, cluster, 10_000)]
    copies = [made["metadata"]["name"] for made in more_of(pod("p"), cluster, 3)]
    assert copies == ["p-1", "p-3", "p-4"]


def test_a_count_that_ends_in_an_error_is_told_from_one_that_ends_for_want_of_room() -> None:
    simulation = Simulation(ClusterObjects.of_dump([node("a")]), preemption=False)
    twice = asyncio.run(capacity(simulation, [pod("p"), pod("p")]))
    assert (twice.count, twice.failed) == (1, True)
    assert twice.message == "pod default/p(default/p) is in the cache, so can't be assumed"
    assert not ask_capacity([node("a", cpu="1")], pod("p", cpu="1")).failed


# -- volumes

DRIVER = "csi.example.com"


def volume(name: str, *, zone: str = "", reach: str = "", **spec: Any) -> Object:
    """A volume bound to the claim of the same name."""
    made: Object = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"pv-{name}", "labels": {ZONE: zone} if zone else {}},
        "spec": {"capacity": {"storage": "1Gi"}, "csi": {"driver": DRIVER, "volumeHandle": name}, **spec},
    }
    if reach:
        expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": [reach]}
        made["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    return made


def claim(name: str, *, mode: str = "ReadWriteOnce", bound: bool = True) -> Object:
    annotations = {"pv.kubernetes.io/bind-completed": "yes"} if bound else {}
    spec: Object = {"accessModes": [mode], "resources": {"requests": {"storage": "1Gi"}}}
    if bound:
        spec["volumeName"] = f"pv-{name}"
    metadata = {"name": name, "namespace": "default", "annotations": annotations}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def sized(name: str, size: str = "1Gi") -> Object:
    """What a claim of a class asks for."""
    return {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
        "storageClassName": name,
        "volumeMode": "Filesystem",
    }


def waiting(name: str, storage: str, size: str = "1Gi", *, selected: str = "") -> Object:
    """A claim that waits for its first Pod."""
    metadata: Object = {"name": name, "namespace": "default"}
    if selected:
        metadata["annotations"] = {"volume.kubernetes.io/selected-node": selected}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": sized(storage, size)}


def storage_class(name: str, provisioner: str = "kubernetes.io/no-provisioner") -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def local_volume(name: str, host: str, storage: str = "local") -> Object:
    spec: dict[str, Any] = {"accessModes": ["ReadWriteOnce"], "storageClassName": storage, "volumeMode": "Filesystem"}
    return volume(name, reach=host, **spec) | {"status": {"phase": "Available"}}


def user(name: str, *claims: str, **fields: Any) -> Object:
    return pod(name, volumes=[{"name": c, "persistentVolumeClaim": {"claimName": c}} for c in claims], **fields)


def csi_node(name: str, count: int) -> Object:
    driver = {"name": DRIVER, "nodeID": name, "allocatable": {"count": count}}
    spec = {"drivers": [driver]}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": name}, "spec": spec}


@pytest.mark.parametrize(
    ("objects", "wanted", "action"),
    [
        (
            [volume("x", reach="b"), claim("x")],
            user("p", "x"),
            "use another volume than pv-x: it is reached from nodes with kubernetes.io/hostname=b alone",
        ),
        ([volume("x", zone="west"), claim("x")], user("p", "x"), f"use another volume than pv-x: it is in {ZONE}=west"),
        (
            [volume("x"), claim("x"), volume("y"), claim("y"), user("there", "y", node_name="a"), csi_node("a", 1)],
            user("p", "x"),
            f"detach 1 of the volumes of {DRIVER} from a: it may have 1",
        ),
        (
            [volume("x"), claim("x", mode="ReadWriteOncePod"), user("there", "x", node_name="a")],
            user("p", "x"),
            "stop default/there: a ReadWriteOncePod claim has one user",
        ),
        (
            [claim("x", bound=False)],
            user("p", "x"),
            "bind claim x first: offer a PersistentVolume of 1Gi of class - for ReadWriteOnce",
        ),
        # Of several claims only those are told of that are in the way.
        (
            [volume("x", zone="west"), claim("x"), volume("y", zone="east"), claim("y")],
            user("p", "x", "y"),
            f"use another volume than pv-x: it is in {ZONE}=west",
        ),
        (
            [storage_class("local"), local_volume("v", "a"), waiting("x", "local"), waiting("y", "local", "5Gi")],
            user("p", "x", "y"),
            "offer a a PersistentVolume for claim y: 5Gi of class local for ReadWriteOnce",
        ),
        (
            [storage_class("made", DRIVER), waiting("x", "made", selected="b"), waiting("y", "made")],
            user("p", "x", "y"),
            "use another claim than x: a volume is being provisioned for it on b",
        ),
        (
            [
                *(volume("x"), claim("x", mode="ReadWriteOncePod"), user("one", "x", node_name="a")),
                *(volume("y"), claim("y", mode="ReadWriteMany"), user("other", "y", node_name="a")),
            ],
            user("p", "x", "y"),
            "stop default/one: a ReadWriteOncePod claim has one user",
        ),
        (
            [
                pod("one", node_name="a", volumes=[{"name": "v", "gcePersistentDisk": {"pdName": "d"}}]),
                pod("other", node_name="a", volumes=[{"name": "v", "gcePersistentDisk": {"pdName": "e"}}]),
            ],
            pod("p", volumes=[{"name": "v", "gcePersistentDisk": {"pdName": "d"}}]),
            "stop default/one on a: a disk can be mounted there once",
        ),
    ],
    ids=[
        *("out of reach", "zone", "limit", "one user", "not bound", "one of two zones", "one of two claims"),
        *("provisioned elsewhere", "one of two users", "disk"),
    ],
)
def test_the_smallest_change_for_a_volume(objects: list[Object], wanted: Object, action: str) -> None:
    (outcome,) = simulate([node("a", labels={ZONE: "east"}), *objects], wanted, preemption=False)
    assert [remedy.action for found in outcome.remedies for remedy in found.remedies] == [action]


def test_a_claim_that_binds_at_once_is_provisioned_as_its_class_would() -> None:
    storage = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "std", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": DRIVER,
        "volumeBindingMode": "Immediate",
    }
    claims = [{"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "5Gi"}}}}]
    stateful = workload("StatefulSet", "db", {"replicas": 2, "template": template(), "volumeClaimTemplates": claims})
    assert [o.node for o in simulate([node("a"), csi_node("a", 1), storage], stateful)] == ["a", ""]
