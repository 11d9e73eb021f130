"""What is published of a custom resource (apiextensions-apiserver openapi builder_test and v2 conversion_test)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.crd.published_v2 import root_in_v2
from engine.api.types import Object
from tests.api.crd.samples import GROUP, compiled

ANYTHING: Object = {"x-kubernetes-preserve-unknown-fields": True}
EMBEDDED: Object = {"type": "object", "x-kubernetes-embedded-resource": True}
EITHER: Object = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
MIXED: Object = {"x-kubernetes-int-or-string": True}
TEXT: Object = {"type": "string"}
LEAST: list[Object] = [{"minimum": 42}]


def published(node: Object, **version: Any) -> Object:
    return compiled({"type": "object", "properties": {"f": node}}, **version).published["com.example.stable.v1.CronTab"]


def field(made: Object) -> Any:
    return made["properties"]["spec"]["properties"]["f"]


@pytest.mark.parametrize(
    ("node", "made"),
    [
        pytest.param(MIXED, MIXED | EITHER, id="a number or a string"),
        pytest.param(MIXED | EITHER, MIXED | EITHER, id="that says so"),
        pytest.param(
            MIXED | {"allOf": [EITHER, {"anyOf": LEAST}]}, MIXED | {"allOf": [EITHER, {"anyOf": LEAST}]}, id="in allOf"
        ),
        pytest.param(MIXED | {"anyOf": LEAST}, MIXED | {"anyOf": LEAST, "allOf": [EITHER]}, id="beside another anyOf"),
        pytest.param(
            MIXED | {"anyOf": LEAST, "allOf": LEAST},
            MIXED | {"anyOf": LEAST, "allOf": [EITHER, *LEAST]},
            id="beside both",
        ),
    ],
)
def test_what_int_or_string_stands_for_is_written_out(node: Object, made: Object) -> None:
    assert field(published(node)) == made
    assert field(root_in_v2(published(node))) == MIXED


def test_embedded_resources_have_type_and_metadata() -> None:
    made = field(published(EMBEDDED | ANYTHING | {"required": ["spec"]}))
    assert list(made["properties"]) == ["apiVersion", "kind", "metadata"]
    assert made["required"] == ["spec", "kind", "apiVersion"]
    assert made["properties"]["metadata"]["description"].startswith("Standard object's metadata. More info: ")
    assert made["properties"]["kind"]["description"].startswith("kind is a string value representing the type of this")
    assert "properties" not in field(root_in_v2(published(EMBEDDED | ANYTHING)))


@pytest.mark.parametrize(
    ("node", "made"),
    [
        pytest.param({**TEXT, "nullable": True}, {}, id="null"),
        pytest.param({"type": "array", "nullable": True, "items": TEXT}, {}, id="a list or null"),
        pytest.param({"type": "object", **ANYTHING, "properties": {"a": TEXT}}, ANYTHING, id="any fields"),
        pytest.param({"type": "array", **ANYTHING, "items": TEXT}, ANYTHING, id="any elements"),
        pytest.param(
            {"type": "object", "required": ["a", "b"], "properties": {"a": {**TEXT, "nullable": True}, "b": TEXT}},
            {"type": "object", "required": ["b"], "properties": {"a": {}, "b": TEXT}},
            id="a field that may be null is not required",
        ),
        pytest.param(
            {"type": "object", "required": ["a"], "additionalProperties": {**TEXT, "nullable": True}},
            {"type": "object", "additionalProperties": {}},
            id="nor are values that may be null",
        ),
        pytest.param(
            {**TEXT, "allOf": [{"maxLength": 1}], "oneOf": [{"pattern": "a"}], "not": {"pattern": "b"}},
            TEXT,
            id="words",
        ),
        pytest.param(EMBEDDED | ANYTHING, {"x-kubernetes-embedded-resource": True, **ANYTHING}, id="any resource"),
    ],
)
def test_what_openapi_v2_leaves_out(node: Object, made: Object) -> None:
    assert field(root_in_v2(published(node))) == made


def test_of_a_resource_of_any_fields_v2_says_nothing() -> None:
    made = published(TEXT)
    kinds = [{"group": GROUP, "version": "v1", "kind": "CronTab"}]
    assert root_in_v2({**made, **ANYTHING}) == {"type": "object", "x-kubernetes-group-version-kind": kinds}


def test_fields_to_select_by_are_published() -> None:
    paths = [{"jsonPath": ".spec.f"}, {"jsonPath": ".spec.g"}]
    made = published(TEXT, selectableFields=paths)
    fields = [{"fieldPath": "spec.f"}, {"fieldPath": "spec.g"}]
    assert made["x-kubernetes-selectable-fields"] == fields
    assert root_in_v2(made)["x-kubernetes-selectable-fields"] == fields


def test_the_list_names_the_plural() -> None:
    made = compiled({"type": "object"}).published["com.example.stable.v1.CronTabList"]
    assert made["properties"]["items"]["description"].startswith("List of crontabs. More info: https://")
    assert made["properties"]["metadata"]["description"].startswith("Standard list metadata. More info: https://")
