"""Any object in words: its fields with readable names, in their order.

Source of the behaviour: kubectl pkg/describe (genericDescriber, printUnstructuredContent, smartLabelFor).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from engine.api.jsonpath.evaluation import go_value
from engine.api.types import Object
from engine.kubectl.describe import events
from engine.kubectl.describe.writer import Page
from engine.kubectl.session import Session

SKIPPED = frozenset(
    (".metadata.managedFields", ".metadata.name", ".metadata.namespace", ".metadata.labels", ".metadata.annotations")
)
ACRONYMS = ("API", "URL", "UID", "GUID")


async def describe(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    page.field("Name", obj["metadata"].get("name", ""))
    page.field("Namespace", obj["metadata"].get("namespace", ""))
    page.labels_and_annotations(obj)
    _content(page, obj, "", 0)
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


def _content(page: Page, content: Mapping[str, Any], prefix: str, level: int) -> None:
    for name in sorted(content):
        path = f"{prefix}.{name}"
        if path in SKIPPED:
            continue
        value, label = content[name], label_for(name)
        if isinstance(value, dict):
            page.line(f"{label}:", level)
            _content(page, value, path, level + 1)
        elif isinstance(value, list):
            page.line(f"{label}:", level)
            for item in value:
                if isinstance(item, dict):
                    _content(page, item, path, level + 1)
                else:
                    page.line(go_value(item), level + 1)
        else:
            page.field(label, go_value(value), level)


def label_for(name: str) -> str:
    """`creationTimestamp` as `Creation Timestamp`, `apiVersion` as `API Version`, `podCIDRs` as `Pod CIDRs`."""
    if re.search(r"[^a-zA-Z-]", name):
        return name
    parts = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|-", name)
    merged: list[str] = []
    index = 0
    while index < len(parts):
        part = parts[index]
        following = parts[index + 1] if index + 1 < len(parts) else ""
        if len(part) >= 2 and part.isupper() and following[:1].isupper():
            part += following
            index += 1
        merged.append(part)
        index += 1
    return " ".join(_word(part) for part in merged)


def _word(part: str) -> str:
    if part.upper() in ACRONYMS:
        return part.upper()
    return part.title() if part.islower() else part
