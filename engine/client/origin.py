"""What woke a reconcile: the revision of a write and the span that made it (design, section 5).

An informer hands an `Origin` to its handlers with every change, the work queue carries it, and the reconcile that
follows opens its span as a child of the first origin's cause.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from engine.api.types import Object
from engine.api.wire import WatchEvent
from engine.trace import SpanContext


class Origin(NamedTuple):
    """`revision` is 0 and `cause` None where nobody knows (a resync, a timer)."""

    revision: int = 0
    cause: SpanContext | None = None

    @classmethod
    def of_event(cls, event: WatchEvent) -> Origin:
        """The origin of a watch event; over HTTPS the revision is the object's and the cause is not carried."""
        revision = event.revision or revision_of(event.object)
        return cls(revision, SpanContext.parse(event.cause) if event.cause else None)

    @classmethod
    def of_object(cls, obj: Object, cause: str = "") -> Origin:
        """The origin of an object that came by a list: its revision, and the cause where the list told it."""
        return cls(revision_of(obj), SpanContext.parse(cause) if cause else None)


def revision_of(obj: Object) -> int:
    """The store revision that an object's resourceVersion names; 0 where it names none."""
    version = obj.get("metadata", {}).get("resourceVersion", "")
    return int(version) if version.isdigit() else 0


def first_cause(origins: Iterable[Origin]) -> SpanContext | None:
    """The cause that a reconcile's span continues: that of the first origin that has one."""
    return next((origin.cause for origin in origins if origin.cause is not None), None)


def woken_by(origins: Iterable[Origin]) -> tuple[int, ...]:
    """The revisions that one reconcile answers at once, in the order they came, each once."""
    return tuple(dict.fromkeys(origin.revision for origin in origins if origin.revision))
