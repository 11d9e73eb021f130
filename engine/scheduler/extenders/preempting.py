"""Extenders in preemption: they may strike out candidates and change their victims (callExtenders)."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from engine.scheduler.cache.snapshot import Snapshot
from engine.scheduler.extenders.extender import Extender, ExtenderError, Victims
from engine.scheduler.plugins.candidates import Candidate
from engine.scheduler.plugins.preemption import by_importance
from engine.scheduler.pod_info import PodInfo

log = logging.getLogger(__name__)


async def ask_about_victims(
    extenders: Sequence[Extender], pod: PodInfo, candidates: list[Candidate], snapshot: Snapshot
) -> list[Candidate]:
    """The candidates that are left. Raises ExtenderError if an extender fails that is not ignorable."""
    for extender in extenders:
        if not candidates:
            break
        if not extender.preempts or not extender.interested_in(pod):
            continue
        victims = {candidate.node: candidate.victims for candidate in candidates}
        violations = {candidate.node: candidate.violations for candidate in candidates}
        try:
            left = await extender.preempt(pod, victims, violations)
            candidates = [
                made for node, said in left.items() if (made := _candidate(extender, node, said, snapshot)) is not None
            ]
        except ExtenderError as failure:
            if not extender.ignorable:
                raise
            log.warning("skipped extender %s, which is ignorable: %s", extender.name, failure)
    return candidates


def _candidate(extender: Extender, node_name: str, said: Victims, snapshot: Snapshot) -> Candidate | None:
    node = snapshot.get(node_name)
    if node is None:
        raise ExtenderError(f'nodeinfo not found for node name "{node_name}"')
    if not said.uids:
        if extender.ignorable:
            return None
        raise ExtenderError(f'expected at least one victim pod on node "{node_name}"')
    missing = next((uid for uid in said.uids if uid not in node.pods), None)
    if missing is not None:
        raise ExtenderError(
            f"extender: {extender.name} claims to preempt pod (UID: {missing}) on node: {node_name}, "
            "but the pod is not found on that node"
        )
    return Candidate(node_name, tuple(by_importance(node.pods[uid] for uid in said.uids)), said.violations)
