"""New Pods that were asked for in the same words as others before: what becomes of them is known.

A workload makes Pods by the hundred whose requests say the same but for the Pod's name. What the server makes of such
a request (decoded, filled in, changed by admission, found valid, put in order and written as JSON) follows from its
words, from who writes and from the grounds of admission's plugins, so that of the next one only what is its own has to
be put into the text: its name, its uid, two times, and the name that was drawn for the volume of its token.

Words that come for the first time are only noted, so that a request that is like no other costs next to nothing. The
second time a mould is made of what comes out, and the third time it is proved: only if it gives, byte for byte, what
comes out then as well, it stands for the rest. Of admission those are asked each time whose answer may have changed
(`engine.apiserver.admission.settled`). What is answered, and what the caches have, is not read back from the text: the
mould has the object, too (`engine.apiserver.registry.create_alike`).
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import orjson

from engine.api.alike_pods import OF_ITS_OWN
from engine.api.golang.json import escaped
from engine.api.kept_json import kept_json
from engine.api.nil_lists import with_nils
from engine.api.remembered import Remembered
from engine.api.resources import ResourceInfo
from engine.api.types import PODS, Object, copy_object
from engine.api.wire import JSON
from engine.apiserver.admission.settled import Grounds, Known, Verdicts
from engine.apiserver.authorization.nodes import is_node
from engine.apiserver.call import Call
from engine.apiserver.changes import with_revision
from engine.apiserver.registry.body import media_type
from engine.apiserver.registry.options import WriteOptions

# Names that are all the same to every rule, and are warned of by none: labels of the DNS.
_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
_VOLUME = re.compile(r"kube-api-access-[a-z0-9]{5}")
_PLAIN = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_SUBCLASS
# What stands in a mould for what is put in. JSON escapes the zero, so that each is easily told from what a Pod says.
_NAMED, _UID, _CREATED, _WRITTEN, _DRAWN, _REVISION = _MARKS = tuple(f"\0{letter}" for letter in "nuctdr")
_PLACES = re.compile(r"\\u0000([nuctd])")
_NOTED = object()
_Places = list[tuple[Any, Any]]


class Own(NamedTuple):
    """What is a Pod's own: its name, its uid, when it was created and when its creator wrote it, and the name that
    was drawn for a volume ("" for none)."""

    name: str
    uid: str
    created: str
    written: str
    drawn: str


class Admitted(NamedTuple):
    """The grounds on which admission has changed a Pod, and the verdicts of its plugins."""

    grounds: Grounds
    verdicts: Verdicts


class Mould:
    """What is stored of Pods that say the same, on these grounds and with these verdicts of admission. `received` is
    such a Pod as admission meets it."""

    def __init__(self, text: str, received: Object, grounds: Grounds, verdicts: Verdicts) -> None:
        self.received = received
        self.known = Known(grounds, verdicts)
        self.generate: str = received["metadata"].get("generateName", "")
        self.proved = False
        parts = _PLACES.split(text)
        self.draws = "d" in parts[1::2]
        self._fixed = parts[::2]
        self._places = ["nuctd".index(letter) for letter in parts[1::2]]
        kept = orjson.loads(text)
        self._is_answer = escaped(orjson.dumps(with_nils(kept))) == orjson.dumps(kept)
        self._whole: Object = orjson.loads(with_revision(text.encode(), 0))
        self._whole["metadata"]["resourceVersion"] = _REVISION
        self._own = _own_in(self._whole)
        self._answered = copy_object(self._whole)

    def text(self, own: Own) -> bytes:
        """The Pod as it is stored. Nothing of its own needs to be escaped."""
        parts = [self._fixed[0]]
        for place, fixed in zip(self._places, self._fixed[1:], strict=True):
            parts += (own[place], fixed)
        return "".join(parts).encode()

    def line(self, text: bytes, revision: int) -> bytes | None:
        """The Pod that is stored as `text` as a line of JSON; None where Go writes it otherwise than it is stored."""
        return with_revision(text, revision) + b"\n" if self._is_answer else None

    def object(self, own: Own, revision: int) -> Object:
        """The Pod as the caches have it, frozen: what all have in common they share, for to decode each anew takes as
        long as all of admission."""
        filled: Object = _filled(self._whole, self._own, (*own, str(revision)))
        return filled

    def answer(self, own: Own, revision: int) -> Object:
        """The same for who has asked for it in this process. It shares nothing with the caches: who changes an answer,
        which is not to be done, changes none but those that come after it."""
        filled: Object = _filled(self._answered, self._own, (*own, str(revision)))
        return filled


class Cast(NamedTuple):
    """A Pod that was made of a mould."""

    mould: Mould
    own: Own
    text: bytes
    revision: int

    def line(self) -> bytes | None:
        return self.mould.line(self.text, self.revision)

    def answer(self) -> Object:
        return self.mould.answer(self.own, self.revision)


class Words(NamedTuple):
    """What a request says for a Pod: `key` is what all have in common that say the same, `name` the Pod's own ("" for
    one that is given its name). `mould` is what is known to come of it."""

    key: bytes
    name: str
    mould: Mould | None
    repeated: bool


class PodMoulds:
    """The moulds of the newest words that came more than once."""

    def __init__(self) -> None:
        self._known: Remembered[object] = Remembered()

    def words(self, call: Call, options: WriteOptions) -> Words | None:
        """None for a request that is like no other: not for a Pod, in another form than JSON, to be told of in full, or
        a node's, whose Pods are another matter to admission.
        Raises nothing: whoever reads the request in full tells what is wrong with it."""
        info = call.gvr_resource
        if info.gvr != PODS or options.dry_run or call.trail is not None or call.warnings or is_node(call.user):
            return None
        body = call.request.body
        found = _said_in_bytes(body, media_type(call.request)) if isinstance(body, bytes) else _said(body)
        if found is None:
            return None
        said, name = found
        by = f"{call.info.namespace}\n{options.validation}\n{options.manager}\n"
        key = by.encode() + said
        known = self._known.get(key)
        if known is None and (OF_ITS_OWN.search(said) or b'"managedFields"' in said or b'"kube-api-access-' in said):
            return None
        mould = known if isinstance(known, Mould) else None
        return Words(key, name, mould, known is not None)

    def note(self, words: Words) -> None:
        """That a Pod was made of such words, which came for the first time."""
        self._known.put(words.key, _NOTED)

    def learn(
        self, words: Words, info: ResourceInfo, stored: Object, text: bytes, received: Object, admitted: Admitted
    ) -> None:
        """`stored` has become of a Pod, and is kept as `text`; nothing was to be told of it."""
        mould, own = words.mould, _own(stored)
        if own is None or info.converts:
            return
        if received["metadata"].get("name", "") != words.name:  # of metadata that are there twice it was the other's
            return
        if mould is not None and (mould.known.grounds, mould.known.verdicts) == admitted and mould.text(own) == text:
            mould.proved = True
            return
        made = _mould(stored, own, received, admitted)
        if made.text(own) == text:  # not so of one that says itself what stands for what is put in
            self._known.put(words.key, made)


def as_received(pod: Object) -> Object:
    """What admission's plugins look at for their grounds, of a Pod that they will change."""
    return {**pod, "metadata": {**pod["metadata"]}, "spec": {**(pod.get("spec") or {})}}


