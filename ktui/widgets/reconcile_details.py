"""A controller's queue as text, and one reconcile: what was wanted against what was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml
from rich.text import Text

from ktui.models.controllers import retries
from ktui.models.signs import CLOCK, DONE, WAITING, WRONG, many, short_pod
from ktui.widgets.line import fit

Json = Mapping[str, Any]
Colours = Mapping[str, str]
MOST_KEYS = 8


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
        yield Text(fit(f"{WAITING} {short_pod(key)}  in flight", width), colours.get("warning", ""))
    for key in queue["queued"][:MOST_KEYS]:
        yield Text(fit(f"{WAITING} {short_pod(key)}  in line", width))
    failed = {waiting["key"] for waiting in retries(queue)}
    for waiting in queue["waiting"][:MOST_KEYS]:
        words = f"again in {waiting['seconds']:.1f} s"
        if waiting["key"] in failed:
            text = f"{WRONG} {short_pod(waiting['key'])}  retry {waiting['retries']} {words}"
            yield Text(fit(text, width), colours.get("error", ""))
        else:
            yield Text(fit(f"{CLOCK} {short_pod(waiting['key'])}  looks {words}", width), "dim")


def reconcile_parts(last: Json, *, colours: Colours) -> list[Text]:
    is_good = last["outcome"] == "ok"
    sign = Text(f"{DONE if is_good else WRONG} ", colours.get("success" if is_good else "error", ""))
    woken = ", ".join(f"rev {revision}" for revision in last["wokenBy"]) or "a timer or a retry"
    lines = [
        Text(""),
        sign.append(short_pod(last["key"]), "bold").append(f"  {last['outcome']}" if not is_good else ""),
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
