"""What the options of `ktui up` say of who is believed to be whom before a request is let in: proxies.

Source of the checks: apiserver pkg/server/options/authentication.go (RequestHeaderAuthenticationOptions.Validate) and
pkg/server/dynamiccertificates.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cryptography import x509

from engine.apiserver.webhook_credentials import show_certificate
from engine.config import RequestHeaders
from ktui.commands import UsageError
from ktui.server_flags import ServerFlags

_LISTS = {
    "username_headers": "X-Remote-User",
    "uid_headers": "X-Remote-Uid",
    "group_headers": "X-Remote-Group",
    "extra_headers_prefix": "X-Remote-Extra-",
    "allowed_names": "",
}


def proxy_fields(options: ServerFlags, say: Callable[[str], None]) -> dict[str, Any]:
    """The fields of the configuration that say which proxies are believed, and how this server shows itself to those
    behind it. Raises UsageError."""
    lists = {field: _list(options, field, say) for field in _LISTS}
    file = _file(options.requestheader_client_ca_file)
    bundle = _certificates("requestheader-client-ca-file", file) if file is not None else ""
    certificate, key = _file(options.proxy_client_cert_file), _file(options.proxy_client_key_file)
    if (certificate is None) != (key is None):
        raise UsageError("--proxy-client-cert-file and --proxy-client-key-file go together: give both, or none")
    if certificate is not None and key is not None:
        _check_pair(certificate, key)
    return {
        "request_headers": RequestHeaders(client_ca=bundle, client_ca_file=file, **lists),
        "proxy_client_cert_file": certificate,
        "proxy_client_key_file": key,
    }


def _list(options: ServerFlags, field: str, say: Callable[[str], None]) -> tuple[str, ...]:
    flag = f"requestheader-{field.replace('_', '-')}"
    text, standard = str(getattr(options, f"requestheader_{field}")), _LISTS[field]
    values = tuple(text.split(",")) if text else ()
    if not all(each.strip() for each in values):
        raise UsageError(f'empty value in "{flag}"')
    if values and standard and standard.lower() not in (each.lower() for each in values):
        what = "header prefix" if standard.endswith("-") else "header"
        problem = f"--{flag} is set without specifying the standard {standard} {what} - API aggregation will not work"
        if field == "uid_headers":
            raise UsageError(problem)
        say(f"warning: {problem}")
    return values


def _file(path: str) -> Path | None:
    return Path(path).absolute() if path else None


def _certificates(flag: str, file: Path) -> str:
    text = _read(flag, file)
    name = f"request-header::{file}"
    if not text:
        raise UsageError(f'--{flag}: missing content for CA bundle "{name}"')
    try:
        x509.load_pem_x509_certificates(text.encode())
    except ValueError:
        why = "data does not contain any valid RSA or ECDSA certificates"
        raise UsageError(f'--{flag}: error loading CA bundle for "{name}": {why}') from None
    return text


def _check_pair(certificate: Path, key: Path) -> None:
    both = _read("proxy-client-cert-file", certificate), _read("proxy-client-key-file", key)
    try:
        show_certificate(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), both[0].encode(), both[1].encode())
    except (ssl.SSLError, ValueError):
        raise UsageError(f"--proxy-client-cert-file: {certificate} and {key} are no certificate and its key") from None


def _read(flag: str, file: Path) -> str:
    try:
        return file.read_text()
    except OSError as error:
        raise UsageError(f"--{flag}: open {file}: {(error.strerror or str(error)).lower()}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"--{flag}: {file}: {error}") from error
