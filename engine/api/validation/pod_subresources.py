"""What the ephemeralcontainers and resize subresources of a Pod may change (core validation, ValidatePodResize)."""

from __future__ import annotations

from collections.abc import Mapping

from engine.api.qos import qos_class
from engine.api.types import Object
from engine.api.validation.differences import difference
from engine.api.validation.go_structs import struct_shown
from engine.api.validation.metadata import object_meta_update
from engine.api.validation.pods import pod_as_before
from engine.api.validation.problems import NO_FIELD, Problems

_MIRROR = "kubernetes.io/config.mirror"
_CONTAINERS = ("initContainers", "containers")
_RESIZABLE = ("cpu", "memory")
_ONLY = "only cpu and memory resources are mutable"


def validate_ephemeral_containers(new: Object, old: Object) -> Problems:
    """Containers may be added for debugging; those that there are stay as they are."""
    if _is_static(old):
        return _only("static pods do not support ephemeral containers")
    problems = _changed_pod(new, old)
    path = "spec.ephemeralContainers"
    kept = {container.get("name"): container for container in new["spec"].get("ephemeralContainers", ())}
    for container in old["spec"].get("ephemeralContainers", ()):
        name = container.get("name", "")
        if name not in kept:
            problems.forbidden(path, f'existing ephemeral containers "{name}" may not be removed\n')
        elif kept[name] != container:
            shown = difference(*(struct_shown(each, "EphemeralContainer") for each in (container, kept[name])))
            problems.forbidden(path, f'existing ephemeral containers "{name}" may not be changed\n{shown}')
    return problems


def validate_resize(new: Object, old: Object) -> Problems:
    """CPU and memory of running containers and sidecars may change, the quality of service may not."""
    if _is_static(old):
        return _only("static pods cannot be resized")
    if old["spec"].get("os", {}).get("name") == "windows":
        return _only("windows pods cannot be resized")
    problems = _changed_pod(new, old)
    if old.get("status", {}).get("qosClass", qos_class(old)) != qos_class(new):
        detail = "Pod QOS Class may not change as a result of resizing"
        problems.invalid("spec", new.get("status", {}).get("qosClass", ""), detail)
    if not _node_resizes(old):
        problems.forbidden("spec", "Pod running on node without support for resize")
    _pod_level(new["spec"].get("resources"), old["spec"].get("resources"), problems)
    if old.get("status", {}).get("nodeAllocatableResourceClaimStatuses"):
        problems.forbidden("spec", "pods with node allocatable resource claims cannot be resized")
    if _same_containers(new, old, problems):
        _resizes(new["spec"], old["spec"], problems)
    return problems


def _same_containers(new: Object, old: Object, problems: Problems) -> bool:
    """All are still there, in their places (validatePodResizeContainerOrdering)."""
    count = len(problems)
    for field in ("containers", "initContainers"):
        after, before = ([each.get("name") for each in pod["spec"].get(field, ())] for pod in (new, old))
        if len(after) != len(before):
            problems.forbidden(f"spec.{field}", f"{field} may not be added or removed on resize")
            continue
        for index, (name, known) in enumerate(zip(after, before, strict=True)):
            if name != known:
                problems.forbidden(f"spec.{field}[{index}].name", f"{field} may not be renamed or reordered on resize")
    return len(problems) == count


def _pod_level(new: Object | None, old: Object | None, problems: Problems) -> None:
    """What the Pod has as a whole (KEP-5419, validatePodLevelResourcesResize)."""
    if not any(each and (each.get("requests") or each.get("limits")) for each in (new, old)):
        return
    path = "spec.resources"
    if old is not None and new is None:
        problems.forbidden(path, "pod-level resources cannot be removed")
        return
    _none_removed(new or {}, old or {}, path, problems, what="pod-level resource")
    if not _only_resized(new or {}, old or {}):
        problems.forbidden("spec", f"{_ONLY} at pod-level")


def _resizes(after: Object, before: Object, problems: Problems) -> None:
    pairs = {field: list(zip(after.get(field, ()), before.get(field, ()), strict=True)) for field in _CONTAINERS}
    for field in _CONTAINERS:
        for index, (new, old) in enumerate(pairs[field]):
            path = f"spec.{field}[{index}].resources"
            _none_removed(new.get("resources", {}), old.get("resources", {}), path, problems, what="resource")
    for new, old in pairs["containers"]:
        if not _only_resources(new, old):
            problems.forbidden("spec", _ONLY)
    for index, (new, old) in enumerate(pairs["initContainers"]):
        _init_container(new, old, f"spec.initContainers[{index}]", problems)
    others = dict.fromkeys((*_CONTAINERS, "resources"))
    if not problems and {**after, **others} != {**before, **others}:
        problems.forbidden("spec", _ONLY)


def _init_container(new: Object, old: Object, path: str, problems: Problems) -> None:
    """One that does not stay is resized too, unless that would start it anew (KEP-1287, since 1.36)."""
    if not _only_resources(new, old):
        detail = "only cpu and memory resources for init or sidecar containers are mutable"
        problems.forbidden(path, detail)
    restarts = any(policy.get("restartPolicy") == "RestartContainer" for policy in new.get("resizePolicy", ()))
    if new != old and restarts and new.get("restartPolicy") != "Always":
        detail = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
        problems.forbidden(path, detail)


def _is_static(pod: Object) -> bool:
    return _MIRROR in pod["metadata"].get("annotations", {})


def _only(detail: str) -> Problems:
    problems = Problems()
    problems.forbidden(NO_FIELD, detail)
    return problems


def _changed_pod(new: Object, old: Object) -> Problems:
    problems = Problems()
    object_meta_update(new["metadata"], old["metadata"], problems)
    pod_as_before(new, old, problems)
    return problems


def _node_resizes(pod: Object) -> bool:
    """A kubelet that can resize reports the resources of what runs."""
    for status in pod.get("status", {}).get("containerStatuses", ()):
        if "running" in status.get("state", {}):
            return "resources" in status
    return True


def _none_removed(new: Object, old: Object, path: str, problems: Problems, *, what: str) -> None:
    for field in ("requests", "limits"):
        if any(name not in new.get(field, {}) for name in old.get(field, {})):
            problems.forbidden(f"{path}.{field}", f"{what} {field} cannot be removed")


def _only_resources(new: Object, old: Object) -> bool:
    """Whether nothing else of a container has changed; the claims on devices are looked for in vain, as upstream."""
    others = {"resources": None}
    after, before = new.get("resources", {}), old.get("resources", {})
    return {**new, **others} == {**old, **others} and not before.get("claims") and _only_resized(after, before)


def _only_resized(new: Object, old: Object) -> bool:
    return all(_others(new.get(field, {})) == _others(old.get(field, {})) for field in ("requests", "limits"))


def _others(amounts: Mapping[str, str]) -> dict[str, str]:
    return {name: amount for name, amount in amounts.items() if name not in _RESIZABLE}
