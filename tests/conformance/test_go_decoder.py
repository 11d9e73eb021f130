"""A wrong type in any field of any kind is told in the words of Go's decoder, as the real kubectl has it."""

from __future__ import annotations

from engine.api.schema import load_definitions
from tests.conformance.go_decoder import cases, go_says, we_say
from tests.conformance.go_zero_values import go_keeps, we_keep, zero_cases


def test_every_field_of_every_kind_is_refused_in_gos_words() -> None:
    definitions = load_definitions()
    all_cases = list(cases(definitions))
    assert len(all_cases) > 3_000
    wrong = [
        (case.document, theirs, ours)
        for case, theirs in zip(all_cases, go_says(all_cases), strict=True)
        if (ours := we_say(definitions, case)) != theirs
    ]
    assert wrong == []


def test_zero_values_are_left_out_where_go_leaves_them_out() -> None:
    definitions = load_definitions()
    all_cases = zero_cases(definitions)
    kept = go_keeps(all_cases)
    assert sum(each is not None for each in kept) > 500
    wrong = [
        (case.document, go, ours)
        for case, go in zip(all_cases, kept, strict=True)
        if go is not None and (ours := we_keep(definitions, case)) != go
    ]
    assert wrong == []
