"""The EndpointSliceMirroring controller: Endpoints that somebody keeps by hand for a Service without a selector, as
EndpointSlices, which is what proxies read (pkg/controller/endpointslicemirroring)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from typing import Any

import orjson

from engine.api.errors import ApiError
from engine.api.types import ENDPOINT_SLICES, ENDPOINTS, GVK, SERVICES, Object
from engine.client import WARNING, object_key
from engine.controllers.controller import Controller
from engine.controllers.endpoints.controller import LEADER
from engine.controllers.endpoints.subsets import repacked
from engine.controllers.endpointslice.planning import MANAGED_BY, SERVICE_NAME
from engine.controllers.own_writes import OwnWrites
from engine.controllers.ownership import controller_reference
from engine.controllers.pod_control import namespace_terminating

MIRROR = "endpointslicemirroring-controller.k8s.io"
SKIP_MIRROR = "endpointslice.kubernetes.io/skip-mirror"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time"
MAX_PER_SUBSET = 1000  # --mirroring-max-endpoints-per-subset
_ENDPOINTS = GVK("", "v1", "Endpoints")
_INDEX = "mirrored"


class EndpointSliceMirroringController(Controller):
    name = "endpointslicemirroring-controller"
    kind = "endpoints"
    max_retries = 15
    workers = 2

    def set_up(self) -> None:
        self._services = self.lister(SERVICES)
        self._endpoints = self.lister(ENDPOINTS)
        self._slices = self.lister(ENDPOINT_SLICES)
        self.index(ENDPOINT_SLICES, _INDEX, _mirrored_key)
        self._writes = OwnWrites(self.clock)
        for resource in (SERVICES, ENDPOINTS):
            self.watch(resource, lambda old, new: [object_key(new or old or {})])
        self.watch(ENDPOINT_SLICES, lambda old, new: _mirrored_key(new or old or {}))

    def is_moot(self, key: str) -> bool:
        """Most Services have a selector, and nothing to be mirrored."""
        return not self._is_mirrored(key) and not self._mine(key)

    def _mine(self, key: str) -> list[Object]:
        return [each for each in self._slices.by_index(_INDEX, key) if not each["metadata"].get("deletionTimestamp")]

    def _is_mirrored(self, key: str) -> bool:
        endpoints, service = self._endpoints.by_key(key), self._services.by_key(key)
        if endpoints is None or service is None or service["spec"].get("selector"):
            return False
        metadata = endpoints["metadata"]
        skipped = (metadata.get("labels") or {}).get(SKIP_MIRROR) == "true"
        return not skipped and LEADER not in (metadata.get("annotations") or {})

    async def reconcile(self, key: str) -> None:
        existing = self._mine(key)
        for each in existing:
            self._writes.check(each)
        endpoints = self._endpoints.by_key(key)
        wanted: list[Object] = []
        if endpoints is not None and self._is_mirrored(key):
            wanted = wanted_slices(endpoints)
            if skipped := skipped_addresses(endpoints):
                message = (
                    f"A max of {MAX_PER_SUBSET} addresses can be mirrored to EndpointSlices per Endpoints subset. "
                    f"{skipped} addresses were skipped"
                )
                self.recorder.event(endpoints, WARNING, "TooManyAddressesToMirror", message)
        self.note(desired={"slices": len(wanted)}, actual={"slices": len(existing)})
        made, changed, spare = plan(existing, wanted)
        if endpoints is None or not endpoints["metadata"].get("deletionTimestamp"):
            for new in made:
                try:
                    namespace = new["metadata"]["namespace"]
                    self._writes.note(await self.client.create(ENDPOINT_SLICES, new, namespace=namespace))
                except ApiError as error:
                    if namespace_terminating(error):
                        return
                    raise
        for each in changed:
            self._writes.note(await self.client.update(ENDPOINT_SLICES, each))
        for old in spare:
            await self._delete(old)

    async def _delete(self, old: Object) -> None:
        metadata = old["metadata"]
        try:
            await self.client.delete(ENDPOINT_SLICES, metadata["name"], namespace=metadata["namespace"])
        except ApiError as error:
            if error.code != 404:
                raise
        self._writes.forget(object_key(old))


def _mirrored_key(each: Object) -> Iterable[str]:
    labels = each["metadata"].get("labels") or {}
    if labels.get(MANAGED_BY) != MIRROR or not labels.get(SERVICE_NAME):
        return ()
    return (f"{each['metadata']['namespace']}/{labels[SERVICE_NAME]}",)


def plan(existing: list[Object], wanted: list[Object]) -> tuple[list[Object], list[Object], list[Object]]:
    """What to make, what to write and what to delete. The first slice of its ports and family stays or is changed into
    what is wanted for those; of the others as many are changed as would be made of their family."""
    left, missing, changed = list(existing), [], []
    for new in wanted:
        old = next((each for each in left if _kind(each) == _kind(new)), None)
        if old is None:
            missing.append(new)
            continue
        left.remove(old)
        if _shown(old) != _shown(new):
            changed.append(_changed(old, new))
    made = []
    for new in missing:
        old = next((each for each in left if each["addressType"] == new["addressType"]), None)
        if old is None:
            made.append(new)
        else:
            left.remove(old)
            changed.append(_changed(old, new))
    return made, changed, left


def _changed(old: Object, new: Object) -> Object:
    metadata = {**old["metadata"], "labels": new["metadata"]["labels"]}
    metadata["annotations"] = new["metadata"].get("annotations") or {}
    return {**new, "metadata": metadata}


def _kind(each: Object) -> tuple[str, list[bytes]]:
    return each["addressType"], sorted(map(_key, each.get("ports") or ()))


def _shown(each: Object) -> tuple[object, ...]:
    metadata = each["metadata"]
    endpoints = sorted(map(_key, each.get("endpoints") or ()))
    return endpoints, metadata.get("labels") or {}, metadata.get("annotations") or {}


def _key(of: Any) -> bytes:
    return orjson.dumps(of, option=orjson.OPT_SORT_KEYS)


def wanted_slices(endpoints: Object) -> list[Object]:
    """One for each subset and address type: pure (reconciler.go)."""
    made = []
    for subset in repacked(endpoints.get("subsets") or ()):
        found: dict[str, list[Object]] = {"IPv4": [], "IPv6": []}
        for address, ready in subset.addresses[:MAX_PER_SUBSET]:
            found[f"IPv{ip_address(address['ip']).version}"].append(_endpoint(address, ready))
        made += [_slice(endpoints, family, listed, subset.ports) for family, listed in found.items() if listed]
    return made


def skipped_addresses(endpoints: Object) -> int:
    """How many are too many for their subset's slices."""
    return sum(max(0, len(each.addresses) - MAX_PER_SUBSET) for each in repacked(endpoints.get("subsets") or ()))


