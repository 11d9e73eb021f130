"""pluginConfig: the arguments of each plugin, with their defaults and rules.

Source: kube-scheduler/config/v1 (types_pluginargs.go), apis/config/v1/defaults.go and
apis/config/validation/validation_pluginargs.go. What is checked is upstream's, texts included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.api.errors import (
    Cause,
    field_duplicate,
    field_forbidden,
    field_invalid,
    field_not_supported,
    field_required,
)
from engine.api.golang.duration import parse_duration
from engine.api.label_syntax import label_key_errors
from engine.api.types import Object
from engine.scheduler.configuration.fields import ANY, BOOL, DURATION, INT32, INT64, STRING, Struct
from engine.scheduler.configuration.node_selectors import added_affinity_problems
from engine.scheduler.plugins.storage_scoring import DEFAULT_SHAPE

_RESOURCES = [Struct("ResourceSpec", {"name": STRING, "weight": INT64})]
_SHAPE = [Struct("UtilizationShapePoint", {"utilization": INT32, "score": INT32})]
_SCORING = Struct(
    "ScoringStrategy",
    {
        "type": STRING,
        "resources": _RESOURCES,
        "requestedToCapacityRatio": Struct("RequestedToCapacityRatioParam", {"shape": _SHAPE}),
    },
)
_CONSTRAINT = Struct(
    "TopologySpreadConstraint",
    {
        "maxSkew": INT32,
        "topologyKey": STRING,
        "whenUnsatisfiable": STRING,
        "labelSelector": ANY,
        "minDomains": INT32,
        "nodeAffinityPolicy": STRING,
        "nodeTaintsPolicy": STRING,
        "matchLabelKeys": [STRING],
    },
)
_REQUIREMENTS = [Struct("NodeSelectorRequirement", {"key": STRING, "operator": STRING, "values": [STRING]})]
_TERM = Struct("NodeSelectorTerm", {"matchExpressions": _REQUIREMENTS, "matchFields": _REQUIREMENTS})
_NODE_AFFINITY = Struct(
    "NodeAffinity",
    {
        "requiredDuringSchedulingIgnoredDuringExecution": Struct("NodeSelector", {"nodeSelectorTerms": [_TERM]}),
        "preferredDuringSchedulingIgnoredDuringExecution": [
            Struct("PreferredSchedulingTerm", {"weight": INT32, "preference": _TERM})
        ],
    },
)
_FIELDS: dict[str, dict[str, Any]] = {
    "DefaultPreemption": {"minCandidateNodesPercentage": INT32, "minCandidateNodesAbsolute": INT32},
    "InterPodAffinity": {"hardPodAffinityWeight": INT32, "ignorePreferredTermsOfExistingPods": BOOL},
    "NodeAffinity": {"addedAffinity": _NODE_AFFINITY},
    "NodeResourcesBalancedAllocation": {"resources": _RESOURCES},
    "NodeResourcesFit": {
        "ignoredResources": [STRING],
        "ignoredResourceGroups": [STRING],
        "scoringStrategy": _SCORING,
    },
    "PodTopologySpread": {"defaultConstraints": [_CONSTRAINT], "defaultingType": STRING},
    "VolumeBinding": {"bindTimeoutSeconds": INT64, "shape": _SHAPE},
    "DynamicResources": {"filterTimeout": DURATION, "bindingTimeout": DURATION},
}
FORMS = {name: Struct(f"{name}Args", fields) for name, fields in _FIELDS.items()}

_DEFAULT_RESOURCES: list[Object] = [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]
_STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
_RATIO = "RequestedToCapacityRatio"


def _weighed(resources: Sequence[Object] | None) -> list[Object]:
    """A weight that is left out, or 0, is 1."""
    return [{**item, "weight": item.get("weight") or 1} for item in resources or _DEFAULT_RESOURCES]


def defaulted(name: str, args: Object) -> Object:
    """The arguments with what they leave out."""
    match name:
        case "DefaultPreemption":
            return {"minCandidateNodesPercentage": 10, "minCandidateNodesAbsolute": 100, **args}
        case "InterPodAffinity":
            return {"hardPodAffinityWeight": 1, **args}
        case "VolumeBinding":
            return {"bindTimeoutSeconds": 600, **args, "shape": args.get("shape") or DEFAULT_SHAPE}
        case "DynamicResources":
            return {"filterTimeout": "10s", "bindingTimeout": "600s", **args}
        case "PodTopologySpread":
            return {**args, "defaultingType": args.get("defaultingType") or "System"}
        case "NodeResourcesBalancedAllocation":
            return {**args, "resources": _weighed(args.get("resources"))}
        case "NodeResourcesFit":
            strategy = args.get("scoringStrategy") or {"type": "LeastAllocated"}
            return {**args, "scoringStrategy": {**strategy, "resources": _weighed(strategy.get("resources"))}}
        case _:
            return dict(args)


# -- rules


def _out_of_range(value: int, low: int, high: int, path: str) -> list[Cause]:
    return [] if low <= value <= high else [field_invalid(path, value, f"not in valid range [{low}, {high}]")]


def _preemption(args: Object, path: str) -> list[Cause]:
    share, count = args["minCandidateNodesPercentage"], args["minCandidateNodesAbsolute"]
    of_share, of_count = f"{path}.minCandidateNodesPercentage", f"{path}.minCandidateNodesAbsolute"
    causes = _out_of_range(share, 0, 100, of_share)
    if count < 0:
        causes.append(field_invalid(of_count, count, "not in valid range [0, inf)"))
    if not share and not count:
        same = "cannot be zero at the same time as"
        causes.append(field_invalid(of_share, share, f"{same} minCandidateNodesAbsolute"))
        causes.append(field_invalid(of_count, count, f"{same} minCandidateNodesPercentage"))
    return causes


def _inter_pod_affinity(args: Object, path: str) -> list[Cause]:
    return _out_of_range(args["hardPodAffinityWeight"], 0, 100, f"{path}.hardPodAffinityWeight")


def _node_affinity(args: Object, path: str) -> list[Cause]:
    return added_affinity_problems(args.get("addedAffinity") or {}, f"{path}.addedAffinity")


def _shape(points: Sequence[Object] | None, path: str) -> list[Cause]:
    if not points:
        return [field_required(path, "at least one point must be specified")]
    causes = []
    utilizations = [point.get("utilization", 0) for point in points]
    for i in range(1, len(points)):
        if utilizations[i - 1] >= utilizations[i]:
            at = f"{path}[{i}].utilization"
            causes.append(field_invalid(at, utilizations[i], "values must be sorted in increasing order"))
            break
    for i, point in enumerate(points):
        causes += _out_of_range(utilizations[i], 0, 100, f"{path}[{i}].utilization")
        causes += _out_of_range(point.get("score", 0), 0, 10, f"{path}[{i}].score")
    return causes


def _fit(args: Object, path: str) -> list[Cause]:
    causes = []
    for i, name in enumerate(args.get("ignoredResources") or ()):
        causes += _label_name(name, f"{path}.ignoredResources[{i}]")
    for i, group in enumerate(args.get("ignoredResourceGroups") or ()):
        at = f"{path}.ignoredResourceGroups[{i}]"
        if "/" in group:
            causes.append(field_invalid(at, group, "resource group name can't contain '/'"))
        causes += _label_name(group, at)
    return causes + _strategy(args["scoringStrategy"], f"{path}.scoringStrategy")


def _label_name(name: str, path: str) -> list[Cause]:
    return [field_invalid(path, name, problem) for problem in label_key_errors(name)]


def _strategy(strategy: Object, path: str) -> list[Cause]:
    causes = []
    kind, ratio = strategy.get("type") or "", strategy.get("requestedToCapacityRatio")
    if kind not in _STRATEGIES:
        causes.append(field_not_supported(f"{path}.type", kind, _STRATEGIES))
    for i, resource in enumerate(strategy["resources"]):
        if not 0 < resource["weight"] <= 100:
            detail = f"resource weight of {resource.get('name', '')} not in valid range (0, 100]"
            causes.append(field_invalid(f"{path}.resources[{i}].weight", resource["weight"], detail))
    at = f"{path}.requestedToCapacityRatio"
    if kind == _RATIO and ratio is None:
        causes.append(field_required(at, f"must be specified when type is {_RATIO}"))
    elif kind == _RATIO:
        causes += _shape((ratio or {}).get("shape"), f"{at}.shape")
    elif ratio is not None:
        causes.append(field_forbidden(at, f"must be nil when type is not {_RATIO}"))
    return causes


def _balanced(args: Object, path: str) -> list[Cause]:
    causes, seen = [], set()
    for i, resource in enumerate(args["resources"]):
        if resource.get("name") in seen:
            causes.append(field_duplicate(f"{path}.resources[{i}].name", resource["name"]))
        seen.add(resource.get("name"))
        if resource["weight"] != 1:
            causes.append(field_invalid(f"{path}.resources[{i}].weight", resource["weight"], "must be 1"))
    return causes


def _volume_binding(args: Object, path: str) -> list[Cause]:
    causes, timeout = [], args["bindTimeoutSeconds"]
    if timeout < 0:
        detail = "invalid BindTimeoutSeconds, should not be a negative value"
        causes.append(field_invalid(f"{path}.bindTimeoutSeconds", timeout, detail))
    return causes + _shape(args["shape"], f"{path}.shape")


def _bad_duration(path: str, value: str, detail: str) -> Cause:
    """A duration is told without quotes."""
    return Cause("FieldValueInvalid", f"Invalid value: {value}: {detail}", path)


def _dynamic_resources(args: Object, path: str) -> list[Cause]:
    causes = []
    if parse_duration(args["filterTimeout"]) < 0:
        causes.append(_bad_duration(f"{path}.filterTimeout", args["filterTimeout"], "must be zero or positive"))
    if parse_duration(args["bindingTimeout"]) < 1:
        causes.append(_bad_duration(f"{path}.bindingTimeout", args["bindingTimeout"], "must be at least 1 second"))
    return causes


def _spread(args: Object, path: str) -> list[Cause]:
    causes: list[Cause] = []
    kind, constraints = args["defaultingType"], args.get("defaultConstraints") or []
    at = f"{path}.defaultingType"
    if kind not in ("System", "List"):
        causes.append(field_not_supported(at, kind, ("System", "List")))
    elif kind == "System" and constraints:
        causes.append(field_invalid(at, kind, "when .defaultConstraints are not empty"))
    where = f"{path}.defaultConstraints"
    for i, constraint in enumerate(constraints):
        causes += _constraint(constraint, f"{where}[{i}]")
        pair = (constraint.get("topologyKey"), constraint.get("whenUnsatisfiable"))
        if any((c.get("topologyKey"), c.get("whenUnsatisfiable")) == pair for c in constraints[:i]):
            causes.append(field_duplicate(f"{where}[{i}]", f"{{{pair[0]}, {pair[1]}}}"))
    return causes


def _constraint(constraint: Object, path: str) -> list[Cause]:
    causes = []
    skew, key, action = (constraint.get(name) for name in ("maxSkew", "topologyKey", "whenUnsatisfiable"))
    if (skew or 0) <= 0:
        causes.append(field_invalid(f"{path}.maxSkew", skew or 0, "not in valid range (0, inf)"))
    if not key:
        causes.append(field_required(f"{path}.topologyKey", "can not be empty"))
    else:
        causes += _label_name(key, f"{path}.topologyKey")
    at, actions = f"{path}.whenUnsatisfiable", ("DoNotSchedule", "ScheduleAnyway")
    if not action:
        causes.append(field_required(at, "can not be empty"))
    elif action not in actions:
        causes.append(field_not_supported(at, action, actions))
    if constraint.get("labelSelector") is not None:
        detail = "constraint must not define a selector, as they deduced for each pod"
        causes.append(field_forbidden(f"{path}.labelSelector", detail))
    return causes


RULES: dict[str, Callable[[Object, str], list[Cause]]] = {
    "DefaultPreemption": _preemption,
    "InterPodAffinity": _inter_pod_affinity,
    "NodeAffinity": _node_affinity,
    "NodeResourcesBalancedAllocation": _balanced,
    "NodeResourcesFit": _fit,
    "PodTopologySpread": _spread,
    "VolumeBinding": _volume_binding,
    "DynamicResources": _dynamic_resources,
}


# Upstream lists the rules of this one under a name that no plugin has: it is the plugin itself that applies them, where
# it is made, and its paths begin at its arguments.
_BY_THE_PLUGIN = "NodeResourcesFit"


def problems_of(name: str, args: Object, path: str) -> list[Cause]:
    """What is wrong with defaulted arguments."""
    rule = RULES.get(name) if name != _BY_THE_PLUGIN else None
    return rule(args, path) if rule is not None else []


def problems_of_making(arguments: Mapping[str, Object]) -> tuple[str, list[Cause]]:
    """A plugin that cannot be made of these arguments, by name, and what it says of its own."""
    causes = _fit(arguments.get(_BY_THE_PLUGIN) or defaulted(_BY_THE_PLUGIN, {}), "")
    return _BY_THE_PLUGIN, [cause._replace(field=cause.field.removeprefix(".")) for cause in causes]
