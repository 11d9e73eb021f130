"""Remedies for what a node is: cordoned, tainted, another one, labelled otherwise."""

from __future__ import annotations

from engine.api.types import Object
from engine.scheduler.plugins.node_affinity import NodeAffinity
from engine.scheduler.selecting import node_selector_matches, node_term_matches, required_node_affinity
from engine.scheduler.tolerating import HARD_EFFECTS, any_tolerates, is_of_cordon
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
    stays = [taint for taint in hard if not (question.node.unschedulable and is_of_cordon(taint))]
    return [_tolerate(question, taint) for taint in stays if not any_tolerates(tolerations, taint)]


def _tolerate(question: Question, taint: Object) -> Remedy:
    value = taint.get("value") or ""
    text = f"{taint['key']}={value}:{taint['effect']}" if value else f"{taint['key']}:{taint['effect']}"
    toleration: Object = {"key": taint["key"], "operator": "Exists", "effect": taint["effect"]}
    if value:
        toleration |= {"operator": "Equal", "value": value}
    return question.remedy(f"tolerate {text}", {"tolerate": toleration}, EDIT_POD)


# -- labels

# What a node's labels say of the machine: another value would not make it another machine.
_OF_THE_MACHINE = frozenset(
    (
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
    )
)


def _is_fixed(key: str, labels: dict[str, str]) -> bool:
    return key in _OF_THE_MACHINE and key in labels


def _needed(requirement: Object, labels: dict[str, str]) -> Labels | None:
    """The label that makes a requirement true; none where it is; None where no label can."""
    key, operator, values = requirement.get("key", ""), requirement.get("operator"), requirement.get("values") or []
    if node_term_matches({"matchExpressions": [requirement]}, {"metadata": {"name": "", "labels": labels}}):
        return {}
    if _is_fixed(key, labels):
        return None
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
    node, plugin = question.node.node or {"metadata": {"name": question.node.name}}, question.plugin
    remedies = []
    added = plugin.added_required if isinstance(plugin, NodeAffinity) else None
    if added is not None and not node_selector_matches(added, node):
        labels = fewest_labels(added, node)
        remedies += [_admit(question, added, "addedAffinity") if labels is None else _label(question, labels, _PROFILE)]
    return remedies + _of_own_affinity(question, node)


def _of_own_affinity(question: Question, node: Object) -> list[Remedy]:
    """Ask for the machine's own labels where the nodeSelector asks for another machine's; label it otherwise for the
    rest of the selector and the affinity, or have the affinity admit the node where no label helps."""
    pod, labels = question.pod, question.node.labels
    selector: dict[str, str] = pod.spec.get("nodeSelector") or {}
    other = {key: labels[key] for key, value in selector.items() if _is_fixed(key, labels) and labels[key] != value}
    selector = {key: value for key, value in selector.items() if key not in other}
    remedies = [_select(question, other)] if other else []
    required = required_node_affinity(pod.pod)
    changed = fewest_labels(required, node, selector)
    if changed is None and required is not None:
        remedies.append(_admit(question, required, "nodeAffinity"))
        changed = fewest_labels(None, node, selector)
        required = None
    if changed:
        remedies.append(_label(question, changed, "the Pod's node affinity" if required else "the Pod's nodeSelector"))
    return remedies


_PROFILE = "the profile's addedAffinity"


def _select(question: Question, labels: dict[str, str]) -> Remedy:
    text = f"let the Pod's nodeSelector ask for {labels_text(labels)}, as {question.node.name} has it"
    return question.remedy(text, {"nodeSelector": labels}, EDIT_POD)


def _admit(question: Question, required: Object, change: str) -> Remedy:
    """For what no label can mend: the terms ask for other machines, or for nodes by name."""
    name, who = question.node.name, _PROFILE if change == "addedAffinity" else "the Pod's node affinity"
    terms = required.get("nodeSelectorTerms") or []
    wanted = " or ".join(
        expressions_text([*(term.get("matchFields") or ()), *(term.get("matchExpressions") or ())]) for term in terms
    )
    return question.remedy(f"let {who} admit {name}: it asks for {wanted or 'no node'}", {change: name}, EDIT_POD)


def _label(question: Question, changed: Labels, who: str) -> Remedy:
    name = question.node.name
    set_, gone = {k: v for k, v in changed.items() if v is not None}, [k for k, v in changed.items() if v is None]
    words = [f"label {name} {labels_text(set_)}"] if set_ else []
    words += [f"take label {key} from {name}" for key in gone]
    return question.remedy(f"{' and '.join(words)}, as {who} asks", {"label": changed}, EDIT_NODE + len(changed) / 10)


def of_other(question: Question) -> list[Remedy]:
    """A plugin of which nothing more is known than what it says."""
    return [question.remedy(f"mend what {question.plugin.name} says: {question.status.message}", {}, ANOTHER)]
