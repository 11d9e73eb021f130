"""What Flow says where there is no line to show."""

from __future__ import annotations

import pytest

from ktui.models.flow import FlowModel
from ktui.models.flow_empty import NOT_ALLOWED, NOTHING_YET, why_empty
from ktui.models.flow_filter import FlowFilter
from ktui.models.trouble import ASKING
from tests.ktui.spans import request, span

HEARTBEAT = request("a", user="system:node:node-1", verb="update", object="lease/kube-node-lease/node-1")
ALL = "p shows all that happens."


@pytest.mark.parametrize(
    ("spans", "pinned", "filter", "words"),
    [
        pytest.param([], False, "", NOTHING_YET, id="nothing"),
        pytest.param(HEARTBEAT, False, "", NOTHING_YET, id="only what is hidden"),
        pytest.param(
            request("a"), False, "conflict", ("No line meets conflict.", "", "Esc takes the filter away."), id="filter"
        ),
        pytest.param(
            request("a"),
            False,
            "app=web",
            ("No line meets app=web.", "", "Labels are asked for with -l app=web.", "Esc takes the filter away."),
            id="labels as words",
        ),
        pytest.param(
            HEARTBEAT,
            True,
            "",
            ("All of this trace is hidden.", "", "h shows heartbeats (1)", ALL),
            id="a pinned heartbeat",
        ),
        pytest.param([], True, "", ("Nothing of this trace is kept any more.", "", ALL), id="a forgotten trace"),
        pytest.param(
            [span("b3", 3)], True, "", ("The beginning of this trace was not seen.", "", ALL), id="a skipped beginning"
        ),
    ],
)
def test_why_there_is_no_line(
    spans: list[dict[str, object]], pinned: bool, filter: str, words: tuple[str, ...]
) -> None:
    model = FlowModel()
    model.is_told = True
    model.add(spans)
    model.filter = FlowFilter.parse(filter)
    assert model.rows == []
    assert why_empty(model, is_pinned=pinned) == words


def test_before_the_engine_has_said_anything_nothing_is_known() -> None:
    assert why_empty(FlowModel(), is_pinned=False) == (ASKING,)


def test_who_may_not_look_is_not_told_that_nothing_happened() -> None:
    model = FlowModel()
    model.is_forbidden = True
    assert why_empty(model, is_pinned=False) == NOT_ALLOWED
