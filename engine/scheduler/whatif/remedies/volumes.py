"""Remedies for what a Pod's volumes need."""

from __future__ import annotations

from engine.api.persistent_volumes import CLAIMS, SELECTED_NODE, VOLUMES, class_of
from engine.api.types import Object
from engine.scheduler.framework.handle import Handle
from engine.scheduler.plugins.claims import (
    annotations_of,
    bound_volume,
    claim_names,
    delays_binding,
    is_bound,
    reachable_from,
    requested_size,
    volume_affinity,
)
from engine.scheduler.plugins.migrated_topology import seen_on
from engine.scheduler.plugins.node_volume_limits import LimitState, NodeVolumeLimits
from engine.scheduler.plugins.volume_binding import (
    BIND_CONFLICT,
    NOT_ENOUGH_SPACE,
    VolumeBinding,
    VolumeState,
)
from engine.scheduler.plugins.volume_restrictions import RestrictionState, shares_disk
from engine.scheduler.plugins.volume_zone import ZoneState, topologies
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.whatif.remedies.remedy import (
    ANOTHER,
    EDIT_NODE,
    EDIT_POD,
    MOVE_PODS,
    Question,
    Remedy,
    amount_text,
    expressions_text,
    labels_text,
    names_text,
)


def _size_text(claim: Object) -> str:
    return amount_text("storage", requested_size(claim) or 0)


def _wanted_text(claim: Object) -> str:
    modes = ",".join((claim.get("spec") or {}).get("accessModes") or ())
    return f"{_size_text(claim)} of class {class_of(claim) or '-'}{f' for {modes}' if modes else ''}"


def of_binding(question: Question) -> list[Remedy]:
    """Each claim that is bound elsewhere, and each that could not be bound here."""
    plugin, node = question.plugin, question.node.node or {"metadata": {"name": question.node.name}}
    assert isinstance(plugin, VolumeBinding)
    kept = question.state.read(plugin.name, VolumeState)
    remedies = [remedy for claim in kept.bound for remedy in _of_bound(question, claim, plugin.handle)]
    return remedies + [_of_left_over(question, claim, why) for claim, why in plugin.left_over(kept, node)]


def _of_left_over(question: Question, claim: Object, why: str) -> Remedy:
    name, where = claim["metadata"]["name"], question.node.name
    if why == BIND_CONFLICT:
        text = f"offer {where} a PersistentVolume for claim {name}: {_wanted_text(claim)}"
        return question.remedy(text, {"volumeFor": name}, EDIT_NODE)
    if why == NOT_ENOUGH_SPACE:
        text = f"free storage for claim {name} in reach of {where}: {_wanted_text(claim)}"
        return question.remedy(text, {"storageFor": name, "size": _size_text(claim)}, MOVE_PODS)
    selected = annotations_of(claim)[SELECTED_NODE]
    text = f"use another claim than {name}: a volume is being provisioned for it on {selected}"
    return question.remedy(text, {"anotherClaim": name}, ANOTHER)


def _of_bound(question: Question, claim: Object, handle: Handle) -> list[Remedy]:
    name = bound_volume(claim)
    volume = handle.lister(VOLUMES).get(name)
    if volume is None:
        text = f"bring back PersistentVolume {name}, which claim {claim['metadata']['name']} is bound to"
        return [question.remedy(text, {"createVolume": name}, ANOTHER)]
    node = question.node.node or {"metadata": {"name": question.node.name}}
    volume = seen_on(volume, node, handle)
    if reachable_from(volume, node):
        return []
    terms = (volume_affinity(volume) or {}).get("nodeSelectorTerms") or []
    wanted = " or ".join(expressions_text(term.get("matchExpressions") or []) for term in terms)
    text = f"use another volume than {name}: it is reached from nodes with {wanted} alone"
    return [question.remedy(text, {"anotherVolume": name}, ANOTHER)]


def of_zone(question: Question) -> list[Remedy]:
    handle, pod, remedies = question.plugin.handle, question.pod, []
    for name, _ in claim_names(pod):
        claim = handle.lister(CLAIMS).get(name, pod.namespace)
        volume = handle.lister(VOLUMES).get(bound_volume(claim)) if claim is not None else None
        zones = topologies(volume) if volume is not None else ()
        if volume is not None and not ZoneState(zones).admits(question.node):
            where = labels_text({zone.key: "|".join(sorted(zone.values)) for zone in zones})
            text = f"use another volume than {volume['metadata']['name']}: it is in {where}"
            remedies.append(question.remedy(text, {"anotherVolume": volume["metadata"]["name"]}, ANOTHER))
    return remedies


def of_limits(question: Question) -> list[Remedy]:
    """Each driver that the node lacks, and each of which it would have too many volumes."""
    plugin = question.plugin
    assert isinstance(plugin, NodeVolumeLimits)
    missing = plugin.missing_drivers(question.state.read(plugin.name, LimitState), question.node)
    remedies = [
        question.remedy(f"install CSI driver {driver} on {question.node.name}", {"installDriver": driver}, EDIT_NODE)
        for driver in missing
    ]
    for driver, (count, limit) in plugin.over_limit(question.state, question.node).items():
        text = f"detach {count - limit} of the volumes of {driver} from {question.node.name}: it may have {limit}"
        remedies.append(question.remedy(text, {"detach": {driver: count - limit}}, MOVE_PODS))
    return remedies


def of_restrictions(question: Question) -> list[Remedy]:
    """The Pods that have a disk mounted, and those that use a claim that one Pod alone may use."""
    pod, remedies = question.pod, []
    if there := [other.key for other in question.node.pods.values() if shares_disk(pod, other)]:
        text = f"stop {names_text(there)} on {question.node.name}: a disk can be mounted there once"
        remedies.append(question.remedy(text, {"removePods": there}, MOVE_PODS))
    own = question.state.read(question.plugin.name, RestrictionState).exclusive
    users = [o.key for node in question.snapshot.nodes for o in node.pods.values() if own & set(o.claims)]
    if users:
        text = f"stop {names_text(users)}: a ReadWriteOncePod claim has one user"
        remedies.append(question.remedy(text, {"removePods": users}, MOVE_PODS))
    return remedies


# -- what keeps a Pod from every node


def of_claims(pod: PodInfo, handle: Handle, plugin: str) -> list[Remedy]:
    """Claims that are not there or not usable, whatever the node."""
    remedies = []
    for name, ephemeral in claim_names(pod):
        claim = handle.lister(CLAIMS).get(name, pod.namespace)
        if claim is None:
            text = f"create PersistentVolumeClaim {pod.namespace}/{name}"
            if ephemeral:
                text = f"let the ephemeral volume controller make PersistentVolumeClaim {pod.namespace}/{name}"
            remedies.append(Remedy(plugin, text, {"createClaim": name}, EDIT_POD))
        elif claim["metadata"].get("deletionTimestamp"):
            text = f"use another claim than {name}, which is being deleted"
            remedies.append(Remedy(plugin, text, {"anotherClaim": name}, EDIT_POD))
        elif (claim.get("status") or {}).get("phase") == "Lost":
            text = f"use another claim than {name}: its volume {bound_volume(claim)} is gone"
            remedies.append(Remedy(plugin, text, {"anotherClaim": name}, EDIT_POD))
        elif not is_bound(claim) and not delays_binding(claim, handle):
            text = f"bind claim {name} first: offer a PersistentVolume of {_wanted_text(claim)}"
            remedies.append(Remedy(plugin, text, {"volumeFor": name}, EDIT_NODE))
    return remedies
