"""Volumes: what can be had where (upstream's plugins/volumebinding, volumezone, volumerestrictions, csi limits)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.types import Object
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.status import Code
from engine.scheduler.plugins.node_volume_limits import NodeVolumeLimits
from engine.scheduler.plugins.volume_binding import VolumeBinding
from engine.scheduler.plugins.volume_restrictions import VolumeRestrictions
from engine.scheduler.plugins.volume_zone import VolumeZone
from engine.scheduler.pod_info import PodInfo
from tests.scheduler.harness import Bench
from tests.scheduler.objects import node, pod

ZONE = "topology.kubernetes.io/zone"
NODES = [node("a", labels={ZONE: "za"}), node("b", labels={ZONE: "zb"})]


def claim(
    name: str,
    *,
    volume: str = "",
    bound: bool = False,
    storage_class: str = "",
    size: str = "1Gi",
    modes: tuple[str, ...] = ("ReadWriteOnce",),
    selected: str = "",
    **fields: Any,
) -> Object:
    annotations = {}
    if bound:
        annotations["pv.kubernetes.io/bind-completed"] = "yes"
    if selected:
        annotations["volume.kubernetes.io/selected-node"] = selected
    spec: Object = {"accessModes": list(modes), "resources": {"requests": {"storage": size}}, **fields}
    if volume:
        spec["volumeName"] = volume
    if storage_class:
        spec["storageClassName"] = storage_class
    return {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", "annotations": annotations},
        "spec": spec,
    }


def volume(
    name: str,
    *,
    zone: str = "",
    size: str = "1Gi",
    storage_class: str = "",
    labels: dict[str, str] | None = None,
    driver: str = "",
    **fields: Any,
) -> Object:
    spec: Object = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], **fields}
    if zone:
        expression = {"key": ZONE, "operator": "In", "values": [zone]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    if storage_class:
        spec["storageClassName"] = storage_class
    if driver:
        spec["csi"] = {"driver": driver, "volumeHandle": f"handle-{name}"}
    metadata = {"name": name, "labels": labels or {}}
    return {"kind": "PersistentVolume", "metadata": metadata, "spec": spec, "status": {"phase": "Available"}}


def storage_class(
    name: str, *, mode: str = "WaitForFirstConsumer", provisioner: str = "csi.example.com", **fields: Any
) -> Object:
    metadata = {"name": name}
    return {
        "kind": "StorageClass",
        "metadata": metadata,
        "provisioner": provisioner,
        "volumeBindingMode": mode,
        **fields,
    }


def user(*claims: str, name: str = "p", **fields: Any) -> Object:
    volumes = [{"name": c, "persistentVolumeClaim": {"claimName": c}} for c in claims]
    return pod(name, volumes=volumes, **fields)


LOCAL = storage_class("local", provisioner="kubernetes.io/no-provisioner")
NO_MATCH = "node(s) didn't find available persistent volumes to bind"
WRONG_NODE = "node(s) didn't match PersistentVolume's node affinity"
TOO_FULL = "node(s) did not have enough free storage"

BETA = {"volume.beta.kubernetes.io/storage-class": "local"}


def annotated(obj: Object, annotations: dict[str, str]) -> Object:
    metadata = obj["metadata"]
    return {**obj, "metadata": {**metadata, "annotations": {**metadata.get("annotations", {}), **annotations}}}


def lost(obj: Object) -> Object:
    return {**obj, "status": {"phase": "Lost"}}


def leaving(obj: Object) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}


MINE = {"namespace": "default", "name": "c"}
KEPT = volume("v", storage_class="local", zone="zb", claimRef=MINE)
DRIVER = {"kind": "CSIDriver", "metadata": {"name": "csi.example.com"}, "spec": {"storageCapacity": True}}

CASES: dict[str, tuple[list[Object], list[str]]] = {
    "lost": (
        [lost(claim("c", volume="v", bound=True))],
        ['persistentvolumeclaim "c" bound to non-existent persistentvolume "v"'] * 2,
    ),
    "being deleted": (
        [leaving(claim("c", volume="v", bound=True)), volume("v")],
        ['persistentvolumeclaim "c" is being deleted'] * 2,
    ),
    "named by the claim, not bound yet": (
        [claim("c", volume="v", storage_class="local"), LOCAL, volume("v", storage_class="local")],
        ["pod has unbound immediate PersistentVolumeClaims"] * 2,
    ),
    "a local volume kept for the claim": (
        [claim("c", storage_class="local"), LOCAL, KEPT],
        [NO_MATCH, ""],
    ),
    "a local volume kept for the claim, and another": (
        [
            claim("c", storage_class="local"),
            LOCAL,
            volume("w", storage_class="local"),
            volume("v", storage_class="local", zone="zb", claimRef=MINE),
        ],
        [NO_MATCH, ""],
    ),
    "a local volume kept for the claim, of another class": (
        [claim("c", storage_class="local"), LOCAL, volume("v", storage_class="other", claimRef=MINE)],
        [NO_MATCH, NO_MATCH],
    ),
    "a local volume kept for an earlier claim of that name": (
        [
            claim("c", storage_class="local"),
            LOCAL,
            volume("v", storage_class="local", claimRef={**MINE, "uid": "earlier"}),
        ],
        [NO_MATCH, NO_MATCH],
    ),
    "a local volume that is being deleted": (
        [claim("c", storage_class="local"), LOCAL, leaving(volume("v", storage_class="local"))],
        [NO_MATCH, NO_MATCH],
    ),
    "a local volume of the other mode": (
        [claim("c", storage_class="local"), LOCAL, volume("v", storage_class="local", volumeMode="Block")],
        [NO_MATCH, NO_MATCH],
    ),
    "a local volume with other labels": (
        [
            claim("c", storage_class="local", selector={"matchLabels": {"disk": "ssd"}}),
            LOCAL,
            volume("v", storage_class="local", labels={"disk": "hdd"}),
        ],
        [NO_MATCH, NO_MATCH],
    ),
    "classes by annotation": (
        [annotated(claim("c"), BETA), LOCAL, annotated(volume("v", storage_class="other"), BETA)],
        ["", ""],
    ),
    "no class by annotation": (
        [annotated(claim("c", storage_class="local"), {**BETA, next(iter(BETA)): ""}), LOCAL],
        ["pod has unbound immediate PersistentVolumeClaims"] * 2,
    ),
    "bound, reachable from anywhere": ([claim("c", volume="v", bound=True), volume("v")], ["", ""]),
    "bound in one zone": ([claim("c", volume="v", bound=True), volume("v", zone="za")], ["", WRONG_NODE]),
    "bound to a volume that is gone": (
        [claim("c", volume="v", bound=True)],
        ["node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"] * 2,
    ),
    "no claim": ([], ['persistentvolumeclaim "c" not found'] * 2),
    "immediate, not bound yet": (
        [claim("c", storage_class="fast"), storage_class("fast", mode="Immediate")],
        ["pod has unbound immediate PersistentVolumeClaims"] * 2,
    ),
    "no such class": (
        [claim("c", storage_class="fast")],
        ["pod has unbound immediate PersistentVolumeClaims"] * 2,
    ),
    "a local volume": (
        [claim("c", storage_class="local"), LOCAL, volume("v", zone="za", storage_class="local")],
        ["", NO_MATCH],
    ),
    "a local volume that is too small": (
        [claim("c", storage_class="local", size="2Gi"), LOCAL, volume("v", zone="za", storage_class="local")],
        [NO_MATCH, NO_MATCH],
    ),
    "a local volume of another class": (
        [claim("c", storage_class="local"), LOCAL, volume("v", zone="za", storage_class="other")],
        [NO_MATCH, NO_MATCH],
    ),
    "a local volume with other access": (
        [claim("c", storage_class="local", modes=("ReadWriteMany",)), LOCAL, volume("v", storage_class="local")],
        [NO_MATCH, NO_MATCH],
    ),
    "a local volume that another claim has": (
        [
            claim("c", storage_class="local"),
            LOCAL,
            volume("v", storage_class="local", claimRef={"namespace": "default", "name": "other"}),
        ],
        [NO_MATCH, NO_MATCH],
    ),
    "provisioned anywhere": ([claim("c", storage_class="fast"), storage_class("fast")], ["", ""]),
    "provisioned in allowed zones": (
        [
            claim("c", storage_class="fast"),
            storage_class("fast", allowedTopologies=[{"matchLabelExpressions": [{"key": ZONE, "values": ["zb"]}]}]),
        ],
        [NO_MATCH, ""],
    ),
    "being provisioned for one node": (
        [claim("c", storage_class="fast", selected="b"), storage_class("fast")],
        [NO_MATCH, ""],
    ),
    "provisioned where there is room": (
        [
            claim("c", storage_class="fast", size="5Gi"),
            storage_class("fast"),
            DRIVER,
            {
                "kind": "CSIStorageCapacity",
                "metadata": {"name": "x", "namespace": "default"},
                "storageClassName": "fast",
                "capacity": "10Gi",
                "nodeTopology": {"matchLabels": {ZONE: "za"}},
            },
        ],
        ["", TOO_FULL],
    ),
}

# A pod with two claims, c and d.
SECOND = [claim("d", storage_class="local", size="5Gi"), LOCAL]
TWO_CLAIMS: dict[str, tuple[list[Object], list[str]]] = {
    "one missing": ([claim("c", volume="v", bound=True), volume("v")], ['persistentvolumeclaim "d" not found'] * 2),
    "one bound elsewhere, the other finds nothing": (
        [claim("c", volume="v", bound=True), volume("v", zone="za"), *SECOND],
        [NO_MATCH, f"{WRONG_NODE}, {NO_MATCH}"],
    ),
    "one bound to a volume that is gone, the other finds nothing": (
        [claim("c", volume="v", bound=True), *SECOND],
        [f"{NO_MATCH}, node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"] * 2,
    ),
    "one immediate": (
        [claim("c", storage_class="fast"), storage_class("fast", mode="Immediate"), *SECOND],
        ["pod has unbound immediate PersistentVolumeClaims"] * 2,
    ),
    "one found, one provisioned": (
        [
            claim("c", storage_class="fast"),
            storage_class("fast"),
            *SECOND,
            volume("v", storage_class="local", size="5Gi", zone="zb"),
        ],
        [NO_MATCH, ""],
    ),
    "the small one leaves the large volume to the other": (
        [claim("c", storage_class="local"), *SECOND]
        + [volume(f"v{size}", storage_class="local", size=size) for size in ("9Gi", "1Gi")],
        ["", ""],
    ),
    "the one that is being provisioned is looked at first": (
        [
            claim("c", storage_class="fast", size="9Gi", selected="a"),
            storage_class("fast"),
            *SECOND,
            DRIVER,
        ],
        [TOO_FULL, NO_MATCH],
    ),
}


@pytest.mark.parametrize(("others", "expected"), TWO_CLAIMS.values(), ids=TWO_CLAIMS)
def test_volume_binding_of_two_claims(others: list[Object], expected: list[str]) -> None:
    bench = Bench(NODES, others=others)
    assert [status.reasons for status in bench.filter(VolumeBinding, user("c", "d")).values()] == [
        tuple(text.split(", ")) if text else () for text in expected
    ]


@pytest.mark.parametrize(("others", "expected"), CASES.values(), ids=CASES)
def test_volume_binding(others: list[Object], expected: list[str]) -> None:
    bench = Bench(NODES, others=others)
    assert list(bench.reasons(VolumeBinding, user("c")).values()) == expected


def test_two_claims_do_not_share_a_volume() -> None:
    others = [claim("c", storage_class="local"), claim("d", storage_class="local"), LOCAL]
    one = volume("v", storage_class="local")
    bench = Bench(NODES, others=[*others, one])
    assert list(bench.reasons(VolumeBinding, user("c", "d")).values()) == [NO_MATCH, NO_MATCH]
    bench = Bench(NODES, others=[*others, one, volume("w", storage_class="local")])
    assert list(bench.reasons(VolumeBinding, user("c", "d")).values()) == ["", ""]


def test_reserving_takes_the_smallest_volume_that_is_enough_and_keeps_it() -> None:
    others = [
        claim("c", storage_class="local", size="2Gi"),
        claim("d", storage_class="local", size="2Gi"),
        claim("e", storage_class="local", size="2Gi"),
        LOCAL,
        volume("large", storage_class="local", size="9Gi"),
        volume("enough", storage_class="local", size="3Gi"),
    ]
    bench = Bench(NODES, others=others)
    plugin, state, info = bench.plugin(VolumeBinding), CycleState(), PodInfo(user("c"))
    assert plugin.pre_filter(state, info, bench.snapshot).status.ok
    assert plugin.reserve(state, info, "a").ok
    second, again = PodInfo(user("d", name="q")), CycleState()
    assert plugin.pre_filter(again, second, bench.snapshot).status.ok
    assert plugin.reserve(again, second, "a").ok
    assert bench.reasons(VolumeBinding, user("e", name="r")) == {"a": NO_MATCH, "b": NO_MATCH}
    plugin.unreserve(state, info, "a")
    assert bench.reasons(VolumeBinding, user("e", name="r")) == {"a": "", "b": ""}


def test_volume_zone() -> None:
    bound = claim("c", volume="v", bound=True)
    bench = Bench([*NODES, node("none")], others=[bound, volume("v", labels={ZONE: "za__zc"})])
    assert bench.reasons(VolumeZone, user("c")) == {"a": "", "b": "node(s) had no available volume zone", "none": ""}
    beta = volume("v", labels={"failure-domain.beta.kubernetes.io/zone": "zb"})
    found = Bench(NODES, others=[bound, beta]).reasons(VolumeZone, user("c"))
    assert found == {"a": "node(s) had no available volume zone", "b": ""}


REGION, CONFLICT = "topology.kubernetes.io/region", "node(s) had no available volume zone"
BETA_ZONE, BETA_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"

# The volume's labels, the node's, and whether they go together: upstream's TestSingleZone and TestMultiZone.
ZONES: dict[str, tuple[dict[str, str], dict[str, str], bool]] = {
    "node without labels": ({BETA_ZONE: "a"}, {}, True),
    "beta zone label matched": ({BETA_ZONE: "a"}, {BETA_ZONE: "a", "useless": "none"}, True),
    "beta region label matched": ({BETA_REGION: "a"}, {BETA_REGION: "a"}, True),
    "beta region label does not match": ({BETA_REGION: "a"}, {BETA_REGION: "b"}, False),
    "beta zone label does not match": ({BETA_ZONE: "a"}, {BETA_ZONE: "b"}, False),
    "zone label matched": ({ZONE: "a"}, {ZONE: "a"}, True),
    "region label matched": ({REGION: "a"}, {REGION: "a"}, True),
    "region label does not match": ({REGION: "a"}, {REGION: "b"}, False),
    "zone label does not match": ({ZONE: "a"}, {ZONE: "b"}, False),
    "volume with zone and region, node with only zone": ({ZONE: "a", REGION: "a"}, {ZONE: "a"}, False),
    "volume with zone, node with beta zone": ({ZONE: "a"}, {BETA_ZONE: "a"}, False),
    "volume with beta label, node with its successor": ({BETA_ZONE: "a"}, {ZONE: "a"}, True),
    "volume with beta label, node in another zone": ({BETA_ZONE: "a"}, {ZONE: "b"}, False),
    "several zones, matched": ({ZONE: "c__a"}, {ZONE: "a"}, True),
    "several zones, not matched": ({ZONE: "c__a"}, {ZONE: "b"}, False),
    "several beta zones, matched": ({BETA_ZONE: "c__a"}, {BETA_ZONE: "a"}, True),
    "a zone without a name": ({ZONE: "a__"}, {ZONE: "b"}, True),
    "an empty zone": ({ZONE: ""}, {ZONE: "b"}, True),
}


@pytest.mark.parametrize(("labels", "there", "fits"), ZONES.values(), ids=ZONES)
def test_zones_of_a_volume_and_of_a_node(labels: dict[str, str], there: dict[str, str], fits: bool) -> None:
    bench = Bench([node("n", labels=there)], others=[claim("c", volume="v", bound=True), volume("v", labels=labels)])
    assert bench.reasons(VolumeZone, user("c")) == {"n": "" if fits else CONFLICT}


ZONE_MESSAGES: dict[str, tuple[list[Object], str]] = {
    "no class": ([claim("c")], "PersistentVolumeClaim had no pv name and storageClass name"),
    "unknown class": ([claim("c", storage_class="x")], 'storageclass.storage.k8s.io "x" not found'),
    "immediate": (
        [claim("c", storage_class="x"), storage_class("x", mode="Immediate")],
        "PersistentVolume had no name",
    ),
    "waits": ([claim("c", storage_class="x"), storage_class("x")], ""),
    "volume gone": ([claim("c", volume="v", bound=True)], 'persistentvolume "v" not found'),
}


@pytest.mark.parametrize(("others", "message"), ZONE_MESSAGES.values(), ids=ZONE_MESSAGES)
def test_volume_zone_of_claims_without_a_volume(others: list[Object], message: str) -> None:
    assert set(Bench(NODES, others=others).reasons(VolumeZone, user("c")).values()) == {message}


def disk(kind: str, **fields: Any) -> list[Object]:
    return [{"name": "d", kind: fields}]


DISKS: dict[str, tuple[list[Object], list[Object], bool]] = {
    "gce": (disk("gcePersistentDisk", pdName="x"), disk("gcePersistentDisk", pdName="x"), False),
    "gce, read-only": (
        disk("gcePersistentDisk", pdName="x", readOnly=True),
        disk("gcePersistentDisk", pdName="x", readOnly=True),
        True,
    ),
    "another disk": (disk("gcePersistentDisk", pdName="x"), disk("gcePersistentDisk", pdName="y"), True),
    "ebs, read-only too": (
        disk("awsElasticBlockStore", volumeID="x", readOnly=True),
        disk("awsElasticBlockStore", volumeID="x", readOnly=True),
        False,
    ),
    "iscsi": (disk("iscsi", iqn="x"), disk("iscsi", iqn="x"), False),
    "rbd": (disk("rbd", monitors=["a", "b"], image="i"), disk("rbd", monitors=["b"], image="i", pool="rbd"), False),
    "rbd, other monitors": (disk("rbd", monitors=["a"], image="i"), disk("rbd", monitors=["b"], image="i"), True),
}


@pytest.mark.parametrize(("mine", "theirs", "fits"), DISKS.values(), ids=DISKS)
def test_disks_that_cannot_be_mounted_twice(mine: list[Object], theirs: list[Object], fits: bool) -> None:
    bench = Bench(NODES, [pod("there", node_name="a", volumes=theirs)])
    found = bench.reasons(VolumeRestrictions, pod("p", volumes=mine))
    assert found == {"a": "" if fits else "node(s) had no available disk", "b": ""}


def test_a_read_write_once_pod_claim_has_one_user_anywhere() -> None:
    others = [claim("c", modes=("ReadWriteOncePod",)), claim("d")]
    bench = Bench(
        NODES, [user("c", name="there", node_name="a"), user("d", name="other", node_name="a")], others=others
    )
    status = bench.filter(VolumeRestrictions, user("c"))["b"]
    assert status.code is Code.UNSCHEDULABLE
    assert status.message == (
        "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
    )
    assert all(s.ok for s in bench.filter(VolumeRestrictions, user("d")).values())


def limited(name: str, count: int) -> Object:
    driver = {"name": "csi.example.com", "nodeID": name, "allocatable": {"count": count}}
    return {"kind": "CSINode", "metadata": {"name": name}, "spec": {"drivers": [driver]}}


# Claims c0 to c4, each bound to a volume of its own.
LIMITED = [
    obj
    for i in range(5)
    for obj in (claim(f"c{i}", volume=f"v{i}", bound=True), volume(f"v{i}", driver="csi.example.com"))
]


def test_volume_limits_of_nodes() -> None:
    there = [user("c0", "c1", name="there", node_name="a")]
    bench = Bench(NODES, there, others=[*LIMITED, limited("a", 2), limited("b", 2)])
    full = "node(s) exceed max volume count"
    assert bench.reasons(NodeVolumeLimits, user("c2")) == {"a": full, "b": ""}
    # A volume that is attached already takes no further place.
    assert bench.reasons(NodeVolumeLimits, user("c1")) == {"a": "", "b": ""}
    assert bench.reasons(NodeVolumeLimits, user("c2", "c3", "c4")) == {"a": full, "b": full}


def test_a_limit_follows_what_the_csi_driver_says() -> None:
    there = [user("c0", name="there", node_name="a")]
    bench = Bench(NODES, there, others=[*LIMITED, limited("a", 1)])
    assert bench.reasons(NodeVolumeLimits, user("c1"))["a"] == "node(s) exceed max volume count"
    bench.framework.handle.lister = Bench(others=[*LIMITED, limited("a", 2)]).framework.handle.lister
    assert bench.reasons(NodeVolumeLimits, user("c1"))["a"] == ""


def test_a_limit_of_nought_lets_no_volume_in() -> None:
    bench = Bench(NODES, others=[*LIMITED, limited("a", 0)])
    assert bench.reasons(NodeVolumeLimits, user("c0")) == {"a": "node(s) exceed max volume count", "b": ""}


EBS_NODE = limited("a", 1)
EBS_NODE["spec"]["drivers"][0]["name"] = "ebs.csi.aws.com"


def of_a_disk(**source: Any) -> Object:
    return pod("p", volumes=[{"name": "v", **source}])


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        pytest.param(of_a_disk(awsElasticBlockStore={"volumeID": "d2"}), False, id="another disk, named by the pod"),
        pytest.param(of_a_disk(awsElasticBlockStore={"volumeID": "d1"}), True, id="the one that is attached"),
        pytest.param(of_a_disk(gcePersistentDisk={"pdName": "d2"}), True, id="of another driver"),
        pytest.param(of_a_disk(vsphereVolume={"volumePath": "d2"}), True, id="of a driver that counts none"),
        pytest.param(user("in-tree"), False, id="a volume of the in-tree plugin"),
        pytest.param(user("to-be"), False, id="one that an in-tree provisioner will make"),
    ],
)
def test_limits_count_what_drivers_took_over(wanted: Object, fits: bool) -> None:
    """As the tables on migration of upstream's csi_test.go have it."""
    there = [pod("there", node_name="a", volumes=[{"name": "v", "awsElasticBlockStore": {"volumeID": "d1"}}])]
    old = volume("old")
    old["spec"]["awsElasticBlockStore"] = {"volumeID": "d3"}
    made = storage_class("ebs", provisioner="kubernetes.io/aws-ebs")
    others = [EBS_NODE, old, claim("in-tree", volume="old", bound=True), made, claim("to-be", storage_class="ebs")]
    reasons = Bench(NODES, there, others=others).reasons(NodeVolumeLimits, wanted)
    assert reasons == {"a": "" if fits else "node(s) exceed max volume count", "b": ""}


