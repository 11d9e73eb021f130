"""HorizontalPodAutoscalers and PodDisruptionBudgets in words.

Source of the behaviour: kubectl pkg/describe (describeHorizontalPodAutoscalerV2, describePodDisruptionBudgetV1).
"""

from __future__ import annotations

from engine.api.errors import ApiError
from engine.api.golang.text import quoted
from engine.api.selectors import format_label_selector
from engine.api.types import GVK, Object
from engine.kubectl.describe import events
from engine.kubectl.describe.writer import UNSET, Page
from engine.kubectl.errors import CommandError
from engine.kubectl.session import Session

UNKNOWN = "<unknown>"
NIL = "<nil>"  # what Go prints of a quantity that is not there
CURRENT = GVK("autoscaling", "v2", "HorizontalPodAutoscaler")


async def autoscaler(session: Session, obj: Object, *, show_events: bool) -> str:
    obj = await _newest(session, obj)
    page = Page(session.now)
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    target = {"kind": "", "name": "", **(spec.get("scaleTargetRef") or {})}
    page.head(obj)
    page.labels_and_annotations(obj)
    page.field("CreationTimestamp", page.date(obj["metadata"].get("creationTimestamp")))
    page.field("Reference", f"{target['kind']}/{target['name']}")
    page.field("Metrics", "( current / target )")
    seen = status.get("currentMetrics") or []
    for index, metric in enumerate(spec.get("metrics") or ()):
        _metric(page, metric, seen[index] if index < len(seen) else {})
    page.field("Min replicas", spec.get("minReplicas", UNSET))
    page.field("Max replicas", spec.get("maxReplicas", 0))
    if (behavior := spec.get("behavior")) is not None:
        page.line("Behavior:")
        _direction(page, "Scale Up", behavior.get("scaleUp"))
        _direction(page, "Scale Down", behavior.get("scaleDown"))
    current, desired = status.get("currentReplicas", 0), status.get("desiredReplicas", 0)
    page.field(f"{target['kind']} pods", f"{current} current / {desired} desired")
    if conditions := status.get("conditions"):
        page.line("Conditions:")
        page.row("Type", "Status", "Reason", "Message", level=1)
        page.row("----", "------", "------", "-------", level=1)
        for one in conditions:
            page.row(one.get("type", ""), one.get("status", ""), one.get("reason", ""), one.get("message", ""), level=1)
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()


async def _newest(session: Session, obj: Object) -> Object:
    """The autoscaler in the version that holds all of it, whichever was asked for."""
    if obj["apiVersion"] == CURRENT.api_version:
        return obj
    try:
        resource = await session.discovery.for_kind(session.client, CURRENT)
        return await session.get(resource, obj["metadata"]["name"], obj["metadata"]["namespace"])
    except (ApiError, CommandError):
        return obj


# Which key holds a metric of a type.
SOURCES = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def _metric(page: Page, metric: Object, seen: Object) -> None:
    key = SOURCES.get(metric["type"], "")
    source, current = metric.get(key), (seen.get(key) or {}).get("current") or {}
    if source is None:
        page.line(f'<unknown metric type "{metric["type"]}">', 1)
        return
    name = source.get("name") or (source.get("metric") or {}).get("name", "")
    target = source["target"]
    average = target.get("type") == "AverageValue" if key == "object" else "averageValue" in target or key == "pods"
    field, kind = ("averageValue", "average value") if average else ("value", "value")
    value = f"{current.get(field, UNKNOWN)} / {target.get(field, NIL)}"
    match key:
        case "external":
            page.field(f"{quoted(name)} (target {kind})", value, 1)
        case "pods":
            page.field(f"{quoted(name)} on pods", value, 1)
        case "object":
            on = source.get("describedObject") or {}
            page.field(f"{quoted(name)} on {on.get('kind', '')}/{on.get('name', '')} (target {kind})", value, 1)
        case _:
            of = f" of container {quoted(source.get('container', ''))}" if key == "containerResource" else ""
            _resource(page, f"resource {name}{of} on pods", target, current)


def _resource(page: Page, title: str, target: Object, current: Object) -> None:
    if "averageValue" in target:
        page.field(title, f"{current.get('averageValue', UNKNOWN)} / {target['averageValue']}", 1)
        return
    now, wanted = UNKNOWN, "<auto>"
    if current.get("averageUtilization") is not None:
        now = f"{current['averageUtilization']}% ({current.get('averageValue', '0')})"
    if target.get("averageUtilization") is not None:
        wanted = f"{target['averageUtilization']}%"
    page.field(f"{title}  (as a percentage of request)", f"{now} / {wanted}", 1)


def _direction(page: Page, title: str, rules: Object | None) -> None:
    if rules is None:
        return
    page.line(f"{title}:", 1)
    if rules.get("stabilizationWindowSeconds") is not None:
        page.line(f"Stabilization Window: {rules['stabilizationWindowSeconds']} seconds", 2)
    if policies := rules.get("policies"):
        page.line(f"Select Policy: {rules.get('selectPolicy', 'Max')}", 2)
        page.line("Policies:", 2)
        for one in policies:
            page.line(f"- Type: {one['type']}\tValue: {one['value']}\tPeriod: {one['periodSeconds']} seconds", 3)


async def disruption_budget(session: Session, obj: Object, *, show_events: bool) -> str:
    page = Page(session.now)
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    page.head(obj)
    if spec.get("minAvailable") is not None:
        page.field("Min available", spec["minAvailable"])
    elif spec.get("maxUnavailable") is not None:
        page.field("Max unavailable", spec["maxUnavailable"])
    page.field("Selector", format_label_selector(spec["selector"]) if spec.get("selector") is not None else UNSET)
    page.line("Status:")
    for title, key in (
        ("Allowed disruptions", "disruptionsAllowed"),
        ("Current", "currentHealthy"),
        ("Desired", "desiredHealthy"),
        ("Total", "expectedPods"),
    ):
        page.field(title, status.get(key, 0), 2)
    if show_events:
        events.write(page, await events.search(session, obj))
    return page.text()
