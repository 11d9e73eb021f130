"""OpenAPI v3 as protobuf says what the JSON says (gnostic openapiv3/OpenAPIv3.proto)."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from engine.api.openapi.documents import OpenApi
from engine.api.openapi.proto_v3 import document_v3
from engine.api.schema import load_definitions
from engine.apiserver.protobuf.wire import fields
from tests.api.objects import DEFINITIONS, REGISTRY


def inside(data: bytes, *path: int) -> list[Any]:
    """What stands at a path of field numbers."""
    found: list[Any] = [data]
    for number in path:
        found = [field.value for each in found for field in fields(each) if field.number == number]
    return found


def names(data: bytes, *path: int) -> list[str]:
    return [each.decode() for each in inside(data, *path, 1)]


def named(data: bytes, name: str, *path: int) -> bytes:
    """The value of a pair of name and value."""
    (found,) = [inside(pair, 2)[0] for pair in inside(data, *path) if inside(pair, 1) == [name.encode()]]
    assert isinstance(found, bytes)
    return found


def test_a_document_has_its_paths_and_schemas() -> None:
    documents = OpenApi(REGISTRY, DEFINITIONS)
    json = orjson.loads(documents.v3("apis/policy/v1") or b"")
    data = documents.v3_proto("apis/policy/v1")
    assert data is not None
    assert inside(data, 1) == [json["openapi"].encode()]
    assert inside(data, 2, 1) == [json["info"]["title"].encode()]
    assert inside(data, 2, 6) == [json["info"]["version"].encode()]
    assert names(data, 4, 1) == list(json["paths"])
    assert names(data, 5, 1, 1) == list(json["components"]["schemas"])
    path = "/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets/{name}"
    item, wanted = named(data, path, 4, 1), json["paths"][path]
    for method, number in (("get", 4), ("put", 5), ("delete", 7), ("patch", 10)):
        (operation,) = inside(item, number)
        assert inside(operation, 5) == [wanted[method]["operationId"].encode()]
        assert names(operation, 8, 2) == list(wanted[method]["responses"])
        assert names(operation, 13) == [name for name in wanted[method] if name.startswith("x-")]
    assert names(item, 13, 1) == [each["name"] for each in wanted["parameters"] if "name" in each]
    schema = inside(named(data, "io.k8s.api.policy.v1.PodDisruptionBudgetSpec", 5, 1, 1), 1)[0]
    spec = json["components"]["schemas"]["io.k8s.api.policy.v1.PodDisruptionBudgetSpec"]
    assert inside(schema, 25) == [b"object"]
    assert inside(schema, 34) == [spec["description"].encode()]
    assert names(schema, 31, 1) == list(spec["properties"])
    reference = inside(named(schema, "maxUnavailable", 31, 1), 1, 26, 2, 1)
    assert reference == [b"#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString"]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (True, [(2, 1)]),
        ("a", [(3, b"a")]),
        (3, [(1, 3.0)]),
        ({}, []),
        ([], []),
    ],
)
def test_a_default_is_a_scalar_or_only_there(value: object, wanted: list[tuple[int, object]]) -> None:
    document = {"components": {"schemas": {"a": {"default": value}}}}
    (default,) = inside(named(document_v3(document), "a", 5, 1, 1), 1, 33)
    assert [(field.number, field.value) for field in fields(default)] == wanted


def test_every_document_has_one() -> None:
    documents = OpenApi(REGISTRY, load_definitions(""))
    for path in documents.index["paths"]:
        data = documents.v3_proto(path)
        assert data is not None
        assert names(data, 4, 1)
    assert documents.v3_proto("apis/policy/v9") is None
