"""Debug containers and the profiles that give them rights.

Source of the behaviour: kubectl pkg/cmd/debug/profiles.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from itertools import chain

from engine.api.types import Object

WARNING = (
    "Warning: Non-root user is configured for the entire target Pod, and some capabilities granted by debug profile "
    'may not work. Please consider using "--custom" with a custom profile that specifies '
    '"securityContext.runAsUser: 0".'
)


class Style(StrEnum):
    """What is debugged how."""

    EPHEMERAL = "ephemeral"
    COPY = "copy"
    NODE = "node"


LEGACY = "legacy"
Profile = Callable[[Object, Object, Style], None]


def apply_profile(profile: str, pod: Object, name: str, style: Style) -> None:
    """Change a Pod (a new one, or a copy) and its container of a name as a profile says."""
    PROFILES[profile](pod, named(pod, name), style)
    if style is Style.COPY and profile != LEGACY:
        pod["spec"]["shareProcessNamespace"] = True


def named(pod: Object, name: str) -> Object:
    """The first container of a name, which is not the debug container where there is one of its name already."""
    spec = pod["spec"]
    every: chain[Object] = chain.from_iterable(
        spec.get(key) or () for key in ("initContainers", "containers", "ephemeralContainers")
    )
    return next(each for each in every if each["name"] == name)


def rights_in_vain(pod: Object, container: Object) -> bool:
    """Whether a debug container is given rights that it does not get, as all of the Pod runs as somebody else."""
    context = container.get("securityContext") or {}
    granted = context.get("privileged") or (context.get("capabilities") or {}).get("add")
    user = (pod["spec"].get("securityContext") or {}).get("runAsUser")
    return bool(granted and user and context.get("runAsUser") != 0)


def _general(pod: Object, container: Object, style: Style) -> None:
    if style is Style.NODE:
        _mount_root(pod, container)
        _host_namespaces(pod)
    else:
        _capabilities(container, "SYS_PTRACE")


def _legacy(pod: Object, container: Object, style: Style) -> None:
    if style is Style.NODE:
        _general(pod, container, style)


def _baseline(pod: Object, container: Object, style: Style) -> None:
    container.pop("securityContext", None)


def _restricted(pod: Object, container: Object, style: Style) -> None:
    container["securityContext"] = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def _net_admin(pod: Object, container: Object, style: Style) -> None:
    _capabilities(container, "NET_ADMIN", "NET_RAW")
    if style is Style.NODE:
        _host_namespaces(pod)


def _sys_admin(pod: Object, container: Object, style: Style) -> None:
    container["securityContext"] = {**(container.get("securityContext") or {}), "privileged": True}
    if style is Style.NODE:
        _host_namespaces(pod)
        _mount_root(pod, container)


def _capabilities(container: Object, *names: str) -> None:
    """Besides those that it has, be they the same."""
    context = container.get("securityContext") or {}
    capabilities = context.get("capabilities") or {}
    added = {**capabilities, "add": [*(capabilities.get("add") or ()), *names]}
    container["securityContext"] = {**context, "capabilities": added}


def _host_namespaces(pod: Object) -> None:
    pod["spec"].update(hostIPC=True, hostNetwork=True, hostPID=True)


def _mount_root(pod: Object, container: Object) -> None:
    pod["spec"]["volumes"] = [{"name": "host-root", "hostPath": {"path": "/"}}]
    container["volumeMounts"] = [{"name": "host-root", "mountPath": "/host"}]


PROFILES: Mapping[str, Profile] = {
    "general": _general,
    "baseline": _baseline,
    "restricted": _restricted,
    "netadmin": _net_admin,
    "sysadmin": _sys_admin,
    LEGACY: _legacy,
}
