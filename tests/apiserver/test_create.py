from __future__ import annotations

import asyncio
from base64 import b64encode
from typing import Any

import orjson
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from engine.api.errors import ApiError
from engine.api.types import (
    CONFIGMAPS,
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    EVENTS,
    GVR,
    NAMESPACES,
    NODES,
    PODS,
    SERVICE_ACCOUNTS,
    SERVICES,
    Object,
)
from engine.api.wire import YAML
from engine.apiserver.server import ApiServer
from engine.client import Client
from engine.clock import VirtualClock
from engine.rng import Rng
from engine.store.sqlite import SqliteStore
from engine.store.types import Range
from tests.apiserver.conftest import ClientFor, account, config_map, make_namespace, pod


def deployment(name: str = "web", **spec: Any) -> Object:
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "app", "image": "nginx"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": {"app": name}}, "template": template, **spec},
    }


async def test_a_new_object_gets_the_metadata_that_the_server_alone_decides(client: Client) -> None:
    sent = config_map("web", key="value")
    sent["metadata"] |= {"uid": "mine", "creationTimestamp": "1999-01-01T00:00:00Z", "selfLink": "/x"}
    made = (await client.create(CONFIGMAPS, sent, namespace="default"))["metadata"]
    assert made["uid"] != "mine"
    assert made["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert made["namespace"] == "default"
    assert int(made["resourceVersion"]) > 1
    assert "selfLink" not in made
    assert made["managedFields"][0]["manager"] == "kubectl"


async def test_the_callers_object_is_not_touched(client: Client, default_account: Object) -> None:
    sent = pod()
    before = pod()
    await client.create(PODS, sent, namespace="default")
    assert sent == before


async def test_a_pod_passes_the_admission_plugins(client: Client, default_account: Object) -> None:
    made = (await client.create(PODS, pod(), namespace="default"))["spec"]
    assert made["serviceAccountName"] == "default"
    [volume] = made["volumes"]
    assert volume["name"].startswith("kube-api-access-")
    assert made["containers"][0]["volumeMounts"] == [
        {"name": volume["name"], "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
    ]
    assert [list(source) for source in volume["projected"]["sources"]] == [
        ["serviceAccountToken"],
        ["configMap"],
        ["downwardAPI"],
    ]
    assert (made["priority"], made["preemptionPolicy"]) == (0, "PreemptLowerPriority")
    assert {(t["key"], t["tolerationSeconds"]) for t in made["tolerations"]} == {
        ("node.kubernetes.io/not-ready", 300),
        ("node.kubernetes.io/unreachable", 300),
    }


async def test_a_pod_without_its_account_is_refused(client: Client) -> None:
    with pytest.raises(ApiError) as caught:
        await client.create(PODS, pod(), namespace="default")
    assert caught.value.code == 403
    assert caught.value.message == (
        'pods "web" is forbidden: error looking up service account default/default: serviceaccount "default" not found'
    )


async def test_an_account_may_not_mount_its_token(client: Client) -> None:
    quiet = {**account("default"), "automountServiceAccountToken": False}
    await client.create(SERVICE_ACCOUNTS, quiet, namespace="default")
    made = await client.create(PODS, pod(), namespace="default")
    assert "volumes" not in made["spec"]


async def test_a_priority_class_decides_the_priority(client: Client, default_account: Object) -> None:
    made = await client.create(PODS, pod(priorityClassName="system-node-critical"), namespace="default")
    assert made["spec"]["priority"] == 2000001000
    with pytest.raises(ApiError, match="no PriorityClass with name gold was found"):
        await client.create(PODS, pod("b", priorityClassName="gold"), namespace="default")
    with pytest.raises(ApiError, match=r"the integer value of priority \(7\) must not be provided in pod spec"):
        await client.create(PODS, pod("c", priority=7), namespace="default")


async def test_a_node_is_born_not_ready(client: Client) -> None:
    made = await client.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}})
    assert made["spec"]["taints"] == [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]


async def test_names_are_generated(client: Client) -> None:
    sent = config_map("")
    sent["metadata"] = {"generateName": "web-"}
    names = {(await client.create(CONFIGMAPS, sent, namespace="default"))["metadata"]["name"] for _ in range(20)}
    assert len(names) == 20
    assert all(name.startswith("web-") and len(name) == 9 for name in names)


