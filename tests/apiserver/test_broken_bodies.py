"""Bodies of objects that are no JSON (apiserver handlers' transformDecodeError)."""

from __future__ import annotations

import pytest

from engine.client import Client

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
