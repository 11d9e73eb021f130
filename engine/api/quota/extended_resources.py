"""Claims of devices under quotas on extended resources: a device takes of `requests.example.com/gpu` whether a Pod asks
for it by that name or a claim by its DeviceClass.

A claim that was written for a Pod's extended resources takes only what the Pod does not take itself.
Source: pkg/quota/v1/evaluator/core resource_claims.go (DRAExtendedResource, on by default since 1.36).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from engine.api.quota.amounts import Amounts
from engine.api.types import GVR, Object

DEVICE_CLASSES = GVR("resource.k8s.io", "v1", "deviceclasses")
CLAIMS = GVR("resource.k8s.io", "v1", "resourceclaims")
SINCE = (1, 36)
DEVICES = ".deviceclass.resource.k8s.io/devices"
_REQUESTS = "requests."
_IMPLICIT = f"{_REQUESTS}deviceclass.resource.kubernetes.io/"
_ANNOTATION = "resource.kubernetes.io/extended-resource-claim"


class ExtendedResources(NamedTuple):
    """`names` are those of DeviceClasses, "" for a class that has none; `pod` what the Pod takes, by the names of
    quotas, that a claim was written for."""

    names: Mapping[str, str]
    pod: Amounts

    def has(self, quota_name: str) -> bool:
        """Whether claims can take of a quota's resource by that name."""
        if quota_name.startswith(_IMPLICIT):
            return quota_name.removeprefix(_IMPLICIT) in self.names
        bare = quota_name.removeprefix(_REQUESTS)
        return bare != quota_name and bare in self.names.values()

    def taken(self, devices: Amounts) -> Amounts:
        """What devices, by their class, take under the other names."""
        found: Amounts = {}
        for quota_name, amount in devices.items():
            device_class = quota_name.removesuffix(DEVICES)
            found[f"{_IMPLICIT}{device_class}"] = amount
            if name := self.names.get(device_class):
                found[f"{_REQUESTS}{name}"] = amount
        left = {name: amount - self.pod[name] if name in self.pod else amount for name, amount in found.items()}
        return {name: amount for name, amount in left.items() if amount.milli > 0}


def names_of(device_classes: Iterable[Object]) -> dict[str, str]:
    return {
        each["metadata"]["name"]: (each.get("spec") or {}).get("extendedResourceName") or "" for each in device_classes
    }


def pod_name(claim: Object) -> str:
    """Of the Pod for whose extended resources a claim says that it is; "" for none."""
    return (_controller(claim) or {}).get("name", "") if _is_marked(claim) else ""


def is_of_pod(claim: Object, pod: Object | None, others: Callable[[], Iterable[Object]]) -> bool:
    """Whether it is: the Pod names it, or names none yet and this is the first of those that say so; `others` are the
    namespace's."""
    if pod is None or (_controller(claim) or {}).get("uid") != pod["metadata"]["uid"]:
        return False
    status = (pod.get("status") or {}).get("extendedResourceClaimStatus")
    if status is not None:
        return bool(status.get("resourceClaimName") == claim["metadata"].get("name"))
    rivals = (each for each in others() if _is_marked(each) and _uid(each) == pod["metadata"]["uid"])
    return all(_age(claim) <= _age(each) for each in rivals)


def _is_marked(claim: Object) -> bool:
    return bool((claim["metadata"].get("annotations") or {}).get(_ANNOTATION) == "true")


def _controller(claim: Object) -> Object | None:
    """The Pod that controls it, as it is referred to."""
    owners = claim["metadata"].get("ownerReferences") or ()
    found = next((owner for owner in owners if owner.get("controller")), None)
    return found if found and (found.get("apiVersion"), found.get("kind")) == ("v1", "Pod") else None


def _uid(claim: Object) -> str | None:
    return (_controller(claim) or {}).get("uid")


def _age(claim: Object) -> tuple[str, str]:
    return claim["metadata"].get("creationTimestamp") or "", claim["metadata"].get("name") or ""
