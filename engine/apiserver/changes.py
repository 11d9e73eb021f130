"""One change of one object, as it comes from the store and goes to every watcher."""

from __future__ import annotations

from typing import Protocol

import orjson

from engine.api.types import Object
from engine.api.wire import WatchEvent
from engine.apiserver.corrupt_objects import CorruptObject
from engine.apiserver.storage_keys import key_text
from engine.store.types import Event

_FORMS = {
    "namespace": str,
    "creationTimestamp": str,
    "labels": dict,
    "annotations": dict,
    "finalizers": list,
    "ownerReferences": list,
    "managedFields": list,
}
_UID = b'"uid":"'
_NO_MAP: Object = {}
_NO_LIST: list[object] = []


def decode_stored(value: bytes, revision: int, *, ours: bool = False) -> Object:
    """The object of a stored value. Its resourceVersion is the revision that wrote it and is never stored itself.

    Raises CorruptObject, also for what has not the form on which this server relies: somebody may have written it past
    the API. `ours` says that nobody has, and that it is of a built-in kind.
    """
    try:
        obj: Object
        if ours:
            obj = orjson.loads(with_revision(value, revision))
            if obj["metadata"].get("resourceVersion") == str(revision):
                return obj
        obj = orjson.loads(value)
        metadata = obj["metadata"]
        if not _sound(obj, metadata) and not _fits(obj, metadata):
            raise CorruptObject.of(value, revision)
        obj["metadata"] = versioned(metadata, revision)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise CorruptObject.of(value, revision) from None
    return obj


def _sound(obj: Object, metadata: Object) -> bool:
    """Whether all is as this server writes it: every event is asked, so it is asked quickly."""
    get = metadata.get
    return (
        type(metadata["name"]) is str
        and type(get("namespace", "")) is str
        and type(get("creationTimestamp", "")) is str
        and type(get("labels", _NO_MAP)) is dict
        and type(get("annotations", _NO_MAP)) is dict
        and type(get("finalizers", _NO_LIST)) is list
        and type(get("ownerReferences", _NO_LIST)) is list
        and type(get("managedFields", _NO_LIST)) is list
        and type(obj.get("spec", _NO_MAP)) is dict
        and type(obj.get("status", _NO_MAP)) is dict
    )


def _fits(obj: Object, metadata: Object) -> bool:
    """As `_sound`, of objects with fields that are null, and of custom ones, whose spec and status may be anything."""
    if type(metadata["name"]) is not str:
        return False
    if any(metadata.get(name) is not None and type(metadata[name]) is not kind for name, kind in _FORMS.items()):
        return False
    group = str(obj.get("apiVersion") or "").rpartition("/")[0]
    free = "." in group and not group.endswith(".k8s.io")
    return free or all(obj.get(name) is None or type(obj[name]) is dict for name in ("spec", "status"))


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


def with_revision(text: bytes, revision: int) -> bytes:
    """The text of an object of a built-in kind, as this server stores it, with the resourceVersion where Go writes it.
    Before its uid there is nothing that could be taken for one; without one, what comes out says so in no metadata."""
    uid = text.find(_UID)
    end = text.find(b'"', uid + len(_UID)) + 1
    if uid < 0:
        return text
    return b"".join((text[:end], b',"resourceVersion":"', str(revision).encode(), b'"', text[end:]))


def with_resource_version(obj: Object, revision: int) -> Object:
    """A copy of a frozen object at another revision; all but its metadata is shared."""
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(revision)}}


class Change:
    """`type` is ADDED, MODIFIED or DELETED, `old` the state before, `size` that of the stored value. The wire events
    are made once and shared."""

    __slots__ = ("_event", "cause", "key", "object", "old", "revision", "size", "type")

    def __init__(
        self, type: str, object: Object, old: Object | None, revision: int, cause: str, key: str, size: int = 0
    ) -> None:
        self.type = type
        self.object = object
        self.old = old
        self.revision = revision
        self.cause = cause
        self.key = key
        self.size = size
        self._event: dict[str, WatchEvent] = {}

    def event(self, type: str) -> WatchEvent:
        """This change as a watcher sees it to whom the object appears, changes or goes."""
        event = self._event.get(type)
        if event is None:
            obj = self.object
            if type == "DELETED" and self.type != "DELETED" and self.old is not None:
                # To a selector that it no longer matches the object is gone: its last state that matched is sent.
                obj = with_resource_version(self.old, self.revision)
            event = self._event[type] = WatchEvent(type, obj, self.revision, self.cause, self.old)
        return event

    def named(self, kind: str) -> str:
        """`kind/namespace/name`, as spans name an object."""
        metadata = self.object["metadata"]
        namespace = metadata.get("namespace")
        return f"{kind}/{namespace}/{metadata['name']}" if namespace else f"{kind}/{metadata['name']}"


class Read(Protocol):
    """Makes an object of a stored value; `fits` says that it has the types of its kind. Raises CorruptObject."""

    def __call__(self, value: bytes, revision: int, *, fits: bool = False) -> Object: ...


def change_of(event: Event, old: Object | None, read: Read) -> Change:
    """What an event of the store is to an object that was as `old` before. Raises CorruptObject."""
    key, revision = key_text(event.kv.key), event.kv.mod_revision
    if event.type == "DELETE":
        assert old is not None, "what is deleted was there"
        return Change("DELETED", with_resource_version(old, revision), old, revision, event.cause, key)
    value = event.kv.value
    obj = read(value, revision, fits=bool(event.cause))  # what has a cause was written by a request
    return Change("MODIFIED" if old is not None else "ADDED", obj, old, revision, event.cause, key, len(value))
