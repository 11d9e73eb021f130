"""The filters that look at one node (upstream's plugins/*/*_test.go)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.scheduler.framework.status import Code
from engine.scheduler.plugins.node_affinity import NodeAffinity
from engine.scheduler.plugins.node_name import NodeName
from engine.scheduler.plugins.node_ports import NodePorts
from engine.scheduler.plugins.node_resources_fit import NodeResourcesFit
from engine.scheduler.plugins.node_unschedulable import NodeUnschedulable
from engine.scheduler.plugins.taint_toleration import TaintToleration
from tests.scheduler.harness import Bench
from tests.scheduler.objects import container, node, pod, taint


def test_node_name() -> None:
    bench = Bench([node("n1"), node("n2")])
    assert bench.reasons(NodeName, pod("p")) == {"n1": "", "n2": ""}
    wanted = bench.reasons(NodeName, pod("p", node_name="n2"))
    assert wanted == {"n1": "node(s) didn't match the requested node name", "n2": ""}


def test_node_unschedulable() -> None:
    bench = Bench([node("open"), node("cordoned", unschedulable=True)])
    verdicts = bench.filter(NodeUnschedulable, pod("p"))
    assert verdicts["cordoned"].message == "node(s) were unschedulable"
    assert verdicts["cordoned"].code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert verdicts["open"].ok
    tolerant = pod("p", tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}])
    assert all(status.ok for status in bench.filter(NodeUnschedulable, tolerant).values())


TAINT_CASES: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]], bool]] = {
    "no taints": ([], [], True),
    "untolerated": ([taint("dedicated", value="user1")], [], False),
    "equal": ([taint("dedicated", value="user1")], [{"key": "dedicated", "value": "user1"}], True),
    "equal spelled out": (
        [taint("dedicated", value="user1")],
        [{"key": "dedicated", "operator": "Equal", "value": "user1", "effect": "NoSchedule"}],
        True,
    ),
    "another value": ([taint("dedicated", value="user1")], [{"key": "dedicated", "value": "user2"}], False),
    "another effect": (
        [taint("foo", value="bar")],
        [{"key": "foo", "operator": "Equal", "value": "bar", "effect": "PreferNoSchedule"}],
        False,
    ),
    "exists": ([taint("foo", value="bar")], [{"key": "foo", "operator": "Exists"}], True),
    "empty key tolerates all": ([taint("foo", value="bar")], [{"operator": "Exists"}], True),
    "one of two taints": ([taint("a"), taint("b")], [{"key": "a", "operator": "Exists"}], False),
    "preferences do not filter": ([taint("foo", "PreferNoSchedule", "bar")], [], True),
    "no execute filters": ([taint("foo", "NoExecute", "bar")], [], False),
    "greater than": ([taint("sla", value="950")], [{"key": "sla", "operator": "Gt", "value": "900"}], True),
    "not greater than": ([taint("sla", value="800")], [{"key": "sla", "operator": "Gt", "value": "900"}], False),
    "greater than what is no number": (
        [taint("sla", value="1_000")],
        [{"key": "sla", "operator": "Gt", "value": "900"}],
        False,
    ),
    "less than": ([taint("sla", value="800")], [{"key": "sla", "operator": "Lt", "value": "900"}], True),
}


@pytest.mark.parametrize(("taints", "tolerations", "fits"), TAINT_CASES.values(), ids=TAINT_CASES)
def test_taint_toleration(taints: list[Any], tolerations: list[Any], fits: bool) -> None:
    bench = Bench([node("n", taints=taints)])
    status = bench.filter(TaintToleration, pod("p", tolerations=tolerations))["n"]
    assert status.ok is fits
    if not fits:
        assert status.message == "node(s) had untolerated taint(s)"
        assert status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE


UNTOLERATED_TEXTS = {
    "1.33.0 names the first taint": ("1.33.0", "node(s) had untolerated taint {dedicated: gpu}"),
    "1.34.0 too": ("1.34.0", "node(s) had untolerated taint {dedicated: gpu}"),
    "1.35.0 keeps it to itself": ("1.35.0", "node(s) had untolerated taint(s)"),
    "and so does the newest": ("", "node(s) had untolerated taint(s)"),
}


@pytest.mark.parametrize(("version", "message"), UNTOLERATED_TEXTS.values(), ids=UNTOLERATED_TEXTS)
def test_a_release_says_what_it_said_of_taints(version: str, message: str) -> None:
    first, second = taint("dedicated", value="gpu"), taint("other", "NoExecute")
    bench = Bench([node("n", taints=[first, second]), node("open"), node("bare", taints=[second])], version=version)
    found = bench.filter(TaintToleration, pod("p"))
    assert found["n"].message == message
    assert found["n"].code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert found["open"].ok
    assert found["bare"].message == message.replace("dedicated: gpu", "other: ")


def required(*terms: dict[str, Any]) -> dict[str, Any]:
    affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
    return {"affinity": {"nodeAffinity": affinity}}


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


AFFINITY_CASES: dict[str, tuple[dict[str, Any], bool]] = {
    "no rule": ({}, True),
    "selector matches": ({"nodeSelector": {"disk": "ssd"}}, True),
    "selector of a missing label": ({"nodeSelector": {"gpu": "yes"}}, False),
    "selector wants all": ({"nodeSelector": {"disk": "ssd", "gpu": "yes"}}, False),
    "in": (required(expression("disk", "In", "hdd", "ssd")), True),
    "in others": (required(expression("disk", "In", "hdd")), False),
    "not in": (required(expression("disk", "NotIn", "hdd")), True),
    "not in counts a missing label": (required(expression("gpu", "NotIn", "yes")), True),
    "exists": (required(expression("disk", "Exists")), True),
    "does not exist": (required(expression("disk", "DoesNotExist")), False),
    "gt": (required(expression("cores", "Gt", "7")), True),
    "gt equal": (required(expression("cores", "Gt", "8")), False),
    "lt": (required(expression("cores", "Lt", "9")), True),
    "gt of no number": (required(expression("disk", "Gt", "7")), False),
    "any term will do": (required(expression("disk", "In", "hdd"), expression("cores", "Exists")), True),
    "an empty term matches nothing": (required({}), False),
    "no terms match nothing": (required(), False),
    "selector and affinity both": ({"nodeSelector": {"gpu": "yes"}, **required(expression("disk", "Exists"))}, False),
    "field": (required({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}), True),
    "field of another": (
        required({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["x"]}]}),
        False,
    ),
    # What upstream cannot parse matches no node, whatever it says.
    "not in nothing": (required(expression("disk", "NotIn")), False),
    "not in no label value": (required(expression("disk", "NotIn", "{{.bad}}")), False),
    "exists with a value": (required(expression("disk", "Exists", "ssd")), False),
    "does not exist with a value": (required(expression("gpu", "DoesNotExist", "yes")), False),
    "no label key": (required(expression("not a key", "DoesNotExist")), False),
    "gt of two values": (required(expression("cores", "Gt", "1", "2")), False),
    "gt of no number written": (required(expression("cores", "Gt", "1_0")), False),
    "unknown operator": (required(expression("cores", "Near", "8")), False),
    "one bad expression of two": (
        required({**expression("disk", "Exists"), "matchFields": [{"key": "metadata.name", "operator": "Exists"}]}),
        False,
    ),
    "a bad term beside a good one": (required(expression("disk", "NotIn"), expression("disk", "Exists")), True),
    "field in two": (
        required({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n", "x"]}]}),
        False,
    ),
    "a field that nodes are not asked for": (
        required({"matchFields": [{"key": "metadata.uid", "operator": "NotIn", "values": ["n"]}]}),
        True,
    ),
    "gt of what is no label's value": (required(expression("cores", "Gt", "-1")), False),
    "gt with a sign": (required(expression("cores", "Gt", "+1")), False),
    "field not in": (
        required({"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n"]}]}),
        False,
    ),
}


@pytest.mark.parametrize(("spec", "fits"), AFFINITY_CASES.values(), ids=AFFINITY_CASES)
def test_node_affinity(spec: dict[str, Any], fits: bool) -> None:
    bench = Bench([node("n", labels={"disk": "ssd", "cores": "8"})])
    status = bench.filter(NodeAffinity, pod("p", **spec))["n"]
    assert status.ok is fits
    if not fits:
        assert status.message == "node(s) didn't match Pod's node affinity/selector"


def test_node_affinity_that_names_nodes_in_conflict() -> None:
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in ("a", "b")]
    bench = Bench([node("a"), node("b")])
    message = bench.message(pod("p", **required({"matchFields": fields})))
    # What upstream says from 1.34 on, where a PreFilter ends the attempt before DynamicResources has had its turn.
    assert message == "0/2 nodes are available: pod affinity terms conflict. not found"


def test_nodes_that_a_prefilter_leaves_out_are_counted() -> None:
    bench = Bench([node("a", cpu="1"), node("b"), node("c")])
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}
    message = bench.message(pod("p", cpu="2", **required(term)))
    assert message == (
        "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. "
        "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
    )


def test_added_affinity_is_enforced_by_the_scheduler() -> None:
    added = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [expression("disk", "Exists")]}}
    bench = Bench([node("n")], args={"NodeAffinity": {"addedAffinity": added}})
    assert bench.reasons(NodeAffinity, pod("p")) == {"n": "node(s) didn't match scheduler-enforced node affinity"}


def ports(*listed: tuple[str, str, int]) -> list[dict[str, Any]]:
    made = [{"hostIP": ip, "protocol": protocol, "hostPort": port} for ip, protocol, port in listed]
    return [container(ports=made)]


PORT_CASES = {
    "another port": (("127.0.0.1", "TCP", 8080), ("127.0.0.1", "TCP", 9090), True),
    "same port": (("127.0.0.1", "TCP", 8080), ("127.0.0.1", "TCP", 8080), False),
    "another protocol": (("127.0.0.1", "UDP", 8080), ("127.0.0.1", "TCP", 8080), True),
    "another address": (("127.0.0.1", "TCP", 8080), ("127.0.0.2", "TCP", 8080), True),
    "wildcard wanted": (("0.0.0.0", "TCP", 8001), ("127.0.0.1", "TCP", 8001), False),
    "wildcard taken": (("10.0.10.10", "TCP", 8001), ("0.0.0.0", "TCP", 8001), False),
}


@pytest.mark.parametrize(("wanted", "used", "fits"), PORT_CASES.values(), ids=PORT_CASES)
def test_node_ports(wanted: tuple[str, str, int], used: tuple[str, str, int], fits: bool) -> None:
    bench = Bench([node("n")], [pod("there", node_name="n", containers=ports(used))])
    reason = bench.reasons(NodePorts, pod("p", containers=ports(wanted)))["n"]
    assert reason == ("" if fits else "node(s) didn't have free ports for the requested pod ports")


def wants(**amounts: str) -> list[dict[str, Any]]:
    return [container(requests=amounts)]


GPU = "example.com/gpu"
FIT_CASES: dict[str, tuple[list[Any], str, Code]] = {
    "fits": (wants(cpu="1", memory="1Gi"), "", Code.SUCCESS),
    "cpu": (wants(cpu="3"), "Insufficient cpu", Code.UNSCHEDULABLE),
    "cpu and memory": (wants(cpu="3", memory="7Gi"), "Insufficient cpu, Insufficient memory", Code.UNSCHEDULABLE),
    "more than the node has": (wants(cpu="5"), "Insufficient cpu", Code.UNSCHEDULABLE_AND_UNRESOLVABLE),
    "exactly what is left": (wants(cpu="2", memory="6Gi"), "", Code.SUCCESS),
    "extended resource": (wants(**{GPU: "2"}), f"Insufficient {GPU}", Code.UNSCHEDULABLE),
    "unknown resource": (
        wants(**{"example.com/tpu": "1"}),
        "Insufficient example.com/tpu",
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
    ),
    "ephemeral storage": (
        wants(**{"ephemeral-storage": "1Gi"}),
        "Insufficient ephemeral-storage",
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
    ),
    "one lacks for ever": (
        wants(cpu="3", memory="9Gi"),
        "Insufficient cpu, Insufficient memory",
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
    ),
}


@pytest.mark.parametrize(("containers", "reason", "code"), FIT_CASES.values(), ids=FIT_CASES)
def test_node_resources_fit(containers: list[Any], reason: str, code: Code) -> None:
    there = pod("there", node_name="n", containers=wants(cpu="2", memory="2Gi", **{GPU: "1"}))
    bench = Bench([node("n", allocatable={GPU: "2"})], [there])
    status = bench.filter(NodeResourcesFit, pod("p", containers=containers))["n"]
    assert (status.message, status.code) == (reason, code)


def test_too_many_pods() -> None:
    bench = Bench([node("n", pods=1)], [pod("there", node_name="n")])
    status = bench.filter(NodeResourcesFit, pod("p"))["n"]
    assert (status.message, status.code) == ("Too many pods", Code.UNSCHEDULABLE)


def test_a_pod_without_requests_fits_a_full_node() -> None:
    bench = Bench([node("n", cpu="1")], [pod("there", node_name="n", cpu="2")])
    assert bench.filter(NodeResourcesFit, pod("p"))["n"].ok


@pytest.mark.parametrize("args", [{"ignoredResources": [GPU]}, {"ignoredResourceGroups": ["example.com"]}])
def test_ignored_resources(args: dict[str, Any]) -> None:
    bench = Bench([node("n")], args={"NodeResourcesFit": args})
    assert bench.filter(NodeResourcesFit, pod("p", containers=wants(**{GPU: "1"})))["n"].ok
