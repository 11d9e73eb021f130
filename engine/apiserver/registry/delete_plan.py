"""What a delete does to an object: mark it, take it away, or wait for a deletion that is under way.

Source of the behaviour: apiserver pkg/registry/rest/delete.go (BeforeDelete), pkg/registry/generic/registry/store.go
(Delete, deletionFinalizersForGarbageCollection), pkg/registry/core/pod/strategy.go (CheckGracefulDelete),
pkg/registry/core/namespace/storage (Delete) and apiextensions-apiserver pkg/registry/customresourcedefinition/etcd.go.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from engine.api.crd.deletion import marked_for_deletion
from engine.api.resources import ResourceInfo
from engine.api.types import GVR, Object, copy_object
from engine.apiserver.registry.delete_options import DeleteOptions

DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
ORPHAN = "orphan"
FOREGROUND = "foregroundDeletion"
_OWN_FINALIZERS = {"Orphan": (ORPHAN,), "Foreground": (FOREGROUND,)}
_DEFAULT_GRACE = 30
# These leave their Pods behind if nobody says otherwise, as before garbage was collected (their strategies'
# DefaultGarbageCollectionPolicy).
_ORPHANING = (GVR("batch", "v1", "jobs"), GVR("", "v1", "replicationcontrollers"))


@dataclass(frozen=True, slots=True)
class Plan:
    """`marked` is the object to write first (deletionTimestamp, finalizers); `remove` takes it away for good; `wait`
    says that a deletion is under way already, which this request neither changes nor asks admission about."""

    marked: Object | None = None
    remove: bool = False
    graceful: bool = False
    wait: bool = False


def plan(info: ResourceInfo, old: Object, options: DeleteOptions, *, now: datetime) -> Plan:
    if not info.gvr.group and info.kind == "Namespace":
        if "deletionTimestamp" not in old["metadata"]:
            return Plan(marked=_terminating(old, options, now=now))
        if (old.get("spec") or {}).get("finalizers"):
            return Plan(wait=True)
    elif info.gvr.group_resource == DEFINITIONS and "deletionTimestamp" not in old["metadata"]:
        marked = marked_for_deletion(old, now=_written(now))
        marked["metadata"]["deletionTimestamp"] = _written(now)
        return Plan(marked=marked)
    return _plan_pod(info, old, options, now=now) if _has_grace(info) else _plan_now(info, old, options, now=now)


def _plan_pod(info: ResourceInfo, old: Object, options: DeleteOptions, *, now: datetime) -> Plan:
    """A Pod on a node is given time, which a further request may only shorten (BeforeDelete)."""
    kept = old["metadata"]
    marked = copy_object(old)
    if "deletionTimestamp" not in kept:
        grace = _grace_period(old, options)
        _mark(marked, now + timedelta(seconds=grace), grace)
        _count(marked)
    else:
        before = kept.get("deletionGracePeriodSeconds") or 0
        if not before:  # its time is up, and yet it is there
            return _plan_now(info, old, options, now=now)
        if options.grace is None or options.grace >= before:
            return Plan(wait=True)
        grace = options.grace
        end = _parse(kept["deletionTimestamp"]) - timedelta(seconds=before - grace)
        # What has run out already ends now, and yet not by force where time was asked for.
        _mark(marked, max(end, now), grace if end >= now else min(grace, 1))
    finalizers = _finalizers(info, old, options)
    _set_finalizers(marked, finalizers)
    return Plan(marked=marked, remove=not finalizers and not grace, graceful=True)


def _plan_now(info: ResourceInfo, old: Object, options: DeleteOptions, *, now: datetime) -> Plan:
    """What nothing keeps goes at once; else it is marked, for those whose finalizers keep it (markAsDeleting)."""
    finalizers = _finalizers(info, old, options)
    if not finalizers:
        return Plan(remove=True)
    marked = copy_object(old)
    _set_finalizers(marked, finalizers)
    stamp = old["metadata"].get("deletionTimestamp")
    if stamp is None:
        _count(marked)
    _mark(marked, now if stamp is None or _parse(stamp) > now else _parse(stamp), 0)
    return Plan(marked=marked) if marked != old else Plan()


def _terminating(namespace: Object, options: DeleteOptions, *, now: datetime) -> Object:
    """A namespace goes through Terminating; the namespace controller empties it and takes the finalizer off."""
    marked = copy_object(namespace)
    marked["metadata"]["deletionTimestamp"] = _written(now)
    marked.setdefault("status", {})["phase"] = "Terminating"
    policy = options.policy
    if options.orphan is not None:  # which here asks for one of the two finalizers either way
        policy = "Orphan" if options.orphan else "Foreground"
    if policy:
        rest = [name for name in marked["metadata"].get("finalizers") or () if name not in (ORPHAN, FOREGROUND)]
        _set_finalizers(marked, [*rest, *_OWN_FINALIZERS.get(policy, ())])
    return marked


def grace_of(info: ResourceInfo, old: Object, options: DeleteOptions) -> int | None:
    """How many seconds an object is given that is not being deleted yet; None for one that is, or knows no grace."""
    if not _has_grace(info) or "deletionTimestamp" in old["metadata"]:
        return None
    return _grace_period(old, options)


def _has_grace(info: ResourceInfo) -> bool:
    return info.gvr.group == "" and info.gvr.resource == "pods"


def _grace_period(pod: Object, options: DeleteOptions) -> int:
    spec = pod.get("spec") or {}
    grace = options.grace
    if grace is None:
        grace = spec.get("terminationGracePeriodSeconds", _DEFAULT_GRACE)
    # Nobody runs it, or it has run: nothing to wait for.
    if not spec.get("nodeName") or (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded"):
        grace = 0
    return 1 if grace < 0 else int(grace)


def _finalizers(info: ResourceInfo, old: Object, options: DeleteOptions) -> list[str]:
    """The finalizers that the propagation policy leaves; the garbage collector acts on its own two."""
    present: list[str] = old["metadata"].get("finalizers") or []
    policy = options.policy
    if options.orphan is not None:  # the older way to say it
        policy = "Orphan" if options.orphan else "Background"
    if not policy:
        policy = _default_policy(info, present)
    if info.kind == "Event":  # what happens to dependents of Events is nobody's business
        policy = "Background"
    left = [*(name for name in present if name not in (ORPHAN, FOREGROUND)), *_OWN_FINALIZERS.get(policy, ())]
    return present if set(left) == set(present) else left


def _default_policy(info: ResourceInfo, finalizers: list[str]) -> str:
    """What the object's own finalizers say, the first of the two, or else the kind."""
    for name in finalizers:
        if name in (ORPHAN, FOREGROUND):
            return "Orphan" if name == ORPHAN else "Foreground"
    return "Orphan" if info.gvr in _ORPHANING else "Background"


def _set_finalizers(obj: Object, finalizers: list[str]) -> None:
    if finalizers:
        obj["metadata"]["finalizers"] = finalizers
    else:
        obj["metadata"].pop("finalizers", None)


def _mark(obj: Object, when: datetime, grace: int) -> None:
    obj["metadata"]["deletionTimestamp"] = _written(when)
    obj["metadata"]["deletionGracePeriodSeconds"] = grace


def _count(obj: Object) -> None:
    """That it is being deleted changes what controllers should do, so the generation counts it."""
    if (metadata := obj["metadata"]).get("generation", 0) > 0:
        metadata["generation"] += 1


def _written(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def _parse(timestamp: str) -> datetime:
    return datetime.fromisoformat(timestamp)
