"""The Controllers screen's rows: a row a controller; and of one its queue and what its reconciles wanted and found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from engine.api.duration import human_duration
from ktui.models.grid_row import GridRow
from ktui.models.signs import DONE, PAST, WAITING, WRONG, short_pod
from ktui.models.words import SOFT

Json = Mapping[str, Any]
TITLES = ("CONTROLLER", "STATE", "QUEUE", "BUSY", "RETRY", "DONE")
WIDE_TITLES = (*TITLES, "ERRORS", "LAST KEY", "AGO")
RECONCILE_TITLES = ("KEY", "OUTCOME", "MODEL~", "WALL", "WOKEN BY")


@dataclass(slots=True)
class ControllersModel:
    controllers: Json = field(default_factory=dict)
    inside: Json = field(default_factory=dict)

    def rows(self, *, wide: bool = False, now: datetime | None = None) -> list[GridRow]:
        """Those that work first, then those that have worked, the idle ones last."""
        told = sorted(self.controllers.values(), key=lambda shown: (-_rank(shown), shown["name"]))
        return [_row(shown, wide, now) for shown in told]

    @property
    def totals(self) -> dict[str, int]:
        queues = [shown["queue"] for shown in self.controllers.values()]
        return {
            "in line": sum(queue["depth"] for queue in queues),
            "in flight": sum(queue["inFlight"] for queue in queues),
            "to be retried": sum(len(retries(queue)) for queue in queues),
            "reconciles": sum(shown["reconciles"] for shown in self.controllers.values()),
            "errors": sum(shown["errors"] for shown in self.controllers.values()),
        }

    def reconciles(self) -> list[GridRow]:
        return [_reconcile_row(last) for last in self.inside.get("last") or ()]

    def reconcile(self, key: str) -> Json | None:
        last = self.inside.get("last") or ()
        number = next((n for n, entry in enumerate(last) if reconcile_key(entry) == key), None)
        return last[number] if number is not None else None


def retries(queue: Json) -> list[Json]:
    """Keys that wait because they failed; the others wait for a time that was asked for."""
    return [waiting for waiting in queue["waiting"] if waiting["retries"]]


def reconcile_key(last: Json) -> str:
    return str(last["span"])


def _rank(shown: Json) -> int:
    queue = shown["queue"]
    return 2 if queue["depth"] or queue["inFlight"] or retries(queue) else int(bool(shown["reconciles"]))


def _state(shown: Json) -> tuple[str, str]:
    queue = shown["queue"]
    if retries(queue):
        return f"{WRONG} retries", "error"
    if queue["depth"] or queue["inFlight"]:
        return f"{WAITING} works", "warning"
    return (f"{DONE} in step", "foreground") if shown["reconciles"] else (f"{PAST} idle", "foreground")


def _row(shown: Json, wide: bool, now: datetime | None) -> GridRow:
    queue, (state, tone) = shown["queue"], _state(shown)
    name = shown["name"]
    cells: tuple[str, ...] = (
        name.removesuffix("-controller"),
        state,
        str(queue["depth"]),
        str(queue["inFlight"]),
        str(len(retries(queue))),
        str(shown["reconciles"]),
    )
    if wide:
        last = next(iter(shown["last"]), None)
        cells = (*cells, str(shown["errors"]), short_pod(last["key"]) if last else "", _ago(last, now))
    return GridRow(name, cells, tone)


def _ago(last: Json | None, now: datetime | None) -> str:
    if last is None or now is None:
        return ""
    started = last["start"]
    at = started if isinstance(started, datetime) else datetime.fromisoformat(started)
    return human_duration(max(0.0, (now - at).total_seconds()))


def _reconcile_row(last: Json) -> GridRow:
    sign, tone = outcome_of(last)
    woken = ", ".join(f"rev {revision}" for revision in last["wokenBy"][:3])
    cells = (
        short_pod(last["key"]),
        f"{sign} {'done' if last['outcome'] == 'ok' else last['outcome']}",
        f"{last['model_ms']:.0f} ms",
        f"{last['wall_ms']:.1f} ms",
        woken or "a timer",
    )
    return GridRow(reconcile_key(last), cells, tone if tone != "success" else "foreground")


def outcome_of(last: Json) -> tuple[str, str]:
    """The sign of a reconcile and its tone: what is tried again as a matter of course is not a failure."""
    if last["outcome"] == "ok":
        return DONE, "success"
    return (WAITING, "warning") if last["outcome"] in SOFT else (WRONG, "error")
