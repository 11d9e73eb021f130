"""A framework over plain objects: it decides, but has no API server to act through."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from engine.api.types import GVR, NAMESPACES, PODS, REPLICA_SETS, SERVICES, Object
from engine.clock import VirtualClock
from engine.rng import Rng
from engine.scheduler.cache.cache import Cache
from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.cycle.scheduling import Placement, SchedulingCycle
from engine.scheduler.decisions import Decision
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.handle import Handle
from engine.scheduler.framework.plugin import FilterPlugin, Plugin, PreFilterPlugin, PreScorePlugin, ScorePlugin
from engine.scheduler.framework.profile import DEFAULT_PLUGINS, EnabledPlugin, Profile
from engine.scheduler.framework.runtime import Framework
from engine.scheduler.framework.status import SUCCESS, Code, Status
from engine.scheduler.plugins.registry import REGISTRY
from engine.scheduler.plugins.resource_claims import DEVICE_CLASSES, RESOURCE_CLAIMS, RESOURCE_SLICES
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.queue.nominator import Nominator

T = TypeVar("T")


class Objects:
    """Objects of one resource, found as a lister finds them."""

    def __init__(self, objects: Sequence[Object]) -> None:
        self._objects = list(objects)

    def get(self, name: str, namespace: str = "") -> Object | None:
        for obj in self._objects:
            if obj["metadata"]["name"] == name and obj["metadata"].get("namespace", "") == namespace:
                return obj
        return None

    def list(self, namespace: str = "") -> list[Object]:
        return [o for o in self._objects if not namespace or o["metadata"].get("namespace") == namespace]


_RESOURCES: dict[str, GVR] = {
    "Namespace": NAMESPACES,
    "Service": SERVICES,
    "ReplicaSet": REPLICA_SETS,
    "PodDisruptionBudget": GVR("policy", "v1", "poddisruptionbudgets"),
    "PersistentVolumeClaim": GVR("", "v1", "persistentvolumeclaims"),
    "PersistentVolume": GVR("", "v1", "persistentvolumes"),
    "StorageClass": GVR("storage.k8s.io", "v1", "storageclasses"),
    "CSINode": GVR("storage.k8s.io", "v1", "csinodes"),
    "CSIDriver": GVR("storage.k8s.io", "v1", "csidrivers"),
    "CSIStorageCapacity": GVR("storage.k8s.io", "v1", "csistoragecapacities"),
    "Pod": PODS,
    "DeviceClass": DEVICE_CLASSES,
    "ResourceSlice": RESOURCE_SLICES,
    "ResourceClaim": RESOURCE_CLAIMS,
}


class Bench:
    """Nodes, pods and other objects, with one framework over them."""

    def __init__(
        self,
        nodes: Sequence[Object] = (),
        pods: Sequence[Object] = (),
        *,
        others: Sequence[Object] = (),
        args: Mapping[str, Mapping[str, Any]] | None = None,
        percentage: int = 0,
        seed: int = 1,
        version: str = "",
        plugins: Sequence[type[Plugin]] = (),
    ) -> None:
        """`plugins` are further ones, after those of the default profile."""
        self.cache = Cache()
        for node in nodes:
            self.cache.add_node(node)
        for pod in pods:
            self.cache.add_pod(PodInfo(pod))
        self.snapshot = Snapshot()
        self.snapshot.update(self.cache)
        self.nominator = Nominator()
        self.spawned: list[str] = []
        self.notes: dict[str, Any] = {}
        listed: dict[GVR, list[Object]] = {}
        for obj in others:
            listed.setdefault(_RESOURCES[obj["kind"]], []).append(obj)
        handle = Handle(
            clock=VirtualClock(),
            rng=Rng(seed),
            snapshot=self.snapshot,
            nominator=self.nominator,
            lister=lambda resource: Objects(listed.get(resource, [])),
            spawn=self._spawn,
            version=version,
        )
        handle.note = self.notes.__setitem__
        profile = Profile(
            plugins=(*DEFAULT_PLUGINS, *(EnabledPlugin(each.name) for each in plugins)),
            plugin_args=dict(args or {}),
            percentage_of_nodes_to_score=percentage,
        )
        self.framework = Framework(profile, REGISTRY | {each.name: each for each in plugins}, handle)
        self.cycle = SchedulingCycle(self.cache, self.snapshot, self.nominator, Rng(seed, "scheduler"))
        self.last: Decision | None = None

    def _spawn(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        work.close()
        self.spawned.append(name)

    def plugin(self, kind: type[T]) -> T:
        return next(p for p in self.framework.plugins.values() if isinstance(p, kind))

    # -- one plugin

    def filter(self, kind: type[FilterPlugin], pod: Object) -> dict[str, Status]:
        """What the plugin says of every node; both of its ways must say the same."""
        plugin, info, state = self.plugin(kind), PodInfo(pod), CycleState()
        if isinstance(plugin, PreFilterPlugin):
            result = plugin.pre_filter(state, info, self.snapshot)
            if result.status.code is Code.SKIP:
                return dict.fromkeys(self.snapshot.names, SUCCESS)
            if not result.status.ok:
                return dict.fromkeys(self.snapshot.names, result.status)
        many = plugin.filter_all(state, info, self.snapshot, self.rows)
        each = [plugin.filter(state, info, node) for node in self.snapshot.nodes]
        assert [many.statuses[code] for code in many.codes] == each
        return dict(zip(self.snapshot.names, each, strict=True))

    def reasons(self, kind: type[FilterPlugin], pod: Object) -> dict[str, str]:
        """The reasons by node, "" for those that pass."""
        return {name: status.message for name, status in self.filter(kind, pod).items()}

    def scores(self, kind: type[ScorePlugin], pod: Object) -> dict[str, int] | None:
        """Normalised scores of all nodes; None where the plugin skips the pod. Both ways must agree."""
        plugin, info, state = self.plugin(kind), PodInfo(pod), CycleState()
        if isinstance(plugin, PreScorePlugin) and plugin.pre_score(state, info, self.snapshot, self.rows) != SUCCESS:
            return None
        many = plugin.score_all(state, info, self.snapshot, self.rows)
        each = [plugin.score(state, info, node) for node in self.snapshot.nodes]
        assert many.tolist() == each
        normalized = plugin.normalize(state, info, many, self.snapshot, self.rows)
        return dict(zip(self.snapshot.names, normalized.tolist(), strict=True))

    @property
    def candidates(self) -> list[Object]:
        """The nodes that preemption could choose among in the attempts so far, with their victims."""
        told = self.notes.get("candidates")
        return list(told()) if told is not None else []

    @property
    def rows(self) -> Rows:
        return np.arange(len(self.snapshot), dtype=np.intp)

    # -- the whole cycle

    def schedule(self, pod: Object) -> Placement:
        """One attempt; the pod is assumed where it fits."""
        info = PodInfo(pod)
        self.last = Decision(pod=info.key, uid=info.uid, attempt=1, profile=info.scheduler_name, time="")
        return asyncio.run(self.cycle.run(self.framework, CycleState(), info, self.last))

    def message(self, pod: Object) -> str:
        status = self.schedule(pod).status
        return status.message if status is not None else ""
