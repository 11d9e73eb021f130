"""CRI's configurations out of a Pod's spec (kuberuntime_sandbox.go, kuberuntime_container.go, labels.go)."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from engine.api.types import Object
from engine.disks import Volume
from engine.kubelet import pods
from engine.kubelet.cri import TERMINATION_LOG, USERS, ContainerConfig, Mount, PodSandboxConfig
from engine.kubelet.kuberuntime.env import expand
from engine.kubelet.kuberuntime.network_files import CLUSTER_DOMAIN, hosts_file, resolv_conf
from engine.kubelet.kuberuntime.resizing import enforced_resources

POD_NAME_LABEL = "io.kubernetes.pod.name"
POD_NAMESPACE_LABEL = "io.kubernetes.pod.namespace"
POD_UID_LABEL = "io.kubernetes.pod.uid"
CONTAINER_NAME_LABEL = "io.kubernetes.container.name"
MAX_HOSTNAME = 63


def sandbox_config(pod: Object, attempt: int, *, node_name: str) -> PodSandboxConfig:
    host = pods.host_network(pod)
    return PodSandboxConfig(
        name=pods.name_of(pod),
        uid=pods.uid_of(pod),
        namespace=pods.namespace_of(pod),
        attempt=attempt,
        hostname=node_name if host else sandbox_hostname(pod),
        host_network=host,
        sysctls={each["name"]: each["value"] for each in _security(pod).get("sysctls") or ()},
        shares_processes=bool(pod["spec"].get("shareProcessNamespace")),
        log_directory=log_directory(pod),
        labels={**(pod["metadata"].get("labels") or {}), **_pod_labels(pod)},
        annotations=pod["metadata"].get("annotations") or {},
    )


def short_hostname(pod: Object) -> str:
    """At most 63 characters, as the kernel has it (truncatePodHostnameIfNeeded)."""
    spec = pod["spec"]
    name = str(spec.get("hostnameOverride") or spec.get("hostname") or pods.name_of(pod))
    return name if len(name) <= MAX_HOSTNAME else name[:MAX_HOSTNAME].rstrip("-.")


def sandbox_hostname(pod: Object) -> str:
    """The short name, or with setHostnameAsFQDN the whole one."""
    spec, name = pod["spec"], short_hostname(pod)
    if spec.get("setHostnameAsFQDN") and spec.get("subdomain") and not spec.get("hostnameOverride"):
        return f"{name}.{spec['subdomain']}.{pods.namespace_of(pod)}.svc.{CLUSTER_DOMAIN}"
    return name


def network_mounts(pod: Object, container: Object, hostname: str, ips: Sequence[str]) -> tuple[Mount, ...]:
    """The files by which a container finds names, but for those that it mounts for itself."""
    texts = {"/etc/hosts": hosts_file(pod, hostname, ips), "/etc/resolv.conf": resolv_conf(pod)}
    taken = {mount["mountPath"] for mount in container.get("volumeMounts") or ()}
    return tuple(
        Mount(path, f"/var/lib/kubelet/pods/{pods.uid_of(pod)}{path}", False, Volume({"file": text}), "file")
        for path, text in texts.items()
        if path not in taken
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
    name, own = container["name"], container.get("securityContext") or {}
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
        user=_of_context(pod, container, "runAsUser"),
        group=_of_context(pod, container, "runAsGroup") or 0,
        groups=_groups(pod),
        readonly_rootfs=bool(own.get("readOnlyRootFilesystem")),
        privileged=bool(own.get("privileged")),
        capabilities=own.get("capabilities") or {},
        no_new_privileges=own.get("allowPrivilegeEscalation") is False,
        seccomp=_is_filtered(pod, container),
        pid_target=container.get("targetContainerName", ""),
        first_user=_first_user(pod),
        termination_message_path=container.get("terminationMessagePath") or TERMINATION_LOG,
        resources=enforced_resources(pod, container),
        ports=tuple(port["containerPort"] for port in container.get("ports") or ()),
    )


def _of_context(pod: Object, container: Object, field: str) -> int | None:
    """What the container says of its user or group, or the Pod for all of them."""
    for context in (container.get("securityContext"), _security(pod)):
        if context and context.get(field) is not None:
            return int(context[field])
    return None


def _first_user(pod: Object) -> int:
    """The first of the node's users that the Pod's namespace has: a range that another Pod hardly has (KEP-127)."""
    if pod["spec"].get("hostUsers") is not False:
        return 0
    return USERS * (1 + crc32(pods.uid_of(pod).encode()) % (USERS - 2))


def _is_filtered(pod: Object, container: Object) -> bool:
    """Whether a seccomp profile is asked for; the container's own word counts first. A privileged one has none."""
    own = container.get("securityContext") or {}
    profile = own.get("seccompProfile") or _security(pod).get("seccompProfile") or {}
    return profile.get("type", "Unconfined") != "Unconfined" and not own.get("privileged")


def _groups(pod: Object) -> tuple[int, ...]:
    """The groups beside the primary one (convertToRuntimeSecurityContext)."""
    security = _security(pod)
    own = (security["fsGroup"],) if security.get("fsGroup") is not None else ()
    return (*own, *(security.get("supplementalGroups") or ()))


def _security(pod: Object) -> Object:
    context: Object = pod["spec"].get("securityContext") or {}
    return context
