"""JSONPath templates as kubectl's flags take them, and what they find as text.

Source of the behaviour: cli-runtime pkg/printers/jsonpath.go and kubectl pkg/cmd/get/customcolumn.go.
"""

from __future__ import annotations

import json
import re
from typing import Any

from engine.api import jsonpath
from engine.api.golang.floats import shown_float
from engine.api.golang.json import escaped_text
from engine.kubectl.errors import CommandError

_RELAXED = re.compile(r"\{\.?([^{}]+)\}|\.?([^{}]+)")


class JsonPath:
    """A template whose failures are those of a command. Raises CommandError."""

    def __init__(self, template: str, *, allow_missing: bool = True) -> None:
        try:
            self._path = jsonpath.JsonPath(template, allow_missing=allow_missing)
        except jsonpath.JsonPathError as error:
            raise CommandError(str(error)) from error

    def find(self, root: Any) -> list[list[Any]]:
        """For each text and action of the template, what it finds."""
        try:
            return self._path.find(root)
        except jsonpath.JsonPathError as error:
            raise CommandError(str(error)) from error

    def render(self, root: Any) -> str:
        return "".join(" ".join(text_of(value) for value in values) for values in self.find(root))


def text_of(value: Any) -> str:
    """A result as text: strings bare, objects and lists as compact JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, float):
        return shown_float(value)
    if isinstance(value, dict | list):
        text = json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        return escaped_text(text)
    return str(value)


def relaxed(expression: str) -> str:
    """`metadata.name`, `.metadata.name`, `{metadata.name}` or `{.metadata.name}` as a template."""
    if not expression:
        return expression
    match = _RELAXED.fullmatch(expression)
    if match is None:
        raise CommandError(
            "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'"
        )
    return f"{{.{match[1] or match[2]}}}"
