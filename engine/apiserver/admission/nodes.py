"""NodeRestriction: a kubelet changes its own Node, its own Pods and its own Lease, and nothing else.

Source: plugin/pkg/admission/noderestriction/admission.go.
"""

from __future__ import annotations

from engine.api.types import PODS, Object
from engine.apiserver.admission.attributes import Attributes, Operation, Plugin, denied
from engine.apiserver.authentication.user import NODE_PREFIX, NODES_GROUP, UserInfo
from engine.apiserver.lookup import Lookup

_MIRROR = "kubernetes.io/config.mirror"
_LEASE_NAMESPACE = "kube-node-lease"
# The labels of its own kind that a kubelet may set on its node.
_LABELS = frozenset(
    (
        "kubernetes.io/hostname",
        "kubernetes.io/arch",
        "kubernetes.io/os",
        "node.kubernetes.io/instance-type",
        "beta.kubernetes.io/instance-type",
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
    )
)
_OWN_PREFIXES = ("kubelet.kubernetes.io", "node.kubernetes.io")


def node_of(user: UserInfo) -> str:
    """The name of the node that a user is the kubelet of; "" for anybody else (pkg/auth/nodeidentifier)."""
    if user.name.startswith(NODE_PREFIX) and NODES_GROUP in user.groups:
        return user.name.removeprefix(NODE_PREFIX)
    return ""


class NodeRestriction(Plugin):
    name = "NodeRestriction"

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def mutate(self, attributes: Attributes) -> bool:
        node = node_of(attributes.user)
        if not node:
            return False
        match attributes.key:
            case "pods":
                self._pod(attributes, node)
            case "pods/status":
                self._pod_status(attributes, node)
            case "pods/eviction":
                await self._eviction(attributes, node)
            case "nodes" | "nodes/status":
                self._node(attributes, node)
            case "leases.coordination.k8s.io":
                self._lease(attributes, node)
            case _:
                pass
        return False

    def _pod(self, attributes: Attributes, node: str) -> None:
        if attributes.operation is Operation.CREATE:
            pod = attributes.object or {}
            if _MIRROR not in (pod.get("metadata", {}).get("annotations") or {}):
                raise denied(
                    attributes,
                    f"pod does not have {_quoted(_MIRROR)} annotation, node {_quoted(node)} can only create "
                    "mirror pods",
                )
            if _node_name(pod) != node:
                raise denied(attributes, f"node {_quoted(node)} can only create pods with spec.nodeName set to itself")
        elif attributes.operation is Operation.DELETE:
            if _node_name(attributes.old) != node:
                raise denied(attributes, f"node {_quoted(node)} can only delete pods with spec.nodeName set to itself")
        else:
            raise denied(
                attributes,
                f"unexpected operation {_quoted(attributes.operation)}, node {_quoted(node)} can only create and "
                "delete mirror pods",
            )

    def _pod_status(self, attributes: Attributes, node: str) -> None:
        if _node_name(attributes.old) != node:
            raise denied(
                attributes, f"node {_quoted(node)} can only update pod status for pods with spec.nodeName set to itself"
            )
        labels = (attributes.object or {}).get("metadata", {}).get("labels") or {}
        before = (attributes.old or {}).get("metadata", {}).get("labels") or {}
        if labels != before:
            raise denied(attributes, f"node {_quoted(node)} cannot update labels through pod status")

    async def _eviction(self, attributes: Attributes, node: str) -> None:
        pod = await self._lookup.find(PODS, attributes.namespace, attributes.name)
        if pod is not None and _node_name(pod) != node:
            raise denied(attributes, f"node {_quoted(node)} can only evict pods with spec.nodeName set to itself")

    def _node(self, attributes: Attributes, node: str) -> None:
        if attributes.name != node:
            raise denied(attributes, f"node {_quoted(node)} is not allowed to modify node {_quoted(attributes.name)}")
        new, old = attributes.object, attributes.old
        if new is None:
            return
        if attributes.operation is Operation.CREATE:
            self._labels(attributes, {}, new, node)
            return
        if old is None:
            return
        if _taints(new) != _taints(old) and not attributes.subresource:
            raise denied(attributes, f"node {_quoted(node)} is not allowed to modify taints")
        self._labels(attributes, (old["metadata"].get("labels") or {}), new, node)

    @staticmethod
    def _labels(attributes: Attributes, before: dict[str, str], new: Object, node: str) -> None:
        labels: dict[str, str] = new["metadata"].get("labels") or {}
        changed = [key for key in {**before, **labels} if labels.get(key) != before.get(key)]
        refused = sorted(key for key in changed if _reserved(key))
        if refused:
            what = "set" if attributes.operation is Operation.CREATE else "modify"
            raise denied(
                attributes, f"node {_quoted(node)} is not allowed to {what} the following labels: {', '.join(refused)}"
            )

    def _lease(self, attributes: Attributes, node: str) -> None:
        if attributes.namespace != _LEASE_NAMESPACE:
            raise denied(attributes, f"can only access leases in the {_quoted(_LEASE_NAMESPACE)} system namespace")
        if attributes.name != node:
            raise denied(attributes, "can only access node lease with the same name as the requesting node")


def _reserved(key: str) -> bool:
    """Whether a label is of Kubernetes' own and not a kubelet's to set."""
    prefix = key.partition("/")[0] if "/" in key else ""
    if key in _LABELS:
        return False
    if any(prefix == own or prefix.endswith(f".{own}") for own in _OWN_PREFIXES):
        return False
    return any(prefix == domain or prefix.endswith(f".{domain}") for domain in ("kubernetes.io", "k8s.io"))


def _node_name(pod: Object | None) -> str:
    return str(((pod or {}).get("spec") or {}).get("nodeName") or "")


def _taints(node: Object) -> object:
    return (node.get("spec") or {}).get("taints") or []


def _quoted(text: str) -> str:
    return f'"{text}"'
