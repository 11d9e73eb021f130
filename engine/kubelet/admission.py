"""Whether the node takes a Pod that was bound to it (pkg/kubelet/lifecycle predicate.go).

The scheduler has asked the same before; what it did not know (a Pod bound by hand, a label that went) is caught here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from engine.api.pod_amounts import pod_amounts
from engine.api.quantity import Quantity
from engine.api.types import Object
from engine.kubelet import pods

OS_LABEL = "kubernetes.io/os"
ANY_ADDRESS = "0.0.0.0"
# Those that concern a Pod alone (pkg/kubelet/sysctl safe_sysctls.go).
SAFE_SYSCTLS = frozenset(
    {
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ping_group_range",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.tcp_wmem",
    }
)


class Rejection(NamedTuple):
    reason: str
    message: str


class HostPort(NamedTuple):
    ip: str
    protocol: str
    port: int


def admit(pod: Object, node: Object, others: Sequence[Object]) -> Rejection | None:
    """None to admit. `others` are the Pods that the node has taken and that have not ended."""
    checks = (
        _sysctls(pod),
        _operating_system(pod, node),
        _resources(pod, node, others),
        _selector(pod, node),
        _host_ports(pod, others),
        _taints(pod, node),
    )
    return next((rejection for rejection in checks if rejection is not None), None)


# -- the system


def _operating_system(pod: Object, node: Object) -> Rejection | None:
    actual = ((node.get("status") or {}).get("nodeInfo") or {}).get("operatingSystem") or "linux"
    selected = (pod["spec"].get("nodeSelector") or {}).get(OS_LABEL, actual)
    if selected != actual:
        message = f"Failed to admit pod as the `{OS_LABEL}` label doesn't match node label"
        return Rejection("PodOSSelectorNodeLabelDoesNotMatch", message)
    if (pod["spec"].get("os") or {}).get("name", actual) != actual:
        return Rejection("PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS")
    return None


# -- sysctls


def _sysctls(pod: Object) -> Rejection | None:
    """(pkg/kubelet/sysctl allowlist.go) No flag of the kubelet allows others; what does not go with the host's network
    or IPC the API server has refused."""
    for sysctl in (pod["spec"].get("securityContext") or {}).get("sysctls") or ():
        name = sysctl["name"].replace("/", ".")
        if name not in SAFE_SYSCTLS:
            return Rejection("SysctlForbidden", f'forbidden sysctl: "{name}" not allowlisted')
    return None


# -- taints


def _taints(pod: Object, node: Object) -> Rejection | None:
    """Only what would drive the Pod off at once."""
    tolerations = pod["spec"].get("tolerations") or ()
    for taint in (node.get("spec") or {}).get("taints") or ():
        if taint["effect"] == "NoExecute" and not any(_tolerates(each, taint) for each in tolerations):
            reason = "node(s) had taints that the pod didn't tolerate"
            return Rejection("TaintToleration", f"Predicate TaintToleration failed: {reason}")
    return None


def _tolerates(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("key") not in (None, "", taint["key"]):
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return True
    return bool(toleration.get("key")) and toleration.get("value", "") == taint.get("value", "")


# -- resources


def _resources(pod: Object, node: Object, others: Sequence[Object]) -> Rejection | None:
    allocatable = (node.get("status") or {}).get("allocatable") or {}
    limit = int(Quantity.parse(allocatable.get("pods", "110")).value)
    if len(others) + 1 > limit:
        return _lacking("pods", 1, len(others), limit)
    return lacking_resource(pod, allocatable, others)


def lacking_resource(pod: Object, allocatable: Mapping[str, str], others: Sequence[Object]) -> Rejection | None:
    """The first resource that the node does not have beside what the others have."""
    wanted = pod_amounts(pod, "requests")
    for name, amount in wanted.items():
        if not amount or (_is_extended(name) and name not in allocatable):
            continue  # what the node knows nothing of is somebody else's to give
        have = Quantity.parse(allocatable.get(name, "0"))
        used = sum((pod_amounts(other, "requests").get(name, Quantity()) for other in others), Quantity())
        if used + amount > have:
            number = _milli if name == "cpu" else _value
            return _lacking(name, number(amount), number(used), number(have))
    return None


def _is_extended(name: str) -> bool:
    domain = name.rpartition("/")[0]
    return bool(domain) and domain != "kubernetes.io" and not domain.endswith(".kubernetes.io")


def _milli(quantity: Quantity) -> int:
    return quantity.milli


def _value(quantity: Quantity) -> int:
    return quantity.value


def _lacking(name: str, requested: int, used: int, capacity: int) -> Rejection:
    return Rejection(
        f"OutOf{name}",
        f"Node didn't have enough resource: {name}, requested: {requested}, used: {used}, capacity: {capacity}",
    )


# -- ports


def _host_ports(pod: Object, others: Sequence[Object]) -> Rejection | None:
    wanted = set(_ports(pod))
    if wanted and any(_collide(port, mine) for other in others for port in _ports(other) for mine in wanted):
        return Rejection(
            "NodePorts", "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"
        )
    return None


def _collide(a: HostPort, b: HostPort) -> bool:
    same_address = a.ip == b.ip or ANY_ADDRESS in (a.ip, b.ip)
    return a.port == b.port and a.protocol == b.protocol and same_address


def _ports(pod: Object) -> Iterable[HostPort]:
    sidecars = [container for container in pods.init_containers_of(pod) if pods.is_sidecar(container)]
    for container in [*pods.containers_of(pod), *sidecars]:
        for port in container.get("ports") or ():
            if port.get("hostPort"):
                yield HostPort(port.get("hostIP") or ANY_ADDRESS, port.get("protocol", "TCP"), port["hostPort"])


# -- labels


def _selector(pod: Object, node: Object) -> Rejection | None:
    labels = node["metadata"].get("labels") or {}
    spec = pod["spec"]
    fits = all(labels.get(key) == value for key, value in (spec.get("nodeSelector") or {}).items())
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    if required is not None:
        fits = fits and any(_term(term, labels, node) for term in required.get("nodeSelectorTerms") or ())
    if fits:
        return None
    return Rejection("NodeAffinity", "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector")


def _term(term: Object, labels: Mapping[str, str], node: Object) -> bool:
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    names = {"metadata.name": node["metadata"]["name"]}
    return all(_matches(item, labels) for item in expressions) and all(_matches(item, names) for item in fields)


def _matches(expression: Object, values: Mapping[str, str]) -> bool:
    key, operator = expression["key"], expression["operator"]
    wanted: list[str] = expression.get("values") or []
    value = values.get(key)
    if operator == "In":
        return value in wanted
    if operator == "NotIn":
        return value not in wanted
    if operator == "Exists":
        return value is not None
    if operator == "DoesNotExist":
        return value is None
    try:
        number, bound = int(value or ""), int(wanted[0])
    except (ValueError, IndexError):
        return False
    return number > bound if operator == "Gt" else number < bound
