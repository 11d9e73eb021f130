"""Security contexts of Pods and containers (core validation, validatePodSpecSecurityContext)."""

from __future__ import annotations

import re

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.files import descending_path
from engine.api.validation.go_values import internal
from engine.api.validation.problems import Problems
from engine.api.validation.windows import windows_options

_MAX_ID = 2**31 - 1
_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_SYSCTL = r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL_LENGTH = 253
_ID_FIELDS = ("runAsUser", "runAsGroup")
_PATH_LENGTH = 4095
# Settings of the IPC namespace (component-helpers node/util/sysctl).
_IPC_SYSCTLS = ("kernel.sem", "kernel.shm_rmid_forced")
_IPC_PREFIXES = ("kernel.shm", "kernel.msg", "fs.mqueue.")


def pod_security_context(context: Object, spec: Object, path: str, problems: Problems) -> None:
    for field in ("fsGroup", *_ID_FIELDS):
        _identifier(context.get(field), f"{path}.{field}", problems)
    for index, group in enumerate(context.get("supplementalGroups", ())):
        _identifier(group, f"{path}.supplementalGroups[{index}]", problems)
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        detail = "ShareProcessNamespace and HostPID cannot both be enabled"
        problems.invalid(f"{path}.shareProcessNamespace", True, detail)
    _sysctls(context.get("sysctls", ()), spec, f"{path}.sysctls", problems)
    change = context.get("fsGroupChangePolicy")
    problems.unless_in(f"{path}.fsGroupChangePolicy", change, ("Always", "OnRootMismatch"))
    _seccomp(context.get("seccompProfile"), f"{path}.seccompProfile", problems)
    windows_options(context.get("windowsOptions", {}), f"{path}.windowsOptions", problems)
    _app_armor(context.get("appArmorProfile"), f"{path}.appArmorProfile", problems)
    for field, words in (
        ("supplementalGroupsPolicy", ("Merge", "Strict")),
        ("seLinuxChangePolicy", ("MountOption", "Recursive")),
    ):
        problems.unless_in(f"{path}.{field}", context.get(field), words)


def security_context(context: Object, path: str, problems: Problems, *, host_users: bool = True) -> None:
    """Of a container."""
    for field in _ID_FIELDS:
        _identifier(context.get(field), f"{path}.{field}", problems)
    mount = context.get("procMount")
    problems.unless_in(f"{path}.procMount", mount, ("Default", "Unmasked"))
    if mount == "Unmasked" and host_users:
        problems.invalid(f"{path}.procMount", mount, "`hostUsers` must be false to use `Unmasked`")
    _seccomp(context.get("seccompProfile"), f"{path}.seccompProfile", problems)
    if context.get("allowPrivilegeEscalation") is False:
        if context.get("privileged"):
            detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            problems.invalid(path, internal("SecurityContext", context), detail)
        for capability in context.get("capabilities", {}).get("add", ()):
            if capability == "CAP_SYS_ADMIN":
                detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
                problems.invalid(path, internal("SecurityContext", context), detail)
    windows_options(context.get("windowsOptions", {}), f"{path}.windowsOptions", problems)
    _app_armor(context.get("appArmorProfile"), f"{path}.appArmorProfile", problems)


def _identifier(value: int | None, path: str, problems: Problems) -> None:
    if value is not None and not 0 <= value <= _MAX_ID:
        problems.invalid(path, value, text.range_text(0, _MAX_ID))


def _sysctls(sysctls: list[Object], spec: Object, path: str, problems: Problems) -> None:
    seen = set()
    for index, sysctl in enumerate(sysctls):
        name = sysctl.get("name", "")
        at = f"{path}[{index}].name"
        if not name:
            problems.required(at)
        elif len(name) > _SYSCTL_LENGTH or not re.fullmatch(_SYSCTL, name):
            detail = f"must have at most {_SYSCTL_LENGTH} characters and match regex ^{_SYSCTL}$"
            problems.invalid(at, name, detail)
        elif name in seen:
            problems.duplicate(at, name)
        _host_sysctl(name, spec, at, problems)
        seen.add(name)


def _host_sysctl(name: str, spec: Object, path: str, problems: Problems) -> None:
    """A setting of a namespace is not a Pod's to make while it shares the node's (ValidateHostSysctl)."""
    plain = _with_dots(name)
    if spec.get("hostNetwork") and plain.startswith("net."):
        problems.invalid(path, name, "may not be specified when 'hostNetwork' is true")
    elif spec.get("hostIPC") and (plain in _IPC_SYSCTLS or plain.startswith(_IPC_PREFIXES)):
        problems.invalid(path, name, "may not be specified when 'hostIPC' is true")


def _with_dots(name: str) -> str:
    """`net/ipv4/conf/eth0.1/x` is `net.ipv4.conf.eth0/1.x`: the first separator tells which is meant."""
    first = re.search(r"[./]", name)
    if first is None or first[0] == ".":
        return name
    return name.translate(str.maketrans("./", "/."))


def _seccomp(profile: Object | None, path: str, problems: Problems) -> None:
    if profile is None:
        return
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    if not kind:
        problems.required(f"{path}.type", "type is required when seccompProfile is set")
    elif kind not in _PROFILES:
        problems.not_supported(f"{path}.type", kind, _PROFILES)
    if kind != "Localhost":
        if local is not None:
            shown = internal("Profile", profile)
            problems.invalid(f"{path}.localhostProfile", shown, "can only be set when seccomp type is Localhost")
    elif local is None:
        problems.required(f"{path}.localhostProfile", "must be set when seccomp type is Localhost")
    else:
        descending_path(local, f"{path}.localhostProfile", problems)


def _app_armor(profile: Object | None, path: str, problems: Problems) -> None:
    if profile is None:
        return
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    if kind == "Localhost":
        _app_armor_file(local, f"{path}.localhostProfile", problems)
    elif kind in _PROFILES:
        if local is not None:
            problems.invalid(f"{path}.localhostProfile", local, "can only be set when AppArmor type is Localhost")
    elif not kind:
        problems.required(f"{path}.type", "type is required when appArmorProfile is set")
    else:
        problems.not_supported(f"{path}.type", kind, _PROFILES)


def _app_armor_file(local: str | None, path: str, problems: Problems) -> None:
    if local is not None and local != local.strip():
        problems.invalid(path, local, "must not be padded with whitespace")
    elif not local:
        problems.required(path, "must be set when AppArmor type is Localhost")
    if len(local or "") > _PATH_LENGTH:
        problems.too_long(path, _PATH_LENGTH)
