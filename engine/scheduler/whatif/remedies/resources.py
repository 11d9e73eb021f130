"""Remedies for what a node has too little of: resources, Pods, host ports."""

from __future__ import annotations

from engine.scheduler.node_info import HostPorts
from engine.scheduler.plugins.node_resources_fit import Insufficient, NodeResourcesFit
from engine.scheduler.pod_info import HostPort
from engine.scheduler.resource import PODS
from engine.scheduler.whatif.remedies.remedy import ANOTHER, MOVE_PODS, Question, Remedy, amount_text, names_text


def of_resources(question: Question) -> list[Remedy]:
    plugin = question.plugin
    assert isinstance(plugin, NodeResourcesFit)
    return [_of_lack(question, item) for item in plugin.insufficient(question.pod, question.node)]


def _of_lack(question: Question, item: Insufficient) -> Remedy:
    name, free = item.resource, item.capacity - item.used
    lacking = item.requested - free
    change = {"lacking": {name: lacking}, "unresolvable": item.unresolvable}
    if name == PODS:
        which = f"{lacking} Pod{'s' if lacking > 1 else ''}"
        text = f"take {which} from {question.node.name}: {item.used} run, {item.capacity} may"
        return question.remedy(text, change, MOVE_PODS + lacking / max(item.capacity, 1))
    asked, most = amount_text(name, item.requested), amount_text(name, item.capacity)
    less = amount_text(name, lacking)
    if item.unresolvable:
        # What is not asked for at all need not be there, however much others have too much of it.
        less = amount_text(name, min(lacking, item.requested))
        has = f"{question.node.name} has {most} in all"
        if item.used:
            has += f" and {amount_text(name, free)} free"
        text = f"ask for {less} less {name}, or add a bigger node: the Pod asks for {asked}, {has}"
        return question.remedy(text, change, ANOTHER)
    text = f"free {less} {name}: the Pod asks for {asked}, {amount_text(name, free)} of {most} are free"
    if waiting := [other.key for other in question.node.pods.values() if not other.node_name]:
        text += f" once {names_text(waiting)} {'has' if len(waiting) == 1 else 'have'} come, nominated to the node"
    return question.remedy(text, change, MOVE_PODS + lacking / max(item.capacity, 1))


def of_ports(question: Question) -> list[Remedy]:
    """Each host port that is taken, with the Pods that have it."""
    remedies = []
    for port in question.pod.host_ports:
        takers = [other.key for other in question.node.pods.values() if _uses(other.host_ports, port)]
        if takers:
            text = f"free host port {port.port}/{port.protocol}: {names_text(takers)} has it"
            change = {"removePods": takers, "port": port.port, "protocol": port.protocol}
            remedies.append(question.remedy(text, change, MOVE_PODS))
    return remedies


def _uses(ports: tuple[HostPort, ...], port: HostPort) -> bool:
    return HostPorts(dict.fromkeys(ports, 1)).conflicts(port)
