"""Security contexts of Pods and containers (core validation, validatePodSpecSecurityContext)."""

from __future__ import annotations

import re

from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.go_values import internal
from engine.api.validation.mounts import descending_path
from engine.api.validation.problems import Problems

_MAX_ID = 0xFFFFFFFF
_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_SYSCTL = r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL_LENGTH = 253
_ID_FIELDS = ("runAsUser", "runAsGroup")


def pod_security_context(context: Object, spec: Object, path: str, problems: Problems) -> None:
    for field in ("fsGroup", *_ID_FIELDS):
        _identifier(context.get(field), f"{path}.{field}", problems)
    for index, group in enumerate(context.get("supplementalGroups", ())):
        _identifier(group, f"{path}.supplementalGroups[{index}]", problems)
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        detail = "ShareProcessNamespace and HostPID cannot both be enabled"
        problems.invalid(f"{path}.shareProcessNamespace", True, detail)
    _sysctls(context.get("sysctls", ()), f"{path}.sysctls", problems)
    for field, words in (
        ("fsGroupChangePolicy", ("Always", "OnRootMismatch")),
        ("supplementalGroupsPolicy", ("Merge", "Strict")),
        ("seLinuxChangePolicy", ("MountOption", "Recursive")),
    ):
        if field in context and context[field] not in words:
            problems.not_supported(f"{path}.{field}", context[field], words)
    _profiles(context, path, problems)


def security_context(context: Object, path: str, problems: Problems) -> None:
    """Of a container."""
    for field in _ID_FIELDS:
        _identifier(context.get(field), f"{path}.{field}", problems)
    if "procMount" in context and context["procMount"] not in ("Default", "Unmasked"):
        problems.not_supported(f"{path}.procMount", context["procMount"], ("Default", "Unmasked"))
    _profiles(context, path, problems)
    if context.get("allowPrivilegeEscalation") is False:
        if context.get("privileged"):
            detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            problems.invalid(path, internal("SecurityContext", context), detail)
        for capability in context.get("capabilities", {}).get("add", ()):
            if capability == "CAP_SYS_ADMIN":
                detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
                problems.invalid(path, internal("SecurityContext", context), detail)


def _identifier(value: int | None, path: str, problems: Problems) -> None:
    if value is not None and not 0 <= value <= _MAX_ID:
        problems.invalid(path, value, text.range_text(0, _MAX_ID))


def _sysctls(sysctls: list[Object], path: str, problems: Problems) -> None:
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
        seen.add(name)


def _profiles(context: Object, path: str, problems: Problems) -> None:
    if "seccompProfile" in context:
        _profile(context["seccompProfile"], f"{path}.seccompProfile", problems, kind="seccomp")
    if "appArmorProfile" in context:
        _profile(context["appArmorProfile"], f"{path}.appArmorProfile", problems, kind="AppArmor")


def _profile(profile: Object, path: str, problems: Problems, *, kind: str) -> None:
    type_, local = profile.get("type", ""), profile.get("localhostProfile")
    field = "seccompProfile" if kind == "seccomp" else "appArmorProfile"
    if not type_:
        problems.required(f"{path}.type", f"type is required when {field} is set")
    elif type_ not in _PROFILES:
        problems.not_supported(f"{path}.type", type_, _PROFILES)
    if type_ == "Localhost":
        if not local:
            problems.required(f"{path}.localhostProfile", f"must be set when {kind} type is Localhost")
        elif kind == "seccomp":
            descending_path(local, f"{path}.localhostProfile", problems)
        elif local != local.strip():
            problems.invalid(f"{path}.localhostProfile", local, "must not be padded with whitespace")
    elif local is not None:
        detail = f"can only be set when {kind} type is Localhost"
        problems.invalid(f"{path}.localhostProfile", local, detail)
