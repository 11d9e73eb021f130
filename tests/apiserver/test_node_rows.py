"""Upstream's table of what a kubelet may ask for, row by row (node_authorizer_test.go TestNodeAuthorizer), as reviews
of access: node0 and node1 have a Pod each, with all that a Pod can need."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.errors import ApiError
from engine.api.types import GVR, NODES, PODS, SECRETS, SERVICE_ACCOUNTS, Object
from engine.apiserver.server import ApiServer
from engine.client import Client
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import ClientFor, account, pod
from tests.apiserver.test_admission_configuration import client as client_of

REVIEWS = GVR("authorization.k8s.io", "v1", "subjectaccessreviews")
RULES = GVR("authorization.k8s.io", "v1", "selfsubjectrulesreviews")
CLAIMS = GVR("", "v1", "persistentvolumeclaims")
VOLUMES = GVR("", "v1", "persistentvolumes")
ATTACHMENTS = GVR("storage.k8s.io", "v1", "volumeattachments")
DEVICES = GVR("resource.k8s.io", "v1", "resourceclaims")
SLICES = GVR("resource.k8s.io", "v1", "resourceslices")
GROUPS = {
    "leases": "coordination.k8s.io", "csinodes": "storage.k8s.io", "volumeattachments": "storage.k8s.io",
    "resourceclaims": "resource.k8s.io", "resourceslices": "resource.k8s.io",
    "podcertificaterequests": "certificates.k8s.io", "clustertrustbundles": "certificates.k8s.io",
}  # fmt: skip
MAY = None
UNRELATED = "no relationship found between node 'node0' and this object"
GET_ONE = "can only get individual resources of this type"
LEASE_PLACE = 'can only access leases in the "kube-node-lease" system namespace'
LEASE_NAME = "can only access node lease with the same name as the requesting node"
LEASE_VERB = "can only get, create, update, patch, or delete a node lease"
CSI_NAME = "can only access CSINode with the same name as the requesting node"
CSI_VERB = "can only get, create, update, patch, or delete a CSINode"
SLICE_SELECTOR = "can only list/watch/deletecollection resourceslices with nodeName field selector"
POD_SELECTOR = "can only list/watch pods with spec.nodeName field selector"
ONE_ACCOUNT = "can only create tokens for individual service accounts"
NODE_1 = "node 'node0' cannot read 'node1', only its own Node object"
EVERY_NODE = "node 'node0' cannot read all nodes, only its own Node object"

# `verbs resource[/subresource] namespace/name [field=value]`, a `-` for none, and why not.
ROWS: list[tuple[str, str | None]] = [
    ("get configmaps default/map-node0", MAY),
    ("get,list,watch secrets default/secret-node0", MAY),
    ("list,watch secrets default/-", "No Object name found"),
    ("list secrets -/secret-node0", "can only read namespaced object of this type"),
    ("get secrets default/shared", MAY),
    ("get secrets default/driver-node0", MAY),
    ("get secrets default/share-node0", MAY),
    ("get secrets default/os-node0", MAY),
    ("get secrets default/share-node1", UNRELATED),
    ("get persistentvolumeclaims default/claim-node0", MAY),
    ("get resourceclaims default/devices-node0", MAY),
    ("get resourceclaims default/made-node0", MAY),
    ("get persistentvolumes -/volume-node0", MAY),
    ("get configmaps default/map-node1", UNRELATED),
    ("get secrets default/secret-node1", UNRELATED),
    ("get secrets default/driver-node1", UNRELATED),
    ("get secrets other/secret-node0", UNRELATED),
    ("get persistentvolumeclaims default/claim-node1", UNRELATED),
    ("get resourceclaims default/devices-node1", UNRELATED),
    ("get resourceclaims default/made-node1", UNRELATED),
    ("get persistentvolumes -/volume-node1", UNRELATED),
    ("get persistentvolumes default/volume-node0", UNRELATED),
    ("get persistentvolumes -/-", "No Object name found"),
    ("list persistentvolumes -/-", GET_ONE),
    ("watch resourceclaims default/devices-node0", GET_ONE),
    ("get persistentvolumes/status -/volume-node0", "cannot get subresource"),
    ("update,patch persistentvolumeclaims/status default/claim-node0", MAY),
    ("get persistentvolumeclaims/status default/claim-node0", "can only get/update/patch this type"),
    ("patch persistentvolumeclaims/status default/claim-node1", UNRELATED),
    ("get volumeattachments -/attached-node0", MAY),
    ("get volumeattachments -/attached-node1", UNRELATED),
    ("get volumeattachments default/attached-node0", UNRELATED),
    ("create serviceaccounts/token default/account-node0", MAY),
    ("create serviceaccounts/token default/account-node1", UNRELATED),
    ("create serviceaccounts default/account-node0", "can only create token subresource of serviceaccount"),
    ("update serviceaccounts/token default/account-node0", ONE_ACCOUNT),
    ("create serviceaccounts/token default/-", ONE_ACCOUNT),
    ("get serviceaccounts default/account-node0", MAY),
    ("get serviceaccounts default/account-node1", UNRELATED),
    ("get serviceaccounts default/-", "No Object name found"),
    ("list,watch serviceaccounts default/account-node0", ONE_ACCOUNT),
    ("get,create,update,patch,delete leases foo/node0", LEASE_PLACE),
    ("get,update,patch,delete leases kube-node-lease/node1", LEASE_NAME),
    ("list,watch,deletecollection leases kube-node-lease/-", LEASE_VERB),
    ("get,create,update,patch,delete leases kube-node-lease/node0", MAY),
    ("get csinodes/csiDrivers -/node0", "cannot authorize CSINode subresources"),
    ("get,update,patch,delete csinodes -/node1", CSI_NAME),
    ("list,watch csinodes -/-", CSI_VERB),
    ("get,create,update,patch,delete csinodes -/node0", MAY),
    ("get resourceslices/status -/slice-node0", "cannot authorize ResourceSlice subresources"),
    ("get,update,patch,delete resourceslices -/slice-node1", UNRELATED),
    ("get,update,patch,delete,create resourceslices -/slice-node0", MAY),
    ("list,watch,deletecollection resourceslices -/- nodeName=node0", MAY),
    ("list,watch,deletecollection resourceslices -/-", SLICE_SELECTOR),
    ("list resourceslices -/- nodeName=node1", SLICE_SELECTOR),
    (
        "bind resourceslices -/slice-node0",
        "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, "
        "deletecollection",
    ),
    ("get pods default/pod-node0", MAY),
    ("get pods default/pod-node1", UNRELATED),
    ("list,watch pods -/- spec.nodeName=node0", MAY),
    ("list,watch pods default/pod-node0", MAY),
    ("list,watch pods default/pod-node1", UNRELATED),
    ("list,watch pods -/-", POD_SELECTOR),
    ("create pods default/-", MAY),
    ("create pods/proxy default/-", ""),
    ("delete pods default/pod-node0", MAY),
    ("delete pods default/pod-node1", MAY),
    ("delete pods/proxy default/pod-node0", ""),
    ("update,patch pods/status default/pod-node0", MAY),
    ("update,patch pods/status default/pod-node1", MAY),
    ("get pods/status default/pod-node0", ""),
    ("create pods/eviction default/pod-node0", MAY),
    ("create pods/eviction default/pod-node1", MAY),
    ("get,list,watch nodes -/node0", MAY),
    ("get,list,watch nodes -/node1", NODE_1),
    ("list,watch nodes -/-", EVERY_NODE),
    ("create nodes -/-", MAY),
    ("update,patch nodes -/node0", MAY),
    ("update,patch nodes -/node1", MAY),
    ("delete nodes -/node0", ""),
    ("update,patch nodes/status -/node0", MAY),
    ("update,patch nodes/status -/node1", MAY),
    ("get nodes/status -/node0", ""),
    ("create podcertificaterequests default/-", MAY),
    ("list,watch podcertificaterequests -/- spec.nodeName=node0", MAY),
    ("list,watch podcertificaterequests -/-", "can only list/watch podcertificaterequests with spec.nodeName field "
     "selector"),
    (
        "create podcertificaterequests/status default/-",
        "nodes may not access the status subresource of PodCertificateRequests",
    ),
    ("get,list,watch clustertrustbundles -/-", MAY),
    ("get,list,watch services default/-", MAY),
    ("delete services default/web", ""),
]  # fmt: skip


async def equip(client: Client, node: str) -> None:
    """A node, what a Pod of it needs, and the Pod."""
    await client.create(NODES, {"metadata": {"name": node}})
    for name in (f"secret-{node}", f"driver-{node}"):
        await client.create(SECRETS, {"metadata": {"name": name}}, namespace="default")
    await client.create(SERVICE_ACCOUNTS, account(f"account-{node}"), namespace="default")
    driver = {"driver": "csi.example.com", "volumeHandle": node}
    size = {"storage": "1Gi"}
    modes = ["ReadWriteOnce"]
    published = {"name": f"driver-{node}", "namespace": "default"}
    volume: Object = {
        "metadata": {"name": f"volume-{node}"},
        "spec": {
            "capacity": size, "accessModes": modes, "csi": {**driver, "nodePublishSecretRef": published},
            "claimRef": {"namespace": "default", "name": f"claim-{node}"},
        },
    }  # fmt: skip
    await client.create(VOLUMES, volume)
    shared = {"azureFile": {"shareName": "s", "secretName": f"share-{node}"}}
    old = {"storageos": {"volumeName": "v", "secretRef": {"namespace": "default", "name": f"os-{node}"}}}
    for kind in (shared, old):
        of_claim = {field: volume["spec"][field] for field in ("capacity", "accessModes", "claimRef")}
        await client.create(
            VOLUMES, {"metadata": {"name": f"{next(iter(kind)).lower()}-{node}"}, "spec": of_claim | kind}
        )
    claim = {"accessModes": modes, "resources": {"requests": size}, "volumeName": f"volume-{node}"}
    await client.create(CLAIMS, {"metadata": {"name": f"claim-{node}"}, "spec": claim}, namespace="default")
    for name in (f"devices-{node}", f"made-{node}"):
        await client.create(DEVICES, {"metadata": {"name": name}, "spec": {}}, namespace="default")
    source = {"persistentVolumeName": f"volume-{node}"}
    attached = {"attacher": "csi.example.com", "nodeName": node, "source": source}
    await client.create(ATTACHMENTS, {"metadata": {"name": f"attached-{node}"}, "spec": attached})
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    published_devices = {"driver": "gpu.example.com", "nodeName": node, "pool": pool, "devices": []}
    await client.create(SLICES, {"metadata": {"name": f"slice-{node}"}, "spec": published_devices})
    spec: dict[str, Any] = {
        "nodeName": node, "serviceAccountName": f"account-{node}", "imagePullSecrets": [{"name": "shared"}],
        "volumes": [
            {"name": "map", "configMap": {"name": f"map-{node}"}},
            {"name": "secret", "secret": {"secretName": f"secret-{node}"}},
            {"name": "claim", "persistentVolumeClaim": {"claimName": f"claim-{node}"}},
        ],
        "resourceClaims": [
            {"name": "named", "resourceClaimName": f"devices-{node}"},
            {"name": "made", "resourceClaimTemplateName": "template"},
        ],
    }  # fmt: skip
    made = await client.create(PODS, pod(f"pod-{node}", **spec), namespace="default")
    claims = [{"name": "made", "resourceClaimName": f"made-{node}"}]
    await client.update_status(PODS, {**made, "status": {**made["status"], "resourceClaimStatuses": claims}})


async def asked(client: Client, row: str, user: str = "system:node:node0") -> list[Object]:
    """The status of the review of each verb of a row."""
    verbs, target, place, *selector = row.split(" ")
    resource, _, subresource = target.partition("/")
    namespace, name = (part.replace("-", "", 1) if part == "-" else part for part in place.split("/"))
    attributes: Object = {
        "group": GROUPS.get(resource, ""), "resource": resource, "subresource": subresource, "namespace": namespace,
        "name": name,
    }  # fmt: skip
    if selector:
        attributes["fieldSelector"] = {"rawSelector": selector[0]}
    found = []
    for verb in verbs.split(","):
        spec = {"user": user, "groups": ["system:nodes"], "resourceAttributes": {**attributes, "verb": verb}}
        found.append((await client.create(REVIEWS, {"spec": spec}))["status"])
    return found


async def test_what_a_kubelet_may(client: Client, default_account: Object) -> None:
    for node in ("node0", "node1"):
        await equip(client, node)
    for row, why in ROWS:
        wanted: Object = {"allowed": True} if why is None else {"allowed": False, **({"reason": why} if why else {})}
        for status in await asked(client, row):
            assert status == wanted, row


async def test_a_kubelet_of_no_name_is_of_no_node(client: Client) -> None:
    for status in await asked(client, "get nodes -/node0", user="system:node:"):
        assert status == {"allowed": False, "reason": 'unknown node for user "system:node:"'}


async def test_what_a_kubelet_may_cannot_be_listed(client_for: ClientFor) -> None:
    review = {"spec": {"namespace": "default"}}
    status = (await client_for("system:node:node0", "system:nodes").create(RULES, review))["status"]
    told = status["incomplete"], status["evaluationError"]
    assert told == (True, "node authorizer does not support user rule resolution")
    status = (await client_for("jane").create(RULES, review))["status"]
    assert (status["incomplete"], status.get("evaluationError")) == (False, None)


@pytest.mark.parametrize(
    ("version", "why"), [("1.32.0", ONE_ACCOUNT), ("1.33.0", "not allowed to get service accounts"), ("1.34.0", MAY)]
)
async def test_kubelets_read_accounts_since(world: World, store: SqliteStore, version: str, why: str | None) -> None:
    server = ApiServer(world, store, config=ClusterConfig(kubernetes_version=version))
    await server.start()
    client = client_of(server)
    await client.create(SERVICE_ACCOUNTS, account("default"), namespace="default")
    await client.create(PODS, pod(nodeName="node0"), namespace="default")
    (status,) = await asked(client, "get serviceaccounts default/default")
    assert (status["allowed"], status.get("reason")) == (why is None, why)
    await server.stop()


async def test_before_selectors_counted_kubelets_read_all(world: World, store: SqliteStore) -> None:
    """The rows of the table with "selector disabled"."""
    server = ApiServer(world, store, config=ClusterConfig(kubernetes_version="1.31.0"))
    await server.start()
    rows = ("get pods default/pod-node1", "list,watch pods -/-", "get nodes -/node1", "list,watch nodes -/-",
            "list,watch resourceslices -/-")  # fmt: skip
    for row in rows:
        for status in await asked(client_of(server), row):
            assert status == {"allowed": True}, row
    await server.stop()


async def test_of_a_pods_status_its_claims_are_not_the_kubelets(
    client: Client, client_for: ClientFor, default_account: Object
) -> None:
    await client.create(NODES, {"metadata": {"name": "node0"}})
    app = {"name": "app", "image": "nginx:1", "resources": {"limits": {"example.com/gpu": "1"}}}
    await client.create(PODS, pod(nodeName="node0", containers=[app]), namespace="default")
    kubelet = client_for("system:node:node0", "system:nodes")
    mapping = {"containerName": "app", "resourceName": "example.com/gpu", "requestName": "r"}
    patch = {"status": {"extendedResourceClaimStatus": {"resourceClaimName": "x", "requestMappings": [mapping]}}}
    with pytest.raises(ApiError) as caught:
        await kubelet.patch(PODS, "web", patch, namespace="default", subresource="status")
    assert caught.value.message == 'pods "web" is forbidden: node "node0" cannot update extended resource claim status'
    await client.patch(PODS, "web", patch, namespace="default", subresource="status")
    await kubelet.patch(PODS, "web", {"status": {"message": "m"}}, namespace="default", subresource="status")
