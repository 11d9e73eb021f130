"""Container logs as the kubelet serves them (kubelet_pods.go validateContainerLogStatus, kuberuntime/logs)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.api.types import Object
from engine.kubelet import pods
from engine.kubelet.cri.services import ContainerLog, Runtime

if TYPE_CHECKING:
    from engine.kubelet.kubelet import Kubelet


class LogError(Exception):
    """There is no such log; the message is the kubelet's."""


def find_log(kubelet: Kubelet, namespace: str, pod: str, container: str, *, previous: bool) -> ContainerLog:
    """The log of a container, of the Pod's first one if none is named. Raises LogError."""
    found = kubelet.pods.find(namespace, pod)
    if found is None:
        raise LogError(f'pod "{pod}" cannot be found - no logs available')
    status = kubelet.statuses.get(pods.uid_of(found)) or found.get("status") or {}
    name = container or pods.containers_of(found)[0]["name"]
    return container_log(kubelet.runtime, found, status, name, previous=previous)


def container_log(runtime: Runtime, pod: Object, status: Object, container: str, *, previous: bool) -> ContainerLog:
    """The log of a container's current or previous run. Raises LogError."""
    name = pods.name_of(pod)
    found = _container_status(status, container)
    if found is None:
        raise LogError(f'container "{container}" in pod "{name}" is not available')
    container_id = _container_id(found, container, name, previous=previous)
    log = runtime.log(container_id.rpartition("/")[2])
    if log is None:
        raise LogError(f"unable to retrieve container logs for {container_id}")
    return log


def _container_status(status: Object, container: str) -> Object | None:
    for field in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"):
        for item in status.get(field) or ():
            if item["name"] == container:
                found: Object = item
                return found
    return None


def _container_id(status: Object, container: str, pod: str, *, previous: bool) -> str:
    last = (status.get("lastState") or {}).get("terminated") or {}
    state = status.get("state") or {}
    if previous:
        if not last.get("containerID"):
            raise LogError(f'previous terminated container "{container}" in pod "{pod}" not found')
        return str(last["containerID"])
    if "running" in state:
        return str(status["containerID"])
    if "terminated" in state:
        return str(state["terminated"]["containerID"])
    if last.get("containerID"):
        return str(last["containerID"])
    reason = (state.get("waiting") or {}).get("reason", "")
    told = {
        "ErrImagePull": "image can't be pulled",
        "ImagePullBackOff": "trying and failing to pull image",
    }.get(reason, reason)
    raise LogError(f'container "{container}" in pod "{pod}" is waiting to start: {told}')
