"""Patches whose result is no object of the kind."""

from __future__ import annotations

import orjson
import pytest

from engine.api.errors import ApiError
from engine.api.types import CONFIGMAPS, DEPLOYMENTS, Object
from engine.api.wire import APPLY_PATCH, JSON_PATCH, MERGE_PATCH
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
        "failed to create typed patch object (default/web; /v1, Kind=ConfigMap): .datum: field not declared in schema"
    )
