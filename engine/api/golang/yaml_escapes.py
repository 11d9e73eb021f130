"""Escapes of double-quoted scalars that go-yaml v2 and libyaml do not agree on: go-yaml knows `\\'`, and no `\\/`.

Source of the behaviour: sigs.k8s.io/yaml goyaml.v2 scannerc.go (yaml_parser_scan_flow_scalar).
"""

from __future__ import annotations

import re

import yaml

_ESCAPE = re.compile(r"\\(.)|\"", re.DOTALL)
_SLASH = re.compile(r"(?:[^\\]|\\[^/])*?\\/", re.DOTALL)


def with_quotes_bare(text: str, error: yaml.MarkedYAMLError) -> str:
    """The text with `'` for each `\\'` of the double-quoted scalar in which the parser failed; the same text where that
    is not why it failed."""
    mark = error.context_mark
    if error.problem != "found unknown escape character" or mark is None or mark.index >= len(text):
        return text
    scalar = mark.index + 1
    for escape in _ESCAPE.finditer(text, scalar):
        if escape[0] == '"':
            return text[:scalar] + _bare(text[scalar : escape.start()]) + text[escape.start() :]
    return text


def slash_of(text: str) -> tuple[int, int] | None:
    """Line and column, from 0, of the first double-quoted scalar that has a slash escaped; None if none has."""
    for event in yaml.parse(text, yaml.CSafeLoader):
        if isinstance(event, yaml.events.ScalarEvent) and event.style == '"':
            assert event.start_mark is not None
            assert event.end_mark is not None
            found = _SLASH.match(text, event.start_mark.index, event.end_mark.index)
            if found is not None:
                place = found.end() - 2
                return text.count("\n", 0, place), place - text.rfind("\n", 0, place) - 1
        elif isinstance(event, yaml.events.DocumentEndEvent):
            break
    return None


def _bare(scalar: str) -> str:
    return _ESCAPE.sub(lambda escape: "'" if escape[1] == "'" else escape[0], scalar)
