"""/stats/summary: what the node, its Pods and their containers use (kubelet pkg/apis/stats/v1alpha1 types.go, filled as
pkg/kubelet/server/stats/summary.go and pkg/kubelet/stats do). Pure: what was measured in, the document out.

What no simulated node has stays out, as it does upstream where a statistic is not to be had: networks count no bytes,
memory has no page faults.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.kubelet import pods
from engine.kubelet.server.measured import Measured, MeasuredContainer, MeasuredPod, Use
from engine.kubelet.space import Space

# Of a file system as mke2fs makes it: one inode for so many bytes.
_BYTES_PER_INODE = 16_384
_MAX_PID = 4_194_304  # /proc/sys/kernel/pid_max of a machine of 64 bits


class Disk:
    """The one disk of a node, on which is all that is not a volume of its own."""

    def __init__(self, capacity: Quantity, measured: Measured) -> None:
        self.capacity = capacity.value
        self.inodes = self.capacity // _BYTES_PER_INODE
        self._at = measured.at
        used = measured.images
        for pod in measured.pods:
            used = used.plus(ephemeral_space(pod))
        self.used = used

    def stats(self, used: Space) -> Object:
        """As a file system's user sees it: what is free is free for all."""
        return {
            "time": pods.format_time(self._at),
            "availableBytes": max(0, self.capacity - self.used.size),
            "capacityBytes": self.capacity,
            "usedBytes": used.size,
            "inodesFree": max(0, self.inodes - self.used.files),
            "inodes": self.inodes,
            "inodesUsed": used.files,
        }


def summary(
    measured: Measured, node_name: str, memory: Quantity, disk: Disk, claims: Mapping[tuple[str, str], Quantity]
) -> Object:
    """`claims` says how large the volumes of claims are, by namespace and name."""
    return {
        "node": {
            **_node(measured, node_name, memory),
            "fs": disk.stats(disk.used),
            "runtime": {"imageFs": disk.stats(measured.images), "containerFs": disk.stats(_layers(measured))},
            "rlimit": {
                "time": pods.format_time(measured.at),
                "maxpid": _MAX_PID,
                "curproc": 1 + sum(_processes(pod) for pod in measured.pods),
            },
        },
        "pods": [_pod(pod, measured.at, disk, claims) for pod in measured.pods],
    }


def cpu_and_memory(measured: Measured, node_name: str, memory: Quantity) -> Object:
    """Of the summary what `only_cpu_and_memory` asks for."""
    found = [
        {
            **_head(pod),
            "containers": [_container(container, measured.at) for container in pod.containers],
            **_used(pod.use, measured.at, pod_limit(pod)),
        }
        for pod in measured.pods
    ]
    return {"node": _node(measured, node_name, memory), "pods": found}


def _node(measured: Measured, name: str, memory: Quantity) -> Object:
    at = measured.at
    return {
        "nodeName": name,
        "systemContainers": [
            {"name": "kubelet", "startTime": pods.format_time(measured.started), **_used(measured.system, at, None)},
            {"name": "pods", "startTime": pods.format_time(measured.started),
             **_used(measured.of_pods, at, memory.value)},
        ],
        "startTime": pods.format_time(measured.started),
        **_used(measured.node, at, memory.value),
    }  # fmt: skip


def _pod(pod: MeasuredPod, at: datetime, disk: Disk, claims: Mapping[tuple[str, str], Quantity]) -> Object:
    containers = [
        {
            **_container(container, at),
            "rootfs": disk.stats(container.layer),
            "logs": disk.stats(container.logs),
        }
        for container in pod.containers
    ]
    made: Object = {**_head(pod), "containers": containers, **_used(pod.use, at, pod_limit(pod))}
    volumes = [_volume(pod, volume, at, disk, claims) for volume in pod.pod["spec"].get("volumes") or ()]
    if measured := [volume for volume in volumes if volume is not None]:
        made["volume"] = measured
    made["ephemeral-storage"] = disk.stats(ephemeral_space(pod))
    made["process_stats"] = {"process_count": _processes(pod)}
    return made


def _head(pod: MeasuredPod) -> Object:
    reference = {"name": pods.name_of(pod.pod), "namespace": pods.namespace_of(pod.pod), "uid": pods.uid_of(pod.pod)}
    return {"podRef": reference, "startTime": pods.format_time(pod.started)}


def _container(container: MeasuredContainer, at: datetime) -> Object:
    limit = container.limit("memory")
    used = _used(container.use, at, limit.value if limit is not None else None)
    return {"name": container.status.name, "startTime": pods.format_time(container.started), **used}


def _used(use: Use, at: datetime, limit: int | None) -> Object:
    time = pods.format_time(at)
    memory: Object = {"time": time}
    if limit is not None:
        memory["availableBytes"] = max(0, limit - use.memory)
    memory |= {"usageBytes": use.memory, "workingSetBytes": use.memory, "rssBytes": use.memory}
    return {
        "cpu": {"time": time, "usageNanoCores": use.cores, "usageCoreNanoSeconds": use.spent},
        "memory": memory,
        "swap": {"time": time, "swapUsageBytes": 0},
    }


def pod_limit(pod: MeasuredPod) -> int | None:
    """The memory that its containers may take together; None where one of them has no limit."""
    limits = [container.limit("memory") for container in pod.containers]
    return sum(limit.value for limit in limits if limit is not None) if all(limits) else None


def _volume(
    pod: MeasuredPod, volume: Object, at: datetime, disk: Disk, claims: Mapping[tuple[str, str], Quantity]
) -> Object | None:
    """None for what has no statistics: a directory of the node."""
    used = pod.volumes.get(volume["name"])
    if used is None or "hostPath" in volume:
        return None
    claim = pods.claim_of(pod.pod, volume)
    capacity = claims.get((pods.namespace_of(pod.pod), claim)) if claim else None
    if capacity is None:
        return {**disk.stats(used), "name": volume["name"]}
    inodes = capacity.value // _BYTES_PER_INODE
    return {
        "time": pods.format_time(at),
        "availableBytes": max(0, capacity.value - used.size),
        "capacityBytes": capacity.value,
        "usedBytes": used.size,
        "inodesFree": max(0, inodes - used.files),
        "inodes": inodes,
        "inodesUsed": used.files,
        "name": volume["name"],
        "pvcRef": {"name": claim, "namespace": pods.namespace_of(pod.pod)},
    }


def ephemeral_space(pod: MeasuredPod) -> Space:
    """What of the Pod is on the node's own disk: layers, logs and the directories that it shares."""
    used = Space()
    for container in pod.containers:
        used = used.plus(container.layer).plus(container.logs)
    for volume in pod.pod["spec"].get("volumes") or ():
        source = volume.get("emptyDir")
        if source is not None and source.get("medium", "") == "":
            used = used.plus(pod.volumes.get(volume["name"], Space()))
    return used


def _layers(measured: Measured) -> Space:
    used = Space()
    for pod in measured.pods:
        for container in pod.containers:
            used = used.plus(container.layer)
    return used


def _processes(pod: MeasuredPod) -> int:
    return sum(container.processes for container in pod.containers)
