"""What is wrong is shown as the server has it in memory: with its names in Go, and with all fields that it may have."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.crd.definition_rules import custom_resource_definition
from engine.api.types import Object
from engine.api.validation.problems import Problems
from tests.api.crd.samples import definition, texts

NO_SCHEMA = (
    '{"ID":"","Schema":"","Ref":null,"Description":"","Type":"","Nullable":false,"Format":"","Title":"","Default":null,'
    '"Maximum":null,"ExclusiveMaximum":false,"Minimum":null,"ExclusiveMinimum":false,"MaxLength":null,"MinLength":null,'
    '"Pattern":"","MaxItems":null,"MinItems":null,"UniqueItems":false,"MultipleOf":null,"Enum":null,'
    '"MaxProperties":null,"MinProperties":null,"Required":null,"Items":null,"AllOf":null,"OneOf":null,"AnyOf":null,'
    '"Not":null,"Properties":null,"AdditionalProperties":null,"PatternProperties":null,"Dependencies":null,'
    '"AdditionalItems":null,"Definitions":null,"ExternalDocs":null,"Example":null,"XPreserveUnknownFields":null,'
    '"XEmbeddedResource":false,"XIntOrString":false,"XListMapKeys":null,"XListType":null,"XMapType":null,'
    '"XValidations":null}'
)


def _schema(**fields: str) -> str:
    """A schema of which these fields are given, as JSON."""
    made = NO_SCHEMA
    for name, value in fields.items():
        start = made.index(f'"{name}":') + len(name) + 3
        ends = [place for place in (made.find(',"', start), made.find("}", start)) if place >= 0]
        made = made[:start] + value + made[min(ends) :]
    return made


def _first_wrong(made: Object) -> str:
    problems = Problems()
    custom_resource_definition(made, problems)
    return texts(problems)[0]


def test_versions_are_shown_without_what_they_have_in_common() -> None:
    made = definition(additionalPrinterColumns=[{"name": "N", "type": "integer", "jsonPath": ".spec.n"}])
    versions = made["spec"]["versions"]
    subresources = {"scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}}
    versions.append({**versions[0], "name": "v2", "deprecated": True, "subresources": subresources})
    del versions[1]["additionalPrinterColumns"]
    assert _first_wrong(made) == (
        'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,'
        '"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":[{"Name":"N",'
        '"Type":"integer","Format":"","Description":"","Priority":0,"JSONPath":".spec.n"}],"SelectableFields":null},'
        '{"Name":"v2","Served":true,"Storage":true,"Deprecated":true,"DeprecationWarning":null,"Schema":null,'
        '"Subresources":{"Status":null,"Scale":{"SpecReplicasPath":".spec.n","StatusReplicasPath":".status.n",'
        '"LabelSelectorPath":null}},"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one '
        "version marked as storage version"
    )


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("anyOf", [{"required": ["a"]}], {"AnyOf": "[" + _schema(Required='["a"]') + "]"}),
        (
            "not",
            {"maximum": 5.0, "enum": [1, {"b": 1, "a": None}]},
            {
                "Not": _schema(Maximum="5", Enum='[1,{"a":null,"b":1}]'),
            },
        ),
        ("x-kubernetes-map-type", "atomic", {"XMapType": '"atomic"'}),
    ],
)
def test_a_root_that_status_does_not_allow(field: str, value: Any, shown: dict[str, str]) -> None:
    made = definition(subresources={"status": {}})
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = {"type": "object", field: value}
    problems = Problems()
    custom_resource_definition(made, problems)
    root = "spec.validation.openAPIV3Schema: Invalid value: "
    [told] = [text for text in texts(problems) if text.startswith(root)]
    assert told.removeprefix(root).startswith(_schema(Type='"object"', **shown) + ": only [")


def test_items_that_are_a_list() -> None:
    listed: Object = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    made = definition({**listed, "items": [{"type": "string"}]})
    problems = Problems()
    custom_resource_definition(made, problems)
    text = '"string"'
    assert (
        "spec.validation.openAPIV3Schema.properties[spec].items: Invalid value: "
        f'{{"Schema":null,"JSONSchemas":[{_schema(Type=text)}]}}: must only have a single schema if '
        "x-kubernetes-list-type is map"
    ) in texts(problems)
