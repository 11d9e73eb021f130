"""Upstream's tables of what NodeRestriction refuses, row by row (noderestriction/admission_test.go), of a kubelet that
is bound to cluster-admin: what keeps it from the rest is the plugin alone. All of it is asked for as a dry run."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import (
    CLUSTER_ROLE_BINDINGS,
    CONFIGMAPS,
    GVR,
    LEASES,
    NODES,
    PODS,
    SERVICE_ACCOUNTS,
    Object,
)  # fmt: skip
from engine.client import Client
from tests.apiserver.conftest import ClientFor, account, config_map, pod

CLAIMS = GVR("", "v1", "persistentvolumeclaims")
CSI_NODES = GVR("storage.k8s.io", "v1", "csinodes")
SLICES = GVR("resource.k8s.io", "v1", "resourceslices")
MIRROR = "kubernetes.io/config.mirror"
MAY = ""
ITSELF = 'node "mynode" can only {} with spec.nodeName set to itself'
# The test's own words for where a Pod is, and its node.
PLACES = {"my": "mynode", "other": "othernode", "unbound": None}
OWN_LABELS = (
    "foo", "example.com/foo", "kubernetes.io/hostname", "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
    "beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type", "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch", "kubernetes.io/os", "kubernetes.io/arch", "kubelet.kubernetes.io/foo",
    "foo.kubelet.kubernetes.io/foo", "node.kubernetes.io/foo", "foo.node.kubernetes.io/foo",
)  # fmt: skip
OTHERS_LABELS = (
    "node-restriction.kubernetes.io/foo", "foo.node-restriction.kubernetes.io/foo", "other.kubernetes.io/foo",
    "other.k8s.io/foo",
)  # fmt: skip
SORTED = "foo.node-restriction.kubernetes.io/foo, node-restriction.kubernetes.io/foo, other.k8s.io/foo, "
SORTED += "other.kubernetes.io/foo"


class Row:
    """The refusal that a request meets; "" for one that is let through."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def __call__(self, verb: str, gvr: GVR, name: str, body: Object | None = None, **place: Any) -> str:
        path = gvr.path(
            place.get("namespace"), None if verb == "POST" and "sub" not in place else name, place.get("sub")
        )
        try:
            await self._client.request(verb, path, query={"dryRun": ["All"]}, body=body)
        except ApiError as error:
            prefix = f'{place.get("sub_of", gvr.group_resource)} "{name}" is forbidden: '
            return error.message.removeprefix(prefix) if error.code == 403 else f"{error.code} {error.message}"
        return MAY


@pytest.fixture
async def kubelet(client: Client, client_for: ClientFor, default_account: Object) -> Row:
    group = "rbac.authorization.k8s.io"
    binding = {
        "metadata": {"name": "all"}, "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "Group", "apiGroup": group, "name": "system:nodes"}],
    }  # fmt: skip
    await client.create(CLUSTER_ROLE_BINDINGS, binding)
    return Row(client_for("system:node:mynode", "system:nodes"))


def placed(name: str, place: str, owner: str = "") -> Object:
    node = PLACES[place]
    made = pod(name, **({"nodeName": node} if node else {}))
    if owner:
        owners = [{"apiVersion": "v1", "kind": "Node", "name": "mynode", "uid": owner, "controller": True}]
        made["metadata"] |= {"annotations": {MIRROR: "mirror"}, "ownerReferences": owners}
    return made


def labelled(node: Object, *labels: str, value: str = "value") -> Object:
    metadata: Object = {**node["metadata"], "labels": dict.fromkeys(labels, value)}
    return {**node, "metadata": metadata}


