"""Who a client says it is with each request: tokens of files and plugins are asked for anew when they are old (hop 01).

Source of the behaviour: client-go transport/round_trippers.go, token_source.go and rest/transport.go.
"""

from __future__ import annotations

import base64
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from multidict import CIMultiDict

from engine.client.auth_providers import Provider, provider_of
from engine.client.connection import Connection, KubeConfigError
from engine.client.exec_plugin import Authenticator, Credential
from engine.clock import Clock

_FILE_SECONDS = 60.0


class Credentials:
    """What a connection has to say who it is. Raises KubeConfigError for what cannot go together."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self._file = _TokenFile(connection.token_file, connection.token, clock) if connection.token_file else None
        self._fixed = Credential(connection.token)
        self._plugin: Authenticator | None = None
        self._provider: Provider | None = None
        if connection.plugin is not None:
            plugin = Authenticator(connection.plugin, clock)
            if not (connection.token or connection.username or connection.certificate is not None):
                self._plugin = plugin
        if connection.provider is not None:
            self._provider = provider_of(connection.provider, clock)
        if connection.username and connection.token:
            raise KubeConfigError("username/password or bearer token may be set, but not both")

    async def given(self) -> Credential:
        """What the next request is sent with. Raises ConnectionError."""
        if self._plugin is not None:
            try:
                return await self._plugin.credential()
            except KubeConfigError as error:
                raise ConnectionError(f"Unable to connect to the server: getting credentials: {error}") from error
        if self._file is not None:
            return Credential(self._file.token())
        if self._provider is not None and not self._fixed.token:
            return Credential(await self._provider.token())
        return self._fixed

    async def refused(self, given: Credential) -> None:
        """The server answered 401 to it: the next request is sent with something else, if there is."""
        if self._plugin is not None:
            try:
                await self._plugin.rotate(given)
            except KubeConfigError:
                return  # what was kept is kept, and the next request fails as this one did


class _TokenFile:
    """A token that may be written anew; where the file says nothing, it is what it was at first."""

    def __init__(self, file: Path, first: str, clock: Clock) -> None:
        self._file, self._clock = file, clock
        self._kept, self._until = first, 0.0

    def token(self) -> str:
        now = self._clock.monotonic()
        if now >= self._until:
            self._until = now + _FILE_SECONDS
            try:
                self._kept = self._file.read_text(errors="replace").strip() or self._kept
            except OSError:
                return self._kept
        return self._kept


def authorization(connection: Connection, given: Credential) -> CIMultiDict[str]:
    """The headers that say who one is, and as whom one acts."""
    headers: CIMultiDict[str] = CIMultiDict()
    if given.token:
        headers["authorization"] = f"Bearer {given.token}"
    elif pair := _basic(connection):
        headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    if connection.impersonate:
        headers["impersonate-user"] = connection.impersonate
    if connection.impersonate_uid:
        headers["impersonate-uid"] = connection.impersonate_uid
    for group in connection.impersonate_groups:
        headers.add("impersonate-group", group)
    for key, value in connection.impersonate_extra:
        headers.add(f"impersonate-extra-{quote(key, safe='')}", value)
    return headers


def _basic(connection: Connection) -> str:
    """From the kubeconfig, or from the server's URL."""
    if connection.username:
        return f"{connection.username}:{connection.password}"
    before, at, _ = urlsplit(connection.server).netloc.rpartition("@")
    user, _, password = before.partition(":")
    return f"{unquote(user)}:{unquote(password)}" if at else ""
