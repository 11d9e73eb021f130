"""`create secret tls` and `create secret docker-registry`.

Source of the behaviour: kubectl pkg/cmd/create (create_secret_tls.go, create_secret_docker.go).
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

from engine.api.types import Object
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.name_hash import with_hash
from engine.kubectl.session import Session
from engine.kubectl.verbs.data_sources import literals

DOCKER_CONFIG = ".dockerconfigjson"
INCOMPLETE = (
    "either --from-file or the combination of --docker-username, --docker-password and --docker-server is required"
)
TLS_FLAGS = (
    Flag("cert", help="The file of the certificate, PEM."),
    Flag("key", help="The file of its private key, PEM."),
    Flag("append-hash", Type.BOOL, help="Add a hash of the content to the name."),
)
DOCKER_FLAGS = (
    Flag("docker-email", help="The e-mail address for the registry."),
    Flag("docker-password", help="The password for the registry."),
    Flag("docker-server", default="https://index.docker.io/v1/", help="The registry."),
    Flag("docker-username", help="The user of the registry."),
    Flag("from-file", Type.STRINGS, help="A file or folder, [KEY=]PATH."),
    Flag("append-hash", Type.BOOL, help="Add a hash of the content to the name."),
)


def tls(session: Session, name: str) -> Object:
    flags = session.flags
    if not flags.text("cert") or not flags.text("key"):
        raise CommandError("key and cert must be specified")
    certificate, key = _read(flags.text("cert")), _read(flags.text("key"))
    _check_pair(certificate, key)
    return _secret(session, name, "kubernetes.io/tls", {"tls.crt": certificate, "tls.key": key})


def docker_registry(session: Session, name: str) -> Object:
    flags = session.flags
    if flags.many("from-file"):
        if any(Path(path).is_dir() for path in flags.many("from-file")):
            raise CommandError("cannot give a key name for a directory path")
        data = literals(session, "Secret", name)
        if DOCKER_CONFIG not in data and len(data) == 1:
            data = {DOCKER_CONFIG: next(iter(data.values()))}
        return _secret(session, name, "kubernetes.io/dockerconfigjson", data)
    user, password, server = (flags.text(f"docker-{what}") for what in ("username", "password", "server"))
    if not (user and password and server):
        raise CommandError(INCOMPLETE)
    entry = {"username": user, "password": password}
    if email := flags.text("docker-email"):
        entry["email"] = email
    entry["auth"] = base64.b64encode(f"{user}:{password}".encode()).decode()
    config = json.dumps({"auths": {server: entry}}, separators=(",", ":"))
    return _secret(session, name, "kubernetes.io/dockerconfigjson", {DOCKER_CONFIG: config.encode()})


def _secret(session: Session, name: str, kind: str, data: dict[str, bytes]) -> Object:
    encoded = {key: base64.b64encode(value).decode() for key, value in data.items()}
    made = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": encoded, "type": kind}
    return with_hash(made) if session.flags.on("append-hash") else made


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        call = "read" if isinstance(error, IsADirectoryError) else "open"
        raise CommandError(f"Cannot read file {path}, {call} {path}: {(error.strerror or '').lower()}") from error


def _check_pair(certificate: bytes, key: bytes) -> None:
    """Whether the key is the certificate's. Raises CommandError in the words of Go's crypto/tls."""
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization

    try:
        public = x509.load_pem_x509_certificate(certificate).public_key()
    except ValueError:
        raise CommandError("tls: failed to find any PEM data in certificate input") from None
    try:
        mine = serialization.load_pem_private_key(key, password=None).public_key()
    except (ValueError, TypeError):
        raise CommandError("tls: failed to find any PEM data in key input") from None
    if type(mine) is not type(public):
        raise CommandError("tls: private key type does not match public key type")
    der = (serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    if mine.public_bytes(*der) != public.public_bytes(*der):
        raise CommandError("tls: private key does not match public key")
