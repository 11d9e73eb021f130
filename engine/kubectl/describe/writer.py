"""The page that a describer writes: indented fields in columns.

Source of the behaviour: kubectl pkg/describe (PrefixWriter, tabbedString, printLabelsMultiline and its sisters).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from engine.api.duration import human_duration
from engine.api.types import Object
from engine.kubectl.last_applied import ANNOTATION
from engine.kubectl.printers.tabwriter import TabWriter, escaped

LONGEST_ANNOTATION = 140
NONE = "<none>"
UNSET = "<unset>"


def parse_time(text: str) -> datetime:
    """A metav1.Time or MicroTime."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


class Page:
    """Collects lines; `text` aligns them. Columns before a `flush` do not align with those after it."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._nesting = ""
        self._writer = TabWriter()
        self._done: list[str] = []

    def write(self, text: str, level: int = 0) -> None:
        """Text as it is, two spaces for each level before it."""
        self._writer.write(self._nesting + "  " * level + text)

    @contextmanager
    def nested(self, level: int) -> Iterator[None]:
        """What is written within stands deeper: kubectl indents each piece of a line for itself, and so does this."""
        outer, self._nesting = self._nesting, self._nesting + "  " * level
        try:
            yield
        finally:
            self._nesting = outer

    def line(self, text: str = "", level: int = 0) -> None:
        self.write(f"{text}\n", level)

    def field(self, name: str, value: Any, level: int = 0) -> None:
        """`Name:  value`."""
        self.line(f"{name}:\t{value}", level)

    def row(self, *cells: Any, level: int = 0) -> None:
        self.line("\t".join(str(cell) for cell in cells), level)

    def flush(self) -> None:
        self._done.append(self._writer.flush())

    def text(self) -> str:
        self.flush()
        return escaped("".join(self._done))

    def unaligned(self) -> str:
        """The text with its tabs, for the few places where kubectl aligns nothing."""
        return self._writer.raw()

    # -- times

    def since(self, timestamp: str | None) -> str:
        """How long ago, as `5m`."""
        if not timestamp:
            return "<unknown>"
        return human_duration((self._now - parse_time(timestamp)).total_seconds())

    def date(self, timestamp: str | None) -> str:
        """A date as Go's RFC1123Z prints it."""
        if not timestamp:
            return "Mon, 01 Jan 0001 00:00:00 +0000"
        return parse_time(timestamp).strftime("%a, %d %b %Y %H:%M:%S %z")

    # -- maps and lists

    def head(self, obj: Object) -> None:
        """Name and namespace."""
        metadata = obj["metadata"]
        self.field("Name", metadata.get("name", ""))
        if metadata.get("namespace"):
            self.field("Namespace", metadata["namespace"])

    def labels_and_annotations(self, obj: Object) -> None:
        self.labels("Labels", obj["metadata"].get("labels"))
        self.annotations("Annotations", obj["metadata"].get("annotations"))

    def labels(self, title: str, labels: Mapping[str, str] | None) -> None:
        """Key=value, one a line, under one title."""
        self.write(f"{title}:\t")
        if not labels:
            self.line(NONE)
        for index, (key, value) in enumerate(sorted((labels or {}).items())):
            if index:
                self.write("")
                self.write("\t")
            self.line(f"{key}={value}")

    def column(self, title: str, items: Sequence[str]) -> None:
        """Items under one another beside a title; `<none>` where there are none."""
        self.write(f"{title}:\t")
        if not items:
            self.line(NONE)
        for index, item in enumerate(items):
            self.line(f"\t{item}" if index else item)

    def annotations(self, title: str, annotations: Mapping[str, str] | None) -> None:
        shown = {key: value for key, value in (annotations or {}).items() if key != ANNOTATION}
        self.write(f"{title}:\t")
        if not shown:
            self.line(NONE)
        for index, key in enumerate(sorted(shown)):
            value = shown[key].removesuffix("\n")
            if index:
                self.write("\t")
            if len(value.encode()) + len(key.encode()) + 2 > LONGEST_ANNOTATION or "\n" in value:
                self.line(f"{key}:")
                for part in value.split("\n"):
                    self.line(f"\t  {_shortened(part)}")
            else:
                self.line(f"{key}: {value}")

    def tolerations(self, title: str, tolerations: Sequence[Object] | None) -> None:
        ordered = sorted(tolerations or (), key=lambda item: str(item.get("key", "")))
        self.column(title, [_toleration(item) for item in ordered])

    def conditions(self, obj: Object, *columns: str) -> None:
        """The status' conditions of a workload: Type, Status, Reason."""
        conditions = (obj.get("status") or {}).get("conditions") or ()
        if not conditions:
            return
        self.line("Conditions:\n  Type\tStatus\tReason")
        self.row("----", "------", "------", level=1)
        for condition in conditions:
            kind, reason = condition.get("type", ""), condition.get("reason", "")
            self.row(f"{kind} ", condition.get("status", ""), reason, level=1)


def _shortened(text: str) -> str:
    limit, encoded = LONGEST_ANNOTATION - 2, text.encode()
    return text if len(encoded) <= limit else encoded[:limit].decode(errors="replace") + "..."


def _toleration(item: Object) -> str:
    text = str(item.get("key", ""))
    if item.get("value"):
        text += f"={item['value']}"
    if item.get("effect"):
        text += f":{item['effect']}"
    if item.get("operator") == "Exists" and not item.get("value"):
        text += " op=Exists" if item.get("key") or item.get("effect") else "op=Exists"
    if item.get("tolerationSeconds") is not None:
        text += f" for {item['tolerationSeconds']}s"
    return text


def yes_no(value: object) -> str:
    return "True" if value else "False"


def true_false(value: object) -> str:
    return "true" if value else "false"
