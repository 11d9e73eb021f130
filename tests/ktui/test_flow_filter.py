"""What a filter of Flow takes: words, fields of spans, and labels of what a line is about."""

from __future__ import annotations

import pytest

from ktui.models.flow import FlowModel
from ktui.models.flow_filter import FlowFilter
from tests.ktui.spans import request, span


def _model() -> FlowModel:
    model = FlowModel()
    model.add(
        [
            *request("a", user="jane", object="pod/default/one", trace="pod"),
            *request("b", user="bob", verb="update", object="deployment/shop/web", trace="deployment", start=1.0),
            *request("d", object="clusterrole/view", trace="role", start=3.0),
            *request("e", object="pod/team", trace="list", start=4.0),
            span("c", 11, object="node/node-1", trace="node", start=2.0),
        ]
    )
    return model


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("kind=pods", {"pod", "list"}),
        ("kind=po", {"pod", "list"}),
        ("resource=deployment", {"deployment"}),
        ("kind!=pod", {"deployment", "node", "role"}),
        ("verb=update", {"deployment"}),
        ("namespace=shop", {"deployment"}),
        ("metadata.name=one", {"pod"}),
        ("name=node-1", {"node"}),
        ("name=view", {"role"}),
        ("namespace=team", {"list"}),
        ("name=team", set()),
        ("hop=11", {"node"}),
        ("-F verb=create,namespace=default", {"pod"}),
        ("--field-selector=verb=create,namespace=shop", set()),
        ("jane kind=pods", {"pod"}),
        ("bob kind=pods", set()),
        ("app=web", set()),  # no field, so a word
    ],
)
def test_fields(text: str, found: set[str]) -> None:
    model = _model()
    model.filter = FlowFilter.parse(text)
    assert {row.trace_id for row in model.rows} == found


@pytest.mark.parametrize("text", ["-F nope=x", "-F verb", "-F verb=create,status.phase=Running", "-F =x"])
def test_a_field_that_is_none_is_told_of(text: str) -> None:
    model = _model()
    model.filter = FlowFilter.parse(text)
    assert text.split()[-1].split(",")[-1] in model.filter.problem
    assert "verb kind resource namespace name hop outcome component" in model.filter.problem
    assert {row.trace_id for row in model.rows} == {"pod", "deployment", "node", "role", "list"}


def test_no_field_is_no_problem() -> None:
    assert not FlowFilter.parse("-F").problem
    assert not FlowFilter.parse("-F verb=get,").problem


def test_labels_are_of_the_objects_that_have_been_found() -> None:
    model = _model()
    model.filter = FlowFilter.parse("-l app in (web, shop),tier!=db")
    assert model.filter.labels == "app in (web, shop),tier!=db"
    assert model.rows == []
    model.labelled = frozenset({"deployment/shop/web", "node/node-1"})
    assert {row.trace_id for row in model.rows} == {"deployment", "node"}
    model.filter = FlowFilter.parse("")
    assert {row.trace_id for row in model.rows} == {"pod", "deployment", "node", "role", "list"}


def test_a_selector_that_is_none_is_told_and_hides_nothing() -> None:
    model = _model()
    model.filter = FlowFilter.parse("-l app=!")
    assert "unable to parse" in model.filter.problem
    assert {row.trace_id for row in model.rows} == {"pod", "deployment", "node", "role", "list"}


def test_a_line_that_goes_on_is_held_against_the_filter_again() -> None:
    model = _model()
    model.filter = FlowFilter.parse("conflict")
    assert model.rows == []
    model.add(request("f", object="pod/default/one", trace="pod", start=3.0)[:-1])
    assert model.rows == []
    last = request("f", object="pod/default/one", trace="pod", start=3.0)[-1]
    model.add([{**last, "outcome": "Conflict"}])
    assert {row.outcome for row in model.rows} == {"Conflict"}
