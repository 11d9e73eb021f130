"""Patches whose result is no object of the kind."""

from __future__ import annotations

import orjson
import pytest

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, DEPLOYMENTS, SECRETS, Object
from engine.api.wire import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, Response
from engine.client import Client
from tests.apiserver.conftest import config_map
from tests.apiserver.test_create import deployment

STRATEGIC: dict[str, tuple[Object, str]] = {
    "a word for a number": (
        {"spec": {"replicas": "x"}},
        '"map[spec:map[replicas:x]]": unrecognized type: int32',
    ),
    "half a number": (
        {"spec": {"replicas": 1.5}},
        '"map[spec:map[replicas:1.5]]": cannot convert float64 to int32',
    ),
    "a whole float for a word": (
        {"spec": {"strategy": {"type": 1.0}}},
        '"map[spec:map[strategy:map[type:1]]]": unrecognized type: string',
    ),
    "half a number for a word": (
        {"metadata": {"labels": {"a": 1.5}}},
        '"map[metadata:map[labels:map[a:1.5]]]": unrecognized type: string',
    ),
    "a number for a word": (
        {"spec": {"strategy": {"type": 1}}},
        '"map[spec:map[strategy:map[type:1]]]": cannot convert int64 to v1.DeploymentStrategyType',
    ),
    "a number for a label": (
        {"metadata": {"labels": {"a": 1}}},
        '"map[metadata:map[labels:map[a:1]]]": cannot convert int64 to string',
    ),
    "a word for a list": (
        {"spec": {"template": {"spec": {"tolerations": "x"}}}},
        '"map[spec:map[template:map[spec:map[tolerations:x]]]]": cannot restore slice from string',
    ),
    "a word for labels": (
        {"spec": {"selector": {"matchLabels": "x"}}},
        '"map[spec:map[selector:map[matchLabels:x]]]": cannot restore map from string',
    ),
    "a word for an object": (
        {"spec": {"strategy": "x"}},
        '"map[spec:map[strategy:x]]": cannot restore struct from: string',
    ),
    "a word for a truth": (
        {"spec": {"paused": "yes"}},
        '"map[spec:map[paused:yes]]": unrecognized type: bool',
    ),
}


@pytest.mark.parametrize("name", STRATEGIC)
async def test_a_strategic_patch_shows_itself_and_the_kinds_of_go(client: Client, name: str) -> None:
    patch, expected = STRATEGIC[name]
    await client.create(DEPLOYMENTS, deployment(), namespace="default")
    with pytest.raises(ApiError) as caught:
        await client.patch(DEPLOYMENTS, "web", patch, namespace="default")
    assert (caught.value.code, caught.value.reason) == (422, "Invalid")
    assert caught.value.message == f' "" is invalid: patch: Invalid value: {expected}'
    cause = {"reason": "FieldValueInvalid", "message": f"Invalid value: {expected}", "field": "patch"}
    assert caught.value.details == {"causes": [cause]}


async def test_unknown_fields_of_a_strict_patch(client: Client) -> None:
    await client.create(DEPLOYMENTS, deployment(), namespace="default")
    patch = {"spec": {"wat": 1}}
    with pytest.raises(ApiError) as caught:
        await client.patch(DEPLOYMENTS, "web", patch, namespace="default", field_validation="Strict")
    assert caught.value.message == (
        ' "" is invalid: patch: Invalid value: "map[spec:map[wat:1]]": strict decoding error: unknown field "spec.wat"'
    )


@pytest.mark.parametrize(
    ("patch", "content_type"),
    [({"data": {"a": 1}}, MERGE_PATCH), ([{"op": "add", "path": "/data", "value": {"a": 1}}], JSON_PATCH)],
    ids=["merge", "json"],
)
async def test_other_patches_show_what_they_made_of_the_object(
    client: Client, patch: object, content_type: str
) -> None:
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    with pytest.raises(ApiError) as caught:
        await client.patch(CONFIGMAPS, "web", patch, namespace="default", content_type=content_type)
    assert caught.value.code == 422
    before, _, after = caught.value.message.rpartition(": json: ")
    assert after == "cannot unmarshal number into Go struct field ConfigMap.data of type string"
    shown = orjson.loads(orjson.loads(before.removeprefix(' "" is invalid: patch: Invalid value: ')))
    assert (shown["metadata"]["name"], shown["data"]) == ("web", {"a": 1})


