"""The Endpoints controller (pkg/controller/endpoint/endpoints_controller.go)."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.errors import ApiError
from engine.api.selectors import LabelSelector
from engine.api.types import ENDPOINTS, PODS, SERVICES, Object
from engine.client import WARNING, object_key, split_key
from engine.controllers.batching import batch_period
from engine.controllers.controller import Controller
from engine.controllers.endpoints.subsets import subsets_of
from engine.controllers.endpointslice.controller import TRIGGER_TIME
from engine.controllers.endpointslice.endpoints import endpoint_changed, has_cluster_ip
from engine.controllers.endpointslice.planning import HEADLESS
from engine.controllers.endpointslice.tracking import TriggerTimes
from engine.controllers.own_writes import OwnWrites
from engine.controllers.pod_control import namespace_terminating

MANAGED_BY = "endpoints.kubernetes.io/managed-by"
OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity"
MANAGER = "endpoint-controller"
LEADER = "control-plane.alpha.kubernetes.io/leader"


class EndpointsController(Controller):
    name = "endpoint-controller"
    kind = "service"
    max_retries = 15

    def set_up(self) -> None:
        self._services = self.lister(SERVICES)
        self._pods = self.lister(PODS)
        self._endpoints = self.lister(ENDPOINTS)
        self._trigger_times = TriggerTimes()
        self._writes = OwnWrites(self.clock)
        self.watch(SERVICES, lambda old, new: [object_key(new or old or {})])
        self._sizes: dict[str, int] = {}  # Pods of each Service, as last seen
        self.watch(PODS, self._pod_changed, delay=lambda key, old, new: batch_period(self._sizes.get(key, 0)))
        self.watch(ENDPOINTS, self._endpoints_changed)

    async def run(self) -> None:
        """What was left when Services went while nobody looked goes now, but for what leaders are elected by."""
        for each in self._endpoints.list():
            if LEADER not in (each["metadata"].get("annotations") or {}):
                self.queue.add(object_key(each))

    def _endpoints_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        """Deleted ones are made again while their Service is there."""
        if new is not None or old is None:
            return []
        key = object_key(old)
        self._writes.forget(key)
        return [key]

    def _pod_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        if old is not None and new is not None:
            same_labels = old["metadata"].get("labels") == new["metadata"].get("labels")
            if same_labels and not endpoint_changed(old, new):
                return []
        keys: dict[str, None] = {}
        for pod in (old, new):
            if pod is not None:
                keys.update(dict.fromkeys(self._services_of(pod)))
        return list(keys)

    def _services_of(self, pod: Object) -> list[str]:
        labels = (pod["metadata"].get("labels") or {}).items()
        return [
            object_key(service)
            for service in self._services.list(pod["metadata"]["namespace"])
            if (selector := service["spec"].get("selector")) and selector.items() <= labels
        ]

    # -- reconciling

    async def reconcile(self, key: str) -> None:
        service = self._services.by_key(key)
        if service is None:
            self._trigger_times.forget(key)
            self._sizes.pop(key, None)
            self._writes.forget(key)
            await self._delete(key)
            return
        spec = service["spec"]
        if spec.get("type") == "ExternalName" or not spec.get("selector"):
            return  # none, or somebody else's
        pods = self._pods.list(service["metadata"]["namespace"], LabelSelector.from_labels(spec["selector"]))
        self._sizes[key] = len(pods)
        current = self._endpoints.by_key(key)
        if current is None:
            self._writes.check_absent(key)
        else:
            self._writes.check(current)
        wanted = self._wanted(key, service, pods, current)
        self.note(desired={"subsets": len(wanted.get("subsets", ()))}, actual={"there": current is not None})
        if current is not None and _shown(current) == _shown(wanted):
            return
        try:
            await self._write(service, wanted, exists=current is not None)
        except ApiError as error:
            if namespace_terminating(error):
                return
            if current is None:
                message = f"Failed to create endpoint for service {key}: {error}"
                self.recorder.event(wanted, WARNING, "FailedToCreateEndpoint", message)
            else:
                message = f"Failed to update endpoint {key}: {error}"
                self.recorder.event(wanted, WARNING, "FailedToUpdateEndpoint", message)
            raise

    async def _delete(self, key: str) -> None:
        """With its Service, whoever made it."""
        if self._endpoints.by_key(key) is None:
            return
        namespace, name = split_key(key)
        try:
            await self.client.delete(ENDPOINTS, name, namespace=namespace)
        except ApiError as error:
            if error.code != 404:
                raise

    def _wanted(self, key: str, service: Object, pods: list[Object], current: Object | None) -> Object:
        subsets, over = subsets_of(service, pods)
        metadata = service["metadata"]
        labels = {name: value for name, value in (metadata.get("labels") or {}).items() if name != HEADLESS}
        labels[MANAGED_BY] = MANAGER
        if not has_cluster_ip(service):
            labels[HEADLESS] = ""
        base = current["metadata"] if current is not None else {}
        annotations = dict(base.get("annotations") or {})
        trigger = self._trigger_times.compute(key, service, pods)
        annotations.pop(TRIGGER_TIME, None)
        if trigger is not None:
            annotations[TRIGGER_TIME] = trigger.strftime("%Y-%m-%dT%H:%M:%SZ")
        annotations.pop(OVER_CAPACITY, None)
        if over:
            annotations[OVER_CAPACITY] = "truncated"
        made = {**base, "name": metadata["name"], "namespace": metadata["namespace"], "labels": labels}
        made.pop("annotations", None)
        if annotations:
            made["annotations"] = annotations
        wanted: Object = {"apiVersion": "v1", "kind": "Endpoints", "metadata": made}
        if subsets:
            wanted["subsets"] = subsets
        return wanted

    async def _write(self, service: Object, wanted: Object, *, exists: bool) -> None:
        if exists:
            self._writes.note(await self.client.update(ENDPOINTS, wanted))
        else:
            namespace = service["metadata"]["namespace"]
            self._writes.note(await self.client.create(ENDPOINTS, wanted, namespace=namespace))


def _shown(endpoints: Object) -> tuple[object, ...]:
    """What makes a write worth it: the trigger time alone does not."""
    annotations = endpoints["metadata"].get("annotations") or {}
    return endpoints.get("subsets") or [], endpoints["metadata"].get("labels"), annotations.get(OVER_CAPACITY)
