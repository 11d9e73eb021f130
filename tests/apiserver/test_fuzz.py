"""A short run of `python -m tests.fuzz`, and what longer ones have brought to light."""

from __future__ import annotations

import copy

import pytest

from engine.api.errors import ApiError
from engine.api.types import NODES
from engine.api.wire import JSON, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, YAML, Request
from engine.apiserver.server import ApiServer
from engine.client import Client
from engine.clock import VirtualClock
from tests.apiserver.conftest import ADMIN
from tests.fuzz.run import fuzz

PATH = "/api/v1/namespaces/default/configmaps"


async def test_random_requests_break_nothing(virtual_clock: VirtualClock) -> None:
    report = await fuzz(virtual_clock, requests=1500, seed=7)
    assert report.problems == []
    assert report.sent == 1500
    assert report.codes[201] > 50  # not all of it is refused


BROKE_IT = {
    "deep JSON": (
        "POST", JSON, b"[" * 20_000,
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: "
        "invalid character '[' exceeded max depth",
    ),
    "JSON that is less deep, and ends too early": (
        "POST", JSON, b"[" * 3_000,
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: "
        "unexpected end of JSON input",
    ),
    "deep YAML": (
        "POST", YAML, b"[" * 900 + b"]" * 900,
        "the object provided is unrecognized (must be of type ConfigMap): yaml: ",
    ),
    "YAML that is deeper than libyaml reads": (
        "POST", YAML, b"a: 1\nb: " + b"[" * 20_000,
        "the object provided is unrecognized (must be of type ConfigMap): yaml: line 2: exceeded max depth of 10000",
    ),
    "a deep JSON patch": (
        "PATCH", JSON_PATCH, b"[" * 20_000, "error decoding patch: invalid character '[' exceeded max depth",
    ),
    "a deep patch": (
        "PATCH", MERGE_PATCH, b"[" * 500 + b"]" * 500,
        "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
    ),
    "a patch deeper than Python can call": (
        "PATCH", MERGE_PATCH, b"[" * 3_000 + b"]" * 3_000, "error decoding patch: exceeded max depth",
    ),
    "a patch that is refused and is no UTF-8": (
        "PATCH", STRATEGIC_PATCH, b'{"spec":{"finalizers":[1]},"metadata":{"labels":{"a":"\x8c"}}}',
        ' "" is invalid: patch: Invalid value: ',
    ),
    "an operation that is no text": (
        "PATCH", JSON_PATCH, b'[{"op": {}, "path": "/a"}]',
        "error decoding patch: json: cannot unmarshal object into Go struct field jsonPatchOp.op of type string",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("method", "kind", "body", "message"), BROKE_IT.values(), ids=BROKE_IT.keys())
async def test_bodies_that_broke_it_once(server: ApiServer, method: str, kind: str, body: bytes, message: str) -> None:
    path = "/api/v1/namespaces/default" if method == "PATCH" else PATH
    answer = await server.handle(Request(method, path, headers={"content-type": kind}, body=body, certificate=ADMIN))
    assert answer.status in (400, 422)
    assert answer.body["message"].startswith(message)


NAMED = {"metadata": {"name": "a"}}
EMPTY = [{}, NAMED, {"metadata": None}, {**NAMED, "spec": None}, {**NAMED, "spec": {}}]


async def test_an_object_of_any_kind_may_say_next_to_nothing(server: ApiServer, client: Client) -> None:
    kinds = [info for info in server.backend.resources if info.stored and "create" in info.verbs]
    assert len(kinds) > 50
    for info in kinds:
        path = info.gvr.path("default" if info.namespaced else None)
        for body in EMPTY:
            answer = await client.send("POST", path, query={"dryRun": ["All"]}, body=copy.deepcopy(body))
            assert answer.status in (201, 400, 403, 405, 409, 422), (path, body, answer.body)


async def test_an_object_too_deep_to_be_written(server: ApiServer, client: Client) -> None:
    """JSON of any form is read down to a thousand levels, and written down to 254."""
    path, data = "/apis/apps/v1/namespaces/default/controllerrevisions", b'{"a":' * 300 + b"1" + b"}" * 300
    body = b'{"metadata":{"name":"deep"},"revision":1,"data":%b}' % data
    answer = await client.send("POST", path, headers={"content-type": JSON}, body=body)
    assert (answer.status, answer.body["message"]) == (400, "exceeded max depth")


async def test_a_node_that_does_not_answer_through_the_proxy(server: ApiServer, client: Client) -> None:
    await client.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}})
    with pytest.raises(ApiError) as caught:
        await client.request("GET", "/api/v1/nodes/n1/proxy/healthz")
    assert caught.value.code == 503
    assert caught.value.message == "error trying to reach service: dial tcp n1:10250: connect: connection refused"
    with pytest.raises(ApiError, match='nodes "n2" not found'):
        await client.request("GET", "/api/v1/nodes/n2/proxy/healthz")
