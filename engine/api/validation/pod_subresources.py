"""What the ephemeralcontainers and resize subresources of a Pod may change (core validation, ValidatePodResize)."""

from __future__ import annotations

from collections.abc import Mapping

from engine.api.qos import qos_class
from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.api.validation.metadata import object_meta_update
from engine.api.validation.pods import pod_spec_of_pod
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
            problems.forbidden(path, f'existing ephemeral containers "{name}" may not be changed\n')
    return problems


def validate_resize(new: Object, old: Object) -> Problems:
    """CPU and memory of running containers and sidecars may change, the quality of service may not."""
    if _is_static(old):
        return _only("static pods cannot be resized")
    if old["spec"].get("os", {}).get("name") == "windows":
        return _only("windows pods cannot be resized")
    problems = _changed_pod(new, old)
    if old.get("status", {}).get("qosClass", qos_class(old)) != qos_class(new):
        problems.invalid("spec", qos_class(new), "Pod QOS Class may not change as a result of resizing")
    if not _node_resizes(old):
        problems.forbidden("spec", "Pod running on node without support for resize")
    for field in ("initContainers", "containers"):
        for index, (after, before) in enumerate(
            zip(new["spec"].get(field, ()), old["spec"].get(field, ()), strict=False)
        ):
            path = f"spec.{field}[{index}].resources"
            if field == "containers" or before.get("restartPolicy") == "Always":
                _resized(after, before, path, problems)
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
    pod_spec_of_pod(new, problems)
    return problems


def _node_resizes(pod: Object) -> bool:
    """A kubelet that can resize reports the resources of what runs."""
    for status in pod.get("status", {}).get("containerStatuses", ()):
        if "running" in status.get("state", {}):
            return "resources" in status
    return True


def _resized(after: Object, before: Object, path: str, problems: Problems) -> None:
    new, old = after.get("resources", {}), before.get("resources", {})
    for field, words in (("requests", "resource requests"), ("limits", "resource limits")):
        if any(name not in new.get(field, {}) for name in old.get(field, {})):
            problems.forbidden(f"{path}.{field}", f"{words} cannot be removed")
        if _others(new.get(field, {})) != _others(old.get(field, {})):
            problems.forbidden("spec", "only cpu and memory resources are mutable")
    policies = {policy.get("resourceName"): policy.get("restartPolicy") for policy in after.get("resizePolicy", ())}
    if policies.get("memory", "NotRequired") == "NotRequired":
        _memory_limit(new.get("limits", {}), old.get("limits", {}), path, problems)


def _others(amounts: Mapping[str, str]) -> dict[str, str]:
    return {name: amount for name, amount in amounts.items() if name not in _RESIZABLE}


def _memory_limit(new: Mapping[str, str], old: Mapping[str, str], path: str, problems: Problems) -> None:
    if "memory" not in new:
        return
    at = f"{path}.limits[memory]"
    if "memory" not in old:
        problems.forbidden(at, "memory limits cannot be added unless resizePolicy is RestartContainer")
    elif Quantity.parse(new["memory"]) < Quantity.parse(old["memory"]):
        problems.forbidden(at, "memory limits cannot be decreased unless resizePolicy is RestartContainer")
