"""Which Pods an event of storage moves out of the unschedulable pool, with the API server and one plugin at a time (the
rows of upstream's test/integration/scheduler/queueing that concern volumes).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from engine.api.types import GVR, NODES, PODS, Object
from engine.api.wire import JSON_PATCH
from engine.scheduler.configuration import SchedulerConfiguration
from engine.scheduler.configuration.loading import load
from engine.world import World
from tests.scheduler.objects import node, pod
from tests.scheduler.stage import Stage, open_stage
from tests.scheduler.test_requeueing import attempts

Act = Callable[[Stage], Awaitable[Any]]

VOLUMES, CLAIMS = GVR("", "v1", "persistentvolumes"), GVR("", "v1", "persistentvolumeclaims")
CLASSES, CSI_NODES = GVR("storage.k8s.io", "v1", "storageclasses"), GVR("storage.k8s.io", "v1", "csinodes")
DRIVERS, ATTACHMENTS = GVR("storage.k8s.io", "v1", "csidrivers"), GVR("storage.k8s.io", "v1", "volumeattachments")
CAPACITIES = GVR("storage.k8s.io", "v1", "csistoragecapacities")
RESOURCES = {
    "PersistentVolume": VOLUMES,
    "PersistentVolumeClaim": CLAIMS,
    "StorageClass": CLASSES,
    "CSINode": CSI_NODES,
    "CSIDriver": DRIVERS,
    "CSIStorageCapacity": CAPACITIES,
    "VolumeAttachment": ATTACHMENTS,
}
NAMESPACED = (PODS, CLAIMS, CAPACITIES)
ZONE, BETA_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"


def made(kind: str, name: str, metadata: Object | None = None, **fields: Any) -> Object:
    version = "v1" if kind.startswith("Persistent") else "storage.k8s.io/v1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **(metadata or {})}, **fields}


def near(key: str, value: str) -> Object:
    expression = {"key": key, "operator": "In", "values": [value]}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}


def volume(name: str, *, zone: str = "", driver: str = "", **spec: Any) -> Object:
    source = {"csi": {"driver": driver, "volumeHandle": name}} if driver else {"hostPath": {"path": "/tmp"}}
    full = {"capacity": {"storage": "1Mi"}, "accessModes": ["ReadWriteMany"], **source, **spec}
    return made("PersistentVolume", name, {"labels": {ZONE: zone}} if zone else {}, spec=full)


def claim(name: str, of: str = "", *, mode: str = "ReadWriteMany", **spec: Any) -> Object:
    full = {"accessModes": [mode], "resources": {"requests": {"storage": "1Mi"}}, **spec}
    if of:
        full["volumeName"] = of
    bound = {"annotations": {"pv.kubernetes.io/bind-completed": "true"}} if of else {}
    return made("PersistentVolumeClaim", name, bound, spec=full)


def storage_class(mode: str, *zones: str, **metadata: Any) -> Object:
    terms = [{"matchLabelExpressions": [{"key": ZONE, "values": list(zones)}]}]
    allowed = {"allowedTopologies": terms} if zones else {}
    return made("StorageClass", "sc", metadata, provisioner="p", volumeBindingMode=mode, **allowed)


LATE, AT_ONCE = "WaitForFirstConsumer", "Immediate"


def csi_node(name: str, **limits: int) -> Object:
    drivers = [{"name": d, "nodeID": name, "allocatable": {"count": count}} for d, count in limits.items()]
    return made("CSINode", name, spec={"drivers": drivers})


def driver(name: str, *, capacity: bool) -> Object:
    return made("CSIDriver", name, spec={"storageCapacity": capacity})


def capacity(amount: str) -> Object:
    return made("CSIStorageCapacity", "csc", storageClassName="sc", capacity=amount)


def attachment(name: str, of: str, attacher: str) -> Object:
    source = {"persistentVolumeName": of}
    return made("VolumeAttachment", name, spec={"attacher": attacher, "nodeName": "n", "source": source})


def user(name: str, *claims: str, volumes: list[Object] | None = None, **fields: Any) -> Object:
    used = [{"name": c, "persistentVolumeClaim": {"claimName": c}} for c in claims]
    return pod(name, volumes=[*used, *(volumes or [])], **fields)


def inline(name: str) -> Object:
    return {"name": "inline", "csi": {"driver": name}}


def create(obj: Object) -> Act:
    resource = NODES if obj["kind"] == "Node" else RESOURCES[obj["kind"]]
    return lambda stage: stage.admin.create(resource, obj, namespace="default" if resource in NAMESPACED else None)


def put(resource: GVR, name: str, path: str, value: Any) -> Act:
    patch = [{"op": "add", "path": path, "value": value}]
    namespace = "default" if resource in NAMESPACED else None
    return lambda stage: stage.admin.patch(resource, name, patch, namespace=namespace, content_type=JSON_PATCH)


def delete(resource: GVR, name: str, **how: Any) -> Act:
    namespace = "default" if resource in NAMESPACED else None
    return lambda stage: stage.admin.delete(resource, name, namespace=namespace, **how)


def both(first: Act, second: Act) -> Act:
    async def run(stage: Stage) -> None:
        await first(stage)
        await second(stage)

    return run


def finish(resource: GVR, name: str) -> Act:
    """Without those who protect it."""
    return both(put(resource, name, "/metadata/finalizers", []), delete(resource, name))


def gone(name: str) -> Act:
    return delete(PODS, name, grace_period_seconds=0)


WEST = [volume("v1", zone="west")]
ONCE: Any = {"mode": "ReadWriteOncePod"}
EBS, PD = "ebs.csi.aws.com", "pd.csi.storage.gke.io"

# The plugin, the storage that is there, Pods on the node, Pods that find no node, what happens then, and which of the
# last are tried again.
ROWS = [
    pytest.param(
        "VolumeZone", [*WEST, claim("c1", "v1"), claim("c2", "v2")], [user("x", "c1", node_name="n")],
        [user("p", "c2")], create(volume("v2", zone="west")), {"p"}, id="zone: a volume comes",
    ),
    pytest.param(
        "VolumeZone", [*WEST, volume("v2", zone="east"), claim("c1", "v1"), claim("c2", "v2")], [], [user("p", "c2")],
        put(VOLUMES, "v2", "/metadata/labels", {ZONE: "west"}), {"p"}, id="zone: a volume changes its zone",
    ),
    pytest.param(
        "VolumeZone", [*WEST, volume("v2", zone="east"), claim("c1", "v1")], [], [user("p", "c2"), user("q", "c3")],
        create(claim("c2", "v2")), {"p"}, id="zone: the claim comes",
    ),
    pytest.param(
        "VolumeZone", [*WEST, volume("v2", zone="east"), claim("c2")], [], [user("p", "c2"), user("q", "c3")],
        put(CLAIMS, "c2", "/spec/volumeName", "v2"), {"p"}, id="zone: the claim gets its volume",
    ),
    pytest.param(
        "VolumeZone", [*WEST, claim("c2", "v2")], [], [user("p", "c2")],
        create(storage_class(LATE)), {"p"}, id="zone: a class comes",
    ),
    pytest.param(
        "VolumeZone", [volume("v2", zone="east"), claim("c2", "v2")], [], [user("p", "c2")],
        put(VOLUMES, "v2", "/metadata/labels/unrelated", "x"), set(), id="zone: another label of the volume",
    ),
    pytest.param(
        "VolumeRestrictions", [volume("v1")], [], [user("p", "c1"), user("q", "c2")],
        create(claim("c1", "v1", **ONCE)), {"p"}, id="restrictions: the claim comes",
    ),
    pytest.param(
        "VolumeRestrictions", [volume("v1"), claim("c1", "v1", **ONCE)], [user("x", "c1", node_name="n")],
        [user("p", "c1"), user("q", "c2")], gone("x"), {"p"}, id="restrictions: the user of the claim goes",
    ),
    pytest.param(
        "VolumeBinding", [volume("v1", nodeAffinity=near(ZONE, "east")), claim("c1", "v1")], [], [user("p", "c1")],
        create(node("m", labels={ZONE: "east"})), {"p"}, id="binding: a node comes",
    ),
    pytest.param(
        "VolumeBinding", [volume("v1", nodeAffinity=near("a", "c")), claim("c1", "v1")], [], [user("p", "c1")],
        put(NODES, "n", "/metadata/labels/a", "c"), {"p"}, id="binding: a node's label",
    ),
    pytest.param(
        "VolumeBinding", [volume("v1", nodeAffinity=near("a", "c")), claim("c1", "v1")], [], [user("p", "c1")],
        both(finish(VOLUMES, "v1"), create(volume("v1", nodeAffinity=near("a", "b")))), {"p"},
        id="binding: a volume of the name comes",
    ),
    pytest.param(
        "VolumeBinding", [volume("v1", nodeAffinity=near(BETA_ZONE, "west")), claim("c1", "v1")], [], [user("p", "c1")],
        put(VOLUMES, "v1", "/spec/nodeAffinity", near(ZONE, "west")), {"p"}, id="binding: a volume's affinity",
    ),
    pytest.param(
        "VolumeBinding", [volume("v1"), claim("c1"), claim("c2")], [], [user("p", "c1"), user("q", "c2")],
        both(finish(CLAIMS, "c1"), create(claim("c1", "v1"))), {"p"}, id="binding: the claim comes bound",
    ),
    pytest.param(
        "VolumeBinding", [volume("v1"), claim("c1"), claim("c2")], [], [user("p", "c1"), user("q", "c2")],
        put(CLAIMS, "c1", "/spec/volumeName", "v1"), {"p"}, id="binding: the claim gets its volume",
    ),
    pytest.param(
        "VolumeBinding", [volume("v1", storageClassName="sc"), claim("c1", storageClassName="sc")], [],
        [user("p", "c1")], create(storage_class(LATE)), {"p"}, id="binding: the class comes",
    ),
    pytest.param(
        "VolumeBinding", [claim("c1", storageClassName="sc"), storage_class(LATE, "south")], [], [user("p", "c1")],
        put(CLASSES, "sc", "/allowedTopologies", storage_class(LATE, "west")["allowedTopologies"]), {"p"},
        id="binding: the class allows more",
    ),
    pytest.param(
        "VolumeBinding", [claim("c1", storageClassName="sc"), storage_class(LATE, "south", labels={"k": "v"})], [],
        [user("p", "c1")], put(CLASSES, "sc", "/metadata/labels/k", "w"), set(), id="binding: the class's label",
    ),
    pytest.param(
        "VolumeBinding", [volume("v1"), claim("c1")], [], [user("p", "c1")],
        create(csi_node("n")), {"p"}, id="binding: a CSINode comes",
    ),
    pytest.param(
        "VolumeBinding", [claim("c1", storageClassName="sc"), csi_node("n")], [], [user("p", "c1")],
        put(CSI_NODES, "n", "/metadata/annotations", {"storage.alpha.kubernetes.io/migrated-plugins": "value"}), {"p"},
        id="binding: plugins are migrated",
    ),
    pytest.param(
        "VolumeBinding", [claim("c1"), driver("d", capacity=True)], [], [user("p", "c1", volumes=[inline("d")])],
        put(DRIVERS, "d", "/spec/storageCapacity", False), {"p"}, id="binding: capacity does not matter any more",
    ),
    pytest.param(
        "VolumeBinding", [claim("c1"), driver("d", capacity=False)], [], [user("p", "c1", volumes=[inline("d")])],
        put(DRIVERS, "d", "/spec/storageCapacity", True), set(), id="binding: capacity matters now",
    ),
    pytest.param(
        "VolumeBinding", [claim("c1", storageClassName="sc"), storage_class(AT_ONCE)], [], [user("p", "c1")],
        create(capacity("10")), {"p"}, id="binding: capacity comes",
    ),
    pytest.param(
        "VolumeBinding", [claim("c1", storageClassName="sc"), storage_class(AT_ONCE), capacity("10")], [],
        [user("p", "c1")], put(CAPACITIES, "csc", "/capacity", "20"), {"p"}, id="binding: more capacity",
    ),
    pytest.param(
        "VolumeBinding", [claim("c1"), storage_class(AT_ONCE), capacity("10")], [],
        [user("p", "c1")], put(CAPACITIES, "csc", "/capacity", "5"), set(), id="binding: less capacity",
    ),
    pytest.param(
        "NodeVolumeLimits",
        [volume("v1", driver="d"), claim("c1", "v1"), driver("d", capacity=True), csi_node("n", d=0)],
        [], [user("p", "c1")], create(csi_node("m")), {"p"}, id="limits: a CSINode comes",
    ),
    pytest.param(
        "NodeVolumeLimits",
        [volume("v1", driver="d"), volume("v2", driver="d"), claim("c1", "v1"), claim("c2", "v2"), csi_node("n", d=1)],
        [user("x", "c1", node_name="n")], [user("p", "c2")], gone("x"), {"p"}, id="limits: a user of volumes goes",
    ),
    pytest.param(
        "NodeVolumeLimits",
        [volume("v1", driver="d"), volume("v2", driver="d"), claim("c1", "v1"), csi_node("n", d=1)],
        [user("x", "c1", node_name="n")], [user("p", "c2")], create(claim("c2", "v2")), {"p"},
        id="limits: the claim comes",
    ),
    pytest.param(
        "", [volume("v1", driver="d"), claim("c1", "v1"), csi_node("n", d=0), attachment("a", "v1", "x.example.com")],
        [], [user("p", "c1")], delete(ATTACHMENTS, "a"), {"p"}, id="limits: the volume is detached",
    ),
    pytest.param(
        "", [volume("v1", driver=EBS), volume("v2", driver=PD), csi_node("n", **{EBS: 0, PD: 0}),
             attachment("a", "v1", EBS), attachment("b", "v2", PD)], [],
        [user("p", volumes=[{"name": "v", "awsElasticBlockStore": {"volumeID": "v1"}}]),
         user("q", volumes=[{"name": "v", "gcePersistentDisk": {"pdName": "v2"}}])],
        delete(ATTACHMENTS, "a"), {"p"}, id="limits: a migrated volume is detached",
    ),
]  # fmt: skip


def only(plugin: str) -> SchedulerConfiguration:
    """Nothing else decides; "" for all that do by default."""
    head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    enabled = ", ".join(f"{{name: {name}}}" for name in ("PrioritySort", "DefaultBinder", plugin) if plugin)
    plugins = f"{{multiPoint: {{enabled: [{enabled}], disabled: [{{name: '*'}}]}}}}" if plugin else "{}"
    return load(f"{head}profiles:\n- plugins: {plugins}\n")


@pytest.mark.parametrize(("plugin", "storage", "there", "waiting", "act", "again"), ROWS)
async def test_who_is_tried_again_after_storage(
    world: World,
    plugin: str,
    storage: list[Object],
    there: list[Object],
    waiting: list[Object],
    act: Act,
    again: set[str],
) -> None:
    async with open_stage(world, configuration=only(plugin)) as stage:
        await stage.add_node("n", labels={"a": "b", ZONE: "west"})
        for obj in storage:
            await create(obj)(stage)
        for obj in [*there, *waiting]:
            await stage.admin.create(PODS, obj, namespace="default")
        names = [obj["metadata"]["name"] for obj in waiting]
        for name in names:
            assert (await stage.condition(name))["reason"] == "Unschedulable"
        await world.clock.sleep(20)
        before = {name: attempts(stage, name) for name in names}
        await act(stage)
        await world.clock.sleep(30)
        assert {name for name in names if attempts(stage, name) > before[name]} == again
