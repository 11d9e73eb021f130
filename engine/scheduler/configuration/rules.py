"""What makes a decoded KubeSchedulerConfiguration invalid (pkg/scheduler/apis/config/validation/validation.go).

The causes come in upstream's order.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.errors import Cause, Stringer, field_duplicate, field_invalid, field_required
from engine.api.golang.duration import parse_duration
from engine.api.types import Object
from engine.scheduler.configuration.arguments import problems_of
from engine.scheduler.configuration.decoding import API_VERSION, KIND, Arguments
from engine.scheduler.configuration.extenders import extender_problems
from engine.scheduler.configuration.plugins import FIELDS

_REMOVED_PLUGINS = ("AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits")
_INITIAL_BACKOFF, _MAX_BACKOFF, _PARALLELISM, _BURST = 1, 10, 16, 100
_LEADER_ELECTION = {"leaseDuration": "15s", "renewDeadline": "10s", "retryPeriod": "2s", "resourceLock": "leases"}


def problems(value: Object, arguments: Arguments) -> list[Cause]:
    causes = _connection_problems(value.get("clientConnection") or {})
    causes += _election_problems(value.get("leaderElection") or {})
    if (parallelism := _or(value.get("parallelism"), _PARALLELISM)) <= 0:
        causes.append(field_invalid("parallelism", parallelism, "should be an integer value greater than zero"))
    causes += _profile_problems(value["profiles"], arguments)
    causes += _percentage_problems(value, "")
    first, last = backoffs(value)
    if first <= 0:
        causes.append(field_invalid("podInitialBackoffSeconds", first, "must be greater than 0"))
    if last < first:
        detail = "must be greater than or equal to PodInitialBackoffSeconds"
        causes.append(field_invalid("podMaxBackoffSeconds", last, detail))
    return causes + extender_problems(value.get("extenders") or [])


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


def backoffs(value: Object) -> tuple[int, int]:
    """The first and the longest back-off, in seconds."""
    return (
        _or(value.get("podInitialBackoffSeconds"), _INITIAL_BACKOFF),
        _or(value.get("podMaxBackoffSeconds"), _MAX_BACKOFF),
    )


def _connection_problems(connection: Object) -> list[Cause]:
    burst = connection.get("burst") or _BURST
    return [field_invalid("clientConnection.burst", burst, "must be non-negative")] if burst < 0 else []


def _election_problems(election: Object) -> list[Cause]:
    """Durations that are 0 or "" are the default ones."""
    if election.get("leaderElect") is False:
        return []
    told = {
        name: election[name] if parse_duration(election.get(name) or "0") else _LEADER_ELECTION[name]
        for name in ("leaseDuration", "renewDeadline", "retryPeriod")
    }
    causes = [
        field_invalid(f"leaderElection.{name}", Stringer(text), "must be greater than zero")
        for name, text in told.items()
        if parse_duration(text) <= 0
    ]
    if parse_duration(told["leaseDuration"]) <= parse_duration(told["renewDeadline"]):
        shown = Stringer(told["renewDeadline"])
        causes.append(field_invalid("leaderElection.leaseDuration", shown, "must be greater than `RenewDeadline`"))
    lock = election.get("resourceLock") or _LEADER_ELECTION["resourceLock"]
    if lock != "leases":
        causes.append(field_invalid("leaderElection.resourceLock", lock, 'resourceLock value must be "leases"'))
    return causes


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
            first = Stringer(f"profiles[{seen[name]}].schedulerName")
            causes.append(field_duplicate(f"{path}.schedulerName", first))
        seen[name] = i
    return causes + _queue_sort_problems(profiles, arguments)


def _removed_plugins(profile: Object, path: str) -> list[Cause]:
    """Of the single points alone: in multiPoint such a plugin is just one that does not exist."""
    plugins = profile.get("plugins") or {}
    return [
        _removed(f"{path}.plugins.{field}.enabled[{i}]", plugin.get("name", ""))
        for field in FIELDS
        for i, plugin in enumerate((plugins.get(field) or {}).get("enabled") or ())
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


def _queue_sort_problems(profiles: list[Object], arguments: Arguments) -> list[Cause]:
    """There is one queue, so one order."""
    causes, first = [], _queue_sort(profiles[0])
    enabled = first["Enabled"] or []
    if len(enabled) > 1:
        at = "profiles[0].plugins.queueSort.Enabled"
        causes.append(field_invalid(at, len(enabled), "only one queue sort plugin can be enabled"))
    name = enabled[0]["Name"] if enabled else ""
    args = dict(arguments[0]).get(name)
    for i, profile in enumerate(profiles[1:], 1):
        if (own := _queue_sort(profile)) != first:
            causes.append(field_invalid(f"profiles[{i}].plugins.queueSort", own, "must be the same for all profiles"))
        for other, own_args in arguments[i]:
            if other == name and own_args != args:
                at, detail = f"profiles[{i}].pluginConfig.args", "queueSort must be the same for all profiles"
                causes.append(field_invalid(at, own_args, detail))
    return causes


def _queue_sort(profile: Object) -> Object:
    """As the internal type has it, whose fields have no JSON names."""
    found = (profile.get("plugins") or {}).get("queueSort") or {}

    def listed(field: str) -> list[Object] | None:
        plugins = [{"Name": p.get("name") or "", "Weight": p.get("weight") or 0} for p in found.get(field) or ()]
        return plugins or None

    return {"Enabled": listed("enabled"), "Disabled": listed("disabled")}
