"""Plugins for sandboxes, certificates, nodes, resizes of Pods and of claims (upstream's admission tests)."""

from __future__ import annotations

from base64 import b64encode
from typing import Any, NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from engine.api.errors import ApiError
from engine.api.types import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, GVR, NODES, PODS, Object
from engine.client import Client
from tests.apiserver.conftest import ClientFor, pod

RUNTIME_CLASSES = GVR("node.k8s.io", "v1", "runtimeclasses")
REQUESTS = GVR("certificates.k8s.io", "v1", "certificatesigningrequests")
STORAGE_CLASSES = GVR("storage.k8s.io", "v1", "storageclasses")
CLAIMS = GVR("", "v1", "persistentvolumeclaims")
RBAC = "rbac.authorization.k8s.io"
OVERHEAD = {"cpu": "100m", "memory": "1"}
MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"


def runtime_class(**more: object) -> Object:
    return {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "kata"},
        "handler": "kata",
        **more,
    }


class Sandboxed(NamedTuple):
    classes: dict[str, Any]
    spec: dict[str, Any]
    expected: dict[str, Any]


def tolerating(key: str, **more: object) -> Object:
    return {"key": key, "operator": "Exists", "effect": "NoSchedule", **more}


SANDBOXED = {
    "overhead of the class": Sandboxed({"overhead": {"podFixed": OVERHEAD}}, {}, {"overhead": OVERHEAD}),
    "the same overhead, written otherwise": Sandboxed(
        {"overhead": {"podFixed": OVERHEAD}}, {"overhead": {"cpu": "0.1", "memory": "1"}}, {"overhead": OVERHEAD}
    ),
    "a class without overhead": Sandboxed({}, {}, {"overhead": None}),
    "node selectors together": Sandboxed(
        {"scheduling": {"nodeSelector": {"a": "1"}}}, {"nodeSelector": {"b": "2"}},
        {"nodeSelector": {"a": "1", "b": "2"}},
    ),
    "the Pod's tolerations first, and once": Sandboxed(
        {"scheduling": {"tolerations": [tolerating("a"), tolerating("b")]}},
        {"tolerations": [tolerating("b"), tolerating("c")]},
        {"tolerations": [tolerating("b"), tolerating("c"), tolerating("a")]},
    ),
}  # fmt: skip

REFUSED = {
    "another overhead": Sandboxed(
        {"overhead": {"podFixed": OVERHEAD}}, {"overhead": {"cpu": "200m"}}, {"message": MISMATCH}
    ),
    "an overhead that no class has": Sandboxed(
        {}, {"overhead": OVERHEAD},
        {"message": "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"},
    ),
    "a selector against the class's": Sandboxed(
        {"scheduling": {"nodeSelector": {"a": "1"}}}, {"nodeSelector": {"a": "2"}},
        {"message": "conflict: runtimeClass.scheduling.nodeSelector[a] = 1; pod.spec.nodeSelector[a] = 2"},
    ),
    "no such class": Sandboxed(
        {}, {"runtimeClassName": "gone"}, {"message": 'pod rejected: RuntimeClass "gone" not found'}
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SANDBOXED.values(), ids=SANDBOXED.keys())
async def test_a_pod_takes_what_its_runtime_class_says(
    client: Client, default_account: Object, case: Sandboxed
) -> None:
    await client.create(RUNTIME_CLASSES, runtime_class(**case.classes))
    made = await client.create(PODS, pod(**{"runtimeClassName": "kata", **case.spec}), namespace="default")
    shown = {field: made["spec"].get(field) for field in case.expected}
    if "tolerations" in shown:
        shown["tolerations"] = [each for each in shown["tolerations"] if each["effect"] == "NoSchedule"]
    assert shown == case.expected


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
async def test_a_pod_that_its_runtime_class_does_not_fit(
    client: Client, default_account: Object, case: Sandboxed
) -> None:
    await client.create(RUNTIME_CLASSES, runtime_class(**case.classes))
    with pytest.raises(ApiError) as caught:
        await client.create(PODS, pod(**{"runtimeClassName": "kata", **case.spec}), namespace="default")
    assert (caught.value.code, caught.value.message) == (403, f'pods "web" is forbidden: {case.expected["message"]}')


async def test_a_runtime_class_is_not_asked_for_without_a_name(client: Client, default_account: Object) -> None:
    with pytest.raises(ApiError, match=r"^resource name may not be empty$") as caught:
        await client.create(PODS, pod(runtimeClassName=""), namespace="default")
    assert (caught.value.code, caught.value.reason) == (500, "")


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("a/b", "may not contain '/'"), ("..", "may not be '..'"), ("/%", "may not contain '/' may not contain '%'")],
)
async def test_a_runtime_class_is_not_asked_for_by_what_is_no_part_of_a_path(
    client: Client, default_account: Object, name: str, wrong: str
) -> None:
    with pytest.raises(ApiError) as caught:
        await client.create(PODS, pod(runtimeClassName=name), namespace="default")
    assert (caught.value.code, caught.value.message) == (500, f'invalid resource name "{name}": [{wrong}]')


