"""How a CustomResourceDefinition goes: its finalizer, and what its Terminating condition says on the way.

Source of the texts: apiextensions-apiserver pkg/registry/customresourcedefinition/etcd.go (Delete) and
pkg/controller/finalizer/crd_finalizer.go.
"""

from __future__ import annotations

from enum import Enum

from engine.api.crd.naming import condition, is_true, with_condition
from engine.api.types import Object, copy_object

FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
# What is stored where objects of the server's own kinds are, which do not go with a definition.
OVERLAPPING = frozenset(
    (("apiregistration.k8s.io", "apiservices"), ("apiextensions.k8s.io", "customresourcedefinitions"))
)


class Outcome(Enum):
    """How the deletion of the objects ended: the reason and the message of the condition."""

    COMPLETED = ("InstanceDeletionCompleted", "removed all instances")
    OVERLAPPING = ("OverlappingBuiltInResource", "instances overlap with built-in resources in storage")
    NEVER = ("NeverEstablished", "resource was never established")


def without_objects(definition: Object) -> Outcome | None:
    """Why a definition has no objects that would have to go; None where it may have some."""
    spec = definition["spec"]
    if (spec["group"], spec["names"]["plural"]) in OVERLAPPING:
        return Outcome.OVERLAPPING
    return None if is_true(definition, "Established") else Outcome.NEVER


def _terminating(definition: Object, status: str, reason: str, message: str, *, now: str) -> Object:
    before = definition.get("status") or {}
    return {**definition, "status": with_condition(before, condition("Terminating", status, reason, message), now=now)}


def marked_for_deletion(definition: Object, *, now: str) -> Object:
    """The definition as its deletion begins; the same where it has begun."""
    if "deletionTimestamp" in definition["metadata"]:
        return definition
    marked = copy_object(definition)
    finalizers = marked["metadata"].setdefault("finalizers", [])
    if FINALIZER not in finalizers:
        finalizers.append(FINALIZER)
    message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
    return _terminating(marked, "True", "InstanceDeletionPending", message, now=now)


def in_progress(definition: Object, *, now: str) -> Object:
    message = "CustomResource deletion is in progress"
    return _terminating(definition, "True", "InstanceDeletionInProgress", message, now=now)


def ended(definition: Object, *, now: str, outcome: Outcome) -> Object:
    finalizers = [each for each in definition["metadata"].get("finalizers", ()) if each != FINALIZER]
    definition["metadata"]["finalizers"] = finalizers
    return _terminating(definition, "False", *outcome.value, now=now)


def failed(definition: Object, *, now: str, why: str) -> Object:
    message = f"could not issue all deletes: {why}"
    return _terminating(definition, "True", "InstanceDeletionFailed", message, now=now)


def unconfirmed(definition: Object, *, now: str) -> Object:
    message = "could not confirm zero CustomResources remaining: context deadline exceeded"
    return _terminating(definition, "True", "InstanceDeletionCheck", message, now=now)
