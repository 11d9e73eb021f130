"""Definitions that are changed: what an older one may keep, and what none may."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from engine.api.crd.definition_rules import custom_resource_definition, custom_resource_definition_update
from engine.api.crd.naming import established
from engine.api.types import Object, copy_object
from engine.api.validation.problems import Problems
from tests.api.crd.samples import definition, texts

ROOT = "spec.validation.openAPIV3Schema"
SPEC = f"{ROOT}.properties[spec]"
KEYED: Object = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    "items": {"type": "object", "properties": {"k": {"type": "string"}}},
}
SET: Object = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object"}}
COSTLY: Object = {
    "type": "array",
    "items": {"type": "integer"},
    "x-kubernetes-validations": [{"rule": "self.all(x, self.all(y, x == y))"}],
}


def _changed(new: Object, old: Object) -> list[str]:
    problems = Problems()
    custom_resource_definition_update(new, old, problems)
    return texts(problems)


def _created(obj: Object) -> list[str]:
    problems = Problems()
    custom_resource_definition(obj, problems)
    return texts(problems)


def _with_label(obj: Object) -> Object:
    changed = copy_object(obj)
    changed["spec"]["versions"][0]["additionalPrinterColumns"] = [{"name": "A", "type": "string", "jsonPath": ".a"}]
    return changed


UNPRUNED: Object = {"type": "object", "properties": {"a": {"type": "string"}}, "default": {"b": 1}}
OLD = [
    pytest.param(
        KEYED,
        f"{SPEC}.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it "
        "must have a default or be a required property",
        id="keys that may be missing",
    ),
    pytest.param(
        SET,
        f"{SPEC}.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with "
        "x-kubernetes-list-type=set",
        id="sets of maps",
    ),
    pytest.param(
        UNPRUNED, f'{SPEC}.default: Invalid value: {{"b":1}}: must not have unknown fields', id="unpruned defaults"
    ),
    pytest.param(
        {"type": "bogus"},
        f'{SPEC}.type: Unsupported value: "bogus": supported values: "array", "boolean", "integer", "number", '
        '"object", "string"',
        id="types",
    ),
]


@pytest.mark.parametrize(("schema", "wrong"), OLD)
def test_what_is_refused_of_a_new_definition_is_let_be_in_an_old_one(schema: Object, wrong: str) -> None:
    made = definition(schema)
    assert _created(made) == [wrong]
    assert _changed(_with_label(made), made) == []
    assert _changed(made, definition({"type": "string"})) == [wrong]


def test_rules_that_were_there_before_may_each_cost_too_much() -> None:
    made = definition(COSTLY)
    told = _created(made)
    assert ["estimated rule cost exceeds" in each for each in told] == [True, False, False]
    assert _changed(_with_label(made), made) == told[1:]


def test_a_definition_without_schemas_needs_those_that_are_served_only() -> None:
    old = definition()
    old["spec"]["versions"][0]["schema"] = None
    unserved = copy_object(old)
    unserved["spec"]["versions"][0]["served"] = False
    at = "spec.versions[0].schema.openAPIV3Schema: Required value"
    assert _created(unserved) == [at]
    assert _changed(_with_label(old), old) == [f"{at}: because otherwise all fields are pruned"]
    assert _changed(unserved, old) == []


def test_unknown_fields_are_kept_as_before_and_never_newly() -> None:
    made = definition()
    kept = copy_object(made)
    kept["spec"]["preserveUnknownFields"] = True
    wrong = (
        "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields "
        "to true in spec.versions[*].schema instead"
    )
    assert _changed(kept, made) == [wrong]
    assert _changed(_with_label(kept), kept) == []
    loose = copy_object(kept)
    loose["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = {}
    assert _changed(_with_label(loose), loose) == []
    loose["spec"]["conversion"] = {"strategy": "Webhook"}
    assert _changed(loose, loose)[0] == (
        'spec.conversion.strategy: Invalid value: "Webhook": must be None if spec.preserveUnknownFields is true'
    )


def _webhook(bundle: str | None = None, *versions: str) -> Object:
    client: Object = {"url": "https://example.com/convert"}
    if bundle is not None:
        client["caBundle"] = b64encode(bundle.encode()).decode()
    webhook = {"clientConfig": client, "conversionReviewVersions": list(versions or ("v1",))}
    return {"strategy": "Webhook", "webhook": webhook}


def _converted(conversion: Object, **conditions: str) -> Object:
    made = definition()
    made["spec"]["conversion"] = conversion
    made["status"]["conditions"] = [{"type": name, "status": status} for name, status in conditions.items()]
    return made


NO_PEM = "unable to load root certificates: unable to parse bytes as PEM block"


def test_a_bundle_that_is_none_is_refused_once_the_definition_is_served() -> None:
    wrong = f'spec.conversion.webhookClientConfig.caBundle: Invalid value: "bm9wZQ==": {NO_PEM}'
    bad, none = _webhook("nope"), _webhook()
    assert _changed(_converted(bad, Established="True"), _converted(none, Established="True")) == [wrong]
    assert _changed(_converted(bad, Established="True"), _converted(bad, Established="True")) == []
    assert _changed(_converted(bad), _converted(none)) == []
    assert _created(_converted(bad)) == []


@pytest.mark.parametrize(
    ("bundle", "why"),
    [
        ("nope", "unable to parse bytes as PEM block"),
        ("-----BEGIN KEY-----\nbm9wZQ==\n-----END KEY-----\n", "no valid certificate authority data seen"),
        (
            "-----BEGIN CERTIFICATE-----\nbm9wZQ==\n-----END CERTIFICATE-----\n",
            "failed to parse certificate: x509: malformed certificate",
        ),
    ],
)
def test_why_a_bundle_is_none(bundle: str, why: str) -> None:
    (told,) = _changed(_converted(_webhook(bundle), Established="True"), _converted(_webhook(), Established="True"))
    assert told.endswith(f"unable to load root certificates: {why}")


def test_what_a_wrong_bundle_converts_is_not_established() -> None:
    made = _converted(_webhook("nope"), NamesAccepted="True")
    status = established(made, now="now")
    assert status is not None
    made["status"] = status
    (found,) = (each for each in status["conditions"] if each["type"] == "Established")
    assert (found["status"], found["reason"], found["message"]) == (
        "False",
        "InvalidCABundle",
        "The conversion webhook CABundle is invalid",
    )
    assert established(made, now="later") is None


def test_review_versions_that_nobody_knows_stay_where_they_were() -> None:
    unknown = _webhook(None, "v2")
    assert _changed(_converted(unknown), _converted(unknown)) == []
    assert _changed(_converted(unknown), _converted(_webhook())) == [
        'spec.conversion.conversionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1'
    ]


def test_without_a_webhook_nothing_may_be_said_of_one() -> None:
    made = _converted({**_webhook(), "strategy": "None"})
    text = "should not be set when strategy is not set to Webhook"
    assert _created(made) == [
        f"spec.conversion.webhookClientConfig: Forbidden: {text}",
        f"spec.conversion.conversionReviewVersions: Forbidden: {text}",
    ]


def _approved(value: str | None) -> Object:
    made = definition()
    made["spec"]["group"], made["metadata"]["name"] = "x.k8s.io", "crontabs.x.k8s.io"
    if value is not None:
        made["metadata"]["annotations"] = {"api-approved.kubernetes.io": value}
    return made


@pytest.mark.parametrize(
    ("old", "new", "refused"),
    [
        (None, None, False),
        ("bad", "worse", False),
        (None, "bad", True),
        ("unapproved", None, True),
        ("https://example.com/1", "unapproved, again", False),
        ("https://example.com/1", "bad", True),
    ],
)
def test_an_approval_may_stay_as_wrong_as_it_is(old: str | None, new: str | None, refused: bool) -> None:
    assert bool(_changed(_approved(new), _approved(old))) is refused


def _versions(*more: Any) -> Object:
    made = definition({"type": "object", "properties": {"a": {"type": "string"}}})
    second = copy_object(made["spec"]["versions"][0])
    made["spec"]["versions"].append({**second, "name": "v2", "storage": False})
    for version, change in zip(made["spec"]["versions"], more, strict=False):
        version.update(change)
    return made


def test_fields_are_selectable_in_a_schema_of_the_same_place_only() -> None:
    """Upstream's conversion moves what versions share; the fields of one version lose their schema to it."""
    fields = {"selectableFields": [{"jsonPath": ".spec.a"}]}
    assert _created(_versions(fields, fields)) == []
    assert _created(_versions(fields)) == [
        'spec.versions[0].selectableFields: Invalid value: "": may only be set when '
        "`version.schema.openAPIV3Schema` is not included"
    ]


