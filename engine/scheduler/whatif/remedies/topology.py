"""Remedies for where other Pods are: pod affinity, anti-affinity, and spreading."""

from __future__ import annotations

from collections.abc import Callable

from engine.scheduler.node_info import NodeInfo
from engine.scheduler.plugins.inter_pod_affinity import FilterState as AffinityState
from engine.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from engine.scheduler.plugins.pod_topology_spread import FilterState as SpreadState
from engine.scheduler.plugins.pod_topology_spread import PodTopologySpread, Spread
from engine.scheduler.pod_info import AffinityTerm, PodInfo
from engine.scheduler.whatif.remedies.remedy import (
    EDIT_NODE,
    EDIT_POD,
    MOVE_PODS,
    Question,
    Remedy,
    names_text,
    selector_text,
)


def _domain_text(topology_key: str, node: NodeInfo) -> str:
    return f"{topology_key}={node.labels.get(topology_key, '')}"


def _label_node(question: Question, topology_key: str, why: str) -> Remedy:
    text = f"label {question.node.name} {topology_key}: {why}"
    return question.remedy(text, {"labelKey": topology_key}, EDIT_NODE)


def _pods_in_domain(question: Question, topology_key: str, chosen: Callable[[PodInfo], bool]) -> list[str]:
    """Keys of the Pods in the node's domain that are meant; on the node itself those nominated to it count."""
    here, asked = question.node.labels.get(topology_key), question.node
    return [
        other.key
        for node in question.snapshot.nodes
        if node.labels.get(topology_key) == here
        for other in (asked if node.name == asked.name else node).pods.values()
        if chosen(other)
    ]


def of_pod_affinity(question: Question) -> list[Remedy]:
    plugin = question.plugin
    assert isinstance(plugin, InterPodAffinity)
    kept = question.state.read(plugin.name, AffinityState)
    remedies: list[Remedy] = []
    if not plugin.satisfies_affinity(kept, question.pod, question.node):
        remedies += [r for term in question.pod.required_affinity for r in _of_affinity_term(question, kept, term)]
    for term in question.pod.required_anti_affinity:
        if kept.anti_affinity.on(term.topology_key, question.node) > 0:
            remedies.append(_of_anti_affinity(question, plugin, term))
    if stands := _of_existing(question, plugin, kept):
        remedies.append(stands)
    return remedies


def _of_affinity_term(question: Question, kept: AffinityState, term: AffinityTerm) -> list[Remedy]:
    key, wanted = term.topology_key, selector_text(term.selector)
    alone = not kept.affinity.any and kept.matches_itself
    if key not in question.node.labels:
        return [_label_node(question, key, "the Pod's affinity goes by it") if alone else _of_no_domain(question, term)]
    if alone or kept.affinity.on(key, question.node) > 0:
        return []
    if any(_is_of_the_same(term, other) for other in question.pod.required_anti_affinity):
        text = f"take {wanted} from the Pod's affinity or from its anti-affinity: it asks for one nearby and for none"
        return [question.remedy(text, {"contradiction": wanted}, EDIT_POD)]
    text = f"run a Pod with {wanted} in {_domain_text(key, question.node)}: the Pod's affinity asks for one"
    return [question.remedy(text, {"addPod": wanted, "topologyKey": key}, MOVE_PODS)]


def _of_no_domain(question: Question, term: AffinityTerm) -> Remedy:
    key, wanted = term.topology_key, selector_text(term.selector)
    text = f"label {question.node.name} {key} as a node near a Pod with {wanted}: the Pod's affinity asks for one"
    return question.remedy(text, {"labelKey": key, "addPod": wanted, "topologyKey": key}, EDIT_NODE)


def _is_of_the_same(term: AffinityTerm, other: AffinityTerm) -> bool:
    """Whether two terms mean the same Pods: to the node itself both domains are near."""
    return (term.selector.key, term.namespaces) == (other.selector.key, other.namespaces)


def _of_anti_affinity(question: Question, plugin: InterPodAffinity, term: AffinityTerm) -> Remedy:
    keys = _pods_in_domain(question, term.topology_key, lambda other: plugin.matches(term, other))
    where = _domain_text(term.topology_key, question.node)
    text = (
        f"move {names_text(keys)} out of {where}: the Pod's anti-affinity excludes {selector_text(term.selector)} there"
    )
    return question.remedy(text, {"removePods": keys, "topologyKey": term.topology_key}, MOVE_PODS + len(keys) / 10)


def _of_existing(question: Question, plugin: InterPodAffinity, kept: AffinityState) -> Remedy | None:
    """Pods that are there and whose anti-affinity keeps this one out."""
    found: dict[str, None] = {}
    for key in kept.existing_anti_affinity.keys:
        if kept.existing_anti_affinity.on(key, question.node) > 0:

            def excludes(other: PodInfo, key: str = key) -> bool:
                terms = [term for term in other.required_anti_affinity if term.topology_key == key]
                return any(plugin.matches(term, question.pod) for term in terms)

            found |= dict.fromkeys(_pods_in_domain(question, key, excludes))
    if not found:
        return None
    keys = list(found)
    text = f"move {names_text(keys)}, whose anti-affinity keeps the Pod out"
    return question.remedy(text, {"removePods": keys}, MOVE_PODS + len(keys) / 10)


def of_spread(question: Question) -> list[Remedy]:
    plugin = question.plugin
    assert isinstance(plugin, PodTopologySpread)
    remedies = []
    for spread in question.state.read(plugin.name, SpreadState).spreads:
        key = spread.constraint.topology_key
        domain = plugin.domain_of(key, question.node)
        if domain < 0:
            remedies.append(_label_node(question, key, "the Pod is spread over it"))
        elif spread.counts[domain] > spread.room():
            remedies.append(_of_skew(question, spread, domain))
    return remedies


def _of_skew(question: Question, spread: Spread, domain: int) -> Remedy:
    """The skew that the Pod would make here, or how many of the matching Pods are too many here."""
    constraint, here = spread.constraint, int(spread.counts[domain])
    skew, excess = here + int(spread.matches_itself) - spread.minimum, here - spread.room()
    where = _domain_text(constraint.topology_key, question.node)
    text = (
        f"allow maxSkew {skew} over {constraint.topology_key} (now {constraint.max_skew}), or take {excess} of the "
        f"{here} Pods with {selector_text(constraint.selector)} from {where}: the emptiest domain has {spread.minimum}"
    )
    change = {"maxSkew": skew, "topologyKey": constraint.topology_key, "excess": excess}
    return question.remedy(text, change, EDIT_POD + excess / 10)
