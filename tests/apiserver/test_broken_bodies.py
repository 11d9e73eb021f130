"""Bodies of objects that are no JSON, YAML or protobuf (apiserver handlers' transformDecodeError)."""

from __future__ import annotations

import pytest

from engine.client import Client
from tests.apiserver.test_protobuf_definitions import envelope, message

_HEAD = "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: "
BROKEN: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "unexpected end of JSON input (<empty>)"),
    "half an object": (b'{"metadata":', 'unexpected end of JSON input ({"metadata":)'),
    "a long one": (
        b'{"metadata":{"name":"a-rather-long-name"',
        'unexpected end of JSON input ({"metadata":{"name":"a-rather- ...)',
    ),
    "UTF-16": (b"\xff\xfe{\0}\0", "invalid character 'ÿ' looking for beginning of value (fffe7b007d00)"),
    "a byte order mark": (b"\xef\xbb\xbf{}", "invalid character 'ï' looking for beginning of value (efbbbf7b7d)"),
    "NaN": (b'{"data":NaN}', "invalid character 'N' looking for beginning of value ({\"data\":NaN})"),
    "no JSON": (b"kind: x", "invalid character 'k' looking for beginning of value (6b696e643a2078)"),
    "a list": (
        b"[]",
        "json: cannot unmarshal array into Go value of type "
        r'struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" } (5b5d)',
    ),
    "a version that is no text": (
        b'{"apiVersion":0.5,"data":{"a":"\x9c"}}',
        "json: cannot unmarshal number into Go struct field .apiVersion of type string "
        '({"apiVersion":0.5,"data":{"a": ...)',
    ),
    "a kind that is no text": (
        b'{"kind":{},"apiVersion":1}',
        'json: cannot unmarshal object into Go struct field .kind of type string ({"kind":{},"apiVersion":1})',
    ),
}


@pytest.mark.parametrize("method", ["POST", "PUT"])
@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_body_is_shown(name: str, method: str, client: Client) -> None:
    body, text = BROKEN[name]
    path = "/api/v1/namespaces/default/configmaps" + ("/a" if method == "PUT" else "")
    answer = await client.send(method, path, body=body, headers={"content-type": "application/json"})
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert answer.body["message"] == f"{_HEAD}{text}"


@pytest.mark.parametrize("validation", ["Strict", "Ignore"])
async def test_what_is_no_unicode_is_replaced_as_go_does(client: Client, validation: str) -> None:
    body = b'{"metadata":{"name":"a"},"data":{"half":"\\ud800","bytes":"\xff\xe2\x82","whole":"\\ud83d\\ude00"}}'
    path = "/api/v1/namespaces/default/configmaps"
    answer = await client.send(
        "POST",
        path,
        query={"fieldValidation": [validation]},
        body=body,
        headers={"content-type": "application/json"},
    )
    assert answer.status == 201, answer.body
    assert answer.body["data"] == {"half": "\ufffd", "bytes": "\ufffd" * 3, "whole": "\U0001f600"}


_UNRECOGNIZED = "the object provided is unrecognized (must be of type ConfigMap): "
_NAMELESS = 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required'
YAML, PROTOBUF = "application/yaml", "application/vnd.kubernetes.protobuf"
_TYPES = "the body of the request was in an unknown format - accepted media types include: application/json, "
_NO_MAGIC = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
_UNKNOWN = 'cannot be handled as a ConfigMap: no kind "{}" is registered for version "{}" in scheme '
BODIES: dict[str, tuple[str, bytes, int, str]] = {
    "null in JSON": ("application/json", b" null", 422, _NAMELESS),
    "null in YAML": (YAML, b"~", 422, _NAMELESS),
    "no YAML": (YAML, b"# nothing\n", 422, _NAMELESS),
    "nothing in YAML": (YAML, b"", 422, _NAMELESS),
    "broken YAML": (
        YAML, b"a: b: c", 400,
        f"{_UNRECOGNIZED}yaml: mapping values are not allowed in this context (613a20623a2063)",
    ),
    "broken YAML that looks like JSON": (
        YAML, b"{a: b", 400, f"{_UNRECOGNIZED}yaml: line 1: did not find expected ',' or '}}' ({{a: b)",
    ),
    "nothing of another type": ("text/plain", b"", 415, f"{_TYPES}application/yaml, {PROTOBUF}"),
    "nothing in protobuf": (PROTOBUF, b"", 400, f"{_UNRECOGNIZED}empty data (<empty>)"),
    "no protobuf": (PROTOBUF, b"{}", 400, f"{_UNRECOGNIZED}{_NO_MAGIC} ({{}})"),
    "its prefix alone": (PROTOBUF, b"k8s\0", 400, f"{_UNRECOGNIZED}empty body (6b387300)"),
    "a broken envelope": (PROTOBUF, b"k8s\0\xff\xff", 400, f"{_UNRECOGNIZED}unexpected EOF (6b387300ffff)"),
    "a broken object": (
        PROTOBUF, envelope("v1", "ConfigMap", b"\xff"), 400,
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: unexpected EOF',
    ),
    "no type": (PROTOBUF, envelope("", "", b""), 422, _NAMELESS),
    "no version": (PROTOBUF, envelope("", "ConfigMap", b""), 422, _NAMELESS),
    "another version": (
        PROTOBUF, envelope("v2", "ConfigMap", b""), 400,
        f'ConfigMap in version "v2" {_UNKNOWN.format("ConfigMap", "v2")}',
    ),
    "another kind": (PROTOBUF, envelope("v1", "No", b""), 400, f'No in version "v1" {_UNKNOWN.format("No", "v1")}'),
}  # fmt: skip


@pytest.mark.parametrize(("media_type", "body", "code", "text"), BODIES.values(), ids=BODIES.keys())
async def test_what_is_said_of_a_body(media_type: str, body: bytes, code: int, text: str, client: Client) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    answer = await client.send("POST", path, body=body, headers={"content-type": media_type})
    assert answer.status == code
    assert answer.body["message"].startswith(text)


async def test_a_text_in_protobuf_need_not_be_one(client: Client) -> None:
    raw = message((1, message((1, "a"))), (2, message((1, "k"), (2, b"x\xff"))))
    path = "/api/v1/namespaces/default/configmaps"
    body = envelope("v1", "ConfigMap", raw)
    answer = await client.send("POST", path, body=body, headers={"content-type": PROTOBUF})
    assert (answer.status, answer.body["data"]) == (201, {"k": "x\ufffd"})


@pytest.mark.parametrize("subresource", ["pods/a/binding", "pods/a/eviction", "serviceaccounts/default/token"])
async def test_a_broken_body_of_a_subresource(client: Client, subresource: str) -> None:
    path = f"/api/v1/namespaces/default/{subresource}"
    answer = await client.send("POST", path, body=b"[", headers={"content-type": "application/json"})
    assert answer.status == 400
    assert answer.body["message"].startswith("the object provided is unrecognized (must be of type ")
    assert answer.body["message"].endswith("json parse error: unexpected end of JSON input (5b)")
