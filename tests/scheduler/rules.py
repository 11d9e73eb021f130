"""The rules of scheduling, written down plainly from the documentation, to be held against what the scheduler does."""

from __future__ import annotations

from engine.api.types import Object

GPU = "example.com/gpu"


def fits(wanted: Object, where: Object, *, nodes: list[Object], pods: list[Object]) -> bool:
    """Whether a pod may go to a node, among all nodes and all bound pods."""
    by_name = {n["metadata"]["name"]: n for n in nodes}
    everywhere = [(p, by_name[p["spec"]["nodeName"]]) for p in pods if p["spec"]["nodeName"] in by_name]
    there = [p for p, on in everywhere if on is by_name[where["metadata"]["name"]]]
    return (
        not where["spec"].get("unschedulable")
        and _tolerated(wanted, where)
        and _selected(wanted, where)
        and _has_room(wanted, where, there)
        and _ports_free(wanted, there)
        and _spread_holds(wanted, where, everywhere, nodes)
        and affinity_holds(wanted, where, everywhere)
    )


def _labels(obj: Object) -> dict[str, str]:
    return obj["metadata"].get("labels") or {}


def _tolerated(wanted: Object, where: Object) -> bool:
    """Tolerations here are all of the form "this key exists"."""
    tolerated = {t.get("key") for t in wanted["spec"].get("tolerations") or ()}
    return all(t["key"] in tolerated for t in where["spec"].get("taints") or () if t["effect"] == "NoSchedule")


def _selected(wanted: Object, where: Object) -> bool:
    return all(_labels(where).get(k) == v for k, v in (wanted["spec"].get("nodeSelector") or {}).items())


_UNITS = {"m": 0.001, "Mi": 2**20, "Gi": 2**30}


def _amount(text: str) -> float:
    return next((float(text[: -len(u)]) * f for u, f in _UNITS.items() if text.endswith(u)), None) or float(
        text.rstrip("mMGi") or 0
    )


def _requested(obj: Object, resource: str) -> float:
    return sum(
        _amount(str((c.get("resources") or {}).get("requests", {}).get(resource, "0")))
        for c in obj["spec"]["containers"]
    )


def _has_room(wanted: Object, where: Object, there: list[Object]) -> bool:
    capacity = where["status"]["allocatable"]
    if len(there) + 1 > int(capacity["pods"]):
        return False
    for resource in ("cpu", "memory", GPU):
        asked = _requested(wanted, resource)
        used = sum(_requested(p, resource) for p in there)
        if asked > 0 and round(asked + used, 6) > _amount(capacity.get(resource, "0")):
            return False
    return True


def _host_ports(obj: Object) -> set[int]:
    return {p["hostPort"] for c in obj["spec"]["containers"] for p in c.get("ports") or ()}


def _ports_free(wanted: Object, there: list[Object]) -> bool:
    return not any(_host_ports(wanted) & _host_ports(p) for p in there)


def _matches(term: Object, obj: Object) -> bool:
    return all(_labels(obj).get(k) == v for k, v in term["labelSelector"]["matchLabels"].items())


def _spread_holds(wanted: Object, where: Object, everywhere: list[tuple[Object, Object]], nodes: list[Object]) -> bool:
    hard = [
        c for c in wanted["spec"].get("topologySpreadConstraints") or () if c["whenUnsatisfiable"] == "DoNotSchedule"
    ]
    for constraint in hard:
        key = constraint["topologyKey"]
        if key not in _labels(where):
            return False
        counts = {_labels(n)[key]: 0 for n in nodes if key in _labels(n) and _selected(wanted, n)}
        for other, on in everywhere:
            if key in _labels(on) and _selected(wanted, on) and _matches(constraint, other):
                counts[_labels(on)[key]] += 1
        skew = counts.get(_labels(where)[key], 0) + 1 - (min(counts.values()) if counts else 0)
        if skew > constraint["maxSkew"]:
            return False
    return True


def _terms(obj: Object, side: str) -> list[Object]:
    rules = (obj["spec"].get("affinity") or {}).get(side) or {}
    return rules.get("requiredDuringSchedulingIgnoredDuringExecution") or []


def _same_domain(key: str, one: Object, other: Object) -> bool:
    return key in _labels(one) and _labels(one)[key] == _labels(other).get(key)


def affinity_holds(wanted: Object, where: Object, everywhere: list[tuple[Object, Object]]) -> bool:
    for term in _terms(wanted, "podAffinity"):
        key = term["topologyKey"]
        if key not in _labels(where):
            return False
        answered = any(_matches(term, p) and _same_domain(key, where, n) for p, n in everywhere)
        answers_itself = _matches(term, wanted) and not any(
            _matches(term, p) and key in _labels(n) for p, n in everywhere
        )
        if not answered and not answers_itself:
            return False
    for term in _terms(wanted, "podAntiAffinity"):
        if any(_matches(term, p) and _same_domain(term["topologyKey"], where, n) for p, n in everywhere):
            return False
    return not any(
        _matches(term, wanted) and _same_domain(term["topologyKey"], where, n)
        for p, n in everywhere
        for term in _terms(p, "podAntiAffinity")
    )
