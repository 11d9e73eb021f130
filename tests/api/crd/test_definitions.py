"""CustomResourceDefinitions that are wrong, in upstream's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.api.crd.definition_rules import custom_resource_definition, custom_resource_definition_update
from engine.api.types import Object, copy_object
from engine.api.validation.problems import Problems
from tests.api.crd.samples import GROUP, definition, texts

ROOT = "spec.validation.openAPIV3Schema"
SPEC = f"{ROOT}.properties[spec]"


def _wrong(obj: Object) -> list[str]:
    problems = Problems()
    custom_resource_definition(obj, problems)
    return texts(problems)


def test_a_sound_definition_has_no_problems() -> None:
    made = definition(
        {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}},
        subresources={
            "status": {},
            "scale": {
                "specReplicasPath": ".spec.n",
                "statusReplicasPath": ".status.n",
                "labelSelectorPath": ".status.s",
            },
        },
        additionalPrinterColumns=[{"name": "N", "type": "integer", "jsonPath": ".spec.n"}],
        selectableFields=[{"jsonPath": ".spec.n"}],
    )
    assert _wrong(made) == []


def _set(*path: Any, value: Any) -> Callable[[Object], None]:
    def change(obj: Object) -> None:
        found: Any = obj
        for step in path[:-1]:
            found = found[step]
        found[path[-1]] = value

    return change


VERSION = ("spec", "versions", 0)


def _resource(default: Any = None, **properties: Object) -> Object:
    """A resource in an object."""
    known = {"something": {"type": "string"}, **properties}
    schema: Object = {"type": "object", "x-kubernetes-embedded-resource": True, "properties": known}
    return schema if default is None else {**schema, "default": default}


def _webhook(service: Object) -> Object:
    client = {"service": {"port": 443, **service}}
    return {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": client}}


def _unnamed(made: Object) -> None:
    made["spec"]["versions"][0].pop("name")
    made["status"]["storedVersions"] = [""]


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        pytest.param(
            _set("metadata", "name", value="x"),
            ['metadata.name: Invalid value: "x": must be spec.names.plural+"."+spec.group'],
            id="name",
        ),
        pytest.param(
            _set("metadata", "generateName", value="x"),
            ['metadata.generateName: Invalid value: "x": must be spec.names.plural+"."+spec.group'],
            id="the beginning of a name",
        ),
        pytest.param(_set("metadata", "name", value=""), [], id="no name, of which the metadata tell"),
        pytest.param(_set("spec", "scope", value=""), ["spec.scope: Required value"], id="scope"),
        pytest.param(
            _set("spec", "scope", value="World"),
            ['spec.scope: Unsupported value: "World": supported values: "Cluster", "Namespaced"'],
            id="another scope",
        ),
        pytest.param(
            _set("spec", "names", "shortNames", value=["CT"]),
            [
                'spec.names.shortNames[0]: Invalid value: "CT": a DNS-1035 label must consist of lower '
                "case alphanumeric "
                "characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. "
                "'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
            ],
            id="short name",
        ),
        pytest.param(
            _set("spec", "names", "listKind", value="CronTab"),
            ['spec.names.listKind: Invalid value: "CronTab": kind and listKind may not be the same'],
            id="list kind",
        ),
        pytest.param(
            _set(*VERSION, "schema", value=None),
            ["spec.versions[0].schema.openAPIV3Schema: Required value"],
            id="no schema",
        ),
        pytest.param(
            _set(
                *VERSION,
                "subresources",
                value={"scale": {"specReplicasPath": "spec.n", "statusReplicasPath": ".spec.n"}},
            ),
            [
                'spec.subresources.scale.specReplicasPath: Invalid value: "spec.n": must be a simple json '
                "path starting "
                "with .",
                'spec.subresources.scale.statusReplicasPath: Invalid value: ".spec.n": should be a json '
                "path under .status",
            ],
            id="scale",
        ),
        pytest.param(
            _set(*VERSION, "additionalPrinterColumns", value=[{"name": "N", "type": "text", "jsonPath": "n"}]),
            [
                'spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of '
                "boolean,date,integer,number,string",
                'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "n": must be a simple json path '
                "starting with .",
            ],
            id="columns",
        ),
        pytest.param(
            _set(*VERSION, "selectableFields", value=[{"jsonPath": ".spec.nope"}]),
            [
                'spec.selectableFields[0].jsonPath: Invalid value: ".spec.nope": is an invalid path: does '
                "not refer to a "
                "valid field"
            ],
            id="selectable",
        ),
        pytest.param(
            _set("spec", "conversion", value={"strategy": "Webhook"}),
            [
                "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
                "spec.conversion.conversionReviewVersions: Required value",
            ],
            id="conversion",
        ),
        pytest.param(
            _set("spec", "conversion", value=_webhook({"name": "a"})),
            ["spec.conversion.webhookClientConfig.service.name: Required value"],
            id="a Service in no namespace, told of as one without a name",
        ),
        pytest.param(
            _set("spec", "conversion", value=_webhook({"namespace": "a"})),
            ["spec.conversion.webhookClientConfig.service.namespace: Required value"],
            id="a Service without a name, told of as one in no namespace",
        ),
        pytest.param(
            _unnamed,
            [
                'spec.versions[0].name: Invalid value: "": a DNS-1035 label must consist of lower case alphanumeric '
                "characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. "
                "'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
            ],
            id="a version without a name, which is none to store in either",
        ),
    ],
)
def test_what_is_wrong_besides_the_schema(change: Callable[[Object], None], wrong: list[str]) -> None:
    made = definition()
    change(made)
    assert _wrong(made) == wrong


def test_a_definition_of_nothing_is_told_of_all_that_it_lacks() -> None:
    """In upstream's order."""
    assert _wrong({"metadata": {"name": "."}, "spec": {}}) == [
        "spec.group: Required value",
        "spec.scope: Required value",
        "spec.versions: Invalid value: null: must have exactly one version marked as storage version",
        "spec.names.plural: Required value",
        "spec.names.singular: Required value",
        "spec.names.kind: Required value",
        "spec.names.listKind: Required value",
        "status.storedVersions: Invalid value: null: must have at least one stored version",
    ]


