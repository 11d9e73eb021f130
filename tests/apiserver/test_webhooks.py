"""Admission webhooks, asked over HTTPS at a server that really listens."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, ENDPOINT_SLICES, ENDPOINTS, GVR, NAMESPACES, SERVICES, Object
from engine.api.wire import APPLY_PATCH
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import Clock
from engine.config import ClusterConfig
from engine.pki import ADMIN
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.apiserver.conftest import config_map
from tests.kept_pki import kept_pki

GROUP = "admissionregistration.k8s.io"
Answer = Callable[[Object], Object]
Raw = Callable[[Object], web.Response]  # what is answered to a review, word for word


def allow(request: Object) -> Object:
    return {"allowed": True}


def patching(*operations: Object) -> Answer:
    text = base64.b64encode(orjson.dumps(list(operations))).decode()
    return lambda request: {"allowed": True, "patchType": "JSONPatch", "patch": text}


@dataclass
class Hooks:
    """A webhook server: answers by path, and what it was asked."""

    url: str
    bundle: str
    client: Client
    world: World
    answers: dict[str, Answer] = field(default_factory=dict)
    raw: dict[str, Raw] = field(default_factory=dict)
    asked: list[tuple[str, Object]] = field(default_factory=list)
    timeouts: dict[str, str] = field(default_factory=dict)
    headers: list[dict[str, str]] = field(default_factory=list)
    silent: set[str] = field(default_factory=set)
    released: asyncio.Event = field(default_factory=asyncio.Event)

    async def register(self, kind: str, name: str, answer: Answer = allow, **spec: Any) -> None:
        self.answers[name] = answer
        rules = [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]
        webhook = {
            "name": f"{name}.example.com",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "clientConfig": {"url": f"{self.url}/{name}", "caBundle": self.bundle},
            "rules": rules,
            **spec,
        }
        resource = GVR(GROUP, "v1", f"{kind.lower()}webhookconfigurations")
        obj = {"apiVersion": f"{GROUP}/v1", "kind": f"{kind}WebhookConfiguration", "metadata": {"name": name}}
        await self.client.create(resource, {**obj, "webhooks": [webhook]})

    async def create(self, name: str = "c", **options: Any) -> Object:
        return await self.client.create(CONFIGMAPS, config_map(name, {"for": name}), namespace="default", **options)

    async def refused(self, name: str = "c", **options: Any) -> ApiError:
        with pytest.raises(ApiError) as refused:
            await self.create(name, **options)
        return refused.value


@pytest.fixture
async def hooks(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Hooks]:
    """Of the newest release, or of the one that the fixture is told."""
    world = World.create(clock=Clock(), seed=1)
    pki = kept_pki(tmp_path, ["127.0.0.1", "hook.default.svc"], datetime.now(UTC))
    store = await SqliteStore.open(None, clock=world.clock)
    server = ApiServer(world, store, config=ClusterConfig(kubernetes_version=getattr(request, "param", "")))
    await server.start()
    client = Client(InProcessTransport(server, ADMIN), user_agent="test")
    found = Hooks("", base64.b64encode(pki.authority.pair.certificate).decode(), client, world)

    async def serve(request: web.BaseRequest) -> web.StreamResponse:
        review = orjson.loads(await request.read())
        path = request.path.strip("/")
        found.asked.append((path, review["request"]))
        found.timeouts[path] = request.query["timeout"]
        found.headers.append({name.lower(): value for name, value in request.headers.items()})
        if path in found.silent:
            await found.released.wait()
        if path in found.raw:
            return found.raw[path](review)
        response = {"uid": review["request"]["uid"], **found.answers[path](review["request"])}
        return web.json_response({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response})

    runner = web.ServerRunner(web.Server(serve), shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=pki.server_context(tmp_path))
    await site.start()
    found.url = f"https://127.0.0.1:{runner.addresses[0][1]}"
    yield found
    await runner.cleanup()
    await server.stop()
    await store.close()


async def test_a_webhook_sees_the_request_and_says_no(hooks: Hooks) -> None:
    await hooks.register("Validating", "no", lambda request: {"allowed": False, "status": {"message": "not today"}})
    error = await hooks.refused()
    assert (error.code, error.message) == (400, 'admission webhook "no.example.com" denied the request: not today')
    [(_, request)] = hooks.asked
    assert request["object"]["metadata"]["name"] == "c"
    assert request["oldObject"] is None
    assert request["kind"] == {"group": "", "version": "v1", "kind": "ConfigMap"}
    assert request["resource"] == {"group": "", "version": "v1", "resource": "configmaps"}
    assert (request["operation"], request["namespace"], request["dryRun"]) == ("CREATE", "default", False)
    assert request["userInfo"]["username"] == "kubernetes-admin"


async def test_a_webhook_is_asked_with_the_headers_of_upstream(hooks: Hooks) -> None:
    """Webhooks know the API server by its name (genericapiserver's setGlobalDefaults), and a Service by that of its
    own, wherever it listens."""
    port = int(hooks.url.rpartition(":")[2])
    spec = {"type": "ExternalName", "externalName": "localhost"}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "hook"}, "spec": spec}
    await hooks.client.create(SERVICES, service, namespace="default")
    reference = {"namespace": "default", "name": "hook", "path": "/b", "port": port}
    config = {"service": reference, "caBundle": hooks.bundle}
    await hooks.register("Mutating", "a")
    await hooks.register("Mutating", "b", clientConfig=config)
    await hooks.create()
    by_url, by_service = hooks.headers
    assert by_url["user-agent"] == by_service["user-agent"] == "kube-apiserver-admission"
    assert (by_url["accept"], by_url["accept-encoding"]) == ("application/json, */*", "gzip")
    assert (by_url["host"], by_service["host"]) == (f"127.0.0.1:{port}", f"hook.default.svc:{port}")


SLICE = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4"}


async def test_a_service_leads_where_its_slices_do(hooks: Hooks) -> None:
    """As everything does that comes through a cluster's address; Endpoints are for Services without a slice. What
    listens on this machine's own addresses cannot be named, so Pods tell which one it is."""
    spec = {"ports": [{"port": 443, "name": "https"}, {"port": 80, "name": "http"}]}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "hook"}, "spec": spec}
    await hooks.client.create(SERVICES, service, namespace="default")
    config = {"service": {"namespace": "default", "name": "hook", "path": "/a"}, "caBundle": hooks.bundle}
    await hooks.register("Validating", "a", clientConfig=config)

    async def lead(name: str, label: str, *, port: str = "https", **conditions: bool) -> None:
        target = {"kind": "Pod", "namespace": "default", "name": name}
        endpoint = {"addresses": ["10.0.0.1"], "targetRef": target, "conditions": conditions}
        metadata = {"name": name, "labels": {"kubernetes.io/service-name": label}}
        made = {**SLICE, "metadata": metadata, "endpoints": [endpoint], "ports": [{"name": port, "port": 8443}]}
        await hooks.client.create(ENDPOINT_SLICES, made, namespace="default")

    nowhere = 'Post "https://hook.default.svc:443/a?timeout=10s": no endpoints available for service "hook"'
    await lead("other", "other")
    assert (await hooks.refused()).message.endswith(nowhere)
    subset = {"addresses": [{"ip": "10.0.0.1", "targetRef": {"kind": "Pod", "name": "old"}}]}
    old = {"metadata": {"name": "hook"}, "subsets": [{**subset, "ports": [{"name": "https", "port": 8443}]}]}
    await hooks.client.create(ENDPOINTS, old, namespace="default")
    assert 'service "hook" leads to pod "old"' in (await hooks.refused()).message
    await lead("of-http", "hook", port="http")
    await lead("not-ready", "hook", ready=False)
    assert (await hooks.refused()).message.endswith(nowhere)
    await lead("ready", "hook")
    assert 'service "hook" leads to pod "ready"' in (await hooks.refused()).message


