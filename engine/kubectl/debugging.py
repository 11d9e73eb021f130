"""Debug containers and the profiles that give them rights.

Source of the behaviour: kubectl pkg/cmd/debug/profiles.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from engine.api.types import Object


class Style(StrEnum):
    """What is debugged how."""

    EPHEMERAL = "ephemeral"
    COPY = "copy"
    NODE = "node"


LEGACY = "legacy"
Profile = Callable[[Object, Object, Style], None]


def apply_profile(name: str, pod: Object, container: Object, style: Style) -> None:
    """Change a Pod (a new one, or a copy) and its debug container as a profile says."""
    PROFILES[name](pod, container, style)
    if style is Style.COPY and name != LEGACY:
        pod["spec"]["shareProcessNamespace"] = True


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
    pass


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
    container["securityContext"] = {"privileged": True}
    if style is Style.NODE:
        _host_namespaces(pod)
        _mount_root(pod, container)


def _capabilities(container: Object, *names: str) -> None:
    container["securityContext"] = {"capabilities": {"add": list(names)}}


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
