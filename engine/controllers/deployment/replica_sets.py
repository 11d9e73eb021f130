"""Which ReplicaSets a Deployment has, and what its annotations on them say (pkg/controller/deployment/util)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from engine.api.types import Object, copy_object

HASH_LABEL = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
REVISION_HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas"
MAX_REPLICAS = "deployment.kubernetes.io/max-replicas"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
DEPRECATED_ROLLBACK = "deprecated.deployment.rollback.to"

# Annotations of the Deployment that are not its ReplicaSets'.
NOT_COPIED = frozenset({LAST_APPLIED, REVISION, REVISION_HISTORY, DESIRED_REPLICAS, MAX_REPLICAS, DEPRECATED_ROLLBACK})
_MAX_HISTORY = 2000


class ReplicaSets(NamedTuple):
    """`new` has the Deployment's template and may not be there yet; `old` are all others."""

    new: Object | None
    old: list[Object]

    @property
    def all(self) -> list[Object]:
        return [*self.old, self.new] if self.new is not None else list(self.old)


def replicas(obj: Object) -> int:
    return int(obj["spec"].get("replicas", 1))


def total_replicas(replica_sets: Iterable[Object]) -> int:
    return sum(replicas(rs) for rs in replica_sets)


def status_sum(replica_sets: Iterable[Object], field: str) -> int:
    return sum((rs.get("status") or {}).get(field, 0) for rs in replica_sets)


def active(replica_sets: Iterable[Object]) -> list[Object]:
    return [rs for rs in replica_sets if replicas(rs) > 0]


def by_creation(rs: Object) -> tuple[str, str]:
    return rs["metadata"].get("creationTimestamp", ""), rs["metadata"]["name"]


def annotations_of(obj: Object) -> dict[str, str]:
    found: dict[str, str] = obj["metadata"].get("annotations") or {}
    return found


def revision(rs: Object) -> int:
    """The revision that the ReplicaSet was last rolled out as; 0 where there is none, or none that can be read."""
    try:
        return int(annotations_of(rs).get(REVISION, "0"))
    except ValueError:
        return 0


def max_revision(replica_sets: Iterable[Object]) -> int:
    return max((revision(rs) for rs in replica_sets), default=0)


def split(deployment: Object, replica_sets: Sequence[Object]) -> ReplicaSets:
    """Tell the new ReplicaSet (the oldest that has the Deployment's template) from the old ones."""
    template = deployment["spec"]["template"]
    ordered = sorted(replica_sets, key=by_creation)
    new = next((rs for rs in ordered if equal_ignoring_hash(rs["spec"]["template"], template)), None)
    return ReplicaSets(new, [rs for rs in ordered if rs is not new])


def equal_ignoring_hash(a: Object, b: Object) -> bool:
    return _without_hash(a) == _without_hash(b)


def _without_hash(template: Object) -> Object:
    """A template without its hash label and without what is empty or null in its metadata, which means the same."""
    metadata = template.get("metadata") or {}
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key != HASH_LABEL}
    kept = {key: value for key, value in {**metadata, "labels": labels}.items() if value}
    return {**template, "metadata": kept}


def new_annotations(deployment: Object, rs: Object, *, new_revision: int, exists: bool, surge: int) -> dict[str, str]:
    """The annotations that the new ReplicaSet should have: the Deployment's, its revision and those it had before."""
    found = dict(annotations_of(rs))
    found.update({key: value for key, value in annotations_of(deployment).items() if key not in NOT_COPIED})
    old_revision = found.get(REVISION)
    if revision(rs) < new_revision:
        found[REVISION] = str(new_revision)
        if old_revision is not None:
            found[REVISION_HISTORY] = _history(found.get(REVISION_HISTORY, ""), old_revision)
    if not exists:
        found.update(replica_annotations(deployment, surge))
    return found


def _history(history: str, old_revision: str) -> str:
    """The earlier revisions of a ReplicaSet that is rolled back to, without the oldest where the list grows long."""
    revisions = [*(history.split(",") if history else []), old_revision]
    while len(",".join(revisions)) > _MAX_HISTORY and len(revisions) > 1:
        revisions.pop(0)
    return ",".join(revisions)


def replica_annotations(deployment: Object, surge: int) -> dict[str, str]:
    wanted = replicas(deployment)
    return {DESIRED_REPLICAS: str(wanted), MAX_REPLICAS: str(wanted + surge)}


def annotated(rs: Object, annotation: str) -> int | None:
    try:
        return int(annotations_of(rs)[annotation])
    except (KeyError, ValueError):
        return None


def with_annotations(obj: Object, wanted: dict[str, str]) -> Object:
    """A copy with further annotations."""
    copy = copy_object(obj)
    copy["metadata"]["annotations"] = {**annotations_of(copy), **wanted}
    return copy