@pytest.mark.parametrize(
    ("patch", "content_type", "first"),
    [
        ({"data": {"a": 1}}, MERGE_PATCH, "name"),
        ({"data": {"a": 1}, "metadata": {"annotations": {"q": "1"}}}, MERGE_PATCH, "annotations"),
        ([{"op": "add", "path": "/data/a", "value": 1}], JSON_PATCH, "name"),
        ([{"op": "test", "path": "/metadata/annotations/b", "value": "<"},
          {"op": "add", "path": "/data/a", "value": 1}],
         JSON_PATCH, "annotations"),
    ],
)  # fmt: skip
async def test_what_a_patch_went_through_is_shown_in_order(
    client: Client, patch: object, content_type: str, first: str
) -> None:
    made = config_map("web") | {"metadata": {"name": "web", "annotations": {"b": "<"}}, "data": {"b": ""}}
    await client.create(CONFIGMAPS, made, namespace="default")
    with pytest.raises(ApiError) as caught:
        await client.patch(CONFIGMAPS, "web", patch, namespace="default", content_type=content_type)
    text = orjson.loads(
        caught.value.message.removeprefix(' "" is invalid: patch: Invalid value: ').rpartition(": json: ")[0]
    )
    shown = orjson.loads(text)
    assert list(shown)[:2] == ["apiVersion", "data"]
    assert next(iter(shown["metadata"])) == first
    assert "\\u003c" in text


@pytest.mark.parametrize("validation", ["Strict", "Warn", "Ignore"])
async def test_what_is_applied_must_fit_the_schema(client: Client, validation: str) -> None:
    sent = {**config_map("web"), "datum": {}}
    with pytest.raises(ApiError) as caught:
        await client.patch(
            CONFIGMAPS,
            "web",
            sent,
            namespace="default",
            content_type=APPLY_PATCH,
            field_manager="test",
            field_validation=validation,
        )
    assert (caught.value.code, caught.value.reason) == (500, "")
    assert caught.value.message == (
        "failed to create typed patch object (/web; /v1, Kind=ConfigMap): .datum: field not declared in schema"
    )


BODIES: dict[str, tuple[str, bytes, str, str]] = {
    "no JSON patch": (JSON_PATCH, b"", "Warn", "error decoding patch: unexpected end of JSON input"),
    "no merge patch": (MERGE_PATCH, b"", "Warn", "error decoding patch: unexpected end of JSON input"),
    "no strategic patch": (STRATEGIC_PATCH, b"", "Ignore", "unexpected end of JSON input"),
    "a JSON patch that is an object": (
        JSON_PATCH,
        b"{}",
        "Warn",
        "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
    ),
    "a JSON patch that is an object, leniently": (
        JSON_PATCH,
        b"{}",
        "Ignore",
        "json: cannot unmarshal object into Go value of type jsonpatch.Patch",
    ),
    "an operation that is a text": (
        JSON_PATCH,
        b'["x"]',
        "Strict",
        "error decoding patch: json: cannot unmarshal string into Go value of type handlers.jsonPatchOp",
    ),
    "an operation with a number for its path": (
        JSON_PATCH,
        b'[{"op":"add","path":1}]',
        "Strict",
        "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string",
    ),
    "a broken JSON patch": (JSON_PATCH, b"[{]", "Warn", "error decoding patch: invalid character ']' looking for "
                            "beginning of object key string"),
    "a broken merge patch": (MERGE_PATCH, b"{", "Warn", "error decoding patch: unexpected end of JSON input"),
    "a broken merge patch, leniently": (MERGE_PATCH, b"{", "Ignore", "Invalid JSON Patch"),
    "a broken strategic patch": (STRATEGIC_PATCH, b"{", "Warn", "unexpected end of JSON input"),
    "a merge patch that is a list": (
        MERGE_PATCH,
        b"[]",
        "Warn",
        "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
    ),
    "a strategic patch that is a list": (
        STRATEGIC_PATCH,
        b"[]",
        "Warn",
        "json: cannot unmarshal array into Go value of type map[string]interface {}",
    ),
    "an applied list": (
        APPLY_PATCH,
        b"[]",
        "Warn",
        "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value "
        "of type map[string]interface {}",
    ),
    "an applied object without a type": (APPLY_PATCH, b"{}", "Warn", "invalid object type: /, Kind="),
    "nothing is applied": (APPLY_PATCH, b"", "Warn", "invalid object type: /, Kind="),
    "an applied object with a number for its version": (
        APPLY_PATCH, b"apiVersion: 1\nkind: ConfigMap\n", "Warn", "invalid object type: /, Kind=ConfigMap"
    ),
    "an applied object that has a key twice": (
        APPLY_PATCH,
        b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata:\n  a: x\n  a: z\n",
        "Strict",
        "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n"
        '  line 6: key "a" already set in map',
    ),
}  # fmt: skip


