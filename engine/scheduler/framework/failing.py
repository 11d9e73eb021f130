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


def failed_pre_flight(plugin: Plugin, status: Status) -> Status:
    if status.code is Code.ERROR:
        return error(f'running PreBindPreFlight "{plugin.name}": {status.message}')
    return error(
        f'PreBindPreFlight {plugin.name} returned "{status.code.label}", which is unsupported. '
        "It is supposed to return Success, Skip, or Error status"
    )


def raise_errors(plugin: FilterPlugin, verdicts: Verdicts) -> None:
    """Raises PluginError for the first node of which the plugin could not say whether it fits."""
    broken = [i for i, status in enumerate(verdicts.statuses) if not (status.ok or status.rejected)]
    if broken and len(found := np.flatnonzero(np.isin(verdicts.codes, broken))):
        raise_error(plugin, verdicts.statuses[verdicts.codes[found[0]]])


def raise_error(plugin: FilterPlugin, status: Status) -> None:
    """A filter may let a pod pass or reject it: whatever else it says is an error."""
    if not status.rejected:
        raise PluginError(f'running "{plugin.name}" filter plugin: {status.message}')


def check_bounds(plugin: str, scores: Scores) -> None:
    if len(scores) and (int(scores.min()) < 0 or int(scores.max()) > 100):
        bad = int(scores[np.flatnonzero((scores < 0) | (scores > 100))[0]])
        raise PluginError(
            f'applying score defaultWeights on Score plugins: plugin "{plugin}" returns an invalid score {bad}, '
            "it should in the range of [0, 100] after normalizing"
        )
