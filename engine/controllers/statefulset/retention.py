"""Who owns the claims of a StatefulSet's Pods, by `persistentVolumeClaimRetentionPolicy`: pure (stateful_set_utils.go).

A claim that goes with the set belongs to it, one that goes with a Pod that was scaled away to that Pod. What refers to
an earlier object of the same name is left to the garbage collector.
"""

from __future__ import annotations

from engine.api.types import GVK, Object
from engine.controllers.ownership import controller_reference, owner_references
from engine.controllers.statefulset.identity import KIND, in_range

POD = GVK("", "v1", "Pod")


def claim_owners(set_: Object, pod: Object, claim: Object) -> list[Object] | None:
    """The owner references that a claim should have; None if it is to be left as it is."""
    references = owner_references(claim)
    if _names_earlier_one(references, set_, KIND) or _names_earlier_one(references, pod, POD):
        return None
    wanted = [each for each in references if not _refers_to(each, set_, KIND) and not _refers_to(each, pod, POD)]
    if not any(each.get("controller") for each in wanted):  # somebody else's has no second one beside it
        deleted, scaled = _policy(set_)
        if scaled == "Delete" and not in_range(set_, pod):
            wanted = _with_controller(wanted, pod, POD)
        elif deleted == "Delete":
            wanted = _with_controller(wanted, set_, KIND)
    return None if _shown(wanted, set_, pod) == _shown(references, set_, pod) else wanted


def is_stale(set_: Object, pod: Object, claim: Object) -> bool:
    """Whether the claim goes with an earlier Pod of the name: the next one waits for a claim of its own."""
    return _policy(set_)[1] == "Delete" and _names_earlier_one(owner_references(claim), pod, POD)


def _policy(set_: Object) -> tuple[str, str]:
    """What becomes of claims when the set is deleted, and when it is scaled down."""
    policy = set_["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    return policy.get("whenDeleted", "Retain"), policy.get("whenScaled", "Retain")


def _uid(obj: Object) -> str:
    return str(obj["metadata"].get("uid", ""))


def _refers_to(reference: Object, obj: Object, kind: GVK) -> bool:
    """By kind and name, whichever object of that name is meant."""
    wanted = {"apiVersion": kind.api_version, "kind": kind.kind, "name": obj["metadata"]["name"]}
    return wanted.items() <= reference.items()


def _names_earlier_one(references: list[Object], obj: Object, kind: GVK) -> bool:
    same = next((each for each in references if _refers_to(each, obj, kind)), None)
    return same is not None and same["uid"] != _uid(obj)


def _with_controller(references: list[Object], owner: Object, kind: GVK) -> list[Object]:
    if not _uid(owner) or any(each["uid"] == _uid(owner) for each in references):
        return references
    return [*references, controller_reference(owner, kind)]


def _shown(references: list[Object], set_: Object, pod: Object) -> set[tuple[str, bool]]:
    """What matters of the references: whether they are those of the set and the Pod, and as controllers."""
    own = {_uid(set_), _uid(pod)}
    return {(each["uid"], bool(each.get("controller"))) for each in references if each["uid"] in own}
