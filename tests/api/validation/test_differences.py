"""What must not change of a Pod, as the answer shows it: a unified diff of the internal types' JSON (util/diff)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from engine.api.types import Object
from engine.api.validation import validate_update
from tests.api.objects import POD, container, info, pod, prepared

IN_ZONE = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "zone"}
TOGETHER = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [IN_ZONE]}}
LABELS: Object = {"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}
BY_NAME = {"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}

# Before, after, and the lines that go and come.
ROWS: dict[str, tuple[Object, Object, str]] = {
    "text that HTML knows": (
        container(env=[{"name": "A", "value": "1"}]),
        container(env=[{"name": "A", "value": "<&>"}]),
        '-     "Value": "1",\n+     "Value": "\\u003c\\u0026\\u003e",\n',
    ),
    "the keys of a map stay as they are": (
        container(resources={"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}),
        container(resources={"limits": {"cpu": "1"}, "requests": {"cpu": "500m"}}),
        '-     "cpu": "1"\n+     "cpu": "500m"\n',
    ),
    "a struct with all of its fields": (
        container(env=[{"name": "A", "value": ""}]),
        container(env=[BY_NAME]),
        '-     "ValueFrom": null\n+     "ValueFrom": {\n+      "FieldRef": null,\n+      "ResourceFieldRef": null,\n'
        '+      "ConfigMapKeyRef": null,\n+      "SecretKeyRef": {\n+       "Name": "s",\n+       "Key": "k",\n'
        '+       "Optional": null\n+      },\n+      "FileKeyRef": null\n+     }\n',
    ),
    "a selector of labels has tags": (
        pod(),
        pod(affinity=TOGETHER),
        '- "Affinity": null,\n+ "Affinity": {\n+  "NodeAffinity": null,\n+  "PodAffinity": {\n'
        '+   "RequiredDuringSchedulingIgnoredDuringExecution": [\n+    {\n+     "LabelSelector": {\n'
        '+      "matchLabels": {\n+       "app": "web"\n+      }\n+     },\n+     "Namespaces": null,\n'
        '+     "TopologyKey": "zone",\n+     "NamespaceSelector": null,\n+     "MatchLabelKeys": null,\n'
        '+     "MismatchLabelKeys": null\n+    }\n+   ],\n'
        '+   "PreferredDuringSchedulingIgnoredDuringExecution": null\n+  },\n+  "PodAntiAffinity": null\n+ },\n',
    ),
    "what is projected": (
        pod(volumes=[{"name": "a", "projected": {"sources": [{"downwardAPI": {"items": [LABELS]}}]}}]),
        pod(volumes=[{"name": "a", "projected": {"sources": [{"downwardAPI": {"items": [{**LABELS, "mode": 292}]}}]}}]),
        '-         "Mode": null,\n+         "Mode": 292,\n',
    ),
    "the keys of attributes are not fields": (
        pod(volumes=[{"name": "a", "csi": {"driver": "d", "volumeAttributes": {"aKey": "1"}}}]),
        pod(volumes=[{"name": "a", "csi": {"driver": "e", "volumeAttributes": {"aKey": "2"}}}]),
        '-    "Driver": "d",\n+    "Driver": "e",\n-     "aKey": "1"\n+     "aKey": "2"\n',
    ),
    "the host's network is the Pod's own since 1.37": (
        pod(),
        pod(hostNetwork=True),
        '- "HostNetwork": false,\n+ "HostNetwork": true,\n',
    ),
    "both names of the account": (
        pod(serviceAccountName="a"),
        pod(serviceAccountName="b"),
        '- "ServiceAccountName": "a",\n- "DeprecatedServiceAccount": "a",\n'
        '+ "ServiceAccountName": "b",\n+ "DeprecatedServiceAccount": "b",\n',
    ),
}


def _updated(before: Object, after: Object) -> str:
    old, new = (_stored(value) for value in (before, after))
    (problem,) = (str(cause) for cause in validate_update(info(POD), new, old))
    return problem


def _stored(value: Any) -> Object:
    obj = prepared(POD, copy.deepcopy(value))
    obj["metadata"].update(uid="u", resourceVersion="1")
    return obj


@pytest.mark.parametrize("name", ROWS)
def test_a_refused_change_is_shown(name: str) -> None:
    before, after, expected = ROWS[name]
    lines = _updated(before, after).splitlines(keepends=True)[1:]
    assert lines[0].startswith("@@ -")
    assert "".join(line for line in lines if line[0] in "+-") == expected


def test_fields_stand_in_the_order_of_v1() -> None:
    """Three lines around what changed tell of its neighbours."""
    shown = _updated(pod(), pod(setHostnameAsFQDN=True)).splitlines()[1:]
    assert [line[2:].partition(":")[0] for line in shown[1:]] == [
        *('"PreemptionPolicy"', '"Overhead"', '"TopologySpreadConstraints"', '"SetHostnameAsFQDN"'),
        *('"SetHostnameAsFQDN"', '"OS"', '"HostUsers"', '"SchedulingGates"'),
    ]
    before, after = ({"sysctls": [{"name": "kernel.shm_rmid_forced", "value": value}]} for value in "01")
    shown = _updated(pod(securityContext=before), pod(securityContext=after)).splitlines()[1:]
    assert [line.strip() for line in shown[-3:]] == ["}", "],", '"FSGroupChangePolicy": null,']
    old, new = ({"name": "a", "azureDisk": {"diskName": name, "diskURI": "/d"}} for name in "ab")
    shown = _updated(pod(volumes=[old]), pod(volumes=[new])).splitlines()[1:]
    assert [line.strip() for line in shown[1:4]] == ['"VsphereVolume": null,', '"Quobyte": null,', '"AzureDisk": {']


def test_a_large_pod_is_shown_line_by_line() -> None:
    """Looking for what thousands of lines have in common would take its time squared."""
    before, after = ([{"name": f"E{number}", "value": value} for number in range(400)] for value in ("1", "2"))
    shown = _updated(container(env=before), container(env=after)).splitlines()[1:]
    assert shown.count('-     "Value": "1",') == shown.count('+     "Value": "2",') == 400
    assert len([line for line in shown if line.startswith("@@")]) == 1
    more = [*before, {"name": "more", "value": "1"}]
    shown = _updated(container(env=before), container(env=more)).splitlines()[1:]
    assert [line for line in shown if line[0] in "+-"] == [
        *("+    },", "+    {", '+     "Name": "more",', '+     "Value": "1",', '+     "ValueFrom": null')
    ]
