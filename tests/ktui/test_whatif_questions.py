"""Questions of `ktui schedule` to a dump: which Pods are meant, and what files bring with them."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from engine.api.types import Object
from engine.scheduler import SchedulerConfiguration
from engine.scheduler.configuration import ExtenderConfiguration
from engine.scheduler.configuration.loading import load
from engine.scheduler.framework.profile import Profile
from engine.scheduler.plugins.coscheduling import GROUP_LABEL, MIN_AVAILABLE_LABEL
from ktui.commands import UsageError
from ktui.report import plain
from ktui.whatif import report as whatif_report
from ktui.whatif.question import WhatIf, read_configuration, read_objects
from tests.scheduler.objects import container, node, pod


def placed(objects: list[Object], *wanted: Object, **asked: Any) -> list[tuple[str, str]]:
    outcomes = asyncio.run(WhatIf(objects, list(wanted), **asked).place(SchedulerConfiguration()))
    return [(outcome.pod, outcome.node) for outcome in outcomes]


def test_what_stands_in_files_without_a_namespace_is_in_the_one_that_is_asked_about() -> None:
    storage = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "fast"},
        "provisioner": "csi.example.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "spec": {"storageClassName": "fast", "resources": {"requests": {"storage": "1Gi"}}},
    }
    wanted = pod("p", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])
    del wanted["metadata"]["namespace"]
    assert placed([node("a")], storage, claim, wanted, namespace="shop") == [("shop/p", "a")]


def test_pods_that_are_over_are_not_placed_again() -> None:
    going, done = pod("going", node_name="a"), pod("done", node_name="a", status={"phase": "Succeeded"})
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert placed([node("a"), pod("runs", node_name="a"), going, done], target="node/a") == [("default/runs", "a")]


def test_a_pod_of_a_daemonset_is_told_what_its_own_node_lacks() -> None:
    template = {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [container(requests={"cpu": "1"})]}}
    agents = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent"},
        "spec": {"template": template},
    }
    asked = WhatIf([node("a", cpu="2"), node("b", cpu="500m")], [agents])
    _, outcome = asyncio.run(asked.place(SchedulerConfiguration()))
    assert [(found.node, [remedy.plugin for remedy in found.remedies]) for found in outcome.remedies] == [
        ("b", ["NodeResourcesFit"])
    ]


def test_what_a_dump_leaves_out_is_as_go_has_it() -> None:
    """A dump may be cut by hand; a server would never leave the name of a driver out."""
    storage = {"name": "data", "csi": {"driver": "csi.example.com"}}
    nameless = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": "a"},
        "spec": {"drivers": [{"allocatable": {"count": 1}}]},
    }
    assert placed([node("a"), nameless], pod("p", volumes=[storage])) == [("default/p", "a")]


def test_a_workload_without_a_name_cannot_be_counted() -> None:
    nameless = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": None}
    with pytest.raises(UsageError, match=r"^a Deployment has no metadata\.name$"):
        asyncio.run(WhatIf([node("a")], [nameless]).count(SchedulerConfiguration(), 1))


def told(objects: list[Object], *wanted: Object) -> list[str]:
    """What is printed of where Pods would go."""
    outcomes = asyncio.run(WhatIf(objects, list(wanted)).place(SchedulerConfiguration()))
    shown = whatif_report.placements([outcome.to_json() for outcome in outcomes], nodes=3, details=False)
    return [" ".join(line.split()) for line in plain(shown).splitlines()]


def test_a_pod_that_a_later_one_evicts_is_not_counted_as_placed() -> None:
    low, high = pod("low", cpu="3500m", priority=1), pod("high", cpu="3500m", priority=2)
    lines = told([node("a")], low, high)
    assert lines[:2] == [
        "1 of 2 Pods would be placed; nothing is bound",
        "Pods are placed in the order given: of Pods made at once a scheduler tries those of the highest "
        "priority first",
    ]
    assert "default/low a 1/1 - evicted afterwards by default/high" in lines
    assert "default/high a 1/1 - after preempting default/low" in lines
    assert told([node("a")], high, low)[0] == "1 of 2 Pods would be placed; nothing is bound"


PREEMPTING_NOBODY = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {postFilter: {disabled: [{name: "*"}]}}
"""


