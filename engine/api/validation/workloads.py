"""Deployments, ReplicaSets, ReplicationControllers, DaemonSets, StatefulSets (pkg/apis/apps/validation)."""

from __future__ import annotations

from typing import Any

from engine.api.errors import ApiError
from engine.api.golang.integer import MAX_INT64, parse_int
from engine.api.selectors import LabelSelector
from engine.api.types import Object
from engine.api.validation import go_pods, text
from engine.api.validation.claims import claim_spec
from engine.api.validation.go_values import go_map, internal
from engine.api.validation.go_values import selector as shown_selector
from engine.api.validation.labels import label_selector
from engine.api.validation.pods import pod_template
from engine.api.validation.problems import IMMUTABLE, Problems

_MISMATCH = "`selector` does not match template `labels`"
_STRATEGIES = ("Recreate", "RollingUpdate")
_DAEMON_STRATEGIES = ("RollingUpdate", "OnDelete")
_POD_MANAGEMENT = ("OrderedReady", "Parallel")
_SET_UPDATABLE = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


def deployment(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    problems.not_negative("spec.replicas", spec.get("replicas"))
    _selector(spec, problems, empty="empty selector is invalid for deployment")
    selected_template(spec, problems, kind="ReplicaSet")
    _deployment_strategy(spec.get("strategy", {}), "spec.strategy", problems)
    for field in ("minReadySeconds", "revisionHistoryLimit"):
        problems.not_negative(f"spec.{field}", spec.get(field))
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None:
        problems.not_negative("spec.progressDeadlineSeconds", deadline)
        if deadline <= spec.get("minReadySeconds", 0):
            problems.invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")


def deployment_update(new: Object, old: Object, problems: Problems) -> None:
    deployment(new, problems)
    selector_update(new, old, problems)


def selector_update(new: Object, old: Object, problems: Problems) -> None:
    after, before = new.get("spec", {}).get("selector"), old.get("spec", {}).get("selector")
    if after != before:
        problems.invalid("spec.selector", shown_selector(after), IMMUTABLE)


def _selector(spec: Object, problems: Problems, *, empty: str) -> None:
    selector = spec.get("selector")
    if selector is None:
        problems.required("spec.selector")
        return
    label_selector(selector, "spec.selector", problems)
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        problems.invalid("spec.selector", shown_selector(selector), empty)


def selected_template(
    spec: Object, problems: Problems, *, kind: str, unselectable: str = "invalid label selector"
) -> None:
    """The template of a workload whose Pods run for ever: selected by the selector, always restarted."""
    template = spec.get("template") or {}
    labels = template.get("metadata", {}).get("labels")
    try:
        selector = LabelSelector.from_object(spec.get("selector"))
    except ApiError:
        problems.invalid("spec.selector", shown_selector(spec.get("selector")), unselectable)
        return
    if not selector.empty and not selector.matches(labels or {}):
        problems.invalid("spec.template.metadata.labels", go_map(labels), _MISMATCH)
    pod_template(template, "spec.template", problems)
    _runs_for_ever(template.get("spec", {}), problems, kind=kind)


def _runs_for_ever(pod_spec: Object, problems: Problems, *, kind: str) -> None:
    if pod_spec.get("restartPolicy") not in ("Always", None):
        problems.not_supported("spec.template.spec.restartPolicy", pod_spec["restartPolicy"], ("Always",))
    if "activeDeadlineSeconds" in pod_spec:
        path = "spec.template.spec.activeDeadlineSeconds"
        problems.forbidden(path, f"activeDeadlineSeconds in {kind} is not Supported")


def _deployment_strategy(strategy: Object, path: str, problems: Problems) -> None:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            detail = "may not be specified when strategy `type` is 'Recreate'"
            problems.forbidden(f"{path}.rollingUpdate", detail)
    elif kind == "RollingUpdate":
        if rolling is None:
            problems.required(f"{path}.rollingUpdate", "this should be defaulted and never be nil")
        else:
            _rolling_update(rolling, f"{path}.rollingUpdate", problems)
    else:
        problems.not_supported(path, internal("DeploymentStrategy", strategy), _STRATEGIES)


def _rolling_update(rolling: Object, path: str, problems: Problems) -> None:
    unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    count_or_percent(unavailable, f"{path}.maxUnavailable", problems)
    count_or_percent(surge, f"{path}.maxSurge", problems)
    if _amount(unavailable) == 0 and _amount(surge) == 0:
        problems.invalid(f"{path}.maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0")
    at_most_all(unavailable, f"{path}.maxUnavailable", problems)


def count_or_percent(value: Any, path: str, problems: Problems) -> None:
    if isinstance(value, str):
        problems.all_invalid(path, value, text.percent(value))
    else:
        problems.not_negative(path, value)


def at_most_all(value: Any, path: str, problems: Problems) -> None:
    if isinstance(value, str) and not text.percent(value) and _amount(value) > 100:
        problems.invalid(path, value, "must not be greater than 100%")


def _amount(value: Any) -> int:
    if not isinstance(value, str):
        return int(value)
    try:
        return parse_int(value[:-1]) if not text.percent(value) else 0
    except ValueError:
        return MAX_INT64  # what Go makes of more


def replica_set(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    problems.not_negative("spec.replicas", spec.get("replicas"))
    problems.not_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    _selector(spec, problems, empty="empty selector is invalid for deployment")
    selected_template(spec, problems, kind="ReplicaSet")


def replication_controller(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    problems.not_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    selector = spec.get("selector")
    if not selector:
        problems.required("spec.selector")
    problems.not_negative("spec.replicas", spec.get("replicas"))
    if spec.get("template") is None:  # the one workload that can be without
        problems.required("spec.template")
        return
    labels = spec["template"].get("metadata", {}).get("labels")
    if any((labels or {}).get(key) != value for key, value in (selector or {}).items()):  # whatever the keys are
        problems.invalid("spec.template.metadata.labels", go_map(labels), _MISMATCH)
    pod_template(spec["template"], "spec.template", problems)
    _runs_for_ever(spec["template"].get("spec", {}), problems, kind="ReplicationController")


def daemon_set(obj: Object, problems: Problems) -> None:
    spec = obj.get("spec", {})
    selector = spec.get("selector")
    label_selector(selector, "spec.selector", problems)
    labels = (spec.get("template") or {}).get("metadata", {}).get("labels")
    if not _selects(selector, labels or {}):
        problems.invalid("spec.template.metadata.labels", go_map(labels), _MISMATCH)
    if selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions"):
        problems.invalid("spec.selector", shown_selector(selector), "empty selector is invalid for daemonset")
    template = spec.get("template") or {}
    pod_template(template, "spec.template", problems)
    _runs_for_ever(template.get("spec", {}), problems, kind="DaemonSet")
    for field in ("minReadySeconds", "templateGeneration"):
        problems.not_negative(f"spec.{field}", spec.get(field))
    _daemon_strategy(spec.get("updateStrategy", {}), "spec.updateStrategy", problems)
    problems.not_negative("spec.revisionHistoryLimit", spec.get("revisionHistoryLimit"))


def _selects(selector: Object | None, labels: Object) -> bool:
    """Whether a selector selects labels; one that cannot be read has been told of already."""
    try:
        return selector is not None and LabelSelector.from_object(selector).matches(labels)
    except ApiError:
        return True


def _daemon_strategy(strategy: Object, path: str, problems: Problems) -> None:
    if strategy.get("type") not in _DAEMON_STRATEGIES:
        problems.not_supported(path, internal("DaemonSetUpdateStrategy", strategy), _DAEMON_STRATEGIES)
    elif strategy["type"] == "RollingUpdate":
        if "rollingUpdate" not in strategy:
            problems.required(f"{path}.rollingUpdate")
        else:
            _daemon_rolling(strategy["rollingUpdate"], f"{path}.rollingUpdate", problems)


def _daemon_rolling(rolling: Object, path: str, problems: Problems) -> None:
    unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    for check in (count_or_percent, at_most_all):
        for field, value in (("maxUnavailable", unavailable), ("maxSurge", surge)):
            check(value, f"{path}.{field}", problems)
    if _amount(unavailable) and _amount(surge):
        problems.invalid(f"{path}.maxSurge", surge, "may not be set when maxUnavailable is non-zero")
    elif not _amount(unavailable) and not _amount(surge):
        problems.required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")


def stateful_set(obj: Object, problems: Problems) -> None:
    _stateful_set(obj.get("spec", {}), problems, new=True)


def _stateful_set(spec: Object, problems: Problems, *, new: bool) -> None:
    """The name of its Service and the templates of its claims stay as they are, wrong or not, once it is made."""
    policy = spec.get("podManagementPolicy")
    if not policy:
        problems.required("spec.podManagementPolicy")
    elif policy not in _POD_MANAGEMENT:
        problems.invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")
    _set_strategy(spec.get("updateStrategy", {}), "spec.updateStrategy", problems)
    retention = spec.get("persistentVolumeClaimRetentionPolicy", {})
    for field in ("whenDeleted", "whenScaled"):
        path = f"spec.persistentVolumeClaimRetentionPolicy.{field}"
        problems.unless_in(path, retention.get(field), ("Retain", "Delete"))
    if new:
        for index, claim in enumerate(spec.get("volumeClaimTemplates", ())):
            claim_spec(claim.get("spec", {}), f"spec.volumeClaimTemplates[{index}].spec", problems)
    for field in ("replicas", "minReadySeconds"):
        problems.not_negative(f"spec.{field}", spec.get(field))
    problems.not_negative("spec.ordinals.start", spec.get("ordinals", {}).get("start"))
    if new and (name := spec.get("serviceName")):
        problems.all_invalid("spec.serviceName", name, text.dns_label(name))
    _selector(spec, problems, empty="empty selector is invalid for statefulset")
    _set_template(spec, problems)


def _set_template(spec: Object, problems: Problems) -> None:
    """Claims made from the templates are volumes that the containers may mount."""
    template = spec.get("template", {})
    pod_spec = template.get("spec", {})
    claimed = [
        {"name": claim.get("metadata", {}).get("name", ""), "persistentVolumeClaim": {"claimName": "x"}}
        for claim in spec.get("volumeClaimTemplates", ())
    ]
    names = {volume["name"] for volume in claimed}
    given = [volume for volume in pod_spec.get("volumes", ()) if volume.get("name") not in names]
    whole = {**template, "spec": {**pod_spec, "volumes": [*given, *claimed]}} if claimed else template
    selected_template({**spec, "template": whole}, problems, kind="StatefulSet", unselectable="")


def _set_strategy(strategy: Object, path: str, problems: Problems) -> None:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if not kind:
        problems.required(path)
    elif kind == "OnDelete":
        if rolling is not None:
            detail = "only allowed for updateStrategy 'RollingUpdate'"
            shown = internal("RollingUpdateStatefulSetStrategy", rolling)
            problems.invalid(f"{path}.rollingUpdate", shown, detail)
    elif kind == "RollingUpdate":
        _set_rolling(rolling or {}, f"{path}.rollingUpdate", problems)
    else:
        shown = internal("StatefulSetUpdateStrategy", strategy)
        problems.invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'")


def _set_rolling(rolling: Object, path: str, problems: Problems) -> None:
    problems.not_negative(f"{path}.partition", rolling.get("partition"))
    unavailable, at = rolling.get("maxUnavailable"), f"{path}.maxUnavailable"
    if unavailable is not None:
        count_or_percent(unavailable, at, problems)
        if _amount(unavailable) == 0:
            problems.invalid(at, unavailable, "cannot be 0")
        at_most_all(unavailable, at, problems)


def stateful_set_update(new: Object, old: Object, problems: Problems) -> None:
    after, before = new.get("spec", {}), old.get("spec", {})
    _stateful_set(after, problems, new=False)
    selector_update(new, old, problems)
    claims = after.get("volumeClaimTemplates", [])
    if claims != before.get("volumeClaimTemplates", []):
        shown = [go_pods.claim_template(claim) for claim in claims] or None
        problems.invalid("spec.volumeClaimTemplates", shown, IMMUTABLE)
    for field in ("serviceName", "podManagementPolicy"):
        problems.immutable(f"spec.{field}", after.get(field, ""), before.get(field, ""))


def old_stateful_set_update(new: Object, old: Object, problems: Problems) -> None:
    """Of releases before 1.37: they name the fields that may change instead of the one that has."""
    after, before = dict(new.get("spec", {})), dict(old.get("spec", {}))
    _stateful_set(after, problems, new=False)
    for field in _SET_UPDATABLE:
        after.pop(field, None)
        before.pop(field, None)
    if after != before:
        shown = ", ".join(f"'{field}'" for field in _SET_UPDATABLE[:-1])
        detail = f"updates to statefulset spec for fields other than {shown} and 'minReadySeconds' are forbidden"
        problems.forbidden("spec", detail)