def test_a_group_of_the_community_needs_its_approval() -> None:
    made = definition()
    made["spec"]["group"], made["metadata"]["name"] = "x.k8s.io", "crontabs.x.k8s.io"
    (wrong,) = _wrong(made)
    assert wrong.startswith(
        "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have"
    )
    made["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, a test"}
    assert _wrong(made) == []


@pytest.mark.parametrize(
    ("schema", "wrong"),
    [
        pytest.param({}, [f"{SPEC}.type: Required value: must not be empty for specified object fields"], id="no type"),
        pytest.param({"type": "array"}, [f"{SPEC}.items: Required value: must be specified"], id="no items"),
        pytest.param(
            {"type": "array", "items": {}},
            [f"{SPEC}.items.type: Required value: must not be empty for specified array items"],
            id="item without type",
        ),
        pytest.param(
            {"type": "string", "anyOf": [{"type": "string"}]},
            [f"{SPEC}.anyOf[0].type: Forbidden: must be empty to be structural"],
            id="type in a junctor",
        ),
        pytest.param(
            {"type": "string", "pattern": "("},
            [
                f'{SPEC}.pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error '
                "parsing regexp: "
                "missing closing ): `(`"
            ],
            id="pattern",
        ),
        pytest.param(
            {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}},
            [f"{SPEC}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"],
            id="properties and additionalProperties",
        ),
        pytest.param(
            {"type": "object", "x-kubernetes-preserve-unknown-fields": False},
            [f"{SPEC}.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined"],
            id="preserve",
        ),
        pytest.param(
            {"type": "array", "x-kubernetes-list-type": "map", "items": {"type": "object"}},
            [f"{SPEC}.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map"],
            id="map without keys",
        ),
        pytest.param(
            {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["a"],
                "items": {"type": "object", "properties": {"a": {"type": "string"}}},
            },
            [
                f"{SPEC}.items.properties[a].default: Required value: this property is in "
                "x-kubernetes-list-map-keys, so it "
                "must have a default or be a required property"
            ],
            id="key that may be missing",
        ),
        pytest.param(
            {"type": "integer", "default": "x"},
            [
                f'{SPEC}.default: Invalid value: "string":  in body must be of type integer: "string"',
            ],
            id="default of the wrong type",
        ),
        pytest.param(
            {
                "type": "object",
                "properties": {"a": {"type": "array", "items": {"type": "string", "maxLength": 1}}},
                "default": {"a": [1, "xx"]},
            },
            [
                f'{SPEC}.default.a[0]: Invalid value: "integer": a[0] in body must be of type string: "integer"',
                f"{SPEC}.default.a[1]: Too long: may not be more than 1 byte",
            ],
            id="places in a default are told as such",
        ),
        pytest.param(
            {"type": "object", "additionalProperties": {"type": "integer"}, "default": {"x y": "a"}},
            [f'{SPEC}.default.x y: Invalid value: "string": .x y in body must be of type integer: "string"'],
            id="a key of a default",
        ),
        pytest.param(
            {"type": "string", "not": {"enum": ["x"]}, "default": "x"},
            [f'{SPEC}.default: Invalid value: "": "" must not validate the schema (not)'],
            id="a default that must not be",
        ),
        pytest.param({"x-kubernetes-int-or-string": True, "default": 1.5}, [], id="a default that neither is nor need"),
        pytest.param(
            {"type": "string", "dependencies": {}},
            [f"{SPEC}.dependencies: Forbidden: dependencies is not supported"],
            id="no dependencies, not even none",
        ),
        pytest.param(
            {"type": "object", "id": "x", "x-kubernetes-validations": [{"rule": "true", "fieldPath": ".nope"}]},
            [f"{SPEC}.id: Forbidden: id is not supported"],
            id="a path in what no structure can be made of",
        ),
        pytest.param(
            {"type": "string", "x-kubernetes-validations": [{"rule": " "}]},
            [f"{SPEC}.x-kubernetes-validations[0].rule: Required value: rule is not specified"],
            id="empty rule",
        ),
    ],
)
def test_what_is_wrong_with_a_schema(schema: Object, wrong: list[str]) -> None:
    assert _wrong(definition(schema)) == wrong


