"""The order of groups and versions in discovery, which goes by the priorities of their APIServices.

A group comes as early as the highest priority among its versions says; the aggregator's own group is before all others.
A version that an APIService gives to another server is that server's, whoever else has it. Sources: kube-aggregator
pkg/apis/apiregistration/v1/helper (SortedByGroupAndVersion), apiserver pkg/endpoints/discovery/aggregated/handler.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from engine.api.api_services import local_priority, name_of
from engine.api.resources import Priority, ResourceRegistry, version_order

_FIRST = "apiregistration.k8s.io"


class ListedGroup(NamedTuple):
    """A group and its versions, the preferred one first."""

    name: str
    versions: tuple[str, ...]


def legacy_order(registry: ResourceRegistry) -> list[ListedGroup]:
    """As `/apis` lists them: of groups with one priority the one whose APIService has the first name comes first."""
    return _ordered(registry, by_service=True)


def aggregated_order(registry: ResourceRegistry) -> list[ListedGroup]:
    """As the aggregated document lists them: of groups with one priority the one with the first name comes first."""
    return _ordered(registry, by_service=False)


def _ordered(registry: ResourceRegistry, *, by_service: bool) -> list[ListedGroup]:
    built_in = {info.gvr[:2] for info in registry if not info.custom}
    groups: dict[str, dict[str, Priority]] = {}
    for listed in (registry.groups, registry.elsewhere):
        for group, versions in listed.items():
            for version in versions if group else ():
                usual = local_priority(group, version, custom=(group, version) not in built_in)
                place = registry.priorities.get((group, version), usual)
                groups.setdefault(group, {})[version] = place
    places = {group: _place(group, versions, by_service=by_service) for group, versions in groups.items()}
    return [ListedGroup(group, _by_priority(groups[group])) for group in sorted(groups, key=places.__getitem__)]


def _place(group: str, versions: Mapping[str, Priority], *, by_service: bool) -> tuple[bool, int, str]:
    highest = max(priority.group for priority in versions.values())
    named = min(name_of(group, version) for version, priority in versions.items() if priority.group == highest)
    return group != _FIRST, -highest, named if by_service else group


def _by_priority(versions: Mapping[str, Priority]) -> tuple[str, ...]:
    return tuple(sorted(versions, key=lambda version: (-versions[version].version, version_order(version))))
