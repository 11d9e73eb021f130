"""A KubeSchedulerConfiguration from its file: decoded strictly, checked, and made into profiles.

Source: cmd/kube-scheduler/app/options, pkg/scheduler/scheduler.go (New) and profile/profile.go. Fields for a process
that ktui does not have (leader election, client connection, profiling, parallelism) are read, checked and noted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.api.errors import Cause
from engine.api.types import Object
from engine.scheduler.configuration.arguments import defaulted, problems_of_making
from engine.scheduler.configuration.configuration import SchedulerConfiguration
from engine.scheduler.configuration.decoding import Arguments, decode
from engine.scheduler.configuration.extenders import read_extender
from engine.scheduler.configuration.fields import ConfigurationError
from engine.scheduler.configuration.plugins import enabled_plugins
from engine.scheduler.configuration.rules import backoffs, problems
from engine.scheduler.framework.profile import EnabledPlugin, Profile
from engine.scheduler.framework.runtime import Factory
from engine.scheduler.plugins.registry import REGISTRY

_WITHOUT_EFFECT = {
    "parallelism": "nodes are looked at all at once",
    "leaderElection": "there is one scheduler",
    "clientConnection": "the scheduler is in the API server's process",
    "enableProfiling": "there is nothing to profile by HTTP",
    "enableContentionProfiling": "there is nothing to profile by HTTP",
    "percentageOfPlacementsToScore": "Pods are placed one by one",
    "delayCacheUntilActive": "there is one scheduler",
}


def load_file(path: Path, registry: Mapping[str, Factory] = REGISTRY) -> SchedulerConfiguration:
    """Raises ConfigurationError, which names the file."""
    try:
        return load(path.read_text(encoding="utf-8"), registry)
    except OSError as error:
        raise ConfigurationError(f"open {path}: {(error.strerror or str(error)).lower()}") from error
    except (ConfigurationError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from error


def load(text: str, registry: Mapping[str, Factory] = REGISTRY) -> SchedulerConfiguration:
    """The configuration that a YAML or JSON text stands for. Raises ConfigurationError."""
    value, arguments = decode(text)
    if causes := problems(value, arguments):
        raise ConfigurationError(_aggregate(causes))
    extenders = tuple(read_extender(item) for item in value.get("extenders") or ())
    ignored = sorted({name for extender in extenders for name in extender.ignored_resources})
    first, last = backoffs(value)
    return SchedulerConfiguration(
        profiles=tuple(_built_profiles(value, arguments, registry, ignored)),
        initial_backoff=float(first),
        max_backoff=float(last),
        extenders=extenders,
        notes=tuple(f"{name} has no effect: {why}" for name, why in _WITHOUT_EFFECT.items() if name in value),
    )


def _aggregate(causes: Sequence[Cause]) -> str:
    """Several errors as one (utilerrors.Aggregate): each once, in brackets if there are more."""
    texts = list(dict.fromkeys(str(cause) for cause in causes))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _built_profiles(
    value: Object, arguments: Arguments, registry: Mapping[str, Factory], ignored: Sequence[str]
) -> list[Profile]:
    profiles = []
    for profile, args in zip(value["profiles"], arguments, strict=True):
        name, share = profile["schedulerName"], profile.get("percentageOfNodesToScore")
        try:
            enabled = _checked_plugins(profile, dict(args), registry)
        except ConfigurationError as error:
            at = f"initializing profiles: creating profile for scheduler name {name}"
            raise ConfigurationError(f"{at}: {error}") from error
        profiles.append(
            Profile(
                scheduler_name=name,
                plugins=enabled,
                plugin_args=_with_ignored(dict(args), ignored),
                percentage_of_nodes_to_score=value.get("percentageOfNodesToScore") or 0 if share is None else share,
            )
        )
    return profiles


def _checked_plugins(
    profile: Object, args: Mapping[str, Object], registry: Mapping[str, Factory]
) -> tuple[EnabledPlugin, ...]:
    enabled = enabled_plugins(profile.get("plugins"), registry, profile["schedulerName"])
    plugin, causes = problems_of_making(args)
    if causes and any(each.name == plugin for each in enabled):
        raise ConfigurationError(f'initializing plugin "{plugin}": {_aggregate(causes)}')
    return enabled


def _with_ignored(args: dict[str, Object], ignored: Sequence[str]) -> dict[str, Object]:
    """What an extender looks after alone is not for NodeResourcesFit to reject."""
    if ignored:
        fit = args.get("NodeResourcesFit") or defaulted("NodeResourcesFit", {})
        args["NodeResourcesFit"] = {**fit, "ignoredResources": [*(fit.get("ignoredResources") or ()), *ignored]}
    return args
