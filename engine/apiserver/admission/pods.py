"""Small plugins for Pods and Nodes: Priority, DefaultTolerationSeconds, TaintNodesByCondition.

Source: plugin/pkg/admission/priority, defaulttolerationseconds and nodetaint.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from engine.api.resources import ResourceInfo
from engine.api.types import GVR, Object
from engine.apiserver.admission.attributes import (
    CHANGES,
    CREATES,
    WRITES,
    Attributes,
    Operation,
    Plugin,
    Watched,
    denied,
)
from engine.apiserver.admission.metrics import ADMIT
from engine.apiserver.cacher.caches import WatchCaches
from engine.apiserver.lookup import Lookup

PRIORITY_CLASSES = GVR("scheduling.k8s.io", "v1", "priorityclasses")
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
TOLERATION_SECONDS = 300


class Priority(Plugin):
    """Resolves a Pod's class to its number, and refuses a number of the Pod's own."""

    name = "Priority"
    operations = CHANGES
    resources = frozenset(("pods", PRIORITY_CLASSES.group_resource))

    def __init__(self, lookup: Lookup, caches: WatchCaches, classes: ResourceInfo | None) -> None:
        self._lookup = lookup
        self._caches = caches
        self._classes = classes

    async def mutate(self, attributes: Attributes) -> bool:
        obj = attributes.object
        if obj is None or attributes.key != "pods":
            return False
        spec = obj["spec"]
        if attributes.operation is Operation.UPDATE:
            return _keep(spec, (attributes.old or {}).get("spec") or {})
        if attributes.operation is not Operation.CREATE:
            return False
        name, value, policy = await self._resolve(attributes, spec.get("priorityClassName", ""))
        if name:
            spec["priorityClassName"] = name
        if spec.get("priority") is not None and spec["priority"] != value:
            raise denied(
                attributes,
                f"the integer value of priority ({spec['priority']}) must not be provided in pod spec; priority "
                f"admission controller computed {value} from the given PriorityClass name",
            )
        if spec.get("preemptionPolicy") is not None and spec["preemptionPolicy"] != policy:
            raise denied(
                attributes,
                f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) must not be provided in pod spec; "
                f"priority admission controller computed {policy} from the given PriorityClass name",
            )
        spec["priority"], spec["preemptionPolicy"] = value, policy
        return True

    async def ground(self, attributes: Attributes) -> Hashable:
        pod = attributes.object
        return await self._resolve(attributes, pod["spec"].get("priorityClassName", "")) if pod is not None else None

    def follows(self, attributes: Attributes, step: str) -> Sequence[Watched] | None:
        pod = attributes.object
        if step != ADMIT:
            return ()
        if self._classes is None or pod is None or pod["spec"].get("priorityClassName"):
            return None
        cache = self._caches.of(self._classes)
        return (cache,) if cache is not None else None

    async def validate(self, attributes: Attributes) -> None:
        """Only one class can be the default."""
        new = attributes.object
        if attributes.key != "priorityclasses.scheduling.k8s.io" or new is None or not new.get("globalDefault"):
            return
        name, _, _ = await self._default()
        creates = attributes.operation is Operation.CREATE
        if name and (creates or (attributes.operation is Operation.UPDATE and name != new["metadata"]["name"])):
            raise denied(attributes, f"PriorityClass {name} is already marked as default. Only one default can exist")

    async def _resolve(self, attributes: Attributes, name: str) -> tuple[str, int, str]:
        if not name:
            return await self._default()
        found = await self._lookup.find(PRIORITY_CLASSES, "", name)
        if found is None:
            raise denied(attributes, f"no PriorityClass with name {name} was found")
        return name, found.get("value", 0), found.get("preemptionPolicy", "PreemptLowerPriority")

    async def _default(self) -> tuple[str, int, str]:
        """The class that is the default for all; of several the one of the lowest value."""
        best: Object | None = None
        if self._classes is not None:
            cache = await self._caches.started(self._classes)
            for candidate in cache.objects():
                if candidate.get("globalDefault") and (best is None or candidate["value"] < best["value"]):
                    best = candidate
        if best is None:
            return "", 0, "PreemptLowerPriority"
        return best["metadata"]["name"], best["value"], best.get("preemptionPolicy", "PreemptLowerPriority")


def _keep(spec: Object, before: Object) -> bool:
    """What was resolved once stays where an update leaves it out."""
    missing = [name for name in ("priority", "preemptionPolicy") if spec.get(name) is None and name in before]
    spec.update({name: before[name] for name in missing})
    return bool(missing)


class DefaultTolerationSeconds(Plugin):
    """A Pod stays on a node that is not ready or not reachable for five minutes."""

    name = "DefaultTolerationSeconds"
    operations = WRITES
    resources = frozenset(("pods",))

    async def ground(self, attributes: Attributes) -> Hashable:
        return ()

    def follows(self, attributes: Attributes, step: str) -> Sequence[Watched] | None:
        return ()

    async def mutate(self, attributes: Attributes) -> bool:
        pod = attributes.object
        if attributes.key != "pods" or attributes.operation is Operation.DELETE or pod is None:
            return False
        tolerations = pod["spec"].get("tolerations") or []
        missing = [key for key in (NOT_READY, UNREACHABLE) if not any(_tolerates(t, key) for t in tolerations)]
        if not missing:
            return False
        added = [
            {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": TOLERATION_SECONDS}
            for key in missing
        ]
        pod["spec"]["tolerations"] = [*tolerations, *added]
        return True


def _tolerates(toleration: Object, key: str) -> bool:
    return toleration.get("key", "") in ("", key) and toleration.get("effect", "") in ("", "NoExecute")


class TaintNodesByCondition(Plugin):
    """A node is born not ready, so that nothing is put on it before its kubelet has spoken."""

    name = "TaintNodesByCondition"
    operations = CREATES
    resources = frozenset(("nodes",))

    async def mutate(self, attributes: Attributes) -> bool:
        node = attributes.object
        if attributes.key != "nodes" or attributes.operation is not Operation.CREATE or node is None:
            return False
        taints = node.setdefault("spec", {}).setdefault("taints", [])
        if any(taint.get("key") == NOT_READY and taint.get("effect") == "NoSchedule" for taint in taints):
            return False
        taints.append({"key": NOT_READY, "effect": "NoSchedule"})
        return True
