"""Tables as the API has them: columns, rows and what a row carries."""

from __future__ import annotations

import pytest

from engine.api.resources import ResourceInfo
from engine.api.tables import table
from engine.api.types import Object
from tests.api.rows import NOW, REGISTRY, info


@pytest.mark.parametrize("resource", [pytest.param(info, id=repr(info)) for info in REGISTRY if info.stored])
def test_every_kind_prints_an_object_that_says_nothing(resource: ResourceInfo) -> None:
    made = table(resource, [{"metadata": {"name": "x"}}], now=NOW, list_metadata={"resourceVersion": "7"})
    names = [column["name"] for column in made["columnDefinitions"]]
    assert "Name" in names
    assert len(names) == len(set(names)) == len(made["rows"][0]["cells"])
    assert made["metadata"] == {"resourceVersion": "7"}


def test_the_columns_of_a_deployment() -> None:
    made = table(info("apps", "v1", "Deployment"), [], now=NOW, list_metadata={})
    columns = made["columnDefinitions"]
    assert [(column["name"], column["priority"]) for column in columns] == [
        ("Name", 0),
        ("Ready", 0),
        ("Up-to-date", 0),
        ("Available", 0),
        ("Age", 0),
        ("Containers", 1),
        ("Images", 1),
        ("Selector", 1),
    ]
    assert columns[0]["format"] == "name"
    assert columns[0]["description"].startswith("Name must be unique within a namespace.")
    assert columns[1] == {
        "name": "Ready",
        "type": "string",
        "format": "",
        "description": "Number of the pod with ready state",
        "priority": 0,
    }
    assert made["rows"] == []


def test_what_a_row_carries() -> None:
    pods = info("", "v1", "Pod")
    obj: Object = {"kind": "Pod", "metadata": {"name": "p"}, "status": {"phase": "Succeeded"}}
    row = table(pods, [obj], now=NOW, list_metadata={})["rows"][0]
    assert row["object"] == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"name": "p"},
    }
    assert row["conditions"][0]["reason"] == "Succeeded"
    whole = table(pods, [obj], now=NOW, list_metadata={}, include_object="Object", headers=False)
    assert whole["rows"][0]["object"] is obj
    assert whole["columnDefinitions"] is None
    assert table(pods, [obj], now=NOW, list_metadata={}, include_object="None")["rows"][0]["object"] is None


def test_flow_schemas_are_in_the_order_they_are_tried_in() -> None:
    schemas = [
        {"metadata": {"name": name}, "spec": {"matchingPrecedence": precedence}}
        for name, precedence in (("b", 9), ("a", 9), ("z", 1))
    ]
    made = table(info("flowcontrol.apiserver.k8s.io", "v1", "FlowSchema"), schemas, now=NOW, list_metadata={})
    assert [row["cells"][0] for row in made["rows"]] == ["z", "a", "b"]
