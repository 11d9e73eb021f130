"""Zones of in-tree volumes on nodes that have handed them to CSI drivers (binder_test.go, ...WithCSIMigration)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import Object
from engine.scheduler.plugins.volume_binding import NODE_CONFLICT, VolumeBinding
from tests.scheduler.harness import Bench
from tests.scheduler.objects import node, pod

ZONE, BETA_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
REGION, BETA_REGION = "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"
GCE = {"gcePersistentDisk": {"pdName": "d"}}
EBS, VSPHERE = {"awsElasticBlockStore": {"volumeID": "d"}}, {"vsphereVolume": {"volumePath": "d"}}
GCE_ZONE = "topology.gke.io/zone"
USER = pod("p", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}])
BOUND: Object = {
    "kind": "PersistentVolumeClaim",
    "metadata": {
        "name": "c",
        "namespace": "default",
        "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
    },
    "spec": {"volumeName": "v"},
    "status": {"phase": "Bound"},
}


def volume(source: Object, labels: dict[str, str], *terms: dict[str, str]) -> Object:
    spec: dict[str, Any] = {**source, "capacity": {"storage": "1Gi"}}
    if terms:
        spec["nodeAffinity"] = {
            "required": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": k, "operator": "In", "values": [v]} for k, v in term.items()]}
                    for term in terms
                ]
            }
        }
    return {"kind": "PersistentVolume", "metadata": {"name": "v", "labels": labels}, "spec": spec}


def told(bound: Object, there: dict[str, str], *plugins: str) -> str:
    """What is said of a node with these labels that has handed these plugins' volumes to drivers."""
    annotation = {"storage.alpha.kubernetes.io/migrated-plugins": ",".join(plugins)}
    csi_node = {"kind": "CSINode", "metadata": {"name": "n1", "annotations": annotation}, "spec": {"drivers": []}}
    bench = Bench([node("n1", labels=there)], others=[BOUND, bound, *([csi_node] if plugins else [])])
    return bench.reasons(VolumeBinding, USER)["n1"]


@pytest.mark.parametrize(
    ("bound", "there", "plugins", "fits"),
    [
        pytest.param(volume(GCE, {ZONE: "a"}), {GCE_ZONE: "a"}, ["gce-pd"], True, id="the zone of its label"),
        pytest.param(volume(GCE, {ZONE: "a"}), {GCE_ZONE: "b"}, ["gce-pd"], False, id="another zone"),
        pytest.param(volume(GCE, {ZONE: "a"}), {ZONE: "a"}, ["gce-pd"], False, id="a node that the driver is not on"),
        pytest.param(
            volume(GCE, {ZONE: "a"}), {GCE_ZONE: "b"}, ["aws-ebs"], True, id="of a plugin that is not given up"
        ),
        pytest.param(volume(GCE, {ZONE: "a"}), {GCE_ZONE: "b"}, [], True, id="a node without CSI"),
        pytest.param(volume(GCE, {ZONE: "a__b"}), {GCE_ZONE: "b"}, ["gce-pd"], True, id="one of two zones"),
        pytest.param(volume(GCE, {BETA_ZONE: "a"}), {GCE_ZONE: "b"}, ["gce-pd"], False, id="the older label"),
        pytest.param(volume(GCE, {}), {GCE_ZONE: "b"}, ["gce-pd"], True, id="no zone"),
        pytest.param(
            volume(GCE, {ZONE: "a"}, {ZONE: "b"}), {GCE_ZONE: "b"}, ["gce-pd"], True, id="node affinity before labels"
        ),
        pytest.param(
            volume(EBS, {}, {BETA_ZONE: "a", BETA_REGION: "r"}),
            {"topology.ebs.csi.aws.com/zone": "a", REGION: "r"},
            ["gce-pd", "aws-ebs"],
            True,
            id="an older region",
        ),
        pytest.param(
            volume(VSPHERE, {ZONE: "a", REGION: "r"}),
            {"topology.csi.vmware.com/zone": "a", "topology.csi.vmware.com/region": "s"},
            ["vsphere-volume"],
            False,
            id="another region of a driver that knows them",
        ),
        pytest.param(
            volume(GCE, {ZONE: "a"}, {"disk": "x"}),
            {"disk": "x", GCE_ZONE: "b"},
            ["gce-pd"],
            False,
            id="the zone beside other labels",
        ),
    ],
)
def test_a_volume_that_a_driver_has_taken_over(
    bound: Object, there: dict[str, str], plugins: list[str], fits: bool
) -> None:
    assert told(bound, there, *(f"kubernetes.io/{name}" for name in plugins)) == ("" if fits else NODE_CONFLICT)
