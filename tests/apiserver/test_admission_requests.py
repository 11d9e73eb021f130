"""What webhooks are told of each kind of request (test/integration/apiserver/admissionwebhook/admission_test.go)."""

from __future__ import annotations

from typing import Any, NamedTuple

from engine.api.types import CONFIGMAPS, DEPLOYMENTS, GVR, NODES, PODS, SERVICE_ACCOUNTS, Object
from tests.apiserver.conftest import account, config_map, pod
from tests.apiserver.test_policies import validating
from tests.apiserver.test_webhooks import Hooks, hooks, patching

__all__ = ["hooks"]
EVERYTHING: Object = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}
SPACE = "/api/v1/namespaces/default"
MERGE = {"headers": {"content-type": "application/merge-patch+json"}}
APPLY = {"headers": {"content-type": "application/apply-patch+yaml"}}
TARGET: Object = {"kind": "Node", "name": "n"}


class Told(NamedTuple):
    operation: str
    resource: str
    kind: str  # of the object, the one before it or both
    name: str = ""
    options: Object | None = None


def created(**more: Any) -> Object:
    return {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", **more}


def updated(**more: Any) -> Object:
    return {"kind": "UpdateOptions", "apiVersion": "meta.k8s.io/v1", **more}


def deleted(**more: Any) -> Object:
    return {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1", **more}


def connected(resource: str, kind: str, name: str = "a") -> Told:
    return Told("CONNECT", resource, kind, name)


REQUESTS: list[tuple[str, str, dict[str, Any], Told]] = [
    ("POST", f"{SPACE}/pods",
     {"body": pod("a"), "query": {"fieldManager": ["m"], "fieldValidation": ["Strict"], "dryRun": ["All"]}},
     Told("CREATE", "pods", "Pod", "a", created(dryRun=["All"], fieldManager="m", fieldValidation="Strict"))),
    ("POST", f"{SPACE}/pods", {"body": pod("a", terminationGracePeriodSeconds=5)},
     Told("CREATE", "pods", "Pod", "a", created())),
    ("PATCH", f"{SPACE}/pods/a",
     {"body": {"metadata": {"labels": {"a": "b"}}}, "query": {"fieldManager": ["p"]}, **MERGE},
     Told("UPDATE", "pods", "Pod", "a", updated(fieldManager="p"))),
    ("PATCH", f"{SPACE}/configmaps/n",
     {"body": {**config_map("n"), "data": {"a": "b"}}, "query": {"fieldManager": ["p"], "force": ["1"]}, **APPLY},
     Told("CREATE", "configmaps", "ConfigMap", "n", created(fieldManager="p"))),
    ("PATCH", f"{SPACE}/pods/a/status", {"body": {"status": {"message": "m"}}, **MERGE},
     Told("UPDATE", "pods/status", "Pod", "a", updated())),
    ("POST", f"{SPACE}/bindings", {"body": {"metadata": {"name": "a"}, "target": TARGET}},
     Told("CREATE", "bindings", "Binding", "a", created())),
    ("POST", f"{SPACE}/pods/a/binding", {"body": {"metadata": {"name": "a"}, "target": TARGET}},
     Told("CREATE", "pods/binding", "Binding", "a", created())),
    ("GET", f"{SPACE}/pods/a/exec", {"query": {"command": ["ls"]}}, connected("pods/exec", "PodExecOptions")),
    ("POST", f"{SPACE}/pods/a/attach", {}, connected("pods/attach", "PodAttachOptions")),
    ("GET", f"{SPACE}/pods/a/portforward", {"query": {"ports": ["80,81"]}},
     connected("pods/portforward", "PodPortForwardOptions")),
    *((method, f"{SPACE}/pods/a/proxy/x/y", {}, connected("pods/proxy", "PodProxyOptions"))
      for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")),
    ("GET", f"{SPACE}/services/http:kubernetes:1/proxy/", {},
     connected("services/proxy", "ServiceProxyOptions", "http:kubernetes:1")),
    ("GET", "/api/v1/nodes/n/proxy/healthz", {}, connected("nodes/proxy", "NodeProxyOptions", "n")),
    ("POST", f"{SPACE}/pods/a/eviction", {"body": {"metadata": {"name": "a"}}, "query": {"dryRun": ["All"]}},
     Told("CREATE", "pods/eviction", "Eviction", "a", created(dryRun=["All"]))),
    ("DELETE", f"{SPACE}/pods/a",
     {"body": {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background", "preconditions": {}}},
     Told("DELETE", "pods", "Pod", "a",
          deleted(gracePeriodSeconds=5, preconditions={}, propagationPolicy="Background"))),
    ("DELETE", f"{SPACE}/pods/a", {"query": {"gracePeriodSeconds": ["-3"]}},
     Told("DELETE", "pods", "Pod", "a", deleted(gracePeriodSeconds=1))),
    ("POST", f"{SPACE}/serviceaccounts/default/token", {"body": {"spec": {"audiences": ["api"]}}},
     Told("CREATE", "serviceaccounts/token", "TokenRequest", "default", created())),
    ("PATCH", "/apis/apps/v1/namespaces/default/deployments/d/scale", {"body": {"spec": {"replicas": 3}}, **MERGE},
     Told("UPDATE", "deployments/scale", "Scale", "d", updated())),
    ("DELETE", f"{SPACE}/configmaps", {"query": {"labelSelector": ["q=1"], "orphanDependents": ["false"]}},
     Told("DELETE", "configmaps", "ConfigMap", "", deleted(orphanDependents=False))),
]  # fmt: skip


def _told(request: Object) -> Told:
    sub = request.get("subResource")
    resource = request["resource"]["resource"]
    [kind] = {each["kind"] for each in (request["object"], request["oldObject"]) if each is not None}
    assert kind == request["kind"]["kind"]
    return Told(
        request["operation"],
        f"{resource}/{sub}" if sub else resource,
        kind,
        request.get("name", ""),
        request["options"],
    )


def deployment() -> Object:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "b"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}


async def test_what_is_told_of_requests(hooks: Hooks) -> None:
    client = hooks.client
    await client.create(SERVICE_ACCOUNTS, account("default"), namespace="default")
    await client.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
    await client.create(CONFIGMAPS, config_map("q", {"q": "1"}), namespace="default")
    await client.create(DEPLOYMENTS, deployment(), namespace="default")
    await hooks.register("Validating", "a", rules=[EVERYTHING])
    for method, path, more, expected in REQUESTS:
        hooks.asked.clear()
        await client.send(method, path, **more)
        told = [_told(request) for _, request in hooks.asked if request["resource"]["resource"] != "leases"]
        assert told == [expected], (method, path)


async def test_what_is_connected_to_is_told_with_what_is_asked_for(hooks: Hooks) -> None:
    client = hooks.client
    await client.create(SERVICE_ACCOUNTS, account("default"), namespace="default")
    await client.create(PODS, pod("a"), namespace="default")
    await hooks.register(
        "Validating", "a", lambda request: {"allowed": False}, rules=[{**EVERYTHING, "operations": ["CONNECT"]}]
    )
    shown = []
    for path, query in (
        ("portforward", {"ports": ["80", "81,82"]}),
        ("proxy/x/", {}),
        ("exec", {"command": ["ls", "-l"]}),
    ):
        answer = await client.send("GET", f"{SPACE}/pods/a/{path}", query=query)
        assert answer.body["message"] == 'admission webhook "a.example.com" denied the request without explanation'
        shown.append({key: value for key, value in hooks.asked[-1][1]["object"].items() if key != "apiVersion"})
    assert shown == [
        {"kind": "PodPortForwardOptions", "ports": [80, 81, 82]},
        {"kind": "PodProxyOptions", "path": "/x/"},
        {"kind": "PodExecOptions", "command": ["ls", "-l"]},
    ]


async def test_a_scale_is_changed_as_such(hooks: Hooks) -> None:
    await hooks.client.create(DEPLOYMENTS, deployment(), namespace="default")
    more = patching({"op": "replace", "path": "/spec/replicas", "value": 7})
    await hooks.register("Mutating", "a", more, rules=[EVERYTHING])
    path = "/apis/apps/v1/namespaces/default/deployments/d/scale"
    answer = await hooks.client.send("PATCH", path, body={"spec": {"replicas": 3}}, headers=MERGE["headers"])
    assert (answer.status, answer.body["spec"]) == (200, {"replicas": 7})
    scaled = await hooks.client.get(GVR("apps", "v1", "deployments"), "d", namespace="default")
    assert scaled["spec"]["replicas"] == 7
    assert {each.get("subresource", "") for each in scaled["metadata"]["managedFields"]} == {"", "scale"}


async def test_who_refuses_to_delete_all_knows_no_name(hooks: Hooks) -> None:
    await hooks.create("c")
    rules = [{"operations": ["DELETE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]
    await validating(hooks.client, {"expression": "request.name == 'c'"}, matchConstraints={"resourceRules": rules})
    answer = await hooks.client.send("DELETE", f"{SPACE}/configmaps", query={"labelSelector": ["for=c"]})
    assert (answer.status, answer.body["message"]) == (
        422, "configmaps \"Unknown\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: "
        "expression 'request.name == 'c'' resulted in error: no such key: name",
    )  # fmt: skip
    await hooks.client.delete(CONFIGMAPS, "c", namespace="default")


async def test_what_is_connected_to_is_looked_for_once_the_request_is_admitted(hooks: Hooks) -> None:
    rules = [{**EVERYTHING, "operations": ["CONNECT"]}]
    await hooks.register("Validating", "a", lambda request: {"allowed": request["name"] != "b"}, rules=rules)
    for path in ("exec", "attach", "portforward"):
        found = [await hooks.client.send("POST", f"{SPACE}/pods/{name}/{path}") for name in "bc"]
        assert [answer.status for answer in found] == [400, 404], path
    assert [request["name"] for _, request in hooks.asked] == ["b", "c"] * 3
