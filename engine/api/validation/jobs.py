"""Jobs (pkg/apis/batch/validation): their spec, what may change of it, and the selector that is made for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.api.errors import ApiError
from engine.api.selectors import LabelSelector
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.go_pods import pod_template as shown_template
from engine.api.validation.go_values import go_map, internal
from engine.api.validation.go_values import selector as shown_selector
from engine.api.validation.job_policies import failure_policy, success_policy
from engine.api.validation.labels import has_invalid_value, label_selector
from engine.api.validation.pods import pod_template
from engine.api.validation.problems import IMMUTABLE, Problems

_MISMATCH = "`selector` does not match template `labels`"
_NOT_NEGATIVE = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_INDEXED_ONLY = "requires indexed completion mode"
_MAX_MANAGED_BY = 63
_MANY, _PARALLEL_OF_MANY = 100_000, 10_000
_HIGH = (
    f"must be less than or equal to {_PARALLEL_OF_MANY} when completions are above {_MANY} "
    "and used with backoff limit per index"
)
_PREFIX = "batch.kubernetes.io/"
_LABELS = (("controller-uid", "uid"), ("job-name", "name"))
_PREFIXED_LABELS = tuple((f"{_PREFIX}{label}", field) for label, field in _LABELS)
# What says where the Pods of a suspended Job will run may change, and what they will ask for.
_DIRECTIVES = ("nodeSelector", "tolerations", "schedulingGates")


def job(obj: Object, problems: Problems) -> None:
    _whole(obj, _LABELS + _PREFIXED_LABELS, problems)


def _whole(obj: Object, labels: tuple[tuple[str, str], ...], problems: Problems, *, any_values: bool = False) -> None:
    spec = obj.get("spec", {})
    _generated_selector(obj, spec, labels, problems)
    _selected_spec(spec, problems, any_values=any_values)
    completions, name = spec.get("completions") or 0, obj.get("metadata", {}).get("name", "")
    if spec.get("completionMode") == "Indexed" and completions > 0:
        host = f"{name}-{completions - 1}"
        if text.dns_label(host):
            detail = f"will not able to create pod with invalid DNS label: {host}"
            problems.invalid("metadata.name", name, detail)


def _selected_spec(spec: Object, problems: Problems, *, any_values: bool = False) -> None:
    job_spec(spec, "spec", problems)
    selector = spec.get("selector")
    if selector is None:
        problems.required("spec.selector")
    else:
        label_selector(selector, "spec.selector", problems, any_values=any_values)
    labels = spec.get("template", {}).get("metadata", {}).get("labels")
    if not _selects(selector, labels or {}):
        problems.invalid("spec.template.metadata.labels", go_map(labels), _MISMATCH)


def _selects(selector: Object | None, labels: Object) -> bool:
    """One that cannot be read is told of elsewhere; none selects nothing."""
    try:
        return selector is not None and LabelSelector.from_object(selector).matches(labels)
    except ApiError:
        return True


def _generated_selector(obj: Object, spec: Object, generated: tuple[tuple[str, str], ...], problems: Problems) -> None:
    """The labels that the strategy has put on the template say whose Pods they are."""
    if spec.get("manualSelector") or "selector" not in spec:
        return
    metadata = obj.get("metadata", {})
    if not metadata.get("uid"):
        problems.required("metadata.uid")
    labels = spec.get("template", {}).get("metadata", {}).get("labels") or {}
    expected = {label: metadata.get(field, "") for label, field in generated}
    for label, value in expected.items():
        path = f"spec.template.metadata.labels[{label}]"
        if label not in labels:
            problems.required(path, f"must be '{value}'")
        elif labels[label] != value:
            problems.invalid(path, go_map(labels), f"must be '{value}'")
    if not _selects(spec["selector"], expected):
        problems.invalid("spec.selector", shown_selector(spec["selector"]), "`selector` not auto-generated")


def job_spec(spec: Object, path: str, problems: Problems) -> None:
    """Of a Job or a template of Jobs."""
    for field in _NOT_NEGATIVE:
        problems.not_negative(f"{path}.{field}", spec.get(field))
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        problems.required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    if "managedBy" in spec:
        problems.domain_prefixed_path(f"{path}.managedBy", spec["managedBy"])
        if len(spec["managedBy"]) > _MAX_MANAGED_BY:
            problems.too_long(f"{path}.managedBy", _MAX_MANAGED_BY)
    mode = spec.get("completionMode")
    problems.unless_in(f"{path}.completionMode", mode, ("NonIndexed", "Indexed"))
    if mode == "Indexed":
        _indexed(spec, path, problems)
    elif mode in (None, "NonIndexed"):
        for field in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if field in spec:
                problems.invalid(f"{path}.{field}", spec[field], _INDEXED_ONLY)
    if "podFailurePolicy" in spec:
        failure_policy(spec, f"{path}.podFailurePolicy", problems)
    if "successPolicy" in spec:
        if mode != "Indexed":
            shown = internal("SuccessPolicy", spec["successPolicy"])
            problems.invalid(f"{path}.successPolicy", shown, _INDEXED_ONLY)
        else:
            success_policy(spec, f"{path}.successPolicy", problems)
    allowed = ("Failed",) if "podFailurePolicy" in spec else ("Failed", "TerminatingOrFailed")
    problems.unless_in(f"{path}.podReplacementPolicy", spec.get("podReplacementPolicy"), allowed)
    pod_template(spec.get("template", {}), f"{path}.template", problems)
    _restart_policy(spec, f"{path}.template.spec.restartPolicy", problems)


def _indexed(spec: Object, path: str, problems: Problems) -> None:
    completions, parallelism = spec.get("completions"), spec.get("parallelism", 0)
    failed = spec.get("maxFailedIndexes")
    if completions is None:
        problems.required(f"{path}.completions", "when completion mode is Indexed")
    if parallelism > _MANY:
        detail = f"must be less than or equal to {_MANY} when completion mode is Indexed"
        problems.invalid(f"{path}.parallelism", parallelism, detail)
    if completions is not None and failed is not None and failed > completions:
        problems.invalid(f"{path}.maxFailedIndexes", failed, "must be less than or equal to completions")
    if failed is not None and failed > _MANY:
        problems.invalid(f"{path}.maxFailedIndexes", failed, f"must be less than or equal to {_MANY}")
    if completions is not None and completions > _MANY and "backoffLimitPerIndex" in spec:
        if failed is None:
            problems.required(f"{path}.maxFailedIndexes", f"must be specified when completions is above {_MANY}")
        if parallelism > _PARALLEL_OF_MANY:
            problems.invalid(f"{path}.parallelism", parallelism, _HIGH)
        if failed is not None and failed > _PARALLEL_OF_MANY:
            problems.invalid(f"{path}.maxFailedIndexes", failed, _HIGH)


def _restart_policy(spec: Object, path: str, problems: Problems) -> None:
    restart = spec.get("template", {}).get("spec", {}).get("restartPolicy", "")
    if restart in ("", "Always"):  # the default, where nothing was given
        problems.required(path, 'valid values: "OnFailure", "Never"')
    elif restart not in ("OnFailure", "Never"):
        problems.not_supported(path, restart, ("OnFailure", "Never"))
    elif "podFailurePolicy" in spec and restart != "Never":
        problems.invalid(path, restart, 'only "Never" is supported when podFailurePolicy is specified')


def replaced_job(new: Object, old: Object, problems: Problems) -> None:
    """The whole of a changed Job, as upstream's strategy looks at it before what may not change of it."""
    before = old.get("spec", {})
    labels = before.get("template", {}).get("metadata", {}).get("labels") or {}
    prefixed = all(label in labels for label, _ in _PREFIXED_LABELS)  # Jobs of old releases have none
    any_values = has_invalid_value(before.get("selector"))
    _whole(new, _LABELS + _PREFIXED_LABELS if prefixed else _LABELS, problems, any_values=any_values)


