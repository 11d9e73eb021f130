"""What is wrong with an AuthorizationConfiguration (apiserver pkg/apis/apiserver/validation validation_test.go, load
load_test.go)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.api.types import Object
from engine.api.validation.problems import Problems
from engine.apiserver.authorization.configuration import check, check_conditions, check_webhook, settings_of
from ktui.commands import UsageError
from ktui.commands.up import configure
from ktui.engine_process import UpOptions

HEAD = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration"}
WEBHOOK: Object = {
    "timeout": "5s",
    "authorizedTTL": "5m",
    "unauthorizedTTL": "30s",
    "failurePolicy": "NoOpinion",
    "subjectAccessReviewVersion": "v1",
    "matchConditionSubjectAccessReviewVersion": "v1",
    "connectionInfo": {"type": "InClusterConfig"},
}
TEST = "compilation failed: ERROR: <input>:1:1: undeclared reference to 'test' (in container '')\n | test\n | ^"


def told(problems: Problems) -> list[str]:
    return [str(each) for each in problems]


AUTHORIZERS: dict[str, tuple[list[Object], list[str]]] = {
    "none": ([], ["authorizers: Required value: at least one authorization mode must be defined"]),
    "no type": ([{"name": "foo"}], ["authorizers[0].type: Required value"]),
    "no name": ([{"type": "RBAC"}], ["authorizers[0].name: Required value"]),
    "a name twice": (
        [{"type": "RBAC", "name": "foo"}, {"type": "Node", "name": "foo"}],
        ['authorizers[1].name: Duplicate value: "foo"'],
    ),
    "a name with dots": ([{"type": "RBAC", "name": "foo.example.domain"}], []),
    "a type that there is not": (
        [{"type": "Foo", "name": "foo"}],
        [
            'authorizers[0].type: Unsupported value: "Foo": supported values: "ABAC", "AlwaysAllow", "AlwaysDeny", '
            '"Node", "RBAC", "Webhook"'
        ],
    ),
    "a type twice": (
        [{"type": "RBAC", "name": "a"}, {"type": "RBAC", "name": "b"}],
        ['authorizers[1].type: Duplicate value: "RBAC"'],
    ),
    "two webhooks": (
        [{"type": "Webhook", "name": name, "webhook": WEBHOOK} for name in ("a", "b")],
        [],
    ),
    "a webhook without one": (
        [{"type": "Webhook", "name": "foo"}],
        ["authorizers[0].webhook: Required value: required when type=Webhook"],
    ),
    "another with one": (
        [{"type": "RBAC", "name": "foo", "webhook": WEBHOOK}],
        ['authorizers[0].webhook: Invalid value: "non-null": may only be specified when type=Webhook'],
    ),
}


@pytest.mark.parametrize("name", AUTHORIZERS)
def test_authorizers(name: str) -> None:
    said, wrong = AUTHORIZERS[name]
    problems = Problems()
    check({"authorizers": said}, problems)
    assert told(problems) == wrong


def test_a_name_that_is_none() -> None:
    problems = Problems()
    check({"authorizers": [{"type": "RBAC", "name": "FOO.example.domain"}]}, problems)
    (wrong,) = told(problems)
    assert wrong.startswith(
        'authorizers[0].name: Invalid value: "FOO.example.domain": authorizer name is invalid: a low'
    )


_FILE = {"type": "KubeConfigFile"}
WEBHOOKS: dict[str, tuple[Object, list[str]]] = {
    "all": ({}, []),
    "no timeout": ({"timeout": None}, ["timeout: Required value"]),
    "a timeout of nothing": ({"timeout": "0s"}, ["timeout: Required value"]),
    "a timeout below": ({"timeout": "-30s"}, ['timeout: Invalid value: "-30s": must be > 0s and <= 30s']),
    "a timeout above": ({"timeout": "1m"}, ['timeout: Invalid value: "1m0s": must be > 0s and <= 30s']),
    "a time below": ({"authorizedTTL": "-30s"}, ['authorizedTTL: Invalid value: "-30s": must be > 0s']),
    "another below": ({"unauthorizedTTL": "-30s"}, ['unauthorizedTTL: Invalid value: "-30s": must be > 0s']),
    "times that are not said": ({"authorizedTTL": None, "unauthorizedTTL": "0s"}, []),
    "no version": ({"subjectAccessReviewVersion": ""}, ["subjectAccessReviewVersion: Required value"]),
    "another version": (
        {"subjectAccessReviewVersion": "v2beta1"},
        ['subjectAccessReviewVersion: Unsupported value: "v2beta1": supported values: "v1", "v1beta1"'],
    ),
    "conditions of no version": (
        {"matchConditionSubjectAccessReviewVersion": None, "matchConditions": [{"expression": "true"}]},
        [
            "matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified"
        ],
    ),
    "conditions of another version": (
        {"matchConditionSubjectAccessReviewVersion": "v1beta1"},
        ['matchConditionSubjectAccessReviewVersion: Unsupported value: "v1beta1": supported values: "v1"'],
    ),
    "no policy": ({"failurePolicy": ""}, ["failurePolicy: Required value"]),
    "another policy": (
        {"failurePolicy": "AlwaysAllow"},
        ['failurePolicy: Unsupported value: "AlwaysAllow": supported values: "NoOpinion", "Deny"'],
    ),
    "no connection": ({"connectionInfo": {}}, ["connectionInfo.type: Required value"]),
    "a file where none is": (
        {"connectionInfo": {"type": "InClusterConfig", "kubeConfigFile": "/a"}},
        ['connectionInfo.kubeConfigFile: Invalid value: "/a": can only be set when type=KubeConfigFile'],
    ),
    "no file": ({"connectionInfo": _FILE}, ["connectionInfo.kubeConfigFile: Required value"]),
    "a file beside": (
        {"connectionInfo": {**_FILE, "kubeConfigFile": "a"}},
        ['connectionInfo.kubeConfigFile: Invalid value: "a": must be an absolute path'],
    ),
    "a file that is not there": (
        {"connectionInfo": {**_FILE, "kubeConfigFile": "/none"}},
        [
            'connectionInfo.kubeConfigFile: Invalid value: "/none": error loading file: stat /none: no such file or '
            "directory"
        ],
    ),
    "a folder": (
        {"connectionInfo": {**_FILE, "kubeConfigFile": "/"}},
        ['connectionInfo.kubeConfigFile: Invalid value: "/": must be a regular file'],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WEBHOOKS)
def test_webhooks(name: str) -> None:
    said, wrong = WEBHOOKS[name]
    problems = Problems()
    check_webhook({**WEBHOOK, **said}, "authorizers[0]", problems)
    assert told(problems) == [f"authorizers[0].{each}" for each in wrong]


CONDITIONS: list[tuple[list[str], list[str]]] = [
    ([], []),
    (["request.user == 'admin'"], []),
    (["request.resourceAttributes.fieldSelector.requirements.exists(r, r.key == 'a' && r.values[0] == 'b')"], []),
    ([" "], ["[0].expression: Required value"]),
    (["request.user == 'a'"] * 2, ["[1].expression: Duplicate value: \"request.user == 'a'\""]),
    (["test"], [f'[0].expression: Invalid value: "test": {TEST}']),
    (["request.user"], ['[0].expression: Invalid value: "request.user": must evaluate to bool but got string']),
    (["true"] * 65, [": Too many: 65: must have at most 64 items"]),
]


@pytest.mark.parametrize(("expressions", "wrong"), CONDITIONS)
def test_conditions(expressions: list[str], wrong: list[str]) -> None:
    problems = Problems()
    check_conditions([{"expression": each} for each in expressions], "matchConditions", problems)
    assert told(problems) == [f"matchConditions{each}" for each in wrong]


def test_how_long_answers_hold() -> None:
    rows: list[tuple[Object, tuple[float, float]]] = [
        ({}, (300, 30)),
        ({"authorizedTTL": None, "unauthorizedTTL": "1s"}, (300, 1)),
        ({"cacheAuthorizedRequests": False, "cacheUnauthorizedRequests": True}, (0, 30)),
        ({"cacheUnauthorizedRequests": False}, (300, 0)),
    ]
    for said, seconds in rows:
        found = settings_of({"name": "a", "webhook": {**WEBHOOK, **said}})
        assert (found.authorized_ttl, found.unauthorized_ttl) == seconds


def _file(*authorizers: Object, **more: Any) -> str:
    return yaml.safe_dump({**HEAD, "authorizers": list(authorizers), **more})


@pytest.mark.parametrize(
    ("text", "options", "why"),
    [
        (None, {}, "--authorization-config: open {0}: no such file or directory"),
        (
            "",
            {},
            "--authorization-config: authorizers: Required value: at least one authorization mode must be defined",
        ),
        (
            yaml.safe_dump({**HEAD, "apiVersion": "apiserver.config.k8s.io/v99"}),
            {},
            "--authorization-config: failed to load AuthorizationConfiguration from file: no kind "
            '"AuthorizationConfiguration" is registered for version "apiserver.config.k8s.io/v99" in scheme '
            '"k8s.io/apiserver/pkg/apis/apiserver/load/load.go:32"',
        ),
        (
            _file(other=1),
            {},
            "--authorization-config: failed to load AuthorizationConfiguration from file: strict decoding error: "
            "unknown "
            'field "other"',
        ),
        (
            _file({"type": "RBAC", "name": "mine"}, {"type": "Node", "name": "node"}),
            {},
            "--authorization-config: expected name rbac for authorizer RBAC instead of mine",
        ),
        (
            _file({"type": "Webhook", "name": "w", "webhook": WEBHOOK}),
            {},
            "--authorization-config: unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and "
            "KUBERNETES_SERVICE_PORT must be defined",
        ),
        (
            _file({"type": "ABAC", "name": "abac"}),
            {},
            "--authorization-config: authorizer ABAC needs --authorization-policy-file",
        ),
        (
            _file({"type": "RBAC", "name": "rbac"}),
            {"authorization_mode": "RBAC"},
            "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* "
            "flags are "
            "defined",
        ),
    ],
)
def test_files_that_no_server_starts_with(tmp_path: Path, text: str | None, options: dict[str, str], why: str) -> None:
    file = tmp_path / "authorization.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UsageError) as caught:
        configure(UpOptions(authorization_config=str(file), **options))  # type: ignore[arg-type]
    assert str(caught.value) == why.format(file)
