"""Volume mounts and block devices of a container (core validation, ValidateVolumeMounts, ValidateVolumeDevices)."""

from __future__ import annotations

from collections.abc import Mapping

from engine.api.types import Object
from engine.api.validation.files import descending_path
from engine.api.validation.problems import Problems

_PROPAGATION = ("Bidirectional", "HostToContainer", "None")
_RECURSIVE = ("Disabled", "Enabled", "IfPossible")
_EXCLUSIVE = "subPathExpr and subPath are mutually exclusive"
_BLOCK = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"


def volume_mounts(container: Object, path: str, volumes: Mapping[str, Object], problems: Problems) -> None:
    # Of several with one name, the last one's path is what others are compared with.
    devices = {each.get("name", ""): each.get("devicePath", "") for each in container.get("volumeDevices", ())}
    places = set()
    for index, mount in enumerate(container["volumeMounts"]):
        at = f"{path}[{index}]"
        name, place = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            problems.required(f"{at}.name")
        if name not in volumes:
            problems.not_found(f"{at}.name", name)
        if not place:
            problems.required(f"{at}.mountPath")
        if place in places:
            problems.invalid(f"{at}.mountPath", place, "must be unique")
        places.add(place)
        if name in devices:
            problems.invalid(f"{at}.name", name, "must not already exist in volumeDevices")
        if place in devices.values():
            problems.invalid(f"{at}.mountPath", place, "must not already exist as a path in volumeDevices")
        _options(mount, at, path, container=container, problems=problems)


def _options(mount: Object, at: str, path: str, *, container: Object, problems: Problems) -> None:
    # Upstream names the list, not the element, in the paths of the errors below.
    if mount.get("subPath"):
        descending_path(mount["subPath"], f"{path}.subPath", problems)
    if mount.get("subPathExpr"):
        if mount.get("subPath"):
            problems.invalid(f"{at}.subPathExpr", mount["subPathExpr"], _EXCLUSIVE)
        descending_path(mount["subPathExpr"], f"{path}.subPathExpr", problems)
    propagation = mount.get("mountPropagation")
    if propagation is not None:
        if propagation not in _PROPAGATION:
            problems.not_supported(f"{path}.mountPropagation", propagation, _PROPAGATION)
        elif propagation == "Bidirectional" and not container.get("securityContext", {}).get("privileged"):
            detail = "Bidirectional mount propagation is available only to privileged containers"
            problems.forbidden(f"{path}.mountPropagation", detail)
    recursive = mount.get("recursiveReadOnly")
    if recursive is not None and recursive not in _RECURSIVE:
        problems.not_supported(f"{path}.recursiveReadOnly", recursive, _RECURSIVE)
    elif recursive in ("Enabled", "IfPossible"):
        if not mount.get("readOnly"):
            problems.forbidden(f"{path}.recursiveReadOnly", "may only be specified when readOnly is true")
        if propagation not in (None, "None"):
            detail = "may only be specified when mountPropagation is None or not specified"
            problems.forbidden(f"{path}.recursiveReadOnly", detail)


def volume_devices(container: Object, path: str, volumes: Mapping[str, Object], problems: Problems) -> None:
    mounts = {each.get("name", ""): each.get("mountPath", "") for each in container.get("volumeMounts", ())}
    names, places = set[str](), set[str]()
    for index, device in enumerate(container["volumeDevices"]):
        at = f"{path}[{index}]"
        name, place = device.get("name", ""), device.get("devicePath", "")
        volume = volumes.get(name)
        if not name:
            problems.required(f"{at}.name")
        if name in names:
            problems.invalid(f"{at}.name", name, "must be unique")
        if volume is None:
            problems.not_found(f"{at}.name", name)
        elif "persistentVolumeClaim" not in volume and "ephemeral" not in volume:
            problems.invalid(f"{at}.name", name, _BLOCK)
        if not place:
            problems.required(f"{at}.devicePath")
        if place in places:
            problems.invalid(f"{at}.devicePath", place, "must be unique")
        if ".." in place.split("/"):
            problems.invalid(f"{at}.devicePath", place, "can not contain backsteps ('..')")
        else:
            places.add(place)
        if name in mounts:
            problems.invalid(f"{at}.name", name, "must not already exist in volumeMounts")
        if place in mounts.values():
            problems.invalid(f"{at}.devicePath", place, "must not already exist as a path in volumeMounts")
        if name:
            names.add(name)