def _endpoint(address: Object, ready: bool) -> Object:
    endpoint: Object = {"addresses": [address["ip"]], "conditions": {"ready": ready}}
    for field in ("hostname", "nodeName", "targetRef"):
        if address.get(field):
            endpoint[field] = address[field]
    return endpoint


def _slice(endpoints: Object, address_type: str, listed: list[Object], ports: Sequence[Object]) -> Object:
    metadata = endpoints["metadata"]
    labels = {**(metadata.get("labels") or {}), SERVICE_NAME: metadata["name"], MANAGED_BY: MIRROR}
    dropped = (TRIGGER_TIME, LAST_APPLIED)
    annotations = {key: value for key, value in (metadata.get("annotations") or {}).items() if key not in dropped}
    made: Object = {
        "generateName": f"{metadata['name']}-",
        "namespace": metadata["namespace"],
        "labels": labels,
        "ownerReferences": [controller_reference(endpoints, _ENDPOINTS)],
    }
    if annotations:
        made["annotations"] = annotations
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": made,
        "addressType": address_type,
        "endpoints": listed,
        "ports": [_port(port) for port in ports],
    }


def _port(port: Object) -> Object:
    made: Object = {"name": port.get("name", ""), "port": port["port"], "protocol": port.get("protocol", "TCP")}
    if port.get("appProtocol"):
        made["appProtocol"] = port["appProtocol"]
    return made
