"""The events of an object, at the end of its description.

Source of the behaviour: kubectl pkg/describe (searchEvents, DescribeEvents).
"""

from __future__ import annotations

from engine.api.errors import ApiError
from engine.api.types import GVK, Object
from engine.kubectl.describe.writer import Page
from engine.kubectl.discovery import Resource
from engine.kubectl.session import Session

EVENTS = Resource.unasked(GVK("", "v1", "Event"))  # what no server need be asked about


async def search(session: Session, obj: Object, *, with_kind: bool = True, uid: str | None = None) -> list[Object]:
    """The events that are about an object; none where they may not be seen."""
    metadata = obj["metadata"]
    namespace = metadata.get("namespace", "")
    fields = {
        "involvedObject.name": metadata["name"],
        "involvedObject.namespace": namespace,
        "involvedObject.kind": obj.get("kind", "") if with_kind else "",
        "involvedObject.uid": metadata.get("uid", "") if uid is None else uid,
    }
    selector = ",".join(f"{name}={value}" for name, value in fields.items() if value)
    try:
        return await session.list(EVENTS, namespace, fieldSelector=selector)
    except ApiError:
        return []


def write(page: Page, events: list[Object]) -> None:
    if not events:
        page.line("Events:\t<none>")
        return
    page.flush()
    page.line("Events:\n  Type\tReason\tAge\tFrom\tMessage")
    page.row("----", "------", "----", "----", "-------", level=1)
    for event in sorted(events, key=lambda event: str(event.get("lastTimestamp") or "")):
        message = str(event.get("message", "")).strip()
        if path := event.get("involvedObject", {}).get("fieldPath"):
            message = f"{path}: {message}"
        page.row(event.get("type", ""), event.get("reason", ""), interval(page, event), source(event), message, level=1)


def interval(page: Page, event: Object) -> str:
    """`5s`, or `5s (x3 over 2m)` for one that came again."""
    first = page.since(event.get("eventTime") or event.get("firstTimestamp"))
    if (series := event.get("series")) is not None:
        return f"{page.since(series.get('lastObservedTime'))} (x{series.get('count', 0)} over {first})"
    if (count := event.get("count", 0)) > 1:
        return f"{page.since(event.get('lastTimestamp'))} (x{count} over {first})"
    return first


def source(event: Object) -> str:
    return str((event.get("source") or {}).get("component") or event.get("reportingComponent") or "")