async def send(client: Client, content_type: str, body: bytes, validation: str) -> Response:
    return await client.send(
        "PATCH",
        "/api/v1/namespaces/default/configmaps/web",
        query={"fieldManager": ["me"], "fieldValidation": [validation]},
        body=body,
        headers={"content-type": content_type},
    )


@pytest.mark.parametrize("name", BODIES)
async def test_bodies_that_are_no_patch(client: Client, name: str) -> None:
    content_type, body, validation, message = BODIES[name]
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    response = await send(client, content_type, body, validation)
    assert (response.status, response.body["message"]) == (400, message)


NO_OBJECT = r"""struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"""


@pytest.mark.parametrize(
    ("content_type", "body", "validation", "kind"),
    [
        (JSON_PATCH, b'[{"op":"replace","path":"","value":[]}]', "Warn", "array"),
        (MERGE_PATCH, b"[{}]", "Ignore", "array"),
        (MERGE_PATCH, b'"x"', "Ignore", "string"),
    ],
)
async def test_a_patch_that_leaves_no_object(
    client: Client, content_type: str, body: bytes, validation: str, kind: str
) -> None:
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    response = await send(client, content_type, body, validation)
    assert (response.status, response.body["reason"]) == (422, "Invalid")
    assert response.body["details"]["causes"][0]["message"].endswith(
        f"json parse error: json: cannot unmarshal {kind} into Go value of type {NO_OBJECT}"
    )


UNFIT: dict[str, tuple[Object, str]] = {
    "no base64": (
        {"data": {"a": "!!"}, "kind": "Secret", "apiVersion": "v1"},
        "(/web; /v1, Kind=Secret) to proper version: unable to convert unstructured object to /v1, Kind=Secret: error "
        "decoding from json: illegal base64 data at input byte 0",
    ),
    "half a number": (
        {"spec": {"replicas": 1.5}, "kind": "Deployment", "apiVersion": "apps/v1"},
        "(/web; apps/v1, Kind=Deployment) to proper version: unable to convert unstructured object to apps/v1, "
        "Kind=Deployment: cannot convert float64 to int32",
    ),
}


@pytest.mark.parametrize("name", UNFIT)
async def test_what_is_applied_must_make_an_object(client: Client, name: str) -> None:
    fields, why = UNFIT[name]
    sent = {**fields, "metadata": {"name": "web"}}
    gvr = {"Secret": SECRETS, "Deployment": DEPLOYMENTS}[sent["kind"]]
    with pytest.raises(ApiError) as caught:
        await client.patch(gvr, "web", sent, namespace="default", content_type=APPLY_PATCH, field_manager="me")
    assert (caught.value.code, caught.value.message) == (500, f"failed to convert new object {why}")


async def test_of_several_documents_the_first_is_applied(client: Client) -> None:
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: b}\n---\na: b\na: c\n"
    made = await send(client, APPLY_PATCH, body, "Strict")
    assert (made.status, made.body["data"]) == (201, {"a": "b"})


async def test_a_version_that_is_no_number(client: Client) -> None:
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, resourceVersion: x}\n"
    for _ in ("of what is not there", "of what is there"):
        refused = await send(client, APPLY_PATCH, body, "Warn")
        assert (refused.status, refused.body["message"]) == (500, 'strconv.ParseUint: parsing "x": invalid syntax')
        await send(client, APPLY_PATCH, body.replace(b"x}", b"'7'}"), "Warn")


async def test_metadata_that_is_none(client: Client) -> None:
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata: [1]\n"
    refused = await send(client, APPLY_PATCH, body, "Warn")
    assert (refused.status, refused.body["message"]) == (
        500, "failed to create typed patch object (/; /v1, Kind=ConfigMap): .metadata: expected map, got &{[1]}"
    )  # fmt: skip


TWICE: dict[str, tuple[str, bytes, list[str]]] = {
    "merge": (MERGE_PATCH, b'{"data":{"a":"x","a":"y"},"wat":1}', ['duplicate field "data.a"', 'unknown field "wat"']),
    "strategic": (STRATEGIC_PATCH, b'{"data":{"a":"x","a":"y"}}', ['duplicate field "data.a"']),
    "JSON": (
        JSON_PATCH,
        b'[{"op":"add","op":"add","foo":1,"path":"/data","value":{"a":"y"}},{"op":"add","path":"/wat","value":1}]',
        ['json patch duplicate field "[0].op"', 'json patch unknown field "[0].foo"', 'unknown field "wat"'],
    ),
}


