"""The objects that a cluster is born with: namespaces, RBAC, priority classes, the Service of the API itself.

Source: pkg/controlplane (controller/systemnamespaces, controller/kubernetesservice, reconcilers) and the RBAC and
scheduling post-start hooks. What is there already is left as it is, so that a restart changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from ipaddress import ip_address

from engine.api import resource_metrics
from engine.api.api_services import availability
from engine.api.apply import track_update
from engine.api.apply.managers import timestamp
from engine.api.defaults import apply_defaults
from engine.api.resources import ResourceInfo
from engine.api.strategies.strategy import prepare_for_create
from engine.api.types import GVK, SERVICES, Object, copy_object
from engine.apiserver.authorization import policy_objects
from engine.apiserver.backend import Backend
from engine.apiserver.fairness import flow_control
from engine.apiserver.registry.metadata import fill_for_create
from engine.apiserver.services.service_cidrs import ip_address_object, service_cidr_object
from engine.apiserver.services.service_pools import AddressRange

NAMESPACES = ("kube-system", "kube-public", "kube-node-lease", "default")
_MANAGER = "kube-apiserver"


def objects(*, ranges: Sequence[str], host: str, port: int, now: str) -> Iterator[Object]:
    """All of them, in the order in which they are made."""
    for name in NAMESPACES:
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    yield from policy_objects.cluster_roles()
    yield from policy_objects.cluster_role_bindings()
    yield from policy_objects.roles()
    yield from policy_objects.role_bindings()
    yield from _priority_classes()
    yield from flow_control.objects(now)
    yield service_cidr_object(ranges)
    yield _service(first_address(ranges), port)
    yield _endpoints(host, port)
    yield _endpoint_slice(host, port)


def _priority_classes() -> Iterator[Object]:
    for name, value, description in (
        (
            "system-node-critical",
            2000001000,
            "Used for system critical pods that must not be moved from their current node.",
        ),
        (
            "system-cluster-critical",
            2000000000,
            "Used for system critical pods that must run in the cluster, but can be moved to another node if "
            "necessary.",
        ),
    ):
        yield {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            "description": description,
        }


def first_address(ranges: Sequence[str]) -> str:
    """The address of the Service default/kubernetes."""
    return AddressRange(ranges[0]).address(1)


_SERVICE_LABELS = {"component": "apiserver", "provider": "kubernetes"}


def _service(ip: str, port: int) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "kubernetes", "namespace": "default", "labels": dict(_SERVICE_LABELS)},
        "spec": {
            "type": "ClusterIP",
            "clusterIP": ip,
            "clusterIPs": [ip],
            "ipFamilies": [f"IPv{ip_address(ip).version}"],
            "ipFamilyPolicy": "SingleStack",
            "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": port}],
        },
    }


def _endpoints(host: str, port: int) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"},
        },
        "subsets": [{"addresses": [{"ip": host}], "ports": [{"name": "https", "port": port, "protocol": "TCP"}]}],
    }


def _endpoint_slice(host: str, port: int) -> Object:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": {"kubernetes.io/service-name": "kubernetes"},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [host], "conditions": {"ready": True}}],
        "ports": [{"name": "https", "port": port, "protocol": "TCP"}],
    }


def kubernetes_service(ip: str, host: str, port: int) -> tuple[Object, Object, Object]:
    """The Service of the API, its Endpoints and its EndpointSlice."""
    return _service(ip, port), _endpoints(host, port), _endpoint_slice(host, port)


def _resource_metrics(now: str) -> Object:
    """The APIService of metrics-server, which is there from the beginning."""
    made = resource_metrics.api_service()
    return {**made, "status": availability(made, None, (), now=now)}


def _gvk(obj: Object) -> GVK:
    group, _, version = obj["apiVersion"].rpartition("/")
    return GVK(group, version, obj["kind"])


async def bootstrap(backend: Backend, *, ranges: Sequence[str], host: str, port: int) -> int:
    """Make what is not there, all in the same second; returns how many that were. `ranges` are those of Services."""
    missing: list[tuple[ResourceInfo, str, str, Object]] = []
    now = backend.world.clock.now()
    wanted = list(objects(ranges=ranges, host=host, port=port, now=timestamp(now)))
    for obj in wanted:
        info = backend.resources.by_kind(_gvk(obj))
        if info is None:
            continue
        metadata = obj["metadata"]
        namespace, name = metadata.get("namespace", ""), metadata["name"]
        if await backend.storage.get(info, namespace, name) is None:
            missing.append((info, namespace, name, _complete(backend, info, obj, now)))
            if info.gvr == SERVICES:  # its address is taken with it
                wanted.append(ip_address_object(obj["spec"]["clusterIP"], obj))
            if name == resource_metrics.READER:  # once only: who has deleted the APIService since does not want it
                wanted.append(_resource_metrics(timestamp(now)))
    await backend.storage.create_all(missing)
    return len(missing)


async def retarget(backend: Backend, port: int) -> None:
    """Say in the Service default/kubernetes at which port the API is served, where it says otherwise."""
    info = backend.resources.get(*SERVICES)
    stored = await backend.storage.get(info, "default", "kubernetes") if info is not None else None
    if info is None or stored is None or stored.object["spec"]["ports"][0].get("targetPort") == port:
        return
    obj = copy_object(stored.object)
    obj["spec"]["ports"][0]["targetPort"] = port
    await backend.storage.replace(info, "default", "kubernetes", obj, expected=stored.revision, cause="")


async def keep(backend: Backend, wanted: Object, fields: tuple[str, ...]) -> None:
    """Make an object that is not there, and put right the fields of one that say otherwise. Past admission and
    validation, which would not have endpoints on a loopback address, where a server on this machine is."""
    info = backend.resources.by_kind(_gvk(wanted))
    if info is None:
        return
    namespace, name = wanted["metadata"].get("namespace", ""), wanted["metadata"]["name"]
    stored = await backend.storage.get(info, namespace, name)
    if stored is None:
        now = backend.world.clock.now()
        await backend.storage.create_all([(info, namespace, name, _complete(backend, info, wanted, now))])
    elif any(stored.object.get(field) != wanted[field] for field in fields):
        changed = copy_object(stored.object) | {field: wanted[field] for field in fields}
        await backend.storage.replace(info, namespace, name, changed, expected=stored.revision, cause="")


def _complete(backend: Backend, info: ResourceInfo, obj: Object, now: datetime) -> Object:
    status = obj.get("status")
    fill_for_create(obj, uid=backend.uids.uid(), now=timestamp(now))
    prepare_for_create(info, obj)
    apply_defaults(info, obj)
    if status is not None:
        obj["status"] = status
    schema = backend.definitions.kind(info.gvk)
    if schema is None:
        return obj
    return track_update(
        None,
        obj,
        manager=_MANAGER,
        operation="Update",
        now=now,
        schema=schema,
        subresource="",
        api_version=info.gvr.api_version,
    )
