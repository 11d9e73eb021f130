"""APIService objects: those that stand for what this server serves itself, and whether another server is there.

Sources: pkg/controlplane/apiserver/aggregator.go (DefaultGenericAPIServicePriorities), pkg/controlplane/controller/
crdregistration, kube-aggregator pkg/controllers/status (local and remote availability).
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.crd.naming import condition, find_condition, with_condition
from engine.api.resource_metrics import stands_for_it
from engine.api.resources import Priority
from engine.api.types import Object

AUTOMANAGED = "kube-aggregator.kubernetes.io/automanaged"
# Of a group the place in discovery; of its versions v1's, where it is not 15.
_PRIORITIES = {
    "": (18000, 1),
    "apps": (17800, 15),
    "events.k8s.io": (17750, 15),
    "authentication.k8s.io": (17700, 15),
    "authorization.k8s.io": (17600, 15),
    "autoscaling": (17500, 15),
    "batch": (17400, 15),
    "certificates.k8s.io": (17300, 15),
    "networking.k8s.io": (17200, 15),
    "policy": (17100, 15),
    "rbac.authorization.k8s.io": (17000, 15),
    "storage.k8s.io": (16800, 15),
    "apiextensions.k8s.io": (16700, 15),
    "admissionregistration.k8s.io": (16700, 15),
    "scheduling.k8s.io": (16600, 15),
    "coordination.k8s.io": (16500, 15),
    "node.k8s.io": (16300, 15),
    "discovery.k8s.io": (16200, 15),
    "resource.k8s.io": (16200, 20),
    "flowcontrol.apiserver.k8s.io": (16100, 21),
    "internal.apiserver.k8s.io": (16000, 9),
    "storagemigration.k8s.io": (15800, 15),
}
_VERSIONS = {"v2": 30, "v2beta2": 9, "v1beta3": 18, "v1beta2": 12, "v1beta1": 9}
_CUSTOM = Priority(1000, 100)
# Served by the aggregator itself, which registers nothing with itself.
_OWN = "apiregistration.k8s.io"
_UNANSWERED = "FailedDiscoveryCheck"
_PASSED = condition("Available", "True", "Passed", "all checks passed")


def name_of(group: str, version: str) -> str:
    return f"{version}.{group}"


def local_priority(group: str, version: str, *, custom: bool) -> Priority:
    """Where a group version that is served here stands, unless its object says otherwise."""
    if custom:
        return _CUSTOM
    place, order = _PRIORITIES.get(group, (1000, 15))
    return Priority(place, _VERSIONS.get(version, order))


def priority_of(spec: Object) -> Priority:
    """What the spec of an APIService says of it."""
    return Priority(spec.get("groupPriorityMinimum", 0), spec.get("versionPriority", 0))


def local_service(group: str, version: str, *, custom: bool) -> Object | None:
    """The object for a group version that this server serves; None for one that has none."""
    if group == _OWN:
        return None
    priority = local_priority(group, version, custom=custom)
    spec: Object = {
        "groupPriorityMinimum": priority.group,
        "version": version,
        "versionPriority": priority.version,
    }
    if group:
        spec["group"] = group
    return {
        "apiVersion": f"{_OWN}/v1",
        "kind": "APIService",
        "metadata": {"name": name_of(group, version), "labels": {AUTOMANAGED: "true" if custom else "onstart"}},
        "spec": dict(sorted(spec.items())),
    }


def available_locally(status: Object, *, now: str) -> Object:
    verdict = condition("Available", "True", "Local", "Local APIServices are always available")
    return with_condition(status, verdict, now=now)


def path_of(spec: Object) -> str:
    """What a server is asked for to see whether it is there."""
    return f"/apis/{spec['group']}/{spec['version']}" if spec.get("group") else f"/api/{spec['version']}"


def is_unanswered(status: Object) -> bool:
    """Whether all is as it should be but for the server's answer."""
    found = find_condition({"status": status}, "Available")
    return found is not None and found["reason"] == _UNANSWERED


def answered(api_service: Object, problem: str, *, now: str) -> Object:
    """The status of an APIService whose server was asked: what is wrong with its answer, "" for nothing."""
    verdict = condition("Available", "False", _UNANSWERED, problem) if problem else _PASSED
    return with_condition(api_service.get("status") or {}, verdict, now=now)


def availability(api_service: Object, service: Object | None, slices: Sequence[Object], *, now: str) -> Object:
    """The status of an APIService that names a Service, which may be None, with that Service's EndpointSlices."""
    spec = api_service["spec"]
    path = path_of(spec)
    simulated = stands_for_it(spec)
    if simulated and service is None:  # metrics-server needs no Service to be simulated; one that there is must do
        verdict = _PASSED
    else:
        verdict = condition("Available", *_verdict(spec["service"], service, slices, path=path))
    if simulated and verdict["reason"] == _UNANSWERED:
        verdict = _PASSED
    return with_condition(api_service.get("status") or {}, verdict, now=now)


def _verdict(reference: Object, service: Object | None, slices: Sequence[Object], *, path: str) -> tuple[str, str, str]:
    name, port = reference["name"], reference.get("port", 443)
    where = f'service/{name} in "{reference["namespace"]}"'
    if service is None:
        return "False", "ServiceNotFound", f"{where} is not present"
    if service["spec"].get("type") == "ClusterIP":
        ports = [each for each in service["spec"].get("ports", ()) if each["port"] == port]
        if not ports:
            return "False", "ServicePortError", f"{where} is not listening on port {port}"
        if not slices:
            return "False", "EndpointsNotFound", f"cannot find endpointslices for {where}"
        port_name = ports[0].get("name", "")
        if not any(_ready(each, port_name) for each in slices):
            text = f'endpointslices for {where} have no addresses with port name "{port_name}"'
            return "False", "MissingEndpoints", text
    return "False", _UNANSWERED, _refused(f"{_address(service)}:{port}", path)


def _address(service: Object) -> str:
    spec = service["spec"]
    return str(spec.get("externalName") or spec.get("clusterIP") or "")


def _refused(address: str, path: str) -> str:
    """No aggregated API server runs in what is simulated: nothing listens where it should."""
    url = f"https://{address}{path}"
    return f'failing or missing response from {url}: Get "{url}": dial tcp {address}: connect: connection refused'


def _ready(found: Object, port_name: str) -> bool:
    ready = any(each.get("conditions", {}).get("ready", True) for each in found.get("endpoints") or ())
    return ready and any(each.get("name", "") == port_name for each in found.get("ports") or ())
