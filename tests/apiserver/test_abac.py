"""Policies that stand in a file (pkg/auth/authorizer/abac abac_test.go)."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.apiserver.authentication.user import AUTHENTICATED, UserInfo
from engine.apiserver.authorization.abac import AbacAuthorizer, read_policies
from engine.apiserver.authorization.attributes import Attributes, Verdict
from ktui.commands import UsageError
from ktui.commands.up import configure
from ktui.engine_process import UpOptions

OLD = """
{                    "readonly": true, "resource": "events"   }
{"user":"scheduler", "readonly": true, "resource": "pods"     }
{"user":"scheduler",                   "resource": "bindings" }
# kubelets
{"user":"kubelet",   "readonly": true, "resource": "bindings" }
{"user":"kubelet",                     "resource": "events"   }
{"user":"alice",                                              "namespace": "projectCaribou"}
{"user":"bob",       "readonly": true,                        "namespace": "projectCaribou"}
"""
HEAD = '{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{'
NEW = "\n".join(
    f"{HEAD}{spec}}}}}"
    for spec in (
        '"user":"*", "readonly": true, "nonResourcePath": "/api"',
        '"user":"*", "nonResourcePath": "/custom"',
        '"user":"*", "nonResourcePath": "/root/*"',
        '"user":"noresource", "nonResourcePath": "*"',
        '"user":"*", "readonly": true, "resource": "events", "namespace": "*"',
        '"user":"scheduler", "readonly": true, "resource": "pods", "namespace": "*"',
        '"user":"scheduler", "resource": "bindings", "namespace": "*"',
        '"user":"alice", "resource": "*", "namespace": "projectCaribou"',
        '"user":"debbie", "resource": "pods", "namespace": "projectCaribou"',
        '"user":"apigroupuser", "resource": "*", "namespace": "projectAnyGroup", "apiGroup": "*"',
        '"user":"apigroupuser", "resource": "*", "namespace": "projectEmptyGroup", "apiGroup": ""',
        '"user":"apigroupuser", "resource": "*", "namespace": "projectXGroup", "apiGroup": "x"',
    )
)
# User, verb, resource or path, namespace, group, and whether it may.
ROWS: dict[str, list[tuple[str, str, str, str, str, bool]]] = {
    OLD: [
        ("scheduler", "list", "pods", "ns1", "", True),
        ("scheduler", "list", "pods", "", "", True),
        ("scheduler", "create", "pods", "ns1", "", False),
        ("scheduler", "get", "bindings", "ns1", "", True),
        ("alice", "get", "widgets", "projectCaribou", "", True),
        ("alice", "get", "", "projectCaribou", "", True),
        ("alice", "update", "foo", "projectCaribou", "bar", True),
        ("alice", "get", "pods", "ns1", "", False),
        ("bob", "update", "pods", "projectCaribou", "", False),
        ("chuck", "get", "events", "ns1", "", True),
        ("chuck", "get", "events", "", "", True),
        ("chuck", "update", "events", "ns1", "", False),
        ("chuck", "get", "floop", "ns1", "", False),
        ("chuck", "get", "/", "", "", False),
    ],
    NEW: [
        ("scheduler", "list", "pods", "ns1", "", True),
        ("scheduler", "create", "pods", "", "", False),
        ("scheduler", "get", "bindings", "", "", True),
        ("alice", "update", "", "projectCaribou", "", True),
        ("alice", "get", "", "ns1", "", False),
        ("debbie", "update", "pods", "projectCaribou", "", True),
        ("debbie", "update", "widgets", "projectCaribou", "", False),
        ("chuck", "get", "events", "", "", True),
        ("chuck", "update", "events", "ns1", "", False),
        ("chuck", "get", "/", "", "", False),
        ("chuck", "get", "/api", "", "", True),
        ("chuck", "update", "/api", "", "", False),
        ("chuck", "get", "/custom", "", "", True),
        ("chuck", "update", "/custom", "", "", True),
        ("chuck", "get", "/customish", "", "", False),
        ("chuck", "get", "/root/", "", "", True),
        ("chuck", "update", "/root/a/b", "", "", True),
        ("chuck", "get", "/root", "", "", False),
        ("noresource", "get", "/anything", "", "", True),
        ("noresource", "get", "foo", "bar", "", False),
        ("apigroupuser", "get", "foo", "projectAnyGroup", "x", True),
        ("apigroupuser", "get", "foo", "projectEmptyGroup", "x", False),
        ("apigroupuser", "get", "foo", "projectEmptyGroup", "", True),
        ("apigroupuser", "get", "foo", "projectXGroup", "x", True),
        ("apigroupuser", "get", "foo", "projectXGroup", "y", False),
    ],
}


@pytest.mark.parametrize("text", ROWS, ids=["old", "new"])
async def test_who_may_what(tmp_path: Path, text: str) -> None:
    file = tmp_path / "policies"
    file.write_text(text)
    authorizer = AbacAuthorizer(read_policies(file))
    for name, verb, what, namespace, group, may in ROWS[text]:
        user, is_path = UserInfo(name, groups=(AUTHENTICATED,)), what.startswith("/")
        asked = Attributes(user, verb, group, resource="" if is_path else what, namespace=namespace)
        if is_path:
            asked = Attributes(user, verb, is_resource=False, path=what)
        decision = await authorizer.authorize(asked)
        assert (decision.verdict is Verdict.ALLOW) is may, (name, verb, what, namespace)
        assert decision.reason == ("" if may else "No policy matched.")


# Of a policy, of who asks, and whether it is for them.
SUBJECTS = [
    ({"user": "*"}, "foo", ("x",), False),
    ({"user": "*"}, "foo", (AUTHENTICATED,), True),
    ({"group": "*"}, "foo", (AUTHENTICATED,), True),
    ({}, "foo", (AUTHENTICATED,), False),
    ({"user": "foo"}, "foo", (), True),
    ({"user": "foo"}, "bar", (), False),
    ({"user": "foo", "group": "a"}, "foo", ("b",), False),
    ({"user": "foo", "group": "a"}, "foo", ("b", "a"), True),
    ({"user": "foo", "group": "a"}, "bar", ("a",), False),
    ({"group": "a"}, "bar", ("a",), True),
]


@pytest.mark.parametrize(("spec", "name", "groups", "is_for"), SUBJECTS)
def test_whom_a_policy_is_for(
    tmp_path: Path, spec: dict[str, str], name: str, groups: tuple[str, ...], is_for: bool
) -> None:
    file = tmp_path / "policies"
    file.write_text(HEAD + ",".join(f'"{key}":"{value}"' for key, value in spec.items()) + "}}")
    (policy,) = read_policies(file)
    assert policy.is_for(UserInfo(name, groups=groups)) is is_for


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "open {0}: no such file or directory"),
        (
            '{"user": 1}',
            'error reading policy file {0}, line 1: {{"user": 1}}: json: cannot unmarshal number into Go struct field '
            "Policy.user of type string",
        ),
        (
            "\n[]",
            "error reading policy file {0}, line 2: []: json: cannot unmarshal array into Go value of type v1.Policy",
        ),
    ],
)
def test_files_that_no_server_starts_with(tmp_path: Path, text: str | None, why: str) -> None:
    file = tmp_path / "policies"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UsageError) as caught:
        configure(UpOptions(authorization_mode="ABAC", authorization_policy_file=str(file)))
    assert str(caught.value) == f"--authorization-policy-file: {why.format(file)}"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"authorization_mode": "ABAC"}, "authorization-mode ABAC's authorization policy file not passed"),
        ({"authorization_mode": "Webhook"}, "authorization-mode Webhook's authorization config file not passed"),
        (
            {"authorization_policy_file": "{0}"},
            "cannot specify --authorization-policy-file without mode ABAC",
        ),
        (
            {"authorization_webhook_config_file": "{0}"},
            "cannot specify --authorization-webhook-config-file without mode Webhook",
        ),
        (
            {"authorization_mode": "Webhook", "authorization_webhook_config_file": "/none"},
            "--authorization-webhook-config-file: stat /none: no such file or directory",
        ),
        (
            {
                "authorization_mode": "Webhook",
                "authorization_webhook_config_file": "{0}",
                "authorization_webhook_version": "v2",
            },
            'unsupported webhook authorizer version "v2", supported versions are "v1", "v1beta1"',
        ),
    ],
)
def test_what_modes_need(tmp_path: Path, options: dict[str, str], why: str) -> None:
    (file := tmp_path / "policies").write_text("")
    with pytest.raises(UsageError) as caught:
        configure(UpOptions(**{name: value.format(file) for name, value in options.items()}))  # type: ignore[arg-type]
    assert str(caught.value) == why
