"""YAML the way Kubernetes writes it, with sorted keys; how it reads it is in `go_yaml`.

Source of the behaviour: sigs.k8s.io/yaml (a fork of go-yaml v2).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cmp_to_key
from typing import Any

import yaml
from yaml.nodes import MappingNode, ScalarNode

from engine.api.golang.floats import shown_float
from engine.api.golang.yaml import resolve

_WIDTH = 80
_MOST = 1e21  # from here on JSON has an exponent
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?\Z")
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?\Z")


class _Dumper(yaml.CDumper):
    """Plain where the text would be read back as a string, literal for several lines, else in double quotes."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: _Dumper, text: str) -> ScalarNode:
    style: str | None = None
    if "\n" in text:
        style = "|"
    elif _needs_quotes(text):
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _needs_quotes(text: str) -> bool:
    return not text or not isinstance(resolve(text), str) or bool(_BASE_60.match(text)) or bool(_TIMESTAMP.match(text))


def _represent_plain(dumper: _Dumper, value: object) -> ScalarNode:
    """Numbers, booleans and null, which JSON spells as YAML does. Tagged as text so that libyaml adds no tag."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", _json_scalar(value))


def _represent_mapping(dumper: _Dumper, value: Mapping[str, Any]) -> MappingNode:
    return dumper.represent_mapping("tag:yaml.org,2002:map", [(key, value[key]) for key in sorted_keys(value)])


def _json_scalar(value: object) -> str:
    if isinstance(value, float) and not (value.is_integer() and abs(value) < _MOST):
        return float_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        whole = int(value)
        return str(whole) if -(2**63) <= whole < 2**64 else shown_float(float(value))  # read as a float before
    return "null"


def float_text(number: float) -> str:
    """A float as encoding/json writes it."""
    if number.is_integer() and abs(number) < _MOST:
        return str(int(number))
    return repr(number)


def sorted_keys(value: Mapping[str, Any]) -> list[str]:
    """Keys in go-yaml's order: letters after all else, runs of digits by their number."""
    if all(key.isalpha() for key in value):
        return sorted(value)
    return sorted(value, key=cmp_to_key(_compare))


def _compare(left: str, right: str) -> int:
    index = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), None)
    if index is None:
        return len(left) - len(right)
    a, b = left[index], right[index]
    if a.isalpha() or b.isalpha():
        return (1 if a > b else -1) if a.isalpha() and b.isalpha() else (1 if a.isalpha() else -1)
    lead = ""
    if "0" in (a, b) and left[:index].rstrip("0")[-1:].isdigit() and left[index - 1].isdigit():
        lead = "1"  # zeros within a number count
    ours, theirs = _digits(left[index:]), _digits(right[index:])
    numbers = int(lead + ours or "0") - int(lead + theirs or "0")
    return numbers or len(ours) - len(theirs) or (1 if a > b else -1)


def _digits(text: str) -> str:
    match = re.match(r"[0-9]*", text)
    return match[0] if match else ""


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(dict, _represent_mapping)
for _type in (int, bool, float, type(None)):
    _Dumper.add_representer(_type, _represent_plain)
# What YAML 1.1 would resolve is decided in `_needs_quotes`; libyaml must not add quotes of its own.
_Dumper.yaml_implicit_resolvers = {}


def dump(value: Any) -> str:
    """A value as kubectl prints it with `-o yaml`: long lines are broken between words."""
    text: str = yaml.dump(
        value, Dumper=_Dumper, default_flow_style=False, sort_keys=True, allow_unicode=True, width=_WIDTH
    )
    return text.removesuffix("...\n")
