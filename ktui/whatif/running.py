"""What a running cluster has and its scheduler decides by, for a what-if that must decide as it does."""

from __future__ import annotations

import json
from dataclasses import dataclass

from engine.api.errors import ApiError
from engine.api.types import PODS, Object
from engine.client import Client
from engine.scheduler.configuration import SchedulerConfiguration
from engine.scheduler.configuration.fields import ConfigurationError
from engine.scheduler.configuration.loading import load
from engine.scheduler.pod_info import DEFAULT_SCHEDULER_NAME
from engine.scheduler.whatif import ClusterObjects
from engine.scheduler.whatif.targets import ASKED, BETWEEN, pods_under
from ktui.commands import UsageError

CONFIGURATION = "/debug/ktui/views/scheduler/configuration"


class NoSuchObjectError(UsageError):
    """What is not there, as kubectl says it."""

    prefix = "Error from server (NotFound)"


@dataclass(frozen=True, slots=True)
class RunningCluster:
    """Its objects, its version, and the configuration of its scheduler: None where none tells."""

    objects: list[Object]
    version: str
    configuration: SchedulerConfiguration | None


async def read_running(client: Client) -> RunningCluster:
    """Raises ApiError, ConnectionError, UsageError."""
    version = await client.request("GET", "/version")
    return RunningCluster(await read_cluster(client), version["gitVersion"], await running_configuration(client))


async def running_configuration(client: Client) -> SchedulerConfiguration | None:
    """None where no scheduler runs that tells, or it does not tell us. Raises ApiError, UsageError."""
    try:
        told = await client.request("GET", CONFIGURATION)
    except ApiError as refused:
        if refused.code not in (403, 404):
            raise
        return None
    try:
        return load(json.dumps(told))
    except ConfigurationError as error:
        raise UsageError(f"the configuration of the running scheduler: {error}") from error


async def read_cluster(client: Client) -> list[Object]:
    """What a running cluster has of all that a decision may depend on."""
    objects = list(await ClusterObjects.of_api(client))
    for (_, kind), resource in BETWEEN.items():
        try:
            listed = await client.list(resource)
        except ApiError as refused:
            if refused.code not in (403, 404):
                raise
            continue
        objects += [{"apiVersion": resource.api_version, "kind": kind, **item} for item in listed.items]
    return objects


async def pod_keys(client: Client, kind: str, name: str, *, namespace: str) -> list[str]:
    """`namespace/name` of the Pods of an object in a running cluster."""
    scope = None if kind == "Node" else namespace
    pods = (await client.list(PODS, namespace=scope)).items
    between: list[Object] = []
    for (_, middle), resource in BETWEEN.items():
        listed = await client.list(resource, namespace=scope)
        between += [{"apiVersion": resource.api_version, "kind": middle, **item} for item in listed.items]
    found = pods_under(kind, name, namespace=namespace, pods=pods, between=between)
    return [f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in found]


async def why_undecided(client: Client, kind: str, name: str, namespace: str) -> str:
    """Why the scheduler may have nothing to say of the Pods of an object. Raises NoSuchObjectError, ApiError."""
    await _require(client, kind, name, namespace)
    keys = [f"{namespace}/{name}"] if kind == "Pod" else await pod_keys(client, kind, name, namespace=namespace)
    if not keys:
        return f"there are no Pods of {kind} {name}"
    own_namespace, _, pod_name = keys[0].partition("/")
    pod = await client.get(PODS, pod_name, namespace=own_namespace)
    spec = pod["spec"]
    if node := spec.get("nodeName"):
        return f"Pod {pod_name} is on {node}, which was decided too long ago, or by somebody else"
    asked = spec.get("schedulerName") or DEFAULT_SCHEDULER_NAME
    running = await running_configuration(client)
    if asked not in [profile.scheduler_name for profile in (running or SchedulerConfiguration()).profiles]:
        return f'Pod {pod_name} waits for a scheduler of the name "{asked}": if one runs, it is not this one'
    return f"the scheduler has not seen Pod {pod_name}: does it run?"


async def _require(client: Client, kind: str, name: str, namespace: str) -> None:
    """Raises NoSuchObjectError, ApiError."""
    try:
        await client.get(ASKED[kind], name, namespace="" if kind == "Node" else namespace)
    except ApiError as refused:
        if refused.code != 404:
            raise
        raise NoSuchObjectError(refused.message) from None