async def test_mutating_webhooks_work_one_after_the_other(hooks: Hooks) -> None:
    await hooks.register("Mutating", "b", patching({"op": "add", "path": "/data/b", "value": "2"}))
    await hooks.register("Mutating", "a", patching({"op": "add", "path": "/data", "value": {"a": "1"}}))
    made = await hooks.create()
    assert made["data"] == {"a": "1", "b": "2"}
    assert [path for path, _ in hooks.asked] == ["a", "b"]
    assert hooks.asked[1][1]["object"]["data"] == {"a": "1"}


async def test_fields_that_a_kind_does_not_have_are_dropped(hooks: Hooks) -> None:
    operations = [{"op": "add", "path": "/spec", "value": {}}, {"op": "add", "path": "/data", "value": {"k": "v"}}]
    await hooks.register("Mutating", "a", patching(*operations))
    made = await hooks.create()
    assert (made["data"], "spec" in made) == ({"k": "v"}, False)


OWNED = {"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {}}
INVALID_OWNERS = {
    "no operation": ({"operation": ""}, "operation must be `Apply` or `Update`"),
    "no version": ({"apiVersion": ""}, "apiVersion must not be empty"),
    "no type of fields": ({"fieldsType": ""}, "missing fieldsType in managed fields entry 0"),
    "another type of fields": ({"fieldsType": "X"}, 'invalid fieldsType "X" in managed fields entry 0'),
}


async def test_owners_stay_what_they_were_where_a_webhook_breaks_them(hooks: Hooks) -> None:
    await hooks.register("Mutating", "a")
    for case, (change, why) in INVALID_OWNERS.items():
        hooks.answers["a"] = patching({"op": "add", "path": "/metadata/managedFields", "value": [{**OWNED, **change}]})
        answer = await hooks.client.send(
            "POST", "/api/v1/namespaces/default/configmaps", body=config_map(f"c{len(case)}", {"for": "c"}),
            headers={"content-type": "application/json"},
        )  # fmt: skip
        assert [each["manager"] for each in answer.body["metadata"]["managedFields"]] == ["test"], case
        assert answer.headers["warning"] == (
            '299 - ".metadata.managedFields was in an invalid state after admission; this could be caused by an '
            f'outdated mutating admission controller; please fix your requests: {why}"'.replace('"X"', '\\"X\\"')
        ), case


async def test_who_asks_for_it_is_called_again_when_others_have_changed_the_object(hooks: Hooks) -> None:
    await hooks.register("Mutating", "a", reinvocationPolicy="IfNeeded")
    await hooks.register("Mutating", "b", patching({"op": "add", "path": "/data", "value": {"a": "1"}}))
    await hooks.create()
    assert [path for path, _ in hooks.asked] == ["a", "b", "a"]
    assert hooks.asked[2][1]["object"]["data"] == {"a": "1"}


DEFAULT = {"matchLabels": {"kubernetes.io/metadata.name": "default"}}
SELECTED: dict[str, tuple[Object, int]] = {
    "object selector matches": ({"objectSelector": {"matchLabels": {"for": "c"}}}, 1),
    "object selector does not": ({"objectSelector": {"matchLabels": {"for": "d"}}}, 0),
    "namespace selector matches": ({"namespaceSelector": DEFAULT}, 1),
    "namespace selector does not": ({"namespaceSelector": {"matchLabels": {"x": "y"}}}, 0),
    "condition holds": ({"matchConditions": [{"name": "n", "expression": "object.metadata.name == 'c'"}]}, 1),
    "condition does not": ({"matchConditions": [{"name": "n", "expression": "request.operation == 'DELETE'"}]}, 0),
    "another operation": (
        {"rules": [{"operations": ["UPDATE"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}]}, 0,
    ),
    "a cluster scope": (
        {"rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"],
                    "scope": "Cluster"}]}, 0,
    ),
    "subresources only": (
        {"rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/status"]}]}, 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SELECTED)