async def test_pods(client: Client, kubelet: Row) -> None:
    node = await client.create(NODES, {"metadata": {"name": "mynode"}})
    inside: Object = {"namespace": "default"}
    for kind, owner in (("mirror", node["metadata"]["uid"]), ("plain", "")):
        for place in PLACES:
            name, mine = f"{place}-{kind}", place == "my"
            made = placed(name, place, owner)
            unmade = f'pod does not have "{MIRROR}" annotation, node "mynode" can only create mirror pods'
            if owner:
                unmade = MAY if mine else ITSELF.format("create pods")
            assert await kubelet("POST", PODS, name, made, **inside) == unmade, name
            if owner and PLACES[place] is None:
                continue  # which nobody can have
            made = await client.create(PODS, made, namespace="default")
            told = await kubelet("PUT", PODS, name, made, **inside)
            assert told == 'unexpected operation "UPDATE", node "mynode" can only create and delete mirror pods', name
            told = await kubelet("DELETE", PODS, name, **inside)
            assert told == (MAY if mine else ITSELF.format("delete pods")), name
            told = await kubelet("PUT", PODS, name, made, sub="status", **inside)
            assert told == (MAY if mine else ITSELF.format("update pod status for pods")), name
            refused = "node mynode can only evict pods with spec.nodeName set to itself"
            unnamed = "400 name in URL does not match name in Eviction object"
            for metadata, fits in (({"name": name}, MAY), ({}, unnamed)):
                eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
                told = await kubelet("POST", PODS, name, eviction, sub="eviction", **inside)
                assert told == (fits if mine else refused), name
    labels = {"a": {"label-a": "a"}, "ab": {"label-a": "a", "label-b": "b"}, "none": {}}
    for old, new in (("a", "ab"), ("ab", "a"), ("none", "a"), ("a", "none"), ("ab", "ab")):
        made = placed(f"from-{old}-to-{new}", "my")
        made["metadata"]["labels"] = labels[old]
        made = await client.create(PODS, made, namespace="default")
        made["metadata"]["labels"] = labels[new]
        told = await kubelet("PUT", PODS, made["metadata"]["name"], made, sub="status", **inside)
        assert told == (MAY if old == new else 'node "mynode" cannot update labels through pod status')
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "gone"}}
    assert await kubelet("POST", PODS, "gone", eviction, sub="eviction", **inside) == '404 pod "gone" not found'
    name = made["metadata"]["name"]
    told = await kubelet("PUT", PODS, name, made, sub="ephemeralcontainers", **inside)
    assert told == "unexpected pod subresource \"ephemeralcontainers\", only 'status' and 'eviction' are allowed"
    mirror = placed("m", "my", node["metadata"]["uid"])
    await client.delete(NODES, "mynode")
    assert await kubelet("POST", PODS, "m", mirror, **inside) == '404 node "mynode" not found'


async def test_its_node(client: Client, kubelet: Row) -> None:
    mine: Object = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "mynode"}}
    taint = {"key": "mykey", "value": "A", "effect": "NoSchedule"}
    source = {"configMap": {"name": "foo", "namespace": "bar", "kubeletConfigKey": "kubelet"}}
    refused = f'node "mynode" is not allowed to set the following labels: {SORTED}'
    for made, why in (
        (mine, MAY), ({**mine, "spec": {"taints": [taint]}}, MAY), (labelled(mine, *OWN_LABELS), MAY),
        (labelled(mine, *OTHERS_LABELS), refused), (labelled(mine, *OWN_LABELS, *OTHERS_LABELS), refused),
        ({**mine, "spec": {"configSource": source}},
         'node "mynode" is not allowed to create pods with a non-nil configSource'),
    ):  # fmt: skip
        assert await kubelet("POST", NODES, "mynode", made) == why, made
    tainted, other = {"taints": [taint]}, {"taints": [{**taint, "value": "B"}]}
    taints = 'node "mynode" is not allowed to modify taints'
    for old, new, why in (
        ({}, {}, MAY), (tainted, tainted, MAY), ({}, tainted, taints), (tainted, {}, taints), (tainted, other, taints),
        ({}, {"configSource": source},
         'node "mynode" is not allowed to update configSource to a new non-nil configSource'),
    ):  # fmt: skip
        held = await client.create(NODES, mine)
        held = await client.update(NODES, {**held, "spec": old})  # without the taint that every new one gets
        assert await kubelet("PUT", NODES, "mynode", {**held, "spec": new}) == why, (old, new)
        assert await kubelet("PUT", NODES, "mynode", held, sub="status") == MAY
        assert await kubelet("DELETE", NODES, "mynode") == MAY
        await client.delete(NODES, "mynode")
    every, refused = (*OWN_LABELS, *OTHERS_LABELS), f"is not allowed to modify labels: {SORTED}"
    for before, after, value, why in (
        ((), OWN_LABELS, "value", MAY), (OWN_LABELS, (), "value", MAY), (OWN_LABELS, OWN_LABELS, "b", MAY),
        (every, every, "value", MAY), (OTHERS_LABELS, every, "value", MAY), (every, OTHERS_LABELS, "value", MAY),
        ((), OTHERS_LABELS, "value", refused), (OTHERS_LABELS, (), "value", refused),
        (OTHERS_LABELS, OTHERS_LABELS, "b", refused),
    ):  # fmt: skip
        held = await client.create(NODES, labelled(mine, *before))
        changed = labelled(held, *after, value=value)
        for sub in (None, "status"):
            assert await kubelet("PUT", NODES, "mynode", changed, sub=sub) == why, (before, after, sub)
        await client.delete(NODES, "mynode")


async def test_another_node(client: Client, kubelet: Row) -> None:
    held = await client.create(NODES, {"metadata": {"name": "othernode"}})
    why = 'node "mynode" is not allowed to modify node "othernode"'
    assert await kubelet("PUT", NODES, "othernode", held) == why
    assert await kubelet("PUT", NODES, "othernode", held, sub="status") == why
    assert await kubelet("DELETE", NODES, "othernode") == why
    await client.delete(NODES, "othernode")
    assert await kubelet("POST", NODES, "othernode", {"metadata": {"name": "othernode"}}) == why


