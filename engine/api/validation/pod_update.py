"""What may change of a Pod (core validation, ValidatePodUpdate, ValidatePodStatusUpdate)."""

from __future__ import annotations

from typing import Any

import orjson

from engine.api.types import Object
from engine.api.validation import placement, text
from engine.api.validation.pods import pod_spec_of_pod
from engine.api.validation.problems import Problems

_UPDATABLE = ",".join(
    (
        "`spec.containers[*].image`",
        "`spec.initContainers[*].image`",
        "`spec.activeDeadlineSeconds`",
        "`spec.tolerations` (only additions to existing tolerations)",
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
    )
)
_MAX_INT32 = 2**31 - 1
_SYSTEM_CONDITIONS = ("PodScheduled", "Ready", "Initialized")


def pod_update(new: Object, old: Object, problems: Problems) -> None:
    pod_spec_of_pod(new, problems)
    after, before = new["spec"], old["spec"]
    for field in ("containers", "initContainers"):
        if len(after.get(field, ())) != len(before.get(field, ())):
            problems.forbidden(f"spec.{field}", "pod updates may not add or remove containers")
            return
    if not _active_deadline(after, before, problems):
        return
    _only_added_tolerations(after.get("tolerations", []), before.get("tolerations", []), problems)
    _only_removed_gates(after, before, problems)
    if after == before:
        return
    masked = _masked(after, before, problems)
    if masked != before:
        detail = f"pod updates may not change fields other than {_UPDATABLE}\n{_difference(before, masked)}"
        problems.forbidden("spec", detail)


def _active_deadline(after: Object, before: Object, problems: Problems) -> bool:
    path = "spec.activeDeadlineSeconds"
    new, old = after.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    if new is None:
        if old is not None:
            problems.invalid(path, None, "must not update from a positive integer to nil value")
        return True
    if not 0 <= new <= _MAX_INT32:
        problems.invalid(path, new, text.range_text(0, _MAX_INT32))
        return False
    if old is not None and old < new:
        problems.invalid(path, new, "must be less than or equal to previous value")
        return False
    return True


def _only_added_tolerations(new: list[Object], old: list[Object], problems: Problems) -> None:
    def without_seconds(toleration: Object) -> Object:
        return {name: value for name, value in toleration.items() if name != "tolerationSeconds"}

    known = [without_seconds(toleration) for toleration in new]
    if any(without_seconds(toleration) not in known for toleration in old):
        detail = "existing toleration can not be modified except its tolerationSeconds"
        problems.forbidden("spec.tolerations", detail)
        return
    placement.tolerations(new, "spec.tolerations", problems)


def _only_removed_gates(after: Object, before: Object, problems: Problems) -> None:
    known = {gate.get("name") for gate in before.get("schedulingGates", ())}
    for index, gate in enumerate(after.get("schedulingGates", ())):
        if gate.get("name") not in known:
            detail = f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'"
            problems.forbidden(f"spec.schedulingGates[{index}].name", detail)


def _masked(after: Object, before: Object, problems: Problems) -> Object:
    """The new spec with what may change put back to what it was."""
    masked: Object = orjson.loads(orjson.dumps(after))
    for field in ("containers", "initContainers"):
        for container, old in zip(masked.get(field, ()), before.get(field, ()), strict=True):
            _put_back(container, old, "image")
    for field in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        _put_back(masked, before, field)
    if before.get("terminationGracePeriodSeconds", 0) < 0 and masked.get("terminationGracePeriodSeconds") == 1:
        _put_back(masked, before, "terminationGracePeriodSeconds")
    if before.get("schedulingGates"):
        _gated(masked, before, problems)
    return masked


def _gated(masked: Object, before: Object, problems: Problems) -> None:
    """A gated Pod may still be narrowed to fewer nodes (KEP-3838)."""
    selector, old = masked.get("nodeSelector", {}), before.get("nodeSelector", {})
    if any(selector.get(key) != value for key, value in old.items()):
        detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        problems.invalid("spec.nodeSelector", selector, detail)
    _put_back(masked, before, "nodeSelector")
    affinity, old_affinity = masked.get("affinity", {}), before.get("affinity", {})
    if affinity.get("nodeAffinity") != old_affinity.get("nodeAffinity"):
        _put_back(affinity, old_affinity, "nodeAffinity")
        if not affinity:
            masked.pop("affinity", None)
            _put_back(masked, before, "affinity")


def _put_back(new: Object, old: Object, field: str) -> None:
    if field in old:
        new[field] = old[field]
    else:
        new.pop(field, None)


def _difference(old: Any, new: Any, path: str = "") -> str:
    """Which fields differ, a line for each side of each."""
    if isinstance(old, dict) and isinstance(new, dict):
        names = list(dict.fromkeys([*old, *new]))
        pairs = [(f"{path}.{name}" if path else name, old.get(name), new.get(name)) for name in names]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = [
            (f"{path}[{index}]", before, after) for index, (before, after) in enumerate(zip(old, new, strict=True))
        ]
    else:
        return f"-\t{path}: {orjson.dumps(old).decode()},\n+\t{path}: {orjson.dumps(new).decode()},\n"
    return "".join(_difference(before, after, at) for at, before, after in pairs if before != after)


def pod_status_update(new: Object, old: Object, problems: Problems) -> None:
    status, before = new.get("status", {}), old.get("status", {})
    for index, condition in enumerate(status.get("conditions", ())):
        kind = condition.get("type", "")
        if kind not in _SYSTEM_CONDITIONS:
            problems.all_invalid(f"metadata.conditions[{index}].Type", kind, text.qualified_name(kind))
    nominated = status.get("nominatedNodeName", "")
    if nominated and nominated != before.get("nominatedNodeName"):
        problems.all_invalid("status.nominatedNodeName", nominated, text.dns_subdomain(nominated))
    problems.immutable("status.qosClass", status.get("qosClass"), before.get("qosClass"))
    _transitions(status, before, old.get("spec", {}), problems)
    for field in ("podIPs", "hostIPs"):
        for index, entry in enumerate(status.get(field, ())):
            problems.all_invalid(f"status.{field}[{index}]", entry.get("ip", ""), text.ip_address(entry.get("ip", "")))


def _transitions(status: Object, before: Object, spec: Object, problems: Problems) -> None:
    """A container that will not be restarted does not leave the terminated state."""
    policy = spec.get("restartPolicy", "Always")
    sidecars = {each.get("name") for each in spec.get("initContainers", ()) if each.get("restartPolicy") == "Always"}
    for field in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"):
        restart = "Never" if field.startswith("ephemeral") else policy
        if restart == "Always":
            continue
        current = {each.get("name"): each for each in status.get(field, ())}
        for index, old in enumerate(before.get(field, ())):
            ended = old.get("state", {}).get("terminated")
            if ended is None or (ended.get("exitCode") and restart == "OnFailure") or old.get("name") in sidecars:
                continue
            new = current.get(old.get("name"))
            if new is not None and "terminated" not in new.get("state", {}):
                problems.forbidden(f"status.{field}[{index}].state", "may not be transitioned to non-terminated state")
