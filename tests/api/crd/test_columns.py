"""Printer columns and the JSONPath that they are found by."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from engine.api.crd.columns import layout
from engine.api.tables.columns import Row
from engine.api.types import Object

OBJECT: Object = {
    "metadata": {"name": "a", "labels": {"app.kubernetes.io/name": "web"}, "creationTimestamp": "2026-01-01T00:00:00Z"},
    "spec": {
        "n": 3,
        "ratio": 0.5,
        "on": True,
        "empty": "",
        "later": "2026-03-01T00:00:00Z",
        "items": [{"v": 1}, {"v": 2}, {"v": 3}],
        "text": "x",
        "mixed": {"b": "<x>", "a": [1, None]},
        "large": 2500000.0,
        "whole": 2.0,
    },
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Other", "status": "False"}]},
}


@pytest.mark.parametrize(
    ("kind", "path", "cell"),
    [
        ("string", ".spec.n", "3"),
        ("string", ".spec.items[0]", '{"v":1}'),
        ("string", ".spec.on", "true"),
        ("string", ".spec.items[*].v", "1"),
        ("string", ".spec.items[*]", '{"v":1}'),
        ("string", ".spec.items[0:1].v", "1"),
        ("integer", ".spec.items[*].v", 1),
        ("integer", ".spec.items[0].v", 1),
        ("integer", ".spec.on", None),
        ("integer", ".spec.ratio", 0),
        ("number", ".spec.n", 3),
        ("number", ".spec.text", None),
        ("boolean", ".spec.n", None),
        ("boolean", ".spec.text", None),
        ("date", ".spec.n", None),
        ("date", ".spec.empty", "<unknown>"),
        ("date", ".spec.later", "<invalid>"),
        ("integer", ".spec.n", 3),
        ("integer", ".spec.text", None),
        ("number", ".spec.ratio", 0.5),
        ("boolean", ".spec.on", True),
        ("date", ".metadata.creationTimestamp", "31d"),
        ("date", ".spec.text", "<invalid>"),
        ("string", ".spec.nope", None),
        ("string", ".spec.mixed", '{"a":[1,null],"b":"\\u003cx\\u003e"}'),
        ("string", ".spec.large", "2.5e+06"),
        ("string", ".spec.whole", "2"),
        ("string", '.status.conditions[?(@.type=="Ready")].status', "True"),
        ("string", ".metadata.labels.app\\.kubernetes\\.io/name", "web"),
        ("string", ".metadata.labels['app\\.kubernetes\\.io/name']", "web"),
        ("string", ".metadata.labels['app.kubernetes.io/name']", None),
        ("string", ".spec.items[-1].v", "3"),
        ("string", ".spec.items[9].v", None),
        ("string", ".spec.items[?(@.v>1)].v", "2"),
        ("string", ".spec.items[?(@.v=='a')].v", None),
        ("string", ".spec.mixed[?(@.b)]", None),
        ("string", ".spec.mixed.*", "[1,null]"),
        ("string", ".spec.mixed.a[1]", "<no value>"),
        ("integer", ".spec.mixed.a[1]", None),
        ("date", ".spec.mixed.a[1]", None),
        ("string", ".spec.text .spec.n", None),
        ("string", ".spec.text}{.spec.n", "x"),
    ],
)
def test_a_cell(kind: str, path: str, cell: Any) -> None:
    table = layout([{"name": "C", "type": kind, "jsonPath": path}])
    row = Row(OBJECT, datetime(2026, 2, 1, tzinfo=UTC))
    assert [column.cell(row) for column in table.columns] == ["a", cell]


def test_columns_end_at_a_path_that_is_none() -> None:
    """The real server falls back to what it has made until then (tableconvertor New)."""
    specs = [
        {"name": name, "type": "string", "jsonPath": path} for name, path in (("A", ".a"), ("B", ".b["), ("C", ".c"))
    ]
    assert [column.name for column in layout(specs).columns] == ["Name", "A"]
    assert [column.name for column in layout(specs[1:]).columns] == ["Name"]


def test_without_columns_of_its_own_a_resource_shows_its_age() -> None:
    assert [column.name for column in layout([]).columns] == ["Name", "Age"]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("2026-01-31T23:59:00.5Z", "59s"),
        ("2026-02-01T00:59:00+01:00", "60s"),
        ("null", "<unknown>"),
        ("0001-01-01T00:00:00Z", "<unknown>"),
        ("0001-01-01T00:00:01Z", "292y"),
        ("2026-01-31 23:59:00Z", "<invalid>"),
        ("20260131T235900Z", "<invalid>"),
        ("2026-W05-6T23:59:00Z", "<invalid>"),
        ("2026-01-31T23:59:00+0100", "<invalid>"),
        ("2026-01-31T23:59:00", "<invalid>"),
    ],
)
def test_the_age_of_what_go_reads_as_a_time(text: str, cell: str) -> None:
    table = layout([{"name": "C", "type": "date", "jsonPath": ".spec.at"}])
    row = Row({"metadata": {"name": "a"}, "spec": {"at": text}}, datetime(2026, 2, 1, tzinfo=UTC))
    assert [column.cell(row) for column in table.columns] == ["a", cell]
