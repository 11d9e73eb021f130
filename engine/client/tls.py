"""The TLS settings of a connection: whom it believes, and with which certificate it says who it is."""

from __future__ import annotations

import os
import ssl
import tempfile
from urllib.parse import urlsplit

from engine.client.connection import Connection, KubeConfigError
from engine.client.exec_plugin import Credential
from engine.client.key_pair import content_problem, pair_problem, roots_problem


def tls_context(connection: Connection, given: Credential | None = None) -> ssl.SSLContext | bool:
    """The TLS settings of a connection; True where the server speaks plain HTTP. Raises KubeConfigError."""
    if urlsplit(connection.url).scheme != "https":
        return True
    if connection.ca is not None and connection.insecure:
        raise KubeConfigError("specifying a root certificates file with the insecure flag is not allowed")
    if not connection.ca and not connection.insecure:
        context = ssl.create_default_context()  # reads the system's hundred authorities, longer than all else takes
    else:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if connection.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif connection.ca:
        _load_roots(context, connection.ca)
    certificate = (given.certificate if given else None) or connection.certificate
    key = (given.key if given else None) or connection.key
    if certificate is not None:
        _load_certificate(context, certificate, key or b"", reloads=connection.reloads)
    return context


def _load_roots(context: ssl.SSLContext, pem: bytes) -> None:
    text = pem.decode(errors="replace")
    if problem := roots_problem(text):
        raise KubeConfigError(f"unable to load root certificates: {problem}")
    try:
        context.load_verify_locations(cadata=text)
    except ssl.SSLError as error:
        why = "failed to parse certificate: x509: malformed certificate"
        raise KubeConfigError(f"unable to load root certificates: {why}") from error


def _load_certificate(context: ssl.SSLContext, certificate: bytes, key: bytes, *, reloads: bool) -> None:
    """Raises KubeConfigError; ConnectionError for files, which are not read before the server asks for them."""
    texts = certificate.decode(errors="replace"), key.decode(errors="replace")
    problem = pair_problem(*texts)
    if not problem:
        try:
            _load_chain(context, certificate + b"\n" + key)
        except ssl.SSLError as error:
            problem = content_problem(*texts) or str(error)
    if problem:
        raise ConnectionError(f"Unable to connect to the server: {problem}") if reloads else KubeConfigError(problem)


def _load_chain(context: ssl.SSLContext, pem: bytes) -> None:
    """OpenSSL reads client certificates from files only: hand it one that nobody else may read, and remove it."""
    descriptor, path = tempfile.mkstemp(prefix="ktui-", suffix=".pem")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(pem)
        context.load_cert_chain(path)
    finally:
        os.unlink(path)
