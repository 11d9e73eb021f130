"""Annotations of Pods that mean something: mirrors, deletion costs, old security profiles and tolerations.

Source: core validation, ValidatePodSpecificAnnotations and its neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from engine.api.types import Object
from engine.api.validation import placement
from engine.api.validation.annotated_json import Struct, decoded
from engine.api.validation.files import descending_path
from engine.api.validation.problems import Problems
from engine.api.validation.windows import containers_with_path

MIRROR = "kubernetes.io/config.mirror"
_TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
# Of the internal type, whose fields have no names of their own in JSON.
_TOLERATION = Struct(
    "core",
    "Toleration",
    {
        "Key": "string",
        "Operator": "core.TolerationOperator",
        "Value": "string",
        "Effect": "core.TaintEffect",
        "TolerationSeconds": "int64",
    },
)
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_LOCALHOST = "localhost/"
_SECCOMP_DEFAULTS = ("runtime/default", "docker/default")
_INT32 = re.compile(r"0|-?[1-9][0-9]*")

Annotations = Mapping[str, str]


def known_annotations(annotations: Annotations, spec: Object, path: str, problems: Problems) -> None:
    if not annotations:
        return
    if MIRROR in annotations and not spec.get("nodeName"):
        detail = "must set spec.nodeName if mirror pod annotation is set"
        problems.invalid(f"{path}[{MIRROR}]", annotations[MIRROR], detail)
    if annotations.get(_TOLERATIONS):
        _tolerations(annotations[_TOLERATIONS], path, problems)
    if not _is_int32(annotations.get(_DELETION_COST, "0")):
        problems.invalid(f"{path}[{_DELETION_COST}]", annotations[_DELETION_COST], "must be a 32bit integer")
    if _SECCOMP_POD in annotations:
        _seccomp(annotations[_SECCOMP_POD], f"{path}.{_SECCOMP_POD}", problems)
    for key, value in annotations.items():
        if key.startswith(_SECCOMP_CONTAINER):
            _seccomp(value, f"{path}.{key}", problems)
    names = {container.get("name") for container, _ in containers_with_path(spec, "")}
    for key, value in annotations.items():
        if key.startswith(_APP_ARMOR):
            _app_armor(key, value, f"{path}[{key}]", problems, names=names)


def _is_int32(value: str) -> bool:
    """A leading plus sign or zero is an error, for the value is sorted as it is written."""
    return len(value) < 12 and _INT32.fullmatch(value) is not None and -(2**31) <= int(value) < 2**31


def _tolerations(value: str, path: str, problems: Problems) -> None:
    found = decoded(value, _TOLERATION, many=True)
    if isinstance(found, str):
        problems.invalid(path, _TOLERATIONS, found)
    else:
        found = [{name[0].lower() + name[1:]: item for name, item in each.items()} for each in found]
        placement.tolerations(found, f"{path}.{_TOLERATIONS}", problems)


def _seccomp(value: str, path: str, problems: Problems) -> None:
    if value.startswith(_LOCALHOST):
        descending_path(value.removeprefix(_LOCALHOST), path, problems)
    elif value not in (*_SECCOMP_DEFAULTS, "unconfined"):
        problems.invalid(path, value, "must be a valid seccomp profile")


def _app_armor(key: str, value: str, path: str, problems: Problems, *, names: set[Any]) -> None:
    name = key.removeprefix(_APP_ARMOR)
    if name not in names:
        problems.invalid(path, name, "container not found")
    if value not in ("", "runtime/default", "unconfined") and not value.startswith(_LOCALHOST):
        problems.invalid(path, value, f'invalid AppArmor profile name: "{value}"')


# -- annotations beside the fields that came after them


def matching_fields(annotations: Annotations, spec: Object, path: str, problems: Problems) -> None:
    """A profile that an annotation and a field name is the same one."""
    if not annotations:
        return
    own = spec.get("securityContext", {}).get("seccompProfile")
    if own is not None and _SECCOMP_POD in annotations:
        at = f"{path}.securityContext.seccompProfile"
        _same(annotations[_SECCOMP_POD], own, at, problems, kind="seccomp", defaults=_SECCOMP_DEFAULTS)
    for container, at in containers_with_path(spec, path):
        field = container.get("securityContext", {}).get("seccompProfile")
        value = annotations.get(_SECCOMP_CONTAINER + container.get("name", ""))
        if field is not None and value is not None:
            shown = f"{at}.securityContext.seccompProfile"
            _same(value, field, shown, problems, kind="seccomp", defaults=_SECCOMP_DEFAULTS)
    if spec.get("os", {}).get("name") != "windows":
        _app_armor_fields(annotations, spec, path, problems)


def _app_armor_fields(annotations: Annotations, spec: Object, path: str, problems: Problems) -> None:
    of_pod = spec.get("securityContext", {}).get("appArmorProfile")
    for container, at in containers_with_path(spec, path):
        field = container.get("securityContext", {}).get("appArmorProfile", of_pod)
        value = annotations.get(_APP_ARMOR + container.get("name", ""))
        if field is not None and value is not None:
            shown = f"{at}.securityContext.appArmorProfile"
            _same(value, field, shown, problems, kind="apparmor", defaults=("runtime/default",))


def _same(value: str, profile: Object, path: str, problems: Problems, *, kind: str, defaults: tuple[str, ...]) -> None:
    field = profile.get("type", "")
    expected = {"Unconfined": ("unconfined",), "RuntimeDefault": defaults}.get(field)
    if (expected is not None and value not in expected) or (field == "Localhost" and not value.startswith(_LOCALHOST)):
        problems.forbidden(f"{path}.type", f"{kind} type in annotation and field must match")
    elif field == "Localhost" and value.removeprefix(_LOCALHOST) != profile.get("localhostProfile"):
        problems.forbidden(f"{path}.localhostProfile", f"{kind} profile in annotation and field must match")


# -- updates


def annotation_updates(new: Annotations, old: Annotations, problems: Problems) -> None:
    """Mirrors stay mirrors, and profiles in annotations stay as they were."""
    path = "metadata.annotations"
    for key, value in old.items():
        if new.get(key) != value:
            if key.startswith(_APP_ARMOR):
                problems.forbidden(f"{path}[{key}]", "may not remove or update AppArmor annotations")
            if key == MIRROR:
                problems.forbidden(f"{path}[{key}]", "may not remove or update mirror pod annotation")
    for key in new:
        if key not in old:
            if key.startswith(_APP_ARMOR):
                problems.forbidden(f"{path}[{key}]", "may not add AppArmor annotations")
            if key == MIRROR:
                problems.forbidden(f"{path}[{key}]", "may not add mirror pod annotation")
