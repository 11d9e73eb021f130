"""How an attempt ends where a plugin broke: upstream's words for it (framework/runtime)."""

from __future__ import annotations

import numpy as np

from engine.scheduler.framework.plugin import FilterPlugin, Plugin, Scores
from engine.scheduler.framework.status import Code, PluginError, Status, error
from engine.scheduler.framework.verdicts import Verdicts


def failed(point: str, plugin: Plugin, status: Status) -> Status:
    if status.rejected:
        return status.by(plugin.name)
    return error(f'running {point} plugin "{plugin.name}": {status.message}')


def raise_errors(plugin: FilterPlugin, verdicts: Verdicts) -> None:
    """Raises PluginError for the first node of which the plugin could not say whether it fits."""
    broken = [i for i, status in enumerate(verdicts.statuses) if status.code is Code.ERROR]
    if broken and len(found := np.flatnonzero(np.isin(verdicts.codes, broken))):
        raise_error(plugin, verdicts.statuses[verdicts.codes[found[0]]])


def raise_error(plugin: FilterPlugin, status: Status) -> None:
    if status.code is Code.ERROR:
        raise PluginError(f'running "{plugin.name}" filter plugin: {status.message}')


def check_bounds(plugin: str, scores: Scores) -> None:
    if len(scores) and (int(scores.min()) < 0 or int(scores.max()) > 100):
        bad = int(scores[np.flatnonzero((scores < 0) | (scores > 100))[0]])
        raise PluginError(
            f'applying score defaultWeights on Score plugins: plugin "{plugin}" returns an invalid score {bad}, '
            "it should in the range of [0, 100] after normalizing"
        )
