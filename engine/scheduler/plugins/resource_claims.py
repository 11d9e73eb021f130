"""ResourceClaims as the DynamicResources plugin reads them: which are a pod's, whether they are its own, who uses them.

Source: upstream's dynamic-resource-allocation/resourceclaim.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.api.quantity import Quantity
from engine.api.types import GVR, Object
from engine.scheduler.devices.pools import DeviceId
from engine.scheduler.devices.requests import devices_of
from engine.scheduler.devices.sharing import Consumed, total
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.selecting import node_selector_matches

RESOURCE_CLAIMS = GVR("resource.k8s.io", "v1", "resourceclaims")
RESOURCE_SLICES = GVR("resource.k8s.io", "v1", "resourceslices")
DEVICE_CLASSES = GVR("resource.k8s.io", "v1", "deviceclasses")
DEVICE_TAINT_RULES = GVR("resource.k8s.io", "v1", "devicetaintrules")

FINALIZER = "resource.kubernetes.io/delete-protection"
MAX_ALTERNATIVES = 8  # of one request (FirstAvailableDeviceRequestMaxSize)
MAX_USERS = 256  # of one claim (ResourceClaimReservedForMaxSize)


class ClaimError(Exception):
    """A claim of the pod is not there, or is not for it."""


def claim_names(pod: PodInfo) -> Iterator[tuple[str, bool]]:
    """The names of the pod's claims, and whether a claim was made for the pod. Raises ClaimError."""
    statuses = {s["name"]: s for s in pod.status.get("resourceClaimStatuses") or ()}
    for entry in pod.spec.get("resourceClaims") or ():
        if name := entry.get("resourceClaimName"):
            yield name, False
        elif not entry.get("resourceClaimTemplateName"):
            raise ClaimError(
                f'pod "{pod.key}", spec.resourceClaim "{entry["name"]}": no ResourceClaim or template specified'
            )
        elif entry["name"] not in statuses:
            raise ClaimError(f'pod "{pod.key}": ResourceClaim not created yet')
        # A template may also make none.
        elif made := statuses[entry["name"]].get("resourceClaimName"):
            yield made, True


def is_for(claim: Object, pod: PodInfo) -> bool:
    """Whether the claim was made for this very pod."""
    owners = claim["metadata"].get("ownerReferences") or ()
    return any(owner.get("controller") and owner.get("uid") == pod.uid for owner in owners)


def uid_of(claim: Object) -> str:
    return str(claim["metadata"].get("uid") or f"{claim['metadata'].get('namespace')}/{claim['metadata']['name']}")


def allocation_of(claim: Object) -> Object | None:
    found: Object | None = (claim.get("status") or {}).get("allocation")
    return found


def users_of(claim: Object) -> list[Object]:
    return (claim.get("status") or {}).get("reservedFor") or []


def is_reserved(claim: Object, pod: PodInfo) -> bool:
    return any(user.get("uid") == pod.uid for user in users_of(claim))


def reaches(claim: Object, node: Object) -> bool:
    """Whether an allocated claim's devices can be used on the node."""
    selector = (allocation_of(claim) or {}).get("nodeSelector")
    return selector is None or node_selector_matches(selector, node)


def has_alternatives(claim: Object) -> bool:
    return any(request.get("firstAvailable") for request in devices_of(claim).get("requests") or ())


def preference(claim: Object, allocation: Object) -> int:
    """How early the alternatives come that an allocation has taken: 8 for a first, 7 for a second one, ..."""
    met = {result["request"] for result in allocation["devices"]["results"]}
    return sum(
        MAX_ALTERNATIVES - place
        for request in devices_of(claim).get("requests") or ()
        for place, sub in enumerate(request.get("firstAvailable") or ())
        if f"{request['name']}/{sub['name']}" in met
    )


def allocated_devices(claim: Object) -> Iterator[DeviceId]:
    """The devices that are the claim's alone; access as an administrator takes none."""
    for result in _results(claim):
        if not result.get("adminAccess") and not result.get("shareID"):
            yield DeviceId(result["driver"], result["pool"], result["device"])


def consumed_capacities(claims: Iterable[Object]) -> dict[DeviceId, Consumed]:
    """What claims have consumed of the devices that they share."""
    found: dict[DeviceId, Consumed] = {}
    for claim in claims:
        for result in _results(claim):
            if result.get("shareID") and not result.get("adminAccess"):
                device = DeviceId(result["driver"], result["pool"], result["device"])
                told = result.get("consumedCapacity") or {}
                share = {name: Quantity.parse(str(amount)) for name, amount in told.items()}
                found[device] = total([found.get(device, {}), share])
    return found


def _results(claim: Object) -> list[Object]:
    return ((allocation_of(claim) or {}).get("devices") or {}).get("results") or []
