"""A controller's queue as text, and one reconcile: what was wanted against what was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml
from rich.text import Text

from ktui.models.controllers import outcome_of, retries
from ktui.models.signs import CLOCK, WAITING, WRONG, many, short_pod
from ktui.models.words import EXPLAINED
from ktui.widgets.line import fit_middle

Json = Mapping[str, Any]
Colours = Mapping[str, str]
MOST_KEYS = 8
SHORTEST_NAME = 12


def queue_parts(inside: Json, *, width: int, colours: Colours) -> list[Text]:
    queue = inside["queue"]
    return [
        Text.assemble((inside["name"], "bold"), (f"  {many(inside['workers'], 'worker')}", "dim")),
        Text(
            f"queue  {queue['depth']} in line · {queue['inFlight']} in flight · {queue['adds']} added in all · "
            f"{queue['retries']} retries"
        ),
        *_keys(queue, width, colours),
    ]


def _keys(queue: Json, width: int, colours: Colours) -> Iterator[Text]:
    for key in queue["processing"][:MOST_KEYS]:
        yield Text(_key(WAITING, key, "in flight", width), colours.get("warning", ""))
    for key in queue["queued"][:MOST_KEYS]:
        yield Text(_key(WAITING, key, "in line", width))
    failed = {waiting["key"] for waiting in retries(queue)}
    for waiting in queue["waiting"][:MOST_KEYS]:
        words = f"again in {waiting['seconds']:.1f} s"
        if waiting["key"] in failed:
            words = f"retry {waiting['retries']} {words}"
            yield Text(_key(WRONG, waiting["key"], words, width), colours.get("error", ""))
        else:
            yield Text(_key(CLOCK, waiting["key"], f"looks {words}", width), "dim")


def _key(sign: str, key: str, words: str, width: int) -> str:
    """A long name gives way to what is said of it."""
    room = max(SHORTEST_NAME, width - len(words) - 4)
    return f"{sign} {fit_middle(short_pod(key), room)}  {words}"


def reconcile_parts(last: Json, *, colours: Colours) -> list[Text]:
    is_good = last["outcome"] == "ok"
    mark, tone = outcome_of(last)
    sign = Text(f"{mark} ", colours.get(tone, ""))
    woken = ", ".join(f"rev {revision}" for revision in last["wokenBy"]) or "a timer or a retry"
    lines = [
        Text(""),
        sign.append(short_pod(last["key"]), "bold").append(f"  {last['outcome']}" if not is_good else ""),
        *([Text(f"  {EXPLAINED[last['outcome']]}", "dim")] if last["outcome"] in EXPLAINED else []),
        Text(f"woken by {woken}", "dim"),
    ]
    if last.get("error"):
        lines.append(Text(str(last["error"]), colours.get("error", "")))
    for name in ("desired", "actual"):
        if last.get(name) is not None:
            lines += [Text(""), Text(name, "bold")]
            shown = yaml.safe_dump(last[name], sort_keys=False).removesuffix("...\n")
            lines += [Text(f"  {line}") for line in shown.splitlines()]
    if "desired" in last and "actual" in last:
        return lines
    return [*lines, Text("This reconcile tells of no figures: it had nothing to weigh.", "dim")]
