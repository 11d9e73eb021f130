"""TLS that tells who speaks HTTP without it so, instead of hanging up (Go's net/http server.go,
tlsRecordHeaderLooksLikeHTTP).

Go writes its line and closes the connection; here the answer says how long it is and that it is the last, and the
client closes.
"""

from __future__ import annotations

import ssl

_LINE = b"Client sent an HTTP request to an HTTPS server.\n"
_ANSWER = b"HTTP/1.0 400 Bad Request\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(_LINE), _LINE)
_OF_HTTP = "HTTP_REQUEST"  # OpenSSL's word


class _ToldOfHttp(ssl.SSLObject):
    outgoing: ssl.MemoryBIO | None = None

    def do_handshake(self) -> None:
        try:
            super().do_handshake()
        except ssl.SSLError as error:
            if error.reason != _OF_HTTP or self.outgoing is None:
                raise
            self.outgoing.write(_ANSWER)
            raise ssl.SSLWantReadError from None  # upon which what is to go out goes out


class ServerContext(ssl.SSLContext):
    """A context of the server's side, for asyncio."""

    sslobject_class = _ToldOfHttp

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        found = super().wrap_bio(incoming, outgoing, server_side, server_hostname, session)
        assert isinstance(found, _ToldOfHttp)
        found.outgoing = outgoing
        return found
