"""What the node has set aside for each Pod and its containers, and what becomes of a wish for more or less (pkg/kubelet
allocation allocation_manager.go, handlers.go; KEP-1287).

A Pod runs with what was allocated to it. A resize changes the spec; it is allocated when the node has room, deferred
until it has, or infeasible for good. Then the runtime carries it out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from engine.api.pod_amounts import pod_amounts
from engine.api.quantity import Quantity
from engine.api.types import Object, copy_object
from engine.client import NORMAL, WARNING, EventRecorder
from engine.clock import Clock
from engine.kubelet import events, pods
from engine.kubelet.admission import lacking_resource

PENDING, IN_PROGRESS = "PodResizePending", "PodResizeInProgress"
DEFERRED, INFEASIBLE = "Deferred", "Infeasible"

Resources = Object  # `requests` and `limits` of one container, or of the Pod as a whole

_POD = ""  # the name that the Pod's own stand by among those of its containers


class AllocationManager:
    """`active` gives the Pods that the node has taken, `allocatable` what it has for them."""

    def __init__(
        self,
        recorder: EventRecorder,
        clock: Clock,
        active: Callable[[], Sequence[Object]],
        allocatable: Callable[[], Mapping[str, str]],
    ) -> None:
        self._recorder = recorder
        self._clock = clock
        self._active = active
        self._allocatable = allocatable
        self._allocated: dict[str, dict[str, Resources]] = {}  # by uid and container
        self._enforced: dict[str, Resources] = {}  # a Pod's own, as its cgroup has them by now
        self._conditions: dict[str, dict[str, Object]] = {}  # by uid and type
        self._pending: dict[str, None] = {}

    # -- what is allocated

    def add(self, pod: Object) -> None:
        """The node takes a Pod: with what its status says that it had, if it ran here before, else with all it asks."""
        allocated = self._allocated.setdefault(pods.uid_of(pod), {**_of_spec(pod), **_of_status(pod)})
        self._enforced.setdefault(pods.uid_of(pod), allocated[_POD])

    def forget(self, uid: str) -> None:
        for known in (self._allocated, self._enforced, self._conditions, self._pending):
            known.pop(uid, None)

    def apply(self, pod: Object) -> Object:
        """The Pod with what is allocated in place of what is asked for."""
        allocated = self._allocated.get(pods.uid_of(pod))
        if allocated is None or not _differs(pod, allocated):
            return pod
        copy = copy_object(pod)
        if own := allocated[_POD]:
            copy["spec"]["resources"] = own
        else:
            copy["spec"].pop("resources", None)
        for container in _resizable(copy):
            if container["name"] in allocated:
                container["resources"] = allocated[container["name"]]
        return copy

    # -- what a Pod as a whole is held to

    def enforced(self, pod: Object) -> Resources:
        """What its cgroup has of its own resources; its containers' are the runtime's to tell."""
        return self._enforced.get(pods.uid_of(pod)) or pod["spec"].get("resources") or {}

    def is_enforced(self, pod: Object) -> bool:
        """Whether it has what is allocated, which its spec says."""
        return same_resources(self.enforced(pod), pod["spec"].get("resources") or {})

    def enforce(self, pod: Object) -> bool:
        """Write its cgroup; whether that has changed it."""
        changed = not self.is_enforced(pod)
        self._enforced[pods.uid_of(pod)] = pod["spec"].get("resources") or {}
        return changed

    # -- resizes

    def changed(self, pod: Object) -> bool:
        """A Pod's spec has changed: whether something of its resize is to be shown or done."""
        uid = pods.uid_of(pod)
        allocated = self._allocated.get(uid)
        if allocated is None:
            return False
        if not _differs(pod, allocated):
            self._pending.pop(uid, None)
            return self._drop(uid, PENDING)
        self._pending[uid] = None
        return self._try(pod)

    def retry(self, find: Callable[[str], Object | None]) -> list[str]:
        """The node may have room now: the uids of the Pods whose resize has come on."""
        found = [pod for uid in list(self._pending) if (pod := find(uid)) is not None]
        found.sort(key=lambda pod: (self._grows(pod), -(pod["spec"].get("priority") or 0)))
        return [pods.uid_of(pod) for pod in found if self._try(pod)]

    @property
    def waits(self) -> bool:
        return bool(self._pending)

    def _grows(self, pod: Object) -> bool:
        before, after = pod_amounts(self.apply(pod), "requests"), pod_amounts(pod, "requests")
        return any(after.get(name, Quantity()) > before.get(name, Quantity()) for name in ("cpu", "memory"))

    def _try(self, pod: Object) -> bool:
        uid, generation = pods.uid_of(pod), pod["metadata"].get("generation", 0)
        verdict = self._verdict(pod)
        if verdict is None:
            self._allocated[uid] = _of_spec(pod)
            self._pending.pop(uid, None)
            self._drop(uid, PENDING)
            self._put(uid, _condition(IN_PROGRESS, generation, self._clock.timestamp()))
            self._tell(pod, NORMAL, events.RESIZE_STARTED, "Pod resize started")
            return True
        reason, message = verdict
        if reason == INFEASIBLE:
            self._pending.pop(uid, None)
        condition = _condition(PENDING, generation, self._clock.timestamp(), reason, message)
        if not self._put(uid, condition):
            return False
        event = events.RESIZE_DEFERRED if reason == DEFERRED else events.RESIZE_INFEASIBLE
        self._tell(pod, WARNING, event, f"Pod resize {reason}", error=message)
        return True

    def _verdict(self, pod: Object) -> tuple[str, str] | None:
        allocatable, wanted = self._allocatable(), pod_amounts(pod, "requests")
        for name in ("memory", "cpu"):
            have, asked = Quantity.parse(allocatable.get(name, "0")), wanted.get(name, Quantity())
            if asked > have:
                number = (asked.milli, have.milli) if name == "cpu" else (asked.value, have.value)
                message = f"{name}, requested: {number[0]}, capacity: {number[1]}"
                return INFEASIBLE, f"Node didn't have enough capacity: {message}"
        uid = pods.uid_of(pod)
        others = [self.apply(other) for other in self._active() if pods.uid_of(other) != uid]
        lacking = lacking_resource(pod, allocatable, others)
        return (DEFERRED, lacking.message) if lacking is not None else None

    # -- conditions

    def conditions(self, uid: str) -> list[Object]:
        known = self._conditions.get(uid, {})
        return [known[type] for type in (PENDING, IN_PROGRESS) if type in known]

    def actuated(self, pod: Object, *, in_progress: bool) -> None:
        """Whether the runtime has still to carry out what is allocated."""
        uid = pods.uid_of(pod)
        known = self._conditions.get(uid, {}).get(IN_PROGRESS)
        if in_progress and known is None:
            generation = pod["metadata"].get("generation", 0)
            self._put(uid, _condition(IN_PROGRESS, generation, self._clock.timestamp()))
        elif not in_progress and known is not None:
            self._drop(uid, IN_PROGRESS)
            generation = known.get("observedGeneration", 0)
            self._tell(pod, NORMAL, events.RESIZE_COMPLETED, "Pod resize completed", generation=generation)

    def _put(self, uid: str, condition: Object) -> bool:
        """Whether it says something new; the time of transition stays with reason and status."""
        known = self._conditions.setdefault(uid, {})
        old = known.get(condition["type"])
        if old is not None and old.get("reason") == condition.get("reason"):
            condition["lastTransitionTime"] = old["lastTransitionTime"]
        known[condition["type"]] = condition
        return old != condition

    def _drop(self, uid: str, type: str) -> bool:
        return self._conditions.get(uid, {}).pop(type, None) is not None

    def _tell(
        self, pod: Object, kind: str, reason: str, prefix: str, *, generation: int | None = None, error: str = ""
    ) -> None:
        """With the resources as Go's JSON has them."""
        summary: Object = {}
        if own := _kept(pod["spec"]):
            summary["resources"] = own
        for field in ("initContainers", "containers"):
            if shown := [_summary(container) for container in _resizable(pod, field)]:
                summary[field] = shown
        summary["generation"] = pod["metadata"].get("generation", 0) if generation is None else generation
        if error:
            summary["error"] = error
        self._recorder.event(pod, kind, reason, f"{prefix}: {json.dumps(summary, separators=(',', ':'))}")


