"""An object of the Tree as text: its conditions, its containers' states, and the newest Events about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.text import Text

from engine.api.duration import human_duration
from engine.api.types import Object
from ktui.models.owner_tree import container_state, state_of, tone_of
from ktui.models.signs import DONE, PAST, WAITING, WRONG, many

Json = Mapping[str, Any]
Colours = Mapping[str, str]
MOST_EVENTS = 12
BAD_WHEN_TRUE = frozenset({"ReplicaFailure", "Failed", "FailureTarget", "Suspended", "DisruptionTarget"})


def owned_parts(kind: str, obj: Object, now: datetime | None, colours: Colours) -> list[Text]:
    """The object itself; `kind` as in the Tree's `KINDS`."""
    ready, word, sign = state_of(kind, obj)
    metadata = obj["metadata"]
    head = Text.assemble((metadata["name"], "bold"), (f"  {kind} in {metadata.get('namespace', '')}", "dim"))
    state = Text(" ".join(part for part in (sign, ready, word) if part), colours.get(tone_of(sign), ""))
    containers = _containers(obj, colours) if kind == "pods" else ()
    return [head, state, *_conditions(obj, now, colours), *containers]


def _conditions(obj: Object, now: datetime | None, colours: Colours) -> Iterator[Text]:
    conditions = obj.get("status", {}).get("conditions") or ()
    if conditions:
        yield from _title("conditions")
    for condition in conditions:
        is_well = (condition.get("status") == "True") != (condition["type"] in BAD_WHEN_TRUE) or _is_over(condition)
        sign, tone = (DONE, "success") if is_well else (WAITING, "warning")
        since = _ago(condition.get("lastTransitionTime"), now)
        yield Text.assemble(
            (f"{sign} {condition['type']}", colours.get(tone, "")),
            f" {condition.get('status', '')}",
            (f"  {since}" if since else "", "dim"),
            f"  {condition['reason']}" if condition.get("reason") else "",
        )
        if not is_well and condition.get("message"):
            yield Text(f"  {condition['message']}", "dim")


def _is_over(condition: Json) -> bool:
    """Of a Pod that is done nobody expects that it is ready."""
    return condition.get("reason") == "PodCompleted"


def _containers(pod: Object, colours: Colours) -> Iterator[Text]:
    yield from _title("containers~")
    for status in _statuses(pod):
        words, sign = container_state(status)
        count = status.get("restartCount", 0)
        restarts = f"  {many(count, 'restart')}" if count else ""
        yield Text.assemble(
            (f"{sign} {status['name']}", colours.get(tone_of(sign), "")), f"  {words}", (restarts, "dim")
        )
        for state in (status.get("state") or {}, status.get("lastState") or {}):
            yield from _why(state)


def _statuses(pod: Object) -> Iterator[Json]:
    status = pod.get("status", {})
    for field in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"):
        yield from status.get(field) or ()


def _why(state: Json) -> Iterator[Text]:
    if message := (state.get("waiting") or {}).get("message"):
        yield Text(f"  {message}", "dim")
    if ended := state.get("terminated"):
        said = f": {ended['message'].strip()}" if ended.get("message") else ""
        yield Text(f"  ended {ended.get('reason', '')} with exit code {ended.get('exitCode', '?')}{said}", "dim")


def event_parts(events: Sequence[Json], now: datetime | None, colours: Colours) -> Iterator[Text]:
    """The newest Events first."""
    yield from _title("events")
    if not events:
        yield Text("none in the last hour", "dim")
    for event in sorted(events, key=_last_seen, reverse=True)[:MOST_EVENTS]:
        sign, tone = (PAST, "") if event.get("type") == "Normal" else (WRONG, colours.get("error", ""))
        count = event.get("count") or (event.get("series") or {}).get("count") or 1
        yield Text.assemble(
            (f"{sign} {event.get('reason', '')}", tone),
            (f"  {_ago(_last_seen(event), now)}" + (f" ×{count}" if count > 1 else ""), "dim"),
        )
        yield Text(f"  {event.get('message', '')}", "dim")


def _last_seen(event: Json) -> str:
    series = event.get("series") or {}
    seen = series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime")
    return str(seen or event["metadata"].get("creationTimestamp") or "")


def _ago(time: str | None, now: datetime | None) -> str:
    if not time or now is None:
        return ""
    return human_duration(max(0.0, (now - datetime.fromisoformat(time)).total_seconds()))


def _title(text: str) -> list[Text]:
    return [Text(""), Text(text, "bold")]
