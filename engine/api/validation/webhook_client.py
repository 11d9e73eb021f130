"""Where a webhook is called: of admission and of a definition's conversion alike.

Source: apiserver pkg/util/webhook validation.go (ValidateWebhookURL, ValidateWebhookService, ValidateCABundle); the
words about a bundle are those of client-go transport/transport.go.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error

from cryptography import x509

from engine.api.golang import url as go_url
from engine.api.types import Object
from engine.api.validation import text
from engine.api.validation.problems import Problems

_URL_FORM = "; desired format: https://host[/path]"


def client_config(config: Object, path: str, problems: Problems) -> None:
    """Exactly one of a URL and a Service, and that one right."""
    url, service = config.get("url"), config.get("service")
    if (url is None) == (service is None):
        problems.required(path, "exactly one of url or service is required")
    elif url is not None:
        _url(url, f"{path}.url", problems)
    else:
        _service(service or {}, f"{path}.service", problems)


def _url(url: str, path: str, problems: Problems) -> None:
    try:
        parts = go_url.parse(url)
    except ValueError as error:
        problems.required(path, f"url must be a valid URL: {error}{_URL_FORM}")
        return
    if parts.scheme != "https":
        problems.invalid(path, parts.scheme, f"'https' is the only allowed URL scheme{_URL_FORM}")
    if not parts.host:
        problems.invalid(path, parts.host, f"host must be specified{_URL_FORM}")
    if parts.user is not None:
        problems.invalid(path, parts.user, "user information is not permitted in the URL")
    if parts.fragment:
        problems.invalid(path, parts.fragment, "fragments are not permitted in the URL")
    if parts.query:
        problems.invalid(path, parts.query, "query parameters are not permitted in the URL")


def _service(service: Object, path: str, problems: Problems) -> None:
    for field in ("name", "namespace"):
        if not service.get(field):
            problems.required(f"{path}.{field}")
    port = service.get("port", 443)
    if wrong := text.port_number(port):
        problems.invalid(f"{path}.port", port, f"port is not valid: {','.join(wrong)}")
    _service_path(service.get("path") or "/", f"{path}.path", problems)


def _service_path(value: str, path: str, problems: Problems) -> None:
    if value == "/":
        return
    if value == "//":
        problems.invalid(path, value, "segment[0] may not be empty")
        return
    if not value.startswith("/"):
        problems.invalid(path, value, "must start with a '/'")
    for index, step in enumerate(value[1:].removesuffix("/").split("/")):
        if not step:
            problems.invalid(path, value, f"segment[{index}] may not be empty")
        else:
            problems.all_invalid(path, value, (f"segment[{index}]: {why}" for why in text.dns_subdomain(step)))


_PEM = re.compile(rb"-----BEGIN ([^-\n]*)-----[ \t\r]*\n(.*?)-----END \1-----[ \t\r]*\n?", re.DOTALL)


def wrong_ca_bundle(encoded: str) -> str:
    """Why no certificate can be read from a bundle, given in base64 as in JSON; "" if one can."""
    data, read, why = b64decode(encoded), 0, ""
    for match in _PEM.finditer(data):
        try:
            der = b64decode(match[2], validate=False)
        except Error:
            continue
        read = match.end()
        if match[1] != b"CERTIFICATE" or b":" in match[2]:
            continue
        try:
            x509.load_der_x509_certificate(der)
        except ValueError:
            why = why or "failed to parse certificate: x509: malformed certificate"
        else:
            return ""
    unread = "unable to parse bytes as PEM block" if read < len(data) else "no valid certificate authority data seen"
    return f"unable to load root certificates: {why or unread}"