def test_a_configuration_by_which_a_pod_is_not_evicted_differs(tmp_path: Path) -> None:
    file = tmp_path / "mild.yaml"
    file.write_text(PREEMPTING_NOBODY)
    low, high = pod("low", cpu="3500m", priority=1), pod("high", cpu="3500m", priority=2)
    asked = WhatIf([node("a")], [low, high])
    pairs = asyncio.run(asked.compare(SchedulerConfiguration(), read_configuration(str(file))))
    lines = [" ".join(line.split()) for line in plain(whatif_report.comparison(pairs, "one", "mild")).splitlines()]
    assert lines[:4] == [
        "2 of 2 Pods go elsewhere with mild than with one",
        "POD ONE MILD",
        "default/low a, then evicted a",
        "default/high a -",
    ]


def counted(objects: list[Object], *wanted: Object, limit: int = 100) -> list[str]:
    """What `--count` prints."""
    found = asyncio.run(WhatIf(objects, list(wanted)).count(SchedulerConfiguration(), limit))
    return plain(whatif_report.capacity(found)).splitlines()


def test_a_count_that_cannot_be_made_is_an_error_and_not_a_number() -> None:
    extender = ExtenderConfiguration(url_prefix="http://127.0.0.1:1", filter_verb="f")
    nobody = SchedulerConfiguration(extenders=(extender,))
    with pytest.raises(UsageError, match=r"^the count ended at Pod 1, which could not be tried: Post .*:1/f"):
        asyncio.run(WhatIf([node("a")], [pod("p")]).count(nobody, 10))


def test_a_pod_that_is_held_back_tells_why_none_fits() -> None:
    lines = counted([node("a")], pod("p", schedulingGates=[{"name": "example.com/quota"}]))
    assert lines[1] == "what is in the way: waiting for scheduling gates: [example.com/quota]"


def owned(name: str, owner: str, **labels: str) -> Object:
    made = pod(name, node_name="a")
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": owner, "controller": True}
    made["metadata"] |= {"ownerReferences": [reference], "labels": labels}
    return made


@pytest.mark.parametrize(
    ("owner", "labels", "found"),
    [
        pytest.param("web-7957885594", {"pod-template-hash": "7957885594"}, True, id="by the label"),
        pytest.param("web-7957885594", {}, True, id="by the name"),
        pytest.param("web-7957885594", {"pod-template-hash": "other"}, False, id="another label"),
        pytest.param("web-api-7957885594", {"pod-template-hash": "7957885594"}, False, id="a longer name"),
        pytest.param("web", {}, False, id="a ReplicaSet of its own"),
        pytest.param("web-blue", {}, False, id="no hash"),
    ],
)
def test_pods_of_a_deployment_whose_replicasets_the_dump_leaves_out(
    owner: str, labels: dict[str, str], found: bool
) -> None:
    objects = [node("a"), owned("web-x", owner, **labels)]
    if found:
        assert placed(objects, target="deployment/web") == [("default/web-x", "a")]
        return
    with pytest.raises(UsageError, match=r"^no Pods of deployment/web in namespace default$"):
        placed(objects, target="deployment/web")


def generated(obj: Object) -> Object:
    metadata = {key: value for key, value in obj["metadata"].items() if key != "name"}
    return {**obj, "metadata": {**metadata, "generateName": "gen-"}}


def test_a_count_names_the_pod_of_the_file() -> None:
    nodes = [node("a", cpu="2")]
    assert counted(nodes, pod("p", cpu="1"))[0] == "2 more Pods like Pod default/p fit"
    assert counted(nodes, generated(pod("p", cpu="1")))[0] == "2 more Pods like Pod default/gen- fit"


