"""The Pods of a Job: made from its template, and which of them to remove: pure (job_controller.go, utils.go)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from engine.api.types import GVK, Object, copy_object
from engine.controllers.job.facts import FINALIZER
from engine.controllers.job.index_failures import counts_after, limits_each_index
from engine.controllers.job.indexes import COMPLETION_INDEX, index_of, is_indexed
from engine.controllers.pod_control import pod_from_template
from engine.controllers.replicaset.ranking import pods_to_delete

KIND = GVK("batch", "v1", "Job")
_ENVIRONMENT = {
    "name": "JOB_COMPLETION_INDEX",
    "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.labels['{COMPLETION_INDEX}']"}},
}
# Of a generated name, what is left for the Job's own after its index and five random characters.
MAX_GENERATED = 63


def make_pod(job: Object, index: int | None, replaced: Object | None = None) -> Object:
    """A Pod of the Job, of one completion index where it has them; `replaced` is the one that failed there before."""
    template = copy_object(job["spec"]["template"])
    metadata = template.setdefault("metadata", {})
    finalizers = metadata.get("finalizers") or []
    metadata["finalizers"] = [*finalizers, *([] if FINALIZER in finalizers else [FINALIZER])]
    if index is None:
        return pod_from_template(template, job, KIND)
    metadata["annotations"] = {**(metadata.get("annotations") or {}), COMPLETION_INDEX: str(index)}
    metadata["labels"] = {**(metadata.get("labels") or {}), COMPLETION_INDEX: str(index)}
    if limits_each_index(job):
        metadata["annotations"] |= counts_after(job, replaced)
    name = job["metadata"]["name"]
    spec = template["spec"]
    spec["hostname"] = f"{name}-{index}"
    for container in [*spec["containers"], *(spec.get("initContainers") or ())]:
        if not any(each["name"] == _ENVIRONMENT["name"] for each in container.get("env") or ()):
            container["env"] = [*(container.get("env") or ()), copy_object(_ENVIRONMENT)]
    pod = pod_from_template(template, job, KIND)
    suffix = f"-{index}-"
    pod["metadata"]["generateName"] = name[: MAX_GENERATED - 5 - len(suffix)] + suffix
    return pod


def surplus_pods(job: Object, active: Sequence[Object], *, at_least: int, now: datetime) -> list[Object]:
    """Active Pods to remove: of an index that is not the Job's or has another Pod, then by rank."""
    removed: list[Object] = []
    left = list(active)
    if is_indexed(job):
        removed, left = _misplaced(job, active)
    missing = max(0, at_least - len(removed))
    return [*removed, *pods_to_delete(left, [], count=min(missing, len(left)), now=now)] if missing else removed


def _misplaced(job: Object, active: Sequence[Object]) -> tuple[list[Object], list[Object]]:
    removed, left = [], []
    seen: set[int] = set()
    completions = int(job["spec"].get("completions") or 0)
    for pod in sorted(active, key=lambda pod: (index_of(pod), pod["metadata"].get("creationTimestamp", ""))):
        index = index_of(pod)
        if index in seen or not 0 <= index < completions:
            removed.append(pod)
        else:
            seen.add(index)
            left.append(pod)
    return removed, left
