"""Answers in protobuf, for clients that like it best: Go's, which ask for it where a kind has one.

Whole answers and the events of watches, as the end of the chain makes them of JSON. A watch is a row of frames, each
four bytes of length and a meta.v1.WatchEvent whose object has an envelope of its own. Protobuf takes ten times as long
as JSON here: watches, and lists of more than `LONG` objects, are JSON for who takes that as well, as clients do.
Source: apimachinery pkg/runtime/serializer/protobuf, pkg/util/framer; apiserver pkg/endpoints/handlers/watch.go.
"""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator
from typing import Any

import orjson

from engine.api.errors import ApiError
from engine.api.protobuf_writing import delimited, key
from engine.api.types import Object
from engine.api.wire import JSON, PROTOBUF, EventStream, Metered, Request, Response, WatchEvent
from engine.apiserver.protobuf.encoding import Encoder, NoProtobuf, envelope
from engine.apiserver.protobuf.wire import LENGTH
from engine.apiserver.registry.representation import negotiate, takes_json
from engine.clock import Clock

STREAM = f"{PROTOBUF};stream=watch"
FRAME_HEAD = 4  # bytes, which say the length of what follows
_TYPE, _OBJECT, _RAW = key(1, LENGTH), key(2, LENGTH), key(1, LENGTH)
LONG = 200
_AT_ONCE = 20  # items of a list, between which the loop runs others


class ProtobufAnswers:
    def __init__(self, encoder: Encoder, clock: Clock) -> None:
        self._encoder = encoder
        self._clock = clock

    async def convert(self, request: Request, response: Response) -> None:
        """Change an answer of JSON where the client, whose `Accept` names protobuf, wants it; what has none stays."""
        accept = request.headers.get("accept", "")
        if not _wanted(accept):
            return
        too = takes_json(accept)
        if response.events is not None:
            if not (response.untyped or too):
                response.stream, response.events = _Frames(response.events, self._encoder), None
                response.headers["content-type"] = STREAM
        elif (body := _value(request, response)) is not None and not (too and _is_long(body)):
            try:
                response.body = await self._whole(body)
            except NoProtobuf:
                return
            response.headers["content-type"] = PROTOBUF

    async def _whole(self, body: dict[str, Any]) -> bytes:
        items = body.get("items")
        if not isinstance(items, list) or not items:
            return self._encoder.encode(body)
        message, item = self._encoder.message_of(body), self._encoder.item_of(body)
        parts = [message({**body, "items": []})]
        for start in range(0, len(items), _AT_ONCE):
            if start:
                await self._clock.sleep(0)
            parts += [item(each) for each in items[start : start + _AT_ONCE]]
        return envelope(body, b"".join(parts))


class _Frames:
    """The events of a watch as frames."""

    def __init__(self, events: EventStream, encoder: Encoder) -> None:
        self._events = events
        self._encoder = encoder

    async def __aiter__(self) -> AsyncIterator[bytes]:
        metered = self._events if isinstance(self._events, Metered) else None
        async for event in self._events:
            frame = self._frame(event)
            if metered is not None:
                metered.count_bytes(len(frame))
            yield frame

    def _frame(self, event: WatchEvent) -> bytes:
        raw = delimited(_RAW + delimited(self._encoder.encode(_named(event.object))))
        message = _TYPE + delimited(event.type.encode()) + _OBJECT + raw
        return struct.pack(">I", len(message)) + message

    async def aclose(self) -> None:
        await self._events.aclose()


def _is_long(body: Any) -> bool:
    items = body.get("items")
    return isinstance(items, list) and len(items) > LONG


def _value(request: Request, response: Response) -> Any:
    """What the answer says: an object, or a document of discovery, which is kept as JSON."""
    if isinstance(response.body, dict) and "content-type" not in response.headers:
        return response.body
    if isinstance(response.body, bytes) and request.path.startswith("/api"):
        return orjson.loads(response.body) if response.headers.get("content-type") == JSON else None
    return None


def _named(obj: Object) -> Object:
    return obj if "kind" in obj else {"kind": "Status", "apiVersion": "v1", **obj}


def _wanted(accept: str) -> bool:
    try:
        return negotiate(accept).media_type == PROTOBUF
    except ApiError:
        return False
