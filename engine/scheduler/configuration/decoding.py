"""From the text of a file to a KubeSchedulerConfiguration and the arguments of its plugins, or what is wrong with it.

Source: cmd/kube-scheduler/app/options/configfile.go, kube-scheduler/config/v1 (DecodeNestedObjects) and the strict
codec of k8s.io/apimachinery behind them, whose order and texts these are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from engine.api.golang.forms import UnmarshalError, type_meta
from engine.api.golang.yaml import YamlError, load
from engine.api.types import Object
from engine.api.yaml_text import CONVERTING, twice_in_yaml, unmarshal_errors
from engine.scheduler.configuration.arguments import FORMS, defaulted
from engine.scheduler.configuration.extenders import EXTENDER
from engine.scheduler.configuration.fields import (
    ANY,
    BOOL,
    DURATION,
    FLOAT,
    INT32,
    INT64,
    STRING,
    ConfigurationError,
    Struct,
    check,
    strict_error,
    unknown_fields,
)
from engine.scheduler.configuration.plugins import FIELDS, GROUP_FIELDS, MULTI_POINT
from engine.scheduler.pod_info import DEFAULT_SCHEDULER_NAME

GROUP = "kubescheduler.config.k8s.io"
API_VERSION = f"{GROUP}/v1"
KIND = "KubeSchedulerConfiguration"
_SCHEME = "pkg/scheduler/apis/config/scheme/scheme.go:30"

_PLUGIN = Struct("Plugin", {"name": STRING, "weight": INT32})
_PLUGIN_SET = Struct("PluginSet", {"enabled": [_PLUGIN], "disabled": [_PLUGIN]})
_PROFILE = Struct(
    "KubeSchedulerProfile",
    {
        "schedulerName": STRING,
        "percentageOfNodesToScore": INT32,
        "percentageOfPlacementsToScore": INT32,
        "plugins": Struct("Plugins", dict.fromkeys((MULTI_POINT, *FIELDS, *GROUP_FIELDS), _PLUGIN_SET)),
        "pluginConfig": [Struct("PluginConfig", {"name": STRING, "args": ANY})],
    },
)
_LEADER_ELECTION = Struct(
    "LeaderElectionConfiguration",
    {
        "leaderElect": BOOL,
        "leaseDuration": DURATION,
        "renewDeadline": DURATION,
        "retryPeriod": DURATION,
        "resourceLock": STRING,
        "resourceName": STRING,
        "resourceNamespace": STRING,
    },
    "v1alpha1",
)
_CONNECTION = Struct(
    "ClientConnectionConfiguration",
    {"kubeconfig": STRING, "acceptContentTypes": STRING, "contentType": STRING, "qps": FLOAT, "burst": INT32},
    "v1alpha1",
)
_CONFIGURATION = Struct(
    KIND,
    {
        "apiVersion": STRING,
        "kind": STRING,
        "parallelism": INT32,
        "leaderElection": _LEADER_ELECTION,
        "clientConnection": _CONNECTION,
        "enableProfiling": BOOL,
        "enableContentionProfiling": BOOL,
        "percentageOfNodesToScore": INT32,
        "percentageOfPlacementsToScore": INT32,
        "podInitialBackoffSeconds": INT64,
        "podMaxBackoffSeconds": INT64,
        "profiles": [_PROFILE],
        "extenders": [EXTENDER],
        "delayCacheUntilActive": BOOL,
    },
)

Arguments = list[list[tuple[str, Object]]]  # of each profile, in order


def decode(text: str) -> tuple[Object, Arguments]:
    """What a YAML or JSON text says, and the arguments with their defaults. Raises ConfigurationError."""
    value = _read(text)
    _check_kind(value, text)
    problems = _twice(text) + unknown_fields(check(value, _CONFIGURATION))
    value = {**value, "profiles": _profiles(value)}
    arguments = [list(_decoded_profile(i, profile, problems)) for i, profile in enumerate(value["profiles"])]
    if problems:
        raise strict_error(problems)
    return value, arguments


def _read(text: str) -> Object:
    try:
        value = load(text)
    except YamlError as error:
        raise ConfigurationError(f"{CONVERTING}{error}") from error
    return _object({} if value is None else value)


def _object(value: Any) -> Object:
    """What may have a kind. Raises ConfigurationError for anything else."""
    try:
        type_meta(value)
    except UnmarshalError as error:
        raise ConfigurationError(str(error)) from error
    found: Object = value
    return found


def _check_kind(value: Object, text: str) -> None:
    for name, shown in (("kind", "Kind"), ("apiVersion", "apiVersion")):
        if not value.get(name):
            raise ConfigurationError(f"Object '{shown}' is missing in '{text}'")
    version, kind = value["apiVersion"], value["kind"]
    if version == API_VERSION and kind in {f"{name}Args" for name in FORMS}:
        raise ConfigurationError(f"couldn't decode as {KIND}, got {API_VERSION}, Kind={kind}: ")
    if (version, kind) != (API_VERSION, KIND):
        raise _not_registered(kind, version)


def _not_registered(kind: str, version: str) -> ConfigurationError:
    return ConfigurationError(f'no kind "{kind}" is registered for version "{version}" in scheme "{_SCHEME}"')


def _twice(text: str) -> list[str]:
    found = twice_in_yaml(text)
    return [unmarshal_errors(found)] if found else []


def _profiles(value: Object) -> list[Object]:
    """At least one; a single one without a name is the default scheduler."""
    listed: list[Object | None] = value.get("profiles") or [None]
    profiles: list[Object] = [profile or {} for profile in listed]
    if len(profiles) == 1 and profiles[0].get("schedulerName") is None:
        return [{**profiles[0], "schedulerName": DEFAULT_SCHEDULER_NAME}]
    return profiles


# -- plugin arguments


def _decoded_profile(index: int, profile: Object, problems: list[str]) -> Iterator[tuple[str, Object]]:
    for j, item in enumerate(profile.get("pluginConfig") or ()):
        item = item or {}
        name, at = item.get("name") or "", f"decoding .profiles[{index}].pluginConfig[{j}]: "
        try:
            args, unknown = _decoded(name, item.get("args"))
        except ConfigurationError as error:
            raise ConfigurationError(f"{at}{error}") from error
        if unknown:
            inner = strict_error(unknown_fields(unknown))
            problems.append(f"{at}{strict_error([f'decoding args for plugin {name}: {inner}'])}")
        yield name, args


def _decoded(name: str, args: Any) -> tuple[Object, list[str]]:
    """Arguments of the plugins in the tree are typed, those of others are theirs to read; and the unknown fields."""
    form = FORMS.get(name)
    if form is None:
        return (args if isinstance(args, dict) else {}), []
    own_kind = f"{name}Args"
    try:
        value = _object({} if args is None else args)
        kind, version = value.get("kind") or own_kind, value.get("apiVersion") or API_VERSION
        if version != API_VERSION or (kind != KIND and kind.removesuffix("Args") not in FORMS):
            raise _not_registered(kind, version)
        own = {key: item for key, item in value.items() if key not in ("kind", "apiVersion") and item is not None}
        unknown = check(own, form) if kind == own_kind else []
    except ConfigurationError as error:
        raise ConfigurationError(f"decoding args for plugin {name}: {error}") from error
    if kind != own_kind:
        raise ConfigurationError(f"args for plugin {name} were not of type {own_kind}.{GROUP}, got {kind}.{GROUP}")
    known: Object = orjson.loads(orjson.dumps(own))
    return defaulted(name, known), unknown
