"""What the ephemeralcontainers and resize subresources of a Pod may change (core validation, ValidatePodResize)."""

from __future__ import annotations

from collections.abc import Mapping

from engine.api.qos import qos_class
from engine.api.types import Object
from engine.api.validation.differences import difference
from engine.api.validation.metadata import object_meta_update
from engine.api.validation.pods import pod_as_such
from engine.api.validation.problems import Problems

_MIRROR = "kubernetes.io/config.mirror"
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
            shown = difference("core.EphemeralContainer", container, kept[name])
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


def _resizes(after: Object, before: Object, problems: Problems) -> None:
    fields = ("initContainers", "containers")
    pairs = {field: list(zip(after.get(field, ()), before.get(field, ()), strict=True)) for field in fields}
    for field in fields:
        for index, (new, old) in enumerate(pairs[field]):
            if field == "containers" or old.get("restartPolicy") == "Always":
                _none_removed(new, old, f"spec.{field}[{index}].resources", problems)
    found = len(problems)
    for new, old in pairs["containers"]:
        if _fixed(new, old) != old:
            problems.forbidden("spec", _ONLY)
    for new, old in pairs["initContainers"]:
        if old.get("restartPolicy") != "Always":
            if new != old:
                problems.forbidden("spec", "resources for non-sidecar init containers are immutable")
        elif _fixed(new, old) != old:
            problems.forbidden("spec", "only cpu and memory resources for sidecar containers are mutable")
    if len(problems) == found == 0 and {**after, **dict.fromkeys(fields)} != {**before, **dict.fromkeys(fields)}:
        problems.forbidden("spec", _ONLY)


def _is_static(pod: Object) -> bool:
    return _MIRROR in pod["metadata"].get("annotations", {})


def _only(detail: str) -> Problems:
    problems = Problems()
    problems.forbidden("", detail)
    return problems


def _changed_pod(new: Object, old: Object) -> Problems:
    problems = Problems()
    object_meta_update(new["metadata"], old["metadata"], problems)
    pod_as_such(new, problems)
    return problems


def _node_resizes(pod: Object) -> bool:
    """A kubelet that can resize reports the resources of what runs."""
    for status in pod.get("status", {}).get("containerStatuses", ()):
        if "running" in status.get("state", {}):
            return "resources" in status
    return True


def _none_removed(after: Object, before: Object, path: str, problems: Problems) -> None:
    new, old = after.get("resources", {}), before.get("resources", {})
    for field, words in (("requests", "resource requests"), ("limits", "resource limits")):
        if any(name not in new.get(field, {}) for name in old.get(field, {})):
            problems.forbidden(f"{path}.{field}", f"{words} cannot be removed")


def _fixed(new: Object, old: Object) -> Object:
    """The new container with what may change put back (dropCPUMemoryResourcesFromContainer)."""
    resources = dict(new.get("resources", {}))
    before = old.get("resources", {})
    for field in ("limits", "requests"):
        amounts = _put_back(resources.pop(field, {}), before.get(field))
        if amounts or field in before:
            resources[field] = amounts
    fixed = {**new, "resources": resources}
    if not resources and "resources" not in old:
        del fixed["resources"]
    return fixed


def _put_back(new: Mapping[str, str], old: Mapping[str, str] | None) -> dict[str, str]:
    """Where there was nothing, upstream looks no further."""
    if old is None:
        return {}
    kept = {name: amount for name, amount in new.items() if name not in _RESIZABLE}
    return kept | {name: old[name] for name in _RESIZABLE if name in old}
