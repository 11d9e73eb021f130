"""What a table says of one object that the others of its kind decide, after upstream's tableconvertor_test.go."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.api.schema import load_definitions
from engine.api.tables import table
from engine.api.types import Object
from tests.api.rows import NOW, ago, info, shown

_DEFAULT = "storageclass.kubernetes.io/is-default-class"
_CLASS = ("storage.k8s.io", "v1", "StorageClass")


def storage_class(name: str, age: int, *, default: bool = True) -> Object:
    metadata = {"name": name, "creationTimestamp": ago(age), "annotations": {_DEFAULT: "true"} if default else {}}
    return {"metadata": metadata, "provisioner": "a.io/b"}


OLD, NEW, PLAIN = storage_class("standard", 60), storage_class("fast", 5), storage_class("plain", 5, default=False)


@pytest.mark.parametrize(
    ("shown_classes", "others", "expected"),
    [
        ([OLD, PLAIN], [], ["standard (default)", "plain"]),
        ([OLD, NEW], [], ["standard", "fast (default)"]),
        ([storage_class("zeta", 5), storage_class("alpha", 5)], [], ["zeta", "alpha (default)"]),
        ([PLAIN], [], ["plain"]),
        ([NEW], [OLD], ["fast (default)"]),
        ([OLD], [NEW], ["standard"]),
        ([storage_class("fast", 5, default=False)], [NEW, OLD], ["fast"]),
    ],
    ids=["one", "newest", "by name", "none", "alone, the newer", "alone, the older", "no longer"],
)
def test_the_default_class_is_the_one_that_claims_get(
    shown_classes: Sequence[Object], others: Sequence[Object], expected: list[str]
) -> None:
    made = table(info(*_CLASS), shown_classes, now=NOW, list_metadata={}, peers=lambda: others)
    assert [row["cells"][0] for row in made["rows"]] == expected


def test_before_all_classes_that_claim_to_be_the_default_were_marked() -> None:
    made = table(info(*_CLASS), [OLD, NEW], now=NOW, list_metadata={}, definitions=load_definitions("1.36"))
    assert [row["cells"][0] for row in made["rows"]] == ["standard (default)", "fast (default)"]


@pytest.mark.parametrize(
    ("node_info", "expected"),
    [
        ({"kernelVersion": "6.8.0-88-generic", "architecture": "amd64"}, "6.8.0-88-generic (amd64)"),
        ({"kernelVersion": "6.8.0-88-generic"}, "6.8.0-88-generic"),
        ({}, "<unknown>"),
    ],
    ids=["both", "kernel", "neither"],
)
def test_a_node_s_kernel_is_shown_with_its_architecture(node_info: Object, expected: str) -> None:
    assert shown("", "v1", "Node", {"status": {"nodeInfo": node_info}})["Kernel-Version"] == expected


@pytest.mark.parametrize(("version", "columns"), [("1.34", ["Name", "Secrets", "Age"]), ("1.35", ["Name", "Age"])])
def test_a_service_account_s_secrets_were_counted_once(version: str, columns: list[str]) -> None:
    made = table(info("", "v1", "ServiceAccount"), [], now=NOW, list_metadata={}, definitions=load_definitions(version))
    assert [column["name"] for column in made["columnDefinitions"]] == columns