def job_update(new: Object, old: Object, problems: Problems) -> None:
    _update(new, old, problems, comparable=_comparable_template)


def old_job_update(new: Object, old: Object, problems: Problems) -> None:
    """Of releases before 1.36: a Job that has run is not placed otherwise, and what its Pods ask for never changes."""
    _update(new, old, problems, comparable=_placed_otherwise)


def _update(new: Object, old: Object, problems: Problems, *, comparable: Callable[[Object, Object], Object]) -> None:
    """The spec once more, and then what has changed of it."""
    after, before = new.get("spec", {}), old.get("spec", {})
    _selected_spec(after, problems, any_values=has_invalid_value(before.get("selector")))
    _completions(after, before, problems)
    if after.get("selector") != before.get("selector"):
        problems.invalid("spec.selector", shown_selector(after.get("selector")), IMMUTABLE)
    template = after.get("template", {})
    if template != comparable(template, old):
        problems.invalid("spec.template", shown_template(template), IMMUTABLE)
    for field in ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"):
        problems.immutable(f"spec.{field}", after.get(field), before.get(field))


def _completions(after: Object, before: Object, problems: Problems) -> None:
    """Those of an indexed Job change together with the parallelism: it is elastic (KEP-3715)."""
    new, old = after.get("completions"), before.get("completions")
    if after.get("completionMode") != "Indexed":
        problems.immutable("spec.completions", new, old)
    elif None not in (new, old) and new != old and new != after.get("parallelism"):
        problems.invalid("spec.completions", new, "can only be modified in tandem with spec.parallelism")


