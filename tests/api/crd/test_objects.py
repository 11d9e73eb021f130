"""What becomes of an object that comes in: pruning, defaults, metadata."""

from __future__ import annotations

import orjson
import pytest

from engine.api.crd.version import CustomVersion
from engine.api.decoding import load_json
from engine.api.errors import ApiError
from engine.api.schema import load_definitions
from engine.api.types import Object
from tests.api.crd.samples import compiled, cron_tab, definition

SCHEMA: Object = {
    "type": "object",
    "properties": {
        "image": {"type": "string", "default": "busybox"},
        "replicas": {"type": "integer"},
        "raw": {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
            "properties": {"known": {"type": "object"}},
        },
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "ports": {
            "type": "array",
            "items": {"type": "object", "properties": {"protocol": {"type": "string", "default": "TCP"}}},
        },
        "template": {
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "properties": {"spec": {"type": "object"}},
        },
        "maybe": {"type": "string", "nullable": True, "default": "x"},
    },
}


def test_unknown_fields_are_dropped_and_named() -> None:
    obj, unknown = compiled(SCHEMA).decode(
        cron_tab({"imag": "x", "ports": [{"port": 1}], "raw": {"a": {"b": 1}, "known": {"c": 1}}, "labels": {"k": "v"}})
    )
    assert unknown == [
        'unknown field "spec.imag"',
        'unknown field "spec.ports[0].port"',
        'unknown field "spec.raw.known.c"',
    ]
    assert obj["spec"]["raw"] == {"a": {"b": 1}, "known": {}}
    assert obj["spec"]["labels"] == {"k": "v"}


def test_defaults_fill_what_is_missing_at_every_depth() -> None:
    obj, _ = compiled(SCHEMA).decode(cron_tab({"ports": [{}, {"protocol": "UDP"}]}))
    assert obj["spec"] == {"image": "busybox", "maybe": "x", "ports": [{"protocol": "TCP"}, {"protocol": "UDP"}]}


def test_a_null_gives_way_to_a_default_only_where_null_is_not_allowed() -> None:
    obj, _ = compiled(SCHEMA).decode(cron_tab({"image": None, "maybe": None}))
    assert obj["spec"] == {"image": "busybox", "maybe": None}


def test_an_object_read_from_the_store_gets_defaults_that_came_later() -> None:
    stored = cron_tab({"replicas": 1, "gone": 2})
    assert compiled(SCHEMA).read(stored)["spec"] == {"replicas": 1, "image": "busybox", "maybe": "x"}
    assert stored["spec"] == {"replicas": 1, "gone": 2}


def test_type_and_metadata_are_known_without_being_said_also_in_an_embedded_resource() -> None:
    template = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "colour": "red"}, "spec": {}, "more": 1}
    obj, unknown = compiled(SCHEMA).decode(cron_tab({"template": template}))
    assert unknown == ['unknown field "spec.template.more"', 'unknown field "spec.template.metadata.colour"']
    assert obj["spec"]["template"] == {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {}}


def test_duplicate_fields_are_named() -> None:
    of_a_kind = b'"apiVersion": "stable.example.com/v1", "kind": "CronTab"'
    value = load_json(b'{%s, "metadata": {"name": "a"}, "spec": {"image": "a", "image": "b"}}' % of_a_kind)
    obj, strict = compiled(SCHEMA).decode(value)
    assert (obj["spec"]["image"], strict) == ("b", ['duplicate field "spec.image"'])


def test_of_metadata_that_comes_twice_the_last_counts_whole() -> None:
    """Unlike in a kind of Go's: a custom resource is a map first."""
    text = '{"name": "a", "x": 1, "labels": {"a": 1}, "labels": {"b": "2"}}'
    body = f'{{"apiVersion": "stable.example.com/v1", "kind": "CronTab", "metadata": {text}, "spec": {{}}}}'
    obj, strict = compiled(SCHEMA).decode(load_json(body.encode()))
    assert obj["metadata"] == {"name": "a", "labels": {"b": "2"}}
    assert strict == ['duplicate field "metadata.labels"', 'unknown field "metadata.x"']


def test_whole_numbers_are_integers_as_they_are_written() -> None:
    obj, _ = compiled(SCHEMA).decode(cron_tab({"replicas": 3.0}))
    assert orjson.dumps(obj["spec"]["replicas"]) == b"3"


