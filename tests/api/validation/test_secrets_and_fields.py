"""Secrets at their bounds, and fields of Pods in variables, after upstream's tables of both."""

from __future__ import annotations

import base64

import pytest

from engine.api.types import GVK, Object
from tests.api.objects import POD, container, problems

SECRET = GVK("", "v1", "Secret")


def secret(content: bytes, kind: str = "Opaque", key: str = "a") -> Object:
    data = {key: base64.b64encode(content).decode()}
    return {"metadata": {"name": "a", "namespace": "default"}, "type": kind, "data": data}


def docker(content: bytes) -> Object:
    return secret(content, "kubernetes.io/dockercfg", ".dockercfg")


_NO_MAP = (
    'data[.dockercfg]: Invalid value: "<secret contents redacted>": json: cannot unmarshal {} into Go value of type '
)
SECRETS: dict[str, tuple[Object, list[str]]] = {
    "as large as it may be": (secret(b"x" * 1048576), []),
    "larger by one byte": (secret(b"x" * 1048577), ["data: Too long: may not be more than 1048576 bytes"]),
    "a file that is text": (docker(b'"x"'), [_NO_MAP.format("string") + "map[string]interface {}"]),
    "a file that is a number": (docker(b"1"), [_NO_MAP.format("number") + "map[string]interface {}"]),
    "a file that is a list": (docker(b"[]"), [_NO_MAP.format("array") + "map[string]interface {}"]),
    "a file that is null": (docker(b"null"), []),
}


@pytest.mark.parametrize("name", SECRETS)
def test_secrets(name: str) -> None:
    value, expected = SECRETS[name]
    assert problems(SECRET, value) == expected


_PATH = "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath"
FIELDS: dict[str, tuple[str, str, list[str]]] = {
    "the node, as of old": ("v1", "spec.host", []),
    "another version": (
        "v2",
        "metadata.name",
        [f'{_PATH}: Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2'],
    ),
    "a part of what has none": (
        "v1",
        "metadata.name['a']",
        [
            f"{_PATH}: Invalid value: \"metadata.name['a']\": error converting fieldPath: field label does not support "
            "subscript: metadata.name['a']"
        ],
    ),
    "none": (
        "v1",
        "metadata.whoops",
        [
            f'{_PATH}: Invalid value: "metadata.whoops": error converting fieldPath: field label not supported: '
            "metadata.whoops"
        ],
    ),
}


@pytest.mark.parametrize("name", FIELDS)
def test_fields_of_the_pod(name: str) -> None:
    version, field, expected = FIELDS[name]
    variable = {"name": "a", "valueFrom": {"fieldRef": {"apiVersion": version, "fieldPath": field}}}
    assert problems(POD, container(env=[variable])) == expected
