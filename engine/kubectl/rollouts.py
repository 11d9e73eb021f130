"""The revisions of a workload and how far its rollout is.

Source of the behaviour: kubectl pkg/polymorphichelpers (rollout_status.go, history.go, rollback.go) and
pkg/util/deployment.
"""

from __future__ import annotations

from engine.api.selectors import LabelSelector
from engine.api.types import Object
from engine.kubectl.errors import CommandError
from engine.kubectl.session import Session

REVISION = "deployment.kubernetes.io/revision"
CHANGE_CAUSE = "kubernetes.io/change-cause"
HASH_LABELS = ("pod-template-hash", "controller-revision-hash", "pod-template-generation")
# The kinds that a visitor can be shown (kinds.go), whether it has something to say of them or not.
VISITED = (
    ("", "Pod"),
    ("", "ReplicationController"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("apps", "StatefulSet"),
    ("batch", "CronJob"),
    ("batch", "Job"),
)
PROGRESS_DEADLINE = "ProgressDeadlineExceeded"


def template_of(obj: Object) -> Object:
    """The Pod template without the labels that tell one revision from another."""
    template = obj["spec"].get("template") or {}
    metadata = template.get("metadata") or {}
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key not in HASH_LABELS}
    kept: Object = {key: value for key, value in metadata.items() if value}
    kept.pop("labels", None)
    if labels:
        kept["labels"] = labels
    return {**template, "metadata": kept}


def revision_of(obj: Object) -> int:
    text = (obj["metadata"].get("annotations") or {}).get(REVISION, "")
    return int(text) if text.isdigit() else 0


async def owned_replica_sets(session: Session, deployment: Object) -> list[Object]:
    """The ReplicaSets that a Deployment controls, oldest first."""
    resource = await session.resolve("replicasets.apps")
    selector = str(LabelSelector.from_object(deployment["spec"].get("selector")))
    listed = await session.list(resource, deployment["metadata"]["namespace"], labelSelector=selector)
    owned = [rs for rs in listed if _controls(deployment, rs)]
    return sorted(owned, key=lambda rs: (rs["metadata"].get("creationTimestamp", ""), rs["metadata"]["name"]))


async def controller_revisions(session: Session, owner: Object) -> list[Object]:
    """The ControllerRevisions of a DaemonSet or StatefulSet."""
    resource = await session.resolve("controllerrevisions.apps")
    selector = str(LabelSelector.from_object(owner["spec"].get("selector")))
    listed = await session.list(resource, owner["metadata"]["namespace"], labelSelector=selector)
    return sorted((cr for cr in listed if _controls(owner, cr)), key=lambda cr: int(cr.get("revision", 0)))


def _controls(owner: Object, obj: Object) -> bool:
    uid = owner["metadata"].get("uid")
    return any(ref.get("controller") and ref["uid"] == uid for ref in obj["metadata"].get("ownerReferences") or ())


def group_of(obj: Object) -> str:
    """The API group; "" for the core one."""
    return str(obj.get("apiVersion", "")).rpartition("/")[0]


def group_kind(obj: Object) -> str:
    """As in `Job.batch`; `Pod` in the core group."""
    group = group_of(obj)
    return f"{obj['kind']}.{group}" if group else str(obj["kind"])


def unvisited(obj: Object) -> str:
    """What is said of a kind that no visitor knows; "" for one that is known but of no use to it."""
    known = (group_of(obj), obj["kind"]) in VISITED
    return "" if known else f"no visitor method exists for {{{group_of(obj)} {obj['kind']}}}"


def progress(obj: Object, *, revision: int = 0) -> tuple[str, bool]:
    """The sentence on a rollout's progress, and whether it is done. Raises CommandError where it cannot be."""
    kind = obj["kind"]
    if kind == "Deployment":
        return _deployment(obj, revision)
    if kind == "DaemonSet":
        return _daemon_set(obj)
    if kind == "StatefulSet":
        return _stateful_set(obj)
    raise CommandError(f"no status viewer has been implemented for {group_kind(obj)}")


def _observed(obj: Object) -> bool:
    seen = int((obj.get("status") or {}).get("observedGeneration") or 0)
    return int(obj["metadata"].get("generation") or 0) <= seen


def _deployment(obj: Object, revision: int) -> tuple[str, bool]:
    if revision and revision_of(obj) != revision:
        raise CommandError(f"desired revision ({revision}) is different from the running revision ({revision_of(obj)})")
    if not _observed(obj):
        return "Waiting for deployment spec update to be observed...", False
    name, status = obj["metadata"]["name"], obj.get("status") or {}
    for condition in status.get("conditions") or ():
        if condition["type"] == "Progressing" and condition.get("reason") == PROGRESS_DEADLINE:
            raise CommandError(f'deployment "{name}" exceeded its progress deadline')
    wanted, updated = obj["spec"].get("replicas"), status.get("updatedReplicas", 0)
    current, available = status.get("replicas", 0), status.get("availableReplicas", 0)
    start = f'Waiting for deployment "{name}" rollout to finish:'
    if wanted is not None and updated < wanted:
        return f"{start} {updated} out of {wanted} new replicas have been updated...", False
    if current > updated:
        return f"{start} {current - updated} old replicas are pending termination...", False
    if available < updated:
        return f"{start} {available} of {updated} updated replicas are available...", False
    return f'deployment "{name}" successfully rolled out', True


def _strategy(obj: Object) -> str:
    return str((obj["spec"].get("updateStrategy") or {}).get("type", ""))


def _daemon_set(obj: Object) -> tuple[str, bool]:
    if _strategy(obj) != "RollingUpdate":
        raise CommandError("rollout status is only available for RollingUpdate strategy type")
    if not _observed(obj):
        return "Waiting for daemon set spec update to be observed...", False
    name, status = obj["metadata"]["name"], obj.get("status") or {}
    wanted = status.get("desiredNumberScheduled", 0)
    start = f'Waiting for daemon set "{name}" rollout to finish:'
    if (updated := status.get("updatedNumberScheduled", 0)) < wanted:
        return f"{start} {updated} out of {wanted} new pods have been updated...", False
    if (available := status.get("numberAvailable", 0)) < wanted:
        return f"{start} {available} of {wanted} updated pods are available...", False
    return f'daemon set "{name}" successfully rolled out', True


def _stateful_set(obj: Object) -> tuple[str, bool]:
    if _strategy(obj) != "RollingUpdate":
        raise CommandError("rollout status is only available for RollingUpdate strategy type")
    spec, status = obj["spec"], obj.get("status") or {}
    if not status.get("observedGeneration") or not _observed(obj):
        return "Waiting for statefulset spec update to be observed...", False
    wanted = spec.get("replicas")
    if wanted is not None and (ready := status.get("readyReplicas", 0)) < wanted:
        return f"Waiting for {wanted - ready} pods to be ready...", False
    rolling, updated = spec["updateStrategy"].get("rollingUpdate"), status.get("updatedReplicas", 0)
    if rolling is not None:
        partition = rolling.get("partition")
        if wanted is not None and partition is not None and updated < wanted - partition:
            return (
                f"Waiting for partitioned roll out to finish: {updated} out of {wanted - partition} new pods have been "
                "updated...",
                False,
            )
        return f"partitioned roll out complete: {updated} new pods have been updated...", True
    if status.get("updateRevision") != status.get("currentRevision"):
        return f"waiting for statefulset rolling update to complete {updated} pods at revision " + (
            f"{status.get('updateRevision')}..."
        ), False
    count = status.get("currentReplicas", 0)
    return f"statefulset rolling update complete {count} pods at revision {status.get('currentRevision')}...", True
