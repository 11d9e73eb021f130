"""`explain --output=plaintext-openapiv2`: the documentation as kubectl printed it from OpenAPI v2.

Source of the behaviour: kubectl pkg/explain (model_printer.go, fields_printer.go, recursive_fields_printer.go,
formatter.go).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from engine.kubectl.discovery import Resource
from engine.kubectl.explaining import Explainer
from engine.kubectl.session import Session

Raw = Mapping[str, Any]
_WIDTH, _DESCRIPTION, _FIELD = 80, 5, 3
_STARTS = re.compile(r"[-*] |\d+\.? |[a-zA-Z]\. |[(\[]?\d+[)\]] ")


def show(session: Session, explainer: Explainer, resource: Resource, name: str, node: Raw) -> None:
    """The kind or the field at the end of a path."""
    session.out(f"KIND:     {resource.kind}\nVERSION:  {resource.gvr.api_version}\n")
    fields = explainer.fields(node)
    if name:
        head = "RESOURCE:" if fields else "FIELD:   "
        session.out(f"{head} {name} <{type_of(explainer, node)}>\n")
    session.out("DESCRIPTION:")
    texts = explainer.descriptions(node) or ["<empty>"]
    for index, text in enumerate(texts):
        if index:
            session.out()
        _write(session, text)
    if not fields:
        return
    session.out("\nFIELDS:")
    _list(session, explainer, node, level=1)


def _list(session: Session, explainer: Explainer, node: Raw, *, level: int) -> None:
    fields, required = explainer.fields(node), explainer.required(node)
    recursive = session.flags.on("recursive")
    for name in sorted(fields):
        mark = " -required-" if name in required and not recursive else ""
        session.out(f"{' ' * _FIELD * level}{name}\t<{type_of(explainer, fields[name])}>{mark}")
        if not recursive:
            _write(session, str(fields[name].get("description") or "<no description>"))
            session.out()
        elif explainer.enter(fields[name]):
            _list(session, explainer, fields[name], level=level + 1)
            explainer.leave(fields[name])


def type_of(explainer: Explainer, node: Raw) -> str:
    """What is made of others is an Object, whatever it is called."""
    target = explainer.target(node)
    kind = str(target.get("type") or "")
    if kind == "array":
        return f"[]{type_of(explainer, target.get('items') or {})}"
    if isinstance(target.get("additionalProperties"), dict):
        return f"map[string]{type_of(explainer, target['additionalProperties'])}"
    if target.get("properties"):
        return "Object"
    if kind == "object":
        return "map[string]"
    return kind or ("string" if target.get("oneOf") or target.get("format") else "Object")


def _write(session: Session, text: str) -> None:
    for line in wrapped(text, _WIDTH - _DESCRIPTION):
        session.out(f"{' ' * _DESCRIPTION}{line}" if line else "")


def wrapped(text: str, width: int) -> list[str]:
    """Lines of whole words. What is indented, what begins a list and what follows a colon starts a line of its own."""
    lines: list[str] = []
    current, last = "", ""
    for paragraph in text.split("\n"):
        indented, empty = paragraph.startswith("    "), not paragraph.strip()
        if current and (indented or empty or last.endswith(":") or _STARTS.match(paragraph.strip())):
            lines.append(current)
            current, last = "", ""
        if indented or (empty and lines):
            lines.append(paragraph if indented else "")
            continue
        for word in paragraph.split():
            if current and len(current) + 1 + len(word) > width:
                lines.append(current)
                current = ""
            current, last = f"{current} {word}" if current else word, word
    return [*lines, current] if current else lines
