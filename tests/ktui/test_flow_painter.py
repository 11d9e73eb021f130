"""One line of the Flow screen, as text."""

from __future__ import annotations

import pytest
from rich.style import Style

from ktui.models.flow_rows import FlowRow, Kind
from ktui.models.words import API_SERVER, CONTROLLERS
from ktui.widgets.flow_painter import FlowPainter, Geometry


def painted(row: FlowRow, width: int) -> str:
    return FlowPainter(Geometry.of(width), lambda variable, bold, dim: Style.null(), model_time=True).row(row).text


@pytest.mark.parametrize(
    ("label", "name", "arrow"),
    [
        pytest.param("PATCH deployments", "web", "◄─PATCH deploy/web──┤", id="it fits by its short name"),
        pytest.param("PATCH servicecidrs", "kubernetes", "◄─PATCH servicecidrs┤", id="its name does not"),
        pytest.param("POST validatingwebhookconfigurations", "a", "◄─POST valida…ations┤", id="nor its resource"),
    ],
)
def test_an_arrow_always_says_what_it_is_about(label: str, name: str, arrow: str) -> None:
    row = FlowRow(Kind.REQUEST, CONTROLLERS, API_SERVER, label, "t1", name)
    assert arrow in painted(row, 88)
