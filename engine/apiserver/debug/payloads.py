"""What the newest requests carried: the reference that a hop-2 span's `payload` names.

Bounded by count and by size; a body above the limit is left out and said to be so. Credentials are never kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import orjson

from engine.api.types import Object
from engine.api.wire import Request, Response

KEPT = 500
MAX_BYTES = 256 * 1024
MAX_ITEMS = 100
HIDDEN = "(hidden)"
_HIDDEN = frozenset(("authorization", "cookie", "proxy-authorization", "set-cookie"))
_TOKENS = {"TokenRequest": "status", "TokenReview": "spec"}  # kind → where its token is


class Payloads:
    """By the id of the span; the oldest make way. In-process bodies are frozen and only referred to."""

    def __init__(self) -> None:
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
                "body": _shown(request.body),
            }
        }
        if response is not None:
            shown["response"] = {
                "status": response.status,
                "headers": _headers(response.headers),
                "body": _shown(response.body),
            }
        return shown


def _headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: HIDDEN if name in _HIDDEN else value for name, value in headers.items()}


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
