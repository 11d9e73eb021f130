"""One watch stream as text: where it is, the informer that it feeds, the queues behind that, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from engine.api.duration import human_duration
from ktui.models.keys import bytes_text
from ktui.models.signs import DONE, WAITING, bar, many
from ktui.models.watches import BUFFER, WatchesModel, is_out_of_the_ring, lag, resource_of, selector_text, state, who

Json = Mapping[str, Any]
Colours = Mapping[str, str]
MOST = 12


def stream_parts(model: WatchesModel, cache: Json, watcher: Json, *, colours: Colours) -> list[Text]:
    words, tone = state(cache, watcher)
    lines = [
        Text.assemble((who(watcher), "bold"), f" watches {resource_of(cache)}"),
        Text(words, colours.get("success" if tone == "foreground" else tone, "")),
        Text(f"selector  {selector_text(watcher) or 'all'}"),
        Text(f"cursor    rev {watcher['cursor']}, {lag(cache, watcher)} behind the newest"),
        Text(f"sent      {many(watcher['sent'], 'event')}, {bytes_text(watcher['bytes'])} over the wire"),
        Text(f"buffer    {bar(watcher['buffered'] / BUFFER, 10)} {watcher['buffered']} of {BUFFER}"),
        Text(f"open      {human_duration(watcher['ageSeconds'])}", "dim"),
        Text(f"as        {watcher['user']}", "dim"),
    ]
    if is_out_of_the_ring(cache, watcher):
        lines.append(Text("Taken up again here it would get 410, and list.", colours.get("warning", "")))
    return [*lines, *_informers(model, cache, watcher), *_told(model)]


def _informers(model: WatchesModel, cache: Json, watcher: Json) -> Iterator[Text]:
    behind = model.informers_behind(cache, watcher)
    if not behind:
        return
    yield from (Text(""), Text("informer behind it", "bold"))
    for informer in behind:
        sign = DONE if informer["synced"] else WAITING
        yield Text(f"{sign} {many(informer['objects'], 'object')} kept at rev {informer['resourceVersion']}")
        yield Text(
            f"  {many(informer['lists'], 'list')}, {many(informer['watches'], 'watch')}, "
            f"{many(informer['handlers'], 'handler')} told",
            "dim",
        )
    busy = [(name, queue) for name, queue in model.queues.items() if queue["depth"] or queue["inFlight"]]
    if "controller-manager" in watcher["userAgent"]:
        yield from (Text(""), Text("work queues behind that", "bold"))
        for name, queue in busy[:MOST]:
            yield Text(f"{WAITING} {name.removeprefix('controllers/')}  {queue['depth']} in line")
        yield Text(f"{DONE} {len(model.queues) - len(busy)} queues are empty", "dim")


def _told(model: WatchesModel) -> Iterator[Text]:
    yield from (Text(""), Text("cut off and listed again", "bold"))
    for line in list(model.told)[:MOST]:
        yield Text(line)
    if not model.told:
        yield Text("nothing since this screen was opened", "dim")
