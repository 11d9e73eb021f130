"""Smaller kinds of many groups: scales, disruption budgets, leases, priorities, revisions."""

from __future__ import annotations

from engine.api.types import Object
from engine.api.validation.conditions import conditions
from engine.api.validation.go_values import internal
from engine.api.validation.labels import has_invalid_value, label_selector
from engine.api.validation.problems import Problems
from engine.api.validation.text import qualified_name
from engine.api.validation.workloads import at_most_all, count_or_percent

_HIGHEST_PRIORITY = 1_000_000_000
_SYSTEM_PRIORITIES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
_PREEMPTION = ("PreemptLowerPriority", "Never")


def scale(obj: Object, problems: Problems) -> None:
    """The Scale that a scale subresource is updated with."""
    problems.not_negative("spec.replicas", obj.get("spec", {}).get("replicas", 0))


def pod_disruption_budget(obj: Object, problems: Problems, *, any_values: bool = False) -> None:
    spec = obj.get("spec", {})
    if "minAvailable" in spec and "maxUnavailable" in spec:
        shown = internal("PodDisruptionBudgetSpec", spec)
        problems.invalid("spec", shown, "minAvailable and maxUnavailable cannot be both set")
    for field in ("minAvailable", "maxUnavailable"):
        if field in spec:
            count_or_percent(spec[field], f"spec.{field}", problems)
            at_most_all(spec[field], f"spec.{field}", problems)
    label_selector(spec.get("selector"), "spec.selector", problems, any_values=any_values)
    eviction = spec.get("unhealthyPodEvictionPolicy")
    if eviction is not None and eviction not in ("AlwaysAllow", "IfHealthyBudget"):
        problems.not_supported("spec.unhealthyPodEvictionPolicy", eviction, ("AlwaysAllow", "IfHealthyBudget"))


def changed_disruption_budget(new: Object, old: Object, problems: Problems) -> None:
    any_values = has_invalid_value(old.get("spec", {}).get("selector"))
    pod_disruption_budget(new, problems, any_values=any_values)


def pod_disruption_budget_status(new: Object, old: Object, problems: Problems) -> None:
    status = new.get("status", {})
    conditions(status.get("conditions", ()), "status.conditions", problems)
    for field in ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"):
        problems.not_negative(f"status.{field}", status.get(field))


def lease(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    duration = spec.get("leaseDurationSeconds")
    if duration is not None and duration <= 0:
        problems.invalid("spec.leaseDurationSeconds", duration, "must be greater than 0")
    problems.not_negative("spec.leaseTransitions", spec.get("leaseTransitions"))
    strategy = spec.get("strategy")
    if strategy is not None and "/" in strategy:
        problems.all_invalid("spec.strategy.strategy", strategy, qualified_name(strategy))
    elif strategy is not None and strategy != "OldestEmulationVersion":
        problems.not_supported("spec.strategy.strategy", strategy, ("OldestEmulationVersion",))
    if spec.get("preferredHolder") and not strategy:
        problems.forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined")


def priority_class(obj: Object, problems: Problems) -> None:
    name, value = obj.get("metadata", {}).get("name", ""), obj.get("value", 0)
    if name.startswith("system-"):
        _system_priority(obj, name, value, problems)
    elif value > _HIGHEST_PRIORITY:
        problems.forbidden("value", f"maximum allowed value of a user defined priority is {_HIGHEST_PRIORITY}")
    if "preemptionPolicy" in obj:
        problems.one_of("preemptionPolicy", obj["preemptionPolicy"], _PREEMPTION)


def _system_priority(obj: Object, name: str, value: int, problems: Problems) -> None:
    known = _SYSTEM_PRIORITIES.get(name)
    if known is None:
        why = f"{name} is not a known system priority class"
    elif known != value:
        why = f"value of {name} PriorityClass must be {known}"
    elif obj.get("globalDefault"):
        why = f"globalDefault of {name} PriorityClass must be false"
    else:
        return
    detail = f"priority class names with 'system-' prefix are reserved for system use only. error: {why}"
    problems.forbidden("metadata.name", detail)


def priority_class_update(new: Object, old: Object, problems: Problems) -> None:
    if new.get("value", 0) != old.get("value", 0):
        problems.forbidden("value", "may not be changed in an update.")
    problems.immutable("preemptionPolicy", new.get("preemptionPolicy"), old.get("preemptionPolicy"))


def new_controller_revision(obj: Object, problems: Problems) -> None:
    controller_revision(obj, problems)
    if not isinstance(obj.get("data", {}), dict):
        problems.invalid("data", "<value omitted>", "data must be a valid JSON object")


def controller_revision(obj: Object, problems: Problems) -> None:
    if "data" not in obj:
        problems.required("data", "data is mandatory")
    problems.not_negative("revision", obj.get("revision"))


def controller_revision_update(new: Object, old: Object, problems: Problems) -> None:
    problems.immutable("data", new.get("data"), old.get("data"))
