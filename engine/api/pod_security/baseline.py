"""The checks of the baseline level (pod-security-admission policy/check_*.go)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.api.pod_security.checks import Finding, containers, context, joined, named, plural, quoted
from engine.api.types import Object

_APP_ARMOR_TYPES = (None, "RuntimeDefault", "Localhost")
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
DEFAULT_CAPABILITIES = frozenset(
    (
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    )
)
# By the minor version from which they count as safe.
_SYSCTLS = {
    0: (
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range",
        "net.ipv4.ip_unprivileged_port_start",
    ),
    27: ("net.ipv4.ip_local_reserved_ports",),
    29: (
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
    ),
    32: ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"),
    37: ("net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_notsent_lowat"),
}
_SE_LINUX_TYPES = {0: ("", "container_t", "container_init_t", "container_kvm_t"), 31: ("container_engine_t",)}


def app_armor_profile(metadata: Object, spec: Object) -> Finding | None:
    setters, values = [], set[str]()
    if (kind := (context(spec).get("appArmorProfile") or {}).get("type")) not in _APP_ARMOR_TYPES:
        setters.append("pod")
        values.add(str(kind))
    guilty = []
    for container in containers(spec):
        if (kind := (context(container).get("appArmorProfile") or {}).get("type")) not in _APP_ARMOR_TYPES:
            guilty.append(container["name"])
            values.add(str(kind))
    if guilty:
        setters.append(named("container", guilty))
    annotations = [
        f'{key}="{value}"'
        for key, value in sorted((metadata.get("annotations") or {}).items())
        if key.startswith(_APP_ARMOR) and value not in ("", "runtime/default") and not value.startswith("localhost/")
    ]
    if annotations:
        setters.append(plural("annotation", annotations))
    if not setters:
        return None
    listed = [*sorted(values), *annotations]
    return Finding(
        f"forbidden {plural('AppArmor profile', listed)}",
        f"{' and '.join(setters)} must not set AppArmor profile type to {joined(listed)}",
    )


def capabilities(metadata: Object, spec: Object) -> Finding | None:
    guilty, added = [], dict[str, None]()
    for container in containers(spec):
        bad = [name for name in _added(container) if name not in DEFAULT_CAPABILITIES]
        if bad:
            guilty.append(container["name"])
            added |= dict.fromkeys(bad)
    if not guilty:
        return None
    return Finding(
        "non-default capabilities",
        f"{named('container', guilty)} must not include {quoted(sorted(added))} in securityContext.capabilities.add",
    )


def _added(container: Object) -> list[str]:
    return (context(container).get("capabilities") or {}).get("add") or []


def host_namespaces(metadata: Object, spec: Object) -> Finding | None:
    used = [f"{name}=true" for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    return Finding("host namespaces", ", ".join(used)) if used else None


def host_path_volumes(metadata: Object, spec: Object) -> Finding | None:
    names = [volume["name"] for volume in spec.get("volumes") or () if volume.get("hostPath") is not None]
    return Finding("hostPath volumes", named("volume", names)) if names else None


def host_ports(metadata: Object, spec: Object) -> Finding | None:
    guilty, ports = [], dict[int, None]()
    for container in containers(spec):
        used = [port["hostPort"] for port in container.get("ports") or () if port.get("hostPort")]
        if used:
            guilty.append(container["name"])
            ports |= dict.fromkeys(used)
    if not guilty:
        return None
    uses = "uses" if len(guilty) == 1 else "use"
    shown = ", ".join(str(port) for port in sorted(ports, key=str))
    return Finding("hostPort", f"{named('container', guilty)} {uses} {plural('hostPort', list(ports))} {shown}")


def host_probes(metadata: Object, spec: Object) -> Finding | None:
    """Also of hosts that are the node itself (KEP-4940). Containers are named in the order of their names."""
    guilty, hosts = dict[str, None](), dict[str, None]()
    for container in containers(spec):
        used = [host for handler in _handlers(container) for host in _hosts(handler)]
        if used:
            guilty[container["name"]] = None
            hosts |= dict.fromkeys(used)
    if not guilty:
        return None
    uses = "uses" if len(guilty) == 1 else "use"
    what = f"probe or lifecycle {plural('host', list(hosts))}"
    return Finding(
        "probe or lifecycle host", f"{named('container', sorted(guilty))} {uses} {what} {quoted(sorted(hosts))}"
    )


def _handlers(container: Object) -> Iterator[Object]:
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        yield container.get(probe) or {}
    lifecycle = container.get("lifecycle") or {}
    for moment in ("postStart", "preStop"):
        yield lifecycle.get(moment) or {}


def _hosts(handler: Object) -> Iterator[str]:
    for kind in ("httpGet", "tcpSocket"):
        if host := (handler.get(kind) or {}).get("host"):
            yield host


def privileged(metadata: Object, spec: Object) -> Finding | None:
    guilty = [container["name"] for container in containers(spec) if context(container).get("privileged")]
    if not guilty:
        return None
    return Finding("privileged", f"{named('container', guilty)} must not set securityContext.privileged=true")


def proc_mount(metadata: Object, spec: Object) -> Finding | None:
    guilty, kinds = [], dict[str, None]()
    for container in containers(spec):
        kind = context(container).get("procMount")
        if kind not in (None, "Default"):
            guilty.append(container["name"])
            kinds[kind] = None
    if not guilty:
        return None
    return Finding(
        "procMount", f"{named('container', guilty)} must not set securityContext.procMount to {quoted(sorted(kinds))}"
    )


def se_linux_options(metadata: Object, spec: Object, *, minor: int) -> Finding | None:
    allowed = {kind for since, kinds in _SE_LINUX_TYPES.items() if since <= minor for kind in kinds}
    setters: list[str] = []
    types, user, role = dict[str, None](), False, False
    guilty: list[str] = []
    for name, options in _se_linux(spec):
        bad_type = (options.get("type") or "") not in allowed
        if not (bad_type or options.get("user") or options.get("role")):
            continue
        if bad_type:
            types[options["type"]] = None
        user, role = user or bool(options.get("user")), role or bool(options.get("role"))
        if name:
            guilty.append(name)
        else:
            setters.append("pod")
    if guilty:
        setters.append(named("container", guilty))
    if not setters:
        return None
    data = [f"{plural('type', list(types))} {quoted(sorted(types))}"] if types else []
    data += ["user may not be set"] if user else []
    data += ["role may not be set"] if role else []
    return Finding(
        "seLinuxOptions", f"{' and '.join(setters)} set forbidden securityContext.seLinuxOptions: {'; '.join(data)}"
    )


def _se_linux(spec: Object) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "", context(spec).get("seLinuxOptions") or {}
    for container in containers(spec):
        yield container["name"], context(container).get("seLinuxOptions") or {}


def seccomp_profile(metadata: Object, spec: Object) -> Finding | None:
    setters: list[str] = []
    if (context(spec).get("seccompProfile") or {}).get("type") == "Unconfined":
        setters.append("pod")
    guilty = [
        c["name"] for c in containers(spec) if (context(c).get("seccompProfile") or {}).get("type") == "Unconfined"
    ]
    if guilty:
        setters.append(named("container", guilty))
    if not setters:
        return None
    return Finding(
        "seccompProfile", f'{" and ".join(setters)} must not set securityContext.seccompProfile.type to "Unconfined"'
    )


def sysctls(metadata: Object, spec: Object, *, minor: int) -> Finding | None:
    safe = {name for since, names in _SYSCTLS.items() if since <= minor for name in names}
    bad = [each["name"] for each in context(spec).get("sysctls") or () if each["name"] not in safe]
    return Finding(f"forbidden {plural('sysctl', bad)}", ", ".join(bad)) if bad else None


def windows_host_process(metadata: Object, spec: Object) -> Finding | None:
    setters: list[str] = []
    if (context(spec).get("windowsOptions") or {}).get("hostProcess"):
        setters.append("pod")
    guilty = [c["name"] for c in containers(spec) if (context(c).get("windowsOptions") or {}).get("hostProcess")]
    if guilty:
        setters.append(named("container", guilty))
    if not setters:
        return None
    return Finding(
        "hostProcess", f"{' and '.join(setters)} must not set securityContext.windowsOptions.hostProcess=true"
    )