def test_a_whole_number_beyond_every_float_is_named() -> None:
    message = f"^json: cannot unmarshal number {10**400} into Go value of type float64$"
    with pytest.raises(ApiError, match=message):
        compiled(SCHEMA).decode(cron_tab({"replicas": 10**400}))


def _with_v2() -> Object:
    made = definition(SCHEMA)
    first = made["spec"]["versions"][0]
    made["spec"]["versions"].append({**first, "name": "v2", "served": False, "storage": False})
    return made


HANDLED = 'CronTab in version "{}" cannot be handled as a CronTab: '
NO_KIND = "the object provided is unrecognized (must be of type CronTab): Object 'Kind' is missing in '{0}' ({1} ...)"


@pytest.mark.parametrize(
    ("fields", "code", "message"),
    [
        (
            {"apiVersion": "stable.example.com/v2"},
            400,
            "the API version in the data (stable.example.com/v2) does not match the expected API version "
            "(stable.example.com/v1)",
        ),
        (
            {"apiVersion": "stable.example.com/v9"},
            400,
            "the API version in the data (stable.example.com/v9) does not match the expected API version "
            "(stable.example.com/v1)",
        ),
        (
            {"apiVersion": "other/v1"},
            400,
            "the API version in the data (other/v1) does not match the expected API version (stable.example.com/v1)",
        ),
        (
            {"apiVersion": None},
            400,
            "the API version in the data () does not match the expected API version (stable.example.com/v1)",
        ),
        (
            {"kind": "Other"},
            422,
            'Other.stable.example.com "a" is invalid: kind: Invalid value: "Other": must be CronTab',
        ),
        (
            {"kind": None, "spec": {}},
            400,
            NO_KIND.format(
                '{"apiVersion":"stable.example.com/v1","kind":null,"metadata":{"name":"a","uid":"2"},"spec":{}}',
                '{"apiVersion":"stable.example.',
            ),
        ),
    ],
)
def test_another_version_or_kind_is_refused(fields: Object, code: int, message: str) -> None:
    made = _with_v2()
    version = CustomVersion(load_definitions(), made, made["spec"]["versions"][0])
    with pytest.raises(ApiError) as caught:
        version.decode({**cron_tab({}), **fields})
    assert (caught.value.code, caught.value.message) == (code, message)


EMBEDDED: Object = {"type": "object", "x-kubernetes-embedded-resource": True}
NUMBER = "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        pytest.param({"metadata": {"name": "a", "labels": {"a": 1}}}, NUMBER, id="of the object"),
        pytest.param(
            {"spec": {"one": {"metadata": {"labels": {"a": 1}}}}},
            f'spec.one.metadata: Invalid value: {{"labels":{{"a":1}}}}: {NUMBER}',
            id="of a resource in it",
        ),
        pytest.param(
            {"spec": {"by": {"x": {"kind": 1}}}},
            "spec.by[x].kind: Invalid value: 1: must be a string",
            id="a kind of a resource in it",
        ),
    ],
)
def test_type_and_metadata_that_are_none_are_refused(fields: Object, message: str) -> None:
    properties = {"one": EMBEDDED, "by": {"type": "object", "additionalProperties": EMBEDDED}}
    with pytest.raises(ApiError) as caught:
        compiled({"type": "object", "properties": properties}).decode({**cron_tab({}), **fields})
    expected = f'CronTab in version "v1" cannot be handled as a CronTab: {message}'
    assert (caught.value.code, caught.value.message) == (400, expected)


def test_elements_of_a_list_that_keeps_what_is_unknown_keep_it_too() -> None:
    known: Object = {"type": "object", "properties": {"a": {"type": "object"}}}
    schema: Object = {
        "type": "object",
        "properties": {
            "kept": {"type": "array", "x-kubernetes-preserve-unknown-fields": True, "items": known},
            "closed": {"type": "object", "additionalProperties": False},
        },
    }
    obj, unknown = compiled(schema).decode(
        cron_tab({"kept": [{"b": 1, "a": {"c": 1}}], "closed": {"x": {"y": 1}}, "zz": 1, "aa": 1})
    )
    assert obj["spec"] == {"kept": [{"b": 1, "a": {}}], "closed": {"x": {}}}
    assert unknown == [f'unknown field "spec.{path}"' for path in ("aa", "closed.x.y", "kept[0].a.c", "zz")]
