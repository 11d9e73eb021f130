"""Pods of an operating system: what Linux has and Windows has not, and the reverse (validateLinux, validateWindows)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.problems import Problems

_NOT_WINDOWS, _NOT_LINUX = "cannot be set for a windows pod", "windows options cannot be set for a linux pod"
# In upstream's order; those of the Pod's own stand on the spec.
_POD_FIELDS = (
    "securityContext.appArmorProfile",
    "securityContext.seLinuxOptions",
    "hostUsers",
    "hostPID",
    "hostIPC",
    "securityContext.seccompProfile",
    "securityContext.fsGroup",
    "securityContext.fsGroupChangePolicy",
    "securityContext.sysctls",
    "shareProcessNamespace",
    "securityContext.runAsUser",
    "securityContext.runAsGroup",
    "securityContext.supplementalGroups",
    "securityContext.supplementalGroupsPolicy",
    "securityContext.seLinuxChangePolicy",
)
_TRUE_ONLY = ("hostPID", "hostIPC", "securityContext.sysctls")
_CONTAINER_FIELDS = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
)
_SPEC_SIZE_KIB, _DOMAIN_LENGTH, _USER_LENGTH = 64, 256, 104
_NETBIOS = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_DNS_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DNS = re.compile(rf"{_DNS_LABEL}(?:\.{_DNS_LABEL})*")
_CONTROL, _BAD_USER, _DOTS = re.compile(r"[\x00-\x1f\x7f]"), re.compile(r'["/\\:;|=,+*?<>@\[\]]'), re.compile(r"[. ]+")


def operating_system(spec: Object, path: str, problems: Problems) -> None:
    name = spec["os"].get("name", "")
    if not name:
        problems.required(f"{path}.os.name")
    elif name == "linux":
        _linux(spec, path, problems)
    elif name == "windows":
        _windows(spec, path, problems)
    else:
        problems.not_supported(f"{path}.os", name, ("linux", "windows"))


def containers_with_path(spec: Object, path: str) -> Iterator[tuple[Object, str]]:
    """As VisitContainersWithPath goes: those that start first come first."""
    for field in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(field, ())):
            yield container, f"{path}.{field}[{index}]"


def _linux(spec: Object, path: str, problems: Problems) -> None:
    if "windowsOptions" in spec.get("securityContext", {}):
        problems.forbidden(f"{path}.securityContext.windowsOptions", _NOT_LINUX)
    for container, at in containers_with_path(spec, path):
        if "windowsOptions" in container.get("securityContext", {}):
            problems.forbidden(f"{at}.securityContext.windowsOptions", _NOT_LINUX)


def _windows(spec: Object, path: str, problems: Problems) -> None:
    for field in _POD_FIELDS:
        outer, _, inner = field.rpartition(".")
        holder = spec.get(outer, {}) if outer else spec
        if inner in holder and (field not in _TRUE_ONLY or holder[inner]):
            problems.forbidden(f"{path}.{field}", _NOT_WINDOWS)
    for container, at in containers_with_path(spec, path):
        for field in _CONTAINER_FIELDS:
            if field in container.get("securityContext", {}):
                problems.forbidden(f"{at}.securityContext.{field}", _NOT_WINDOWS)


def host_process(spec: Object, path: str, problems: Problems) -> None:
    """Containers that are processes of the host are all or none, and share its network."""
    of_pod = spec.get("securityContext", {}).get("windowsOptions", {}).get("hostProcess")
    count, all_containers = 0, 0
    for container, at in containers_with_path(spec, path):
        all_containers += 1
        own = container.get("securityContext", {}).get("windowsOptions", {}).get("hostProcess")
        if of_pod is not None and own is not None and of_pod != own:
            shown = "true" if of_pod else "false"
            detail = f"pod hostProcess value must be identical if both are specified, was {shown}"
            problems.invalid(f"{at}.securityContext.windowsOptions.hostProcess", own, detail)
        count += bool(of_pod if own is None else own)
    if not count:
        return
    if count != all_containers:
        detail = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        problems.invalid(path, "", detail)
    if not spec.get("hostNetwork"):
        detail = "hostNetwork must be true if pod contains any hostProcess containers"
        problems.invalid(f"{path}.hostNetwork", False, detail)


def windows_options(options: Object, path: str, problems: Problems) -> None:
    if "gmsaCredentialSpecName" in options:
        name = options["gmsaCredentialSpecName"]
        problems.all_invalid(f"{path}.gmsaCredentialSpecName", name, text.dns_subdomain(name))
    spec = options.get("gmsaCredentialSpec")
    if spec == "":
        problems.invalid(f"{path}.gmsaCredentialSpec", spec, "gmsaCredentialSpec cannot be an empty string")
    elif spec is not None and len(spec.encode()) > _SPEC_SIZE_KIB * 1024:
        detail = f"gmsaCredentialSpec size must be under {_SPEC_SIZE_KIB} KiB"
        problems.invalid(f"{path}.gmsaCredentialSpec", spec, detail)
    if "runAsUserName" in options:
        name = options["runAsUserName"]
        problems.all_invalid(f"{path}.runAsUserName", name, _user_errors(name))


def _user_errors(name: str) -> list[str]:
    """What is wrong with DOMAIN\\USER, where there may be no domain."""
    if not name:
        return ["runAsUserName cannot be an empty string"]
    if _CONTROL.search(name):
        return ["runAsUserName cannot contain control characters"]
    if name.count("\\") > 1:
        return ["runAsUserName cannot contain more than one backslash"]
    domain, backslash, user = name.rpartition("\\")
    found = []
    if len(domain) >= _DOMAIN_LENGTH:
        found.append(f"runAsUserName's Domain length must be under {_DOMAIN_LENGTH} characters")
    if backslash and not _NETBIOS.fullmatch(domain) and not _DNS.fullmatch(domain):
        found.append("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
    if not user:
        found.append("runAsUserName's User cannot be empty")
    elif len(user) > _USER_LENGTH:
        found.append(f"runAsUserName's User length must not be longer than {_USER_LENGTH} characters")
    if _DOTS.fullmatch(user):
        found.append("runAsUserName's User cannot contain only periods or spaces")
    if _BAD_USER.search(user):
        found.append("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]")
    return found
