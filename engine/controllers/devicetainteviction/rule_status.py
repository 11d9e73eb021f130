"""What a DeviceTaintRule says of its evictions: the condition `EvictionInProgress`
(pkg/controller/devicetainteviction, maybeUpdateRuleStatus)."""

from __future__ import annotations

from dataclasses import dataclass

from engine.api.device_taints import NO_EXECUTE
from engine.api.types import Object

EVICTION_IN_PROGRESS = "EvictionInProgress"
_OTHER = "Eviction only happens for the NoExecute effect."
_ONCE = (
    "if the effect was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to trigger "
    "an update."
)


@dataclass(frozen=True, slots=True)
class Counts:
    """`pods` in `namespaces` are still to go; of a rule without effect, `published` and `allocated` devices would be
    tainted; `evicted` Pods have gone because of it since the controller began."""

    pods: int = 0
    namespaces: int = 0
    published: int = 0
    allocated: int = 0
    evicted: int = 0


def condition_of(rule: Object, counts: Counts) -> Object:
    """The condition without its time."""
    status, reason, message = _told(rule["spec"]["taint"].get("effect"), counts)
    if counts.evicted:
        message += f"{' ' if message else ''}{_many(counts.evicted, 'pod')} evicted since starting the controller."
    return {
        "type": EVICTION_IN_PROGRESS,
        "status": status,
        "reason": reason,
        "message": message,
        "observedGeneration": rule["metadata"].get("generation", 0),
    }


def _told(effect: str | None, counts: Counts) -> tuple[str, str, str]:
    places = "1 namespace" if counts.namespaces == 1 else f"{counts.namespaces} different namespaces"
    if effect == NO_EXECUTE:
        if counts.pods:
            verb = "needs" if counts.pods == 1 else "need"
            return "True", "PodsPendingEviction", f"{_many(counts.pods, 'pod')} {verb} to be evicted in {places}."
        return "False", "Completed" if counts.evicted else "NotStarted", ""
    if effect == "None":
        devices = (
            f"{_many(counts.published, 'published device')} selected. "
            f"{_many(counts.allocated, 'allocated device')} selected. "
        )
        return "False", "NoEffect", f"{devices}{_many(counts.pods, 'pod')} would be evicted in {places} {_ONCE}"
    return "False", "OtherEffect", _OTHER


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