def _said(body: Any) -> tuple[bytes, str] | None:
    """A value that is a Pod without its name, and that name."""
    metadata = body.get("metadata") if type(body) is dict else None
    if type(metadata) is not dict:
        return None
    name = metadata.get("name")
    if name is not None:
        if type(name) is not str or not _NAME.fullmatch(name):
            return None
        body = {**body, "metadata": {**metadata, "name": ""}}
    try:
        return orjson.dumps(body, option=_PLAIN), name or ""
    except TypeError:  # what JSON has no words for
        return None


def _said_in_bytes(body: bytes, kind: str) -> tuple[bytes, str] | None:
    """A text that is a Pod without its name, and that name: where nothing is escaped, and nothing else is called so,
    it stands where it was found, whatever else the text says twice."""
    if kind not in ("", JSON) or b"\\" in body:
        return None
    try:
        name = orjson.loads(body)["metadata"].get("name")
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    if name is None:
        return body, ""
    if type(name) is not str or not _NAME.fullmatch(name):
        return None
    quoted = b'"%b"' % name.encode()
    return (body.replace(quoted, b'""'), name) if body.count(quoted) == 1 else None


def _own_in(value: Any) -> _Places:
    """Where in a value what is a Pod's own stands: by keys or positions, which of it, or where in what is there."""
    places: _Places = []
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(each, dict | list):
            if within := _own_in(each):
                places.append((key, within))
        elif each in _MARKS:
            places.append((key, _MARKS.index(each)))
    return places


def _filled(value: Any, places: _Places, own: tuple[str, ...]) -> Any:
    """A value with what is a Pod's own in its places; all else is shared."""
    filled = value.copy()
    for key, what in places:
        filled[key] = own[what] if isinstance(what, int) else _filled(value[key], what, own)
    return filled


def _own(stored: Object) -> Own | None:
    """None for a Pod that is not as the server writes one that a request made."""
    metadata = stored["metadata"]
    managers = metadata.get("managedFields")
    if not managers or len(managers) != 1 or not _NAME.fullmatch(metadata["name"]):
        return None
    # No request that is looked at names such a volume; others may be called so by whom they come from.
    drawn = {each["name"] for each in stored["spec"].get("volumes") or () if _VOLUME.fullmatch(each["name"])}
    if len(drawn) > 1:
        return None
    name, uid, created = metadata["name"], metadata["uid"], metadata["creationTimestamp"]
    return Own(name, uid, created, managers[0].get("time", ""), next(iter(drawn), ""))


def _mould(stored: Object, own: Own, received: Object, admitted: Admitted) -> Mould:
    metadata = {key: value for key, value in stored["metadata"].items() if key != "resourceVersion"}
    entry = metadata["managedFields"][0]
    metadata |= {
        "name": _NAMED,
        "uid": _UID,
        "creationTimestamp": _CREATED,
        "managedFields": [{**entry, "time": _WRITTEN}],
    }
    text = kept_json({**stored, "metadata": metadata}).decode()
    if own.drawn:
        text = text.replace(f'"{own.drawn}"', f'"\\u0000{_DRAWN[1]}"')
    return Mould(text, received, *admitted)
