"""Paths, methods and media types that the server does not know, and which of its layers says so."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from engine.api.types import GVR, PODS, SERVICE_ACCOUNTS
from engine.api.wire import Request, Response
from engine.apiserver.server import ApiServer
from engine.client import Client
from tests.apiserver.conftest import ADMIN

CUSTOM_RESOURCE_DEFINITIONS = GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions")
TEXT = b"404 page not found\n"
NO_RESOURCE = "the server could not find the requested resource"
NO_METHOD = "the server does not allow this method on the requested resource"
CUSTOM = "/apis/example.com/v1"

DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "tabs.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "tabs", "kind": "Tab"},
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}},
            {"name": "v2", "served": False, "storage": False, "schema": {"openAPIV3Schema": {"type": "object"}}},
        ],
    },
}

PAGES = (
    "/foo",
    "/API/v1/pods",
    "/apis/nope",
    "/apis/nope/v1",
    "/apis/nope/v1/things",
    "/healthz/nope",
    "/openapi/v4",
    "/apis/example.com/v2",
    "/apis/example.com/v2/tabs",
    f"{CUSTOM}/nope",
    f"{CUSTOM}/tabs/of-no-namespace",
    "//version",
    "//api/v1/namespaces",
    "//apis",
    "//healthz",
    "/healthz/",
    "/livez/ping/",
    "/healthzz",
    "/metrics/",
    "/metrics/slis/",
    "/metrics/resources/",
    "/statusz/",
    "/openapi/v2/",
)

MISSING = (
    "/api/v2",
    "/api/v2/pods",
    "/api/V1/pods",
    "/api/v1/nope",
    "/api/v1/Pods",
    "/api/v1/pods/of-no-namespace",
    "/api/v1/namespaces/x/nope",
    "/api/v1/namespaces/x/nodes",
    "/api/v1/namespaces/x/pods/p/nope",
    "/api/v1/namespaces/x/pods/p/status/more",
    "/apis/apps/v9",
    "/apis/apps/v1/nope",
    "/apis/apps/nope",
    "/apis/authentication.k8s.io/v1/tokenreviews/x",
    "/version/more",
    "/api/v1/proxy/namespaces/x/pods/p",
    "/api/v1/proxy/nodes/n",
)


class Refused(NamedTuple):
    method: str
    path: str


NOT_ALLOWED = {
    "replace a collection": Refused("PUT", "/api/v1/namespaces/x/pods"),
    "patch a collection": Refused("PATCH", "/api/v1/namespaces/x/pods"),
    "create in all namespaces": Refused("POST", "/api/v1/pods"),
    "delete in all namespaces": Refused("DELETE", "/api/v1/pods"),
    "create below a name": Refused("POST", "/api/v1/namespaces/x/pods/p"),
    "delete all namespaces": Refused("DELETE", "/api/v1/namespaces"),
    "change a component status": Refused("PUT", "/api/v1/componentstatuses/scheduler"),
    "list reviews": Refused("GET", "/apis/authentication.k8s.io/v1/tokenreviews"),
    "post a status": Refused("POST", "/api/v1/namespaces/x/pods/p/status"),
    "look at the head": Refused("HEAD", "/api/v1/namespaces/x/pods"),
    "post a version": Refused("POST", "/version"),
}


async def ask(server: ApiServer, method: str, path: str, headers: dict[str, str] | None = None) -> Response:
    return await server.handle(Request(method, path, headers=headers or {}, body=b"{}", certificate=ADMIN))


def status(code: int, reason: str, message: str) -> dict[str, Any]:
    head = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return {**head, "message": message, "reason": reason, "details": {}, "code": code}


async def test_the_index_has_two_names(server: ApiServer) -> None:
    """(pkg/server/routes/index.go)"""
    assert (await ask(server, "GET", "/index.html")).body == (await ask(server, "GET", "/")).body


@pytest.mark.parametrize("path", PAGES)
async def test_what_no_handler_is_for_is_plain_text(server: ApiServer, client: Client, path: str) -> None:
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, DEFINITION)
    answer = await ask(server, "GET", path)
    assert (answer.status, answer.body) == (404, TEXT)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize("path", MISSING)
async def test_what_no_route_of_a_service_is_for_is_a_status(server: ApiServer, path: str) -> None:
    answer = await ask(server, "GET", path)
    assert (answer.status, answer.body) == (404, status(404, "NotFound", NO_RESOURCE))


@pytest.mark.parametrize("refused", NOT_ALLOWED.values(), ids=NOT_ALLOWED.keys())
async def test_a_method_without_a_route(server: ApiServer, refused: Refused) -> None:
    answer = await ask(server, refused.method, refused.path)
    assert (answer.status, answer.body) == (405, status(405, "MethodNotAllowed", NO_METHOD))


async def test_custom_resources_are_refused_by_their_own_handler(server: ApiServer, client: Client) -> None:
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, DEFINITION)
    answer = await ask(server, "GET", f"{CUSTOM}/namespaces/x/tabs/one/status")
    assert (answer.status, answer.body["message"]) == (404, 'tabs.example.com "one" not found')
    for method in ("PUT", "PATCH"):
        answer = await ask(server, method, f"{CUSTOM}/namespaces/x/tabs")
        assert (answer.status, answer.body["message"]) == (400, "name must be provided")
    headers = {"content-type": "application/strategic-merge-patch+json"}
    answer = await ask(server, "PATCH", f"{CUSTOM}/namespaces/x/tabs/one", headers)
    assert answer.status == 415
    assert answer.body["message"] == (
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    )


async def test_media_types_that_a_route_neither_takes_nor_gives(server: ApiServer) -> None:
    headers = {"content-type": "application/json"}
    answer = await ask(server, "PATCH", "/api/v1/namespaces/default", headers)
    assert (answer.status, answer.body) == (415, status(415, "UnsupportedMediaType", "415: Unsupported Media Type"))
    answer = await ask(server, "GET", "/api/v1/namespaces/default", {"accept": "text/html"})
    message = (
        "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
        "application/vnd.kubernetes.protobuf"
    )
    assert (answer.status, answer.body) == (406, status(406, "NotAcceptable", message))
    answer = await ask(server, "GET", "/api/v1/namespaces/default", {"accept": "application/json;as=Table;g=x;v=v1"})
    assert answer.status == 406
    assert answer.body["message"].startswith("only the following media types are accepted: application/json")


async def test_discovery_is_in_the_forms_that_there_are(server: ApiServer, client: Client) -> None:
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, DEFINITION)
    html, kinds = {"accept": "text/html"}, "application/json, application/yaml, application/vnd.kubernetes.protobuf"
    routed = f"406: Not Acceptable\n\nAvailable representations: {kinds}"
    negotiated = f"only the following media types are accepted: {kinds}"
    for path in ("/api", "/api/v1", "/apis/apps/v1"):
        assert (await ask(server, "GET", path, html)).body == status(406, "NotAcceptable", routed)
    for path in ("/apis", "/apis/apps", "/apis/example.com", CUSTOM):
        answer = await ask(server, "GET", path, html)
        assert (answer.status, answer.body["reason"], answer.body["message"]) == (406, "NotAcceptable", negotiated)
    for path in ("/api", "/apis", "/apis/apps/v1", CUSTOM):
        assert (await ask(server, "GET", path, {"accept": "text/html, */*"})).status == 200


ROUTED = {
    ("/version", "application/yaml"): "application/json",
    ("/version", "application/json;q=0.1"): "",
    ("/.well-known/openid-configuration", "text/html"): "application/json",
    ("/openid/v1/jwks", "application/json"): "application/jwk-set+json",
    ("/openid/v1/jwks", "application/json, */*"): "",
    ("/api", "application/*"): "application/json, application/yaml, application/vnd.kubernetes.protobuf",
    ("/apis", "application/*"): "",
}


async def test_a_route_knows_the_forms_that_it_names_and_no_others(server: ApiServer) -> None:
    """(go-restful route.go matchesAccept) What a handler negotiates has kinds of forms as well."""
    for (path, accept), kinds in ROUTED.items():
        answer = await ask(server, "GET", path, {"accept": accept})
        if kinds:
            message = f"406: Not Acceptable\n\nAvailable representations: {kinds}"
            assert answer.body == status(406, "NotAcceptable", message), (path, accept)
        else:
            assert answer.status == 200, (path, accept)


async def test_routes_are_for_get_and_handlers_for_any_method(server: ApiServer, client: Client) -> None:
    """(pkg/server/routes and healthz add handlers, which ask for no method; discovery and /version are web services)"""
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, DEFINITION)
    routed = ("/version", "/api", "/api/v1", "/apis/apps/v1", "/.well-known/openid-configuration", "/openid/v1/jwks")
    handled = ("/", "/healthz", "/livez/ping", "/readyz", "/metrics", "/openapi/v3", "/apis", "/apis/apps", CUSTOM)
    for method in ("HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        for path in routed:
            answer = await ask(server, method, path)
            assert (answer.status, answer.body) == (405, status(405, "MethodNotAllowed", NO_METHOD)), path
        for path in handled:
            wanted = 405 if (method, path) == ("DELETE", "/metrics") else 200
            assert (await ask(server, method, path)).status == wanted, (method, path)
        for path in ("/nope", "/healthz/nope", "/apis/nope", "/apis/apps/v9", "/api/v9"):
            assert (await ask(server, method, path)).status == 404, (method, path)


async def test_an_escaped_slash_parts_a_path_as_any_other(server: ApiServer) -> None:
    """Go looks at URL.Path, which has no escapes."""
    answer = await ask(server, "GET", "/api/v1/nodes/a%2Fb")
    assert (answer.status, answer.body) == (404, status(404, "NotFound", NO_RESOURCE))
    assert (await ask(server, "GET", "/api/v1/nodes/a%2Fstatus")).body["message"] == 'nodes "a" not found'


NO_NAMES = {
    "a%25b": ('"a%b"', "may not contain '%'"),
    ".": ('"."', "may not be '.'"),
    "..": ('".."', "may not be '..'"),
}


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "APPLY", "DELETE"])
@pytest.mark.parametrize("name", NO_NAMES)
async def test_what_is_no_part_of_a_key_names_nothing(client: Client, method: str, name: str) -> None:
    """Refused before anything is looked up (registry/generic/registry store.go NamespaceKeyFunc)."""
    shown, why = NO_NAMES[name]
    body = {"metadata": {"name": shown.strip('"')}} if method in ("PUT", "PATCH", "APPLY") else None
    kind = {"PATCH": "application/merge-patch+json", "APPLY": "application/apply-patch+yaml"}.get(method)
    for path, of in (("/api/v1/namespaces/default/configmaps", "ConfigMap"), ("/api/v1/nodes", "Node")):
        answer = await client.send(
            "PATCH" if kind else method,
            f"{path}/{name}",
            query={"fieldManager": ["test"]} if kind else None,
            body={"apiVersion": "v1", "kind": of, **body} if body else None,
            headers={"content-type": kind} if kind else {},
        )
        assert (answer.status, answer.body["message"]) == (400, f"Name parameter invalid: {shown}: {why}")


async def test_a_proxied_path_ends_with_a_slash_and_any_method_goes_on(server: ApiServer, client: Client) -> None:
    pod = {"containers": [{"name": "c", "image": "nginx"}], "automountServiceAccountToken": False}
    metadata = {"name": "web", "namespace": "default"}
    await client.create(SERVICE_ACCOUNTS, {"metadata": {"name": "default"}}, namespace="default")
    made = await client.create(PODS, {"metadata": metadata, "spec": pod}, namespace="default")
    path = "/api/v1/namespaces/default/pods/web/proxy"
    assert (await ask(server, "GET", path)).status == 400  # it has no address
    await client.update_status(PODS, {**made, "status": {"podIPs": [{"ip": "10.1.2.3"}]}})
    for method in ("GET", "HEAD"):
        answer = await ask(server, method, path)
        assert (answer.status, answer.headers["location"]) == (301, f"{path}/")
    answer = await server.handle(Request("GET", path, {"a": ["1"]}, certificate=ADMIN))
    assert answer.headers["location"] == f"{path}/?a=1"
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        for asked in (path, f"{path}/"):
            assert (await ask(server, method, asked)).status == 503  # it has no node
    assert (await ask(server, "GET", "/api/v1/namespaces/default/pods/nope/proxy")).status == 404
