"""What a request says that would be a WebSocket or SPDY: whether it is one, the protocols, a token among them.

A browser cannot set the header of a bearer token, so that it may come as a protocol. Source: apiserver
pkg/authentication/request/websocket/protocol.go, apimachinery pkg/util/httpstream/wsstream conn.go.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection

from engine.api.errors import unauthorized
from engine.api.wire import Request


class NoProtocol(Exception):
    """The handshake fails: 403 with nothing in it, as Go's package has it."""


_TOKEN = "base64url.bearer.authorization.k8s.io."
_BASE64URL = re.compile(r"[A-Za-z0-9_-]*")


def wants_web_socket(request: Request) -> bool:
    return wants_upgrade(request) and request.headers.get("upgrade", "").lower() == "websocket"


def wants_upgrade(request: Request) -> bool:
    return "upgrade" in request.headers.get("connection", "").lower()


def wants_spdy(request: Request) -> bool:
    return wants_upgrade(request) and "spdy/3.1" in request.headers.get("upgrade", "").lower()


def protocols_offered(request: Request) -> list[str]:
    """In the client's order, without the one that is a token; none is one that is called ""."""
    return [word for word in _words(request) if not word.startswith(_TOKEN)] or [""]


def agreed(request: Request, spoken: Collection[str]) -> str:
    """The first protocol of the client's that is spoken here. Raises NoProtocol."""
    for protocol in protocols_offered(request):
        if protocol in spoken:
            return protocol
    raise NoProtocol


def offered_token(request: Request) -> str:
    """The bearer token among the protocols; "" for none. Raises ApiError 401 for one that cannot be."""
    if not wants_web_socket(request):
        return ""
    words = _words(request)
    tokens = [word.removeprefix(_TOKEN) for word in words if word.startswith(_TOKEN)]
    if not tokens:
        return ""
    if len(tokens) > 1 or not _BASE64URL.fullmatch(tokens[0]):
        raise unauthorized()
    try:
        token = base64.urlsafe_b64decode(tokens[0] + "=" * (-len(tokens[0]) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise unauthorized() from None
    if token and len(words) == 1:
        raise unauthorized()  # there must be one that the server can say back
    return token


def _words(request: Request) -> list[str]:
    header = request.headers.get("sec-websocket-protocol")
    return [word.strip() for word in header.split(",")] if header else []
