"""Webhooks whose rules name what webhooks are not asked about (admissionregistration validation, warnings_test.go)."""

from __future__ import annotations

import pytest

from engine.api.resources import ResourceInfo, ResourceRegistry
from engine.api.types import GVK, Object
from engine.api.warnings import warnings_on_create, warnings_on_update

GROUP = "admissionregistration.k8s.io"
KINDS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


def kind(version: str, name: str) -> ResourceInfo:
    found = ResourceRegistry.for_version(version).by_kind(GVK(GROUP, "v1", name))
    assert found is not None
    return found


def configuration(groups: str, versions: str, resources: str) -> Object:
    rule = {"apiGroups": groups.split(), "apiVersions": versions.split(), "resources": resources.split()}
    return {"metadata": {"name": "x"}, "webhooks": [{"rules": []}, {"rules": [{}, rule]}]}


RULES: dict[str, tuple[tuple[str, str, str], tuple[str, ...]]] = {
    "of others": (("apps", "v1", "deployments"), ()),
    "one that is not asked about": (("authentication.k8s.io", "v1", "tokenreviews"), ("tokenreviews.authentication",)),
    "one of two": (("authorization.k8s.io", "v1", "subjectaccessreviews x"), ("subjectaccessreviews.authorization",)),
    "one twice": (
        ("authorization.k8s.io", "v1", "selfsubjectrulesreviews selfsubjectrulesreviews"),
        ("selfsubjectrulesreviews.authorization",),
    ),
    "two of two groups": (
        ("authorization.k8s.io authentication.k8s.io", "v1", "selfsubjectreviews localsubjectaccessreviews"),
        ("localsubjectaccessreviews.authorization", "selfsubjectreviews.authentication"),
    ),
    "of all versions": (("authentication.k8s.io", "*", "tokenreviews"), ("tokenreviews.authentication",)),
    "of all groups": (("*", "v1", "tokenreviews"), ()),
    "all resources": (("authentication.k8s.io", "v1", "*"), ()),
    "of another group": (("example.com", "v1", "tokenreviews"), ()),
}


@pytest.mark.parametrize("of", KINDS)
@pytest.mark.parametrize("name", RULES)
def test_rules_for_what_webhooks_are_not_asked_about(of: str, name: str) -> None:
    rule, named = RULES[name]
    obj = configuration(*rule)
    expected = [
        f"webhooks[1].rules[1]: {each}.k8s.io is excluded from admission webhooks; this rule will have no effect"
        for each in named
    ]
    assert warnings_on_create(kind("1.37", of), obj) == expected
    assert warnings_on_update(kind("1.37", of), obj, obj) == expected
    assert warnings_on_create(kind("1.36", of), obj) == []
