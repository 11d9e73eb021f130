"""What a key has been: one of its revisions, those before it, and what it is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]
SHOWN = 4  # revisions before the one that is looked at


@dataclass(frozen=True, slots=True)
class KeyAt:
    """A key at `revision`. `found` is None where that revision deleted it; `older` are the values before, newest
    first; `marked` is the value that the others are compared with, None for the one before."""

    key: str
    revision: int
    found: Json | None
    is_newest: bool
    older: tuple[Json, ...] = field(default=())
    marked: Json | None = None

    @property
    def against(self) -> Json | None:
        """What it is compared with."""
        if self.marked is not None and self.marked["modRevision"] != self.revision:
            return self.marked
        return self.older[0] if self.older else None

    @property
    def history(self) -> list[tuple[int, int, str]]:
        """Revision, version and writer, the oldest first."""
        known = [*([self.found] if self.found is not None else []), *self.older]
        told = [
            (value["modRevision"], value["version"], written_by(value["value"], older and older["value"]))
            for value, older in zip(known, [*known[1:], None], strict=False)
        ]
        return told[: SHOWN + (self.found is not None)][::-1]


def written_by(obj: Any, before: Any = None) -> str:
    """Who wrote an object last, as its managedFields tell: `kubectl-client-side-apply`, `kubelet status`.

    That is who is new among them since `before`, or has a newer time. Times are whole seconds: where none is newer it
    is a writer of the status if nothing else has changed, else who has no time, as who scales it; else the newest.
    """
    entries = _entries(obj)
    if not entries:
        return ""
    times = {_identity(entry): entry.get("time") for entry in _entries(before)}
    newer = [entry for entry in entries if times.get(_identity(entry), "") != entry.get("time")]
    if times and not newer:
        is_of_status = _changed(before, obj) == {"status"}
        newer = [
            entry
            for entry in entries
            if (entry.get("subresource") == "status" if is_of_status else not entry.get("time"))
        ]
        if not newer and _node(obj) and not _node(before):
            return "binding"  # whose writer no field tells
    fresh = [entry for entry in newer if _identity(entry) not in times]
    newest = max(fresh or newer or entries, key=lambda entry: entry.get("time") or "")
    return " ".join(filter(None, (newest.get("manager"), newest.get("subresource"))))


def _entries(obj: Any) -> list[Json]:
    metadata = obj.get("metadata") if isinstance(obj, dict) else None
    return (metadata.get("managedFields") or []) if isinstance(metadata, dict) else []


def _changed(before: Json, after: Json) -> set[str]:
    """The fields that differ; of the metadata only those that somebody gave."""
    told = ({**each, "metadata": _given(each.get("metadata"))} for each in (before, after))
    old, new = told
    return {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}


def _given(metadata: Any) -> Json:
    kept = ("managedFields", "resourceVersion", "generation")
    return {name: value for name, value in (metadata or {}).items() if name not in kept}


def _node(pod: Json) -> str:
    spec = pod.get("spec")
    return str(spec.get("nodeName") or "") if isinstance(spec, dict) else ""


def _identity(entry: Json) -> tuple[Any, ...]:
    return tuple(entry.get(name) for name in ("manager", "operation", "apiVersion", "subresource"))
