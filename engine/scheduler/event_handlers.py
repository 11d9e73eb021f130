"""How the scheduler hears of the cluster: watch events go to the cache, to the queue, or move waiting pods.

Source: upstream's pkg/scheduler/eventhandlers.go.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from engine.api.types import GVR, NAMESPACES, NODES, PODS, Object
from engine.client import InformerFactory, Origin, SharedInformer
from engine.clock import wall
from engine.scheduler.cache.cache import Cache
from engine.scheduler.framework.events import (
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    NODE_ADD,
    NODE_DELETE,
    PLAIN_UPDATE,
    UNSCHEDULED_POD_ADD,
    Action,
    ClusterEvent,
    EventResource,
    node_events,
    pod_events,
)
from engine.scheduler.framework.runtime import Framework
from engine.scheduler.metrics import SchedulerMetrics
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.queue.scheduling_queue import SchedulingQueue

# Pods that have run to their end hold nothing and wait for nothing.
LIVE_PODS = "status.phase!=Succeeded,status.phase!=Failed"

# What plugins other than those of pods and nodes may wait for.
RESOURCES: dict[EventResource, GVR] = {
    EventResource.PERSISTENT_VOLUME: GVR("", "v1", "persistentvolumes"),
    EventResource.PERSISTENT_VOLUME_CLAIM: GVR("", "v1", "persistentvolumeclaims"),
    EventResource.STORAGE_CLASS: GVR("storage.k8s.io", "v1", "storageclasses"),
    EventResource.CSI_NODE: GVR("storage.k8s.io", "v1", "csinodes"),
    EventResource.CSI_DRIVER: GVR("storage.k8s.io", "v1", "csidrivers"),
    EventResource.CSI_STORAGE_CAPACITY: GVR("storage.k8s.io", "v1", "csistoragecapacities"),
    EventResource.VOLUME_ATTACHMENT: GVR("storage.k8s.io", "v1", "volumeattachments"),
    EventResource.RESOURCE_CLAIM: GVR("resource.k8s.io", "v1", "resourceclaims"),
    EventResource.RESOURCE_SLICE: GVR("resource.k8s.io", "v1", "resourceslices"),
    EventResource.DEVICE_CLASS: GVR("resource.k8s.io", "v1", "deviceclasses"),
    EventResource.DEVICE_TAINT_RULE: GVR("resource.k8s.io", "v1", "devicetaintrules"),
}


def pod_informer(informers: InformerFactory) -> SharedInformer:
    return informers.informer(PODS, field_selector=LIVE_PODS)


class EventHandlers:
    def __init__(
        self,
        cache: Cache,
        queue: SchedulingQueue,
        profiles: Mapping[str, Framework],
        not_served: Collection[GVR] = (),
        *,
        metrics: SchedulerMetrics,
    ) -> None:
        """`not_served` are resources that the API server's version does not have."""
        self._metrics = metrics
        self._not_served = not_served
        self._cache = cache
        self._queue = queue
        self._profiles = profiles
        self._known: dict[str, PodInfo] = {}  # the newest of each live pod, by uid

    def register(self, informers: InformerFactory) -> None:
        pod_informer(informers).add_handler(self.on_pod, each_object=True)
        informers.informer(NODES).add_handler(self.on_node, each_object=True)
        informers.informer(NAMESPACES).add_handler(self.on_namespace)
        for resource in self._resources_waited_for():
            informers.informer(RESOURCES[resource]).add_handler(self._mover(resource), each_object=True)

    def _resources_waited_for(self) -> list[EventResource]:
        waited = {
            event.resource
            for framework in self._profiles.values()
            for plugin in framework.rejecting
            for event, _ in plugin.events_to_register()
        }
        if any(framework.handle.extenders for framework in self._profiles.values()):
            waited |= set(RESOURCES)  # anything may change what an extender says
        return [
            resource for resource in RESOURCES if resource in waited and RESOURCES[resource] not in self._not_served
        ]

    def _mover(self, resource: EventResource) -> Callable[[Object | None, Object | None, Origin], None]:
        def on_change(old: Object | None, new: Object | None, origin: Origin) -> None:
            action = Action.ADD if old is None else Action.DELETE if new is None else PLAIN_UPDATE
            event, began = ClusterEvent(resource, action), wall()
            self._queue.move_all(event, old, new, origin=origin)
            self._handled(event.label, began)

        return on_change

    def _handled(self, event: str, began: float) -> None:
        self._metrics.event_handling.observe(wall() - began, event)

    # -- nodes and namespaces

    def on_node(self, old: Object | None, new: Object | None, origin: Origin) -> None:
        began = wall()
        self._node(old, new, origin)
        self._handled("NodeAdd" if old is None else "NodeDelete" if new is None else "NodeUpdate", began)

    def _node(self, old: Object | None, new: Object | None, origin: Origin) -> None:
        if new is None:
            if old is not None:
                self._queue.move_all(NODE_DELETE, old, None, origin=origin)
                self._cache.remove_node(old["metadata"]["name"])
            return
        self._cache.add_node(new)
        for event in [NODE_ADD] if old is None else node_events(old, new):
            self._queue.move_all(event, old, new, origin=origin)

    def on_namespace(self, old: Object | None, new: Object | None, origin: Origin) -> None:
        before, after = (obj["metadata"].get("labels") if obj is not None else None for obj in (old, new))
        if before != after:
            for framework in self._profiles.values():
                framework.handle.namespaces_version += 1

    # -- pods

    def on_pod(self, old: Object | None, new: Object | None, origin: Origin) -> None:
        began = wall()
        if event := self._pod(old, new, origin):
            self._handled(event, began)

    def _pod(self, old: Object | None, new: Object | None, origin: Origin) -> str:
        """Says what it was to the scheduler; "" if nothing."""
        before = self._before(old) if old is not None else None
        after = PodInfo(new) if new is not None else None
        if after is not None and after.terminal:
            after = None
        if after is not None:
            self._known[after.uid] = after
        if after is None:
            if before is None:
                return ""
            self._deleted(before, origin)
            return "AssignedPodDelete" if before.node_name else "UnscheduledPodDelete"
        if before is not None and before.node_name:
            self._assigned_updated(before, after, origin)
            return "AssignedPodUpdate"
        if after.node_name:
            self._assigned(after, before, origin)
            return "AssignedPodAdd"
        if not self._responsible_for(after):
            return ""
        self._waiting(before, after, origin)
        return "UnscheduledPodAdd" if before is None else "UnscheduledPodUpdate"

    def _before(self, old: Object) -> PodInfo:
        """What was derived from the version of a pod that is about to be replaced or gone."""
        known = self._known.pop(old["metadata"].get("uid", ""), None)
        return known if known is not None and known.pod is old else PodInfo(old)

    def _responsible_for(self, pod: PodInfo) -> bool:
        return pod.scheduler_name in self._profiles

    def _assigned(self, pod: PodInfo, before: PodInfo | None, origin: Origin) -> None:
        self._cache.add_pod(pod)
        if before is not None and self._responsible_for(before):
            # Bound: by this scheduler, or by somebody who was quicker.
            self._queue.delete(before)
        self._queue.move_all(ASSIGNED_POD_ADD, None, pod, origin=origin)

    def _assigned_updated(self, before: PodInfo, after: PodInfo, origin: Origin) -> None:
        self._cache.update_pod(after)
        for event in pod_events(before, after, EventResource.ASSIGNED_POD):
            self._queue.move_all(event, before, after, origin=origin)

    def _deleted(self, pod: PodInfo, origin: Origin) -> None:
        if pod.node_name:
            self._cache.remove_pod(pod.uid)
            self._queue.move_all(ASSIGNED_POD_DELETE, pod, None, origin=origin)
            return
        if not self._responsible_for(pod):
            return
        self._queue.delete(pod)
        if self._cache.is_assumed(pod.uid):
            self._give_up_assumed(pod, origin)
        elif pod.nominated_node_name:
            self._no_longer_nominated(pod, origin)

    def _no_longer_nominated(self, pod: PodInfo, origin: Origin) -> None:
        """Pods of the same or a lower priority had counted the pod as if it were on its nominated node."""
        self._queue.move_all(
            ASSIGNED_POD_DELETE,
            pod,
            None,
            pre_check=lambda other: other.priority <= pod.priority,
            origin=origin,
        )

    def _give_up_assumed(self, pod: PodInfo, origin: Origin) -> None:
        """A pod is deleted while it is being bound: what it holds is free at once."""
        assumed = self._cache.pod(pod.uid)
        if assumed is None:
            return
        waiting = self._profiles[assumed.scheduler_name].handle.waiting.get(assumed.uid)
        if waiting is not None:
            waiting.reject("", "removed")
        else:
            self._cache.forget(assumed.uid)
        self._queue.move_all(ASSIGNED_POD_DELETE, assumed, None, origin=origin)

    def _waiting(self, before: PodInfo | None, after: PodInfo, origin: Origin) -> None:
        if before is None:
            self._queue.add(after, origin)
            self._queue.move_all(UNSCHEDULED_POD_ADD, None, after, origin=origin)
            return
        if before.pod["metadata"].get("resourceVersion") == after.pod["metadata"].get("resourceVersion"):
            return
        if self._cache.is_assumed(after.uid):
            if after.terminating and not before.terminating:
                self._give_up_assumed(after, origin)
            return
        self._queue.update(before, after, origin)
        nominated = before.nominated_node_name
        if nominated and nominated != after.nominated_node_name:
            self._no_longer_nominated(before, origin)
