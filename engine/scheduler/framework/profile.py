"""Profiles: which plugins serve the pods of one schedulerName, with which weights and arguments.

Source: upstream's pkg/scheduler/apis/config/v1/default_plugins.go (the multi-point list of the default profile).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from engine.scheduler.pod_info import DEFAULT_SCHEDULER_NAME


class EnabledPlugin(NamedTuple):
    """A plugin at the extension points that it implements, or at those of `points` alone (`Filter`, `Score`, ...)."""

    name: str
    weight: int = 1
    points: frozenset[str] | None = None

    def serves(self, point: str) -> bool:
        return self.points is None or point in self.points


DYNAMIC_RESOURCES = "DynamicResources"
NODE_DECLARED_FEATURES = "NodeDeclaredFeatures"

# The order is that of upstream: filters reject in it, so it decides whose reason a node gets.
DEFAULT_PLUGINS = (
    EnabledPlugin("SchedulingGates"),
    EnabledPlugin("PrioritySort"),
    EnabledPlugin("NodeUnschedulable"),
    EnabledPlugin("NodeName"),
    EnabledPlugin("TaintToleration", 3),
    EnabledPlugin("NodeAffinity", 2),
    EnabledPlugin("NodePorts"),
    EnabledPlugin("NodeResourcesFit"),
    EnabledPlugin("VolumeRestrictions"),
    EnabledPlugin("NodeVolumeLimits"),
    EnabledPlugin("VolumeBinding"),
    EnabledPlugin("VolumeZone"),
    EnabledPlugin("PodTopologySpread", 2),
    EnabledPlugin("InterPodAffinity", 2),
    EnabledPlugin(DYNAMIC_RESOURCES, 2),
    EnabledPlugin("DefaultPreemption"),
    EnabledPlugin("NodeResourcesBalancedAllocation"),
    EnabledPlugin("ImageLocality"),
    EnabledPlugin("DefaultBinder"),
    EnabledPlugin(NODE_DECLARED_FEATURES),
)


def at_least(version: str, minor: int) -> bool:
    """Whether a Kubernetes version (`v1.34.1`; "" is the newest) is 1.`minor` or newer."""
    numbers = version.removeprefix("v").split(".")[:2]
    return not version or tuple(int(number) for number in numbers) >= (1, minor)


def has_dynamic_resources(version: str) -> bool:
    """Whether a version has dynamic resource allocation without asking."""
    return at_least(version, 34)


def has_taint_rules(version: str) -> bool:
    """Whether a version serves DeviceTaintRules and heeds them."""
    return at_least(version, 37)


def announces_nodes(version: str) -> bool:
    """Whether a version's scheduler sets nominatedNodeName before it binds (NominatedNodeNameForExpectation)."""
    return at_least(version, 35)


def declares_features(version: str) -> bool:
    """Whether nodes of a version say in their status what they can do (NodeDeclaredFeatures)."""
    return at_least(version, 36)


@dataclass(frozen=True, slots=True)
class Profile:
    """`percentage_of_nodes_to_score` 0 adapts to the number of nodes."""

    scheduler_name: str = DEFAULT_SCHEDULER_NAME
    plugins: tuple[EnabledPlugin, ...] = DEFAULT_PLUGINS
    plugin_args: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    percentage_of_nodes_to_score: int = 0

    def for_version(self, version: str) -> Profile:
        """Less the plugins that a Kubernetes version does not have."""
        without = {name for name, has in _SINCE.items() if not has(version)}
        if not without:
            return self
        return replace(self, plugins=tuple(p for p in self.plugins if p.name not in without))


# Plugins that an older version has not, or not without asking.
_SINCE: dict[str, Callable[[str], bool]] = {
    DYNAMIC_RESOURCES: has_dynamic_resources,
    NODE_DECLARED_FEATURES: declares_features,
}
