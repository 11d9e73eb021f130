from __future__ import annotations

import pytest

from engine.api.wire import Request
from engine.apiserver.request_info import RequestInfo, parse
from engine.client import Client

CASES = {
    "list in a namespace": (
        "GET",
        "/api/v1/namespaces/default/pods",
        {},
        ("list", "", "v1", "default", "pods", "", ""),
    ),
    "list of all namespaces": ("GET", "/api/v1/pods", {}, ("list", "", "v1", "", "pods", "", "")),
    "get": ("GET", "/api/v1/namespaces/default/pods/web", {}, ("get", "", "v1", "default", "pods", "", "web")),
    "head is a get": (
        "HEAD",
        "/api/v1/namespaces/default/pods/web",
        {},
        ("get", "", "v1", "default", "pods", "", "web"),
    ),
    "watch": (
        "GET",
        "/apis/apps/v1/deployments",
        {"watch": ["true"]},
        ("watch", "apps", "v1", "", "deployments", "", ""),
    ),
    "watch=1": ("GET", "/api/v1/pods", {"watch": ["1"]}, ("watch", "", "v1", "", "pods", "", "")),
    "watch=false": ("GET", "/api/v1/pods", {"watch": ["false"]}, ("list", "", "v1", "", "pods", "", "")),
    "create": ("POST", "/api/v1/namespaces/a/pods", {}, ("create", "", "v1", "a", "pods", "", "")),
    "update": (
        "PUT",
        "/apis/apps/v1/namespaces/a/deployments/web",
        {},
        ("update", "apps", "v1", "a", "deployments", "", "web"),
    ),
    "status": (
        "PATCH",
        "/api/v1/namespaces/a/pods/web/status",
        {},
        ("patch", "", "v1", "a", "pods", "status", "web"),
    ),
    "deletecollection": (
        "DELETE",
        "/api/v1/namespaces/a/pods",
        {},
        ("deletecollection", "", "v1", "a", "pods", "", ""),
    ),
    "a namespace is in itself": ("GET", "/api/v1/namespaces/a", {}, ("get", "", "v1", "a", "namespaces", "", "a")),
    "status of a namespace": (
        "PUT",
        "/api/v1/namespaces/a/status",
        {},
        ("update", "", "v1", "a", "namespaces", "status", "a"),
    ),
    "finalize": (
        "PUT",
        "/api/v1/namespaces/a/finalize",
        {},
        ("update", "", "v1", "a", "namespaces", "finalize", "a"),
    ),
    "namespaces": ("GET", "/api/v1/namespaces", {}, ("list", "", "v1", "", "namespaces", "", "")),
    "one name by field selector": (
        "GET",
        "/api/v1/namespaces/a/pods",
        {"fieldSelector": ["metadata.name=web"], "watch": ["true"]},
        ("watch", "", "v1", "a", "pods", "", "web"),
    ),
    "watch without a value": ("GET", "/api/v1/pods", {"watch": [""]}, ("watch", "", "v1", "", "pods", "", "")),
    "watch=f": ("GET", "/api/v1/pods", {"watch": ["f"]}, ("watch", "", "v1", "", "pods", "", "")),
    "watch=FALSE": ("GET", "/api/v1/pods", {"watch": ["FALSE"]}, ("list", "", "v1", "", "pods", "", "")),
    "a name among other fields": (
        "GET",
        "/api/v1/namespaces/a/pods",
        {"fieldSelector": ["spec.nodeName=n,metadata.name==web\\,x"]},
        ("list", "", "v1", "a", "pods", "", "web,x"),
    ),
    "a name that no path can have": (
        "GET",
        "/api/v1/namespaces/a/pods",
        {"fieldSelector": ["metadata.name=a/b"]},
        ("list", "", "v1", "a", "pods", "", ""),
    ),
    "no name where something else is malformed": (
        "GET",
        "/api/v1/namespaces/a/pods",
        {"fieldSelector": ["metadata.name=web"], "labelSelector": ["<"], "watch": ["1"]},
        ("watch", "", "v1", "a", "pods", "", ""),
    ),
    "no name where a number is none": (
        "GET",
        "/api/v1/namespaces/a/pods",
        {"fieldSelector": ["metadata.name=web"], "limit": ["x"]},
        ("list", "", "v1", "a", "pods", "", ""),
    ),
    "no name for what deletes many": (
        "DELETE",
        "/api/v1/namespaces/a/pods",
        {"fieldSelector": ["metadata.name=web"]},
        ("deletecollection", "", "v1", "a", "pods", "", ""),
    ),
    "the old watch path of one": (
        "GET",
        "/api/v1/watch/namespaces/a/pods/web",
        {},
        ("watch", "", "v1", "a", "pods", "", "web"),
    ),
    "the old watch path": ("GET", "/api/v1/watch/pods", {}, ("watch", "", "v1", "", "pods", "", "")),
    "no subresource of what is proxied": (
        "GET",
        "/api/v1/proxy/namespaces/a/pods/web/path/of/its/own",
        {},
        ("proxy", "", "v1", "a", "pods", "", "web"),
    ),
    "an escaped name": ("GET", "/api/v1/nodes/a%25b", {}, ("get", "", "v1", "", "nodes", "", "a%b")),
    "an escaped slash": ("GET", "/api/v1/nodes/a%2Fstatus", {}, ("get", "", "v1", "", "nodes", "status", "a")),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_resource_path_says_what_the_request_is_about(
    case: tuple[str, str, dict[str, list[str]], tuple[str, ...]],
) -> None:
    method, path, query, expected = case
    found = parse(Request(method, path, query))
    assert found.is_resource
    assert (
        found.verb,
        found.group,
        found.version,
        found.namespace,
        found.resource,
        found.subresource,
        found.name,
    ) == expected


@pytest.mark.parametrize(
    "path", ["/", "/version", "/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/healthz"]
)
def test_other_paths_are_asked_for_by_method(path: str) -> None:
    assert parse(Request("GET", path)) == RequestInfo(False, path, "get")


def test_what_follows_a_subresource_is_kept() -> None:
    assert parse(Request("GET", "/api/v1/nodes/n/proxy/stats/summary")).parts == ("stats", "summary")


# path, query -> the URL that the failure tells of, as it is quoted there; none where it is no such path
UNFINISHED: dict[str, tuple[str, dict[str, list[str]], str]] = {
    "watch": ("/api/v1/watch", {}, "/api/v1/watch"),
    "a slash more": ("/api/v1/watch/", {}, "/api/v1/watch/"),
    "proxy of a group": ("/apis/apps/v1/proxy", {}, "/apis/apps/v1/proxy"),
    "with a query": ("/api/v1/watch/", {"a": ["1", "<"], "b": [""]}, "/api/v1/watch/?a=1&amp;a=%3C&amp;b="),
    "a resource": ("/api/v1/proxy/pods", {}, ""),
    "no version": ("/api/watch", {}, ""),
    "another prefix": ("/apis/v1/watch", {}, ""),
}


@pytest.mark.parametrize("row", UNFINISHED.values(), ids=UNFINISHED.keys())
async def test_a_path_that_ends_before_it_says_what_to_watch_fails(
    client: Client, row: tuple[str, dict[str, list[str]], str]
) -> None:
    path, query, url = row
    answer = await client.send("GET", path, query=query)
    wrong = f"failed to create RequestInfo: unable to determine kind and namespace from url, {url}"
    text = f'Internal Server Error: "{url}": {wrong}\n'.encode()
    assert ((answer.status, answer.body) == (500, text)) is bool(url)
