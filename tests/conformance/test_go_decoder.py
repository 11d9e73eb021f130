"""A wrong type in any field of any kind is told in the words of Go's decoder, as the real kubectl has it."""

from __future__ import annotations

from engine.api.schema import load_definitions
from tests.conformance.go_decoder import cases, go_says, we_say


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