def test_a_rule_that_does_not_compile_is_told_of_with_its_place() -> None:
    schema: Object = {"type": "object", "properties": {}, "x-kubernetes-validations": [{"rule": "self.nope == 1"}]}
    (wrong,) = _wrong(definition({**schema, "properties": {"a": {"type": "string"}}}))
    assert wrong.startswith(f"{SPEC}.x-kubernetes-validations[0].rule: Invalid value: ")
    assert "compilation failed: ERROR: <input>:1:5: undefined field 'nope'" in wrong


def test_old_self_cannot_be_used_where_elements_are_not_known_again() -> None:
    items: Object = {"type": "string", "maxLength": 9, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}
    (wrong,) = _wrong(definition({"type": "array", "items": items}))
    assert wrong == (
        f'{SPEC}.items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf '
        "cannot be used on the "
        f"uncorrelatable portion of the schema within {SPEC}"
    )


def test_versions_that_differ_are_named_by_their_index() -> None:
    made = definition({"type": "string"})
    second = copy_object(made["spec"]["versions"][0])
    second["name"], second["storage"] = "v2", True
    second["schema"]["openAPIV3Schema"]["properties"]["spec"] = {}
    made["spec"]["versions"].append(second)
    assert _wrong(made)[0] == (
        "spec.versions[1].schema.openAPIV3Schema.properties[spec].type: Required value: must not "
        "be empty for specified "
        "object fields"
    )
    assert _wrong(made)[1].startswith('spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":true,')
    assert _wrong(made)[1].endswith("must have exactly one version marked as storage version")
    assert _wrong(made)[2] == 'status.storedVersions: Invalid value: ["v1"]: must have the storage version v2'


