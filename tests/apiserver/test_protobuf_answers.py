"""Answers in protobuf: whole objects, lists, errors and watches, as Go's clients ask for them."""

from __future__ import annotations

import struct
from base64 import b64encode
from typing import Any

import orjson
import pytest

from engine.api.resources import ResourceRegistry
from engine.api.types import CONFIGMAPS, GVR, PODS, Object
from engine.api.wire import Request, Response
from engine.apiserver.protobuf import Encoder, decode_body
from engine.apiserver.protobuf.answers import LONG
from engine.apiserver.server import ApiServer
from engine.client import Client
from tests.apiserver.conftest import ADMIN, config_map
from tests.apiserver.test_protobuf_definitions import envelope, message

JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
WIDGETS = GVR("example.com", "v1", "widgets")
SCHEMA = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
DEFINITION: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "names": {"plural": "widgets", "kind": "Widget"},
        "scope": "Namespaced",
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA}}],
    },
}
# Kinds that are answered, but never in a list.
_UNLISTED = ("Review", "Binding")


async def asked(server: ApiServer, path: str, accept: str = PROTOBUF, **query: str) -> Response:
    parameters = {name: [value] for name, value in query.items()}
    return await server.handle(Request("GET", path, parameters, {"accept": accept}, None, certificate=ADMIN))


def value(server: ApiServer, response: Response) -> Any:
    assert response.headers["content-type"] == PROTOBUF
    return decode_body(server.backend.definitions, response.body)


async def test_an_object_and_a_list_say_what_they_say_in_json(server: ApiServer, client: Client) -> None:
    for name in ("a", "b"):
        await client.create(CONFIGMAPS, config_map(name), namespace="default")
    path = "/api/v1/namespaces/default/configmaps"
    found = value(server, await asked(server, f"{path}/a"))
    assert found == await client.get(CONFIGMAPS, "a", namespace="default")
    listed = await asked(server, path)
    expected = (await asked(server, path, JSON)).body
    items = [{n: v for n, v in item.items() if n not in ("kind", "apiVersion")} for item in expected["items"]]
    assert value(server, listed) == {**expected, "items": items}
    plural = await asked(server, "/apis/rbac.authorization.k8s.io/v1/clusterroles")  # many, with lists of lists
    assert len(value(server, plural)["items"]) > 20
    answer = await asked(server, "/apis/apps/v1")
    assert message((4, b"".join(message((1, verb)) for verb in ("get", "patch", "update")))) in answer.body
    discovery = value(server, answer)
    document = orjson.loads((await asked(server, "/apis/apps/v1", JSON)).body)
    assert {**discovery, "apiVersion": "v1"} == document


async def test_a_failure_is_a_status_in_protobuf(server: ApiServer) -> None:
    response = await asked(server, "/api/v1/namespaces/default/configmaps/none")
    assert response.status == 404
    found = value(server, response)
    assert found["message"] == 'configmaps "none" not found'
    assert (found["kind"], found["reason"], found["code"]) == ("Status", "NotFound", 404)
    assert found["details"] == {"name": "none", "kind": "configmaps"}


async def frames(response: Response, count: int) -> list[bytes]:
    assert response.stream is not None
    assert response.headers["content-type"] == f"{PROTOBUF};stream=watch"
    found = []
    async for frame in response.stream:
        assert struct.unpack(">I", frame[:4]) == (len(frame) - 4,)
        found.append(frame[4:])
        if len(found) == count:
            break
    await response.stream.aclose()
    return found


