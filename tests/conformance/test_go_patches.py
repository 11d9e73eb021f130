"""Patches make of objects what upstream's own libraries, asked through the real kubectl, make of them."""

from __future__ import annotations

from tests.conformance.go_patches import cases, difference


def test_random_patches_give_what_go_gives() -> None:
    all_cases = list(cases(seed=5, count=45))
    assert [(case, both) for case in all_cases if (both := difference(case)) is not None] == []
