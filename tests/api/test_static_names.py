"""Names of admission that is read from files (admissionregistration validation, static_suffix_test.go)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from engine.api.resources import ResourceInfo, ResourceRegistry
from engine.api.types import GVK, Object
from engine.api.validation import validate_create, validate_update
from engine.api.warnings import warnings_on_create
from tests.api.objects import prepared

GROUP = "admissionregistration.k8s.io"
RESERVED = (
    'names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed '
    "via the API"
)
NAMES = {
    "guard.static.k8s.io": True,
    "guard.k8s.io": False,
    "static.k8s.io.guard": False,
    "static.k8s.io": False,
}
KINDS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


def kind(version: str, name: str) -> ResourceInfo:
    found = ResourceRegistry.for_version(version).by_kind(GVK(GROUP, "v1", name))
    assert found is not None
    return found


def named(kind: str, name: str, **fields: Any) -> Object:
    return prepared(GVK(GROUP, "v1", kind), {"metadata": {"name": name}, **fields})


def refusals(version: str, of: str, name: str) -> list[str]:
    return [str(cause) for cause in validate_create(kind(version, of), named(of, name))]


@pytest.mark.parametrize("of", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_names_of_what_is_read_from_files_are_refused(of: str, name: str) -> None:
    expected = [f'metadata.name: Invalid value: "{name}": {RESERVED}'] if NAMES[name] else []
    assert refusals("1.37", of, name) == expected
    assert refusals("1.36", of, name) == []


def test_policies_and_bindings_have_such_names_no_more_than_webhooks() -> None:
    binding = {"spec": {"policyName": "a", "validationActions": ["Deny"]}}
    obj = named("ValidatingAdmissionPolicyBinding", "a.static.k8s.io", **binding)
    causes = validate_create(kind("1.37", "ValidatingAdmissionPolicyBinding"), obj)
    assert [str(cause) for cause in causes] == [f'metadata.name: Invalid value: "a.static.k8s.io": {RESERVED}']


def test_what_has_such_a_name_may_change() -> None:
    of = kind("1.37", KINDS[0])
    old = named(KINDS[0], "guard.static.k8s.io")
    old["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    new = copy.deepcopy(old)
    new["metadata"]["labels"] = {"a": "b"}
    assert validate_update(of, new, old) == []


def test_the_release_before_warned_of_them() -> None:
    obj = named(KINDS[0], "guard.static.k8s.io")
    assert [warnings_on_create(kind(version, KINDS[0]), obj) for version in ("1.35", "1.36", "1.37")] == [
        [],
        [f"metadata.name: {RESERVED}"],
        [],
    ]
    assert warnings_on_create(kind("1.36", KINDS[0]), named(KINDS[0], "guard")) == []
