"""New Pods that are alike: what was found out of one holds for all that say the same.

A workload makes Pods by the hundred, whose specs say the same. What becomes of a new Pod between admission and the
store (what is dropped and filled in, what is wrong with it, what its author is warned of) follows from its spec and
annotations, with few exceptions. So a Pod that came through all of that as it was, with nothing to tell, is remembered
by what it says, and the next that says the same need only be looked at by its name and labels.
"""

from __future__ import annotations

import re

import orjson

from engine.api.remembered import Remembered
from engine.api.resources import ResourceInfo
from engine.api.types import PODS, Object

# Admission draws a name for the volume of each Pod's token. One drawn name is as good as another to every rule, so
# only where it stands counts: what stands for it is no part of any JSON text.
_DRAWN = re.compile(rb'"kube-api-access-[a-z0-9]{5}"')
_ANY_NAME = b'"\0"'
# What looks beyond spec and annotations: the Pod's labels, the time, and its name in those of its claims.
OF_ITS_OWN = re.compile(rb'"(?:matchLabelKeys|mismatchLabelKeys|schedulingGates|ephemeral)"\s*:')


def likeness(info: ResourceInfo, obj: Object) -> bytes:
    """What a new object must have in common with another to be alike; b"" for one that is like no other."""
    if info.gvr != PODS:
        return b""
    try:
        said = orjson.dumps((obj["metadata"].get("annotations") or {}, obj.get("spec")))
    except TypeError:  # numbers and texts that orjson does not write
        return b""
    if OF_ITS_OWN.search(said):
        return b""
    drawn = _DRAWN.search(said)
    return said.replace(drawn.group(), _ANY_NAME) if drawn is not None else said


class AlikePods:
    """Likenesses of the newest Pods that had nothing to tell, with the status that they began with."""

    def __init__(self) -> None:
        self._statuses: Remembered[Object] = Remembered()

    def status(self, key: bytes) -> Object | None:
        """The status of a new Pod that is like one before; None for one that has to be looked at."""
        found = self._statuses.get(key)
        return {**found} if found is not None else None

    def remember(self, key: bytes, info: ResourceInfo, obj: Object) -> None:
        """`obj` is what has become of the Pod that had this likeness, and nothing was to be told of it. One that was
        changed on the way is not remembered: the next has to be changed as well."""
        if key and key == likeness(info, obj):
            self._statuses.put(key, {**obj["status"]})
