"""How long a Node may be silent."""

from __future__ import annotations

import pytest

from engine.api.node_heartbeats import monitor_grace_period

ROWS = {"1.31": 40.0, "v1.31.9": 40.0, "1.32": 50.0, "v1.37.0": 50.0, "v2.0.0": 50.0}


@pytest.mark.parametrize(("version", "seconds"), ROWS.items(), ids=ROWS)
def test_by_version(version: str, seconds: float) -> None:
    assert monitor_grace_period(version) == seconds
