"""What Go's writers make of letters and numbers that are rare."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.golang import yaml_writer
from engine.api.golang.values import go_syntax
from engine.kubectl.printers import kyaml
from engine.kubectl.printers.tabwriter import TabWriter


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("a\tb\nccc\td\n", "a    b\nccc  d\n"),
        ("a\vb\nccc\vd\n", "a    b\nccc  d\n"),
        ("a\tb\fccc\td\n", "a  b\nccc  d\n"),
        ("a\tb\n\fccc\td\n", "a  b\n\nccc  d\n"),
    ],
)
def test_a_vertical_tab_ends_a_cell_and_a_form_feed_all_columns(written: str, shown: str) -> None:
    writer = TabWriter()
    writer.write(written)
    assert writer.flush() == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (10**20, "1e+20\n"),
        (2**64 - 1, "18446744073709551615\n"),
        (-(2**63), "-9223372036854775808\n"),
        (-(2**63) - 1, "-9.223372036854776e+18\n"),
        (1e20, "1e+20\n"),
        (1e-7, "1e-07\n"),
        (1e6, "1000000\n"),
    ],
)
def test_yaml_has_floats_for_what_is_beyond_64_bits(value: Any, shown: str) -> None:
    assert yaml_writer.dump(value) == shown


def test_kyaml_writes_numbers_as_json_and_escapes_tabs_of_keys_alone() -> None:
    assert kyaml.dump({"a\tb": "c\td", "e": 1e-7, "f": 1e20}) == (
        '---\n{\n  "a\\tb": "c\td",\n  e: 1e-7,\n  f: 100000000000000000000,\n}\n'
    )


def test_values_in_go_syntax() -> None:
    value = {"b": ["\ufeff\xa0\a", None, 1e8], "a": {}, "c": True}
    assert go_syntax(value) == (
        'map[string]interface {}{"a":map[string]interface {}{}, "b":[]interface {}{"\\ufeff\\u00a0\\a", '
        'interface {}(nil), 1e+08}, "c":true}'
    )
    assert go_syntax(None) == "<nil>"
