"""What brings a role or a binding to grant at least what is expected of it, and at most, if that is wanted.

Source: component-helpers auth/rbac/reconciliation (computeReconciledRole, computeReconciledRoleBinding).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.api.rbac.coverage import uncovered
from engine.api.types import Object

AUTOUPDATE = "rbac.authorization.kubernetes.io/autoupdate"


@dataclass(slots=True)
class Plan:
    """What is to be written, why, and what it adds and takes away: rules of a role, subjects of a binding."""

    operation: str  # "create", "update" or "recreate"; "" for nothing to do
    object: Object
    missing: list[Object] = field(default_factory=list)
    extra: list[Object] = field(default_factory=list)
    protected: bool = False  # who keeps it wants no changes


def reconciled_role(expected: Object, live: Object | None, *, remove: bool = False) -> Plan:
    """With `remove`, what it grants beyond what is expected goes."""
    wanted = list(expected.get("rules") or ())
    if live is None:
        return Plan("create", expected, wanted)
    known = list(live.get("rules") or ())
    made, own, asked = _with_metadata(expected, live), live.get("aggregationRule"), expected.get("aggregationRule")
    missing = uncovered(known, wanted)
    extra = uncovered(wanted, known) if own is None or asked is None else []
    if remove and (missing or extra):
        made["rules"] = wanted
    elif missing:
        made["rules"] = [*known, *missing]
    lacks, has = _selectors_beyond(own, asked), _selectors_beyond(asked, own)
    if asked is None:
        made.pop("aggregationRule", None)
    elif remove and (lacks or has):
        made["aggregationRule"] = asked
    elif lacks:
        made["aggregationRule"] = {"clusterRoleSelectors": [*_selectors(own), *lacks]}
    return Plan("update" if made != live else "", made, missing, extra, _is_protected(live))


def reconciled_binding(expected: Object, live: Object | None, *, remove: bool = False) -> Plan:
    """Whose role is another is made anew: a binding keeps its role. With `remove`, subjects beyond those that are
    expected go."""
    wanted = list(expected.get("subjects") or ())
    if live is None:
        return Plan("create", expected, wanted)
    if live.get("roleRef") != expected.get("roleRef"):
        return Plan("recreate", expected, protected=_is_protected(live))
    known = list(live.get("subjects") or ())
    made = _with_metadata(expected, live)
    missing, extra = _beyond(wanted, known), _beyond(known, wanted)
    if remove and (missing or extra):
        made["subjects"] = wanted
    elif missing:
        made["subjects"] = [*known, *missing]
    return Plan("update" if made != live else "", made, missing, extra, _is_protected(live))


def _is_protected(live: Object) -> bool:
    return bool((live["metadata"].get("annotations") or {}).get(AUTOUPDATE) == "false")


def _with_metadata(expected: Object, live: Object) -> Object:
    """The live object with the labels and annotations that are expected, too; its own values stay."""
    metadata = dict(live["metadata"])
    for kind in ("labels", "annotations"):
        if together := {**(expected["metadata"].get(kind) or {}), **(metadata.get(kind) or {})}:
            metadata[kind] = together
    return {**live, "metadata": metadata}


def _selectors(rule: Object | None) -> list[Object]:
    return list((rule or {}).get("clusterRoleSelectors") or ())


def _selectors_beyond(own: Object | None, asked: Object | None) -> list[Object]:
    """Those that a rule asks for which the other does not have."""
    return [selector for selector in _selectors(asked) if selector not in _selectors(own)]


def _beyond(some: Sequence[Object], others: Sequence[Object]) -> list[Object]:
    """Each of those that are not among the others, once."""
    return [each for index, each in enumerate(some) if each not in others and each not in some[:index]]
