"""PersistentVolumes and their claims, StorageClasses, VolumeAttributesClasses and CSINodes in words.

Source of the behaviour: kubectl pkg/describe (describePersistentVolume, describePersistentVolumeClaim,
describeStorageClass, describeVolumeAttributesClass, describeCSINode).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from engine.api.persistent_volumes import class_of
from engine.api.selectors import format_labels
from engine.api.types import Object
from engine.kubectl.describe import claims, events, volumes
from engine.kubectl.describe.writer import NONE, UNSET, Page
from engine.kubectl.session import Session

DEFAULT_CLASS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


async def persistent_volume(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    page.field("Name", obj["metadata"]["name"])
    page.labels_and_annotations(obj)
    _finalizers(page, obj)
    page.field("StorageClass", class_of(obj))
    _status(page, obj)
    claim = spec.get("claimRef")
    page.field("Claim", f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim is not None else "")
    page.field("Reclaim Policy", spec.get("persistentVolumeReclaimPolicy", ""))
    page.field("Access Modes", claims.access_modes(spec.get("accessModes")))
    if spec.get("volumeMode"):
        page.field("VolumeMode", spec["volumeMode"])
    page.field("Capacity", (spec.get("capacity") or {}).get("storage", "0"))
    _node_affinity(page, (spec.get("nodeAffinity") or {}).get("required"))
    page.field("Message", status.get("message", ""))
    page.line("Source:")
    volumes.persistent_source(page, spec)
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


def _finalizers(page: Page, obj: Object) -> None:
    page.field("Finalizers", f"[{' '.join(obj['metadata'].get('finalizers') or ())}]")


def _status(page: Page, obj: Object) -> None:
    if deleted := obj["metadata"].get("deletionTimestamp"):
        page.field("Status", f"Terminating (lasts {page.since(deleted)})")
    else:
        page.field("Status", (obj.get("status") or {}).get("phase", ""))


def _node_affinity(page: Page, required: Object | None) -> None:
    if required is None:
        page.field("Node Affinity", NONE)
        return
    page.line("Node Affinity:\t")
    terms = required.get("nodeSelectorTerms") or []
    page.line(f"Required Terms:\t{'' if terms else NONE}", 1)
    for index, term in enumerate(terms):
        expressions = [_expression(one) for one in term.get("matchExpressions") or ()]
        _term(page, f"Term {index}", expressions, level=2)


def _term(page: Page, title: str, expressions: Sequence[str], *, level: int) -> None:
    page.line(f"{title}:\t{expressions[0] if expressions else NONE}", level)
    for expression in expressions[1:]:
        page.line(f"\t{expression}", level)


def _expression(requirement: Object) -> str:
    text = f"{requirement.get('key', '')} {str(requirement.get('operator', '')).lower()}"
    values = requirement.get("values")
    return f"{text} [{', '.join(values)}]" if values else text


async def persistent_volume_claim(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    page.head(obj)
    claims.write(page, obj, status=partial(_status, page, obj), finalizers=partial(_finalizers, page, obj))
    page.column("Used By", await _pods_with(session, obj))
    _conditions(page, (obj.get("status") or {}).get("conditions") or ())
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


async def _pods_with(session: Session, obj: Object) -> list[str]:
    """The Pods that mount a claim, by name or as their own ephemeral one, and those that own it."""
    name, namespace = obj["metadata"]["name"], obj["metadata"]["namespace"]
    pods = await session.list(await session.resolve("pods"), namespace)
    users = [pod for pod in pods if any(_uses(pod, volume, name) for volume in _volumes(pod))]
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("kind") == "Pod":
            users += [pod for pod in pods if pod["metadata"].get("uid") == owner.get("uid") and pod not in users]
    return [pod["metadata"]["name"] for pod in users]


def _volumes(pod: Object) -> Sequence[Object]:
    return (pod.get("spec") or {}).get("volumes") or ()


def _uses(pod: Object, volume: Object, claim: str) -> bool:
    if "ephemeral" in volume:
        return f"{pod['metadata']['name']}-{volume['name']}" == claim
    return bool((volume.get("persistentVolumeClaim") or {}).get("claimName") == claim)


def _conditions(page: Page, conditions: Sequence[Object]) -> None:
    if not conditions:
        return
    page.line("Conditions:")
    page.row("Type", "Status", "LastProbeTime", "LastTransitionTime", "Reason", "Message", level=1)
    page.row("----", "------", "-----------------", "------------------", "------", "-------", level=1)
    for one in conditions:
        times = [page.date(one.get(key)) for key in ("lastProbeTime", "lastTransitionTime")]
        cells = [one.get("type", ""), one.get("status", ""), *times]
        page.row(*(f"{cell} " for cell in (*cells, one.get("reason", ""))), one.get("message", ""), level=1)


async def storage_class(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    annotations = obj["metadata"].get("annotations") or {}
    page.field("Name", obj["metadata"]["name"])
    page.field("IsDefaultClass", "Yes" if any(annotations.get(key) == "true" for key in DEFAULT_CLASS) else "No")
    page.field("Annotations", format_labels(annotations))
    page.field("Provisioner", obj.get("provisioner", ""))
    page.field("Parameters", format_labels(obj.get("parameters")))
    expansion = obj.get("allowVolumeExpansion")
    page.field("AllowVolumeExpansion", UNSET if expansion is None else str(expansion))
    if options := obj.get("mountOptions"):
        page.line("MountOptions:")
        for option in options:
            page.line(option, 1)
    else:
        page.field("MountOptions", NONE)
    if obj.get("reclaimPolicy") is not None:
        page.field("ReclaimPolicy", obj["reclaimPolicy"])
    if obj.get("volumeBindingMode") is not None:
        page.field("VolumeBindingMode", obj["volumeBindingMode"])
    if (topologies := obj.get("allowedTopologies")) is not None:
        page.line(f"AllowedTopologies:\t{'' if topologies else NONE}")
        for index, term in enumerate(topologies):
            expressions = term.get("matchLabelExpressions") or ()
            texts = [_expression({**one, "operator": "In"}) for one in expressions]
            _term(page, f"Term {index}", texts, level=1)
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


async def volume_attributes_class(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    page.field("Name", obj["metadata"]["name"])
    page.field("Annotations", format_labels(obj["metadata"].get("annotations")))
    page.field("DriverName", obj.get("driverName", ""))
    page.field("Parameters", format_labels(obj.get("parameters")))
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


async def csi_node(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    page.field("Name", obj["metadata"]["name"])
    page.labels_and_annotations(obj)
    page.field("CreationTimestamp", page.date(obj["metadata"].get("creationTimestamp")))
    page.line("Spec:")
    drivers = (obj.get("spec") or {}).get("drivers") or ()
    if drivers:
        page.line("Drivers:", 1)
    for driver in drivers:
        page.line(f"{driver.get('name', '')}:", 2)
        page.field("Node ID", driver.get("nodeID", ""), 3)
        if (count := (driver.get("allocatable") or {}).get("count")) is not None:
            page.line("Allocatables:", 3)
            page.field("Count", count, 4)
        if driver.get("topologyKeys"):
            page.field("Topology Keys", f"[{' '.join(driver['topologyKeys'])}]", 3)
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()