def test_selectable_fields_are_told_of_one_by_one() -> None:
    fields = [{"jsonPath": path} for path in (".spec.a", ".spec.a", ".spec['a']", ".metadata.name", ".spec")]
    made = definition({"type": "object", "properties": {"a": {"type": "string"}}}, selectableFields=fields)
    root = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    root["properties"]["metadata"] = {"type": "object", "properties": {"name": {"type": "string"}}}
    at = "spec.selectableFields"
    assert _created(made) == [
        f'{at}[1].jsonPath: Duplicate value: ".spec.a"',
        f"{at}[2].jsonPath: Invalid value: \".spec['a']\": is an invalid path: array notation is not allowed",
        f'{at}[3].jsonPath: Invalid value: ".metadata.name": must not point to fields in metadata',
        f'{at}[4].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer. Enum '
        "string fields and strings with formats are allowed.",
    ]


def test_too_many_selectable_fields_stay_while_they_are_the_same() -> None:
    """A later release may allow more than this one, which must still take changes of such a definition."""
    names = [f"f{index}" for index in range(9)]
    more = {"selectableFields": [{"jsonPath": f".spec.{name}"} for name in names]}
    fewer = {"selectableFields": more["selectableFields"][1:]}
    both, one = (_selecting(names, *each) for each in ((more, more), (more, fewer)))
    for old, at in ((both, "spec"), (one, "spec.versions[0]")):
        assert _changed(_with_label(old), old) == []
        changed = copy_object(old)
        for version in changed["spec"]["versions"]:
            version["selectableFields"] = version["selectableFields"][::-1]
        assert _changed(changed, old) == [f"{at}.selectableFields: Too many: 9: must have at most 8 items"]
    assert _changed(one, both) == ["spec.versions[0].selectableFields: Too many: 9: must have at most 8 items"]


def _selecting(names: list[str], *more: Object) -> Object:
    """A definition whose versions have schemas of their own where they have fields of their own."""
    made = _versions(*more)
    for index, version in enumerate(made["spec"]["versions"]):
        spec: Object = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
        root: Object = {"type": "object", "properties": {"spec": spec}}
        if more[0] != more[-1]:
            root["description"] = f"{index}"
        version["schema"] = {"openAPIV3Schema": root}
    return made


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"deprecationWarning": "w"}, ['"w": can only be set for deprecated versions']),
        ({"deprecated": True, "deprecationWarning": ""}, ['"": must not be an empty string']),
        (
            {"deprecated": True, "deprecationWarning": "éa\n"},
            [
                '"éa\\n": must only contain printable UTF-8 characters; non-printable character found at index 3',
            ],
        ),
    ],
)
def test_words_of_deprecation(change: Object, wrong: list[str]) -> None:
    made = definition({"type": "string"}, **change)
    at = "spec.versions[0].deprecationWarning: Invalid value: "
    assert _created(made) == [f"{at}{each}" for each in wrong]
