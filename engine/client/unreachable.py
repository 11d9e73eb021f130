"""Why a server cannot be reached, in kubectl's words (kubectl pkg/cmd/util, StandardErrorMessage) and Go's."""

from __future__ import annotations

import errno
import re
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp

from engine.api.golang.text import quoted

_CONNECTING = re.compile(r"\[Errno \d+\] Connect call failed \('([^']+)', (\d+).*\)")
# What a name server may be asked for (Go's net, isDomainName).
_LABEL = "[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_DOMAIN = re.compile(rf"(?=.*[^0-9.]){_LABEL}(?:\.{_LABEL})*\.?")
# X509_V_ERR_*: an issuer that is not there, or a certificate of its own that nobody has vouched for.
_UNKNOWN_AUTHORITY = frozenset((2, 18, 19, 20, 21))


class UnreachableError(ConnectionError):
    """No answer came. `cause` is how Go's client tells of it: which request failed, and why."""

    def __init__(self, text: str, cause: str) -> None:
        super().__init__(text)
        self.cause = cause


class RefusedError(UnreachableError, ConnectionRefusedError):
    """Nothing listens there."""


class BrokenError(UnreachableError):
    """A connection that was there was lost before the answer was."""


def unreachable(server: str, error: Exception, *, asked: str) -> UnreachableError:
    """kubectl's sentence for a server that cannot be reached; `asked` is the request, as in `Get "URL"`."""
    parts = urlsplit(server)
    host = parts.netloc.rpartition("@")[2]
    if _refused(error):
        text = f"The connection to the server {host} was refused - did you specify the right host or port?"
        return RefusedError(text, f"{asked}: dial tcp {_address(error) or host}: connect: connection refused")
    kind = BrokenError if _broken(error) else UnreachableError
    reason = _reason(error, server)
    return kind(f"Unable to connect to the server: {reason}", f"{asked}: {reason}")


def _address(error: Exception) -> str:
    """Where it was tried; "" if that is not told, or if there were several."""
    found = _CONNECTING.fullmatch(str(getattr(error, "os_error", error)))
    if found is None:
        return ""
    host, port = found.groups()
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _broken(error: Exception) -> bool:
    """net.IsConnectionReset and IsProbableEOF."""
    if isinstance(error, aiohttp.ServerDisconnectedError | ConnectionResetError):
        return True
    return isinstance(error, OSError) and error.errno == errno.ECONNRESET


def _refused(error: BaseException | None) -> bool:
    """Whether a connection was refused, on every address that was tried."""
    if error is None:
        return False
    if isinstance(error, ConnectionRefusedError) or getattr(error, "errno", None) == 111:
        return True
    if isinstance(error, aiohttp.ClientConnectorError):
        return _refused(error.os_error)
    return "Connect call failed" in str(error) and "111" in str(error)


def _reason(error: Exception, server: str) -> str:
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"tls: failed to verify certificate: x509: {_why_unverified(error.certificate_error)}"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "EOF"
    if isinstance(error, TimeoutError):
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return "net/http: request canceled while waiting for connection"
        return "net/http: request canceled (Client.Timeout exceeded while awaiting headers)"
    if isinstance(error, aiohttp.NonHttpUrlClientError):
        return f"unsupported protocol scheme {quoted(urlsplit(server).scheme)}"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        asked = _name_server() if _DOMAIN.fullmatch(error.host) else ""  # Go asks nobody for what is no domain's name
        return f"dial tcp: lookup {error.host}{asked}: no such host"
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"dial tcp {error.host}:{error.port}: {(error.os_error.strerror or str(error.os_error)).lower()}"
    return str(error) or type(error).__name__


def _why_unverified(error: Exception) -> str:
    code = getattr(error, "verify_code", 0)
    if code in _UNKNOWN_AUTHORITY:
        return "certificate signed by unknown authority"
    return getattr(error, "verify_message", "") or str(error)


def _name_server() -> str:
    """Who was asked for an address, as Go's resolver tells of it."""
    try:
        lines = Path("/etc/resolv.conf").read_text().splitlines()
    except OSError:
        return ""
    words = next((line.split() for line in lines if line.startswith("nameserver ")), [])
    return f" on {words[1]}:53" if len(words) > 1 else ""
