"""What may change of a Pod (core validation, ValidatePodUpdate)."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from engine.api.types import Object
from engine.api.validation import placement, pod_annotations, text
from engine.api.validation.containers import trimmed_image
from engine.api.validation.differences import difference
from engine.api.validation.go_pods import pod_spec
from engine.api.validation.go_values import internal
from engine.api.validation.pod_annotations import annotation_updates
from engine.api.validation.pods import pod_as_before
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
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def pod_update(new: Object, old: Object, problems: Problems) -> None:
    pod_as_before(new, old, problems)
    annotations, annotations_before = (each["metadata"].get("annotations", {}) for each in (new, old))
    annotation_updates(annotations, annotations_before, problems)
    after, before = new["spec"], old["spec"]
    pod_annotations.known_annotations(annotations, after, "metadata.annotations", problems)
    for field in ("containers", "initContainers"):
        if len(after.get(field, ())) != len(before.get(field, ())):
            problems.forbidden(f"spec.{field}", "pod updates may not add or remove containers")
            return
        _images(after.get(field, ()), f"spec.{field}", problems)
    if not _active_deadline(after, before, problems):
        return
    _only_added_tolerations(after.get("tolerations", []), before.get("tolerations", []), problems)
    _only_removed_gates(after, before, problems)
    if after == before:
        return
    masked = _masked(after, before, problems)
    if masked != before:
        shown = difference(pod_spec(before), pod_spec(masked))
        problems.forbidden("spec", f"pod updates may not change fields other than {_UPDATABLE}\n{shown}")


def _images(containers: Sequence[Object], path: str, problems: Problems) -> None:
    for index, container in enumerate(containers):
        if not container.get("image"):
            problems.required(f"{path}[{index}].image")
        trimmed_image(container, f"{path}[{index}]", problems)


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
    def without_seconds(toleration: Object) -> frozenset[tuple[str, object]]:
        return frozenset(item for item in toleration.items() if item[0] != "tolerationSeconds")

    if not {without_seconds(toleration) for toleration in old} <= {without_seconds(toleration) for toleration in new}:
        detail = "existing toleration can not be modified except its tolerationSeconds"
        problems.forbidden("spec.tolerations", detail)
        return
    placement.tolerations(new, "spec.tolerations", problems)


def _only_removed_gates(after: Object, before: Object, problems: Problems) -> None:
    known = {gate.get("name") for gate in before.get("schedulingGates", ())}
    places = {gate.get("name", ""): index for index, gate in enumerate(after.get("schedulingGates", ()))}
    for name, index in places.items():
        if name not in known:
            detail = f"only deletion is allowed, but found new scheduling gate '{name}'"
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
        _narrowed_affinity(affinity.get("nodeAffinity"), old_affinity.get("nodeAffinity"), problems)
        _put_back(affinity, old_affinity, "nodeAffinity")
        masked["affinity"] = affinity
        if not affinity and "affinity" not in before:
            del masked["affinity"]


def _narrowed_affinity(new: Object | None, old: Object | None, problems: Problems) -> None:
    """Requirements may be added to terms, but no terms to others: they would widen (validateNodeAffinityMutation)."""
    terms_before = (old or {}).get(_REQUIRED, {}).get("nodeSelectorTerms", [])
    terms = (new or {}).get(_REQUIRED, {}).get("nodeSelectorTerms", [])
    path = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
    if terms_before and len(terms) != len(terms_before):
        detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        problems.invalid(path, [internal("NodeSelectorTerm", term) for term in terms] or None, detail)
        return
    for index, (term, before) in enumerate(zip(terms, terms_before, strict=False)):
        if not _only_added(term, before):
            shown = internal("NodeSelectorTerm", term)
            problems.invalid(f"{path}[{index}]", shown, "only additions are allowed (no mutations or deletions)")


def _only_added(term: Object, before: Object) -> bool:
    fields = ("matchExpressions", "matchFields")
    if not any(before.get(field) for field in fields):
        return not any(term.get(field) for field in fields)
    return all(term.get(field, [])[: len(before.get(field, []))] == before.get(field, []) for field in fields)


def _put_back(new: Object, old: Object, field: str) -> None:
    if field in old:
        new[field] = old[field]
    else:
        new.pop(field, None)
