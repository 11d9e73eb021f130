"""The inside of hops as text and tables, from spans and from what the debug endpoints tell of them. Pure functions."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ktui.models.exchange import Span
from ktui.models.story import HOP_NAMES, usual
from ktui.models.words import EXPLAINED, NAMESPACED, SOFT, resource_of
from ktui.trace_tree import LAMPS, milliseconds, verb_of
from ktui.widgets.syntax import yaml_text

Colours = Mapping[str, str]
_SHOWN_ELSEWHERE = frozenset(
    {"deletes", "plugins", "verdicts", "verdict", "authorizer", "reason", "payload", "groups", "tried", "user"}
)
_SCORE_HEADS = {
    "TaintToleration": "taint",
    "NodeResourcesFit": "fit",
    "PodTopologySpread": "spread",
    "NodeResourcesBalancedAllocation": "bal",
    "ImageLocality": "image",
    "NodeAffinity": "affin",
    "InterPodAffinity": "inter",
}


def title(text: str) -> Text:
    return Text(f"\n{text}", "bold")


def describe(span: Span, colours: Colours) -> Iterator[RenderableType]:
    """One hop: what, who, when, how long, and what was decided."""
    hop, outcome = span["hop"], span["outcome"]
    if hop == 2 and span["detail"].get("verdict") == "deny":
        hop = 3  # of a read both are one span: it was known who asks
    sign, tone = ("✓", "success") if outcome == "ok" else ("✖", "warning" if outcome in SOFT else "error")
    yield Text.assemble(
        (f"{LAMPS[hop - 1]} {HOP_NAMES[hop - 1]}", "bold"),
        "  ",
        (sign if outcome == "ok" else f"{sign} {outcome}", colours.get(tone, "")),
    )
    if outcome in EXPLAINED:
        yield Text(EXPLAINED[outcome], "dim")
    yield _facts(span)
    yield from _decisions(span, colours)
    yield Text("")


def _what(span: Span) -> str:
    """`create pod in default` where `pod/default` would read as a Pod of that name. Of kinds that are not built in
    nobody knows here whether they are in namespaces."""
    object = span["object"]
    kind, _, place = object.partition("/")
    if kind not in NAMESPACED or not place or "/" in place:
        return f"{verb_of(span)} {object}"
    return f"{verb_of(span)} {kind if span['verb'] == 'create' else resource_of(object)} in {place}"


def _facts(span: Span) -> Table:
    bounds = usual(span["hop"]) if span["model_ms"] and span["hop"] > 1 else None  # hop 1 lasts till the answer
    rows = [
        ("what", _what(span)),
        ("by", span["detail"].get("user") or span["component"]),
        ("revision", str(span["revision"] or "")),
        ("woken by", ", ".join(f"rev {revision}" for revision in span["wokenBy"])),
        ("began", span["start"][11:23]),
        ("model~", _against_usual(milliseconds(span["model_ms"]), bounds)),
        ("wall", milliseconds(span["wall_ms"])),
    ]
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        if value and value != "-":
            table.add_row(name, value)
    return table


def _against_usual(took: str, bounds: tuple[float, float] | None) -> str:
    """`209.4 ms (usual 50-200)`: the unit once, where there is little room."""
    if bounds is None:
        return took
    return f"{took} (usual {bounds[0]:g}-{bounds[1]:g}{'' if took.endswith(' ms') else ' ms'})"


def _decisions(span: Span, colours: Colours) -> Iterator[RenderableType]:
    detail = span["detail"]
    for name, verdict in detail.get("verdicts", {}).items():
        yield _verdict(name, verdict, colours)
    if detail.get("reason") and detail.get("verdict"):
        yield Text(f"  {detail['reason']}", "dim")
    for plugin in detail.get("plugins", ()):
        yield _verdict(plugin["name"], plugin["verdict"], colours)
    rest = {key: value for key, value in detail.items() if key not in _SHOWN_ELSEWHERE and value not in ("", [], {})}
    if rest:
        yield Text(yaml.safe_dump(rest, sort_keys=False, allow_unicode=True, width=60).rstrip(), "dim")


def _verdict(name: str, verdict: str, colours: Colours) -> Text:
    if verdict in ("allow", "accepted", "passed", "changed"):
        sign, colour = "✓", "success"
    elif verdict in ("no opinion", "skipped"):
        sign, colour = "·", "foreground"
    else:
        sign, colour = "✖", "error"
    words = "" if verdict in ("passed", "accepted") else f"  {verdict}"
    return Text.assemble(("  " + sign, colours.get(colour, "")), f" {name}", (words, "dim"))


def decision(found: Mapping[str, Any], colours: Colours) -> Iterator[RenderableType]:
    """A scheduling attempt: nodes by scores, the winner marked; and why the others were out."""
    attempts = found.get("decisions") or ()
    if not attempts:
        return
    newest = attempts[0]
    yield title(f"nodes {newest['nodes']} → fit {newest['feasibleNodes']} → {newest.get('node') or newest['result']}")
    scores = newest.get("scores") or ()
    if scores:
        table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
        table.add_column("node", no_wrap=True)
        for plugin in scores[0]["plugins"]:
            table.add_column(_SCORE_HEADS.get(plugin["plugin"], plugin["plugin"][:6]), justify="right", no_wrap=True)
        table.add_column("Σ", justify="right", no_wrap=True)
        for score in scores[:20]:
            is_winner = score["node"] == newest.get("node")
            weighted = [str(plugin["weighted"]) for plugin in score["plugins"]]
            total = f"{score['total']} {'◄' if is_winner else ' '}"
            table.add_row(score["node"], *weighted, total, style="bold" if is_winner else "")
        yield table
    for rejected in list(newest.get("rejected") or ())[:20]:
        reasons = rejected.get("reasons") or [rejected.get("reason", "")]
        yield Text.assemble(
            ("✖ ", colours.get("error", "")), f"{rejected.get('node', '')}  ", (", ".join(map(str, reasons)), "dim")
        )
    if newest.get("message"):
        yield Text(newest["message"], colours.get("warning", ""))


def shown_object(obj: Any) -> Any:
    """An object without what only machines read."""
    if not isinstance(obj, dict) or not isinstance(obj.get("metadata"), dict):
        return obj
    metadata = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    return {**obj, "metadata": metadata}


def dump(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=200).rstrip()


def _sorted_lines(obj: Any) -> list[str]:
    """With sorted keys: what is the same stands in the same place, whoever wrote it."""
    if obj is None:
        return []
    return yaml.safe_dump(shown_object(obj), allow_unicode=True, width=200).rstrip().splitlines()


def changes(before: Any, after: Any, colours: Colours) -> Iterator[RenderableType]:
    """What a write changed, as a diff of YAML."""
    old, new = _sorted_lines(before), _sorted_lines(after)
    lines = list(difflib.unified_diff(old, new, lineterm="", n=1))[2:]
    if not lines:
        yield Text("nothing changed but metadata", "dim")
    for line in lines[:200]:
        yield Text(line, _diff_style(line, colours), no_wrap=True)


def _diff_style(line: str, colours: Colours) -> str:
    if line.startswith("+"):
        return colours.get("success", "")
    if line.startswith("-"):
        return colours.get("error", "")
    return "dim"


def payload(found: Mapping[str, Any], colours: Colours) -> Iterator[RenderableType]:
    """Request and response as they crossed the wire."""
    request, response = found["request"], found.get("response")
    query = "&".join(f"{name}={value}" for name, values in request["query"].items() for value in values)
    yield title("request")
    yield Text(f"{request['method']} {request['path']}{'?' + query if query else ''}", overflow="fold")
    yield from _message(request, colours)
    if response is not None:
        yield title(f"response {response['status']}")
        yield from _message(response, colours)


def _message(message: Mapping[str, Any], colours: Colours) -> Iterator[RenderableType]:
    for name, value in message["headers"].items():
        yield Text(f"{name}: {value}", "dim", overflow="fold")
    if message.get("encoded"):
        yield Text(f"{message['encoded']}, which stand for", "dim")
    if message.get("body") is not None:
        text = dump(shown_object(message["body"]))
        yield yaml_text(text, colours)


def first(spans: Sequence[Span], hop: int) -> Span | None:
    return next((span for span in spans if span["hop"] == hop), None)