# -- certificates


def request_of(organization: str) -> str:
    subject = x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization), x509.NameAttribute(NameOID.COMMON_NAME, "jane")]
    )
    request = x509.CertificateSigningRequestBuilder(subject).sign(
        ec.generate_private_key(ec.SECP256R1()), hashes.SHA256()
    )
    return b64encode(request.public_bytes(serialization.Encoding.PEM)).decode()


def signing_request(signer: str, organization: str = "devs") -> Object:
    return {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": "jane"},
        "spec": {"request": request_of(organization), "signerName": signer, "usages": ["client auth"]},
    }


async def let(client: Client, name: str, *rules: Object) -> None:
    """Give jane `rules` in a ClusterRole."""
    role = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": list(rules)}
    await client.create(CLUSTER_ROLES, role)
    binding = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "User", "apiGroup": RBAC, "name": "jane"}],
    }
    await client.create(CLUSTER_ROLE_BINDINGS, binding)


def rule(resources: list[str], verbs: list[str], **more: object) -> Object:
    return {"apiGroups": ["certificates.k8s.io"], "resources": resources, "verbs": verbs, **more}


async def test_only_who_may_approves_a_signers_requests(client: Client, client_for: ClientFor) -> None:
    await client.create(REQUESTS, signing_request("example.com/one"))
    await let(client, "approvals", rule(["certificatesigningrequests/approval"], ["patch", "update"]))
    approval = {"status": {"conditions": [{"type": "Approved", "status": "True", "reason": "Known"}]}}
    jane = client_for("jane")
    with pytest.raises(ApiError) as caught:
        await jane.patch(REQUESTS, "jane", approval, subresource="approval")
    assert caught.value.message == (
        'certificatesigningrequests.certificates.k8s.io "jane" is forbidden: user not permitted to approve requests '
        'with signerName "example.com/one"'
    )
    await let(client, "signers", rule(["signers"], ["approve"], resourceNames=["example.com/*"]))
    approved = await jane.patch(REQUESTS, "jane", approval, subresource="approval")
    assert approved["status"]["conditions"][0]["type"] == "Approved"


async def test_an_approval_takes_labels_and_annotations(client: Client) -> None:
    await client.create(REQUESTS, signing_request("example.com/one"))
    approval = {
        "metadata": {"annotations": {"by": "hand"}, "labels": {"seen": "yes"}},
        "spec": {"signerName": "example.com/other"},
        "status": {"conditions": [{"type": "Seen", "status": "True", "reason": "Read"}], "certificate": "AAAA"},
    }
    approved = await client.patch(REQUESTS, "jane", approval, subresource="approval")
    kept = approved["metadata"]
    assert (kept["annotations"], kept["labels"]) == ({"by": "hand"}, {"seen": "yes"})
    assert approved["spec"]["signerName"] == "example.com/one"
    assert "certificate" not in approved["status"]


