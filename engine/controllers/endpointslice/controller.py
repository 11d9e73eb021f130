"""The EndpointSlice controller (pkg/controller/endpointslice/endpointslice_controller.go)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from engine.api.errors import ApiError
from engine.api.selectors import LabelSelector
from engine.api.types import ENDPOINT_SLICES, NODES, PODS, SERVICES, Object
from engine.client import WARNING, object_key
from engine.controllers.batching import batch_period
from engine.controllers.controller import Controller, RetryLaterError
from engine.controllers.endpointslice.endpoints import address_types, endpoint_changed
from engine.controllers.endpointslice.planning import CONTROLLER, MANAGED_BY, SERVICE_NAME, Plan, plan
from engine.controllers.endpointslice.topology import DISABLED, Ratios, add_hints, cpu_ratios, wants_hints
from engine.controllers.endpointslice.tracking import SliceTracker, TriggerTimes
from engine.controllers.pod_control import namespace_terminating

TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time"
SERVICE_INDEX = "service"
# A slice that somebody else changed is put right after this, so that a fight does not run hot.
SLICE_CHANGE_DELAY = 1.0


class NodeNotFoundError(Exception):
    """A Pod names a Node that is not there; its endpoint is left out until it is."""


class _FailedWriteError(Exception):
    """A slice could not be written: what was to be done, and why not."""

    def __init__(self, what: str, error: ApiError) -> None:
        super().__init__(f"{what}: {error}")
        self.error = error


class EndpointSliceController(Controller):
    name = "endpointslice-controller"
    kind = "service"
    max_retries = 15

    def set_up(self) -> None:
        self._services = self.lister(SERVICES)
        self._pods = self.lister(PODS)
        self._nodes = self.lister(NODES)
        self._slices = self.lister(ENDPOINT_SLICES)
        self.index(ENDPOINT_SLICES, SERVICE_INDEX, _by_service)
        self._tracker = SliceTracker()
        self._trigger_times = TriggerTimes()
        self.watch(SERVICES, lambda old, new: [object_key(new or old or {})])
        self._sizes: dict[str, int] = {}  # Pods of each Service, as last seen
        self.watch(PODS, self._pod_changed, delay=lambda key, old, new: batch_period(self._sizes.get(key, 0)))
        self.watch(ENDPOINT_SLICES, self._slice_changed)
        self._ratios: Ratios = {}
        self._hinted: dict[str, dict[str, None]] = {}  # Services with hints by topology, and for which address types
        self.watch(NODES, self._node_changed)

    # -- what wakes it

    def _node_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        """Other shares of the CPU are other hints."""
        before, self._ratios = self._ratios, cpu_ratios(self._nodes.list())
        if before == self._ratios:
            return []
        return [object_key(service) for service in self._services.list() if wants_hints(service)]

    def _pod_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        if old is None or new is None:
            return self._services_of(new or old or {})
        labels_changed = old["metadata"].get("labels") != new["metadata"].get("labels")
        if endpoint_changed(old, new):
            return dict.fromkeys([*self._services_of(old), *self._services_of(new)])
        if labels_changed:
            before, after = self._services_of(old), self._services_of(new)
            return [key for key in dict.fromkeys([*before, *after]) if (key in before) != (key in after)]
        return []

    def _services_of(self, pod: Object) -> list[str]:
        labels = (pod["metadata"].get("labels") or {}).items()
        return [
            object_key(service)
            for service in self._services.list(pod["metadata"]["namespace"])
            if (selector := service["spec"].get("selector")) and selector.items() <= labels
        ]

    def _slice_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        """Only what this controller did not do itself wakes it."""
        for key in self._affected(old, new):
            self.queue.add_after(key, SLICE_CHANGE_DELAY)
        return ()

    def _affected(self, old: Object | None, new: Object | None) -> list[str]:
        before, after = _service_key(old), _service_key(new)
        if new is None:
            gone = old is not None and _is_managed(old) and self._tracker.is_unexpected_deletion(before, old)
            return [before] if gone else []
        if old is not None and before != after:
            return [key for key in (after, before) if key]
        handed_over = old is not None and _is_managed(old) != _is_managed(new)
        news = _is_managed(new) and self._tracker.is_news(after, new)
        return [after] if after and (handed_over or news) else []

    # -- reconciling

    async def reconcile(self, key: str) -> None:
        service = self._services.by_key(key)
        if service is None:
            self._tracker.forget(key)
            self._trigger_times.forget(key)
            self._sizes.pop(key, None)
            self._hinted.pop(key, None)
            return
        spec = service["spec"]
        if spec.get("type") == "ExternalName" or not spec.get("selector"):
            return  # no endpoints, or somebody else's
        namespace = service["metadata"]["namespace"]
        pods = self._pods.list(namespace, LabelSelector.from_labels(spec["selector"]))
        self._sizes[key] = len(pods)
        slices = [
            each
            for each in self._slices.by_index(SERVICE_INDEX, key)
            if _is_managed(each) and not each["metadata"].get("deletionTimestamp")
        ]
        if self._tracker.is_stale(key, slices):
            raise RetryLaterError("EndpointSlice informer cache is out of date")
        trigger = self._trigger_times.compute(key, service, pods)
        if not wants_hints(service):
            self._tell_of_the_end_of_hints(key, service)
        changes = self._plan(service, pods, slices)
        self.note(
            desired={"pods": len(pods)}, actual={"endpoints": sum(len(each.get("endpoints") or ()) for each in slices)}
        )
        try:
            await self._act(key, service, changes, trigger)
        except _FailedWriteError as failed:
            self._tell_of_errors(service, [*changes.skipped, str(failed)])
            raise failed.error from None
        if changes.skipped:
            raise NodeNotFoundError(self._tell_of_errors(service, changes.skipped))

    def _tell_of_errors(self, service: Object, errors: list[str]) -> str:
        """All of them, in the words of an aggregate of errors: each once."""
        unique = list(dict.fromkeys(errors))
        shown = unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"
        message = f"Error updating Endpoint Slices for Service {object_key(service)}: {shown}"
        self.recorder.event(service, WARNING, "FailedToUpdateEndpointSlices", message)
        return shown

    def _plan(self, service: Object, pods: list[Object], slices: list[Object]) -> Plan:
        types = address_types(service)
        changes = Plan(delete=[each for each in slices if each["addressType"] not in types])
        nodes = {node["metadata"]["name"]: node for node in self._nodes.list()}
        for address_type in types:
            of_type = [each for each in slices if each["addressType"] == address_type]
            by_topology = wants_hints(service)
            planned = plan(
                service, pods, slices=of_type, nodes=nodes, address_type=address_type, keep_hints=by_topology
            )
            if by_topology:
                self._hint(service, planned, address_type)
            changes.extend(planned)
            changes.skipped += planned.skipped
        return changes

    def _hint(self, service: Object, planned: Plan, address_type: str) -> None:
        hinted = self._hinted.setdefault(object_key(service), {})
        given, told = add_hints(planned, self._ratios, address_type, hinted_before=bool(hinted))
        if given:
            hinted[address_type] = None
        else:
            hinted.pop(address_type, None)
        if told is not None:
            self.recorder.event(service, told.type, told.reason, told.message)

    def _tell_of_the_end_of_hints(self, key: str, service: Object) -> None:
        if self._hinted.pop(key, None) and not wants_hints(service):
            self.recorder.event(service, WARNING, DISABLED, "Topology Aware Hints has been disabled")

    async def _act(self, key: str, service: Object, changes: Plan, trigger: datetime | None) -> None:
        """Raises _FailedWriteError."""
        namespace, of = service["metadata"]["namespace"], f"EndpointSlice for Service {key}"
        if not service["metadata"].get("deletionTimestamp"):
            for each in changes.create:
                try:
                    created = await self.client.create(ENDPOINT_SLICES, _stamped(each, trigger), namespace=namespace)
                except ApiError as error:
                    if namespace_terminating(error):
                        return
                    raise _FailedWriteError(f"failed to create {of}", error) from None
                self._tracker.wrote(key, created)
        for each in changes.update:
            try:
                updated = await self.client.update(ENDPOINT_SLICES, _stamped(each, trigger))
            except ApiError as error:
                raise _FailedWriteError(f"failed to update {each['metadata']['name']} {of}", error) from None
            self._tracker.wrote(key, updated)
        for each in changes.delete:
            name = each["metadata"]["name"]
            try:
                await self.client.delete(ENDPOINT_SLICES, name, namespace=namespace)
            except ApiError as error:
                if error.code != 404:
                    raise _FailedWriteError(f"failed to delete {name} {of}", error) from None
            self._tracker.deleted(key, each)


def _is_managed(each: Object) -> bool:
    return bool((each["metadata"].get("labels") or {}).get(MANAGED_BY) == CONTROLLER)


def _service_key(each: Object | None) -> str:
    name = (each["metadata"].get("labels") or {}).get(SERVICE_NAME) if each is not None else None
    return f"{each['metadata']['namespace']}/{name}" if each is not None and name else ""


def _by_service(each: Object) -> Iterable[str]:
    key = _service_key(each)
    return (key,) if key else ()


def _stamped(each: Object, trigger: datetime | None) -> Object:
    """With the time of the change that it answers, as an annotation; without one if nothing changed in time."""
    annotations = {k: v for k, v in (each["metadata"].get("annotations") or {}).items() if k != TRIGGER_TIME}
    if trigger is not None:
        annotations[TRIGGER_TIME] = trigger.strftime("%Y-%m-%dT%H:%M:%SZ")
    metadata = {k: v for k, v in each["metadata"].items() if k != "annotations"}
    if annotations:
        metadata["annotations"] = annotations
    return {**each, "metadata": metadata}
