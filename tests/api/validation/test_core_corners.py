"""Corners of core's rules that upstream's code has and its tables hint at."""

from __future__ import annotations

import pytest

from engine.api.types import GVK, Object
from tests.api.objects import POD, SERVICE, container, pod, problems, service

QUOTA, ENDPOINTS = GVK("", "v1", "ResourceQuota"), GVK("", "v1", "Endpoints")
NAMED = {"metadata": {"name": "web", "namespace": "default"}}


def template(**metadata: object) -> Object:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return pod(volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {"metadata": metadata, "spec": spec}}}])


def mounted(mounts: list[Object], devices: list[Object]) -> Object:
    value = container(volumeMounts=mounts, volumeDevices=devices)
    value["spec"]["volumes"] = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in "ab"]
    return value


def spread(**fields: object) -> Object:
    return pod(topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "zone", **fields}])


CASES: dict[str, tuple[GVK, Object, list[str]]] = {
    "the metadata of a claim that a Pod makes": (
        POD,
        template(uid="u", name="n", finalizers=["a/b"], labels={"a": "b"}, creationTimestamp="2026-01-01T00:00:00Z"),
        [
            "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set",
            "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.uID: Forbidden: cannot be set",
            "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.creationTimestamp: Forbidden: cannot be set",
            "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.finalizers: Forbidden: cannot be set",
        ],
    ),
    "a device where an earlier mount of its volume was": (
        POD,
        mounted(
            [{"name": "a", "mountPath": "/x"}, {"name": "a", "mountPath": "/y"}],
            [{"name": "b", "devicePath": "/x"}],
        ),
        [
            'spec.containers[0].volumeMounts[0].mountPath: Invalid value: "/x": must not already exist as a path in '
            "volumeDevices"
        ],
    ),
    "a device where a volume is mounted": (
        POD,
        mounted([{"name": "a", "mountPath": "/x"}], [{"name": "b", "devicePath": "/x"}]),
        [
            'spec.containers[0].volumeMounts[0].mountPath: Invalid value: "/x": must not already exist as a path in '
            "volumeDevices",
            'spec.containers[0].volumeDevices[0].devicePath: Invalid value: "/x": must not already exist as a path '
            "in volumeMounts",
        ],
    ),
    "domains for a constraint that says nothing else": (
        POD,
        spread(minDomains=1),
        [
            'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "": supported values: '
            '"DoNotSchedule", "ScheduleAnyway"',
            "spec.topologySpreadConstraints[0].minDomains: Invalid value: 1: can only use minDomains if "
            "whenUnsatisfiable=DoNotSchedule, not ",
        ],
    ),
    "half a device in a quota": (
        QUOTA,
        {**NAMED, "spec": {"hard": {"requests.example.com/gpu": "500m", "example.com/gpu": "500m"}}},
        ['spec.hard[example.com/gpu]: Invalid value: "500m": must be an integer'],
    ),
    "files of variables": (
        POD,
        {
            **pod(
                containers=[
                    {
                        "name": "web",
                        "image": "i:1",
                        "env": [
                            {"name": "A", "valueFrom": {"fileKeyRef": {"volumeName": name, "path": "f", "key": "A"}}}
                            for name in ("own", "host", "other", "No")
                        ],
                    }
                ],
                volumes=[{"name": "own", "emptyDir": {}}, {"name": "host", "hostPath": {"path": "/etc"}}],
            )
        },
        [
            'spec.containers[0].env[3].valueFrom.fileKeyRef.volumeName: Invalid value: "No": a lowercase RFC 1123 '
            "label must consist of lower case alphanumeric characters or '-', and must start and end with an "
            "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
            'spec.containers[0].env[1].valueFrom.fileKeyRef.volumeName: Invalid value: "host": referenced volume must '
            "be of type emptyDir",
            'spec.containers[0].env[2].valueFrom.fileKeyRef.volumeName: Not found: "other"',
            'spec.containers[0].env[3].valueFrom.fileKeyRef.volumeName: Not found: "No"',
        ],
    ),
    "files of variables of nowhere, and of anywhere in a volume": (
        POD,
        container(env=[{"name": "A", "valueFrom": {"fileKeyRef": {"key": "k" * 200, "path": "/a"}}}]),
        [
            "spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Required value",
            'spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found: ""',
        ],
    ),
    "claims that have no name are not told among those that there are": (
        POD,
        {
            **container(resources={"claims": [{"name": "b"}]}),
            "spec": {
                **container(resources={"claims": [{"name": "b"}]})["spec"],
                "resourceClaims": [{"resourceClaimName": "x"}, {"name": "a", "resourceClaimName": "x"}],
            },
        },
        [
            "spec.resourceClaims[0].name: Required value",
            'spec.containers[0].resources.claims[0]: Not found: "b": must be one of the names in '
            "pod.spec.resourceClaims: a",
        ],
    ),
    "three addresses of two families": (
        SERVICE,
        service(clusterIP="10.0.0.1", clusterIPs=["10.0.0.1", "10.0.0.2", "fd00::1"]),
        [
            'spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.2","fd00::1"]: may only hold up to 2 values',
        ],
    ),
    "endpoints with zeros": (
        ENDPOINTS,
        {**NAMED, "subsets": [{"addresses": [{"ip": "010.1.1.1"}, {"ip": "127.0.0.01"}, {"ip": "x"}]}]},
        [
            'subsets[0].addresses[0].ip: Invalid value: "010.1.1.1": must not have leading 0s',
            'subsets[0].addresses[1].ip: Invalid value: "127.0.0.01": must not have leading 0s',
            'subsets[0].addresses[1].ip: Invalid value: "127.0.0.01": may not be in the loopback range '
            "(127.0.0.0/8, ::1/128)",
            'subsets[0].addresses[2].ip: Invalid value: "x": must be a valid IP address, '
            "(e.g. 10.9.8.7 or 2001:db8::ffff)",
            'subsets[0].addresses[2].ip: Invalid value: "x": must be a valid IP address',
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong(name: str) -> None:
    gvk, value, expected = CASES[name]
    assert problems(gvk, value) == expected


def test_a_replication_controller_alone_can_be_without_a_template() -> None:
    assert problems(GVK("", "v1", "ReplicationController"), {"metadata": {"name": "a", "namespace": "b"}}) == [
        "spec.selector: Required value",
        "spec.template: Required value",
    ]


def test_only_some_kinds_of_volumes_are_mounted_with_options() -> None:
    volume: Object = {
        "metadata": {"name": "a", "annotations": {"volume.beta.kubernetes.io/mount-options": "ro"}},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]},
    }
    kind = GVK("", "v1", "PersistentVolume")
    assert problems(kind, {**volume, "spec": {**volume["spec"], "nfs": {"server": "s", "path": "/p"}}}) == []
    assert problems(kind, {**volume, "spec": {**volume["spec"], "hostPath": {"path": "/p"}}}) == [
        "metadata.annotations.volume.beta.kubernetes.io/mount-options: Forbidden: may not specify mount options for "
        "this volume type"
    ]
