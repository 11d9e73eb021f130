"""Writing a pod's status: the scheduler owns the PodScheduled condition and nominatedNodeName, and writes no more.

Source: upstream's pkg/api/v1/pod/util.go (UpdatePodCondition) and pkg/scheduler/util (PatchPodStatus).
"""

from __future__ import annotations

from engine.api.types import PODS, Object
from engine.client import Client
from engine.clock import Clock
from engine.scheduler.trying import tried_again


def with_condition(pod: Object, condition: Object, clock: Clock) -> Object:
    """The pod's status with a condition set; the status itself, unchanged, if the condition says nothing new."""
    status: Object = pod.get("status") or {}
    listed = status.get("conditions") or []
    old = next((c for c in listed if c["type"] == condition["type"]), None)
    generation = pod["metadata"].get("generation")
    fresh: Object = {"lastProbeTime": None, **condition}
    if generation:
        fresh["observedGeneration"] = generation
    changed = old is None or old.get("status") != condition["status"]
    fresh["lastTransitionTime"] = clock.timestamp() if changed or old is None else old.get("lastTransitionTime")
    if old is not None and all(old.get(key) == value for key, value in fresh.items()):
        return status
    others = [c for c in listed if c is not old]
    return {**status, "conditions": [*others, fresh]}


def _difference(old: Object, new: Object) -> Object:
    """A strategic merge patch of the fields that the scheduler writes."""
    patch: Object = {}
    known = {c["type"]: c for c in old.get("conditions") or ()}
    changed = [c for c in new.get("conditions") or () if known.get(c["type"]) != c]
    if changed:
        patch["conditions"] = changed
    before, after = old.get("nominatedNodeName") or "", new.get("nominatedNodeName") or ""
    if before != after:
        patch["nominatedNodeName"] = after or None
    return patch


async def patch_pod_status(client: Client, pod: Object, status: Object, clock: Clock) -> None:
    """Write what differs; nothing where nothing does. Tried again where the API server cannot answer at the moment."""
    patch = _difference(pod.get("status") or {}, status)
    if not patch:
        return
    name, namespace = pod["metadata"]["name"], pod["metadata"].get("namespace")

    async def write() -> None:
        await client.patch(PODS, name, {"status": patch}, namespace=namespace, subresource="status")

    await tried_again(write, clock)
