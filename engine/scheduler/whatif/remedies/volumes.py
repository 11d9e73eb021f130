"""Remedies for what a Pod's volumes need."""

from __future__ import annotations

from engine.api.types import Object
from engine.scheduler.framework.handle import Handle
from engine.scheduler.plugins.claims import (
    CLAIMS,
    VOLUMES,
    bound_volume,
    claim_class,
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
    NODE_CONFLICT,
    NOT_ENOUGH_SPACE,
    VOLUME_MISSING,
    VolumeState,
)
from engine.scheduler.plugins.volume_zone import topologies
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
    return f"{_size_text(claim)} of class {claim_class(claim) or '-'}{f' for {modes}' if modes else ''}"


def of_binding(question: Question) -> list[Remedy]:
    kept, handle, node = question.state.read(question.plugin.name, VolumeState), question.plugin.handle, question.node
    reasons, remedies = question.status.reasons, []
    if NODE_CONFLICT in reasons or VOLUME_MISSING in reasons:
        for claim in kept.bound:
            remedies += _of_bound(question, claim, handle)
    for claim, _ in kept.delayed:
        name = claim["metadata"]["name"]
        if BIND_CONFLICT in reasons:
            text = f"offer {node.name} a PersistentVolume for claim {name}: {_wanted_text(claim)}"
            remedies.append(question.remedy(text, {"volumeFor": name}, EDIT_NODE))
        elif NOT_ENOUGH_SPACE in reasons:
            text = f"free storage for claim {name} in reach of {node.name}: {_wanted_text(claim)}"
            remedies.append(question.remedy(text, {"storageFor": name, "size": _size_text(claim)}, MOVE_PODS))
    return remedies


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
        if volume is not None and zones:
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
    for driver, (count, limit) in plugin.over_limit(question.state, question.pod, question.node).items():
        text = f"detach {count - limit} of the volumes of {driver} from {question.node.name}: it may have {limit}"
        remedies.append(question.remedy(text, {"detach": {driver: count - limit}}, MOVE_PODS))
    return remedies


def of_restrictions(question: Question) -> list[Remedy]:
    own = set(question.pod.claims)
    users = [o.key for node in question.snapshot.nodes for o in node.pods.values() if own & set(o.claims)]
    if users:
        text = f"stop {names_text(users)}: a ReadWriteOncePod claim has one user"
        return [question.remedy(text, {"removePods": users}, MOVE_PODS)]
    text = f"stop the Pod on {question.node.name} that has the disk mounted"
    return [question.remedy(text, {"disk": question.node.name}, MOVE_PODS)]


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
