"""Floats in Go's words: what kubectl's jsonpath printer shows."""

from __future__ import annotations

import pytest

from engine.api.golang.floats import shown_float


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (-2.5, "-2.5"),
        (100000.5, "100000.5"),
        (999999.0, "999999"),
        (1e6, "1e+06"),
        (1000000.5, "1.0000005e+06"),
        (-123456789.25, "-1.2345678925e+08"),
        (0.0001, "0.0001"),
        (0.00012345, "0.00012345"),
        (0.00001, "1e-05"),
        (1e100, "1e+100"),
        (0.1 + 0.2, "0.30000000000000004"),
        (float("-inf"), "-Inf"),
    ],
)
def test_a_float_is_shown(value: float, shown: str) -> None:
    assert shown_float(value) == shown
