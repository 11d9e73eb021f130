"""Do rules grant what other rules grant (component-helpers auth/rbac/validation: BreakdownRule, Covers)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from engine.api.types import Object

_ALL = "*"


def uncovered(owned: Sequence[Object], rules: Iterable[Object]) -> list[Object]:
    """Of the rules, each taken apart, what none of `owned` grants."""
    beyond = (simple for rule in rules if rule not in owned for simple in simple_rules(rule))
    return [simple for simple in beyond if not any(_covers(own, simple) for own in owned)]


def simple_rules(rule: Object) -> Iterator[Object]:
    """A rule as rules of one verb, one group, one resource and one name each."""
    verbs = rule.get("verbs") or ()
    for group, resource, verb in product(rule.get("apiGroups") or (), rule.get("resources") or (), verbs):
        base = {"verbs": [verb], "apiGroups": [group], "resources": [resource]}
        names = rule.get("resourceNames")
        yield from ({**base, "resourceNames": [name]} for name in names) if names else (base,)
    for url, verb in product(rule.get("nonResourceURLs") or (), verbs):
        yield {"verbs": [verb], "nonResourceURLs": [url]}


def _covers(owned: Object, simple: Object) -> bool:
    if not _has(owned, simple, "verbs"):
        return False
    if urls := simple.get("nonResourceURLs"):
        return any(_covers_url(own, urls[0]) for own in owned.get("nonResourceURLs") or ())
    if not _has(owned, simple, "apiGroups") or not _covers_resource(owned, simple["resources"][0]):
        return False
    names, wanted = owned.get("resourceNames"), simple.get("resourceNames")
    return not names or (wanted is not None and wanted[0] in names)


def _has(owned: Object, simple: Object, field: str) -> bool:
    have = owned.get(field) or ()
    return _ALL in have or simple[field][0] in have


def _covers_url(own: str, url: str) -> bool:
    return own == url or (own.endswith(_ALL) and url.startswith(own.rstrip(_ALL)))


def _covers_resource(owned: Object, resource: str) -> bool:
    have = owned.get("resources") or ()
    subresource = resource.partition("/")[2]
    return _ALL in have or resource in have or bool(subresource and f"{_ALL}/{subresource}" in have)
