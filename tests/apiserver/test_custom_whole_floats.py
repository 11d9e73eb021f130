"""Whole numbers that JSON writes with a point or an exponent, in custom resources.

Such a number is a float64 to Go until the object has been stored, and an int64 from then on; YAML becomes JSON first,
which writes it as digits alone (apimachinery pkg/util/json, unstructured NestedInt64, apiserver pkg/cel/common).
"""

from __future__ import annotations

import orjson
import pytest

from engine.api.types import GVR, Object
from engine.api.wire import MERGE_PATCH, Response
from engine.client import Client
from tests.api.crd.samples import GROUP, cron_tab, definition

DEFINITIONS = GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions")
CRON_TABS = GVR(GROUP, "v1", "crontabs")
PATH = f"/apis/{GROUP}/v1/namespaces/default/crontabs"
SCHEMA: Object = {
    "type": "object",
    "properties": {
        "replicas": {"type": "integer"},
        "text": {"type": "string"},
        "share": {"type": "number", "x-kubernetes-validations": [{"rule": "self > 0.5"}]},
        "few": {"type": "integer", "maximum": 1000},
        "count": {"type": "integer"},
        "asked": {
            "type": "object",
            "properties": {
                "whole": {"type": "integer"},
                "port": {"x-kubernetes-int-or-string": True},
            },
            "x-kubernetes-validations": [
                {"rule": "!has(self.whole) || self.whole >= 0"},
                {"rule": "!has(self.port) || self.port != 0"},
            ],
        },
    },
}
SCALE: Object = {"scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}}


def _cron_tab(spec: str) -> bytes:
    return orjson.dumps(cron_tab({}) | {"metadata": {"name": "a"}}).replace(b'"spec":{}', f'"spec":{spec}'.encode())


async def _create(client: Client, spec: str, content_type: str = "application/json") -> Response:
    return await client.send("POST", PATH, body=_cron_tab(spec), headers={"content-type": content_type})


@pytest.fixture
async def scaled(client: Client) -> Client:
    await client.create(DEFINITIONS, definition(SCHEMA, subresources=SCALE))
    return client


REFUSED = {
    '{"replicas":3.0}': "spec.replicas: Invalid value: 0: .spec.replicas accessor error: 3 is of the type float64, "
    "expected int64",
    '{"replicas":1e6}': "spec.replicas: Invalid value: 0: .spec.replicas accessor error: 1e+06 is of the type float64, "
    "expected int64",
    '{"text":3.0}': 'spec.text: Invalid value: "number": spec.text in body must be of type string: "number"',
    '{"few":1e6}': "spec.few: Invalid value: 1e+06: spec.few in body should be less than or equal to 1000",
    '{"count":3.000000001}': '<nil>: Invalid value: "": Checked value must be of type integer (default format) in '
    "spec.count",
    '{"count":1e16}': 'spec.count: Invalid value: "number": spec.count in body must be of type integer: "number"',
    '{"asked":{"whole":1.0}}': 'spec.asked: Invalid value: "object": invalid data, expected int, got float64 '
    "evaluating rule: !has(self.whole) || self.whole >= 0",
    '{"asked":{"port":1.0}}': 'spec.asked: Invalid value: "object": invalid data, expected XIntOrString value to be '
    "either a string or integer evaluating rule: !has(self.port) || self.port != 0",
}


async def test_what_wants_an_int64_refuses_a_float(scaled: Client) -> None:
    for spec, why in REFUSED.items():
        answer = await _create(scaled, spec)
        assert answer.status == 422, spec
        assert why in answer.body["message"]


async def test_a_patch_that_writes_a_float_is_refused_as_well(scaled: Client) -> None:
    assert (await _create(scaled, '{"replicas":1}')).status == 201
    body = b'{"spec":{"replicas":2.0}}'
    answer = await scaled.send("PATCH", f"{PATH}/a", body=body, headers={"content-type": MERGE_PATCH})
    assert answer.status == 422
    assert "2 is of the type float64" in answer.body["message"]


async def test_yaml_has_no_floats_that_are_whole(scaled: Client) -> None:
    answer = await _create(scaled, '{"replicas":3.0,"asked":{"whole":1e3,"port":1.0}}', "application/yaml")
    assert answer.status == 201
    assert orjson.dumps(answer.body["spec"]) == b'{"asked":{"port":1,"whole":1000},"replicas":3}'


async def test_elsewhere_a_whole_float_is_an_integer_once_it_is_stored(client: Client) -> None:
    await client.create(DEFINITIONS, definition(SCHEMA))
    answer = await _create(client, '{"replicas":3.0,"share":1.0,"count":3.0}')
    assert answer.status == 201
    assert orjson.dumps(answer.body["spec"]) == b'{"count":3,"replicas":3,"share":1}'
    made = await client.get(DEFINITIONS, f"crontabs.{GROUP}")
    made["spec"]["versions"][0]["subresources"] = SCALE
    await client.update(DEFINITIONS, made)
    labelled = await client.patch(
        CRON_TABS, "a", {"metadata": {"labels": {"a": "b"}}}, namespace="default", content_type=MERGE_PATCH
    )
    assert labelled["spec"]["replicas"] == 3


async def test_a_definition_writes_whole_floats_as_digits(client: Client) -> None:
    """Bounds, and values that are any JSON; so that the default of a list's key is the key that it stands for."""
    page: Object = {"type": "number", "default": 2.0, "maximum": 5.0, "minimum": 0.5, "enum": [1.0, 2.0, 2.5]}
    items: Object = {"type": "object", "properties": {"page": page, "text": {"type": "string"}}}
    pages: Object = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["page"],
        "items": items,
    }
    example = {"example": {"a": [1e3, 0.5]}}
    await client.create(DEFINITIONS, definition({"type": "object", "properties": {"pages": {**pages, **example}}}))
    response = await client.send("GET", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crontabs.{GROUP}")
    [version] = response.body["spec"]["versions"]
    known = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["pages"]
    digits = orjson.dumps(known["items"]["properties"]["page"], option=orjson.OPT_SORT_KEYS)
    assert digits == b'{"default":2,"enum":[1,2,2.5],"maximum":5,"minimum":0.5,"type":"number"}'
    assert orjson.dumps(known["example"]) == b'{"a":[1000,0.5]}'
    for page_of in ({}, {"page": 2}):
        applied = cron_tab({"pages": [{**page_of, "text": "x"}]}) | {"metadata": {"name": "a"}}
        response = await client.send(
            "PATCH",
            f"{PATH}/a",
            query={"fieldManager": ["one"]},
            body=orjson.dumps(applied),
            headers={"content-type": "application/apply-patch+yaml"},
        )
        assert orjson.dumps(response.body["spec"]["pages"]) == b'[{"page":2,"text":"x"}]'
        [entry] = response.body["metadata"]["managedFields"]
        assert [*entry["fieldsV1"]["f:spec"]["f:pages"]] == ['k:{"page":2}']
