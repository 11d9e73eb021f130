"""CRI's configurations out of a Pod's spec (kuberuntime_sandbox.go, kuberuntime_container.go, labels.go)."""

from __future__ import annotations

from engine.api.types import Object
from engine.kubelet import pods
from engine.kubelet.cri import ContainerConfig, Mount, PodSandboxConfig
from engine.kubelet.kuberuntime.env import expand

POD_NAME_LABEL = "io.kubernetes.pod.name"
POD_NAMESPACE_LABEL = "io.kubernetes.pod.namespace"
POD_UID_LABEL = "io.kubernetes.pod.uid"
CONTAINER_NAME_LABEL = "io.kubernetes.container.name"


def sandbox_config(pod: Object, attempt: int, *, node_name: str) -> PodSandboxConfig:
    host = pods.host_network(pod)
    return PodSandboxConfig(
        name=pods.name_of(pod),
        uid=pods.uid_of(pod),
        namespace=pods.namespace_of(pod),
        attempt=attempt,
        hostname=node_name if host else (pod["spec"].get("hostname") or pods.name_of(pod))[:63],
        host_network=host,
        log_directory=log_directory(pod),
        labels={**(pod["metadata"].get("labels") or {}), **_pod_labels(pod)},
        annotations=pod["metadata"].get("annotations") or {},
    )


def log_directory(pod: Object) -> str:
    return f"/var/log/pods/{pods.namespace_of(pod)}_{pods.name_of(pod)}_{pods.uid_of(pod)}"


def _pod_labels(pod: Object) -> dict[str, str]:
    return {
        POD_NAME_LABEL: pods.name_of(pod),
        POD_NAMESPACE_LABEL: pods.namespace_of(pod),
        POD_UID_LABEL: pods.uid_of(pod),
    }


def container_config(
    pod: Object,
    container: Object,
    *,
    attempt: int,
    image: str,
    image_ref: str,
    env: dict[str, str],
    mounts: tuple[Mount, ...],
) -> ContainerConfig:
    name = container["name"]
    return ContainerConfig(
        name=name,
        attempt=attempt,
        image=image,
        image_ref=image_ref,
        command=tuple(expand(word, env) for word in container.get("command") or ()),
        args=tuple(expand(word, env) for word in container.get("args") or ()),
        working_dir=container.get("workingDir", ""),
        envs=env,
        mounts=mounts,
        labels={**_pod_labels(pod), CONTAINER_NAME_LABEL: name},
        log_path=f"{name}/{attempt}.log",
        stdin=bool(container.get("stdin")),
        stdin_once=bool(container.get("stdinOnce")),
        tty=bool(container.get("tty")),
        user=_user(pod, container),
        resources=container.get("resources") or {},
        ports=tuple(port["containerPort"] for port in container.get("ports") or ()),
    )


def _user(pod: Object, container: Object) -> int | None:
    for context in (container.get("securityContext"), pod["spec"].get("securityContext")):
        if context and context.get("runAsUser") is not None:
            return int(context["runAsUser"])
    return None
