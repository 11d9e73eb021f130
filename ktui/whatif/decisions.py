"""A scheduling decision as tables: who rejected which node and why, what each plugin gave, who won.

Pure functions over what `engine.scheduler.decisions.Decision.to_json` makes, be it of a real attempt or of a what-if.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ktui.report import Section

Decision = dict[str, Any]

SHOWN_NODES = 10


def headline(decision: Decision) -> str:
    """One line: what was decided of which Pod, and how it came about."""
    words = [f"pod {decision['pod']}", f"attempt {decision['attempt']}", _result(decision) or "under way"]
    if decision["node"]:
        words[2] += f" on {decision['node']}"
    elif decision.get("nominatedNode"):
        words[2] += f", nominated to {decision['nominatedNode']}"
    words += [f"profile {decision['profile']}", f"{decision.get('wall_ms', 0):.2f} ms"]
    return "  ·  ".join(words)


def _result(decision: Decision) -> str:
    """What came of it in the end: a Pod with a node may yet be kept from it, by Permit or by whoever binds it."""
    match decision.get("binding"):
        case "waiting":
            return "waiting"
        case "failed":
            return "not bound"
        case _:
            return str(decision["result"])


def _message(decision: Decision) -> str:
    return str(decision["message"] or decision.get("bindingMessage", ""))


def sections(decision: Decision, *, nodes: int = SHOWN_NODES, level: int = 2, details: bool = False) -> list[Section]:
    """What there is to a decision; of many nodes the first `nodes`. Where the time went is one of the details."""
    made = [Section(headline(decision), _facts(decision), level=level)]
    parts = [_filters(decision, nodes), _scores(decision, nodes), _preemption(decision), _moves(decision)]
    for part in [*parts, *([_durations(decision)] if details else ())]:
        if part is not None:
            part.level = level + 1
            made.append(part)
    return made


def _facts(decision: Decision) -> list[str]:
    lines = []
    if message := _message(decision):
        lines.append(message)
    total, looked = decision["nodes"], decision["evaluatedNodes"]
    lines.append(f"{total} nodes: {looked} looked at, {decision['feasibleNodes']} feasible")
    if tied := decision["tiedNodes"]:
        lines.append(f"tie of {len(tied)}, broken by chance: {', '.join(tied[:SHOWN_NODES])}")
    return lines


def _more(count: int, shown: int) -> list[str]:
    return [f"{count - shown} more nodes: --nodes shows more of them"] if count > shown else []


def _filters(decision: Decision, nodes: int) -> Section | None:
    """One row a node; the feasible ones last, as they have nothing to say here."""
    rejected = [(r["node"], r["plugin"] or "-", r["code"], "; ".join(r["reasons"])) for r in decision["rejected"]]
    feasible = [(row["node"], "-", "Success", "") for row in decision["scores"]]
    rows = [*rejected, *feasible]
    header = ("node", "plugin", "verdict", "reason")
    return Section("FILTER", _more(len(rows), nodes), header, list(rows[:nodes])) if rows else None


def _scores(decision: Decision, nodes: int) -> Section | None:
    """A row for each plugin on each node, the best node first; the sum stands in the node's first row."""
    scored = [row for row in decision["scores"] if row["total"] is not None]
    rows: list[Sequence[object]] = []
    for row in scored[:nodes]:
        name, total = row["node"], row["total"]
        for entry in row["plugins"]:
            mark = "winner" if name and row["node"] == decision["node"] else ""
            figures = (entry["raw"], entry["normalized"], entry["weight"], entry["weighted"])
            rows.append((name, total, entry["plugin"], *figures, mark))
            name = total = ""
    header = ("node", "total", "plugin", "raw", "normalized", "weight", "weighted", "")
    if rows:
        return Section("SCORE", _more(len(scored), nodes), header, rows)
    if len(decision["scores"]) == 1:
        return Section("SCORE", ["the one feasible node needs no score"])
    return None


def _preemption(decision: Decision) -> Section | None:
    notes = decision["notes"]
    candidates = notes.get("candidates") or []
    if not candidates:
        return None
    chosen = (notes.get("preemption") or {}).get("node")
    rows = [
        (
            c["node"],
            len(c["victims"]),
            c["pdbViolations"],
            ", ".join(c["victims"]),
            "chosen" if c["node"] == chosen else "",
        )
        for c in candidates
    ]
    return Section("PREEMPTION", [], ("node", "victims", "pdb violations", "pods", ""), list(rows))


_MOVE = ("time", "event", "to", "by the hint of")


def _moves(holder: Decision) -> Section | None:
    """What moved the Pod between queues: before an attempt, or before it was ever tried."""
    rows = [(move["time"], move["event"], move["to"], move.get("plugin", "")) for move in holder["moves"]]
    return Section("QUEUE", [], _MOVE, list(rows)) if rows else None


def _durations(decision: Decision) -> Section | None:
    rows = [
        (d["extensionPoint"], d["plugin"], f"{d['wall_ms']:.3f}") for d in decision["durations"] if d["wall_ms"] > 0
    ]
    return Section("DURATIONS", [], ("extension point", "plugin", "ms"), list(rows)) if rows else None


def waiting(view: dict[str, Any]) -> list[Section]:
    """Where a Pod waits now, and for whom; `view` is what the scheduler keeps on it."""
    queue = view["queue"]
    if queue is None:
        return []
    attempts = "1 attempt" if queue["attempts"] == 1 else f"{queue['attempts']} attempts"
    line = f"{view['pod']} waits in the {queue['in']} queue after {attempts}"
    if queue["gatedBy"]:
        line += f", gated by {queue['gatedBy']}" + (f": {why}" if (why := queue.get("gatedMessage")) else "")
    elif plugins := [*queue["unschedulablePlugins"], *queue["pendingPlugins"]]:
        line += f", until an event helps that {', '.join(plugins)} would take"
    moves = _moves(queue) if not view["decisions"] else None
    return [Section("", [line], _MOVE, moves.rows if moves is not None else [])]


SUMMARY = ("pod", "attempt", "result", "node", "feasible", "ties", "message")


def summary(decision: Decision) -> tuple[object, ...]:
    """A row of `SUMMARY`."""
    feasible = f"{decision['feasibleNodes']}/{decision['nodes']}"
    where = decision["node"] or (f"({decision['nominatedNode']})" if decision.get("nominatedNode") else "-")
    return (
        decision["pod"], decision["attempt"], _result(decision) or "-", where, feasible, decision["ties"] or "-",
        _message(decision),
    )  # fmt: skip