async def test_only_who_may_signs(client: Client, client_for: ClientFor) -> None:
    await client.create(REQUESTS, signing_request("example.com/one"))
    await let(client, "status", rule(["certificatesigningrequests/status"], ["patch", "update"]))
    failed = {"status": {"conditions": [{"type": "Failed", "status": "True", "reason": "No"}]}}
    jane = client_for("jane")
    with pytest.raises(ApiError, match=r'user not permitted to sign requests with signerName "example\.com/one"'):
        await jane.patch(REQUESTS, "jane", failed, subresource="status")
    await jane.patch(REQUESTS, "jane", {"status": {}}, subresource="status")
    await let(client, "signers", rule(["signers"], ["sign"], resourceNames=["example.com/one"]))
    await jane.patch(REQUESTS, "jane", failed, subresource="status")


async def test_nobody_asks_for_a_certificate_of_the_masters(client: Client) -> None:
    with pytest.raises(ApiError) as caught:
        await client.create(REQUESTS, signing_request("kubernetes.io/kube-apiserver-client", "system:masters"))
    assert caught.value.message == (
        'certificatesigningrequests.certificates.k8s.io "jane" is forbidden: use of '
        "kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed"
    )
    await client.create(REQUESTS, signing_request("example.com/other", "system:masters"))


# -- Pods and their nodes


def node(name: str, **labels: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": {"cpu": "2", "memory": "1Gi"}},
    }


async def test_a_pod_carries_the_zone_of_its_node(client: Client, default_account: Object) -> None:
    await client.create(NODES, node("n1", **{"topology.kubernetes.io/zone": "a", "other": "b"}))
    await client.create(PODS, pod("bound"), namespace="default")
    binding = {
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "bound"},
        "target": {"kind": "Node", "apiVersion": "v1", "name": "n1"},
    }  # fmt: skip
    await client.create(PODS, binding, namespace="default", name="bound", subresource="binding")
    bound = await client.get(PODS, "bound", namespace="default")
    assert bound["metadata"]["labels"] == {"topology.kubernetes.io/zone": "a"}
    born = await client.create(PODS, pod("born", nodeName="n1"), namespace="default")
    assert born["metadata"]["labels"] == {"topology.kubernetes.io/zone": "a"}


