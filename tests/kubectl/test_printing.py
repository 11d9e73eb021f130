"""What Go's writers make of letters and numbers that are rare."""

from __future__ import annotations

from typing import Any

import pytest

from engine.api.golang import yaml_writer
from engine.api.golang.values import go_syntax
from engine.kubectl.printers import kyaml
from engine.kubectl.printers.go_template import Template, TemplateError
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


VALUE = {"a": 1, "s": "x", "f": ["y"], "n": [[1]], "m": {"k": {"l": 2}}, "c": None}


RUNNING = {
    "{{len}}": "1:2: <len>: wrong number of args for len: want 1 got 0",
    "{{.f | len $}}": "1:7: <len>: wrong number of args for len: want 1 got 2",
    "{{eq}}": "1:2: <eq>: wrong number of args for eq: want at least 1 got 0",
    "{{len .a}}": "1:2: <len .a>: error calling len: len of type int64",
    "{{range .n}}{{.x}}{{end}}": "1:14: <.x>: can't evaluate field x in type interface {}",
    "{{with .n}}{{.x}}{{end}}": "1:13: <.x>: can't evaluate field x in type []interface {}",
    "{{range .a}}{{.x}}{{end}}": "1:14: <.x>: can't evaluate field x in type int64",
    "{{range $i, $v := .a}}{{end}}": "1:18: <.a>: can't use 1 to iterate over more than one variable",
    '{{template "t" .a}}': '1:11: <{{template "t" .a}}>: template "t" not defined',
    "{{lt .c 1}}": "1:2: <lt .c 1>: error calling lt: invalid type for comparison",
    "{{slice .c 1}}": "1:2: <slice .c 1>: error calling slice: slice of untyped nil",
}
PARSING = {
    '{{if .a}}{{define "t"}}{{end}}{{end}}': "1: unexpected <define> in command",
    '{{block "b" .}}x{{end}}{{block "b" .}}y{{end}}': '1: template: multiple definition of template "b"',
    '{{block "b"| .a}}x{{end}}': '1: unexpected "|" in block clause',
    "{{template 1}}": '1: unexpected "1" in template clause',
    "{{define}}": '1: unexpected "}}" in define clause',
    "{{'a}}": "1: unterminated character constant",
    "{{.a}}\n{{.b\n| nope}}": '3: function "nope" not defined',
}


@pytest.mark.parametrize("template", RUNNING)
def test_what_a_template_cannot_do(template: str) -> None:
    with pytest.raises(TemplateError) as raised:
        Template(template).render(VALUE)
    where, what = RUNNING[template].split(": ", 1)
    assert str(raised.value) == f'template: output:{where}: executing "output" at {what}'


@pytest.mark.parametrize("template", PARSING)
def test_what_is_no_template(template: str) -> None:
    with pytest.raises(TemplateError) as raised:
        Template(template)
    assert str(raised.value) == f"error parsing template {template}, template: output:{PARSING[template]}"


@pytest.mark.parametrize(
    ("template", "shown"),
    [
        ('{{printf "%s" .m}}', "map[k:map[l:%!s(int64=2)]]"),
        ('{{printf "%d %v" .f .c}}', "[%!d(string=y)] <nil>"),
        ('{{printf "%q" .c}}', "%!q(<nil>)"),
        ("{{html .c}}{{js .c}}", "&lt;no value&gt;\\u003Cno value\\u003E"),
        ('{{define "t"}}{{end}}{{define "t"}}x{{end}}{{template "t"}}', "x"),
        ("{{range .a}}{{.}}{{end}}", "0"),
    ],
)
def test_what_a_template_makes_of_values(template: str, shown: str) -> None:
    assert Template(template).render(VALUE) == shown
