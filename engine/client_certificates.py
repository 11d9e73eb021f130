"""TLS that asks for a client's certificate and lets the handshake go on whatever it is: who shows a bad one is told so
in HTTP, 401 Unauthorized, as by upstream's API server (tls.RequestClientCert, apiserver
pkg/authentication/request/x509).

Python's ssl knows no such mode: a certificate that OpenSSL does not verify ends the handshake with an alert. But it
tells of each message of a handshake before OpenSSL looks at it, and a connection may change its context meanwhile. So
the chain that a client shows is looked at here first. Where the authority has issued it, OpenSSL verifies it against
the authority alone, which has the last word. Where not, the connection changes to a context that believes this one
certificate, whatever its uses: the client still has to prove that it holds the key, and whoever asks is told that
nobody vouches for it.

There are two kinds of authorities: that of clients, and those of proxies that say for whom they ask
(--requestheader-client-ca-file). Which of them has issued a certificate is told apart (`issued`).
"""

from __future__ import annotations

import ssl
from base64 import encodebytes
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from tempfile import NamedTemporaryFile
from typing import NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.x509.oid import ExtendedKeyUsageOID

from engine.plain_http import ServerContext

_HANDSHAKE, _CERTIFICATE = 22, 11  # a record's type, and a message's
_WITH_CONTEXTS = 0x0304  # TLS 1.3: what is asked for has a name, and each certificate has extensions
_NO_CHECK_TIME = 0x200000  # X509_V_FLAG_NO_CHECK_TIME, which ssl has no name for: times are looked at here
_FOR_CLIENTS = frozenset((ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE))
_CHAIN_LIMIT = 10
_TRUSTED = b"-----BEGIN TRUSTED CERTIFICATE-----\n%b-----END TRUSTED CERTIFICATE-----\n"
_AS_CLIENT = bytes.fromhex("300c300a06082b06010505070302")  # trusted for clientAuth


class _OfStranger(ssl.SSLContext):
    """Of one connection, whose certificate nobody vouches for."""

    def believe(self, shown: bytes) -> None:
        """Believe a certificate (DER) as a client's. Raises ssl.SSLError for what is none. How far it is to be believed
        can only be said in a file: the form is OpenSSL's own (X509_AUX)."""
        with NamedTemporaryFile() as file:
            file.write(_TRUSTED % encodebytes(shown + _AS_CLIENT))
            file.flush()
            self.load_verify_locations(file.name)
        self.verify_mode = ssl.CERT_OPTIONAL


class Issued(NamedTuple):
    """Whose certificate it is: one of the clients' authority, one of the proxies', of both, or a stranger's."""

    to_client: bool
    to_proxy: bool


_STRANGERS = Issued(False, False)


class _OfKnown(ssl.SSLContext):
    """Of connections whose certificate an authority has issued."""

    whose = Issued(True, False)


def issued(tls: ssl.SSLObject) -> Issued:
    """Which authorities have issued the certificate that the client of a connection has shown."""
    context = tls.context
    if isinstance(context, RequestingContext):  # no certificate came: that of a session is resumed
        return context.issued((tls.getpeercert(True) or b"",))
    if isinstance(context, _OfKnown):
        return context.whose
    return Issued(not isinstance(context, _OfStranger), False)  # a context that knows one authority