async def test_the_same_name_twice(client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    with pytest.raises(ApiError) as caught:
        await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    assert (caught.value.code, caught.value.reason) == (409, "AlreadyExists")
    assert caught.value.message == 'configmaps "web" already exists'
    with pytest.raises(ApiError, match="already exists"):
        await client.create(CONFIGMAPS, config_map("web"), namespace="default", dry_run=True)


async def test_a_dry_run_stores_nothing(client: Client, store: SqliteStore) -> None:
    before = store.revision
    made = await client.create(CONFIGMAPS, config_map("web"), namespace="default", dry_run=True)
    assert made["metadata"]["uid"]
    assert "resourceVersion" not in made["metadata"]
    assert store.revision == before


async def test_what_is_stored_is_the_object_without_its_revision(client: Client, store: SqliteStore) -> None:
    made = await client.create(CONFIGMAPS, config_map("web", a="b"), namespace="default")
    [kv] = (await store.range(Range(b"/registry/configmaps/default/web"))).kvs
    assert str(kv.mod_revision) == made["metadata"]["resourceVersion"]
    assert b"resourceVersion" not in kv.value


async def test_nothing_is_created_where_there_is_no_namespace(client: Client) -> None:
    with pytest.raises(ApiError) as caught:
        await client.create(CONFIGMAPS, config_map("web"), namespace="nope")
    assert (caught.value.code, caught.value.message) == (404, 'namespaces "nope" not found')


async def test_nothing_is_created_in_a_namespace_that_goes(client: Client) -> None:
    await make_namespace(client, "going")
    await client.delete(NAMESPACES, "going")
    with pytest.raises(ApiError) as caught:
        await client.create(CONFIGMAPS, config_map("web"), namespace="going")
    assert caught.value.message == (
        'configmaps "web" is forbidden: unable to create new content in namespace going because it is being terminated'
    )
    assert caught.value.details is not None
    assert caught.value.details["causes"][0]["reason"] == "NamespaceTerminating"


BROKEN: dict[str, tuple[GVR, Object, int, str]] = {
    "a negative count": (
        DEPLOYMENTS,
        deployment(replicas=-1),
        422,
        'Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    ),
    "a value of another type": (
        DEPLOYMENTS,
        deployment(replicas="three"),
        400,
        'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct '
        "field DeploymentSpec.spec.replicas of type int32",
    ),
    "no name": (
        CONFIGMAPS,
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}},
        422,
        'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    ),
    "another namespace": (
        CONFIGMAPS,
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web", "namespace": "other"}},
        400,
        "the namespace of the provided object does not match the namespace sent on the request",
    ),
}


@pytest.mark.parametrize("case", BROKEN.values(), ids=BROKEN.keys())
async def test_what_is_wrong_is_refused_in_the_words_of_the_real_server(
    client: Client, case: tuple[GVR, Object, int, str]
) -> None:
    resource, obj, code, message = case
    with pytest.raises(ApiError) as caught:
        await client.create(resource, obj, namespace="default")
    assert (caught.value.code, caught.value.message) == (code, message)


async def test_unknown_fields_are_errors_warnings_or_nothing(client: Client) -> None:
    path, sent = "/apis/apps/v1/namespaces/default/deployments", deployment(foo="bar")
    strict = await client.send("POST", path, query={"fieldValidation": ["Strict"]}, body=sent)
    assert strict.status == 400
    assert strict.body["message"] == (
        'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "spec.foo"'
    )
    warned = await client.send("POST", path, query={"dryRun": ["All"]}, body=sent)
    assert warned.status == 201
    assert warned.headers["warning"] == '299 - "unknown field \\"spec.foo\\""'
    ignored = await client.send("POST", path, query={"fieldValidation": ["Ignore"]}, body=sent)
    assert (ignored.status, ignored.headers.get("warning")) == (201, None)
    assert "foo" not in ignored.body["spec"]


async def test_bytes_of_json_and_yaml_are_taken(client: Client) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    json = b'{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "1"}}'
    assert (await client.send("POST", path, body=json)).status == 201
    yaml = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {day: '2026-01-01'}\n"
    made = await client.send("POST", path, body=yaml, headers={"content-type": YAML})
    assert made.body["data"] == {"day": "2026-01-01"}


BODIES = {
    "broken JSON": (b"{", "application/json", 400, "BadRequest"),
    "broken YAML": (b"a: [", YAML, 400, "BadRequest"),
    "nothing": (b"", "application/json", 400, "BadRequest"),
    "a list": (b"[]", "application/json", 400, "BadRequest"),
    "another media type": (b"a=b", "application/x-www-form-urlencoded", 415, "UnsupportedMediaType"),
    "a media type with half a parameter": (b"{}", "application/json; charset", 415, "UnsupportedMediaType"),
    "two media types": (b"{}", "application/json, text/plain", 415, "UnsupportedMediaType"),
    "broken protobuf": (b"k8s\0\xff", "application/vnd.kubernetes.protobuf", 400, "BadRequest"),
}


@pytest.mark.parametrize("case", BODIES.values(), ids=BODIES.keys())
async def test_a_body_that_cannot_be_read_is_said_to_be_so(client: Client, case: tuple[bytes, str, int, str]) -> None:
    body, media_type, code, reason = case
    path = "/api/v1/namespaces/default/configmaps"
    response = await client.send("POST", path, body=body, headers={"content-type": media_type})
    assert (response.status, response.body["reason"]) == (code, reason)


async def test_the_cluster_is_born_with_its_own_objects(client: Client) -> None:
    names = {namespace["metadata"]["name"] for namespace in (await client.list(NAMESPACES)).items}
    assert names == {"default", "kube-system", "kube-public", "kube-node-lease"}
    service = await client.get(SERVICES, "kubernetes", namespace="default")
    assert service["spec"]["clusterIP"] == "10.96.0.1"
    slices = await client.list(ENDPOINT_SLICES, namespace="default")
    assert [item["metadata"]["name"] for item in slices.items] == ["kubernetes"]


def event(name: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "web"},
    }


