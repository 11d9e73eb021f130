"""Remedies for what a node lacks that only its drivers or its kubelet can offer."""

from __future__ import annotations

from engine.api.types import Object
from engine.scheduler.devices.requests import devices_of
from engine.scheduler.plugins.claim_state import ClaimState
from engine.scheduler.plugins.node_declared_features import FeatureState, declared_features
from engine.scheduler.plugins.resource_claims import allocation_of, reaches, users_of
from engine.scheduler.whatif.remedies.remedy import ANOTHER, EDIT_NODE, MOVE_PODS, Question, Remedy, names_text


def of_features(question: Question) -> list[Remedy]:
    required = question.state.read(question.plugin.name, FeatureState).required
    missing = sorted(required - set(declared_features(question.node.node)))
    text = f"run a kubelet on {question.node.name} that declares {names_text(missing)}"
    return [question.remedy(text, {"declareFeatures": missing}, ANOTHER)]


def of_claims(question: Question) -> list[Remedy]:
    """Each claim that gets no devices here, or whose devices are elsewhere."""
    kept, name = question.state.read(question.plugin.name, ClaimState), question.node.name
    remedies = []
    for claim in kept.to_allocate(name):
        wanted = names_text([_request_text(request) for request in devices_of(claim).get("requests") or ()])
        text = f"free or add devices in reach of {name}: {_claim_text(claim)} asks for {wanted}"
        remedies.append(question.remedy(text, {"devicesFor": claim["metadata"]["name"]}, EDIT_NODE))
    there = question.node.node or {"metadata": {"name": name}}
    for claim in kept.claims:
        if allocation_of(claim) is not None and not reaches(claim, there):
            users = [user.get("name", "") for user in users_of(claim)]
            who = f": stop {names_text(users)}" if users else ""
            text = f"give up the devices of {_claim_text(claim)}, which {name} does not reach{who}"
            remedies.append(question.remedy(text, {"deallocate": claim["metadata"]["name"]}, MOVE_PODS))
    return remedies


def _claim_text(claim: Object) -> str:
    own = claim["metadata"].get("generateName")
    return "the claim for extended resources" if own else f"claim {claim['metadata']['name']}"


def _request_text(request: Object) -> str:
    """What a request asks for, or each of its alternatives."""
    ways = request.get("firstAvailable") or [request.get("exactly") or {}]
    return " or ".join(f"{_count_text(way)} of class {way.get('deviceClassName')}" for way in ways)


def _count_text(way: Object) -> str:
    return "all" if way.get("allocationMode") == "All" else str(way.get("count") or 1)
