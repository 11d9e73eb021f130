"""Managed fields that come in protobuf, whose sets of fields may be what no JSON body could hold (upstream's
managedfields_parsing_test.go)."""

from __future__ import annotations

import pytest

from engine.api.types import CONFIGMAPS, Object
from engine.client import Client
from tests.apiserver.test_protobuf_definitions import HEADERS, envelope, message

NAME = "settings"
KEPT = '{"f:data":{"f:kept":{}}}'

SETS = {
    "more after the set": KEPT + '{"trailing":"data"}',
    "more after a value": '{"f:metadata":{"f:finalizers":{"v:\\"example.com/foo\\" {\\"trailing\\":\\"data\\"}":{}}}}',
    "more after a key": '{"f:metadata":{"f:ownerReferences":{"k:{\\"uid\\":\\"a\\"} {\\"trailing\\":\\"data\\"}":{}}}}',
    "no JSON": "{",
    "no text": b"\xff",
}


def config_map(fields: str | bytes, **data: str) -> bytes:
    held = message(
        (1, "someone"), (2, "Update"), (3, "v1"), (4, message((1, 1))), (6, "FieldsV1"), (7, message((1, fields)))
    )
    metadata = message((1, NAME), (17, held))
    return envelope("v1", "ConfigMap", message((1, metadata), *((2, message((1, k), (2, v))) for k, v in data.items())))


def owners(obj: Object) -> list[tuple[str, Object]]:
    return [(entry["manager"], entry["fieldsV1"]) for entry in obj["metadata"].get("managedFields", [])]


@pytest.mark.parametrize("fields", SETS.values(), ids=SETS.keys())
async def test_sets_that_cannot_be_read_are_given_up(client: Client, fields: str | bytes) -> None:
    path = CONFIGMAPS.path("default")
    query = {"fieldManager": ["me"]}
    await client.send("POST", path, query=query, body=config_map(fields), headers=HEADERS)
    assert owners(await client.get(CONFIGMAPS, NAME, namespace="default")) == []
    await client.delete(CONFIGMAPS, NAME, namespace="default")
    await client.send("POST", path, query=query, body=config_map(fields, foo="bar"), headers=HEADERS)
    made = await client.get(CONFIGMAPS, NAME, namespace="default")
    assert owners(made) == [("me", {"f:data": {".": {}, "f:foo": {}}})]
    await client.send(
        "PUT", f"{path}/{NAME}", query=query, body=config_map(fields, foo="baz", new="1"), headers=HEADERS
    )
    changed = await client.get(CONFIGMAPS, NAME, namespace="default")
    assert owners(changed) == [("me", {"f:data": {".": {}, "f:foo": {}, "f:new": {}}})]


async def test_a_set_that_can_be_read_replaces_what_was_there(client: Client) -> None:
    path = CONFIGMAPS.path("default")
    await client.send("POST", path, body=config_map("{", kept="1"), headers=HEADERS)
    await client.send("PUT", f"{path}/{NAME}", body=config_map(KEPT, kept="1"), headers=HEADERS)
    assert owners(await client.get(CONFIGMAPS, NAME, namespace="default")) == [("someone", {"f:data": {"f:kept": {}}})]


async def test_another_value_that_is_no_json_breaks_the_body(client: Client) -> None:
    body = envelope("apps/v1", "ControllerRevision", message((1, message((1, "a"))), (2, message((1, "{"))), (3, 1)))
    path = "/apis/apps/v1/namespaces/default/controllerrevisions"
    assert (await client.send("POST", path, body=body, headers=HEADERS)).status == 400
