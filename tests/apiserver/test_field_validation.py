"""What is unknown in a body or there twice, told in the order that upstream's decoders meet it in: that of the document
for JSON, that of keys for what has been through Go's maps (test/integration/apiserver/field_validation_test.go)."""

from __future__ import annotations

import orjson
import pytest

from engine.api.types import CONFIGMAPS, DEPLOYMENTS, GVR, Object
from engine.api.wire import JSON, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, YAML, Response
from engine.client import Client
from tests.apiserver.test_create import deployment

NESTED = "spec.template.spec.containers[0]"
TYPED_JSON = """
{"apiVersion": "apps/v1", "kind": "Deployment",
 "metadata": {"name": "first", "name": "web", "labels": {"app": "w"}, "strange": 1},
 "spec": {"wat": 1, "both": {"deep": 1}, "both": {"deep": 2, "deep": 3}, "paused": true, "paused": false,
  "selector": {"matchLabels": {"app": "w"}},
  "template": {"metadata": {"labels": {"app": "w", "app": "w"}},
   "spec": {"containers": [{"name": "c", "image": "i", "odd": 1, "image": "j", "image": "k"}]}}}}
"""
TYPED_YAML = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: first
  name: web
  strange: 1
spec:
  wat: 1
  both: 1
  both: 2
  selector: {matchLabels: {app: w}}
  template:
    metadata: {labels: {app: w}}
    spec:
      containers:
      - name: c
        odd: 1
        image: i
"""
PATCH = """
{"spec": {"wat": 1, "both": 1, "both": 2, "paused": true, "paused": false,
 "template": {"spec": {"containers": [{"name": "c", "image": "i", "odd": 1, "image": "j"}]}}}}
"""
OPERATIONS = """
[{"op": "add", "path": "/spec/wat", "value": {"a": 1, "a": 2}, "foo": 1},
 {"op": "add", "path": "/spec/zz", "path": "/spec/aa", "value": 1},
 {"op": "add", "path": "/spec/template/spec/containers/0/odd", "value": 1}]