async def test_what_a_webhook_is_asked_about(hooks: Hooks, case: str) -> None:
    spec, times = SELECTED[case]
    await hooks.register("Validating", "a", **spec)
    await hooks.create()
    assert len(hooks.asked) == times


async def test_conditions_do_not_know_the_namespace(hooks: Hooks) -> None:
    """It is declared, for policies, but null."""
    expression = "namespaceObject.metadata.name == 'default'"
    await hooks.register("Validating", "a", matchConditions=[{"name": "n", "expression": expression}])
    error = await hooks.refused()
    assert (error.code, error.message) == (
        403, f"configmaps \"c\" is forbidden: expression '{expression}' resulted in error: no such key: metadata",
    )  # fmt: skip
    assert not hooks.asked


async def test_other_versions_of_a_kind_match_too(hooks: Hooks) -> None:
    rules = [{"operations": ["CREATE"], "apiGroups": ["autoscaling"], "apiVersions": ["v1"],
              "resources": ["horizontalpodautoscalers"]}]  # fmt: skip
    await hooks.register("Validating", "a", rules=rules)
    scaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "x"},
        "spec": {"maxReplicas": 2, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}},
    }
    await hooks.client.create(GVR("autoscaling", "v2", "horizontalpodautoscalers"), scaler, namespace="default")
    [(_, request)] = hooks.asked
    assert request["object"]["apiVersion"] == "autoscaling/v1"
    assert (request["resource"]["version"], request["requestResource"]["version"]) == ("v1", "v2")


