"""Which plugins serve at which extension point: the defaults, what a profile changes of them, multiPoint expanded.

Source: apis/config/v1/default_plugins.go (mergePluginSet) and framework/runtime/framework.go (expandMultiPointPlugins,
updatePluginList, getScoreWeights).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from engine.api.types import Object
from engine.scheduler.configuration.fields import ConfigurationError
from engine.scheduler.framework.plugin import POINTS, Plugin
from engine.scheduler.framework.profile import DEFAULT_PLUGINS, EnabledPlugin
from engine.scheduler.framework.runtime import Factory

MULTI_POINT = "multiPoint"
_MAX_TOTAL_SCORE = 2**63 - 1
_MAX_NODE_SCORE = 100

# The fields of `plugins` and the extension points that they are for.
FIELDS = {point[0].lower() + point[1:]: point for point in POINTS}
# The order in which upstream looks at them: it decides which of several errors is told.
_CHECKED = (
    "PreFilter", "Filter", "PostFilter", "Reserve", "PreScore", "Score", "PreBind", "Bind", "PostBind", "Permit",
    "PreEnqueue", "QueueSort",
)  # fmt: skip
# Fields of newer releases for scheduling whole PodGroups: read, and of no effect.
GROUP_FIELDS = ("placementGenerate", "placementScore", "placementFeasible", "podGroupPostFilter")


class Entry(NamedTuple):
    name: str
    weight: int = 0


class PluginSet(NamedTuple):
    enabled: tuple[Entry, ...] = ()
    disabled: frozenset[str] = frozenset()


def _read(value: Object | None) -> PluginSet:
    value = value or {}
    enabled = tuple(Entry(p.get("name", ""), p.get("weight") or 0) for p in value.get("enabled") or ())
    return PluginSet(enabled, frozenset(p.get("name", "") for p in value.get("disabled") or ()))


def _merged(default: tuple[Entry, ...], custom: PluginSet) -> PluginSet:
    """Defaults less what is disabled; one that is named again stays in its place with its new weight."""
    named = {entry.name: i for i, entry in enumerate(custom.enabled)}
    enabled, replaced = [], set()
    for entry in () if "*" in custom.disabled else default:
        if entry.name in custom.disabled:
            continue
        index = named.get(entry.name)
        enabled.append(entry if index is None else custom.enabled[index])
        replaced.add(index)
    # One that is named twice is left, for others to find.
    enabled += [entry for i, entry in enumerate(custom.enabled) if i not in replaced]
    return PluginSet(tuple(enabled), custom.disabled)


def enabled_plugins(value: Object | None, registry: Mapping[str, Factory], profile: str) -> tuple[EnabledPlugin, ...]:
    """The plugins of a profile, in the order of each extension point. Raises ConfigurationError."""
    value = value or {}
    default = tuple(Entry(p.name, p.weight) for p in DEFAULT_PLUGINS)
    multi = _merged(default, _read(value.get(MULTI_POINT)))
    sets = {point: _read(value.get(field)) for field, point in FIELDS.items()}
    for point in _CHECKED:
        _check_own(sets[point], POINTS[point], registry)
    at_point = {point: _at_point(sets[point], multi, POINTS[point], registry=registry) for point in _CHECKED}
    _check_counts(at_point, profile)
    weights = _weights(sets["Score"], multi, registry)
    return tuple(
        EnabledPlugin(name, weights.get(name, 1), frozenset((point,))) for point in POINTS for name in at_point[point]
    )


def _implements(name: str, kind: type[Plugin], registry: Mapping[str, Factory]) -> bool:
    factory: Any = registry.get(name)
    if factory is None:
        raise ConfigurationError(f'{kind.__name__} "{name}" does not exist')
    return isinstance(factory, type) and issubclass(factory, kind)


def _check_own(own: PluginSet, kind: type[Plugin], registry: Mapping[str, Factory]) -> None:
    seen: set[str] = set()
    for entry in own.enabled:
        if not _implements(entry.name, kind, registry):
            raise ConfigurationError(f'plugin "{entry.name}" does not extend {kind.__name__} plugin')
        if entry.name in seen:
            raise ConfigurationError(f'plugin "{entry.name}" already registered as "{kind.__name__}"')
        seen.add(entry.name)


def _at_point(own: PluginSet, multi: PluginSet, kind: type[Plugin], *, registry: Mapping[str, Factory]) -> list[str]:
    """First those of the point that multiPoint has too, then those of multiPoint, then the point's others."""
    names = [entry.name for entry in own.enabled]
    if "*" in own.disabled:
        return names
    overriding, expanded = [], list[str]()
    for entry in multi.enabled:
        if not _implements(entry.name, kind, registry) or entry.name in own.disabled:
            continue
        if entry.name in names:
            overriding.append(entry.name)
        elif entry.name in expanded:
            raise ConfigurationError(f'plugin "{entry.name}" already registered as "{kind.__name__}"')
        else:
            expanded.append(entry.name)
    first = [name for name in names if name in overriding]
    return [*first, *expanded, *(name for name in names if name not in overriding)]


def _weights(score: PluginSet, multi: PluginSet, registry: Mapping[str, Factory]) -> dict[str, int]:
    """The weight at Score counts before that of multiPoint; none is one."""
    weights: dict[str, int] = {}
    total = 0
    for entry in (*score.enabled, *multi.enabled):
        if entry.name in weights or not _implements(entry.name, POINTS["Score"], registry):
            continue
        weights[entry.name] = entry.weight or 1
        total += weights[entry.name] * _MAX_NODE_SCORE
        if total > _MAX_TOTAL_SCORE:
            raise ConfigurationError("total score of Score plugins could overflow")
    return weights


def _check_counts(at_point: Mapping[str, list[str]], profile: str) -> None:
    if (sorts := len(at_point["QueueSort"])) != 1:
        raise ConfigurationError(
            f'only one queue sort plugin required for profile with scheduler name "{profile}", but got {sorts}'
        )
    if not at_point["Bind"]:
        raise ConfigurationError(f'at least one bind plugin is needed for profile with scheduler name "{profile}"')