def test_a_version_that_is_there_twice_is_stored_in_once() -> None:
    made = definition()
    made["spec"]["versions"] *= 2
    assert _wrong(made)[-1] == 'status.storedVersions: Invalid value: ["v1"]: must have the storage version v1'


def test_what_a_definition_lacks_now_was_text_before() -> None:
    old, new = definition(), definition()
    del new["spec"]["group"], new["spec"]["names"]["plural"]
    problems = Problems()
    custom_resource_definition_update(new, old, problems)
    assert [text for text in texts(problems) if "immutable" in text] == [
        'spec.group: Invalid value: "": field is immutable',
        'spec.names.plural: Invalid value: "": field is immutable',
    ]


def test_an_established_definition_keeps_its_scope_and_names() -> None:
    old = definition()
    old["metadata"]["resourceVersion"] = "1"
    old["status"] = {"conditions": [{"type": "Established", "status": "True"}], "storedVersions": ["v1"]}
    new = copy_object(old)
    new["spec"]["scope"] = "Cluster"
    new["spec"]["names"]["kind"] = "Other"
    problems = Problems()
    custom_resource_definition_update(new, old, problems)
    assert texts(problems) == [
        'spec.scope: Invalid value: "Cluster": field is immutable',
        'spec.names.kind: Invalid value: "Other": field is immutable',
    ]


def test_a_version_that_objects_are_stored_in_stays() -> None:
    old = definition()
    old["status"] = {"storedVersions": ["v1beta1", "v1"]}
    problems = Problems()
    custom_resource_definition_update(copy_object(old), old, problems)
    (wrong,) = texts(problems)
    assert wrong.startswith(
        'status.storedVersions[0]: Invalid value: "v1beta1": missing from spec.versions; v1beta1 was'
    )
    assert GROUP not in wrong


def test_what_is_no_url_is_said_and_breaks_nothing() -> None:
    made = definition({"type": "object"})
    client = {"url": "https://[", "caBundle": ""}
    made["spec"]["conversion"] = {
        "strategy": "Webhook",
        "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]},
    }
    [wrong] = _wrong(made)
    assert wrong.startswith("spec.conversion.webhookClientConfig.url: Required value: url must be a valid URL: ")
    client["url"] = "http://me@"
    assert _wrong(made) == [
        "spec.conversion.webhookClientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; "
        "desired format: https://host[/path]",
        'spec.conversion.webhookClientConfig.url: Invalid value: "": host must be specified; '
        "desired format: https://host[/path]",
        'spec.conversion.webhookClientConfig.url: Invalid value: "me": user information is not permitted in the URL',
    ]
    protected = definition({"type": "object"})
    protected["spec"]["group"] = "example.k8s.io"
    protected["metadata"]["annotations"] = {"api-approved.kubernetes.io": "https://["}
    assert any('with either a URL or a reason starting with "unapproved"' in each for each in _wrong(protected))


def test_what_a_junctor_of_the_root_speaks_of_is_part_of_the_structure() -> None:
    made = definition({"type": "object", "allOf": [{"properties": {"a": {"minimum": 1}}}]})
    assert _wrong(made) == []
    root = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    root["anyOf"] = [{"properties": {"spec": {"properties": {"a": {"minimum": 1}}}}}]
    assert _wrong(made) == [
        f"{SPEC}.properties[a]: Required value: because it is defined in {ROOT}.anyOf[0].properties[spec].properties[a]"
    ]


def test_metadata_may_say_how_names_look_and_nothing_else() -> None:
    made = definition()
    properties = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    properties["metadata"] = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}}
    assert _wrong(made) == []
    told: tuple[Object, ...] = (
        {"description": "a"},
        {"minProperties": 0},
        {"example": 1},
        {"externalDocs": {"url": "x"}},
    )
    for more in told:
        properties["metadata"] = {"type": "object", **more}
        assert _wrong(made) == [
            f"{ROOT}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but "
            "metadata is implicitly specified"
        ]


