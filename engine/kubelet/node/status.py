"""The Node object as the kubelet makes it (nodestatus/setters.go). Pure: facts in, object out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.config import NodeConfig
from engine.kubelet import kernel
from engine.kubelet.cri import Image, RuntimeCondition, VersionResponse

REGION = "region-1"
EPHEMERAL_STORAGE = "100Gi"
MAX_IMAGES = 50
MAX_NAMES = 5
ARCHITECTURE = "amd64"
OS = "linux"
OS_IMAGE = "Debian GNU/Linux 13 (trixie)"
KUBELET_PORT = 10250
# What containerd says of itself: its default handler has a name and none.
RUNTIME_HANDLERS = ("runc", "")
# What a kubelet of today says that it can do beyond the least that is expected of one (KEP 5328); sorted.
DECLARED_FEATURES = (
    "ExtendWebSocketsToKubelet",
    "InPlacePodLevelResourcesVerticalScaling",
    "InPlacePodVerticalScalingInitContainers",
    "RestartAllContainersOnContainerExits",
)
_HANDLER_FEATURES = {"recursiveReadOnlyMounts": True, "userNamespaces": True}


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What the node is and how it is now."""

    config: NodeConfig
    node_ip: str
    kubelet_version: str
    machine_id: str
    system_uuid: str
    boot_id: str
    runtime: VersionResponse
    conditions: Sequence[RuntimeCondition]
    images: Sequence[Image]
    now: str
    memory_pressure: bool = False


def initial_node(config: NodeConfig) -> Object:
    """The object to register, status apart."""
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {
            "name": config.name,
            "labels": labels(config),
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
        },
        "spec": {},
    }


def labels(config: NodeConfig) -> dict[str, str]:
    return {
        "beta.kubernetes.io/arch": ARCHITECTURE,
        "beta.kubernetes.io/os": OS,
        "kubernetes.io/arch": ARCHITECTURE,
        "kubernetes.io/hostname": config.name,
        "kubernetes.io/os": OS,
        "topology.kubernetes.io/region": REGION,
        "topology.kubernetes.io/zone": config.zone,
        **config.labels,
    }


def node_status(facts: NodeFacts, previous: Object) -> Object:
    """The status; `previous` gives the times of the conditions' last transitions and what others keep in it: resources
    that somebody advertised in the capacity can be allocated from then on (nodestatus setters.go MachineInfo)."""
    capacity = dict(sorted({**(previous.get("capacity") or {}), **_capacity(facts.config)}.items()))
    made = {key: previous[key] for key in ("volumesAttached", "volumesInUse", "config") if previous.get(key)}
    if facts.images:
        made["images"] = _images(facts.images)
    return {
        **made,
        "addresses": [
            {"type": "InternalIP", "address": facts.node_ip},
            {"type": "Hostname", "address": facts.config.name},
        ],
        "allocatable": capacity,
        "capacity": capacity,
        "conditions": _conditions(facts, previous),
        "declaredFeatures": list(DECLARED_FEATURES),
        "daemonEndpoints": {"kubeletEndpoint": {"Port": KUBELET_PORT}},
        "features": {"supplementalGroupsPolicy": True},
        "runtimeHandlers": [{"name": name, "features": dict(_HANDLER_FEATURES)} for name in RUNTIME_HANDLERS],
        "nodeInfo": {
            "architecture": ARCHITECTURE,
            "bootID": facts.boot_id,
            "containerRuntimeVersion": f"{facts.runtime.runtime_name}://{facts.runtime.runtime_version}",
            "kernelVersion": kernel.RELEASE,
            "kubeProxyVersion": "",
            "kubeletVersion": facts.kubelet_version,
            "machineID": facts.machine_id,
            "operatingSystem": OS,
            "osImage": OS_IMAGE,
            "systemUUID": facts.system_uuid,
        },
    }


def _capacity(config: NodeConfig) -> dict[str, str]:
    """Nothing is reserved for the system: what the node has, Pods may use."""
    return {
        "cpu": str(Quantity.parse(config.cpu)),
        "ephemeral-storage": EPHEMERAL_STORAGE,
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": str(Quantity.parse(config.memory)),
        "pods": str(config.pods),
    }


def _images(images: Sequence[Image]) -> list[Object]:
    largest = sorted(images, key=lambda image: (-image.size, image.id))[:MAX_IMAGES]
    return [
        {"names": [*image.repo_digests, *image.repo_tags][:MAX_NAMES], "sizeBytes": image.size} for image in largest
    ]


# Type, status, reason, message.
_PRESSURES = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
)
_MEMORY_IS_SHORT = (
    "MemoryPressure",
    "True",
    "KubeletHasInsufficientMemory",
    "kubelet has insufficient memory available",
)
# The event of a condition that has just become so.
PRESSURE_EVENTS = {
    ("MemoryPressure", "True"): "NodeHasInsufficientMemory",
    ("MemoryPressure", "False"): "NodeHasSufficientMemory",
    ("DiskPressure", "False"): "NodeHasNoDiskPressure",
    ("PIDPressure", "False"): "NodeHasSufficientPID",
}


def _conditions(facts: NodeFacts, previous: Object) -> list[Object]:
    before = {condition["type"]: condition for condition in previous.get("conditions") or ()}
    kubelets = [_MEMORY_IS_SHORT if facts.memory_pressure else _PRESSURES[0], *_PRESSURES[1:], _ready(facts)]
    own = {item[0] for item in kubelets}
    others = [condition for condition in previous.get("conditions") or () if condition["type"] not in own]
    made = []
    for type, status, reason, message in kubelets:
        old = before.get(type)
        since = old["lastTransitionTime"] if old is not None and old["status"] == status else facts.now
        made.append(
            {
                "lastHeartbeatTime": facts.now,
                "lastTransitionTime": since,
                "message": message,
                "reason": reason,
                "status": status,
                "type": type,
            }
        )
    return [*others, *made]


def _ready(facts: NodeFacts) -> tuple[str, str, str, str]:
    problems = []
    for condition in facts.conditions:
        if condition.status:
            continue
        text = f"{condition.type}=false reason:{condition.reason} message:{condition.message}"
        kind = "network" if condition.type == "NetworkReady" else "runtime"
        problems.append(f"container runtime {kind} not ready: {text}")
    if problems:
        return "Ready", "False", "KubeletNotReady", ", ".join(problems)
    return "Ready", "True", "KubeletReady", "kubelet is posting ready status"


def is_ready(status: Object) -> bool:
    return any(
        condition["type"] == "Ready" and condition["status"] == "True" for condition in status.get("conditions") or ()
    )


def changed(old: Object, new: Object) -> bool:
    """Whether more than heartbeats differ (kubelet_node_status.go nodeStatusHasChanged)."""
    if {**old, "conditions": None} != {**new, "conditions": None}:
        return True
    return _without_heartbeats(old) != _without_heartbeats(new)


def _without_heartbeats(status: Object) -> list[Object]:
    return [{**condition, "lastHeartbeatTime": ""} for condition in status.get("conditions") or ()]
