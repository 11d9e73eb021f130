"""What a delete does to an object: mark it, take it away, or wait for a deletion that is under way.

Source of the behaviour: apiserver pkg/registry/rest/delete.go (BeforeDelete), pkg/registry/generic/registry/store.go
(deletionFinalizersForGarbageCollection), pkg/registry/core/pod/strategy.go (CheckGracefulDelete) and
pkg/registry/core/namespace/storage (Delete).
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
_DEFAULT_GRACE = 30
# These leave their Pods behind if nobody says otherwise, as before garbage was collected (their strategies'
# DefaultGarbageCollectionPolicy).
_ORPHANING = (GVR("batch", "v1", "jobs"), GVR("", "v1", "replicationcontrollers"))


@dataclass(frozen=True, slots=True)
class Plan:
    """`marked` is the object to write first (deletionTimestamp, finalizers); `remove` takes it away for good; `wait`
    says that a deletion is under way already and this request changes nothing."""

    marked: Object | None = None
    remove: bool = False
    graceful: bool = False
    wait: bool = False


def plan(info: ResourceInfo, old: Object, options: DeleteOptions, *, now: datetime) -> Plan:
    if info.kind == "Namespace":
        return _plan_namespace(old, options, now=now)
    if info.gvr.group_resource == DEFINITIONS:
        old = marked_for_deletion(old, now=now.strftime("%Y-%m-%dT%H:%M:%SZ"))
    kept = old["metadata"]
    finalizers = _finalizers(info, old, options)
    changed = set(finalizers) != set(kept.get("finalizers") or [])
    marked = copy_object(old) if changed else None
    if marked is not None:
        _set_finalizers(marked, finalizers)
    graceful = False
    grace = 0
    if _has_grace(info):
        if "deletionTimestamp" in kept and "deletionGracePeriodSeconds" in kept:
            before = kept["deletionGracePeriodSeconds"]
            if options.grace is None or options.grace >= before:
                # Only a shorter grace may follow; 0 after 0 lets what nothing keeps go.
                if not (options.grace == 0 and before == 0):
                    return Plan(wait=True)
                return Plan(remove=not finalizers, wait=bool(finalizers))
            grace = max(options.grace, 0)
            began = _parse(kept["deletionTimestamp"]) - timedelta(seconds=before)
            marked = marked or copy_object(old)
            _mark(marked, began + timedelta(seconds=grace), grace)
            graceful = True
        elif "deletionTimestamp" not in kept:
            grace = _grace_period(old, options)
            marked = marked or copy_object(old)
            _mark(marked, now + timedelta(seconds=grace), grace)
            graceful = True
    if finalizers:
        if not graceful:
            marked = marked or copy_object(old)
            if "deletionTimestamp" in kept and not changed:
                return Plan(wait=True)
            if "deletionTimestamp" not in kept:
                _mark(marked, now, 0)
        return Plan(marked=marked)
    return Plan(marked=marked, remove=not (graceful and grace > 0), graceful=graceful)


def _plan_namespace(old: Object, options: DeleteOptions, *, now: datetime) -> Plan:
    """A namespace goes through Terminating; the namespace controller empties it and takes the finalizer off."""
    kept = old["metadata"]
    if "deletionTimestamp" not in kept:
        marked = copy_object(old)
        _mark(marked, now, None)
        marked.setdefault("status", {})["phase"] = "Terminating"
        if options.policy == "Orphan" or options.orphan:
            finalizers = [*(kept.get("finalizers") or []), ORPHAN]
            _set_finalizers(marked, list(dict.fromkeys(finalizers)))
        return Plan(marked=marked)
    if (old.get("spec") or {}).get("finalizers") or kept.get("finalizers"):
        return Plan(wait=True)
    return Plan(remove=True)


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
    rest = [name for name in present if name not in (ORPHAN, FOREGROUND)]
    if policy == "Orphan":
        return [*rest, ORPHAN]
    if policy == "Foreground":
        return [*rest, FOREGROUND]
    return rest


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


def _mark(obj: Object, when: datetime, grace: int | None) -> None:
    metadata = obj["metadata"]
    metadata["deletionTimestamp"] = when.strftime("%Y-%m-%dT%H:%M:%SZ")
    if grace is not None:
        metadata["deletionGracePeriodSeconds"] = grace
    if metadata.get("generation", 0) > 0:
        metadata["generation"] += 1


def _parse(timestamp: str) -> datetime:
    return datetime.fromisoformat(timestamp)
