"""/metrics: the kubelet's figures of itself (pkg/kubelet/metrics metrics.go), read off the parts that have them.

What is not measured of a simulated kubelet is left out: most durations, which take no time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.api.version_info import build_labels
from engine.kubelet import pods
from engine.kubelet.cri import ContainerState
from engine.kubelet.pod_workers import WorkType
from engine.kubelet.server.measured import Measured
from engine.kubelet.server.summary import Disk, summary
from engine.metric_text import metric
from engine.metrics import Sample

if TYPE_CHECKING:
    from engine.kubelet.kubelet import Kubelet

# How the kubelet names the calls that it makes of the runtime (kuberuntime instrumented_services.go).
_OPERATIONS = {
    "ContainerStatus": "container_status",
    "CreateContainer": "create_container",
    "ExecSync": "exec_sync",
    "GetContainerEvents": "get_container_events",
    "ImageStatus": "image_status",
    "ListContainers": "list_containers",
    "ListImages": "list_images",
    "ListPodSandbox": "list_podsandbox",
    "PodSandboxStatus": "podsandbox_status",
    "PullImage": "pull_image",
    "RemoveContainer": "remove_container",
    "RemoveImage": "remove_image",
    "RemovePodSandbox": "remove_podsandbox",
    "RunPodSandbox": "run_podsandbox",
    "StartContainer": "start_container",
    "Status": "status",
    "StopContainer": "stop_container",
    "StopPodSandbox": "stop_podsandbox",
    "UpdateContainerResources": "update_container",
    "Version": "version",
}
_LIFECYCLES = {
    WorkType.SYNC_POD: "sync",
    WorkType.TERMINATING_POD: "terminating",
    WorkType.TERMINATED_POD: "terminated",
}
_STATES = {
    ContainerState.CREATED: "created",
    ContainerState.EXITED: "exited",
    ContainerState.RUNNING: "running",
    ContainerState.UNKNOWN: "unknown",
}


class Served(NamedTuple):
    """How often what path was asked for."""

    method: str
    path: str


class _Family(NamedTuple):
    name: str
    kind: str
    help: str
    samples: list[Sample]


def own_lines(
    kubelet: Kubelet, measured: Measured, disk: Disk, claims: Mapping[tuple[str, str], Quantity],
    served: Mapping[Served, int], version: str,
) -> Iterator[str]:  # fmt: skip
    """In the order of their names."""
    families = [
        *_pods(kubelet),
        *_runtime(kubelet),
        *_volumes(summary(measured, kubelet.name, Quantity(), disk, claims)),
        _evictions(kubelet),
        _requests(served),
        _Family("kubelet_node_name", "gauge", "[ALPHA] The node's name. The count is always 1.",
                [Sample({"node": kubelet.name}, 1)]),
        *_build(version),
        _Family("process_start_time_seconds", "gauge", "Start time of the process since unix epoch in seconds.",
                [Sample({}, measured.started.timestamp())]),
    ]  # fmt: skip
    for family in sorted(families, key=lambda each: each.name):
        yield from metric(family.name, family.kind, family.samples, family.help)


def _build(version: str) -> Iterator[_Family]:
    """Nothing before the node is registered."""
    if not version:
        return
    labels = build_labels(version.removeprefix("v"))
    help = (
        "[ALPHA] A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, "
        "build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running."
    )
    yield _Family("kubernetes_build_info", "gauge", help, [Sample(labels, 1)])


def _pods(kubelet: Kubelet) -> Iterator[_Family]:
    known, workers = kubelet.pods.all(), kubelet.workers.items()
    active = [pod for pod in known if kubelet.workers.could_have_running_containers(pods.uid_of(pod))]
    yield _Family(
        "kubelet_desired_pods", "gauge",
        "[ALPHA] The number of pods the kubelet is being instructed to run. static is true if the pod is not from the "
        "apiserver.",
        [Sample({"static": ""}, len(known)), Sample({"static": "true"}, 0)],
    )  # fmt: skip
    yield _Family(
        "kubelet_active_pods", "gauge",
        "[ALPHA] The number of pods the kubelet considers active and which are being considered when admitting new "
        "pods. static is true if the pod is not from the apiserver.",
        [Sample({"static": ""}, len(active)), Sample({"static": "true"}, 0)],
    )  # fmt: skip
    yield _Family(
        "kubelet_mirror_pods", "gauge",
        "[ALPHA] The number of mirror pods the kubelet will try to create (one per admitted static pod)",
        [Sample({}, 0)],
    )  # fmt: skip
    wanted = {pods.uid_of(pod) for pod in known}
    working = Counter(
        ("desired" if uid in wanted else "orphan", _LIFECYCLES[worker.state])
        for uid, worker in workers
        if worker.state in _LIFECYCLES
    )
    yield _Family(
        "kubelet_working_pods", "gauge",
        "[ALPHA] Number of pods the kubelet is actually running, broken down by lifecycle phase, whether the pod is "
        "desired, orphaned, or runtime only (also orphaned), and whether the pod is static. An orphaned pod has been "
        "removed from local configuration or force deleted in the API and consumes resources that are not otherwise "
        "visible.",
        [
            Sample({"config": config, "lifecycle": lifecycle, "static": static},
                   working[config, lifecycle] if not static else 0)
            for config in ("desired", "orphan") for lifecycle in sorted(_LIFECYCLES.values()) for static in ("", "true")
        ],
    )  # fmt: skip
    ephemeral = sum(len(pods.ephemeral_containers_of(pod)) for pod in known)
    yield _Family(
        "kubelet_managed_ephemeral_containers", "gauge",
        "[ALPHA] Current number of ephemeral containers in pods managed by this kubelet.", [Sample({}, ephemeral)],
    )  # fmt: skip


def _runtime(kubelet: Kubelet) -> Iterator[_Family]:
    simulated, runtime = kubelet.simulated, kubelet.runtime
    containers = [each for pod in kubelet.pods.all() for each in simulated.containers_of(pods.uid_of(pod))]
    states = Counter(_STATES[each.state] for each in containers)
    running = {each.pod_uid for each in containers if each.state == ContainerState.RUNNING}
    yield _Family(
        "kubelet_running_containers", "gauge", "[ALPHA] Number of containers currently running",
        [Sample({"container_state": state}, count) for state, count in sorted(states.items())],
    )  # fmt: skip
    yield _Family(
        "kubelet_running_pods", "gauge", "[ALPHA] Number of pods that have a running pod sandbox",
        [Sample({}, len(running))],
    )  # fmt: skip
    yield _Family(
        "kubelet_runtime_operations_total", "counter",
        "[ALPHA] Cumulative number of runtime operations by operation type.", list(_operations(runtime.calls)),
    )  # fmt: skip
    yield _Family(
        "kubelet_runtime_operations_errors_total", "counter",
        "[ALPHA] Cumulative number of runtime operation errors by operation type.", list(_operations(runtime.errors)),
    )  # fmt: skip
    started, failed = runtime.calls.get("RunPodSandbox", 0), runtime.errors.get("RunPodSandbox", 0)
    yield _Family(
        "kubelet_started_pods_total", "counter", "[ALPHA] Cumulative number of pods started", [Sample({}, started)]
    )
    yield _Family(
        "kubelet_started_pods_errors_total", "counter", "[ALPHA] Cumulative number of errors when starting pods",
        [Sample({}, failed)],
    )  # fmt: skip


def _operations(counts: Mapping[str, int]) -> Iterable[Sample]:
    for operation, count in sorted((_OPERATIONS[call], count) for call, count in counts.items()):
        yield Sample({"operation_type": operation}, count)


def _volumes(found: Object) -> Iterator[_Family]:
    """Of claims (pkg/kubelet/metrics/collectors volume_stats.go); one that two Pods share is told once."""
    claimed = {
        (volume["pvcRef"]["namespace"], volume["pvcRef"]["name"]): volume
        for pod in found["pods"]
        for volume in pod.get("volume", ())
        if "pvcRef" in volume
    }
    for name, field, help in (
        ("available_bytes", "availableBytes", "Number of available bytes in the volume"),
        ("capacity_bytes", "capacityBytes", "Capacity in bytes of the volume"),
        ("inodes", "inodes", "Maximum number of inodes in the volume"),
        ("inodes_free", "inodesFree", "Number of free inodes in the volume"),
        ("inodes_used", "inodesUsed", "Number of used inodes in the volume"),
        ("used_bytes", "usedBytes", "Number of used bytes in the volume"),
    ):
        samples = [
            Sample({"namespace": namespace, "persistentvolumeclaim": claim}, volume[field])
            for (namespace, claim), volume in sorted(claimed.items())
        ]
        yield _Family(f"kubelet_volume_stats_{name}", "gauge", f"[ALPHA] {help}", samples)


def _evictions(kubelet: Kubelet) -> _Family:
    evictions = sorted(kubelet.eviction.evictions.items())
    samples = [Sample({"eviction_signal": signal}, count) for signal, count in evictions]
    return _Family(
        "kubelet_evictions", "counter", "[ALPHA] Cumulative number of pod evictions by eviction signal", samples
    )


def _requests(served: Mapping[Served, int]) -> _Family:
    samples = [
        Sample({"long_running": "false", "method": of.method, "path": of.path, "server_type": "readwrite"}, count)
        for of, count in sorted(served.items())
    ]
    return _Family(
        "kubelet_http_requests_total", "counter",
        "[ALPHA] Number of the http requests received since the server started", samples,
    )  # fmt: skip
