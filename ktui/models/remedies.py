"""What would make a Pod fit that no node took: what each filter that turned nodes away asks of the Pod or of them.

A node is turned away by the first filter that it does not pass (upstream's Framework.RunFilterPlugins), so that another
hurdle may come behind the one that is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Json = Mapping[str, Any]

_FIT = "NodeResourcesFit"
_UNRESOLVABLE = "UnschedulableAndUnresolvable"
_SHORT_OF = "Insufficient "
_TOO_MANY_PODS = "Too many pods"
_ASKED = {
    "NodeUnschedulable": "uncordoning it",
    "NodeName": "another spec.nodeName, or none",
    "TaintToleration": "a toleration, or the taint taken away",
    "NodeAffinity": "the labels that it asks for put on a node",
    "NodePorts": "another hostPort, or an end of the Pods that have it",
    "PodTopologySpread": "more domains, or whenUnsatisfiable: ScheduleAnyway",
    "InterPodAffinity": "the Pods that affinity asks for, none that it rules out",
    "VolumeBinding": "volumes that its claims can be bound to from there",
    "VolumeZone": "a volume in the zone of the node",
    "VolumeRestrictions": "an end of the Pod that has the volume for itself",
    "NodeVolumeLimits": "fewer volumes there",
    "DynamicResources": "free devices that its ResourceClaims ask for",
    "NodeDeclaredFeatures": "a kubelet that has the features which it needs",
}


def remedies(attempt: Json) -> Iterator[tuple[int, str]]:
    """How many nodes each remedy is for, the most first; none where it was scheduled."""
    if attempt["result"] != "unschedulable":
        return
    told = sorted(attempt.get("rejectedBy") or (), key=lambda each: -each["nodes"])
    for each in told:
        plugin = each["plugin"]
        words = _fit(attempt, each["reasons"]) if plugin == _FIT else _ASKED.get(plugin, "")
        if words:
            yield each["nodes"], words


def _fit(attempt: Json, reasons: list[str]) -> str:
    short_of = [reason.removeprefix(_SHORT_OF) for reason in reasons if reason.startswith(_SHORT_OF)]
    codes = {each["code"] for each in attempt["rejected"] if each["plugin"] == _FIT}
    or_else = "a larger node" if codes == {_UNRESOLVABLE} else "more of it free"  # it asks for more than there is
    words = [f"less {' and '.join(short_of)} requested, or {or_else}"] if short_of else []
    if _TOO_MANY_PODS in reasons:
        words.append("fewer Pods there")
    return "; ".join(words)
