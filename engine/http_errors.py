"""What goes wrong in an HTTP call, in the words of Go's client (net/http url.Error, net OpError, crypto/x509)."""

from __future__ import annotations

import aiohttp

_TIMEOUT = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"


def post_error(url: str, error: Exception) -> str:
    """Of a POST that got no answer."""
    return f'Post "{url}": {reason(error)}'


def reason(error: Exception) -> str:
    """What url.Error holds: why there was no answer."""
    match error:
        case TimeoutError():
            return _TIMEOUT
        case aiohttp.ClientConnectorCertificateError():
            return f"tls: failed to verify certificate: x509: {_of_certificate(error)}"
        case aiohttp.ClientConnectorSSLError():
            return str(error.os_error)
        case aiohttp.ClientConnectorDNSError():
            return f"dial tcp: lookup {error.host}: no such host"
        case aiohttp.ClientConnectorError():
            return f"dial tcp {_address(error.host, error.port)}: {_dial(error.os_error)}"
        case aiohttp.ServerDisconnectedError():
            return "EOF"
    return str(error) or "EOF"


def _address(host: str, port: int | None) -> str:
    if host == "localhost":  # Go names the address that the name led to
        host = "127.0.0.1"
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _dial(error: OSError) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connect: connection refused"
    return error.strerror or str(error)


def _of_certificate(error: aiohttp.ClientConnectorCertificateError) -> str:
    inner = error.certificate_error
    text = str(getattr(inner, "verify_message", "") or inner)
    unknown = "self-signed" in text or "self signed" in text or "unable to get" in text
    return "certificate signed by unknown authority" if unknown else text
