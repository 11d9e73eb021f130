"""`ktui schedule`: decisions of a running cluster, and questions to it and to dumps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine_process import Home, Ran
from tests.scheduler.objects import node, pod, taint

LOOKS = 300  # at the nodes, after which their cluster counts as hung

ASKED = "pod, deployment, replicaset, statefulset, daemonset, job, cronjob, replicationcontroller"

PACKING = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 8
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated}}
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def running(home: Home) -> Iterator[Home]:
    home.up("--nodes=2")
    try:
        wait_for_nodes(home, 2)
        yield home
    finally:
        home.stop()


def wait_for_nodes(home: Home, count: int) -> None:
    """Until Pods may go to any of the nodes: they register themselves, and are tainted until they are found ready."""
    for _ in range(LOOKS):
        nodes = json.loads(home.kubectl("get", "nodes", "-o", "json").ok())["items"]
        if len(nodes) == count and not any(node["spec"].get("taints") for node in nodes):
            return
    raise AssertionError(f"not {count} nodes that are free of taints: {nodes}")


def written(folder: Path, name: str, *objects: Any) -> str:
    """A file with a List of objects, as kubectl prints one."""
    file = folder / name
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
    return str(file)


def said(ran: Ran) -> list[str]:
    assert ran.code == 0, ran.err
    return [" ".join(line.split()) for line in ran.out.splitlines()]


def test_decisions_of_a_running_cluster(running: Home, tmp_path: Path) -> None:
    fits, waits = pod("fits", cpu="1"), pod("waits", cpu="100")
    running.ktui("apply", "-f", written(tmp_path, "pods.json", fits, waits), check=True)
    running.ktui("wait", "pod/fits", "--for=condition=PodScheduled", "--timeout=20s", check=True)
    running.ktui("apply", "-f", written(tmp_path, "other.json", pod("other", schedulerName="theirs")), check=True)
    other = 'Pod other waits for a scheduler of the name "theirs": if one runs, it is not this one'
    for target, message in (
        ("pod/other", f"error: no decision on pod/other in namespace default is kept: {other}"),
        ("pod/none", 'Error from server (NotFound): pods "none" not found'),
        ("deploy/none", 'Error from server (NotFound): deployments.apps "none" not found'),
        ("node/none", 'Error from server (NotFound): nodes "none" not found'),
    ):
        ran = running.ktui("schedule", target)
        assert (ran.code, ran.err) == (1, f"{message}\n")
    lines = said(running.ktui("schedule", "pod/fits"))
    assert any(line.startswith("pod default/fits · attempt 1 · scheduled on node-") for line in lines)
    assert {"FILTER", "SCORE", "QUEUE"} <= set(lines)
    assert "DURATIONS" not in lines
    assert any("NodeResourcesFit" in line for line in lines)
    kept = json.loads(running.ktui("schedule", "po/fits", "-o", "json", check=True).out)
    assert kept["decisions"][0]["scores"][0]["plugins"][0].keys() == {
        "plugin", "raw", "normalized", "weight", "weighted",
    }  # fmt: skip
    running.ktui(
        "wait", "pod/waits", "--for=jsonpath={.status.conditions[0].reason}=Unschedulable", "--timeout=20s", check=True
    )
    lines = said(running.ktui("schedule", "pod/waits"))
    assert lines[0].startswith("default/waits waits in the unschedulable queue after 1 attempt,")
    assert "node-1 NodeResourcesFit UnschedulableAndUnresolvable Insufficient cpu" in lines
    assert "| node-1 | NodeResourcesFit | UnschedulableAndUnresolvable | Insufficient cpu |" in said(
        running.ktui("schedule", "pod/waits", "-o", "markdown")
    )


def test_a_question_to_a_running_cluster_changes_nothing(running: Home, tmp_path: Path) -> None:
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod("x", cpu="2")["spec"]},
        },
    }
    file = written(tmp_path, "web.json", deployment)
    assert said(running.ktui("schedule", "-f", file))[:2] == [
        "3 of 3 Pods would be placed; nothing is bound",
        "the names of the Pods of Deployment default/web are made up: their controller would name them",
    ]
    counted = said(running.ktui("schedule", "-f", file, "--count"))
    assert counted[0] == "4 more Pods like those of Deployment default/web fit"
    assert counted[1].startswith("what runs out first: cpu (Insufficient cpu on ")
    assert running.ktui("get", "deployments,pods", "-A").out == ""
    running.ktui("apply", "-f", file, check=True)
    running.ktui("wait", "deployment/web", "--for=condition=Available", "--timeout=30s", check=True)
    lines = said(running.ktui("schedule", "deploy/web"))
    assert lines[0] == "3 Pods of deploy/web"
    assert sum("scheduled node-" in line for line in lines) == 3


def test_a_dump_needs_no_cluster(home: Home, tmp_path: Path) -> None:
    dump = written(
        tmp_path,
        "dump.json",
        node("a", cpu="4", memory="32Gi"),
        node("b", cpu="2", memory="4Gi"),
        node("c", taints=[taint("dedicated", value="gpu")]),
        pod("there", cpu="2", memory="1Gi", node_name="a"),
        pod("pending", cpu="3"),
    )
    config = tmp_path / "packing.yaml"
    config.write_text(PACKING)
    lines = said(home.ktui("schedule", "--cluster", dump))
    assert lines[0] == "0 of 1 Pods would be placed; nothing is bound"
    assert "what would make default/pending fit, the smallest change first" in lines
    assert "c TaintToleration tolerate dedicated=gpu:NoSchedule" in lines
    again = home.ktui("schedule", "pod/there", "--cluster", dump, "--compare-config", str(config), "-o", "json")
    (pair,) = json.loads(again.out)["pods"]
    assert (pair["before"]["node"], pair["after"]["node"], pair["differs"]) == ("a", "b", True)
    assert said(home.ktui("schedule", "pod/there", "--cluster", dump, "--compare-config", str(config)))[0] == (
        "1 of 1 Pods go elsewhere with packing.yaml than with the default"
    )
    noted = home.ktui("schedule", "--cluster", dump, "--config", str(config))
    compared = home.ktui("schedule", "--cluster", dump, "--compare-config", str(config))
    assert compared.err == noted.err
    assert noted.err.splitlines() == [
        f"{config}: parallelism has no effect: nodes are looked at all at once",
        "warning: the dump has no Service: it is decided as if the cluster had none "
        "(docs/scheduler.md names what to dump)",
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name a KIND/NAME, as in pod/web-0, or files of Pods with -f"),
        (["web"], '"web" is not KIND/NAME, as in deployment/web'),
        (["gizmo/web"], 'the server doesn\'t have a resource type "gizmo"'),
        (["svc/web"], f"a Service is no workload: ask about a {ASKED}, or about a node for the Pods on it"),
        (["pod/web"], 'no cluster "default" is running: start it with "ktui up --name default"'),
        (["--count"], "--count counts what -f names, and by one configuration"),
        (["pod/web", "-f", "x"], "either KIND/NAME or -f"),
        (["-f", "-", "--cluster", "-"], "standard input is either the dump or the Pods, and is read once"),
        (["--cluster", "missing.yaml"], 'the path "missing.yaml" does not exist'),
    ],
    ids=["nothing", "no kind", "no such kind", "no workload", "no cluster", "count", "both", "stdin twice", "no file"],
)
def test_what_cannot_be_asked(home: Home, words: list[str], message: str) -> None:
    ran = home.ktui("schedule", *words)
    assert (ran.code, ran.err, ran.out) == (1, f"error: {message}\n", "")
