"""What the API server makes of what webhooks answer over HTTP (client-go rest/request.go, serializer/json;
webhook/request admissionreview_test.go, errors statuserror_test.go)."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from aiohttp import web

from engine.api.types import GVR, Object
from engine.apiserver.webhook_client import WebhookClient, WebhookError
from engine.apiserver.webhook_reviews import ADMISSION_REVIEW
from tests.apiserver.test_webhooks import GROUP, Hooks, Raw, denial, hooks, patching

__all__ = ["hooks"]
NO_STRUCT = (
    "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go value of type struct {{ APIVersion "
    'string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }}'
)
UNKNOWN = 'no kind "{}" is registered for version "{}" in scheme "pkg/util/webhook/client.go:69"'
CONVERTING = "converting ({}) to (v1.AdmissionReview): unknown conversion"
UNEXPECTED = "received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview"
STATUS: Object = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "custom", "code": 403}


def http(body: bytes, *, status: int = 200, content_type: str = "application/json") -> Raw:
    return lambda review: web.Response(body=body, status=status, headers={"content-type": content_type})


def typed(**meta: str | None) -> Raw:
    """A yes under another kind or version; None leaves it out."""

    def answer(review: Object) -> web.Response:
        known = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", **meta}
        said = {"uid": review["request"]["uid"], "allowed": True}
        shown = {name: value for name, value in known.items() if value is not None}
        return web.json_response({**shown, "response": said})

    return answer


def yaml(review: Object) -> web.Response:
    text = f"kind: AdmissionReview\napiVersion: admission.k8s.io/v1\nresponse: {{uid: {review['request']['uid']}"
    return web.Response(text=f"{text}, allowed: yes}}\n", content_type="text/plain")


FAILED = "failed to call webhook: "
ANSWERS: dict[str, tuple[Raw, str]] = {
    "yaml": (yaml, ""),
    "nothing": (http(b""), f"{FAILED}0-length response with status code: 200 and content type: application/json"),
    "no content": (http(b"", status=204, content_type="text/x"),
                   f"{FAILED}0-length response with status code: 204 and content type: text/x"),
    "a text": (http(b"hello there"), FAILED + NO_STRUCT.format("string")),
    "a page": (http(b"<html>hi</html>", content_type="text/html"), FAILED + NO_STRUCT.format("string")),
    "a list": (http(b"[1]"), FAILED + NO_STRUCT.format("array")),
    "broken json": (http(b" {bad"), f"{FAILED}couldn't get version/kind; json parse error: invalid character 'b' "
                    "looking for beginning of object key string"),
    "broken yaml": (http(b"a: [1"), f"{FAILED}yaml: line 1: did not find expected ',' or ']'"),
    "null": (http(b"null"), "received invalid webhook response: webhook response was absent"),
    "an error in words": (http(b"no luck\n", status=500, content_type="text/plain"),
                          f'{FAILED}an error on the server ("no luck") has prevented the request from succeeding'),
    "an error in no words": (http(b"{}", status=500),
                             f'{FAILED}an error on the server ("unknown") has prevented the request from succeeding'),
    "an error that is a status": (http(orjson.dumps(STATUS), status=500), f"{FAILED}custom"),
    "an error that says nothing of its kind": (http(b'{"status":"Failure","message":"m"}', status=404), f"{FAILED}m"),
    "an error that is a status of success": (
        http(orjson.dumps({**STATUS, "status": "Success"}), status=404),
        f"{FAILED}the server could not find the requested resource",
    ),
    "a status": (http(orjson.dumps(STATUS)), FAILED + CONVERTING.format("v1.Status")),
    "another version": (typed(apiVersion="admission.k8s.io/v1beta1"),
                        FAILED + CONVERTING.format("v1beta1.AdmissionReview")),
    "an unknown version": (typed(apiVersion="admission.k8s.io/v2"),
                           FAILED + UNKNOWN.format("AdmissionReview", "admission.k8s.io/v2")),
    "another group": (typed(apiVersion="admission.k8s.io2/v1"),
                      FAILED + UNKNOWN.format("AdmissionReview", "admission.k8s.io2/v1")),
    "another kind": (typed(kind="Other"),
                     FAILED + UNKNOWN.format("Other", "admission.k8s.io/v1")),
    "no version at all": (typed(apiVersion="a/b/c"), f"{FAILED}unexpected GroupVersion string: a/b/c"),
    "neither": (typed(kind=None, apiVersion=None), f"{UNEXPECTED}, got /, Kind="),
    "no version": (typed(apiVersion=None), f"{UNEXPECTED}, got /, Kind=AdmissionReview"),
    "no kind": (typed(kind=None), f"{UNEXPECTED}, got admission.k8s.io/v1, Kind="),
}  # fmt: skip


async def test_what_is_read_of_an_answer(hooks: Hooks) -> None:
    await hooks.register("Validating", "a")
    for number, (case, (answer, why)) in enumerate(ANSWERS.items()):
        hooks.raw["a"] = answer
        if not why:
            await hooks.create(f"c{number}")
            continue
        error = await hooks.refused(f"c{number}")
        told = f'failed calling webhook "a.example.com": {why}'
        assert (error.code, error.message) == (500, f"Internal error occurred: {told}"), case
        assert error.details == {"causes": [{"message": told}]}, case


async def test_a_patch_of_the_first_version_is_of_the_one_type(hooks: Hooks) -> None:
    response = patching({"op": "add", "path": "/data", "value": {"a": "b"}})({})
    await hooks.register("Mutating", "a", lambda request: response, admissionReviewVersions=["v1beta1"])
    for said in ("Merge", "", None):
        response["patchType"] = said
        assert (await hooks.create(f"c{len(hooks.asked)}"))["data"] == {"a": "b"}


async def test_a_no_says_when_to_come_again_and_no_more_than_a_status_can(hooks: Hooks) -> None:
    causes: list[Object] = [{"field": "f", "message": "m", "reason": "r", "more": 1}]
    details: Object = {"retryAfterSeconds": 7, "causes": causes, "more": 1, "name": "n", "uid": ""}
    await hooks.register("Validating", "a", denial(code=429, message="slow", details=details))
    answer = await hooks.client.send("POST", "/api/v1/namespaces/default/configmaps", body={"metadata": {"name": "c"}})
    assert answer.headers["retry-after"] == "7"
    shown: Any = orjson.dumps(answer.body["details"]).decode()
    assert shown == '{"name":"n","causes":[{"reason":"r","message":"m","field":"f"}],"retryAfterSeconds":7}'


async def test_a_path_is_asked_as_go_joins_it(hooks: Hooks) -> None:
    hooks.answers["a/b"] = hooks.answers[""] = lambda request: {"allowed": True}
    for path, expected in (("/a//x/../b/", "a/b"), ("", "")):
        await hooks.register("Validating", "w", clientConfig={"url": hooks.url + path, "caBundle": hooks.bundle})
        await hooks.create(f"c{len(expected)}")
        assert hooks.asked[-1][0] == expected
        await hooks.client.delete(GVR(GROUP, "v1", "validatingwebhookconfigurations"), "w")
    await hooks.register("Validating", "w", clientConfig={"url": "https://127.0.0.1:1"})
    assert 'Post "https://127.0.0.1:1/?timeout=10s": dial tcp' in (await hooks.refused()).message


async def test_an_object_is_of_the_kind_that_a_patch_says(hooks: Hooks) -> None:
    unknown = 'Internal error occurred: no kind "{}" is registered for version "{}" in scheme "{}"'
    scheme = "pkg/api/legacyscheme/scheme.go:30"
    rows: list[tuple[Object, str]] = [
        ({"op": "replace", "path": "/kind", "value": "Foo"}, unknown.format("Foo", "v1", scheme)),
        ({"op": "replace", "path": "/apiVersion", "value": "a.b/v1"}, unknown.format("ConfigMap", "a.b/v1", scheme)),
        ({"op": "replace", "path": "/kind", "value": "Secret"},
         "converting (v1.Secret) to (core.ConfigMap): unknown conversion"),
        ({"op": "remove", "path": "/kind"}, ""),
        ({"op": "replace", "path": "/apiVersion", "value": ""}, ""),
    ]  # fmt: skip
    await hooks.register("Mutating", "a")
    for number, (operation, told) in enumerate(rows):
        hooks.answers["a"] = patching(operation)
        if told:
            refused = await hooks.refused()
            assert (refused.code, refused.message) == (500, told)
        else:
            assert (await hooks.create(f"c{number}"))["kind"] == "ConfigMap"


def later_on(status: int, seconds: str) -> Raw:
    return lambda review: web.Response(status=status, headers={"retry-after": seconds})


async def test_an_answer_that_says_when_is_asked_for_again(hooks: Hooks) -> None:
    """client-go rest/with_retry.go: those of 429 and from 500 on, ten times."""
    later = [503, 429]

    def busy(review: Object) -> web.Response:
        if later:
            return web.Response(status=later.pop(), headers={"retry-after": "0"})
        return typed()(review)

    await hooks.register("Validating", "a")
    hooks.raw["a"] = busy
    await hooks.create()
    assert (len(hooks.asked), {request["uid"] for _, request in hooks.asked}) == (3, {hooks.asked[0][1]["uid"]})
    for status, after, times in ((500, "0", 11), (500, "soon", 1), (404, "0", 1)):
        hooks.asked.clear()
        hooks.raw["a"] = later_on(status, after)
        refused = await hooks.refused("d")
        assert (len(hooks.asked), refused.code) == (times, 500), status


class _Nowhere:
    """No Service is looked up for a URL."""

    async def find(self, gvr: GVR, namespace: str, name: str) -> Object | None:
        return None

    async def all(self, gvr: GVR, namespace: str) -> list[Object]:
        return []


async def test_who_is_told_to_come_too_late_gives_up(hooks: Hooks) -> None:
    hooks.raw["a"] = later_on(503, "60")
    config = {"url": f"{hooks.url}/a", "caBundle": hooks.bundle}
    body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {}}
    with pytest.raises(WebhookError, match=r"^context deadline exceeded$"):
        await WebhookClient(_Nowhere()).post(config, body, timeout=1, form=ADMISSION_REVIEW)
    assert len(hooks.asked) == 1
