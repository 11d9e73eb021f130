"""The admission that a folder holds now.

Source: apiserver pkg/admission/plugin/{webhook,policy}/manifest/source. Upstream is told of changed files, and looks
once a minute besides; here whoever asks looks whether a file has changed, so that what holds is what stands there.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import NamedTuple

from engine.api.resources import ResourceRegistry
from engine.api.schema import Definitions
from engine.apiserver.admission.manifests.files import ManifestError, signature
from engine.apiserver.admission.manifests.loading import Loaded, Loader
from engine.apiserver.admission.manifests.metrics import ManifestMetrics

log = logging.getLogger(__name__)


class Reading(NamedTuple):
    """What is needed to read a folder."""

    definitions: Definitions
    resources: ResourceRegistry
    metrics: ManifestMetrics


class Manifests:
    """Of one plugin. A change that cannot be taken leaves what was there before."""

    def __init__(self, plugin: str, folder: Path, reading: Reading) -> None:
        """Raises ManifestError: a server does not start without what it is to hold to."""
        self._plugin = plugin
        self._folder = folder
        self._loader = Loader(plugin, reading.definitions, reading.resources)
        self._metrics = reading.metrics
        self._signature = signature(folder)
        self._loaded = self._loader.load(folder)
        self._metrics.loaded(plugin, self._loaded.hash)
        self._metrics.follow(lambda: self.loaded)

    @property
    def loaded(self) -> Loaded:
        found = signature(self._folder)
        if found != self._signature:
            self._signature = found
            self._reload()
        return self._loaded

    def _reload(self) -> None:
        try:
            loaded = self._loader.load(self._folder)
        except ManifestError as error:
            log.error("reloading admission manifest config of %s in %s: %s", self._plugin, self._folder, error)
            self._metrics.failed(self._plugin)
            return
        if loaded.hash != self._loaded.hash:
            self._loaded = loaded
            self._metrics.loaded(self._plugin, loaded.hash)
