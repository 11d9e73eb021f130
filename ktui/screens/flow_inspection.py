"""What the engine is asked about a Flow row: what crossed the wire, what was decided, what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import RenderableType

from engine.client import Client
from ktui.feeds import inspection
from ktui.models.exchange import Span
from ktui.models.flow import FlowModel
from ktui.models.flow_rows import FlowRow, Kind
from ktui.widgets import hop_details

Colours = Mapping[str, str]


async def asked(
    client: Client, model: FlowModel, row: FlowRow, spans: Sequence[Span], colours: Colours
) -> list[RenderableType]:
    """What belongs below what the spans tell; nothing where the engine no longer knows."""
    scheduled = next((span for span in spans if span["verb"] == "schedule"), None)
    if scheduled is not None:
        found = await inspection.decision(client, scheduled["object"])
        return list(hop_details.decision(found, colours)) if found else []
    stored = _stored(model, spans) if row.kind in (Kind.STORE, Kind.WATCH) else None
    if stored is not None:
        return await _change(client, stored, colours)
    authenticated = _authenticated(model, spans)
    if authenticated is not None and authenticated["detail"].get("payload"):
        found = await inspection.payload(client, authenticated["detail"]["payload"])
        return list(hop_details.payload(found, colours)) if found else []
    return []


def _stored(model: FlowModel, spans: Sequence[Span]) -> Span | None:
    """The write that the row is, or that its event tells of."""
    for span in spans:
        found = span if span["hop"] == 7 else model.spans.get(span["parent"])
        if found is not None and found["hop"] == 7:
            return found
    return None


def _authenticated(model: FlowModel, spans: Sequence[Span]) -> Span | None:
    """Hop 2 of the row's request, under which request and response are kept; the answer's row has but its root."""
    own = hop_details.first(spans, 2)
    if own is not None:
        return own
    parents = {span["id"] for span in spans if span["hop"] == 1}
    parents |= {span["parent"] for span in spans if 2 < span["hop"] <= 7}
    for span in spans[:1]:
        trace = model.traces.get(span["traceId"], ())
        verb = span["verb"]
        return next((s for s in trace if s["hop"] == 2 and s["parent"] in parents and s["verb"] == verb), None)
    return None


async def _change(client: Client, stored: Span, colours: Colours) -> list[RenderableType]:
    """The object before and after a write."""
    detail, revision = stored["detail"], stored["revision"]
    key = detail.get("key", "")
    if not revision or not key:
        return []
    before = await inspection.value(client, key, detail["expected"]) if detail.get("expected") else None
    after = await inspection.value(client, key, revision)
    if before is None and after is None:
        return []
    words = "created" if before is None else f"against rev {detail['expected']}"
    return [hop_details.title(f"rev {revision} {words}"), *hop_details.changes(before, after, colours)]