async def test_events_live_for_an_hour(client: Client, virtual_clock: VirtualClock) -> None:
    await client.create(EVENTS, event("web.1"), namespace="default")
    async with await client.watch(EVENTS, resource_version="0", timeout_seconds=7200) as watch:
        assert (await anext(aiter(watch))).type == "ADDED"
        gone = await anext(aiter(watch))
    assert (gone.type, gone.object["metadata"]["name"]) == ("DELETED", "web.1")
    assert 3600 <= virtual_clock.monotonic() <= 3670


async def test_events_of_a_minute_share_a_lease_however_many_come_at_once(
    client: Client, store: SqliteStore, virtual_clock: VirtualClock
) -> None:
    for minute in range(2):
        names = [f"web.{minute}-{number}" for number in range(20)]
        await asyncio.gather(*(client.create(EVENTS, event(name), namespace="default") for name in names))
        assert len(await store.leases()) == minute + 1
        await virtual_clock.sleep(61)


async def test_a_taken_name_is_drawn_again(server: ApiServer, client: Client) -> None:
    """Two servers with one seed draw the same names, so that the second finds each of them taken."""
    sent = config_map("")
    sent["metadata"] = {"generateName": "web-"}
    twin = Rng(1).stream("apiserver").stream("names")
    for _ in range(2):
        taken = f"web-{twin.name_suffix()}"
        await client.create(CONFIGMAPS, config_map(taken), namespace="default")
    made = await client.create(CONFIGMAPS, sent, namespace="default")
    assert made["metadata"]["name"] == f"web-{twin.name_suffix()}"


async def test_the_address_of_the_api_is_told(server: ApiServer, client: Client, store: SqliteStore) -> None:
    await server.advertise("127.0.0.1", 40123)
    service = await client.get(SERVICES, "kubernetes", namespace="default")
    assert service["spec"]["ports"][0]["targetPort"] == 40123
    [found] = (await client.list(ENDPOINT_SLICES, namespace="default")).items
    assert (found["endpoints"][0]["addresses"], found["ports"][0]["port"]) == (["127.0.0.1"], 40123)
    before = store.revision
    await server.advertise("127.0.0.1", 40123)
    assert store.revision == before


def certificate_request() -> str:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "jane")])
    request = x509.CertificateSigningRequestBuilder(subject).sign(Ed25519PrivateKey.generate(), None)
    return b64encode(request.public_bytes(Encoding.PEM)).decode()


