"""One scheduling attempt as text: the verdict, who filtered which node, what each plugin scored, how it came there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.text import Text

from ktui.models.remedies import remedies
from ktui.models.scheduler import result_words, verdict, why_ahead
from ktui.models.signs import WRONG, short_pod
from ktui.widgets.line import fit
from ktui.widgets.verdict_tables import MOST, NODE_WIDTH, SHORT, filters, node, scores, short, title

Json = Mapping[str, Any]
Colours = Mapping[str, str]

TIMED_MS = 0.05


def attempt_parts(
    found: Json, which: int, *, width: int, colours: Colours, raw: bool = True, all_nodes: bool = False
) -> list[Text]:
    """The `which`-th newest attempt on a Pod (0 the newest) in lines of at most `width`."""
    attempts = found["decisions"]
    attempt = attempts[min(which, len(attempts) - 1)]
    most = 10_000 if all_nodes else MOST
    return [
        *_headline(attempt, found, which, len(attempts), colours),
        *filters(attempt, width, most, colours),
        *scores(attempt, width, most, colours, raw=raw),
        *_remedies(attempt),
        *_preemption(attempt, colours),
        *_history(found, attempt, colours),
        *_times(attempt, width),
    ]


def waiting_parts(found: Json, colours: Colours) -> list[Text]:
    """A Pod that was never tried: where it waits, and for what."""
    waiting = found["queue"]
    lines = [Text(short_pod(found["pod"]), "bold")]
    if waiting["gatedBy"] not in ("", "SchedulingGates"):
        state = f"◷ gated by {waiting['gatedBy']}: {waiting['gatedMessage']}"
    elif waiting["gatedBy"]:
        state = "◷ gated: it has scheduling gates, and is not tried while it has"
    else:
        state = "◐ in line: not tried yet"
    return [*lines, Text(state, colours.get("warning", "")), *_moves(waiting["moves"])]


def _headline(attempt: Json, found: Json, which: int, count: int, colours: Colours) -> Iterator[Text]:
    words, tone = result_words(attempt)
    kept = f"  ({which + 1} of {count} kept · [ older ] newer)" if count > 1 else ""
    yield Text.assemble((short_pod(attempt["pod"]), "bold"), f"  attempt {attempt['attempt']}", (kept, "dim"))
    tone = "success" if attempt["result"] == "scheduled" and tone == "foreground" else tone
    yield Text.assemble((f"{words[0]} ", f"bold {colours.get(tone, '')}"), verdict(attempt))
    ahead = why_ahead(attempt)
    if ahead and not attempt["ties"]:
        yield Text("ahead by " + ", ".join(f"{short(plugin)} +{points}" for plugin, points in ahead[:4]), "dim")
    if nominated := attempt.get("nominatedNode"):
        yield Text(f"◐ nominated to {nominated}, once its victims have gone", colours.get("warning", ""))
    if tied := attempt["tiedNodes"]:
        yield Text(f"equal: {', '.join(tied[:8])}{' …' if len(tied) > 8 else ''}", "dim")


# -- what would help


def _remedies(attempt: Json) -> Iterator[Text]:
    told = list(remedies(attempt))
    if told:
        head, hint = title("what would make it fit")[-1], "  one of these; a next hurdle may follow"
        yield from (Text(""), Text.assemble(head, (hint, "dim")))
    for nodes, words in told:
        yield Text.assemble((f"{nodes} node{'s' if nodes != 1 else ''}  ", "dim"), words)


# -- how it came there


def _preemption(attempt: Json, colours: Colours) -> Iterator[Text]:
    notes = attempt["notes"]
    candidates = notes.get("candidates") or ()
    if not candidates:
        return
    chosen = (notes.get("preemption") or {}).get("node") or attempt.get("nominatedNode", "")
    yield from title("preemption: whom it could take the place of")
    for candidate in candidates[:MOST]:
        line = node(candidate["node"], NODE_WIDTH, is_winner=candidate["node"] == chosen)
        victims = candidate["victims"]
        line.append(f"{len(victims)} victim{'s' if len(victims) != 1 else ''}", colours.get("error", ""))
        if broken := candidate["pdbViolations"]:
            budgets = f"  {WRONG} breaks {broken} disruption budget{'s' if broken != 1 else ''}"
            line.append(budgets, colours.get("error", ""))
        line.append(f"  {', '.join(short_pod(victim) for victim in victims[:4])}{' …' if len(victims) > 4 else ''}")
        yield line


def _history(found: Json, attempt: Json, colours: Colours) -> Iterator[Text]:
    waiting = found.get("queue")
    moves = waiting["moves"] if waiting is not None else attempt["moves"]
    if waiting is not None:
        plugins = [*waiting["unschedulablePlugins"], *waiting["pendingPlugins"]]
        yield from title(f"waits in the {'back-off' if waiting['in'] == 'backoff' else waiting['in']} queue")
        if plugins:
            yield Text(f"until something changes that helps {', '.join(plugins)}", colours.get("warning", ""))
    yield from _moves(moves)


def _moves(moves: Sequence[Json]) -> Iterator[Text]:
    if moves:
        yield from title("queue: what moved it")
        for move in reversed(moves[-6:]):
            hint = f"  by the hint of {SHORT.get(move['plugin'], move['plugin'])}" if move.get("plugin") else ""
            yield Text.assemble((move["time"][11:19], "dim"), f"  {move['event']} → {move['to']}", (hint, "dim"))


def _times(attempt: Json, width: int) -> Iterator[Text]:
    taken = [entry for entry in attempt["durations"] if entry["wall_ms"] >= TIMED_MS]
    taken.sort(key=lambda entry: -entry["wall_ms"])
    yield from title(f"wall {attempt['wall_ms']:.1f} ms on this machine")
    texts = [f"{entry['extensionPoint']} {short(entry['plugin'])} {entry['wall_ms']:.1f}" for entry in taken[:6]]
    if texts:
        yield Text(fit(" · ".join(texts), width), "dim")
