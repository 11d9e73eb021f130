"""YAML the way kubectl reads and writes it: Go's resolution of scalars, libyaml's errors, sorted keys.

Source of the behaviour: sigs.k8s.io/yaml (a fork of go-yaml v2) on top of encoding/json. PyYAML's C parser is libyaml,
of which go-yaml is a port, so the errors have the same words.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from functools import cmp_to_key
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_TRUE = frozenset(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"))
_FALSE = frozenset(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"))
_SPECIAL = {
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_INTEGER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?\Z")
_ALIAS = re.compile(r"\*([0-9A-Za-z_-]+)")
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?\Z")


class YamlError(ValueError):
    """A document that cannot be read. The text is go-yaml's; `line` and `column` count from 1 in the document."""

    def __init__(self, text: str, *, line: int = 0, column: int = 0) -> None:
        super().__init__(text)
        self.line = line
        self.column = column


class _Parser(yaml.CSafeLoader):
    """The C parser up to nodes; scalars are resolved here, not by PyYAML's YAML 1.1 rules."""

    def resolve(self, kind: type[Node], value: Any, implicit: Any) -> str:
        if kind is ScalarNode:
            return "plain" if implicit[0] else "tag:yaml.org,2002:str"
        return "tag:yaml.org,2002:seq" if kind is SequenceNode else "tag:yaml.org,2002:map"


def load(text: str) -> Any:
    """The JSON value of one YAML document. Raises YamlError in go-yaml's words."""
    try:
        parser = _Parser(text)
        node = parser.get_single_node()
    except yaml.MarkedYAMLError as error:
        raise _converted(error, text) from error
    except yaml.reader.ReaderError as error:
        raise YamlError(f"yaml: {error.reason}") from error
    except yaml.YAMLError as error:
        raise YamlError(f"yaml: {str(error).splitlines()[0]}") from error
    if node is None:
        return None
    try:
        return _value(node)
    except RecursionError:
        raise _contains_itself(text) from None


def _contains_itself(text: str) -> YamlError:
    """Of an alias within what it stands for, or of a text that is nested deeper than anybody would."""
    inside: list[tuple[str, int]] = []
    depth = 0
    for event in yaml.parse(text, yaml.CSafeLoader):
        if isinstance(event, yaml.events.AliasEvent) and any(anchor == event.anchor for anchor, _ in inside):
            return YamlError(f"yaml: anchor '{event.anchor}' value contains itself")
        if isinstance(event, yaml.events.CollectionStartEvent):
            depth += 1
            if event.anchor:
                inside.append((event.anchor, depth))
        elif isinstance(event, yaml.events.CollectionEndEvent):
            inside = [(anchor, level) for anchor, level in inside if level < depth]
            depth -= 1
    return YamlError("yaml: exceeded max depth of 10000")


def _converted(error: yaml.MarkedYAMLError, text: str) -> YamlError:
    """go-yaml counts a problem's line from 0 unless the scanner found it, and falls back to that of the context."""
    mark = error.problem_mark or error.context_mark
    scanner = isinstance(error, yaml.scanner.ScannerError)
    line = 0
    if error.problem_mark is not None and error.problem_mark.line:
        line = error.problem_mark.line + scanner
    elif error.context_mark is not None:
        line = error.context_mark.line
    where = f"line {line}: " if line else ""
    problem = error.problem or "unknown problem parsing YAML content"
    if isinstance(error, yaml.composer.ComposerError) and mark is not None:
        where = ""
        alias = _ALIAS.match(text.splitlines()[mark.line], mark.column)
        if problem == "found undefined alias" and alias:
            problem = f"unknown anchor '{alias[1]}' referenced"
    return YamlError(
        f"yaml: {where}{problem}", line=mark.line + 1 if mark else 0, column=mark.column + 1 if mark else 0
    )


def _value(node: Node) -> Any:
    if isinstance(node, ScalarNode):
        return _tagged(node)
    if isinstance(node, SequenceNode):
        return [_value(item) for item in node.value]
    return _mapping(node)


def _mapping(node: Node) -> dict[str, Any]:
    result: dict[str, Any] = {}
    merged: dict[str, Any] = {}
    for key_node, value_node in node.value:
        if isinstance(key_node, ScalarNode) and key_node.value == "<<" and key_node.tag in ("plain", "!!merge"):
            sources = value_node.value if isinstance(value_node, SequenceNode) else [value_node]
            for source in sources:
                for key, value in _mapping(source).items():
                    merged.setdefault(key, value)
            continue
        result[_key(key_node)] = _value(value_node)
    return {**merged, **result} if merged else result


def _key(node: Node) -> str:
    if not isinstance(node, ScalarNode):
        raise YamlError(
            f"yaml: invalid map key: {_go_text(_value(node))}",
            line=node.start_mark.line + 1,
            column=node.start_mark.column + 1,
        )
    value = _tagged(node)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def _go_text(value: Any) -> str:
    """A value as Go's %#v writes it."""
    if isinstance(value, dict):
        pairs = (f"{_go_text(key)}:{_go_text(each)}" for key, each in value.items())
        return f"map[interface {{}}]interface {{}}{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_go_text, value))}}}"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return "interface {}(nil)" if value is None else str(value).lower()


def _tagged(node: ScalarNode) -> Any:
    tag = node.tag
    if tag == "plain":
        return _finite(resolve(node.value))
    if tag in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float", "tag:yaml.org,2002:bool", "tag:yaml.org,2002:null"):
        return _finite(resolve(node.value))
    return node.value


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        shown = "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
        raise YamlError(f"json: unsupported value: {shown}")
    return value


def resolve(text: str) -> Any:
    """The value of a plain scalar."""
    if text in _NULL:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if text in _SPECIAL:
        return _SPECIAL[text]
    if text[0] not in "+-.0123456789":
        return text
    plain = text.replace("_", "")
    if _INTEGER.match(plain):
        return _integer(plain)
    if _FLOAT.match(plain):
        number = float(plain)
        # encoding/json prints a whole number without a point, so it comes back as an integer.
        return int(number) if number.is_integer() and abs(number) < 1e21 else number
    return text


def _integer(text: str) -> int:
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("+-")
    if re.fullmatch(r"0[0-7]+", digits):
        digits = f"0o{digits[1:]}"
    return sign * int(digits, 0)


# -- writing


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
    return (
        not text
        or text == "<<"
        or text == "="
        or not isinstance(resolve(text), str)
        or bool(_BASE_60.match(text))
        or bool(_TIMESTAMP.match(text))
    )


def _represent_plain(dumper: _Dumper, value: object) -> ScalarNode:
    """Numbers, booleans and null, which JSON spells as YAML does. Tagged as text so that libyaml adds no tag."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", _json_scalar(value))


def _represent_mapping(dumper: _Dumper, value: Mapping[str, Any]) -> MappingNode:
    return dumper.represent_mapping("tag:yaml.org,2002:map", [(key, value[key]) for key in sorted_keys(value)])


def _json_scalar(value: object) -> str:
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def float_text(number: float) -> str:
    """A float as encoding/json writes it."""
    if number.is_integer() and abs(number) < 1e21:
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
    """A value as kubectl prints it with `-o yaml`."""
    text: str = yaml.dump(
        value, Dumper=_Dumper, default_flow_style=False, sort_keys=True, allow_unicode=True, width=2**31 - 1
    )
    return text.removesuffix("...\n")
