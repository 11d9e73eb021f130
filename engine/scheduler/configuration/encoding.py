"""A scheduler's configuration as the KubeSchedulerConfiguration that would make it: what `load` reads back the same.

It is told in full, as kube-scheduler tells its own under /configz: each extension point with its plugins, arguments
with their defaults. Only the plugins of the default profile are left to be the default.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable

from engine.api.types import Object
from engine.scheduler.configuration.configuration import ExtenderConfiguration, SchedulerConfiguration
from engine.scheduler.configuration.decoding import API_VERSION, KIND
from engine.scheduler.configuration.plugins import FIELDS, MULTI_POINT
from engine.scheduler.framework.profile import DEFAULT_PLUGINS, EnabledPlugin, Profile

_PEM = "-----BEGIN "
_ALL = [{"name": "*"}]


def encode(configuration: SchedulerConfiguration) -> Object:
    """The configuration as plain JSON."""
    extenders = configuration.extenders
    ignored = {name for extender in extenders for name in extender.ignored_resources}
    shown: Object = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "podInitialBackoffSeconds": int(configuration.initial_backoff),
        "podMaxBackoffSeconds": int(configuration.max_backoff),
        "profiles": [_profile(profile, ignored) for profile in configuration.profiles],
    }
    if extenders:
        shown["extenders"] = [_extender(extender) for extender in extenders]
    return shown


def _profile(profile: Profile, ignored: set[str]) -> Object:
    shown: Object = {
        "schedulerName": profile.scheduler_name,
        "percentageOfNodesToScore": profile.percentage_of_nodes_to_score,
    }
    if profile.plugins != DEFAULT_PLUGINS:
        shown["plugins"] = _plugins(profile.plugins)
    if profile.plugin_args:
        args = {name: dict(args) for name, args in profile.plugin_args.items()}
        fit = args.get("NodeResourcesFit")
        if ignored and fit is not None:
            # Extenders bring theirs with them.
            fit["ignoredResources"] = [name for name in fit.get("ignoredResources") or () if name not in ignored]
        shown["pluginConfig"] = [{"name": name, "args": each} for name, each in args.items()]
    return shown


def _plugins(plugins: Iterable[EnabledPlugin]) -> Object:
    everywhere = [_plugin(plugin) for plugin in plugins if plugin.points is None]
    shown: Object = {MULTI_POINT: {"enabled": everywhere, "disabled": _ALL}}
    for field, point in FIELDS.items():
        own = [_plugin(plugin) for plugin in plugins if plugin.points is not None and point in plugin.points]
        if own:
            shown[field] = {"enabled": own}
    return shown


def _plugin(plugin: EnabledPlugin) -> Object:
    return {"name": plugin.name, "weight": plugin.weight}


def _extender(extender: ExtenderConfiguration) -> Object:
    return {
        "urlPrefix": extender.url_prefix,
        "filterVerb": extender.filter_verb,
        "preemptVerb": extender.preempt_verb,
        "prioritizeVerb": extender.prioritize_verb,
        "bindVerb": extender.bind_verb,
        "weight": extender.weight,
        "httpTimeout": f"{round(extender.timeout * 1e6)}us",
        "nodeCacheCapable": extender.node_cache_capable,
        "ignorable": extender.ignorable,
        "managedResources": [
            {"name": name, "ignoredByScheduler": name in extender.ignored_resources}
            for name in sorted(extender.managed_resources)
        ],
        "enableHTTPS": extender.enable_https,
        "tlsConfig": {
            "insecure": extender.insecure,
            "serverName": extender.server_name,
            **_pem("ca", extender.certificate_authority),
            **_pem("cert", extender.client_certificate),
            **_pem("key", extender.client_key),
        },
    }


def _pem(name: str, value: str) -> Object:
    """PEM as bytes, or the path of a file with it."""
    if not value:
        return {}
    if value.startswith(_PEM):
        return {f"{name}Data": base64.b64encode(value.encode("ascii")).decode("ascii")}
    return {f"{name}File": value}