async def test_what_is_named_after_it(client: Client, kubelet: Row) -> None:
    lease = "can only access node lease with the same name as the requesting node"
    for namespace, name, why in (
        ("default", "mynode", 'can only access leases in the "kube-node-lease" system namespace'),
        ("kube-node-lease", "foo", lease), ("kube-node-lease", "mynode", MAY),
    ):  # fmt: skip
        body: Object = {"metadata": {"name": name}, "spec": {"holderIdentity": "mynode", "leaseDurationSeconds": 40}}
        assert await kubelet("POST", LEASES, name, body, namespace=namespace) == why
        held = await client.create(LEASES, body, namespace=namespace)
        assert await kubelet("PUT", LEASES, name, held, namespace=namespace) == why
        assert await kubelet("DELETE", LEASES, name, namespace=namespace) == why
    for name, why in (
        ("foo", "can only access CSINode with the same name as the requesting node"), ("mynode", MAY),
    ):  # fmt: skip
        body = {"metadata": {"name": name}, "spec": {"drivers": []}}
        assert await kubelet("POST", CSI_NODES, name, body) == why
        held = await client.create(CSI_NODES, body)
        assert await kubelet("PUT", CSI_NODES, name, held) == why
        assert await kubelet("DELETE", CSI_NODES, name) == why


async def test_slices(client: Client, kubelet: Row) -> None:
    """A changed slice is the authorizer's matter, whoever's it is."""
    for place, own in (("mynode", True), ("other", False), (None, False)):
        spec: Object = {"driver": "d.example.com", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}
        spec |= {"nodeName": place} if place else {"allNodes": True}
        body = {"metadata": {"name": "something"}, "spec": spec}
        why = "can only {} ResourceSlice with the same NodeName as the requesting node"
        assert await kubelet("POST", SLICES, "something", body) == (MAY if own else why.format("create"))
        held = await client.create(SLICES, body)
        assert await kubelet("PUT", SLICES, "something", held) == MAY
        assert await kubelet("DELETE", SLICES, "something") == (MAY if own else why.format("delete"))
        await client.delete(SLICES, "something")


async def test_claims(client: Client, kubelet: Row) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "volumeName": "v", "resources": {"requests": {"storage": "10G"}}}
    await client.create(CLAIMS, {"metadata": {"name": "foo"}, "spec": spec}, namespace="default")
    status: Object = {
        "phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "10G"},
        "allocatedResources": {"storage": "10G"}, "conditions": [{"type": "Resizing", "status": "True"}],
    }  # fmt: skip
    held = await client.get(CLAIMS, "foo", namespace="default")
    held = await client.update_status(CLAIMS, {**held, "status": status})
    assert await kubelet("PUT", CLAIMS, "foo", held, namespace="default") == "may only update PVC status"
    for change in (
        {"conditions": [{"type": "FileSystemResizePending", "status": "True"}]},
        {"allocatedResources": {"storage": "15G"}, "capacity": {"storage": "15G"}},
        {"allocatedResourceStatuses": {"storage": "NodeResizeInfeasible"}},
    ):
        changed = {**held, "status": {**status, **change}}
        assert await kubelet("PUT", CLAIMS, "foo", changed, namespace="default", sub="status") == MAY, change
    for changed in ({**held, "status": {**status, "phase": "Lost"}}, labelled(held, "a")):
        told = await kubelet("PUT", CLAIMS, "foo", changed, namespace="default", sub="status")
        assert told.startswith('node "mynode" is not allowed to update fields other than status.quantity and'), changed


async def test_what_is_not_a_nodes(client: Client, client_for: ClientFor, kubelet: Row) -> None:
    inside: Object = {"namespace": "default"}
    assert await kubelet("POST", CONFIGMAPS, "mycm", config_map("mycm"), **inside) == MAY
    held = await client.create(CONFIGMAPS, config_map("mycm"), namespace="default")
    assert await kubelet("PUT", CONFIGMAPS, "mycm", held, **inside) == MAY
    assert await kubelet("DELETE", CONFIGMAPS, "mycm", **inside) == MAY
    assert await kubelet("POST", SERVICE_ACCOUNTS, "a", account("a"), **inside) == MAY
    bob = Row(client_for("bob", "system:masters"))
    assert await bob("POST", PODS, "web", placed("web", "unbound"), **inside) == MAY
    held = await client.create(PODS, placed("web", "unbound"), namespace="default")
    assert await bob("PUT", PODS, "web", held, **inside) == MAY
    assert await bob("PUT", PODS, "web", held, sub="status", **inside) == MAY
    assert await bob("DELETE", PODS, "web", **inside) == MAY