class RequestingContext(ServerContext):
    """A context of the server's side, for clients of one authority (PEM) and proxies of others, by the time that `now`
    tells."""

    def __init__(self, protocol: int, authority: bytes, now: Callable[[], datetime], *, proxies: bytes = b"") -> None:
        super().__init__()
        self._clients = x509.load_pem_x509_certificates(authority)
        self._proxies = x509.load_pem_x509_certificates(proxies) if proxies else []
        self._now = now
        self._known: dict[Issued, _OfKnown] = {}
        contexts: list[tuple[ssl.SSLContext, list[bytes]]] = [(self, [authority, proxies])]
        for whose, bundles in (
            (Issued(True, False), [authority]),
            (Issued(False, True), [proxies]),
            (Issued(True, True), [authority]),
        ):
            known = self._known[whose] = _OfKnown(protocol)
            known.whose = whose
            contexts.append((known, bundles))
        for context, bundles in contexts:
            for bundle in filter(None, bundles):
                context.load_verify_locations(cadata=bundle.decode())
            context.verify_mode = ssl.CERT_OPTIONAL
        # A connection keeps these when it changes its context. A certificate that is believed may be nobody's root.
        self.verify_flags |= ssl.VerifyFlags(ssl.VERIFY_X509_PARTIAL_CHAIN | _NO_CHECK_TIME)
        # Who resumes a session shows no certificate again, so none is kept where that can be said.
        self.num_tickets = 0
        self.options |= ssl.OP_NO_TICKET
        self._msg_callback = self._see

    def _see(
        self, tls: ssl.SSLObject, direction: str, version: int, content_type: int, message_type: int, data: bytes
    ) -> None:
        """A message of a handshake: that with the client's certificates comes always, since they are asked for."""
        if direction == "read" and content_type == _HANDSHAKE and message_type == _CERTIFICATE:
            tls.context = self._context_for(tuple(_certificates(data, version)))

    def _context_for(self, chain: Sequence[bytes]) -> ssl.SSLContext:
        any_known = self._known[Issued(True, False)]
        whose = self.issued(chain) if chain else any_known.whose
        if whose != _STRANGERS:
            return self._known[whose]
        context = _OfStranger(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.believe(chain[0])
        except OSError:  # of which ssl.SSLError is one
            return any_known  # it is no certificate, which OpenSSL says better
        return context

    def issued(self, chain: Sequence[bytes]) -> Issued:
        """Which authorities the first certificate of a chain (DER) leads to, if it is a client's."""
        return Issued(
            any(self._has_issued(each, chain) for each in self._clients),
            any(self._has_issued(each, chain) for each in self._proxies),
        )

    def _has_issued(self, authority: x509.Certificate, chain: Sequence[bytes]) -> bool:
        """Whether the first certificate of a chain leads to an authority, all within their times."""
        try:
            leaf, *between = (x509.load_der_x509_certificate(each) for each in chain[:_CHAIN_LIMIT])
            path = [*_path(leaf, between, authority), authority]
            now = self._now()
            good = all(each.not_valid_before_utc <= now <= each.not_valid_after_utc for each in path)
            return good and _is_for_clients(leaf) and all(_issued(below, above) for below, above in pairwise(path))
        except (ValueError, UnsupportedAlgorithm):
            return False


def _certificates(message: bytes, version: int) -> Iterator[bytes]:
    """The certificates (DER) of a message Certificate (RFC 8446 4.4.2, RFC 5246 7.4.2), the client's own first."""
    at = 4
    if version == _WITH_CONTEXTS:
        at += 1 + message[at]
    at += 3
    while at < len(message):
        end = at + 3 + int.from_bytes(message[at : at + 3], "big")
        yield message[at + 3 : end]
        at = end
        if version == _WITH_CONTEXTS:
            at += 2 + int.from_bytes(message[at : at + 2], "big")


def _path(
    leaf: x509.Certificate, between: list[x509.Certificate], authority: x509.Certificate
) -> Iterator[x509.Certificate]:
    """From the client's certificate up to the one that names the authority as its issuer."""
    current: x509.Certificate | None = leaf
    left = list(between)
    while current is not None:
        yield current
        issuer = current.issuer
        if issuer == authority.subject:
            return
        current = next((each for each in left if each.subject == issuer), None)
        if current is not None:
            left.remove(current)


def _issued(below: x509.Certificate, above: x509.Certificate) -> bool:
    try:
        below.verify_directly_issued_by(above)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _is_for_clients(leaf: x509.Certificate) -> bool:
    try:
        uses = leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return True
    return not _FOR_CLIENTS.isdisjoint(uses)
