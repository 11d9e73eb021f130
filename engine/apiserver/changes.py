"""One change of one object, as it comes from the store and goes to every watcher."""

from __future__ import annotations

import orjson

from engine.api.types import Object
from engine.api.wire import WatchEvent
from engine.apiserver.corrupt_objects import CorruptObject


def decode_stored(value: bytes, revision: int) -> Object:
    """The object of a stored value. Its resourceVersion is the revision that wrote it and is never stored itself.

    Raises CorruptObject.
    """
    try:
        obj: Object = orjson.loads(value)
        obj["metadata"] = versioned(obj["metadata"], revision)
    except (ValueError, TypeError, KeyError):
        raise CorruptObject.of(value, revision) from None
    return obj


def versioned(metadata: Object, revision: int) -> Object:
    """Metadata as stored with the resourceVersion where Go writes it: after the uid in a struct, before it in the
    sorted map of a custom resource, which has nothing after the uid."""
    found: Object = {}
    for name, value in metadata.items():
        if name != "uid":
            found[name] = value
        elif len(found) + 1 == len(metadata):
            found["resourceVersion"], found["uid"] = str(revision), value
        else:
            found["uid"], found["resourceVersion"] = value, str(revision)
    found["resourceVersion"] = str(revision)  # of one without a uid
    return found


def with_resource_version(obj: Object, revision: int) -> Object:
    """A copy of a frozen object at another revision; all but its metadata is shared."""
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(revision)}}


class Change:
    """`type` is ADDED, MODIFIED or DELETED; `old` is the state before. The wire events are made once and shared."""

    __slots__ = ("_event", "cause", "key", "object", "old", "revision", "type")

    def __init__(self, type: str, object: Object, old: Object | None, revision: int, cause: str, key: str) -> None:
        self.type = type
        self.object = object
        self.old = old
        self.revision = revision
        self.cause = cause
        self.key = key
        self._event: dict[str, WatchEvent] = {}

    def event(self, type: str) -> WatchEvent:
        """This change as a watcher sees it to whom the object appears, changes or goes."""
        event = self._event.get(type)
        if event is None:
            obj = self.object
            if type == "DELETED" and self.type != "DELETED" and self.old is not None:
                # To a selector that it no longer matches the object is gone: its last state that matched is sent.
                obj = with_resource_version(self.old, self.revision)
            event = self._event[type] = WatchEvent(type, obj, self.revision, self.cause)
        return event