def test_fields_to_select_by_tell_of_a_schema_that_no_structure_can_be_made_of() -> None:
    made = definition({"type": "string", "id": "x"}, selectableFields=[{"jsonPath": ""}])
    assert _wrong(made) == [
        f"{SPEC}.id: Forbidden: id is not supported",
        "spec.schema.openAPIV3Schema: Invalid value: \"\": OpenAPIV3Schema 'id' is not supported",
        "spec.selectableFields[0].jsonPath: Required value",
    ]


def test_a_field_to_select_by_may_be_any_key_as_far_as_its_path_goes() -> None:
    made = definition({"type": "object", "additionalProperties": True}, selectableFields=[{"jsonPath": ".spec.any"}])
    assert _wrong(made) == [
        'spec.selectableFields[0].jsonPath: Invalid value: ".spec.any": must point to a field of type string, boolean '
        "or integer. Enum string fields and strings with formats are allowed."
    ]


def test_what_stands_before_the_type_of_a_root_with_status_is_all_that_is_told_of() -> None:
    made = definition({"type": "object"}, subresources={"status": {}})
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"].update({"type": "boolean", "id": "x"})
    assert not any(each.startswith(f"{ROOT}.type: ") and "status" in each for each in _wrong(made))


@pytest.mark.parametrize(
    ("schema", "wrong"),
    [
        pytest.param(
            {"type": "null"},
            [
                f'{SPEC}.type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", '
                '"object", "string"',
                f"{SPEC}.type: Forbidden: type cannot be set to null, use nullable as an alternative",
            ],
            id="null",
        ),
        pytest.param(
            {"type": "string", "$schema": "x"},
            [f"{ROOT}: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported"],
            id="another schema",
        ),
        pytest.param(
            {"type": "array", "items": {"type": "string"}, "additionalItems": False},
            [f"{SPEC}.additionalItems: Forbidden: additionalItems is not supported"],
            id="additional items",
        ),
        pytest.param(
            {"type": "string", "x-kubernetes-validations": [{"rule": "self.b", "optionalOldSelf": True}]},
            [
                f"{SPEC}.x-kubernetes-validations[0].rule: Invalid value: "
                '{"Rule":"self.b","Message":"","MessageExpression":"","Reason":null,"FieldPath":"",'
                "\"OptionalOldSelf\":true}: compilation failed: ERROR: <input>:1:5: type 'string' does not support "
                "field selection\n | self.b\n | ....^",
                f"{SPEC}.x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: may not be set if oldSelf "
                "is not used in rule",
            ],
            id="a rule that does not compile",
        ),
        pytest.param(
            {
                "type": "object",
                "x-kubernetes-map-type": "atomic",
                "properties": {
                    "a": {"type": "string", "maxLength": 9, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]},
                },
            },
            [],
            id="old values in an atomic map",
        ),
        pytest.param(
            {
                "type": "object",
                "x-kubernetes-map-type": "future",
                "properties": {
                    "a": {"type": "string", "maxLength": 9, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]},
                },
            },
            [
                f'{SPEC}.x-kubernetes-map-type: Unsupported value: "future": supported values: "atomic", "granular"',
                f'{SPEC}.properties[a].x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf '
                f"cannot be used on the uncorrelatable portion of the schema within {SPEC}",
            ],
            id="old values in a map of a type that is none",
        ),
        pytest.param(
            {"type": "string", "x-kubernetes-validations": [{"rule": "true", "fieldPath": "\n", "reason": "No"}]},
            [
                f'{SPEC}.x-kubernetes-validations[0].reason: Unsupported value: "No": supported values: '
                '"FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
                f'{SPEC}.x-kubernetes-validations[0].fieldPath: Invalid value: "\\n": must be non-empty if specified',
                f'{SPEC}.x-kubernetes-validations[0].fieldPath: Invalid value: "\\n": must not contain line breaks',
                f'{SPEC}.x-kubernetes-validations[0].fieldPath: Invalid value: "\\n": must be a valid path',
            ],
            id="a blank path",
        ),
        pytest.param(
            {"type": "integer", "default": 1, "x-kubernetes-validations": [{"rule": "self > 1", "message": "m"}]},
            [f"{SPEC}.default: Invalid value: 1: m"],
            id="a default that a rule refuses",
        ),
        pytest.param(
            {
                "type": "object",
                "x-kubernetes-embedded-resource": True,
                "properties": {"kind": {"type": "string", "default": "%"}},
            },
            [
                f'{SPEC}.properties[kind].default: Invalid value: "%": must result in valid metadata: kind: Invalid '
                'value: "%": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower '
                "case alphanumeric characters or '-', start with an alphabetic character, and end with an "
                "alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
                "'[a-z]([-a-z0-9]*[a-z0-9])?')"
            ],
            id="a default of a kind",
        ),
        pytest.param(
            _resource(default={"metadata": {"labels": {"a": 1}}}),
            [
                f'{SPEC}.default.metadata: Invalid value: {{"labels":{{"a":1}}}}: json: cannot unmarshal number into '
                "Go struct field ObjectMeta.labels of type string"
            ],
            id="a default resource with a label that is none",
        ),
        pytest.param(
            _resource(default={"metadata": 1}),
            [
                f"{SPEC}.default.metadata: Invalid value: 1: json: cannot unmarshal number into Go value of type "
                "v1.ObjectMeta"
            ],
            id="a default resource with metadata that are none",
        ),
        pytest.param(
            _resource(default={"kind": 1}),
            [f"{SPEC}.default.kind: Invalid value: 1: must be a string"],
            id="a default resource with a kind that is none",
        ),
        pytest.param(
            _resource(default={"metadata": {"name": "a"}}),
            [f"{SPEC}.default.apiVersion: Required value", f"{SPEC}.default.kind: Required value"],
            id="a default resource without a type",
        ),
        pytest.param(
            _resource(metadata={"type": "object", "properties": {"name": {"type": "string", "default": 1}}}),
            [
                f"{SPEC}.properties[metadata].properties[name].default: Invalid value: 1: must result in valid "
                'metadata: metadata: Invalid value: {"name":1}: json: cannot unmarshal number into Go struct field '
                "ObjectMeta.name of type string"
            ],
            id="a default name of a resource that is none",
        ),
    ],
)
def test_what_else_is_wrong_with_a_schema(schema: Object, wrong: list[str]) -> None:
    assert _wrong(definition(schema)) == wrong


