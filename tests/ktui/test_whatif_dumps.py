"""Dumps of clusters as people have them: in any shape that kubectl prints, and in shapes that nobody should."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from engine.api.types import Object
from engine.kubectl import yaml
from engine.scheduler.configuration import SchedulerConfiguration
from engine.scheduler.whatif.cluster import RESOURCES, TAKE_DUMP
from engine.scheduler.whatif.dumps import lacking
from engine.scheduler.whatif.targets import BETWEEN, kind_of
from ktui.commands import UsageError
from ktui.whatif.question import WhatIf, read_dump
from tests.scheduler.objects import node, pod, taint

NODE, POD = node("a"), pod("p")
NO_NODES = "there are no Nodes in the dump: take it with "


def listed(*items: Any, kind: str = "List") -> Object:
    return {"apiVersion": "v1", "kind": kind, "items": list(items)}


def untyped(obj: Object) -> Object:
    return {key: value for key, value in obj.items() if key not in ("apiVersion", "kind")}


def placed(folder: Path, dump: Any) -> list[tuple[str, str]]:
    """Where each pending Pod of the dump would go, or why nowhere."""
    file = folder / "dump.yaml"
    file.write_text(dump if isinstance(dump, str) else json.dumps(dump))
    asked = WhatIf(read_dump([str(file)]))
    outcomes = asyncio.run(asked.place(SchedulerConfiguration()))
    return [(outcome.pod, outcome.node or outcome.message) for outcome in outcomes]


NODES, PODS = listed(untyped(NODE), kind="NodeList"), listed(untyped(POD), kind="PodList")
LOGGED = """==== START logs for container c of pod default/{0} ====
{{"klog": {{
---
==== START logs for container c of pod default/another ====
{1}==== END logs for container c of pod default/{0} ====
"""


@pytest.mark.parametrize("end", ["", "no newline at the end", "a newline\n"])
@pytest.mark.parametrize("show", [partial(json.dumps, indent=4), yaml.dump])
def test_logs_of_a_cluster_info_dump(tmp_path: Path, end: str, show: Callable[[Any], str]) -> None:
    logs = LOGGED.format("a", end) + LOGGED.format("b", end)
    parts = [show(NODES), "---\n" if show is yaml.dump else "", logs, show(PODS), LOGGED.format("c", end)]
    assert placed(tmp_path, "\n".join(parts)) == [("default/p", "a")]


def test_folders_of_a_cluster_info_dump(tmp_path: Path) -> None:
    (tmp_path / "default" / "p").mkdir(parents=True)
    (tmp_path / "nodes.json").write_text(json.dumps(NODES))
    (tmp_path / "default" / "pods.json").write_text(json.dumps(PODS))
    (tmp_path / "default" / "p" / "logs.txt").write_text("{ no JSON")
    outcomes = asyncio.run(WhatIf(read_dump([str(tmp_path)])).place(SchedulerConfiguration()))
    assert [(outcome.pod, outcome.node) for outcome in outcomes] == [("default/p", "a")]


EMPTY: Object = {"containers": [{"name": "c", "image": "i", "resources": None, "ports": None}]}
NULLS = dict.fromkeys(("initContainers", "volumes", "tolerations", "affinity", "nodeSelector"))


@pytest.mark.parametrize(
    "dump",
    [
        pytest.param(listed(NODE, POD), id="a List"),
        pytest.param(listed(listed(NODE), listed(POD)), id="Lists in a List"),
        pytest.param(
            json.dumps(listed(untyped(NODE), kind="NodeList")) + "\n---\n" + json.dumps(POD),
            id="a NodeList, kinds told once",
        ),
        pytest.param(f"---\n{json.dumps(NODE)}\n---\n# nothing\n---\n{json.dumps(POD)}\n", id="documents"),
        pytest.param(json.dumps(NODE) + "\n" + json.dumps(POD), id="JSON after JSON"),
        pytest.param("\ufeff" + json.dumps(listed(NODE, POD)), id="a byte order mark"),
        pytest.param(f"kind: List\r\nitems:\r\n- {json.dumps(NODE)}\r\n- {json.dumps(POD)}\r\n", id="lines of Windows"),
        pytest.param(listed(NODE, NODE, POD, POD), id="everything twice"),
        pytest.param(
            listed(NODE, POD, {"apiVersion": "foo.io/v1", "kind": "Widget"}, {"apiVersion": "v1", "kind": "Secret"}),
            id="kinds that mean nothing here",
        ),
        pytest.param(listed({**NODE, "spec": None}, {**POD, "spec": {**EMPTY, **NULLS}, "status": None}), id="nulls"),
        pytest.param(
            listed({**NODE, "status": {"allocatable": {"cpu": 4, "memory": 8589934592, "pods": 110}}}, POD),
            id="quantities as numbers",
        ),
        pytest.param(listed(NODE, pod("r", node_name="gone"), POD), id="a Pod on a node that is gone"),
    ],
)
def test_what_can_be_read(dump: Any, tmp_path: Path) -> None:
    assert placed(tmp_path, dump) == [("default/p", "a")]


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        pytest.param([{**NODE, "status": None}], "1 Too many pods", id="no status"),
        pytest.param(
            [node("a", taints=[taint("node.kubernetes.io/not-ready")])],
            "1 node(s) had untolerated taint(s)",
            id="not ready",
        ),
        pytest.param([node("a", unschedulable=True)], "1 node(s) were unschedulable", id="cordoned"),
    ],
)
def test_nodes_that_take_nothing(nodes: list[Object], reason: str, tmp_path: Path) -> None:
    ((_, message),) = placed(tmp_path, listed(*nodes, POD))
    assert message.startswith(f"0/1 nodes are available: {reason}.")


QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


@pytest.mark.parametrize(
    ("dump", "message"),
    [
        pytest.param("", NO_NODES, id="nothing"),
        pytest.param("null\n---\n", NO_NODES, id="null"),
        pytest.param(listed(POD), NO_NODES, id="no nodes"),
        pytest.param({"apiVersion": "v1", "kind": "List"}, NO_NODES, id="no items"),
        pytest.param({"apiVersion": "v1", "kind": "List", "items": None}, NO_NODES, id="items null"),
        pytest.param(
            {"kind": "List", "items": {"a": 1}},
            "cannot unmarshal object into Go struct field decodeList.items",
            id="items a map",
        ),
        pytest.param(listed("x", NODE), "cannot unmarshal string into Go value of type map", id="an item a text"),
        pytest.param(
            listed(NODE, {"metadata": {"name": "x"}}), "items[1] does not say of what kind it is", id="no kind"
        ),
        pytest.param("NAME  STATUS\na     Ready\n", "cannot unmarshal string", id="a table"),
        pytest.param("a: [1\nb", "error converting YAML to JSON", id="no YAML"),
        pytest.param(listed(NODE, {**POD, "metadata": {}}), "a Pod has no metadata.name", id="no name"),
        pytest.param(listed(NODE, {**POD, "spec": None}), "Pod p: spec: Required value", id="no spec"),
        pytest.param(
            listed(NODE, {**POD, "spec": []}), "json: cannot unmarshal array into Go struct field", id="a list"
        ),
        pytest.param(
            listed({**NODE, "metadata": {"name": "a", "labels": {"x": 1}}}, POD),
            'Node a: Node in version "v1" cannot be handled as a Node: json: cannot unmarshal number',
            id="a label a number",
        ),
        pytest.param(listed(node("a", cpu="four"), POD), f"cannot be handled as a Node: {QUANTITY}", id="no quantity"),
        pytest.param(
            listed(NODE, pod("r", cpu="x", node_name="a"), POD),
            f'Pod r: Pod in version "v1" cannot be handled as a Pod: {QUANTITY}',
            id="no request",
        ),
        pytest.param(listed(NODE), "no Pods are pending there", id="nothing pending"),
    ],
)
def test_what_cannot_be_read(dump: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as failure:
        placed(tmp_path, dump)
    assert message in str(failure.value)


DEVICES = {"ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass", "DeviceTaintRule"}


def test_the_dump_that_is_asked_for_has_all_that_decides() -> None:
    kinds = {kind_of(word) for word in TAKE_DUMP.split()[2].split(",")}
    assert kinds == {kind for _, kind in (*RESOURCES, *BETWEEN)} - DEVICES | {"Deployment"}
    documented = (Path(__file__).parents[2] / "docs" / "scheduler.md").read_text(encoding="utf-8")
    assert f"{TAKE_DUMP} > dump.yaml" in documented.replace("\\\n", "")


def owned(kind: str) -> Object:
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": "o", "uid": "o", "controller": True}
    return {**POD, "metadata": {**POD["metadata"], "ownerReferences": [reference]}}


def of_kind(kind: str, **fields: Any) -> Object:
    return {"apiVersion": "x/v1", "kind": kind, "metadata": {"name": "n"}, **fields}


NEAR = {"topologyKey": "zone", "namespaceSelector": {"matchLabels": {"a": "b"}}}


@pytest.mark.parametrize(
    ("objects", "kinds"),
    [
        pytest.param([POD], [], id="a plain Pod"),
        pytest.param([owned("ReplicaSet"), owned("StatefulSet")], ["ReplicaSet", "StatefulSet"], id="owners"),
        pytest.param([owned("ReplicaSet"), of_kind("ReplicaSet")], [], id="owners that are there"),
        pytest.param([owned("DaemonSet"), owned("Job")], [], id="owners that decide nothing"),
        pytest.param([pod("p", priorityClassName="high")], ["PriorityClass"], id="a class"),
        pytest.param([pod("p", priorityClassName="system-node-critical")], [], id="a class of every cluster"),
        pytest.param(
            [pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])],
            ["PersistentVolumeClaim"],
            id="a claim",
        ),
        pytest.param(
            [of_kind("PersistentVolumeClaim", spec={"volumeName": "v", "storageClassName": "s"})],
            ["PersistentVolume", "StorageClass"],
            id="what a claim names",
        ),
        pytest.param(
            [pod("p", resourceClaims=[{"name": "d", "resourceClaimName": "d"}])],
            ["DeviceClass", "ResourceClaim", "ResourceSlice"],
            id="devices",
        ),
        pytest.param(
            [pod("p", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [NEAR]}})],
            ["Namespace"],
            id="namespaces by their labels",
        ),
    ],
)
def test_kinds_that_a_dump_lacks(objects: list[Object], kinds: list[str]) -> None:
    assert lacking([NODE, of_kind("Service"), *objects]) == kinds
    assert lacking([NODE, *objects]) == sorted([*kinds, "Service"])
