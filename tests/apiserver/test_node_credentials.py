"""What tokens and certificates a kubelet may ask for.

Source: plugin/pkg/admission/noderestriction admission_test.go, test/integration/auth node_test.go.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from engine.api.errors import ApiError
from engine.api.types import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, GVR, NODES, PODS, SERVICE_ACCOUNTS, Object
from engine.client import Client
from tests.apiserver.conftest import ClientFor, pod

CLAIMS = GVR("", "v1", "persistentvolumeclaims")
VOLUMES = GVR("", "v1", "persistentvolumes")
DRIVERS = GVR("storage.k8s.io", "v1", "csidrivers")
SIGNING = GVR("certificates.k8s.io", "v1", "certificatesigningrequests")
POD_CERTIFICATES = GVR("certificates.k8s.io", "v1", "podcertificaterequests")
RBAC = "rbac.authorization.k8s.io"


@pytest.fixture
async def node(client: Client) -> Object:
    return await client.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}})


@pytest.fixture
def kubelet(client_for: ClientFor, node: Object, default_account: Object) -> Client:
    return client_for("system:node:node-1", "system:nodes")


def _claim(name: str, volume: str) -> Object:
    spec = {"accessModes": ["ReadOnlyMany"], "resources": {"requests": {"storage": "1"}}, "volumeName": volume}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def _volume(name: str, source: Object) -> Object:
    spec = {"accessModes": ["ReadOnlyMany"], "capacity": {"storage": "1"}, **source}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


def _driver(name: str, *audiences: str) -> Object:
    requests = [{"audience": audience} for audience in audiences]
    return {
        "apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": name},
        "spec": {"tokenRequests": requests},
    }  # fmt: skip


NOT_FOUND = (
    'audience "{}" not found in pod spec volume, system:node:node-1 is not authorized to request tokens for this '
    "audience"
)
PROJECTED = {"projected": {"sources": [{"serviceAccountToken": {"path": "t", "audience": "vault"}}]}}
AUDIENCES: dict[str, tuple[Object | None, list[str], str]] = {
    "the API server's, for the account's token": (None, [], ""),
    "one that nothing names": (None, ["vault"], NOT_FOUND.format("vault")),
    "two": (PROJECTED, ["vault", "other"], "node may only request 0 or 1 audiences"),
    "a projected token's": (PROJECTED, ["vault"], ""),
    "a driver's": ({"csi": {"driver": "known.example.com"}}, ["driver"], ""),
    "another than the driver's": ({"csi": {"driver": "known.example.com"}}, ["other"], NOT_FOUND.format("other")),
    "of a driver that is not there": (
        {"csi": {"driver": "gone.example.com"}}, ["driver"],
        'error validating audience "driver": csidriver.storage.k8s.io "gone.example.com" not found',
    ),
    "a claim's driver's": ({"persistentVolumeClaim": {"claimName": "bound"}}, ["driver"], ""),
    "of a claim that is not there": (
        {"persistentVolumeClaim": {"claimName": "gone"}}, ["driver"],
        'error validating audience "driver": persistentvolumeclaim "gone" not found',
    ),
    "of a claim that waits": (
        {"persistentVolumeClaim": {"claimName": "waits"}}, ["driver"],
        'error validating audience "driver": persistentvolume "" not found',
    ),
    "an ephemeral claim's driver's": ({"ephemeral": {"volumeClaimTemplate": {"spec": _claim("", "")["spec"]}}},
        ["driver"], ""),
    "of a volume that a driver took over": ({"persistentVolumeClaim": {"claimName": "share"}}, ["shares"], ""),
    "of a volume of the Pod's that a driver took over": (
        {"azureFile": {"shareName": "s", "secretName": "s"}}, ["shares"], ""
    ),
}  # fmt: skip


async def _token(kubelet: Client, bound: Object, audiences: list[str]) -> Object:
    reference = {"apiVersion": "v1", "kind": "Pod", "name": bound["metadata"]["name"], "uid": bound["metadata"]["uid"]}
    spec = {"boundObjectRef": reference, "audiences": audiences}
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    return await kubelet.create(SERVICE_ACCOUNTS, body, namespace="default", name="default", subresource="token")


async def test_tokens_are_for_who_a_pod_names(client: Client, kubelet: Client) -> None:
    for driver in (_driver("known.example.com", "driver"), _driver("file.csi.azure.com", "shares")):
        await client.create(DRIVERS, driver)
    csi = {"csi": {"driver": "known.example.com", "volumeHandle": "h"}}
    share = {"azureFile": {"shareName": "s", "secretName": "s", "secretNamespace": "default"}}
    await client.create(VOLUMES, _volume("disk", csi))
    await client.create(VOLUMES, _volume("share", share))
    for name, volume in (("bound", "disk"), ("share", "share"), ("waits", ""), ("p10-v", "disk")):
        await client.create(CLAIMS, _claim(name, volume), namespace="default")
    for number, (case, (source, audiences, why)) in enumerate(AUDIENCES.items()):
        volumes = [{"name": "v", **source}] if source is not None else []
        made = pod(f"p{number}", nodeName="node-1", volumes=volumes)
        bound = await client.create(PODS, made, namespace="default")
        if not why:
            assert (await _token(kubelet, bound, audiences))["status"]["token"], case
            continue
        with pytest.raises(ApiError) as caught:
            await _token(kubelet, bound, audiences)
        assert caught.value.message == f'serviceaccounts "default" is forbidden: {why}', case


async def test_who_has_the_verb_may_have_a_token_for_anybody(client: Client, kubelet: Client) -> None:
    bound = await client.create(PODS, pod(nodeName="node-1"), namespace="default")
    rule = {
        "apiGroups": [""], "resources": ["vault"], "verbs": ["request-serviceaccounts-token-audience"],
        "resourceNames": ["default"],
    }  # fmt: skip
    role = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": "audience"}, "rules": [rule]}
    await client.create(CLUSTER_ROLES, role)
    binding = {
        "apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "audience"},
        "subjects": [{"kind": "User", "apiGroup": RBAC, "name": "system:node:node-1"}],
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "audience"},
    }  # fmt: skip
    await client.create(CLUSTER_ROLE_BINDINGS, binding)
    assert (await _token(kubelet, bound, ["vault"]))["status"]["token"]
    with pytest.raises(ApiError, match='audience "other" not found in pod spec volume'):
        await _token(kubelet, bound, ["other"])


def _request(common_name: str) -> str:
    names = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "system:nodes"),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
        ]
    )
    key = ec.generate_private_key(ec.SECP256R1())
    request = x509.CertificateSigningRequestBuilder().subject_name(names).sign(key, hashes.SHA256())
    return b64encode(request.public_bytes(serialization.Encoding.PEM)).decode()


EMPTY = b64encode(b"-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----\n").decode()
KUBELET, SERVING = "kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving"
SIGNING_REQUESTS = {
    "its own, as a client": (KUBELET, "system:node:node-1", ""),
    "its own, as a server": (SERVING, "system:node:node-1", ""),
    "of another signer": ("example.com/any", "somebody", ""),
    "another node's": (SERVING, "system:node:node-2", "can only create a node CSR with CN=system:node:node-1"),
    "one that cannot be read": (SERVING, None, "unable to parse csr: asn1: syntax error: sequence truncated"),
}


@pytest.mark.parametrize("case", SIGNING_REQUESTS)
async def test_certificates_are_in_the_nodes_own_name(kubelet: Client, case: str) -> None:
    signer, name, why = SIGNING_REQUESTS[case]
    usages = ["digital signature", "client auth" if signer == KUBELET else "server auth"]
    spec = {"signerName": signer, "request": _request(name) if name else EMPTY, "usages": usages}
    body = {
        "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": "csr"},
        "spec": spec,
    }  # fmt: skip
    if not why:
        await kubelet.create(SIGNING, body)
        return
    with pytest.raises(ApiError) as caught:
        await kubelet.create(SIGNING, body)
    assert caught.value.message == f'certificatesigningrequests.certificates.k8s.io "csr" is forbidden: {why}'


async def test_a_kubelet_gives_its_node_no_owners(kubelet: Client) -> None:
    owners = [{"apiVersion": "v1", "kind": "Node", "name": "other", "uid": "x"}]
    with pytest.raises(ApiError, match='node "node-1" is not allowed to modify ownerReferences'):
        await kubelet.patch(NODES, "node-1", {"metadata": {"ownerReferences": owners}})


POD_REQUESTS: dict[str, tuple[Object, int, str]] = {
    "another node's": (
        {"nodeName": "node-2"}, 403,
        'PodCertificateRequest.Spec.NodeName="node-2", which is not the requesting node "node-1"',
    ),
    "a node of before": (
        {"nodeUID": "before"}, 500,
        'PodCertificateRequest for pod "default/web" names node UID "before", inconsistent with the running node (',
    ),
    "no Pod that there is": (
        {"podName": "gone"}, 500,
        'while retrieving pod "default/gone" named in the PodCertificateRequest: pod "gone" not found',
    ),
    "a Pod of before": (
        {"podUID": "before"}, 500,
        'PodCertificateRequest for pod "default/web" contains pod UID ("before") which differs from running pod "',
    ),
    "another account": (
        {"serviceAccountName": "robot"}, 403,
        'PodCertificateRequest for pod "default/web" contains serviceAccountName ("robot") that differs from running '
        'pod ("default")',
    ),
    "an account of before": (
        {"serviceAccountUID": "before"}, 500,
        'PodCertificateRequest for pod "default/web" names service account UID "before", which differs from the '
        "running service account (",
    ),
    "a signer that the Pod does not name": ({"signerName": "example.com/b"}, 403, 'signer "example.com/b" not found'),
}  # fmt: skip


async def test_certificates_of_pods_are_for_pods_of_the_node(
    client: Client, kubelet: Client, node: Object, default_account: Object
) -> None:
    source = {"signerName": "example.com/a", "keyType": "ED25519", "credentialBundlePath": "c.pem"}
    volumes = [{"name": "v", "projected": {"sources": [{"podCertificate": source}]}}]
    bound = await client.create(PODS, pod(nodeName="node-1", volumes=volumes), namespace="default")
    key = ec.generate_private_key(ec.SECP256R1())
    stub = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key, hashes.SHA256())
    good: dict[str, Any] = {
        "signerName": "example.com/a", "podName": "web", "podUID": bound["metadata"]["uid"],
        "serviceAccountName": "default", "serviceAccountUID": default_account["metadata"]["uid"],
        "nodeName": "node-1", "nodeUID": node["metadata"]["uid"], "maxExpirationSeconds": 3600,
        "stubPKCS10Request": b64encode(stub.public_bytes(serialization.Encoding.DER)).decode(),
    }  # fmt: skip

    async def ask(change: Object) -> Object:
        kind = {"apiVersion": "certificates.k8s.io/v1", "kind": "PodCertificateRequest"}
        body = {**kind, "metadata": {"generateName": "r-"}, "spec": {**good, **change}}
        return await kubelet.create(POD_CERTIFICATES, body, namespace="default")

    for case, (change, code, why) in POD_REQUESTS.items():
        with pytest.raises(ApiError) as caught:
            await ask(change)
        assert (caught.value.code, why in caught.value.message) == (code, True), (case, caught.value.message)
    made = await ask({})
    name = made["metadata"]["name"]
    assert (await kubelet.get(POD_CERTIFICATES, name, namespace="default"))["spec"]["podName"] == "web"
    assert len((await kubelet.list(POD_CERTIFICATES, field_selector="spec.nodeName=node-1")).items) == 1
    with pytest.raises(ApiError, match="can only list/watch podcertificaterequests with"):
        await kubelet.list(POD_CERTIFICATES)
