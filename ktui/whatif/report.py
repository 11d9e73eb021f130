"""What-if answers as tables. Pure functions over the JSON that `engine.scheduler.whatif` makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ktui.report import Section
from ktui.whatif import decisions as decision_report

Json = dict[str, Any]

SHOWN_REMEDIES = 5
_POD = "Pod "  # so begins the `madeFor` of a Pod with a generateName: no controller stands behind it


_IN_ORDER = (
    "Pods are placed in the order given: of Pods made at once a scheduler tries those of the highest priority first"
)


def placements(outcomes: Sequence[Json], *, nodes: int, details: bool) -> list[Section]:
    """Where each Pod would go; in full for a single one, or for all with `details`."""
    placed = sum(_stays(outcome) for outcome in outcomes)
    title = f"{placed} of {len(outcomes)} Pods would be placed; nothing is bound"
    lines = [*_made_up(outcomes), *([_IN_ORDER] if any(outcome.get("evictedBy") for outcome in outcomes) else ())]
    header = ("pod", "node", "feasible", "score", "why")
    made = [Section(title, lines, header, [_row(outcome) for outcome in outcomes], level=1)]
    made += [section for outcome in _alike(outcomes) if (section := remedies(outcome)) is not None]
    if details or len(outcomes) == 1:
        for outcome in outcomes:
            if not outcome.get("gate"):
                made += decision_report.sections(outcome["decision"], nodes=nodes, details=details)
    return made


def _stays(outcome: Json) -> bool:
    return bool(outcome["node"]) and not outcome.get("evictedBy")


def _made_up(placed: Sequence[Json]) -> list[str]:
    """Whose Pods will have other names than the answer gives them."""
    owners = list(dict.fromkeys(each["madeFor"] for each in placed if each.get("madeFor")))
    pods = [owner for owner in owners if owner.startswith(_POD)]
    owners = [owner for owner in owners if not owner.startswith(_POD)]
    lines = []
    if pods:
        which = f"name of {pods[0]} is" if len(pods) == 1 else f"names of {_first_of(pods)} are"
        lines.append(f"the {which} made up: the API server would choose another")
    if owners:
        lines.append(f"the names of the Pods of {_first_of(owners)} are made up: their controller would name them")
    return lines


def _first_of(names: Sequence[str], shown: int = 3) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


def _row(outcome: Json) -> tuple[object, ...]:
    decision = outcome["decision"]
    best = decision["scores"][0]["total"] if decision["scores"] else None
    return (
        outcome["pod"],
        outcome["node"] or "-",
        "-" if outcome.get("gate") else f"{decision['feasibleNodes']}/{decision['nodes']}",
        "-" if best is None or not outcome["node"] else best,
        _why(outcome),
    )


def _why(outcome: Json) -> str:
    """In a few words what decided: the lead over the next node, the tie, the preemption, or what is in the way."""
    decision = outcome["decision"]
    if later := outcome.get("evictedBy"):
        return f"evicted afterwards by {later}"
    if victims := outcome.get("preempted"):
        return f"after preempting {', '.join(victims)}"
    if not outcome["node"]:
        return str(outcome["message"])
    if decision["tiedNodes"]:
        return f"tie of {len(decision['tiedNodes'])}, broken by chance"
    scored = [row for row in decision["scores"] if row["total"] is not None]
    if len(scored) < 2:
        return "the one feasible node"
    first, second = scored[0], scored[1]
    lead = {e["plugin"]: e["weighted"] for e in first["plugins"]}
    for entry in second["plugins"]:
        lead[entry["plugin"]] = lead.get(entry["plugin"], 0) - entry["weighted"]
    plugins = [f"{plugin} +{points}" for plugin, points in sorted(lead.items(), key=lambda p: -p[1]) if points > 0]
    return f"{first['total'] - second['total']} ahead of {second['node']}: {', '.join(plugins[:3])}"


def _alike(outcomes: Sequence[Json]) -> list[Json]:
    """Of Pods that fail alike (replicas) the first one."""
    seen: dict[str, Json] = {}
    for outcome in outcomes:
        if not outcome["node"] and not outcome.get("gate"):
            actions = str([[r["action"] for r in node["remedies"]] for node in outcome["remedies"]])
            seen.setdefault(actions, outcome)
    return list(seen.values())


def remedies(outcome: Json, *, shown: int = SHOWN_REMEDIES) -> Section | None:
    found = outcome["remedies"]
    if not found:
        return None
    rows: list[Sequence[object]] = []
    for node in found[:shown]:
        name = node["node"] or "any"
        for remedy in node["remedies"]:
            rows.append((name, remedy["plugin"], remedy["action"]))
            name = ""
    more = [f"{len(found) - shown} more nodes, which need more: -o json tells all"] if len(found) > shown else []
    title = f"what would make {outcome['pod']} fit, the smallest change first"
    return Section(title, more, ("node", "plugin", "do"), rows)


def capacity(found: Json) -> list[Section]:
    """How many more fit, where, and what runs out first."""
    count = f"at least {found['fit']}" if found["limited"] else str(found["fit"])
    made_for = found["madeFor"]
    like = f"those of {made_for}" if made_for and not made_for.startswith(_POD) else f"Pod {found['pod']}"
    lines = [f"{count} more Pod{'' if count == '1' else 's'} like {like} fit{'s' if count == '1' else ''}"]
    if found["limited"]:
        lines.append("the count ended at its limit: --limit raises it")
    elif found["message"] and not found["reasons"]:
        lines.append(f"what is in the way: {found['message']}")
    elif reason := found["runsOutFirst"]:
        lines.append(_runs_out(reason, found))
    made = [Section(lines[0], lines[1:], ("node", "pods"), sorted(found["nodes"].items()), level=1)]
    if found["reasons"]:
        rows = sorted(found["reasons"].items(), key=lambda item: -item[1])
        made.append(Section("why one more does not fit", [found["message"]], ("reason", "nodes"), list(rows)))
    if (section := remedies(found)) is not None:
        section.title = "what would make room for one more"
        made.append(section)
    return made


def _runs_out(reason: str, found: Json) -> str:
    if not found["spent"]:
        return f"what is in the way: {reason} (on {found['reasons'][reason]} of the nodes)"
    nodes, had_room = found["spent"][reason], found["hadRoom"]
    where = "the one node" if had_room == 1 else f"{nodes} of the {had_room} nodes"
    lacking, _, resource = reason.partition("Insufficient ")
    if resource and not lacking:
        return f"what runs out first: {resource} ({reason} on {where} that had room)"
    return f"what is in the way first: {reason} (on {where} that had room)"


def comparison(pairs: Sequence[Json], before: str, after: str) -> list[Section]:
    """Which Pods go elsewhere under another configuration, and which plugins make it so."""
    made = [*_unserved(pairs, "before", before), *_unserved(pairs, "after", after)]
    moved = [pair for pair in pairs if pair["differs"] and not _is_unserved(pair)]
    title = f"{len(moved)} of {len(pairs)} Pods go elsewhere with {after} than with {before}"
    rows = [
        (
            pair["pod"],
            _where(pair["before"]),
            _where(pair["after"]),
            "no profile" if _is_unserved(pair) else "" if pair["differs"] else "same",
        )
        for pair in pairs
    ]
    made.append(Section(title, _made_up(pairs), ("pod", before, after, ""), list(rows), level=1))
    made += [_scores(pair, before, after) for pair in moved if pair["before"]["scores"] or pair["after"]["scores"]]
    for pair in moved:
        for name, side in ((before, pair["before"]), (after, pair["after"])):
            if side["message"]:
                made.append(Section(f"{pair['pod']} with {name}", [side["message"]]))
    return made


def _is_unserved(pair: Json) -> bool:
    return any(pair[side].get("unserved") for side in ("before", "after"))


def _unserved(pairs: Sequence[Json], side: str, name: str) -> list[Section]:
    """Of Pods that a configuration has no profile for: they wait, whatever the other one does with them."""
    waiting = Counter(pair[side]["message"] for pair in pairs if pair[side].get("unserved"))
    return [
        Section(f"with {name} {message}", [f"{count} of {len(pairs)} Pods would wait for ever"], level=1)
        for message, count in waiting.items()
    ]


def _where(side: Json) -> str:
    return f"{side['node']}, then evicted" if side.get("evictedBy") else side["node"] or "-"


def _scores(pair: Json, before: str, after: str) -> Section:
    """Weighted scores of the two nodes in question, by plugin, under both configurations."""
    nodes = list(dict.fromkeys(node for side in ("before", "after") for node in pair[side]["scores"]))
    header, columns = ["plugin"], []
    for name, side in ((before, "before"), (after, "after")):
        for node in nodes:
            if node in pair[side]["scores"]:
                header.append(f"{node} ({name})")
                columns.append(pair[side]["scores"][node])
    plugins = list(dict.fromkeys(plugin for column in columns for plugin in column["plugins"]))
    rows: list[Sequence[object]] = [[p, *(column["plugins"].get(p, "-") for column in columns)] for p in plugins]
    rows.append(["total", *(column["total"] for column in columns)])
    return Section(f"{pair['pod']}: weighted scores", [], header, rows)
