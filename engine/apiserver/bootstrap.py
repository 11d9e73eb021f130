"""The objects that a cluster is born with: namespaces, RBAC, priority classes, the Service of the API itself.

Source: pkg/controlplane (controller/systemnamespaces, controller/kubernetesservice, reconcilers) and the RBAC and
scheduling post-start hooks. What is there already is left as it is, so that a restart changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache
from ipaddress import ip_address

from engine.api import resource_metrics
from engine.api.api_services import availability
from engine.api.resources import ResourceInfo
from engine.api.types import SERVICES, Object, copy_object
from engine.apiserver.authorization import policy_objects
from engine.apiserver.backend import Backend
from engine.apiserver.fairness import flow_control
from engine.apiserver.own_objects import NO_TIME, gvk_of, own_object
from engine.apiserver.policy_reconciliation import is_reconciled, reconcile_policy
from engine.apiserver.services.service_cidrs import ip_address_object, service_cidr_object
from engine.apiserver.services.service_pools import AddressRange

NAMESPACES = ("kube-system", "kube-public", "kube-node-lease", "default")


@cache
def _always(release: tuple[int, int]) -> tuple[Object, ...]:
    """What every cluster of a release has, in the order in which it is made. Nobody changes these."""
    return tuple(_objects(release))


def _objects(release: tuple[int, int]) -> Iterator[Object]:
    for name in NAMESPACES:
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    yield from policy_objects.cluster_roles(release)
    yield from policy_objects.cluster_role_bindings(release)
    yield from policy_objects.roles(release)
    yield from policy_objects.role_bindings()
    yield from _priority_classes()
    yield from flow_control.objects(NO_TIME)


def _of_cluster(ranges: Sequence[str], host: str, port: int) -> Iterator[Object]:
    """What comes after that and says where this cluster is."""
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


def _resource_metrics() -> Object:
    """The APIService of metrics-server, which is there from the beginning."""
    made = resource_metrics.api_service()
    return {**made, "status": availability(made, None, (), now=NO_TIME)}


async def bootstrap(
    backend: Backend, *, ranges: Sequence[str], host: str, port: int, config_maps: Sequence[Object] = ()
) -> set[str]:
    """Make what is not there, all in the same second; returns the keys of that. What is there of the policy is brought
    up to date. `ranges` are those of Services, `config_maps` what the server's own controllers go on to keep."""
    missing: dict[str, bytes] = {}
    policy: list[tuple[ResourceInfo, Object]] = []
    present: dict[ResourceInfo, set[str]] = {}
    now = backend.world.clock.now()
    wanted = [*_always(backend.definitions.release), *_of_cluster(ranges, host, port), *config_maps]
    for obj in wanted:
        info = backend.resources.by_kind(gvk_of(obj))
        if info is None:
            continue
        metadata = obj["metadata"]
        key = info.key(metadata.get("namespace", ""), metadata["name"])
        if info not in present:
            present[info] = await backend.storage.keys(info)
        if key not in present[info]:
            missing[key] = _value(backend, obj, now)
            if info.gvr == SERVICES:  # its address is taken with it
                wanted.append(ip_address_object(obj["spec"]["clusterIP"], obj))
            if metadata["name"] == resource_metrics.READER:  # once: who has deleted the APIService does not want it
                wanted.append(_resource_metrics())
        elif is_reconciled(obj):
            policy.append((info, obj))
    await backend.storage.create_all(missing)
    for info, obj in policy:
        await reconcile_policy(backend, info, obj, lambda made: _value(backend, made, now))
    return set(missing)


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
    info = backend.resources.by_kind(gvk_of(wanted))
    if info is None:
        return
    namespace, name = wanted["metadata"].get("namespace", ""), wanted["metadata"]["name"]
    stored = await backend.storage.get(info, namespace, name)
    if stored is None:
        value = _value(backend, wanted, backend.world.clock.now())
        await backend.storage.create_all({info.key(namespace, name): value})
    elif any(stored.object.get(field) != wanted[field] for field in fields):
        changed = copy_object(stored.object) | {field: wanted[field] for field in fields}
        await backend.storage.replace(info, namespace, name, changed, expected=stored.revision, cause="")


def _value(backend: Backend, obj: Object, now: datetime) -> bytes:
    return own_object(backend.definitions.version, obj, uid=backend.uids.uid(), now=now)