def _comparable_template(template: Object, old: Object) -> Object:
    """The old template, with what may change of a suspended Job taken from the new one (validatePodTemplateUpdate)."""
    before: Object = old.get("spec", {}).get("template", {})
    status = old.get("status", {})
    suspended = any(
        each.get("type") == "Suspended" and each.get("status") == "True" for each in status.get("conditions", ())
    )
    settled = not status.get("active") and ("startTime" not in status or suspended)
    if not settled or not old.get("spec", {}).get("suspend"):
        return before
    placed = _with_directives(before, template)
    spec, new = dict(placed["spec"]), template.get("spec", {})
    for field in ("initContainers", "containers"):
        if len(spec.get(field, ())) == len(new.get(field, ())) and field in spec:
            pairs = zip(spec[field], new[field], strict=True)
            spec[field] = [_with_resources(container, other) for container, other in pairs]
    return {**placed, "spec": spec}


def _placed_otherwise(template: Object, old: Object) -> Object:
    """The old template, with where its Pods run taken from the new one, if the Job waits for its first start."""
    before: Object = old.get("spec", {}).get("template", {})
    waits = old.get("spec", {}).get("suspend") and "startTime" not in old.get("status", {})
    return _with_directives(before, template) if waits else before


def _with_directives(before: Object, template: Object) -> Object:
    metadata, spec = dict(before.get("metadata", {})), dict(before.get("spec", {}))
    new = template.get("spec", {})
    for field in ("annotations", "labels"):
        _take(metadata, template.get("metadata", {}), field)
    for field in _DIRECTIVES:
        _take(spec, new, field)
    affinity = dict(spec.get("affinity", {}))
    _take(affinity, new.get("affinity", {}), "nodeAffinity")
    if affinity or "affinity" in new:
        spec["affinity"] = affinity
    else:
        spec.pop("affinity", None)
    return {**before, "metadata": metadata, "spec": spec}


def _with_resources(container: Object, other: Object) -> Object:
    taken = dict(container)
    _take(taken, other, "resources")
    return taken


def _take(target: Object, source: Object, field: str) -> None:
    value: Any = source.get(field)
    if value is None:
        target.pop(field, None)
    else:
        target[field] = value
