"""All issuers of a configuration, which is read again where its file has changed (pkg/kubeapiserver/options
authentication.go). Whoever asks looks whether it has; one that is not valid changes nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence
from pathlib import Path

from engine.api.types import Object
from engine.api.wire import Request
from engine.apiserver.authentication.bearer import bearer_token
from engine.apiserver.authentication.jwt.authenticator import JwtAuthenticator
from engine.apiserver.authentication.jwt.configuration import load_configuration
from engine.apiserver.authentication.jwt.metrics import JwtMetrics
from engine.apiserver.authentication.jwt.provider import Token
from engine.apiserver.authentication.remarks import Remarks
from engine.apiserver.authentication.token_error import RefusedTokenError, TokenError
from engine.apiserver.authentication.user import UserInfo
from engine.apiserver.config_files import ConfigFileError, stamp_of
from engine.apiserver.handshake import offered_token
from engine.apiserver.metrics.reload_metrics import ReloadMetrics
from engine.clock import Clock
from engine.tasks import Supervisor

log = logging.getLogger(__name__)

_AGAIN = 10.0  # seconds until an issuer that did not answer is asked again


class JwtAuthenticators:
    name = "JWT"

    def __init__(
        self,
        found: Object,
        clock: Clock,
        algorithms: Collection[str],
        *,
        file: Path | None,
        issuers: Sequence[str],
        metrics: ReloadMetrics,
        identity: str,
    ) -> None:
        """`file` is where the configuration stands, None for one that flags say."""
        self._clock = clock
        self._algorithms = algorithms
        self._file = file
        self._issuers = issuers
        self._metrics = metrics
        self.metrics = JwtMetrics(identity)
        self._anonymous = found.get("anonymous")
        self._tasks: Supervisor | None = None
        self._starting: list[asyncio.Task[None]] = []
        self._seen = stamp_of(file) if file is not None else (0, 0)
        self._authenticators = self._made(found)
        if file is not None:
            self._metrics.applied(file.read_bytes())

    def start(self, tasks: Supervisor) -> None:
        """Begin to ask the issuers where their keys are."""
        self._tasks = tasks
        self._initialize()

    async def authenticate(self, request: Request, remarks: Remarks) -> UserInfo | None:
        """Raises RefusedTokenError for a token of a known issuer that is not good."""
        self._follow_file()
        text = bearer_token(request.headers.get("authorization", ""), Remarks()) or offered_token(request)
        token = Token.parse(text) if text else None
        if token is None or (found := self._authenticators.get(token.issuer)) is None:
            return None
        try:
            return await found.examine(token)
        except TokenError as error:
            log.info("Unable to authenticate the request: %s", error)
            raise RefusedTokenError(str(error)) from None

    def _made(self, found: Object) -> dict[str, JwtAuthenticator]:
        listed = found.get("jwt") or ()
        return {
            each["issuer"]["url"]: JwtAuthenticator(each, self._clock, self._algorithms, self.metrics)
            for each in listed
        }

    def _initialize(self) -> None:
        for task in self._starting:
            task.cancel()
        if self._tasks is None or self._tasks.closed:
            return
        waiting = [each for each in self._authenticators.values() if not each.provider.is_ready]
        self._starting = [self._tasks.spawn(self._until_ready(each), "jwt authenticator") for each in waiting]

    async def _until_ready(self, authenticator: JwtAuthenticator) -> None:
        while not await authenticator.provider.initialize():
            log.warning("oidc authenticator: initializing plugin: %s", authenticator.provider.problem)
            await self._clock.sleep(_AGAIN)

    # -- the file

    def _follow_file(self) -> None:
        if self._file is None or (stamp := stamp_of(self._file)) == self._seen:
            return
        self._seen = stamp
        try:
            found = load_configuration(self._file, issuers=self._issuers)
            if found.get("anonymous") != self._anonymous:
                raise ConfigFileError("anonymous: Forbidden: changed from initial configuration file")
        except ConfigFileError as error:
            log.error("failed to load authentication config: %s", error)
            self._metrics.reloaded(succeeded=False)
            return
        self._authenticators = self._made(found)
        self._initialize()
        self._metrics.applied(self._file.read_bytes())
        self._metrics.reloaded(succeeded=True)
        log.info("reloaded authentication config")
