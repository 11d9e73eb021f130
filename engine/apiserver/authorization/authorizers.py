"""The authorizers that a file names, in its order; it is read again where it has changed (pkg/kubeapiserver/authorizer
config.go, reload.go). Whoever asks looks whether it has; what is not valid changes nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from engine.api.types import Object
from engine.apiserver.authorization.attributes import Attributes, Authorizer
from engine.apiserver.authorization.union import Authorization, PrivilegedGroups, UnionAuthorizer
from engine.apiserver.config_files import ConfigFileError, stamp_of
from engine.apiserver.metrics.reload_metrics import ReloadMetrics
from engine.apiserver.webhook_credentials import CredentialsError

log = logging.getLogger(__name__)

Make = Callable[[Object], Authorizer]  # of an authorizer of an AuthorizationConfiguration


class ConfiguredAuthorizers(UnionAuthorizer):
    def __init__(self, file: Path, make: Make, metrics: ReloadMetrics) -> None:
        """Raises ConfigFileError, CredentialsError."""
        self._file = file
        self._make = make
        self._metrics = metrics
        self._seen = stamp_of(self._file)
        self.types: Sequence[str] = ()
        super().__init__(self._read())

    async def authorize(self, attributes: Attributes) -> Authorization:
        self._follow_file()
        return await super().authorize(attributes)

    def _read(self) -> list[Authorizer]:
        from engine.apiserver.authorization.configuration import load_configuration  # with it comes CEL

        found = load_configuration(self._file)["authorizers"]
        made = [PrivilegedGroups(), *map(self._make, found)]
        self.types = tuple(each["type"] for each in found)
        self._metrics.applied(self._file.read_bytes())
        return made

    def _follow_file(self) -> None:
        if (stamp := stamp_of(self._file)) == self._seen:
            return
        self._seen = stamp
        try:
            self._authorizers = tuple(self._read())
        except (ConfigFileError, CredentialsError) as error:
            log.error("failed to reload authorization config: %s", error)
            self._metrics.reloaded(succeeded=False)
            return
        self._metrics.reloaded(succeeded=True)
        log.info("reloaded authorization config")
