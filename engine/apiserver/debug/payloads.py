"""What the newest requests carried: the reference that a hop-2 span's `payload` names.

Bounded by count and by size; a body above the limit is left out and said to be so. Credentials are never shown. A body
in protobuf is told as the value that it stands for, `encoded` with the bytes that it took.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import orjson

from engine.api.errors import ApiError
from engine.api.schema import Definitions
from engine.api.types import Object
from engine.api.wire import Request, Response
from engine.apiserver.protobuf.decoding import MAGIC, decode_body

KEPT = 500
MAX_BYTES = 256 * 1024
MAX_ITEMS = 100
HIDDEN = "(hidden)"
_HIDDEN = frozenset(("authorization", "cookie", "proxy-authorization", "set-cookie"))
_SOCKET_PROTOCOL = "sec-websocket-protocol"  # in which browsers send their tokens
_BEARER = "base64url.bearer.authorization.k8s.io."
_TOKENS = {"TokenRequest": "status", "TokenReview": "spec"}  # kind → where its token is


class Payloads:
    """By the id of the span; the oldest make way. In-process bodies are frozen and only referred to."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._kept: OrderedDict[str, tuple[Request, Response | None]] = OrderedDict()

    def keep(self, span_id: str, request: Request, response: Response | None) -> None:
        self._kept[span_id] = (request, response)
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def look(self, span_id: str) -> Object | None:
        """The request and the response as they crossed the wire; None if they are no longer kept."""
        found = self._kept.get(span_id)
        if found is None:
            return None
        request, response = found
        shown: Object = {
            "request": {
                "method": request.method,
                "path": request.path,
                "query": request.query,
                "headers": _headers(request.headers),
                **self._body(request.body),
            }
        }
        if response is not None:
            shown["response"] = {
                "status": response.status,
                "headers": _headers(response.headers),
                **self._body(response.body),
            }
        return shown

    def _body(self, body: Any) -> Object:
        if not isinstance(body, bytes) or not body.startswith(MAGIC):
            return {"body": _shown(body)}
        told = f"{len(body)} bytes of protobuf"
        try:
            return {"body": _shown(decode_body(self._definitions, body)), "encoded": told}
        except ApiError:
            return {"body": f"({told})"}  # of a kind that is not known here: what is in it is not known either


def _headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: _header(name, value) for name, value in headers.items()}


def _header(name: str, value: str) -> str:
    if name == _SOCKET_PROTOCOL:
        offered = (each.strip() for each in value.split(","))
        return ", ".join(f"{_BEARER}{HIDDEN}" if each.startswith(_BEARER) else each for each in offered)
    return HIDDEN if name in _HIDDEN else value


def _shown(body: Any) -> Any:
    if isinstance(body, bytes):
        if len(body) > MAX_BYTES:
            return f"({len(body)} bytes)"
        try:
            body = orjson.loads(body)
        except ValueError:
            return body.decode(errors="replace")
    if isinstance(body, dict) and isinstance(body.get("items"), list) and len(body["items"]) > MAX_ITEMS:
        return {**body, "items": [*body["items"][:MAX_ITEMS], f"({len(body['items'])} items)"]}
    return _without_token(body)


def _without_token(body: Any) -> Any:
    """A token is a credential wherever it stands."""
    part = _TOKENS.get(body.get("kind", "")) if isinstance(body, dict) else None
    held = body.get(part) if part is not None else None
    if isinstance(held, dict) and held.get("token"):
        return {**body, part: {**held, "token": HIDDEN}}
    return body