async def test_the_events_of_a_watch_are_frames(server: ApiServer, client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("a"), namespace="default")
    path = "/api/v1/namespaces/default/configmaps"
    (single,) = await frames(await asked(server, path, watch="1"), 1)
    whole = (await asked(server, f"{path}/a")).body
    assert single == message((1, "ADDED"), (2, message((1, whole))))
    query = {"watch": "1", "sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
    (error,) = await frames(await asked(server, path, resourceVersion="99999999", **query), 1)
    assert error.startswith(message((1, "ERROR")))
    assert b"Too large resource version" in error


async def test_a_watch_and_a_long_list_are_json_for_who_takes_that_as_well(server: ApiServer, client: Client) -> None:
    path, both = "/api/v1/namespaces/default/configmaps", f"{PROTOBUF},{JSON}"
    watched = await asked(server, path, both, watch="1")
    assert watched.headers["content-type"] == JSON
    assert watched.events is not None
    await watched.events.aclose()
    assert (await asked(server, path, both)).headers["content-type"] == PROTOBUF
    for number in range(LONG + 1):
        await client.create(CONFIGMAPS, config_map(f"c-{number}"), namespace="default")
    assert isinstance((await asked(server, path, both)).body, dict)
    assert (await asked(server, path)).headers["content-type"] == PROTOBUF


async def test_of_a_custom_object_the_metadata_alone_has_a_protobuf(server: ApiServer, client: Client) -> None:
    await client.create(GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions"), DEFINITION)
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"a": 1}}
    made = await client.create(WIDGETS, widget, namespace="default")
    path = "/apis/example.com/v1/namespaces/default/widgets"
    for wanted in (f"{path}/w", path):
        refused = await asked(server, wanted)
        assert refused.status == 406
        told = value(server, refused)["message"]
        assert told == f"only the following media types are accepted: {JSON}, {YAML}, {PROTOBUF}"
    assert (await asked(server, f"{path}/w", f"{PROTOBUF},{JSON}")).body["spec"] == {"a": 1}
    meta = f"{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
    response = await asked(server, f"{path}/w", meta)
    assert response.headers["content-type"] == PROTOBUF
    uid = made["metadata"]["uid"].encode()
    assert response.body.startswith(envelope("meta.k8s.io/v1", "PartialObjectMetadata", b"")[:20])
    assert uid in response.body
    several = await asked(server, path, f"{PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
    assert uid in several.body
    (event,) = await frames(await asked(server, path, meta, watch="1"), 1)
    assert event == message((1, "ADDED"), (2, message((1, response.body))))


async def test_the_bytes_are_those_of_go(server: ApiServer) -> None:
    """As kubectl sends them: fields that are no pointers are there also where they are zero."""
    zero = ((3, ""), (4, ""), (5, ""), (6, ""), (7, 0), (8, b""))
    pod = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "x", "labels": {"run": "x", "a": "b"}},
        "spec": {"containers": [{"name": "x", "image": "nginx"}], "restartPolicy": "Always"},
    }
    encoder = Encoder(server.backend.definitions)
    labels = [(11, message((1, "a"), (2, "b"))), (11, message((1, "run"), (2, "x")))]
    metadata = message((1, "x"), (2, ""), *zero, *labels)
    made = encoder.encode(pod)
    assert made.startswith(b"k8s\0\n\x09\n\x02v1\x12\x03Pod\x12")
    assert made.endswith(b"\x1a\x00\x22\x00")
    assert message((1, metadata)) in made
    quota = {"kind": "ResourceQuota", "apiVersion": "v1", "metadata": {"name": "q"}, "spec": {"hard": {"pods": "3"}}}
    spec = message((1, message((1, "pods"), (2, message((1, "3"))))))
    whole = message((1, message((1, "q"), (2, ""), *zero)), (2, spec), (3, b""))
    expected = envelope("v1", "ResourceQuota", whole) + b"\x1a\x00\x22\x00"
    assert encoder.encode(quota) == expected


async def test_every_kind_has_a_protobuf(server: ApiServer) -> None:
    encoder = Encoder(server.backend.definitions)
    kinds = []
    for info in ResourceRegistry.for_version("1.37.0"):
        kinds.append((info.gvr.api_version, info.kind))
        if not info.kind.endswith(_UNLISTED) and info.list_kind:
            kinds.append((info.gvr.api_version, info.list_kind))
    assert len(kinds) > 100
    for api_version, kind in kinds:
        body = encoder.encode({"kind": kind, "apiVersion": api_version, "metadata": {}})
        assert decode_body(server.backend.definitions, body)["kind"] == kind


@pytest.mark.parametrize("gvr", [PODS])
async def test_the_end_of_the_initial_events_names_the_list_in_the_form_asked_for(server: ApiServer, gvr: GVR) -> None:
    query = {"watch": "1", "sendInitialEvents": "true", "allowWatchBookmarks": "true"}
    more = {"resourceVersionMatch": "NotOlderThan", "timeoutSeconds": "5"}
    (mark,) = await frames(await asked(server, gvr.path("default"), **query, **more), 1)
    assert b"k8s.io/initial-events-end" in mark
    empty = Encoder(server.backend.definitions).encode({"kind": "PodList", "apiVersion": "v1", "metadata": {}})
    assert b64encode(empty) in mark


async def test_what_api_answers_is_of_no_version(server: ApiServer) -> None:
    """As in JSON: the server strips it (apiserver pkg/endpoints/discovery/legacy.go)."""
    response = await asked(server, "/api")
    assert response.headers["content-type"] == PROTOBUF
    assert response.body.startswith(b"k8s\0\x0a\x0f\x0a\0\x12\x0bAPIVersions")


async def test_aggregated_discovery_has_a_protobuf(server: ApiServer) -> None:
    """It says what the JSON says (apidiscovery/v2 generated.proto)."""
    accept = f"{PROTOBUF};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    answer = await asked(server, "/apis", accept)
    assert answer.headers["content-type"] == accept
    told = (await asked(server, "/apis", accept.replace(PROTOBUF, JSON))).body
    told = told if isinstance(told, dict) else orjson.loads(told)
    group = next(each for each in told["items"] if each["metadata"]["name"] == "policy")
    (version,) = group["versions"]
    (resource,) = version["resources"]
    (status,) = resource["subresources"]

    def kind(value: Object) -> bytes:
        return message((1, value["group"]), (2, value["version"]), (3, value["kind"]))

    verbs = [(4, verb) for verb in status["verbs"]]
    of_status = message((1, "status"), (2, kind(status["responseKind"])), *verbs)
    of_resource = message(
        (1, "poddisruptionbudgets"), (2, kind(resource["responseKind"])), (3, "Namespaced"), (4, "poddisruptionbudget"),
        *((5, verb) for verb in resource["verbs"]), (6, "pdb"), (8, of_status),
    )  # fmt: skip
    meta = message((1, "policy"), *((number, "") for number in range(2, 7))) + b"\x38\x00" + message((8, ""))
    wanted = message((1, meta), (2, message((1, "v1"), (2, of_resource), (3, "Current"))))
    assert message((2, wanted)) in answer.body
    assert answer.body.startswith(envelope("apidiscovery.k8s.io/v2", "APIGroupDiscoveryList", b"")[:50])
