"""Reading a KubeSchedulerConfiguration: strictly, with all that is wrong told at once.

Source: cmd/kube-scheduler/app/options/configfile.go, apis/config/v1/defaults.go and apis/config/validation. Fields for
a process that ktui does not have (leader election, client connection, profiling, parallelism) are read and noted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from engine.api.errors import Cause, field_duplicate, field_invalid, field_required
from engine.api.types import Object
from engine.scheduler.configuration.arguments import FORMS, defaulted, problems_of
from engine.scheduler.configuration.configuration import SchedulerConfiguration
from engine.scheduler.configuration.extenders import EXTENDER, extender_problems, read_extender
from engine.scheduler.configuration.fields import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    STRING,
    ConfigurationError,
    Form,
    check,
    strict_error,
)
from engine.scheduler.configuration.plugins import FIELDS, GROUP_FIELDS, MULTI_POINT, enabled_plugins
from engine.scheduler.framework.profile import Profile
from engine.scheduler.framework.runtime import Factory
from engine.scheduler.plugins.registry import REGISTRY
from engine.scheduler.pod_info import DEFAULT_SCHEDULER_NAME

API_VERSION = "kubescheduler.config.k8s.io/v1"
KIND = "KubeSchedulerConfiguration"
_REMOVED_PLUGINS = ("AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits")

_PLUGIN_SET: Form = {"enabled": [{"name": STRING, "weight": INT}], "disabled": [{"name": STRING, "weight": INT}]}
_PROFILE: Form = {
    "schedulerName": STRING,
    "percentageOfNodesToScore": INT,
    "percentageOfPlacementsToScore": INT,
    "plugins": dict.fromkeys((MULTI_POINT, *FIELDS, *GROUP_FIELDS), _PLUGIN_SET),
    "pluginConfig": [{"name": STRING, "args": ANY}],
}
_LEADER_ELECTION: Form = {
    "leaderElect": BOOL,
    "leaseDuration": STRING,
    "renewDeadline": STRING,
    "retryPeriod": STRING,
    "resourceLock": STRING,
    "resourceName": STRING,
    "resourceNamespace": STRING,
}
_CONNECTION: Form = {
    "kubeconfig": STRING,
    "acceptContentTypes": STRING,
    "contentType": STRING,
    "qps": FLOAT,
    "burst": INT,
}
_CONFIGURATION: dict[str, Any] = {
    "apiVersion": STRING,
    "kind": STRING,
    "parallelism": INT,
    "leaderElection": _LEADER_ELECTION,
    "clientConnection": _CONNECTION,
    "enableProfiling": BOOL,
    "enableContentionProfiling": BOOL,
    "percentageOfNodesToScore": INT,
    "percentageOfPlacementsToScore": INT,
    "podInitialBackoffSeconds": INT,
    "podMaxBackoffSeconds": INT,
    "profiles": [_PROFILE],
    "extenders": [EXTENDER],
    "delayCacheUntilActive": BOOL,
}
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
        raise ConfigurationError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    except (ConfigurationError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from error


def load(text: str, registry: Mapping[str, Factory] = REGISTRY) -> SchedulerConfiguration:
    """The configuration that a YAML or JSON text stands for. Raises ConfigurationError."""
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigurationError(f"couldn't get version/kind: {' '.join(str(error).split())}") from error
    if not isinstance(value, dict):
        raise ConfigurationError(f"the file is no {KIND}")
    _check_kind(value)
    unknown: list[str] = []
    check(value, _CONFIGURATION, "", unknown)
    arguments = _arguments(value, unknown)
    if unknown:
        raise strict_error(unknown)
    if causes := _problems(value, arguments):
        raise ConfigurationError("\n".join(str(cause) for cause in causes))
    return _built(value, arguments, registry)


def _check_kind(value: Object) -> None:
    version, kind = value.get("apiVersion"), value.get("kind")
    if version is None or kind is None:
        missing = "apiVersion" if version is None else "kind"
        raise ConfigurationError(f"Object '{missing}' is missing: a {KIND} has apiVersion: {API_VERSION}")
    if (version, kind) != (API_VERSION, KIND):
        raise ConfigurationError(
            f'no kind "{kind}" is registered for version "{version}": it is {KIND} of {API_VERSION} that is read'
        )


def _profiles(value: Object) -> list[Object]:
    """At least one; a single one without a name is the default scheduler."""
    profiles = value.get("profiles") or [{}]
    if len(profiles) == 1 and profiles[0].get("schedulerName") is None:
        return [{**profiles[0], "schedulerName": DEFAULT_SCHEDULER_NAME}]
    return list(profiles)


# -- plugin arguments

Arguments = list[list[tuple[str, Object]]]  # of each profile, in order


def _arguments(value: Object, unknown: list[str]) -> Arguments:
    return [
        [
            (item.get("name", ""), _decoded(item, f"profiles[{i}].pluginConfig[{j}]", unknown))
            for j, item in enumerate(profile.get("pluginConfig") or ())
        ]
        for i, profile in enumerate(_profiles(value))
    ]


def _decoded(item: Object, path: str, unknown: list[str]) -> Object:
    """Arguments of the plugins in the tree are typed; those of others are theirs to read."""
    name, args = item.get("name", ""), item.get("args")
    if not isinstance(args, dict):
        if args is not None:
            raise ConfigurationError(f"decoding .{path}: args for plugin {name} are no object")
        args = {}
    form = FORMS.get(name)
    if form is None:
        return args
    kind = args.get("kind", f"{name}Args")
    version = args.get("apiVersion", API_VERSION)
    if (kind, version) != (f"{name}Args", API_VERSION):
        group = API_VERSION.partition("/")[0]
        found = f"{kind}.{str(version).partition('/')[0]}"
        raise ConfigurationError(
            f"decoding .{path}: args for plugin {name} were not of type {name}Args.{group}, got {found}"
        )
    own = {key: item for key, item in args.items() if key not in ("kind", "apiVersion") and item is not None}
    check(own, form, f"{path}.args", unknown)
    return defaulted(name, own)


# -- rules


def _problems(value: Object, arguments: Arguments) -> list[Cause]:
    causes: list[Cause] = []
    if (parallelism := value.get("parallelism")) is not None and parallelism <= 0:
        causes.append(field_invalid("parallelism", parallelism, "should be an integer value greater than zero"))
    causes += _profile_problems(_profiles(value), arguments)
    causes += _percentage_problems(value, "")
    first, last = _backoffs(value)
    if first <= 0:
        causes.append(field_invalid("podInitialBackoffSeconds", first, "must be greater than 0"))
    if last < first:
        detail = "must be greater than or equal to PodInitialBackoffSeconds"
        causes.append(field_invalid("podMaxBackoffSeconds", last, detail))
    return causes + extender_problems(value.get("extenders") or [])


def _backoffs(value: Object) -> tuple[int, int]:
    first, last = value.get("podInitialBackoffSeconds"), value.get("podMaxBackoffSeconds")
    return (1 if first is None else int(first)), (10 if last is None else int(last))


def _percentage_problems(value: Object, path: str) -> list[Cause]:
    share = value.get("percentageOfNodesToScore")
    if share is None or 0 <= share <= 100:
        return []
    return [field_invalid(f"{path}percentageOfNodesToScore", share, "not in valid range [0-100]")]


def _profile_problems(profiles: list[Object], arguments: Arguments) -> list[Cause]:
    causes: list[Cause] = []
    seen: dict[str, int] = {}
    for i, profile in enumerate(profiles):
        path, name = f"profiles[{i}]", profile.get("schedulerName") or ""
        if not name:
            causes.append(field_required(f"{path}.schedulerName"))
        causes += _percentage_problems(profile, f"{path}.")
        causes += _removed_plugins(profile, path)
        causes += _argument_problems(arguments[i], f"{path}.pluginConfig")
        if name in seen:
            causes.append(field_duplicate(f"{path}.schedulerName", f"profiles[{seen[name]}].schedulerName"))
        seen[name] = i
    return causes + _queue_sort_problems(profiles)


def _removed_plugins(profile: Object, path: str) -> list[Cause]:
    return [
        _removed(f"{path}.plugins.{field}.enabled[{i}]", plugin.get("name", ""))
        for field, plugin_set in (profile.get("plugins") or {}).items()
        for i, plugin in enumerate((plugin_set or {}).get("enabled") or ())
        if plugin.get("name") in _REMOVED_PLUGINS
    ]


def _removed(path: str, name: str) -> Cause:
    detail = f'was invalid in version "{API_VERSION}" ({KIND} is version "{API_VERSION}")'
    return field_invalid(path, name, detail)


def _argument_problems(arguments: Sequence[tuple[str, Object]], path: str) -> list[Cause]:
    causes: list[Cause] = []
    seen: set[str] = set()
    for j, (name, args) in enumerate(arguments):
        if name in seen:
            causes.append(field_duplicate(f"{path}[{j}]", name))
        seen.add(name)
        if name in _REMOVED_PLUGINS:
            causes.append(_removed(f"{path}[{j}]", name))
        causes += problems_of(name, args, f"{path}[{j}].args")
    return causes


def _queue_sort_problems(profiles: list[Object]) -> list[Cause]:
    """There is one queue, so one order."""

    def queue_sort(profile: Object) -> Object:
        found: Object = (profile.get("plugins") or {}).get("queueSort") or {}
        return {key: item for key, item in found.items() if item}

    causes, first = [], queue_sort(profiles[0])
    if (count := len(first.get("enabled") or ())) > 1:
        at = "profiles[0].plugins.queueSort.Enabled"
        causes.append(field_invalid(at, count, "only one queue sort plugin can be enabled"))
    for i, profile in enumerate(profiles[1:], 1):
        if (own := queue_sort(profile)) != first:
            causes.append(field_invalid(f"profiles[{i}].plugins.queueSort", own, "must be the same for all profiles"))
    return causes


# -- building


def _built(value: Object, arguments: Arguments, registry: Mapping[str, Factory]) -> SchedulerConfiguration:
    extenders = tuple(read_extender(item) for item in value.get("extenders") or ())
    ignored = sorted({name for extender in extenders for name in extender.ignored_resources})
    profiles = []
    for profile, args in zip(_profiles(value), arguments, strict=True):
        share = profile.get("percentageOfNodesToScore")
        if share is None:
            share = value.get("percentageOfNodesToScore") or 0
        profiles.append(
            Profile(
                scheduler_name=profile["schedulerName"],
                plugins=enabled_plugins(profile.get("plugins"), registry, profile["schedulerName"]),
                plugin_args=_with_ignored(dict(args), ignored),
                percentage_of_nodes_to_score=share,
            )
        )
    first, last = _backoffs(value)
    return SchedulerConfiguration(
        profiles=tuple(profiles),
        initial_backoff=float(first),
        max_backoff=float(last),
        extenders=extenders,
        notes=tuple(f"{name} has no effect: {why}" for name, why in _WITHOUT_EFFECT.items() if name in value),
    )


def _with_ignored(args: dict[str, Object], ignored: list[str]) -> dict[str, Object]:
    """What an extender looks after alone is not for NodeResourcesFit to reject."""
    if ignored:
        fit = args.get("NodeResourcesFit") or defaulted("NodeResourcesFit", {})
        args["NodeResourcesFit"] = {**fit, "ignoredResources": [*(fit.get("ignoredResources") or ()), *ignored]}
    return args