@pytest.mark.parametrize("name", TWICE)
async def test_what_a_patch_has_twice(client: Client, name: str) -> None:
    content_type, body, found = TWICE[name]
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    refused = await send(client, content_type, body, "Strict")
    assert refused.status == 422
    assert refused.body["message"].endswith(f": strict decoding error: {', '.join(found)}")
    warned = await send(client, content_type, body, "Warn")
    assert warned.body["data"] == {"a": "y"}
    assert [text for value in warned.headers["warning"].split("299 - ") if (text := value.strip(" ,"))] == [
        orjson.dumps(text).decode() for text in found
    ]


async def test_what_yaml_has_twice(client: Client) -> None:
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata:\n  a: x\n  a: z\nwat: 1\n"
    text = 'line 6: key "a" already set in map'
    path = "/api/v1/namespaces/default/configmaps"
    headers = {"content-type": "application/yaml"}
    refused = await client.send("POST", path, query={"fieldValidation": ["Strict"]}, body=body, headers=headers)
    assert refused.body["message"] == (
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '
        f'yaml: unmarshal errors:\n  {text}, unknown field "wat"'
    )
    warned = await client.send("POST", path, query={"fieldValidation": ["Warn"]}, body=body, headers=headers)
    assert (warned.status, warned.body["data"]) == (201, {"a": "z"})
    assert text in warned.headers["warning"].replace("\\", "")


async def test_a_patch_of_nothing_is_not_read(client: Client) -> None:
    response = await send(client, MERGE_PATCH, b"{", "Warn")
    assert (response.status, response.body["message"]) == (404, 'configmaps "web" not found')


async def test_a_patch_that_makes_it_another_kind(client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    for kind, reason in (
        ("Foo", 'no kind \\"Foo\\" is registered for version \\"v1\\" in scheme'),
        ("Pod", "converting (v1.Pod) to (core.ConfigMap): unknown conversion"),
    ):
        refused = await send(client, MERGE_PATCH, orjson.dumps({"kind": kind}), "Ignore")
        assert refused.status == 422
        assert reason.replace("\\", "") in refused.body["message"]
        taken = await send(client, STRATEGIC_PATCH, orjson.dumps({"kind": kind, "data": {"a": kind}}), "Ignore")
        assert (taken.status, taken.body["kind"], taken.body["data"]) == (200, "ConfigMap", {"a": kind})


@pytest.mark.parametrize("content_type", [MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH])
async def test_a_patch_cannot_change_the_uid(client: Client, content_type: str) -> None:
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    patch = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web", "uid": "x"}}
    refused = await send(client, content_type, orjson.dumps(patch), "Ignore")
    assert (refused.status, refused.body["message"]) == (
        422,
        'ConfigMap "web" is invalid: metadata.uid: Invalid value: "x": field is immutable',
    )
    # It is told of twice: by what goes for all objects, and by what goes for this kind.
    assert [cause["field"] for cause in refused.body["details"]["causes"]] == ["metadata.uid"] * 2


async def test_what_else_is_wrong_is_told_beside_another_uid(client: Client) -> None:
    await client.create(CONFIGMAPS, config_map("web"), namespace="default")
    patch = {"metadata": {"uid": "x"}, "data": {"a b": ""}}
    refused = await send(client, MERGE_PATCH, orjson.dumps(patch), "Ignore")
    assert {cause["field"] for cause in refused.body["details"]["causes"]} == {"metadata.uid", "data[a b]"}


async def test_a_strategic_patch_has_whole_floats_as_integers(client: Client) -> None:
    """(apimachinery pkg/runtime/converter.go) Also where a type reads JSON by itself; JSON and merge patches refuse."""
    await client.create(DEPLOYMENTS, deployment("web"), namespace="default")
    limits = {"limits": {"cpu": 2.0}}
    patch = {
        "spec": {
            "replicas": 3.0,
            "progressDeadlineSeconds": 1e3,
            "strategy": {"rollingUpdate": {"maxSurge": 2.0}},
            "template": {"spec": {"containers": [{"name": "app", "resources": limits}]}},
        }
    }
    path = DEPLOYMENTS.path("default", "web")
    answer = await client.send("PATCH", path, body=patch, headers={"content-type": STRATEGIC_PATCH})
    assert answer.status == 200, answer.body
    spec = answer.body["spec"]
    assert (spec["replicas"], spec["progressDeadlineSeconds"], spec["strategy"]["rollingUpdate"]["maxSurge"]) == (
        3,
        1000,
        2,
    )
    assert spec["template"]["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "2"}
    refused = await client.send("PATCH", path, body={"spec": {"replicas": 1.0}}, headers={"content-type": MERGE_PATCH})
    assert refused.status == 422
