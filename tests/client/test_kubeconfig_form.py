"""What a kubeconfig's text says, as Go reads it: rows checked beside the real kubectl (clientcmd loader_test.go)."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.golang.forms import UnmarshalError
from engine.client.kubeconfig_form import decode

NO_META = (
    "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go value of type struct "
    '{{ APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }}'
)
UNREGISTERED = (
    'no kind "{}" is registered for version "{}" in scheme "k8s.io/client-go/tools/clientcmd/api/latest/latest.go:50"'
)
FIELD = "json: cannot unmarshal {} into Go struct field {} of type {}"
TWICE = "error converting *[]{} into *map[string]{}: duplicate name "
USER = "users: [{{name: a, user: {}}}]"

REFUSED: dict[str, tuple[str, str]] = {
    "a list": ("[]", NO_META.format("array")),
    "a text": ("hello", NO_META.format("string")),
    "a number": ("5", NO_META.format("number")),
    "no yaml": ("a: b: c", "yaml: mapping values are not allowed in this context"),
    "a kind that is a number": ("kind: 5", "couldn't get version/kind; json parse error: "
                                "json: cannot unmarshal number into Go struct field .kind of type string"),
    "another kind": ("kind: Foo", UNREGISTERED.format("Foo", "v1")),
    "another version": ("apiVersion: v2", UNREGISTERED.format("Config", "v2")),
    "a version of a group": ("apiVersion: a.io/v1", UNREGISTERED.format("Config", "a.io/v1")),
    "a version of no group": ("apiVersion: /v2", UNREGISTERED.format("Config", "v2")),
    "a version with two slashes": ("apiVersion: a/b/c", "unexpected GroupVersion string: a/b/c"),
    "a mode that is a number": (
        USER.format("{exec: {interactiveMode: 5}}"),
        FIELD.format("number", "ExecConfig.users.user.exec.interactiveMode", "v1.ExecInteractiveMode"),
    ),
    "clusters as a map": ("clusters: {}", FIELD.format("object", "Config.clusters", "[]v1.NamedCluster")),
    "a cluster as a text": ("clusters: [a]", FIELD.format("string", "Config.clusters", "v1.NamedCluster")),
    "a name that is a number": (
        "clusters: [{name: 5}]", FIELD.format("number", "NamedCluster.clusters.name", "string")),
    "yes for a word": (USER.format("{token: y}"), FIELD.format("bool", "AuthInfo.users.user.token", "string")),
    "groups as a text": (
        USER.format("{as-groups: g}"), FIELD.format("string", "AuthInfo.users.user.as-groups", "[]string")),
    "extra that is no list": (
        USER.format("{as-user-extra: {a: b}}"),
        FIELD.format("string", "AuthInfo.users.user.as-user-extra", "[]string"),
    ),
    "a variable of a plugin": (
        USER.format("{exec: {env: [{name: a, value: 5}]}}"),
        FIELD.format("number", "ExecEnvVar.users.user.exec.env.value", "string"),
    ),
    "data that is a number": (
        USER.format("{client-key-data: 5}"), FIELD.format("number", "AuthInfo.users.user.client-key-data", "[]uint8")
    ),
    "data that is no base64": (USER.format("{client-key-data: a}"), "illegal base64 data at input byte 0"),
    "the first of several, by name": (
        "users: 5\ncontexts: x", FIELD.format("string", "Config.contexts", "[]v1.NamedContext")
    ),
    "one context twice": (
        "contexts: [{name: a}, {name: a}]",
        TWICE.format("NamedContext", "*api.Context") + '"a" in list: [{a {   []}} {a {   []}}]',
    ),
    "one user twice": (
        "users: [{name: a}, {name: a, user: {token: t}}]",
        TWICE.format("NamedAuthInfo", "*api.AuthInfo")
        + '"a" in list: [{a { []  []     [] map[]   <nil> <nil> []}} {a { []  [] t    [] map[]   <nil> <nil> []}}]',
    ),
    "one extension twice": (
        "extensions: [{name: a, extension: {}}, {name: a, extension: {}}]",
        TWICE.format("NamedExtension", "runtime.Object") + '"a" in list: [{a {[123 125] <nil>}} {a {[123 125] <nil>}}]',
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_told_as_go_tells_it(name: str) -> None:
    text, why = REFUSED[name]
    with pytest.raises(UnmarshalError) as raised:
        decode(text)
    assert str(raised.value) == why


EMPTY = {"clusters": None, "users": None, "contexts": None, "current-context": ""}
WRITTEN: dict[str, tuple[str, dict[str, Any]]] = {
    "nothing": ("", {}),
    "a comment": ("# nothing\n", {}),
    "the first of two documents": ("current-context: a\n---\ncurrent-context: b\n", {"current-context": "a"}),
    "unknown fields": ("foo: bar\nCurrent-Context: a", {}),
    "an entry of nothing": ("clusters: [null]", {"clusters": [{"name": "", "cluster": {"server": ""}}]}),
    "what is always there": (
        "contexts: [{name: a}]", {"contexts": [{"name": "a", "context": {"cluster": "", "user": ""}}]}),
    "bytes in another form": (
        USER.format('{client-key-data: "YW\\nJj", client-certificate-data: [1, 2]}'),
        {"users": [{"name": "a", "user": {"client-certificate-data": "AQI=", "client-key-data": "YWJj"}}]},
    ),
    "a plugin of an old version": (
        USER.format("{exec: {apiVersion: client.authentication.k8s.io/v1beta1}}"),
        {"users": [{"name": "a", "user": {"exec": {
            "command": "", "args": None, "env": None, "apiVersion": "client.authentication.k8s.io/v1beta1",
            "provideClusterInfo": False, "interactiveMode": "IfAvailable",
        }}}]},
    ),
    "preferences": ("preferences: {colors: true}", {"preferences": {"colors": True}}),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
def test_a_document_is_what_is_written_back(name: str) -> None:
    text, document = WRITTEN[name]
    assert decode(text) == {"kind": "Config", "apiVersion": "v1", **EMPTY, **document}
