"""Reading a Pod: the small questions that every part of the kubelet asks (pkg/api/v1/pod, pkg/kubelet/types)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from engine.api.types import Object

TERMINAL_PHASES = ("Failed", "Succeeded")
DEFAULT_GRACE_PERIOD = 30


def uid_of(pod: Object) -> str:
    return str(pod["metadata"]["uid"])


def name_of(pod: Object) -> str:
    return str(pod["metadata"]["name"])


def namespace_of(pod: Object) -> str:
    return str(pod["metadata"].get("namespace", ""))


def claim_of(pod: Object, volume: Object) -> str:
    """The name of the claim behind a volume of the Pod; "" where there is none."""
    if source := volume.get("persistentVolumeClaim"):
        return str(source["claimName"])
    return f"{name_of(pod)}-{volume['name']}" if volume.get("ephemeral") is not None else ""


def full_name(pod: Object) -> str:
    """As the kubelet prints a Pod in its messages: `web_default(2b5f...)`."""
    return f"{name_of(pod)}_{namespace_of(pod)}({uid_of(pod)})"


def trace_object(pod: Object) -> str:
    return f"pod/{namespace_of(pod)}/{name_of(pod)}"


def containers_of(pod: Object) -> list[Object]:
    return pod["spec"].get("containers") or []


def init_containers_of(pod: Object) -> list[Object]:
    return pod["spec"].get("initContainers") or []


def ephemeral_containers_of(pod: Object) -> list[Object]:
    return pod["spec"].get("ephemeralContainers") or []


def all_containers(pod: Object) -> Iterator[tuple[str, Object]]:
    """Every container with the path that events name it by: `spec.containers{web}`."""
    for field, containers in (
        ("spec.initContainers", init_containers_of(pod)),
        ("spec.containers", containers_of(pod)),
        ("spec.ephemeralContainers", ephemeral_containers_of(pod)),
    ):
        for container in containers:
            yield f"{field}{{{container['name']}}}", container


def field_path(pod: Object, name: str) -> str:
    """The path of a container by its name."""
    return next((path for path, container in all_containers(pod) if container["name"] == name), "")


def find_container(pod: Object, name: str) -> Object | None:
    return next((container for _, container in all_containers(pod) if container["name"] == name), None)


def is_sidecar(init_container: Object) -> bool:
    """A restartable init container (KEP-753)."""
    return init_container.get("restartPolicy") == "Always"


def restart_policy(pod: Object) -> str:
    return str(pod["spec"].get("restartPolicy", "Always"))


def container_restart_policy(pod: Object, container: Object) -> str:
    """A container's own, where it has one."""
    return str(container.get("restartPolicy") or restart_policy(pod))


def host_network(pod: Object) -> bool:
    return bool(pod["spec"].get("hostNetwork"))


def phase_of(pod: Object) -> str:
    return str((pod.get("status") or {}).get("phase", ""))


def is_deleted(pod: Object) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp"))


def grace_period(pod: Object) -> float:
    """What the Pod is given to end: that of its deletion where it is being deleted, else its own."""
    deletion = pod["metadata"].get("deletionGracePeriodSeconds")
    if is_deleted(pod) and deletion is not None:
        return float(deletion)
    own = pod["spec"].get("terminationGracePeriodSeconds")
    return float(DEFAULT_GRACE_PERIOD if own is None else own)


def format_time(moment: datetime) -> str:
    """metav1.Time."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_time(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