FAILURES: dict[str, tuple[Object, str]] = {
    "nobody listens": (
        {"clientConfig": {"url": "https://127.0.0.1:1/x"}},
        'failed to call webhook: Post "https://127.0.0.1:1/x?timeout=10s": dial tcp 127.0.0.1:1: connect: connection '
        "refused",
    ),
    "no such service": (
        {"clientConfig": {"service": {"namespace": "default", "name": "nobody", "path": "/v"}}},
        'failed to call webhook: Post "https://nobody.default.svc:443/v?timeout=10s": service "nobody" not found',
    ),
    "a service without an address": (
        {"clientConfig": {"service": {"namespace": "default", "name": "headless"}}},
        'failed to call webhook: Post "https://headless.default.svc:443/?timeout=10s": cannot route to service with '
        'ClusterIP "None"',
    ),
    "no such port": (
        {"clientConfig": {"service": {"namespace": "default", "name": "pods", "port": 80}}},
        'failed to call webhook: Post "https://pods.default.svc:80/?timeout=10s": no service port 80 found for service '
        '"pods"',
    ),
    "a simulated pod": (
        {"clientConfig": {"service": {"namespace": "default", "name": "pods"}}},
        'failed to call webhook: Post "https://pods.default.svc:443/?timeout=10s": service "pods" leads to pod "web", '
        "which is simulated by ktui: no server runs in it; use clientConfig.url, a Service of type ExternalName or "
        "endpoints of your own",
    ),
}


