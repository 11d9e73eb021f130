"""What a kubelet may ask for, and what its plugin refuses (node_authorizer_test.go, noderestriction)."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, GVR, LEASES, NODES, PODS, SECRETS, SERVICE_ACCOUNTS, Object
from engine.apiserver.admission.node_pods import reference_refusal
from engine.client import Client
from tests.apiserver.conftest import ClientFor, config_map, pod
from tests.apiserver.conftest import account as service_account

CLAIMS = GVR("", "v1", "persistentvolumeclaims")
CSI_NODES = GVR("storage.k8s.io", "v1", "csinodes")
UNRELATED = "no relationship found between node 'node-1' and this object"
SOURCES = [
    {"name": "secret", "secret": {"secretName": "volume"}},
    {"name": "map", "configMap": {"name": "volume"}},
    {"name": "both", "projected": {"sources": [{"secret": {"name": "projected"}}, {"configMap": {"name": "part"}}]}},
    {"name": "claim", "persistentVolumeClaim": {"claimName": "disk"}},
]


@pytest.fixture
async def kubelet(client: Client, client_for: ClientFor, default_account: Object) -> Client:
    """Of node-1, which one Pod with something of everything is bound to; another is bound to node-2."""
    for name in ("node-1", "node-2"):
        await client.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
    for name in ("volume", "projected", "environment", "pull", "other"):
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}}
        await client.create(SECRETS, secret, namespace="default")
        await client.create(CONFIGMAPS, config_map(name), namespace="default")
    await client.create(CONFIGMAPS, config_map("part"), namespace="default")
    await client.create(SERVICE_ACCOUNTS, service_account("robot"), namespace="default")
    claim = {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "disk"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }  # fmt: skip
    await client.create(CLAIMS, claim, namespace="default")
    mine = pod("mine", nodeName="node-1", volumes=SOURCES, imagePullSecrets=[{"name": "pull"}])
    mine["spec"]["containers"][0]["envFrom"] = [
        {"secretRef": {"name": "environment"}}, {"configMapRef": {"name": "environment"}},
    ]  # fmt: skip
    await client.create(PODS, mine, namespace="default")
    await client.create(PODS, pod("theirs", nodeName="node-2", serviceAccountName="robot"), namespace="default")
    return client_for("system:node:node-1", "system:nodes")


@pytest.mark.parametrize(
    ("gvr", "name"),
    [
        *((SECRETS, name) for name in ("volume", "projected", "environment", "pull")),
        *((CONFIGMAPS, name) for name in ("volume", "part", "environment")),
        (CLAIMS, "disk"),
        (PODS, "mine"),
    ],
)
async def test_a_kubelet_reads_what_its_pods_need(kubelet: Client, gvr: GVR, name: str) -> None:
    assert (await kubelet.get(gvr, name, namespace="default"))["metadata"]["name"] == name


class Refused(NamedTuple):
    verb: str
    gvr: GVR
    name: str
    why: str
    namespace: str = "default"


REFUSED = {
    "a secret of nobody": Refused("get", SECRETS, "other", UNRELATED),
    "a config map of nobody": Refused("get", CONFIGMAPS, "other", UNRELATED),
    "all secrets": Refused("list", SECRETS, "", "No Object name found"),
    "writing a secret": Refused("delete", SECRETS, "volume", "can only read resources of this type"),
    "all claims": Refused("list", CLAIMS, "", "can only get individual resources of this type"),
    "another's Pod": Refused("get", PODS, "theirs", UNRELATED),
    "all Pods": Refused("list", PODS, "", "can only list/watch pods with spec.nodeName field selector"),
    "another node": Refused("get", NODES, "node-2", "node 'node-1' cannot read 'node-2', only its own Node object", ""),
    "all nodes": Refused("list", NODES, "", "node 'node-1' cannot read all nodes, only its own Node object", ""),
    "leases of another namespace": Refused(
        "get", LEASES, "node-1", 'can only access leases in the "kube-node-lease" system namespace'
    ),
    "another's lease": Refused(
        "get", LEASES, "node-2", "can only access node lease with the same name as the requesting node",
        "kube-node-lease",
    ),
    "another's CSINode": Refused(
        "get", CSI_NODES, "node-2", "can only access CSINode with the same name as the requesting node", ""
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
async def test_a_kubelet_is_refused_the_rest(kubelet: Client, case: Refused) -> None:
    method = "DELETE" if case.verb == "delete" else "GET"
    with pytest.raises(ApiError) as caught:
        await kubelet.request(method, case.gvr.path(case.namespace or None, case.name or None))
    assert caught.value.code == 403
    assert caught.value.message.endswith(f": {case.why}")


async def test_a_kubelet_lists_its_own(kubelet: Client) -> None:
    mine = await kubelet.list(PODS, field_selector="spec.nodeName=node-1")
    assert [each["metadata"]["name"] for each in mine.items] == ["mine"]
    itself = await kubelet.list(NODES, field_selector="metadata.name=node-1")
    assert len(itself.items) == 1
    with pytest.raises(ApiError, match="can only list/watch pods"):
        await kubelet.list(PODS, field_selector="spec.nodeName!=node-1")


async def token(kubelet: Client, account: str, /, **bound: str) -> Object:
    spec: dict[str, Any] = {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", **bound}} if bound else {}
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    return await kubelet.create(SERVICE_ACCOUNTS, body, namespace="default", name=account, subresource="token")


async def test_a_kubelet_asks_for_tokens_of_its_pods_alone(client: Client, kubelet: Client) -> None:
    mine = await client.get(PODS, "mine", namespace="default")
    assert (await token(kubelet, "default", name="mine", uid=mine["metadata"]["uid"]))["status"]["token"]
    with pytest.raises(ApiError, match="node requested token not bound to a pod"):
        await token(kubelet, "default")
    with pytest.raises(ApiError, match="node requested token with a pod binding without a uid"):
        await token(kubelet, "default", name="mine")
    with pytest.raises(ApiError, match="does not match the UID in record"):
        await token(kubelet, "default", name="mine", uid="another")
    with pytest.raises(ApiError, match=UNRELATED):
        await token(kubelet, "robot", name="mine", uid=mine["metadata"]["uid"])
    theirs = await client.get(PODS, "theirs", namespace="default")
    with pytest.raises(ApiError, match="node requested token bound to a pod scheduled on a different node"):
        await token(kubelet, "default", name="theirs", uid=theirs["metadata"]["uid"])


OWNER = {"apiVersion": "v1", "kind": "Node", "name": "node-1", "controller": True}
MIRROR_PODS = {
    "no owner": ([], {}, "can only create pods with an owner reference set to itself"),
    "two owners": ([OWNER, {**OWNER, "uid": "2"}], {}, "can only create pods with a single owner reference"),
    "another owner": ([{**OWNER, "name": "node-2"}], {}, "can only create pods with an owner reference set to itself"),
    "no controller": (
        [{**OWNER, "controller": False}], {}, "can only create pods with a controller owner reference set to itself",
    ),
    "a blocking owner": (
        [{**OWNER, "blockOwnerDeletion": True}], {}, "must not set blockOwnerDeletion on an owner reference"
    ),
    "another uid, before what is referred to": (
        [{**OWNER, "uid": "another"}], {"volumes": [SOURCES[1]]}, "UID mismatch: expected another got"
    ),
    "a config map": ([OWNER], {"volumes": [SOURCES[1]]}, "can not create pods that reference configmaps"),
    "a claim": ([OWNER], {"volumes": [SOURCES[3]]}, "can not create pods that reference persistentvolumeclaims"),
}  # fmt: skip


@pytest.mark.parametrize(("owners", "spec", "why"), MIRROR_PODS.values(), ids=MIRROR_PODS.keys())
async def test_a_mirror_pod_is_the_nodes_own(
    client: Client, kubelet: Client, owners: list[Object], spec: Object, why: str
) -> None:
    uid = (await client.get(NODES, "node-1"))["metadata"]["uid"]

    def mirror(name: str, owners: list[Object], **spec: Any) -> Object:
        made = pod(name, nodeName="node-1", **spec)
        made["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "hash"}
        made["metadata"]["ownerReferences"] = [{"uid": uid, **owner} for owner in owners]
        return made

    with pytest.raises(ApiError, match=why):
        await kubelet.create(PODS, mirror("bad", owners, **spec), namespace="default")
    await kubelet.create(PODS, mirror("good", [OWNER]), namespace="default")


REFERENCES: dict[str, tuple[Object, str]] = {
    "an account": ({"serviceAccountName": "a"}, "serviceaccounts"),
    "a claim on devices": ({"resourceClaims": [{"name": "a", "resourceClaimName": "b"}]}, "resourceclaims"),
    "a secret of no name": ({"volumes": [{"name": "v", "secret": {}}]}, "secrets (via secret volumes)"),
    "a driver": ({"volumes": [{"name": "v", "csi": {"driver": "d"}}]}, "csidrivers (via CSI volumes)"),
    "endpoints": ({"volumes": [{"name": "v", "glusterfs": {}}]}, "endpoints (via glusterFS volumes)"),
    "a claim of its own": (
        {"volumes": [{"name": "v", "ephemeral": {}}]}, "persistentvolumeclaims (via ephemeral volumes)"
    ),
    "a share": ({"volumes": [{"name": "v", "azureFile": {}}]}, "secrets (via azureFile volumes)"),
    "a token, after fields of its own": (
        {"volumes": [{"name": "v", "projected": {"sources": [{"downwardAPI": {}}, {"serviceAccountToken": {}}]}}]},
        "serviceaccounts (via projected volumes)",
    ),
    "a certificate": (
        {"volumes": [{"name": "v", "projected": {"sources": [{"podCertificate": {}}]}}]}, "podcertificates"
    ),
    "a map of no name": ({"volumes": [{"name": "v", "configMap": {}}]}, "configmaps (via configmap volumes)"),
    "trusted bundles": (
        {"volumes": [{"name": "v", "projected": {"sources": [{"clusterTrustBundle": {}}]}}]}, "clustertrustbundles"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFERENCES)
def test_a_mirror_pod_refers_to_nothing(name: str) -> None:
    spec, what = REFERENCES[name]
    made = pod("a", nodeName="node-1", **spec)
    assert reference_refusal(made, "node-1") == f'node "node-1" can not create pods that reference {what}'


@pytest.mark.parametrize("source", ["hostPath", "emptyDir", "downwardAPI", "nfs", "image", "portworxVolume"])
def test_a_mirror_pod_has_what_is_on_its_node(source: str) -> None:
    made = pod("a", nodeName="node-1", volumes=[{"name": "v", source: {}}])
    assert reference_refusal(made, "node-1") == ""


async def test_a_kubelet_reports_of_a_claim_what_it_sees(kubelet: Client) -> None:
    async def report(**patch: Any) -> Object:
        return await kubelet.patch(CLAIMS, "disk", patch, namespace="default", subresource="status")

    await report(status={"capacity": {"storage": "2Gi"}})
    with pytest.raises(ApiError, match=r"not allowed to update fields other than status\.quantity and"):
        await report(status={"phase": "Bound"})


async def test_a_kubelet_does_not_change_its_taints_or_foreign_labels(kubelet: Client) -> None:
    with pytest.raises(ApiError, match=r'node "node-1" is not allowed to modify taints'):
        await kubelet.patch(NODES, "node-1", {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}})
    labels = {"x.k8s.io/b": "", "node-restriction.kubernetes.io/a": "", "own.example.com/c": ""}
    with pytest.raises(
        ApiError, match=r"is not allowed to modify labels: node-restriction\.kubernetes\.io/a, x\.k8s\.io/b"
    ):
        await kubelet.patch(NODES, "node-1", {"metadata": {"labels": labels}})