@pytest.mark.parametrize("bound", [True, False])
async def test_a_pod_does_not_choose_the_zone_it_is_in(client: Client, default_account: Object, bound: bool) -> None:
    await client.create(NODES, node("n1", **{"topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "r"}))
    mine = {"topology.kubernetes.io/zone": "elsewhere", "app": "x"}
    made = pod("p") if bound else pod("p", nodeName="n1")
    made["metadata"]["labels"] = mine
    await client.create(PODS, made, namespace="default")
    if bound:
        binding = {
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p", "labels": mine},
            "target": {"kind": "Node", "apiVersion": "v1", "name": "n1"},
        }  # fmt: skip
        await client.create(PODS, binding, namespace="default", name="p", subresource="binding")
    labels = (await client.get(PODS, "p", namespace="default"))["metadata"]["labels"]
    assert labels == {"topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "r", "app": "x"}


async def test_no_pod_grows_beyond_its_node(client: Client, default_account: Object) -> None:
    """An autoscaler tells from the cause which refusal it is (pods_test.go TestPodResizeValidation)."""
    await client.create(NODES, node("n1", **{"kubernetes.io/os": "linux"}))
    await client.create(NODES, node("n2", **{"kubernetes.io/os": "windows"}))
    await client.create(NODES, node("n3"))
    for name in ("n1", "n2", "n3"):
        made = pod(name, nodeName=name)
        made["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1", "memory": "64Mi"}}
        await client.create(PODS, made, namespace="default")

    async def resize(name: str, **requests: str) -> Object:
        patch = {"spec": {"containers": [{"name": "app", "resources": {"requests": requests}}]}}
        return await client.patch(PODS, name, patch, namespace="default", subresource="resize")

    refused = {
        "n1": (
            "node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 2000; memory, "
            "requested: 2147483648, allocatable: 1073741824",
            "NodeCapacity",
        ),
        "n2": ('pod resize is only supported on linux nodes, node "n2" is "windows"', "UnsupportedPlatform"),
    }
    for name, (why, cause) in refused.items():
        with pytest.raises(ApiError) as caught:
            await resize(name, cpu="3", memory="2Gi")
        assert (caught.value.code, caught.value.message) == (403, f'pods "{name}" is forbidden: {why}')
        assert caught.value.details == {"name": name, "kind": "pods", "causes": [{"reason": cause}]}
    for name in ("n1", "n3"):
        assert (await resize(name, cpu="2"))["metadata"]["generation"] == 2


async def test_no_pod_becomes_what_its_node_cannot_do(client: Client, default_account: Object) -> None:
    """Of a Pod as a whole and of init containers that end a node has to say that it resizes them, of others not."""
    amounts = {"cpu": "500m", "memory": "64Mi"}
    held = {"requests": amounts, "limits": amounts}
    features = ["InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers"]
    for name, declared in {"n1": features, "n2": []}.items():
        await client.create(NODES, node(name, **{"kubernetes.io/os": "linux"}))
        await client.patch(NODES, name, {"status": {"declaredFeatures": declared}}, subresource="status")
        sidecar = {"name": "sidecar", "image": "i", "resources": held, "restartPolicy": "Always"}
        made = pod(name, nodeName=name, initContainers=[{"name": "init", "image": "i", "resources": held}, sidecar])
        made["spec"]["containers"][0]["resources"] = held
        made["spec"]["resources"] = {part: {"cpu": "1500m", "memory": "1Gi"} for part in held}
        await client.create(PODS, made, namespace="default")

    more = {part: {"cpu": "600m"} for part in held}
    named = {"initContainers": ["init", "sidecar"], "containers": ["app"]}

    async def resize(node_name: str, *names: str, whole: str = "1500m") -> Object:
        changed = {
            field: [{"name": each, "resources": more} for each in names if each in known]
            for field, known in named.items()
        }
        spec = {**changed, "resources": {part: {"cpu": whole} for part in held}}
        return await client.patch(PODS, node_name, {"spec": spec}, namespace="default", subresource="resize")

    assert (await resize("n1", "app", "init", "sidecar", whole="1600m"))["metadata"]["generation"] == 2
    assert (await resize("n2", "app", "sidecar"))["metadata"]["generation"] == 2
    lacking: list[tuple[tuple[str, ...], str, str]] = [
        (("init",), "1500m", features[1]),
        ((), "1600m", features[0]),
        (("init",), "1600m", ", ".join(features)),
    ]
    for names, whole, missing in lacking:
        with pytest.raises(ApiError) as caught:
            await resize("n2", *names, whole=whole)
        why = f"pod update requires features {missing} which are not available on node"
        assert caught.value.message == f'pods "n2" is forbidden: {why} "n2"'


UNEXPANDED = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
)
GROWN: dict[str, tuple[str, str | None, str]] = {
    "a class that allows it": ("growing", None, ""),
    "one that does not": ("fixed", None, UNEXPANDED),
    "one that is gone": ("gone", None, UNEXPANDED),
    "no class": ("", None, UNEXPANDED),
    "an annotation before the field": ("fixed", "growing", ""),
    "an empty annotation, too": ("growing", "", UNEXPANDED),
}


async def test_which_claims_grow(client: Client) -> None:
    for name, grows in (("growing", True), ("fixed", False)):
        made = {
            "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
            "provisioner": "example.com", "allowVolumeExpansion": grows,
        }  # fmt: skip
        await client.create(STORAGE_CLASSES, made)
    for number, (case, (named, annotated, why)) in enumerate(GROWN.items()):
        metadata: Object = {"name": f"c{number}"}
        if annotated is not None:
            metadata["annotations"] = {"volume.beta.kubernetes.io/storage-class": annotated}
        spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": named,
                "resources": {"requests": {"storage": "1Gi"}}}  # fmt: skip
        claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}
        await client.create(CLAIMS, claim, namespace="default")
        status = {"status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}}
        await client.patch(CLAIMS, metadata["name"], status, namespace="default", subresource="status")
        grow = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
        if not why:
            await client.patch(CLAIMS, metadata["name"], grow, namespace="default")
            continue
        with pytest.raises(ApiError) as caught:
            await client.patch(CLAIMS, metadata["name"], grow, namespace="default")
        assert why in caught.value.message, case
