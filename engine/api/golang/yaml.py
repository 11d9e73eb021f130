"""YAML the way Kubernetes reads it: Go's resolution of scalars, libyaml's errors.

Source of the behaviour: sigs.k8s.io/yaml (a fork of go-yaml v2) on top of encoding/json. PyYAML's C parser is libyaml,
of which go-yaml is a port, so the errors have the same words.
"""

from __future__ import annotations

import base64
import json
import math
import re
import struct
from collections.abc import Callable
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from engine.api.golang import yaml_anchors
from engine.api.golang.base64 import first_illegal_byte
from engine.api.golang.floats import shown_float
from engine.api.golang.yaml_escapes import slash_of, with_quotes_bare
from engine.api.yaml_aliases import has_excessive_aliases

_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_TRUE = frozenset(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"))
_FALSE = frozenset(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"))
_SPECIAL = {
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
# In tens no more digits than 64 bits have: Python would not take just any number of them.
_INTEGER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|0[0-7]*|[1-9][0-9]{0,19})\Z")
_WHOLE = re.compile(r"[-+]?[0-9.][0-9_]*[.eE]")  # of a whole number, how a float begins
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_TAG = "tag:yaml.org,2002:"
_RESOLVED = frozenset(("int", "float", "bool", "null", "timestamp"))
_FLOAT_KEYS = {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.]+Z)?")
_TOO_DEEP = "exceeded max depth of 10000"  # Go's is the limit that is told; ours is lower
_ALIAS = re.compile(r"\*([0-9A-Za-z_-]+)")
# What go-yaml takes for the sign of a key within a flow collection, where libyaml reads on in a plain scalar.
_KEY_SIGN = re.compile(r"\?")
_KEY_SIGN_V3 = re.compile(r"\?(?=\s)")


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


class _LatestAnchors(yaml_anchors.LatestAnchors, _Parser):
    """The same where an anchor is set twice."""

    def __init__(self, stream: str | bytes) -> None:
        _Parser.__init__(self, stream)
        yaml_anchors.LatestAnchors.__init__(self)


def load(document: str | bytes, *, scalars: Callable[[str], Any] | None = None) -> Any:
    """The JSON value of a YAML document, the first one of several. Raises YamlError in go-yaml's words.

    `scalars` says what a plain scalar stands for, if not what go-yaml v2 takes it for (`resolve_v3`).
    """
    text = document if isinstance(document, str) else document.decode("utf-8", "replace")
    try:
        node, text = _node(document, text)
        if "\\/" in text and scalars is not resolve_v3:
            _refuse_slashes(text)
        if "?" in text and ("{" in text or "[" in text):
            _refuse_key_signs(text, _KEY_SIGN_V3 if scalars is resolve_v3 else _KEY_SIGN)
    except yaml.MarkedYAMLError as error:
        raise _converted(error, text) from error
    except yaml.reader.ReaderError as error:
        raise YamlError(f"yaml: {error.reason}") from error
    except yaml.YAMLError as error:
        raise YamlError(f"yaml: {str(error).splitlines()[0]}") from error
    if node is None:
        return None
    try:
        if "*" in text and has_excessive_aliases(node):
            raise YamlError("yaml: document contains excessive aliasing")
        return _Values(scalars or resolve).of_document(node)
    except RecursionError:
        raise _contains_itself(text) from None


def _node(document: str | bytes, text: str) -> tuple[Node | None, str]:
    """The root of the first document, and the text that the parser takes. Raises what the parser raises."""
    loader: type[_Parser] = _Parser
    while True:
        try:
            parser = loader(document)
            return (parser.get_node() if parser.check_node() else None), text
        except yaml.composer.ComposerError as error:
            if error.problem != yaml_anchors.REFUSED:
                raise
            loader = _LatestAnchors
        except yaml.scanner.ScannerError as error:
            if (bare := with_quotes_bare(text, error)) == text:
                raise
            document = text = bare


def _refuse_slashes(text: str) -> None:
    if (place := slash_of(text)) is not None:
        line, column = place
        raise YamlError(
            f"yaml: line {line + 1}: found unknown escape character"
            if line
            else "yaml: found unknown escape character",
            line=line + 1,
            column=column + 1,
        )


def _refuse_key_signs(text: str, sign: re.Pattern[str]) -> None:
    """Raises YamlError for the first within a plain scalar of a flow collection."""
    closings: list[str] = []  # what would close each collection; "" for a block
    for event in yaml.parse(text, yaml.CSafeLoader):
        if isinstance(event, yaml.events.CollectionStartEvent):
            mapping = isinstance(event, yaml.events.MappingStartEvent)
            closings.append(("}" if mapping else "]") if event.flow_style else "")
        elif isinstance(event, yaml.events.CollectionEndEvent):
            closings.pop()
        elif isinstance(event, yaml.events.DocumentEndEvent):
            return
        elif isinstance(event, yaml.events.ScalarEvent) and not event.style and closings and closings[-1]:
            assert event.start_mark is not None
            assert event.end_mark is not None
            found = sign.search(text, event.start_mark.index + 1, event.end_mark.index + 1)
            if found is not None and found.start() < event.end_mark.index:
                raise _expected(closings[-1], text, found.start())


def _expected(closing: str, text: str, place: int) -> YamlError:
    line, column = text.count("\n", 0, place), place - text.rfind("\n", 0, place)
    where = f"line {line}: " if line else ""
    return YamlError(f"yaml: {where}did not find expected ',' or '{closing}'", line=line + 1, column=column)


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
    return YamlError(f"yaml: {_TOO_DEEP}")


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
    if problem == "exceeded maximum nesting depth":
        problem = _TOO_DEEP
    if isinstance(error, yaml.composer.ComposerError) and mark is not None:
        where = ""
        alias = _ALIAS.match(text.removeprefix("\ufeff").splitlines()[mark.line], mark.column)
        if problem == "found undefined alias" and alias:
            problem = f"unknown anchor '{alias[1]}' referenced"
    return YamlError(
        f"yaml: {where}{problem}", line=mark.line + 1 if mark else 0, column=mark.column + 1 if mark else 0
    )


class _Values:
    """The JSON values of nodes. What JSON has no form for is told once all nodes are read."""

    def __init__(self, scalars: Callable[[str], Any]) -> None:
        self._scalars = scalars
        self._merges_last = scalars is resolve_v3  # v2 merges where the sign stands, over what was there before
        self._unfit_key: tuple[Any, Any] | None = None  # with its value
        self._infinite = False

    def of_document(self, node: Node) -> Any:
        value = self._of(node)
        if self._unfit_key is not None:
            raise YamlError(unsupported_key(*self._unfit_key))
        if self._infinite:
            _refuse_infinite(value)
        return value

    def _of(self, node: Node) -> Any:
        if isinstance(node, ScalarNode):
            return self._tagged(node)
        if isinstance(node, SequenceNode):
            return [self._of(item) for item in node.value]
        return self._mapping(node)

    def _mapping(self, node: Node) -> dict[str, Any]:
        result: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if isinstance(key_node, ScalarNode) and key_node.value == "<<" and key_node.tag in ("plain", "!!merge"):
                (merged if self._merges_last else result).update(self._merged(value_node))
                continue
            key = self._key(key_node)
            value = self._of(value_node)
            if key is None:
                self._unfit_key = self._unfit_key or (self._tagged(key_node), value)
            else:
                result[key] = value
        return {**merged, **result} if merged else result

    def _merged(self, node: Node) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for source in reversed(node.value) if isinstance(node, SequenceNode) else (node,):
            if not isinstance(source, MappingNode):
                raise YamlError("yaml: map merge requires map or sequence of maps as the value")
            merged.update(self._mapping(source))
        return merged

    def _key(self, node: Node) -> str | None:
        """The key as a text; none of one that JSON cannot have."""
        if not isinstance(node, ScalarNode):
            raise YamlError(
                f"yaml: invalid map key: {_go_text(self._of(node))}",
                line=node.start_mark.line + 1,
                column=node.start_mark.column + 1,
            )
        value = self._tagged(node)
        if isinstance(value, bool):
            return "true" if value else "false"
        if value is None or (isinstance(value, int) and value >= 2**63):
            return "null" if value is None and self._merges_last else None
        if isinstance(value, float) or (isinstance(value, int) and _WHOLE.match(node.value)):
            return _float_key(float(value))
        return str(value)

    def _tagged(self, node: ScalarNode) -> Any:
        name = node.tag.removeprefix(_TAG)
        if name == "binary":
            return _decoded(node.value)
        if name != "plain" and name not in _RESOLVED:
            return node.value
        value = self._scalars(node.value)
        if name not in ("plain", found := _tag_of(node.value, value)) and (name, found) != ("float", "int"):
            raise YamlError(f"yaml: cannot decode !!{found} `{node.value}` as a !!{name}")
        self._infinite = self._infinite or (isinstance(value, float) and not math.isfinite(value))
        return value


def unsupported_key(key: Any, value: Any) -> str:
    """Of a key that is null or takes all of 64 bits (sigs.k8s.io/yaml, convertToJSONableObject)."""
    kind, shown = ("%!s(<nil>)", "<nil>") if key is None else ("uint64", hex(key))
    return f"unsupported map key of type: {kind}, key: {shown}, value: {'<nil>' if value is None else _go_text(value)}"


def _float_key(value: float) -> str:
    """With the digits that tell a float of 32 bits."""
    try:
        (single,) = struct.unpack("f", struct.pack("f", value))
    except OverflowError:
        single = math.copysign(math.inf, value)
    if not math.isfinite(single):
        return _FLOAT_KEYS[str(single)]
    shortest = (float(f"{single:.{digits}g}") for digits in range(1, 10))
    return shown_float(next(each for each in shortest if struct.pack("f", each) == struct.pack("f", single)))


def _tag_of(text: str, value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return "timestamp" if _TIMESTAMP.fullmatch(text) else "str"
    return "bool" if isinstance(value, bool) else "float" if isinstance(value, float) or _WHOLE.match(text) else "int"


def _decoded(text: str) -> str:
    if first_illegal_byte(text) is not None:
        raise YamlError("yaml: !!binary value contains invalid base64 data")
    return base64.b64decode(text).decode("utf-8", "replace")


def _go_text(value: Any) -> str:
    """A value as Go's %#v writes it."""
    if isinstance(value, dict):
        pairs = (f"{_go_text(key)}:{_go_text(value[key])}" for key in sorted(value))
        return f"map[interface {{}}]interface {{}}{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_go_text, value))}}}"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        return _non_finite(value) or shown_float(value)
    return "interface {}(nil)" if value is None else str(value).lower()


def _non_finite(value: float) -> str:
    if math.isfinite(value):
        return ""
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"


def _refuse_infinite(value: Any) -> None:
    """Raises YamlError for the first number that JSON has not, in the order in which it would be written."""
    if isinstance(value, dict):
        for key in sorted(value):
            _refuse_infinite(value[key])
    elif isinstance(value, list):
        for each in value:
            _refuse_infinite(each)
    elif isinstance(value, float) and (shown := _non_finite(value)):
        raise YamlError(f"json: unsupported value: {shown}")


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
    if _INTEGER.match(plain) and -(2**63) <= (whole := _integer(plain)) < 2**64:
        return whole
    if _FLOAT.match(plain):
        number = float(plain)
        if math.isinf(number):
            return text
        # encoding/json prints a whole number without a point, so it comes back as an integer.
        return int(number) if number.is_integer() and abs(number) < 1e21 else number
    return text


def resolve_v3(text: str) -> Any:
    """The value of a plain scalar as go-yaml v3 has it: `yes` and `off` are texts, a day is a time."""
    value = resolve(text)
    if isinstance(value, bool):
        return value if text.lower() in ("true", "false") else text
    if (match := _TIMESTAMP.fullmatch(text)) is not None:
        return f"{text}T00:00:00Z" if match[1] is None else text
    return value


def _integer(text: str) -> int:
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("+-")
    if re.fullmatch(r"0[0-7]+", digits):
        digits = f"0o{digits[1:]}"
    return sign * int(digits, 0)