@pytest.mark.parametrize("case", FAILURES)
async def test_what_cannot_be_asked_refuses_or_is_ignored(hooks: Hooks, case: str) -> None:
    spec, said = FAILURES[case]
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "pods"}, "spec": {"ports": [{"port": 443}]}}
    await hooks.client.create(SERVICES, service, namespace="default")
    headless = {"ports": [{"port": 443}], "clusterIP": "None"}
    await hooks.client.create(SERVICES, {"metadata": {"name": "headless"}, "spec": headless}, namespace="default")
    pod = {"kind": "Pod", "namespace": "default", "name": "web"}
    subsets = [{"addresses": [{"ip": "10.244.0.9", "targetRef": pod}], "ports": [{"port": 8443}]}]
    endpoints = {"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "pods"}, "subsets": subsets}
    await hooks.client.create(ENDPOINTS, endpoints, namespace="default")
    await hooks.register("Validating", "a", objectSelector={"matchLabels": {"for": "c"}}, **spec)
    await hooks.register("Mutating", "b", objectSelector={"matchLabels": {"for": "d"}}, failurePolicy="Ignore", **spec)
    error = await hooks.refused()
    assert (error.code, error.message) == (
        500, f'Internal error occurred: failed calling webhook "a.example.com": {said}',
    )  # fmt: skip
    await hooks.create("d")


async def test_a_wrong_certificate_is_not_trusted(hooks: Hooks) -> None:
    await hooks.register("Validating", "a", clientConfig={"url": f"{hooks.url}/a"})
    assert (
        "tls: failed to verify certificate: x509: certificate signed by unknown authority"
        in (await hooks.refused()).message
    )
    assert hooks.asked == []


def denial(**status: Any) -> Answer:
    return lambda request: {"allowed": False, **({"status": status} if status else {})}


def answering(**response: Any) -> Answer:
    return lambda request: {"allowed": True, **response}


DENIED = 'admission webhook "a.example.com" denied the request'
FAILED = 'Internal error occurred: failed calling webhook "a.example.com"'
UNREAD = f"{FAILED}: failed to call webhook: json: cannot unmarshal"
INVALID = f"{FAILED}: received invalid webhook response"
ADD_X = base64.b64encode(b'[{"op":"add","path":"/x/y","value":1}]').decode()
REFUSALS: dict[str, tuple[str, Answer, int, str, str]] = {
    "without a word": ("Validating", denial(), 400, "", f"{DENIED} without explanation"),
    "with a message": ("Validating", denial(message="shall not pass"), 400, "", f"{DENIED}: shall not pass"),
    "with a reason": (
        "Validating", denial(reason="shall not pass"), 400, "shall not pass", f"{DENIED}: shall not pass",
    ),
    "with a code": ("Mutating", denial(message="no", code=422, reason="Invalid"), 422, "Invalid", f"{DENIED}: no"),
    "with a code that is no failure": ("Mutating", denial(message="no", code=200), 400, "", f"{DENIED}: no"),
    "a patch without its type": (
        "Mutating", answering(patch="W10="), 500, "InternalError",
        f"{INVALID}: webhook returned response.patch but not response.patchType",
    ),
    "a type without its patch": (
        "Mutating", answering(patchType="JSONPatch"), 500, "InternalError",
        f"{INVALID}: webhook returned response.patchType but not response.patch",
    ),
    "a patch of a type without a name": (
        "Mutating", answering(patch="W10=", patchType=""), 500, "InternalError",
        f'{INVALID}: webhook returned invalid response.patchType of ""',
    ),
    "a patch of another type": (
        "Mutating", answering(patch=ADD_X, patchType="Merge"), 500, "InternalError",
        f'{FAILED}: unsupported patch type "Merge"',
    ),
    "a patch that does not fit": (
        "Mutating", answering(patch=ADD_X, patchType="JSONPatch"), 500, "InternalError",
        'Internal error occurred: add operation does not apply: doc is missing path: "/x/y": missing value',
    ),
    "a patch that makes no such object": (
        "Mutating", patching({"op": "add", "path": "/data", "value": {"k": 5}}), 500, "InternalError",
        "Internal error occurred: json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
    ),
    "a patch that takes the name away": (
        "Mutating", patching({"op": "remove", "path": "/metadata"}), 422, "Invalid",
        'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    ),
    "a patch that moves it away": (
        "Mutating", patching({"op": "replace", "path": "/metadata/namespace", "value": "x"}), 400, "BadRequest",
        "the namespace of the provided object does not match the namespace sent on the request",
    ),
    "a patch that is no base64": (
        "Mutating", answering(patch="W1*=", patchType="JSONPatch"), 500, "InternalError",
        f"{FAILED}: failed to call webhook: illegal base64 data at input byte 2",
    ),
    "a patch that is no JSON": (
        "Mutating", answering(patch="W10h", patchType="JSONPatch"), 500, "InternalError",
        f"{FAILED}: received undecodable patch in webhook response: invalid character '!' after top-level value",
    ),
    "a patch that is no list": (
        "Mutating", answering(patch="e30=", patchType="JSONPatch"), 500, "InternalError",
        f"{FAILED}: received undecodable patch in webhook response: json: cannot unmarshal object into Go value of "
        "type jsonpatch.Patch",
    ),
    "a patch of what is no operation": (
        "Mutating", answering(patch="W1tdXQ==", patchType="JSONPatch"), 500, "InternalError",
        f"{FAILED}: received undecodable patch in webhook response: json: cannot unmarshal array into Go value of "
        "type jsonpatch.Operation",
    ),
    "a patch of no operation": (
        "Mutating", answering(patch="W251bGxd", patchType="JSONPatch"), 500, "InternalError",
        "Internal error occurred: Unexpected kind: unknown",
    ),
    "a yes that is a text": (
        "Validating", lambda request: {"allowed": "yes"}, 500, "InternalError",
        f"{UNREAD} string into Go struct field AdmissionResponse.response.allowed of type bool",
    ),
    "a code that is a text": (
        "Validating", denial(code="404"), 500, "InternalError",
        f"{UNREAD} string into Go struct field Status.response.status.code of type int32",
    ),
    "a warning that is a number": (
        "Mutating", answering(warnings=[1]), 500, "InternalError",
        f"{UNREAD} number into Go struct field AdmissionResponse.response.warnings of type string",
    ),
    "a patch of who validates": (
        "Validating", answering(patch="W10=", patchType="JSONPatch"), 500, "InternalError",
        f"{INVALID}: validating webhook may not return response.patch",
    ),
    "a patch type of who validates": (
        "Validating", answering(patchType="JSONPatch"), 500, "InternalError",
        f"{INVALID}: validating webhook may not return response.patchType",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
async def test_what_an_answer_refuses(hooks: Hooks, case: str) -> None:
    kind, answer, code, reason, message = REFUSALS[case]
    await hooks.register(kind, "a", answer)
    error = await hooks.refused()
    assert (error.code, error.reason, error.message) == (code, reason, message)


def _annotations(hooks: Hooks) -> Object:
    found: Object = {}
    for span in hooks.world.tracer.recent:
        found |= span.detail.get("annotations") or {}
    return found


async def test_what_is_left_for_the_audit_log(hooks: Hooks) -> None:
    said = {"allowed": True, "auditAnnotations": {"k": "v"}, "warnings": ["mind"]}
    never: dict[str, Any] = {"clientConfig": {"url": "https://127.0.0.1:1/x"}, "failurePolicy": "Ignore"}
    await hooks.register("Mutating", "a", patching({"path": "/data", "op": "add", "value": {"x": "<&>"}}))
    await hooks.register("Mutating", "b", **never)
    await hooks.register("Validating", "c", lambda request: said)
    await hooks.register("Validating", "d", **never)
    await hooks.create()
    assert _annotations(hooks) == {
        "mutation.webhook.admission.k8s.io/round_0_index_0": (
            '{"configuration":"a","webhook":"a.example.com","mutated":true}'
        ),
        "patch.webhook.admission.k8s.io/round_0_index_0": (
            '{"configuration":"a","webhook":"a.example.com","patch":[{"op":"add","path":"/data","value":{"x":'
            '"\\u003c\\u0026\\u003e"}}],"patchType":"JSONPatch"}'
        ),
        "mutation.webhook.admission.k8s.io/round_0_index_1": (
            '{"configuration":"b","webhook":"b.example.com","mutated":false}'
        ),
        "failed-open.mutation.webhook.admission.k8s.io/round_0_index_1": "b.example.com",
        "c.example.com/k": "v",
        "failed-open.validating.webhook.admission.k8s.io/round_0_index_1": "d.example.com",
    }


async def test_a_service_level_is_not_a_webhooks(hooks: Hooks) -> None:
    await hooks.register("Validating", "yes")
    await hooks.create()
    body: bytes = (await hooks.client.send("GET", "/metrics")).body
    took = {}
    for kind in ("duration", "sli_duration"):
        start = f"apiserver_request_{kind}_seconds_sum"
        [line] = [each for each in body.decode().splitlines() if each.startswith(start) and '"configmaps"' in each]
        took[kind] = float(line.rpartition(" ")[2])
    [line] = [
        each
        for each in body.decode().splitlines()
        if each.startswith("apiserver_admission_webhook_admission_duration_seconds_sum")
    ]
    # The webhook's own figure begins before the connection is made, and ends when the answer is understood.
    assert 0 < took["duration"] - took["sli_duration"] <= float(line.rpartition(" ")[2])


async def test_what_webhooks_came_to_is_counted(hooks: Hooks) -> None:
    never: dict[str, Any] = {"clientConfig": {"url": "https://127.0.0.1:1/x"}}
    conditions = [{"name": "c", "expression": "object.metadata.name != 'c'"}]
    await hooks.register("Mutating", "open", failurePolicy="Ignore", **never)
    await hooks.register("Mutating", "out", matchConditions=conditions)
    await hooks.register("Validating", "no", denial(code=999))
    await hooks.register("Validating", "yes")
    await hooks.refused()
    body: bytes = (await hooks.client.send("GET", "/metrics")).body
    lines = [line for line in body.decode().splitlines() if ".example.com" in line and "_seconds" not in line]
    said = 'name="{}.example.com",operation="CREATE"'
    assert sorted(lines) == [
        f'apiserver_admission_match_condition_exclusions_total{{kind="webhook",{said.format("out")},type="admit"}} 1',
        'apiserver_admission_webhook_fail_open_count{name="open.example.com",type="admit"} 1',
        'apiserver_admission_webhook_rejection_count{error_type="no_error",'
        f'{said.format("no")},rejection_code="600",type="validating"}} 1',
        'apiserver_admission_webhook_request_total{code="200",'
        f'{said.format("yes")},rejected="false",type="validating"}} 1',
        'apiserver_admission_webhook_request_total{code="503",'
        f'{said.format("open")},rejected="false",type="admit"}} 1',
        'apiserver_admission_webhook_request_total{code="600",'
        f'{said.format("no")},rejected="true",type="validating"}} 1',
    ]


@pytest.mark.parametrize(("hooks", "asked"), [("1.36", True), ("1.37", False)], indirect=["hooks"])
async def test_policies_and_since_1_37_webhooks_are_not_asked_about_reviews(hooks: Hooks, asked: bool) -> None:
    rules = [{"operations": ["CREATE"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}]
    await hooks.register("Validating", "a", denial(message="no"), rules=rules)
    policy = {"validations": [{"expression": "false"}], "matchConstraints": {"resourceRules": rules}}
    for kind, name, spec in (
        ("Policy", "policies", policy),
        ("PolicyBinding", "policybindings", {"policyName": "p", "validationActions": ["Deny"]}),
    ):
        obj = {"kind": f"ValidatingAdmission{kind}", "metadata": {"name": "p"}, "spec": spec}
        await hooks.client.create(GVR(GROUP, "v1", f"validatingadmission{name}"), obj)
    question = {"spec": {"nonResourceAttributes": {"verb": "get", "path": "/version"}}}
    reviews = GVR("authorization.k8s.io", "v1", "selfsubjectaccessreviews")
    if asked:
        with pytest.raises(ApiError, match="denied the request: no"):
            await hooks.client.create(reviews, question)
        await hooks.client.delete(GVR(GROUP, "v1", "validatingwebhookconfigurations"), "a")
    assert (await hooks.client.create(reviews, question))["status"]["allowed"]
    assert [request["kind"]["kind"] for _, request in hooks.asked] == ["SelfSubjectAccessReview"] * asked


async def test_a_webhook_has_no_more_time_than_the_request(hooks: Hooks) -> None:
    await hooks.register("Mutating", "short", timeoutSeconds=5)
    await hooks.register("Mutating", "long", timeoutSeconds=20)
    await hooks.register("Validating", "last", timeoutSeconds=30)
    await hooks.create()
    assert hooks.timeouts == {"short": "5s", "long": "20s", "last": "30s"}
    path, query = "/api/v1/namespaces/default/configmaps", {"timeout": ["10s"]}
    await hooks.client.send("POST", path, body=config_map("d"), query=query)
    assert hooks.timeouts == {"short": "5s", "long": "10s", "last": "10s"}


async def test_no_webhook_is_asked_for_a_request_that_is_out_of_time(hooks: Hooks) -> None:
    await hooks.register("Mutating", "first", failurePolicy="Ignore")
    await hooks.register("Mutating", "second", failurePolicy="Ignore")
    hooks.silent.add("first")
    path, query = "/api/v1/namespaces/default/configmaps", {"timeout": ["200ms"]}
    answer = await hooks.client.send("POST", path, body=config_map("late"), query=query)
    assert answer.status == 504
    assert hooks.timeouts == {"first": "1s"}
    hooks.silent.clear()
    hooks.released.set()
    await hooks.create()
    assert [(name, request["name"]) for name, request in hooks.asked] == [
        ("first", "late"), ("first", "c"), ("second", "c"),
    ]  # fmt: skip


async def test_what_is_deleted_while_it_is_applied_is_made_anew(hooks: Hooks) -> None:
    """As by one update that may create (pkg/registry/generic/registry, store.go): who applies need not care."""
    before = await hooks.create()
    rules = [{"operations": ["UPDATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]
    await hooks.register("Mutating", "slow", rules=rules)
    hooks.silent.add("slow")
    async with asyncio.TaskGroup() as group:
        patch = {**config_map("c"), "data": {"a": "b"}}
        applying = group.create_task(
            hooks.client.patch(
                CONFIGMAPS, "c", patch, namespace="default", content_type=APPLY_PATCH, field_manager="applier"
            )
        )
        while not hooks.asked:
            await hooks.world.clock.sleep(0)
        await hooks.client.delete(CONFIGMAPS, "c", namespace="default")
        hooks.released.set()
    made = applying.result()
    assert (made["data"], made["metadata"]["uid"] != before["metadata"]["uid"]) == ({"a": "b"}, True)


async def test_an_answer_to_another_question_is_none(hooks: Hooks) -> None:
    await hooks.register("Validating", "a", lambda request: {"uid": "other", "allowed": True})
    assert 'received invalid webhook response: expected response.uid="' in (await hooks.refused()).message


async def test_a_dry_run_is_only_for_those_without_side_effects(hooks: Hooks) -> None:
    await hooks.register("Validating", "a", sideEffects="NoneOnDryRun")
    await hooks.create(dry_run=True)
    assert [request["dryRun"] for _, request in hooks.asked] == [True]


async def test_configurations_are_never_asked_about(hooks: Hooks) -> None:
    rules = [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}]
    await hooks.register("Validating", "a", lambda request: {"allowed": False}, rules=rules)
    await hooks.client.delete(GVR(GROUP, "v1", "validatingwebhookconfigurations"), "a")
    assert hooks.asked == []
    await hooks.client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}})
