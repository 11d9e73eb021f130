"""Deployments, ReplicaSets, StatefulSets, DaemonSets, ReplicationControllers and Jobs in words.

Source of the behaviour: kubectl pkg/describe (describeDeployment, describeReplicaSet, ...) and pkg/util/deployment.
"""

from __future__ import annotations

from collections import Counter

from engine.api.errors import ApiError
from engine.api.persistent_volumes import class_of
from engine.api.selectors import LabelSelector, format_label_selector, format_labels
from engine.api.types import Object
from engine.kubectl.describe import events, pods
from engine.kubectl.describe.writer import NONE, Page
from engine.kubectl.rollouts import owned_replica_sets, template_of
from engine.kubectl.session import Session

NIL = "<nil>"  # what Go prints of a pointer to nothing


async def deployment(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    spec, status = (obj.get("spec") or {}), obj.get("status") or {}
    page.head(obj)
    page.field("CreationTimestamp", page.date(obj["metadata"].get("creationTimestamp")))
    page.labels_and_annotations(obj)
    page.field("Selector", LabelSelector.from_object(spec.get("selector")))
    page.field(
        "Replicas",
        f"{spec.get('replicas', 0)} desired | {status.get('updatedReplicas', 0)} updated | "
        f"{status.get('replicas', 0)} total | {status.get('availableReplicas', 0)} available | "
        f"{status.get('unavailableReplicas', 0)} unavailable",
    )
    strategy = spec.get("strategy") or {}
    page.field("StrategyType", strategy.get("type", ""))
    page.field("MinReadySeconds", spec.get("minReadySeconds", 0))
    if (rolling := strategy.get("rollingUpdate")) is not None:
        page.field(
            "RollingUpdateStrategy",
            f"{rolling.get('maxUnavailable', NIL)} max unavailable, {rolling.get('maxSurge', NIL)} max surge",
        )
    pods.template(page, spec.get("template") or {})
    page.conditions(obj)
    await _replica_sets(session, page, obj)
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


async def _replica_sets(session: Session, page: Page, obj: Object) -> None:
    try:
        owned = await owned_replica_sets(session, obj)
    except ApiError:
        return
    wanted = template_of(obj)
    new = next((rs for rs in owned if template_of(rs) == wanted), None)
    old = [rs for rs in owned if rs is not new]
    if old or new:
        page.field("OldReplicaSets", ", ".join(map(_created, old)) or NONE)
        page.field("NewReplicaSet", _created(new) if new else NONE)


def _created(rs: Object) -> str:
    current = (rs.get("status") or {}).get("replicas", 0)
    return f"{rs['metadata']['name']} ({current}/{rs['spec'].get('replicas', 0)} replicas created)"


async def _pod_counts(session: Session, obj: Object, selector: str) -> str:
    resource = await session.resolve("pods")
    listed = await session.list(resource, obj["metadata"]["namespace"], labelSelector=selector)
    uid = obj["metadata"].get("uid")
    counts: Counter[str] = Counter()
    for pod in listed:
        owners = pod["metadata"].get("ownerReferences") or ()
        if any(owner.get("controller") and owner.get("uid") == uid for owner in owners):
            counts[(pod.get("status") or {}).get("phase", "")] += 1
    return (
        f"{counts['Running']} Running / {counts['Pending']} Waiting / {counts['Succeeded']} Succeeded / "
        f"{counts['Failed']} Failed"
    )


async def replica_set(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    spec, status = (obj.get("spec") or {}), obj.get("status") or {}
    page.head(obj)
    page.field("Selector", format_label_selector(spec.get("selector")))
    page.labels_and_annotations(obj)
    if controller := pods.controlled_by(obj):
        page.field("Controlled By", controller)
    page.field("Replicas", f"{status.get('replicas', 0)} current / {spec.get('replicas', 0)} desired")
    selector = str(LabelSelector.from_object(spec.get("selector")))
    page.field("Pods Status", await _pod_counts(session, obj, selector))
    pods.template(page, spec.get("template") or {})
    page.conditions(obj)
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


async def replication_controller(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    spec, status = (obj.get("spec") or {}), obj.get("status") or {}
    page.head(obj)
    page.field("Selector", format_labels(spec.get("selector")))
    page.labels_and_annotations(obj)
    page.field("Replicas", f"{status.get('replicas', 0)} current / {spec.get('replicas', 0)} desired")
    page.field("Pods Status", await _pod_counts(session, obj, _labels_selector(spec.get("selector"))))
    pods.template(page, spec.get("template"))
    page.conditions(obj)
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


def _labels_selector(labels: Object | None) -> str:
    """A selector of equal labels; without any it is for all."""
    return format_labels(labels) if labels else ""


async def stateful_set(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    spec, status = (obj.get("spec") or {}), obj.get("status") or {}
    selector = str(LabelSelector.from_object(spec.get("selector")))
    page.head(obj)
    page.field("CreationTimestamp", page.date(obj["metadata"].get("creationTimestamp")))
    page.field("Selector", selector)
    page.labels_and_annotations(obj)
    if spec.get("serviceName"):
        page.field("Service Name", spec["serviceName"])
    if spec.get("podManagementPolicy"):
        page.field("Pod Management Policy", spec["podManagementPolicy"])
    page.field("Replicas", f"{spec.get('replicas', 0)} desired | {status.get('replicas', 0)} total")
    strategy = spec.get("updateStrategy") or {}
    page.field("Update Strategy", strategy.get("type", ""))
    rolling = strategy.get("rollingUpdate") or {}
    if rolling.get("partition") is not None:
        page.field("Partition", rolling["partition"], 1)
        if rolling.get("maxUnavailable") is not None:
            page.field("MaxUnavailable", rolling["maxUnavailable"], 1)
    if (retention := spec.get("persistentVolumeClaimRetentionPolicy")) is not None:
        page.line("Persistent Volume Claim Retention Policy:")
        page.field("WhenDeleted", retention.get("whenDeleted", ""), 1)
        page.field("WhenScaled", retention.get("whenScaled", ""), 1)
    page.field("Pods Status", await _pod_counts(session, obj, selector))
    pods.template(page, spec.get("template") or {})
    _claims(page, spec.get("volumeClaimTemplates") or [])
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


def _claims(page: Page, templates: list[Object]) -> None:
    if not templates:
        page.field("Volume Claims", NONE)
        return
    page.line("Volume Claims:")
    for claim in templates:
        metadata, spec = claim.get("metadata") or {}, claim.get("spec") or {}
        page.field("Name", metadata.get("name", ""), 1)
        page.field("StorageClass", class_of({**claim, "metadata": metadata}), 1)
        page.labels("  Labels", metadata.get("labels"))
        page.labels("  Annotations", metadata.get("annotations"))
        requests = (spec.get("resources") or {}).get("requests") or {}
        page.field("Capacity", requests.get("storage", "<default>"), 1)
        page.field("Access Modes", f"[{' '.join(spec.get('accessModes') or ())}]", 1)


async def daemon_set(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    spec, status = (obj.get("spec") or {}), obj.get("status") or {}
    selector = str(LabelSelector.from_object(spec.get("selector")))
    page.head(obj)
    page.field("Selector", selector)
    page.field("Node-Selector", format_labels(((spec.get("template") or {}).get("spec") or {}).get("nodeSelector")))
    page.labels_and_annotations(obj)
    for title, key in (
        ("Desired Number of Nodes Scheduled", "desiredNumberScheduled"),
        ("Current Number of Nodes Scheduled", "currentNumberScheduled"),
        ("Number of Nodes Scheduled with Up-to-date Pods", "updatedNumberScheduled"),
        ("Number of Nodes Scheduled with Available Pods", "numberAvailable"),
        ("Number of Nodes Misscheduled", "numberMisscheduled"),
    ):
        page.line(f"{title}: {status.get(key, 0)}")
    page.field("Pods Status", await _pod_counts(session, obj, selector))
    pods.template(page, spec.get("template") or {})
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()
