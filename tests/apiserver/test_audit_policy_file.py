"""Files that are no audit policy, and those that are one though something is wrong with them (after apiserver's
pkg/audit/policy/reader_test.go and pkg/apis/audit/validation/validation_test.go)."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from engine.apiserver.audit import AuditPolicyError, load_policy
from engine.apiserver.audit.policy import Level
from engine.apiserver.authentication.user import UserInfo
from engine.apiserver.request_info import RequestInfo

HEAD = "apiVersion: audit.k8s.io/v1\nkind: Policy\n"
NOWHERE = "unknown group version field audit.k8s.io/__internal, Kind=Policy in policy"
SCHEME = 'in scheme "k8s.io/apiserver/pkg/audit/scheme.go:31"'
NO_STAGE = "allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic"

REFUSED: dict[str, tuple[str, str]] = {
    "neither version nor kind": ("rules: [{level: Metadata}]", NOWHERE),
    "a kind alone": ("kind: Policy\nrules: [{level: Metadata}]", NOWHERE),
    "nothing": ("", NOWHERE),
    "no rules": (HEAD, "loaded illegal policy with 0 rules"),
    "a version of before": (
        "apiVersion: audit.k8s.io/v1beta1\nkind: Policy",
        f'failed decoding: no kind "Policy" is registered for version "audit.k8s.io/v1beta1" {SCHEME}',
    ),
    "something else": (
        "apiVersion: v1\nkind: Pod", f'failed decoding: no kind "Pod" is registered for version "v1" {SCHEME}',
    ),
    "a list": (
        "[a]",
        "failed decoding: couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of "
        'type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string '
        '"json:\\"kind,omitempty\\"" }',
    ),
    "no YAML": (HEAD + "rules: [", "failed decoding: error converting YAML to JSON: yaml: line 3: did not find "
                "expected node content"),
    "rules that are a text": (
        HEAD + "rules: a",
        "failed decoding: json: cannot unmarshal string into Go struct field Policy.rules of type []v1.PolicyRule",
    ),
    "a level that is a number": (
        HEAD + "rules: [{level: 5}]",
        "failed decoding: json: cannot unmarshal number into Go struct field PolicyRule.rules.level of type string",
    ),
    "names that are one": (
        HEAD + "rules: [{level: None, users: jane}]",
        "failed decoding: json: cannot unmarshal string into Go struct field PolicyRule.rules.users of type []string",
    ),
    "a rule that is none": (HEAD + "rules: [null]", "rules[0].level: Required value"),
    "several wrong things": (
        HEAD + "omitStages: [foo]\nrules: [{level: Metadata, omitStages: [bar]}]",
        f'[omitStages[0]: Invalid value: "foo": {NO_STAGE}, rules[0].omitStages[0]: Invalid value: "bar": {NO_STAGE}]',
    ),
    "an empty path": (
        HEAD + "rules: [{level: Metadata, nonResourceURLs: ['']}]",
        "rules[0].nonResourceURLs[0]: Invalid value: \"\": non-resource URL rules must begin with a '/' character",
    ),
    "a group with its version": (
        HEAD + "rules: [{level: Metadata, resources: [{group: apps/v1}]}]",
        'rules[0].resources.group: Invalid value: "apps/v1": a lowercase RFC 1123 subdomain must consist of lower case '
        "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "
        "'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*"
        "[a-z0-9])?)*')",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_is_refused(name: str, tmp_path: Path) -> None:
    text, told = REFUSED[name]
    file = tmp_path / "policy.yaml"
    file.write_text(text)
    with pytest.raises(AuditPolicyError) as refused:
        load_policy(file)
    assert str(refused.value) == f"{told}: from file {file}"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "none"
    with pytest.raises(AuditPolicyError) as refused:
        load_policy(file)
    assert str(refused.value) == f'failed to read file path "{file}": open {file}: no such file or directory'


LENIENT: dict[str, tuple[str, str]] = {
    "verbs in the wrong place": (
        "rules:\n- level: Request\n  resources:\n  - group: ''\n    resources: [pods]\n    verbs: [get]\n",
        'unknown field "rules[0].resources[0].verbs"',
    ),
    "a level that comes twice": (
        "rules:\n- level: None\n  level: Request\n",
        'yaml: unmarshal errors:\n  line 5: key "level" already set in map',
    ),
}


@pytest.mark.parametrize("name", LENIENT)
def test_what_a_file_says_besides_is_told_and_counts_for_nothing(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text, told = LENIENT[name]
    file = tmp_path / "policy.yaml"
    file.write_text(HEAD + text)
    with caplog.at_level(logging.WARNING):
        policy = load_policy(file)
    assert caplog.messages == [
        f"Audit policy contains errors, falling back to lenient decoding: strict decoding error: {told}"
    ]
    info = RequestInfo(True, "/api/v1/pods", "watch", "", "v1", "", "pods")
    assert policy.evaluate(UserInfo("jane"), info).level is Level.REQUEST


def test_a_policy_need_not_say_that_it_is_one(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("apiVersion: audit.k8s.io/v1\nrules: [{level: Metadata, resources: [null]}]")
    info = RequestInfo(True, "/api/v1/pods", "list", "", "v1", "", "pods")
    assert load_policy(file).evaluate(UserInfo("jane"), info).level is Level.METADATA
