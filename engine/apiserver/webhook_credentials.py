"""Whom webhooks are asked as: the users of a kubeconfig, by the names of the webhooks' servers.

Source: apiserver pkg/util/webhook authentication.go, client.go (ClientConfigFor); client-go transport/round_trippers.go
for the headers. Without a kubeconfig, and where none of its users is for a server, webhooks are asked by nobody.
"""

from __future__ import annotations

import ssl
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from urllib.parse import quote

from engine.api.golang.forms import STRING, Map, Struct, UnmarshalError, check
from engine.api.golang.yaml import YamlError, load
from engine.api.types import Object

_HTTPS = "443"
_PATHS = ("client-certificate", "client-key", "tokenFile")
_USER = Struct(
    "AuthInfo",
    {
        **dict.fromkeys(
            (*_PATHS, "client-certificate-data", "client-key-data", "token", "username", "password"), STRING
        ),
        "as": STRING,
        "as-uid": STRING,
        "as-groups": [STRING],
        "as-user-extra": Map([STRING]),
    },
)
_CONTEXT = Struct("Context", {"user": STRING})
_CONFIG = Struct(
    "Config",
    {
        "current-context": STRING,
        "users": [Struct("NamedAuthInfo", {"name": STRING, "user": _USER})],
        "contexts": [Struct("NamedContext", {"name": STRING, "context": _CONTEXT})],
    },
)


class CredentialsError(Exception):
    """A kubeconfig that cannot be read, or a user of it that nobody can be."""


class Credentials:
    def __init__(self, file: Path | None = None) -> None:
        """Raises CredentialsError."""
        config = _read(file) if file is not None else {}
        self._folder = file.parent if file is not None else Path()
        self._users: dict[str, Object] = {each["name"]: each.get("user") or {} for each in config.get("users") or ()}
        contexts = {each["name"]: each.get("context") or {} for each in config.get("contexts") or ()}
        self._current = (contexts.get(config.get("current-context") or "") or {}).get("user") or ""

    def user(self, server: str) -> User | None:
        """Who is for a server, `HOST:PORT`. Raises CredentialsError."""
        found = next((each for each in self._names(server) if each in self._users), None)
        return User(self._users[found], self._folder) if found is not None else None

    def current(self) -> User | None:
        """Who is meant where only one server is asked. Raises CredentialsError."""
        return User(self._users[self._current], self._folder) if self._current in self._users else None

    def _names(self, server: str) -> Iterator[str]:
        yield from _patterns(server)
        host, _, port = server.rpartition(":")
        if port == _HTTPS:
            yield from _patterns(host.removeprefix("[").removesuffix("]"))
        yield from ("*", self._current)


def _patterns(server: str) -> Iterator[str]:
    """The name itself, and those with a star for its first parts."""
    yield server
    parts = server.split(".")
    for place in range(1, len(parts)):
        yield f"*.{'.'.join(parts[place:])}"


class User:
    """One of a kubeconfig."""

    def __init__(self, said: Object, folder: Path) -> None:
        """Raises CredentialsError."""
        if said.get("auth-provider") is not None:
            raise CredentialsError("auth provider not supported")
        self._said = {**said, **{name: str(folder / said[name]) for name in _PATHS if said.get(name)}}
        token = self._token()
        if token and (said.get("username") or said.get("password")):
            raise CredentialsError("username/password or bearer token may be set, but not both")
        self._secret = token

    def _token(self) -> str:
        if self._said.get("token") or not self._said.get("tokenFile"):
            return str(self._said.get("token") or "")
        file = Path(self._said["tokenFile"])
        try:
            return file.read_text().strip()
        except OSError as error:
            raise CredentialsError(f"open {file}: {(error.strerror or str(error)).lower()}") from error

    def headers(self) -> list[tuple[str, str]]:
        said, found = self._said, list[tuple[str, str]]()
        if said.get("username") or said.get("password"):
            both = f"{said.get('username') or ''}:{said.get('password') or ''}"
            found.append(("authorization", f"Basic {b64encode(both.encode()).decode()}"))
        elif self._secret:
            found.append(("authorization", f"Bearer {self._secret}"))
        if said.get("as"):
            found.append(("impersonate-user", said["as"]))
            found += [("impersonate-uid", said["as-uid"])] if said.get("as-uid") else []
            found += [("impersonate-group", group) for group in said.get("as-groups") or ()]
            extra: dict[str, list[str]] = said.get("as-user-extra") or {}
            found += [(f"impersonate-extra-{quote(key)}", one) for key, values in extra.items() for one in values]
        return found

    def certify(self, context: ssl.SSLContext) -> None:
        """Show the user's certificate where the server asks for one. Raises CredentialsError."""
        try:
            certificate, key = self._part("client-certificate"), self._part("client-key")
            if certificate:
                show_certificate(context, certificate, key)
        except (OSError, ValueError) as error:
            raise CredentialsError(f"tls: {error}") from error

    def _part(self, name: str) -> bytes:
        if data := self._said.get(f"{name}-data"):
            return b64decode(data)
        return Path(self._said[name]).read_bytes() if self._said.get(name) else b""


def show_certificate(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Show a certificate (PEM) where a server asks for one. Raises OSError (ssl.SSLError is one) or ValueError for
    what is none with its key."""
    with NamedTemporaryFile() as file:  # the only way in which Python takes them
        file.write(certificate + b"\n" + key)
        file.flush()
        context.load_cert_chain(file.name)


def _read(file: Path) -> Any:
    try:
        text = file.read_bytes()
    except OSError as error:
        raise CredentialsError(f"stat {file}: {(error.strerror or str(error)).lower()}") from error
    try:
        config = load(text)
        check(config, _CONFIG)
    except (YamlError, UnmarshalError) as error:
        raise CredentialsError(f'error loading config file "{file}": {error}') from error
    return config or {}