def test_rules_are_told_of_where_the_schema_around_them_is_sound() -> None:
    rule = {"x-kubernetes-validations": [{"rule": "1"}]}
    broken = {"type": "string", "x-kubernetes-validations": [{"rule": ""}]}
    schema: Object = {"type": "object", "properties": {"a": broken, "b": {"type": "string", **rule}}, **rule}
    assert [each.split(": ")[0] for each in _wrong(definition(schema))] == [
        f"{SPEC}.properties[a].x-kubernetes-validations[0].rule",
        f"{SPEC}.properties[b].x-kubernetes-validations[0].rule",
    ]


@pytest.mark.parametrize(
    ("more", "refused"),
    [
        ({"maxProperties": 0}, True),
        ({"minProperties": 0}, True),
        ({"id": "", "x-kubernetes-embedded-resource": False, "x-kubernetes-int-or-string": False}, False),
        ({"maximum": 0, "title": "", "x-kubernetes-preserve-unknown-fields": True}, False),
    ],
)
def test_a_root_whose_status_stands_apart_says_little(more: Object, refused: bool) -> None:
    """A pointer to 0 is told from what is not said."""
    made = definition({"type": "object"}, subresources={"status": {}})
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"].update(more)
    wrong = _wrong(made)
    assert any("fields are allowed at the root of the schema if the status" in each for each in wrong) is refused
    assert bool(wrong) is refused
