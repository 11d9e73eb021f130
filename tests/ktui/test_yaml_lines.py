"""Where an error's field is in the text."""

from __future__ import annotations

import pytest

from ktui.models.yaml_lines import field_in, line_in, line_of

TEXT = """\
metadata:
  name: web
spec:
  replicas: 3
  template:
    spec:
      containers:
      - name: one
      - name: two
        image: nginx
"""


@pytest.mark.parametrize(
    ("field", "line"),
    [
        ("spec.replicas", 3),
        ("spec.template.spec.containers[1].image", 9),
        ("spec.template.spec.containers[1].ports", 8),  # not there: as deep as it goes
        ("spec.template.spec.containers[7].image", 6),
        ("status", None),
    ],
)
def test_line_of(field: str, line: int | None) -> None:
    assert line_of(TEXT, field) == line


def test_the_line_that_a_message_names() -> None:
    assert line_in('line 7: key "a" already set in map') == 6
    assert line_in("an error of no place") is None


def test_a_text_that_is_not_yaml_has_no_lines() -> None:
    assert line_of("a: [", "a") is None


def test_the_field_of_a_strict_decoding_error() -> None:
    assert field_in('strict decoding error: unknown field "spec.foo"') == "spec.foo"
    assert field_in("something else") == ""
