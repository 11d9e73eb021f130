"""Extenders in the scheduling cycle: after the filters, and beside the scores (schedule_one.go).

An extender that cannot be reached fails the attempt, unless it is ignorable; one that cannot score is left out.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np

from engine.scheduler.cache.snapshot import Rows, Snapshot
from engine.scheduler.cycle.feasible import Search
from engine.scheduler.extenders.extender import EXTENDER_NAME, MAX_EXTENDER_PRIORITY, Extender, ExtenderError
from engine.scheduler.framework.plugin import MAX_NODE_SCORE
from engine.scheduler.framework.runtime import ScoreColumn
from engine.scheduler.framework.status import SUCCESS, Status, error, unresolvable, unschedulable
from engine.scheduler.pod_info import PodInfo

log = logging.getLogger(__name__)


async def filter_by_extenders(
    extenders: Sequence[Extender], search: Search, pod: PodInfo, snapshot: Snapshot
) -> Status | None:
    """Take from the search's feasible nodes those that an extender rejects; an error if one fails."""
    rejected: dict[str, Status] = {}
    before = len(search.feasible)
    for extender in extenders:
        if not len(search.feasible):
            break
        if not extender.filters or not extender.interested_in(pod):
            continue
        try:
            said = await extender.filter(pod, [snapshot.nodes[row] for row in search.feasible.tolist()])
        except ExtenderError as failure:
            if extender.ignorable:
                log.warning("skipped extender %s, which is ignorable: %s", extender.name, failure)
                continue
            return error(str(failure))
        rejected |= {name: unresolvable(why).by(EXTENDER_NAME) for name, why in said.unresolvable.items()}
        for name, why in said.failed.items():
            if name not in said.unresolvable:
                rejected[name] = unschedulable(why).by(EXTENDER_NAME)
        passed = set(said.passed)
        search.feasible = np.array([r for r in search.feasible.tolist() if snapshot.names[r] in passed], np.intp)
    search.statuses |= {name: status for name, status in rejected.items() if name in snapshot.rows}
    if len(search.feasible) != before:
        search.diagnosis.unschedulable_plugins[EXTENDER_NAME] = None
    return None


async def score_by_extenders(
    extenders: Sequence[Extender], pod: PodInfo, snapshot: Snapshot, rows: Rows
) -> list[ScoreColumn]:
    """A column for each extender that scores, brought to the scale of the plugins."""
    columns = []
    for extender in extenders:
        if not extender.prioritizes or not extender.interested_in(pod):
            continue
        try:
            scores = await extender.prioritize(pod, [snapshot.nodes[row] for row in rows.tolist()])
        except ExtenderError as failure:
            log.warning("no score of extender %s: %s", extender.name, failure)
            continue
        raw = np.array([scores.get(snapshot.names[row], 0) for row in rows.tolist()], np.int64)
        scaled = raw * (MAX_NODE_SCORE // MAX_EXTENDER_PRIORITY)
        columns.append(ScoreColumn(f"{EXTENDER_NAME} {extender.name}", extender.weight, raw, scaled))
    return columns


async def bind_by_extender(extenders: Sequence[Extender], pod: PodInfo, node_name: str) -> Status | None:
    """Let the extender bind that does so; None where none does, and the bind plugins shall."""
    for extender in extenders:
        if not extender.binds or not extender.interested_in(pod):
            continue
        try:
            await extender.bind(pod, node_name)
        except ExtenderError as failure:
            if extender.ignorable:
                log.warning("skipped binding by extender %s, which is ignorable: %s", extender.name, failure)
                continue
            return error(str(failure))
        return SUCCESS
    return None