async def test_who_asks_for_a_certificate_is_who_sent_the_request(client_for: ClientFor) -> None:
    requests = GVR("certificates.k8s.io", "v1", "certificatesigningrequests")
    asked = {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": "mine"},
        "spec": {
            "request": certificate_request(),
            "signerName": "example.com/signer",
            "usages": ["client auth"],
            "username": "somebody-else",
            "uid": "7",
        },
    }
    made = await client_for("jane", "system:masters", "developers").create(requests, asked)
    spec = made["spec"]
    assert (spec["username"], spec.get("uid"), spec["groups"][:2]) == ("jane", None, ["system:masters", "developers"])


def owner(name: str, **more: object) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": f"u-{name}", **more}


@pytest.mark.parametrize(
    ("method", "when"), [("POST", ""), ("PUT", ""), ("PATCH", " after mutating admission happens")]
)
async def test_owners_that_are_named_twice(client: Client, method: str, when: str) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    if method != "POST":
        await client.create(CONFIGMAPS, config_map("web"), namespace="default")
        path = f"{path}/web"
    sent = config_map("web")
    sent["metadata"]["ownerReferences"] = [
        owner("a"), owner("b"), owner("a"), owner("a", blockOwnerDeletion=True), owner("b"),
    ]  # fmt: skip
    headers = {"content-type": "application/merge-patch+json"} if method == "PATCH" else {}
    answer = await client.send(method, path, body=sent, headers=headers)
    assert answer.body["metadata"]["ownerReferences"] == [owner("a"), owner("b"), owner("a", blockOwnerDeletion=True)]
    assert answer.headers["warning"] == (
        f'299 - ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in '
        "1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
        'u-a, u-b"'
    )


NUMBERS = ("1e3", "1E+3", "10.0", "-0.0", "1.50", "99999999999")


@pytest.mark.parametrize("written", NUMBERS)
async def test_a_number_that_is_refused_is_shown_as_it_was_written(client: Client, written: str) -> None:
    body = b'{"metadata": {"name": "web"}, "spec": {"replicas": %s}}' % written.encode()
    path = "/apis/apps/v1/namespaces/default/deployments"
    answer = await client.send("POST", path, body=body, headers={"content-type": "application/json"})
    assert answer.status == 400
    assert answer.body["message"] == (
        'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal number '
        f"{written} into Go struct field DeploymentSpec.spec.replicas of type int32"
    )


async def test_in_yaml_a_whole_number_may_be_written_in_any_way(client: Client) -> None:
    body = b"metadata: {name: web, annotations: {at: 12:30}}\ndata: {a: '1e3'}\nbinaryData: null\nimmutable: off\n"
    path = "/api/v1/namespaces/default/configmaps"
    answer = await client.send("POST", path, body=body, headers={"content-type": "application/yaml"})
    assert (answer.status, answer.body["metadata"]["annotations"], answer.body["immutable"]) == (
        201,
        {"at": "12:30"},
        False,
    )
    made = orjson.dumps(deployment(replicas=1)).replace(b'"replicas":1', b'"replicas":1e0')
    assert b"1e0" in made
    path = "/apis/apps/v1/namespaces/default/deployments"
    answer = await client.send("POST", path, body=made, headers={"content-type": "application/yaml"})
    assert (answer.status, answer.body["spec"]["replicas"]) == (201, 1)


@pytest.mark.parametrize(
    ("own", "of_pods", "rest"),
    [({}, {}, {}), ({}, {"a": "b"}, {"a": "b"}), ({"c": "d"}, {"a": "b"}, None)],
    ids=["none", "those of its Pods", "its own"],
)
async def test_a_job_without_labels_has_those_of_its_pods(
    client: Client, own: dict[str, str], of_pods: dict[str, str], rest: dict[str, str] | None
) -> None:
    """And those that its Pods were given besides: both are one map, or are taken from what is stored."""
    template: Object = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    if of_pods:
        template["metadata"] = {"labels": of_pods}
    metadata = {"name": "once", **({"labels": own} if own else {})}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": template}}
    made = await client.create(GVR("batch", "v1", "jobs"), job, namespace="default")
    generated = {
        f"{prefix}{label}": value
        for label, value in (("controller-uid", made["metadata"]["uid"]), ("job-name", "once"))
        for prefix in ("", "batch.kubernetes.io/")
    }
    assert made["spec"]["template"]["metadata"]["labels"] == {**of_pods, **generated}
    assert made["metadata"]["labels"] == (own if rest is None else {**rest, **generated})
