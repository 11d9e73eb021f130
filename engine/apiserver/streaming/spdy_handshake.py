"""How a node and a client agree on SPDY, and what the node says where they do not.

Such an answer comes from the node as plain text, and the API server hands it on as it is. Source:
k8s.io/streaming pkg/httpstream httpstream.go (Handshake) and spdy/upgrade.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.wire import Request, Response
from engine.apiserver.handshake import wants_spdy

VERSION = "X-Stream-Protocol-Version"
_ACCEPTED = "X-Accepted-Stream-Protocol-Versions"


class NoUpgrade(Exception):
    def __init__(self, status: int, message: str, *, accepted: Sequence[str] = ()) -> None:
        super().__init__(message)
        self._status = status
        self._accepted = accepted

    def answer(self) -> Response:
        headers = {"content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff"}
        if self._accepted:
            headers[_ACCEPTED] = ", ".join(self._accepted)
        return Response(self._status, f"{self}\n".encode(), headers)


def agreed_on_spdy(request: Request, spoken: Sequence[str]) -> str:
    """The first protocol of the client's that is spoken here. Raises NoUpgrade."""
    header = request.headers.get(VERSION.lower())
    if header is None:
        # As the node counts them: without the credential, with the address that the API server adds.
        count = len(request.headers.keys() - {"host", "authorization"}) + 1
        raise NoUpgrade(400, f"unable to upgrade: header {VERSION} does not exist in request with {count} headers")
    offered = [word.strip(" ") for word in header.split(",") if word.strip(" ")]
    if not offered:
        raise NoUpgrade(400, f"unable to upgrade: header {VERSION} contains [{header}], but no valid protocols")
    for protocol in offered:
        if protocol in spoken:
            break
    else:
        sides = f"client supports [{' '.join(offered)}], server accepts [{' '.join(spoken)}]"
        raise NoUpgrade(403, f"unable to upgrade: unable to negotiate protocol: {sides}", accepted=spoken)
    if not wants_spdy(request):
        raise NoUpgrade(400, "unable to upgrade: missing upgrade headers in request")
    return protocol
