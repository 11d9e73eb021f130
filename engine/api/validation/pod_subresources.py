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
    for field in ("initContainers", "containers"):
        for index, (after, before) in enumerate(
            zip(new["spec"].get(field, ()), old["spec"].get(field, ()), strict=False)
        ):
            path = f"spec.{field}[{index}].resources"
            if field == "containers" or before.get("restartPolicy") == "Always":
                _resized(after, before, path, problems, sidecar=field == "initContainers")
            elif after != before:
                problems.forbidden("spec", "resources for non-sidecar init containers are immutable")
    return problems


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


def _resized(after: Object, before: Object, path: str, problems: Problems, *, sidecar: bool) -> None:
    new, old = after.get("resources", {}), before.get("resources", {})
    for field, words in (("requests", "resource requests"), ("limits", "resource limits")):
        if any(name not in new.get(field, {}) for name in old.get(field, {})):
            problems.forbidden(f"{path}.{field}", f"{words} cannot be removed")
        if _others(new.get(field, {})) != _others(old.get(field, {})):
            which = "cpu and memory resources for sidecar containers" if sidecar else "cpu and memory resources"
            problems.forbidden("spec", f"only {which} are mutable")


def _others(amounts: Mapping[str, str]) -> dict[str, str]:
    return {name: amount for name, amount in amounts.items() if name not in _RESIZABLE}