"""
PATCHED = ['unknown field "spec.both"', f'unknown field "{NESTED}.odd"', 'unknown field "spec.wat"']
TWICE = ['duplicate field "spec.both"', 'duplicate field "spec.paused"', f'duplicate field "{NESTED}.image"']
TYPED: dict[str, tuple[str, str, list[str]]] = {
    "JSON": (
        JSON,
        TYPED_JSON,
        [
            'duplicate field "metadata.name"',
            'unknown field "metadata.strange"',
            'unknown field "spec.wat"',
            'unknown field "spec.both"',
            'duplicate field "spec.paused"',
            'duplicate field "spec.template.metadata.labels.app"',
            f'unknown field "{NESTED}.odd"',
            f'duplicate field "{NESTED}.image"',
        ],
    ),
    "YAML": (
        YAML,
        TYPED_YAML,
        [
            'line 5: key "name" already set in map',
            'line 10: key "both" already set in map',
            'unknown field "metadata.strange"',
            *PATCHED,
        ],
    ),
    "merge": (MERGE_PATCH, PATCH, [*TWICE, *PATCHED]),
    "strategic": (STRATEGIC_PATCH, PATCH, [*TWICE, *PATCHED]),
    "operations": (
        JSON_PATCH,
        OPERATIONS,
        [
            'json patch duplicate field "[0].value.a"',
            'json patch unknown field "[0].foo"',
            'json patch duplicate field "[1].path"',
            'unknown field "spec.aa"',
            f'unknown field "{NESTED}.odd"',
            'unknown field "spec.wat"',
        ],
    ),
}


async def written(client: Client, path: str, case: tuple[str, str], validation: str) -> Response:
    content_type, body = case
    return await client.send(
        "PUT" if content_type in (JSON, YAML) else "PATCH",
        path,
        query={"fieldValidation": [validation]},
        body=body.encode(),
        headers={"content-type": content_type},
    )


def warnings(response: Response) -> list[str]:
    quoted = response.headers.get("warning", "").split("299 - ")
    return [orjson.loads(text) for part in quoted if (text := part.strip(" ,"))]


def in_one(texts: list[str]) -> str:
    """As an error has them: what YAML has twice is one of it, told of by lines."""
    lines = [text for text in texts if text.startswith("line")]
    rest = [text for text in texts if not text.startswith("line")]
    return ", ".join([*(["\n  ".join(["yaml: unmarshal errors:", *lines])] if lines else []), *rest])


@pytest.mark.parametrize("name", TYPED)
async def test_a_built_in_kind(client: Client, name: str) -> None:
    content_type, body, texts = TYPED[name]
    sent = deployment()
    sent["spec"]["selector"]["matchLabels"] = sent["spec"]["template"]["metadata"]["labels"] = {"app": "w"}
    sent["spec"]["template"]["spec"]["containers"] = [{"name": "c", "image": "i"}]
    await client.create(DEPLOYMENTS, sent, namespace="default")
    path = f"{DEPLOYMENTS.path('default')}/web"
    refused = await written(client, path, (content_type, body), "Strict")
    assert refused.body["message"].endswith(f"strict decoding error: {in_one(texts)}")
    warned = await written(client, path, (content_type, body), "Warn")
    assert (warned.status, warnings(warned)) == (200, texts)
    ignored = await written(client, path, (content_type, body), "Ignore")
    assert (ignored.status, warnings(ignored)) == (200, [])


@pytest.mark.parametrize("validation", ["Ignore", "Warn"])
async def test_what_comes_twice_is_filled_whoever_hears_of_it(client: Client, validation: str) -> None:
    head = '"metadata":{"name":"a","labels":{"a":"1"}},"metadata":{"labels":{"b":"2"}}'
    body = f'{{{head},"data":{{"k":"1"}},"data":{{"l":"2"}}}}'.encode()
    query = {"fieldValidation": [validation]}
    made = (await client.send("POST", CONFIGMAPS.path("default"), query=query, body=body)).body
    assert (made["metadata"]["labels"], made["data"]) == ({"a": "1", "b": "2"}, {"k": "1", "l": "2"})


async def test_a_fraction_in_what_is_there_once_more_is_told_of(client: Client) -> None:
    body = b'{"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":1.5},"spec":{}}'
    refused = await client.send("POST", DEPLOYMENTS.path("default"), body=body)
    assert refused.status == 400
    assert "cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas" in refused.body["message"]


GROUP = "example.com"
NOXUS = GVR(GROUP, "v1", "noxus")
SPEC: Object = {
    "type": "object",
    "properties": {
        "known": {"type": "string"},
        "embedded": {
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "properties": {"spec": {"type": "object"}},
        },
        "ports": {"type": "array", "items": {"type": "object", "properties": {"number": {"type": "integer"}}}},
    },
}
CUSTOM_JSON = """
{"apiVersion": "example.com/v1", "kind": "Noxu",
 "metadata": {"name": "first", "name": "a", "strange": 1, "resourceVersion": "%s"},
 "spec": {"wat": 1, "vast": 1, "vast": 2, "ports": [{"number": 1, "odd": 1, "number": 2}], "known": "a", "known": "b",
  "embedded": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b", "stranger": 1}}}}
"""
CUSTOM_YAML = """\
apiVersion: example.com/v1
kind: Noxu
metadata: {name: a, strange: 1, resourceVersion: "%s"}
spec:
  wat: 1
  known: a
  known: b
  ports: [{number: 1, odd: 1}]
  embedded: {apiVersion: v1, kind: ConfigMap, metadata: {name: b, stranger: 1}}
"""
UNKNOWN = ['unknown field "metadata.strange"', 'unknown field "spec.ports[0].odd"']
EMBEDDED = ['unknown field "spec.embedded.metadata.stranger"']
CUSTOM: dict[str, tuple[str, str, list[str], list[str]]] = {
    "JSON": (
        JSON,
        CUSTOM_JSON,
        [
            'duplicate field "metadata.name"',
            'duplicate field "spec.vast"',
            'duplicate field "spec.ports[0].number"',
            'duplicate field "spec.known"',
        ],
        ['unknown field "spec.vast"', 'unknown field "spec.wat"'],
    ),
    "YAML": (YAML, CUSTOM_YAML, ['line 7: key "known" already set in map'], ['unknown field "spec.wat"']),
}


@pytest.mark.parametrize("open_ended", [False, True])
@pytest.mark.parametrize("name", CUSTOM)
async def test_a_custom_kind(client: Client, name: str, *, open_ended: bool) -> None:
    schema = {**SPEC, "x-kubernetes-preserve-unknown-fields": True} if open_ended else SPEC
    version = {"name": "v1", "served": True, "storage": True}
    version["schema"] = {"openAPIV3Schema": {"type": "object", "properties": {"spec": schema}}}
    names = {"plural": "noxus", "singular": "noxu", "kind": "Noxu", "listKind": "NoxuList"}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"noxus.{GROUP}"},
        "spec": {"group": GROUP, "names": names, "scope": "Cluster", "versions": [version]},
    }  # fmt: skip
    await client.create(GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions"), definition)
    made = await client.create(NOXUS, {"apiVersion": NOXUS.api_version, "kind": "Noxu", "metadata": {"name": "a"}})
    content_type, body, twice, unknown = CUSTOM[name]
    texts = [*twice, *UNKNOWN, *([] if open_ended else unknown), *EMBEDDED]
    case = (content_type, body % made["metadata"]["resourceVersion"])
    refused = await written(client, f"{NOXUS.path()}/a", case, "Strict")
    assert refused.body["message"].endswith(f"strict decoding error: {in_one(texts)}")
    warned = await written(client, f"{NOXUS.path()}/a", case, "Warn")
    assert (warned.status, warnings(warned)) == (200, texts)
