"""CustomResourceDefinitions and APIServices as Go's typed clients send them: protocol buffers."""

from __future__ import annotations

import struct
from typing import Any

from engine.api.types import GVR
from engine.client import Client

HEADERS = {"content-type": "application/vnd.kubernetes.protobuf"}
DEFINITIONS = GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions")
API_SERVICES = GVR("apiregistration.k8s.io", "v1", "apiservices")


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*made, value])


def message(*parts: tuple[int, Any]) -> bytes:
    """Numbers and their values: whole numbers, floats, texts or messages."""
    made = b""
    for number, value in parts:
        if isinstance(value, int):
            made += _varint(number << 3) + _varint(value)
        elif isinstance(value, float):
            made += _varint(number << 3 | 1) + struct.pack("<d", value)
        else:
            data = value.encode() if isinstance(value, str) else value
            made += _varint(number << 3 | 2) + _varint(len(data)) + data
    return made


def envelope(api_version: str, kind: str, raw: bytes) -> bytes:
    return b"k8s\0" + message((1, message((1, api_version), (2, kind))), (2, raw))


def prop(*parts: tuple[int, Any]) -> bytes:
    """JSONSchemaProps, with the zeros that Go sends of plain fields."""
    return message((1, ""), (2, ""), (4, ""), *parts, (10, 0), (12, 0), (18, 0), (37, 0), (39, 0), (40, 0))


def entry(name: str, schema: bytes) -> tuple[int, bytes]:
    return 29, message((1, name), (2, schema))


async def test_a_definition(client: Client) -> None:
    grows = "!oldSelf.hasValue() || self.size >= oldSelf.value().size"
    rule = message((1, grows), (2, "m"), (4, "FieldValueInvalid"), (6, 1))
    size = prop(
        (5, "integer"),
        (6, "int32"),
        (8, message((1, "3"))),
        (9, 10.0),
        (20, message((1, "3"))),
        (20, message((1, "4"))),
    )
    tags = prop((5, "array"), (24, message((1, prop((5, "string"), (13, 9))))), (42, "set"))
    labels = prop((5, "object"), (30, message((1, 1), (2, prop((5, "string"))))))
    spec = prop((5, "object"), (23, "size"), entry("size", size), entry("tags", tags), entry("labels", labels),
                entry("open", prop((5, "object"), (38, 1))), entry("any", prop((5, "object"), (30, message((1, 1))))),
                (44, rule))  # fmt: skip
    schema = message((1, prop((5, "object"), entry("spec", spec))))
    column = message((1, "Size"), (2, "integer"), (3, ""), (4, ""), (5, 0), (6, ".spec.size"))
    version = message((1, "v1"), (2, 1), (3, 1), (4, schema), (5, message((1, b""))), (6, column), (7, 0))
    names = message((1, "things"), (2, "thing"), (3, "th"), (4, "Thing"), (5, "ThingList"))
    definition = message((1, "p.io"), (3, names), (4, "Namespaced"), (7, version), (10, 0))
    status = message((2, message((1, ""), (4, ""))))
    whole = message((1, message((1, "things.p.io"))), (2, definition), (3, status))
    body = envelope("apiextensions.k8s.io/v1", "CustomResourceDefinition", whole)
    response = await client.send("POST", DEFINITIONS.path(), body=body, headers=HEADERS)
    assert response.status == 201, response.body
    made = await client.get(DEFINITIONS, "things.p.io")
    (found,) = made["spec"]["versions"]
    assert found["additionalPrinterColumns"] == [{"jsonPath": ".spec.size", "name": "Size", "type": "integer"}]
    assert found["subresources"] == {"status": {}}
    assert found["schema"]["openAPIV3Schema"]["properties"]["spec"] == {
        "type": "object",
        "required": ["size"],
        "properties": {
            "size": {"type": "integer", "format": "int32", "default": 3, "maximum": 10, "enum": [3, 4]},
            "tags": {"type": "array", "items": {"type": "string", "maxLength": 9}, "x-kubernetes-list-type": "set"},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            "any": {"type": "object", "additionalProperties": True},
        },
        "x-kubernetes-validations": [
            {"rule": grows, "message": "m", "reason": "FieldValueInvalid", "optionalOldSelf": True}
        ],
    }


async def test_an_api_service(client: Client) -> None:
    service = message((1, "kube-system"), (2, "metrics"), (3, 443))
    spec = message((1, service), (2, "things.example.com"), (3, "v1beta1"), (4, 1), (7, 100), (8, 50))
    body = envelope("apiregistration.k8s.io/v1", "APIService",
                    message((1, message((1, "v1beta1.things.example.com"))), (2, spec), (3, b"")))  # fmt: skip
    response = await client.send("POST", API_SERVICES.path(), body=body, headers=HEADERS)
    assert response.status == 201, response.body
    assert (await client.get(API_SERVICES, "v1beta1.things.example.com"))["spec"] == {
        "group": "things.example.com",
        "groupPriorityMinimum": 100,
        "insecureSkipTLSVerify": True,
        "service": {"name": "metrics", "namespace": "kube-system", "port": 443},
        "version": "v1beta1",
        "versionPriority": 50,
    }


async def test_fields_of_another_release_are_skipped(client: Client) -> None:
    """As Go's code does with numbers that it does not know: of the object, its metadata and below a list."""
    port = message((1, "web"), (3, 80), (99, "of tomorrow"))
    spec = message((1, port), (77, 5), (98, message((1, "x"))))
    body = envelope("v1", "Service", message((1, message((1, "s"), (50, "new"))), (2, spec), (9, b"new")))
    made = await client.send("POST", "/api/v1/namespaces/default/services", body=body, headers=HEADERS)
    assert made.status == 201
    assert [(each["name"], each["port"]) for each in made.body["spec"]["ports"]] == [("web", 80)]