def test_no_controller_names_a_pod_that_has_a_prefix_of_a_name() -> None:
    twice = placed([node("a")], generated(pod("p")), generated(pod("p")))
    assert len({name for name, _ in twice}) == 2
    lines = told([node("a")], generated(pod("p")))
    assert lines[1] == "the name of Pod default/gen- is made up: the API server would choose another"
    assert lines[3].startswith("default/gen-")


def test_a_workload_may_have_a_prefix_of_a_name_as_well() -> None:
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [container()]}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": template}}
    lines = told([node("a")], generated(job), generated(job))
    assert len({pod.split(" ")[0] for pod in lines if pod.startswith("default/gen-")}) == 2
    assert lines[:2] == [
        "2 of 2 Pods would be placed; nothing is bound",
        "the names of the Pods of Job default/gen- are made up: their controller would name them",
    ]


def test_pods_that_a_configuration_has_no_profile_for_go_nowhere() -> None:
    gangs = SchedulerConfiguration(profiles=(Profile(), Profile("gangs")))
    wanted = [pod("g1", schedulerName="gangs"), pod("g2", schedulerName="gangs"), pod("p")]
    pairs = asyncio.run(WhatIf([node("a")], wanted).compare(gangs, SchedulerConfiguration()))
    first, table = whatif_report.comparison(pairs, "the cluster's own", "other.yaml")
    assert first.title == 'with other.yaml no profile serves schedulerName "gangs"; there are: default-scheduler'
    assert first.lines == ["2 of 3 Pods would wait for ever"]
    assert table.title == "0 of 3 Pods go elsewhere with other.yaml than with the cluster's own"
    assert list(table.rows) == [
        ("default/g1", "a", "-", "no profile"),
        ("default/g2", "a", "-", "no profile"),
        ("default/p", "a", "a", "same"),
    ]


def test_all_that_is_wrong_with_files_is_told_with_its_file_and_name(tmp_path: Path) -> None:
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": 3, "template": {"spec": {"containers": [container()], "priorityClassName": "nope"}}},
    }
    nameless = {"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": {"containers": [container()]}}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": []}
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    items = [pod("fine"), pod("class", priorityClassName="nope"), deployment]
    first.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    items = [pod("number", cpu="four"), nameless, pod("last"), claim]
    second.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    wanted = read_objects([str(first), str(second)])
    asked = WhatIf([node("a")], [obj for _, obj in wanted], files=[file for file, _ in wanted])
    with pytest.raises(UsageError) as failure:
        asyncio.run(asked.place(SchedulerConfiguration()))
    told = str(failure.value).split("\nerror: ")
    assert [line.partition(" cannot be handled")[0] for line in told] == [
        f'{second}: PersistentVolumeClaim c: PersistentVolumeClaim in version "v1"',
        f"{first}: Pod class: no PriorityClass with name nope was found",
        told[2],
        f'{second}: Pod number: Pod in version "v1"',
        f"{second}: a Pod has no metadata.name",
    ]
    assert re.fullmatch(rf"{first}: Deployment web: Pod web-\S+: no PriorityClass with name nope was found", told[2])


def test_a_gang_is_there_in_full_before_its_first_pod_is_placed() -> None:
    gangs = load(
        "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: "
        "[{plugins: {multiPoint: {enabled: [{name: Coscheduling}]}}}]}"
    )
    members = [pod(f"g{number}", cpu="1", labels={GROUP_LABEL: "g", MIN_AVAILABLE_LABEL: "3"}) for number in range(3)]
    outcomes = asyncio.run(WhatIf([node("a", cpu="4")], members).place(gangs))
    assert [outcome.node for outcome in outcomes] == ["a", "a", "a"]


def test_of_a_pod_that_files_have_twice_the_second_counts() -> None:
    twice = [pod("p", cpu="3"), pod("p", cpu="2"), pod("q", cpu="2")]
    assert placed([node("a", cpu="4")], *twice) == [("default/p", "a"), ("default/q", "a")]