def _condition(type: str, generation: int, now: str, reason: str = "", message: str = "") -> Object:
    condition: Object = {"lastProbeTime": now, "lastTransitionTime": now, "status": "True", "type": type}
    if generation:
        condition["observedGeneration"] = generation
    if reason:
        condition.update(reason=reason, message=message)
    return condition


def _resizable(pod: Object, *fields: str) -> list[Object]:
    """Regular containers and sidecars."""
    found: list[Object] = []
    for field in fields or ("initContainers", "containers"):
        found += [c for c in pod["spec"].get(field) or () if field == "containers" or pods.is_sidecar(c)]
    return found


def _summary(container: Object) -> Object:
    return {"name": container["name"], "resources": _kept(container)}


def _kept(holder: Object) -> Object:
    resources = holder.get("resources") or {}
    return {field: dict(sorted(resources[field].items())) for field in ("limits", "requests") if resources.get(field)}


def _of_spec(pod: Object) -> dict[str, Resources]:
    own = {_POD: pod["spec"].get("resources") or {}}
    return own | {container["name"]: container.get("resources") or {} for container in _resizable(pod)}


def _of_status(pod: Object) -> dict[str, Resources]:
    """What the Pod and its containers had that the status tells of."""
    status, found = pod.get("status") or {}, {}
    if own := _own_of_status(pod, status):
        found[_POD] = own
    for item in [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]:
        if item.get("containerID") and item.get("resources") is not None:
            requests = item.get("allocatedResources") or {}
            found[item["name"]] = {**item["resources"], **({"requests": requests} if requests else {})}
    return found


def _own_of_status(pod: Object, status: Object) -> Resources:
    """Of a Pod with resources of its own; not known where it has an overhead, which counts in what is told."""
    own = pod["spec"].get("resources") or {}
    told = {**(status.get("resources") or {}), "requests": status.get("allocatedResources") or {}}
    if not own or pod["spec"].get("overhead") or not told["requests"]:
        return {}
    return {part: {name: told.get(part, {}).get(name, amount) for name, amount in own[part].items()} for part in own}


def _differs(pod: Object, allocated: Mapping[str, Resources]) -> bool:
    return not same_resources(pod["spec"].get("resources") or {}, allocated[_POD]) or any(
        not same_resources(container.get("resources") or {}, allocated[container["name"]])
        for container in _resizable(pod)
        if container["name"] in allocated
    )


def same_resources(a: Resources, b: Resources) -> bool:
    return all(_amounts(a.get(field)) == _amounts(b.get(field)) for field in ("requests", "limits"))


def _amounts(listed: Mapping[str, str] | None) -> dict[str, Quantity]:
    return {name: Quantity.parse(amount) for name, amount in (listed or {}).items()}
