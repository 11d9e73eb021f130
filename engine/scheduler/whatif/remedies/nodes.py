"""Remedies for what a node is: cordoned, tainted, another one, labelled otherwise."""

from __future__ import annotations

from engine.api.types import Object
from engine.scheduler.plugins.node_affinity import NodeAffinity
from engine.scheduler.selecting import node_selector_matches, node_term_matches, required_node_affinity
from engine.scheduler.tolerating import HARD_EFFECTS, UNSCHEDULABLE_TAINT, any_tolerates
from engine.scheduler.whatif.remedies.remedy import (
    ANOTHER,
    EDIT_NODE,
    EDIT_POD,
    Question,
    Remedy,
    expressions_text,
    labels_text,
)

# Labels to set, or with None to take away.
Labels = dict[str, str | None]


def of_unschedulable(question: Question) -> list[Remedy]:
    return [question.remedy(f"uncordon {question.node.name}", {"uncordon": question.node.name}, EDIT_NODE)]


def of_node_name(question: Question) -> list[Remedy]:
    wanted = question.pod.spec.get("nodeName", "")
    return [question.remedy(f"do not ask for node {wanted} by spec.nodeName", {"nodeName": None}, EDIT_POD)]


def of_taints(question: Question) -> list[Remedy]:
    """Every taint that is in the way; the filter tells of the first one alone. That of a cordon goes with it."""
    tolerations = question.pod.tolerations
    hard = [taint for taint in question.node.taints if taint.get("effect") in HARD_EFFECTS]
    stays = [taint for taint in hard if not (question.node.unschedulable and _of_cordon(taint))]
    return [_tolerate(question, taint) for taint in stays if not any_tolerates(tolerations, taint)]


def _of_cordon(taint: Object) -> bool:
    """Whether it is the taint that the node lifecycle controller keeps on cordoned nodes, and takes away with it."""
    return all(taint.get(field) == value for field, value in UNSCHEDULABLE_TAINT.items())


def _tolerate(question: Question, taint: Object) -> Remedy:
    value = taint.get("value") or ""
    text = f"{taint['key']}={value}:{taint['effect']}" if value else f"{taint['key']}:{taint['effect']}"
    toleration: Object = {"key": taint["key"], "operator": "Exists", "effect": taint["effect"]}
    if value:
        toleration |= {"operator": "Equal", "value": value}
    return question.remedy(f"tolerate {text}", {"tolerate": toleration}, EDIT_POD)


# -- labels


def _needed(requirement: Object, labels: dict[str, str]) -> Labels | None:
    """The label that makes a requirement true; none where it is; None where no label can."""
    key, operator, values = requirement.get("key", ""), requirement.get("operator"), requirement.get("values") or []
    if node_term_matches({"matchExpressions": [requirement]}, {"metadata": {"name": "", "labels": labels}}):
        return {}
    match operator:
        case "In":
            return {key: values[0]} if values else None
        case "Exists":
            return {key: ""}
        case "NotIn" | "DoesNotExist":
            return {key: None}
        case "Gt" | "Lt":
            try:
                return {key: str(int(values[0]) + (1 if operator == "Gt" else -1))}
            except (ValueError, IndexError):
                return None
        case _:
            return None


def _for_term(term: Object, node: Object, selector: dict[str, str]) -> Labels | None:
    """Labels that make a node match a term and a nodeSelector; None where labels alone cannot."""
    labels = dict(node["metadata"].get("labels") or {})
    changed: Labels = {key: value for key, value in selector.items() if labels.get(key) != value}
    for requirement in term.get("matchExpressions") or ():
        needed = _needed(requirement, relabelled(labels, changed))
        if needed is None:
            return None
        changed |= needed
    after = relabelled(labels, changed)
    twin = {**node, "metadata": {**node["metadata"], "labels": after}}
    empty = not term.get("matchExpressions") and not term.get("matchFields")
    fits = (empty and term.get("any")) or node_term_matches(term, twin)
    return changed if fits and all(after.get(key) == value for key, value in selector.items()) else None


def relabelled(labels: dict[str, str], changed: Labels) -> dict[str, str]:
    return {key: value for key, value in {**labels, **changed}.items() if value is not None}


_ANY_NODE: Object = {"any": True}


def fewest_labels(required: Object | None, node: Object, selector: dict[str, str] | None = None) -> Labels | None:
    """The fewest labels to change for a node to match; None where labels alone cannot."""
    terms = (required or {}).get("nodeSelectorTerms") or [] if required is not None else [_ANY_NODE]
    found = [made for term in terms if (made := _for_term(term, node, selector or {})) is not None]
    return min(found, key=len) if found else None


def of_affinity(question: Question) -> list[Remedy]:
    node, pod, plugin = question.node.node or {"metadata": {"name": question.node.name}}, question.pod, question.plugin
    remedies = []
    added = plugin.added_required if isinstance(plugin, NodeAffinity) else None
    if added is not None and not node_selector_matches(added, node):
        remedies.append(_label(question, fewest_labels(added, node), "the profile's addedAffinity"))
    selector, required = pod.spec.get("nodeSelector") or {}, required_node_affinity(pod.pod)
    changed = fewest_labels(required, node, selector)
    if changed != {}:
        remedies.append(_label(question, changed, "the Pod's node affinity" if required else "the Pod's nodeSelector"))
    return remedies


def _label(question: Question, changed: Labels | None, who: str) -> Remedy:
    name = question.node.name
    if changed is None:
        wanted = expressions_text([f for t in _terms(question) for f in t.get("matchFields") or ()]) or "other nodes"
        return question.remedy(f"let {who} name {name}: it asks for {wanted}", {"nodeAffinity": name}, EDIT_POD)
    set_, gone = {k: v for k, v in changed.items() if v is not None}, [k for k, v in changed.items() if v is None]
    words = [f"label {name} {labels_text(set_)}"] if set_ else []
    words += [f"take label {key} from {name}" for key in gone]
    return question.remedy(f"{' and '.join(words)}, as {who} asks", {"label": changed}, EDIT_NODE + len(changed) / 10)


def _terms(question: Question) -> list[Object]:
    return (required_node_affinity(question.pod.pod) or {}).get("nodeSelectorTerms") or []


def of_other(question: Question) -> list[Remedy]:
    """A plugin of which nothing more is known than what it says."""
    return [question.remedy(f"mend what {question.plugin.name} says: {question.status.message}", {}, ANOTHER)]
