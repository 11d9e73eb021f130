"""What the Pods of a target use, from the resource metrics API (pkg/controller/podautoscaler/metrics/client.go)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from engine.api.errors import ApiError
from engine.api.golang.duration import parse_duration
from engine.api.quantity import Quantity
from engine.api.resource_metrics import POD_METRICS
from engine.api.types import Object
from engine.client import Client
from engine.controllers.pods import parse_time

Used = dict[str, dict[str, int]]  # by Pod and container, in thousandths of the resource's unit


class Usage(NamedTuple):
    """What was measured, and by Pod since when: the start of the window of its sample."""

    used: Used
    since: Mapping[str, datetime]


class MetricError(Exception):
    """The metric cannot be had."""


async def usage(client: Client, namespace: str, selector: str, resource: str, container: str = "") -> Usage:
    """Of each Pod that is measured; of one container alone where it is named. Raises MetricError."""
    try:
        measured = (await client.list(POD_METRICS, namespace=namespace, label_selector=selector)).items
    except ApiError as error:
        shown = f"{error} (get pods.metrics.k8s.io)" if not error.details else str(error)
        text = f"unable to fetch metrics from resource metrics API: {shown}"
        raise MetricError(f"unable to get metrics for resource {resource}: {text}") from None
    if not measured:
        raise MetricError(
            f"unable to get metrics for resource {resource}: no metrics returned from resource metrics API"
        )
    used = _of_container(measured, resource, container) if container else _of_pods(measured, resource)
    return Usage(used, {pod["metadata"]["name"]: _start_of(pod) for pod in measured})


def _start_of(measured: Object) -> datetime:
    return parse_time(measured["timestamp"]) - timedelta(seconds=parse_duration(measured["window"]))


def _of_pods(measured: Iterable[Object], resource: str) -> Used:
    """A Pod of which a container is not measured counts as one that is not."""
    found: Used = {}
    for pod in measured:
        containers = {each["name"]: each["usage"].get(resource) for each in pod["containers"]}
        if containers and None not in containers.values():
            amounts = {name: Quantity.parse(amount or "0").milli for name, amount in containers.items()}
            found[pod["metadata"]["name"]] = amounts
    return found


def _of_container(measured: Iterable[Object], resource: str, container: str) -> Used:
    found: Used = {}
    for pod in measured:
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        amounts = {each["name"]: each["usage"].get(resource) for each in pod["containers"]}
        if container not in amounts:
            text = f"container {container} not present in metrics for pod {namespace}/{name}"
            raise MetricError(f"unable to get metrics for resource {resource}: failed to get container metrics: {text}")
        if (amount := amounts[container]) is not None:
            found[name] = {container: Quantity.parse(amount).milli}
    return found


def request_of(container: Object, resource: str) -> int | None:
    """In thousandths; None if the container does not say."""
    amount = ((container.get("resources") or {}).get("requests") or {}).get(resource)
    return Quantity.parse(amount).milli if amount is not None else None