EPHEMERAL = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}
MISSING: dict[str, tuple[Object, str]] = {
    "a claim": (user("c"), 'persistentvolumeclaim "c" not found'),
    "a claim that is made for the pod": (
        pod("p", volumes=[EPHEMERAL]),
        'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-scratch"',
    ),
}


@pytest.mark.parametrize(("mine", "message"), MISSING.values(), ids=MISSING)
def test_what_is_said_of_a_claim_that_is_missing(mine: Object, message: str) -> None:
    assert Bench(NODES, others=[limited("a", 1)]).message(mine).startswith(f"0/2 nodes are available: {message}.")


@pytest.mark.parametrize(
    ("wanted", "others", "code", "message"),
    [
        pytest.param(
            user("c"),
            [],
            Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
            'looking up PVC default/c: persistentvolumeclaim "c" not found',
            id="missing",
        ),
        pytest.param(
            pod("p", volumes=[EPHEMERAL]),
            [],
            Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
            'looking up PVC default/p-scratch: persistentvolumeclaim "p-scratch" not found',
            id="not made yet",
        ),
        pytest.param(
            pod("p", volumes=[EPHEMERAL]),
            [claim("p-scratch")],
            Code.ERROR,
            "PVC default/p-scratch was not created for pod default/p (pod is not owner)",
            id="another's",
        ),
    ],
)
def test_limits_are_not_counted_for_claims_that_cannot_be_used(
    wanted: Object, others: list[Object], code: Code, message: str
) -> None:
    """As upstream's csi_test.go has it; with the default profile VolumeBinding tells it first."""
    found = Bench(NODES, others=others).filter(NodeVolumeLimits, wanted)
    assert {(status.code, status.message) for status in found.values()} == {(code, message)}


def test_nodes_without_limits_take_any_number() -> None:
    bench = Bench(NODES, others=LIMITED)
    assert bench.reasons(NodeVolumeLimits, user("c0", "c1", "c2")) == {"a": "", "b": ""}


def test_claims_to_be_provisioned_count_by_their_class() -> None:
    fast = [claim("x", storage_class="fast"), claim("y", storage_class="fast"), storage_class("fast")]
    bench = Bench(NODES, others=[*fast, limited("a", 1)])
    found = bench.reasons(NodeVolumeLimits, user("x", "y"))
    assert found == {"a": "node(s) exceed max volume count", "b": ""}
