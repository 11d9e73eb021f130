"""NodeRestriction: a kubelet changes its own Node, its own Pods and its own Lease, and nothing else.

Source: plugin/pkg/admission/noderestriction/admission.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from engine.api.types import NODES, PODS, Object
from engine.apiserver.admission.attributes import CHANGES, Attributes, Operation, Plugin, Watched, denied
from engine.apiserver.admission.node_certificates import NodeCertificates
from engine.apiserver.admission.node_pods import mirror_pod_refusal, reference_refusal
from engine.apiserver.admission.node_tokens import NodeTokens, not_listed
from engine.apiserver.authorization import UnionAuthorizer
from engine.apiserver.authorization.nodes import is_node, node_of
from engine.apiserver.lookup import Lookup

_LEASE_NAMESPACE = "kube-node-lease"
# What a kubelet reports of a claim on its node.
_REPORTED = ("capacity", "conditions", "allocatedResources", "allocatedResourceStatuses")
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


class NodeRestriction(Plugin):
    name = "NodeRestriction"
    operations = CHANGES

    def __init__(self, lookup: Lookup, authorizer: UnionAuthorizer) -> None:
        self._lookup = lookup
        self._tokens = NodeTokens(lookup, authorizer)
        self._certificates = NodeCertificates(lookup, authorizer)

    async def ground(self, attributes: Attributes) -> Hashable:
        return None if is_node(attributes.user) else ()

    def follows(self, attributes: Attributes, step: str) -> Sequence[Watched] | None:
        return None if is_node(attributes.user) else ()  # no mould is for a node's request

    async def mutate(self, attributes: Attributes) -> bool:
        if not is_node(attributes.user):
            return False
        node = node_of(attributes.user)
        if not node:
            raise denied(attributes, f"could not determine node from user {_quoted(attributes.user.name)}")
        match attributes.key:
            case "pods":
                await self._pod(attributes, node)
            case "pods/status":
                self._pod_status(attributes, node)
            case "pods/eviction":
                await self._eviction(attributes, node)
            case "nodes" | "nodes/status":
                self._node(attributes, node)
            case "leases.coordination.k8s.io":
                self._lease(attributes, node)
            case "csinodes.storage.k8s.io":
                self._csi_node(attributes, node)
            case "resourceslices.resource.k8s.io":
                self._slice(attributes, node)
            case "serviceaccounts/token":
                await self._tokens.admit(attributes, node)
            case "certificatesigningrequests.certificates.k8s.io":
                self._certificates.admit_signing_request(attributes, node)
            case "podcertificaterequests.certificates.k8s.io":
                await self._certificates.admit_pod_request(attributes, node)
            case "persistentvolumeclaims/status":
                self._claim_status(attributes, node)
            case "persistentvolumeclaims":
                raise denied(attributes, "may only update PVC status")
            case key if key.startswith("pods/"):
                raise denied(
                    attributes,
                    f"unexpected pod subresource {_quoted(attributes.subresource)}, only 'status' and 'eviction' are "
                    "allowed",
                )
            case _:
                pass
        return False

    async def _pod(self, attributes: Attributes, node: str) -> None:
        if attributes.operation is Operation.CREATE:
            pod = attributes.object or {}
            if why := mirror_pod_refusal(pod, node):
                raise denied(attributes, why)
            found = await self._lookup.find(NODES, "", node)
            if found is None:
                raise not_listed(NODES, "node", node)
            uid, owner = found["metadata"]["uid"], pod["metadata"]["ownerReferences"][0].get("uid", "")
            if owner != uid:
                raise denied(attributes, f"node {node} UID mismatch: expected {owner} got {uid}")
            if why := reference_refusal(pod, node):
                raise denied(attributes, why)
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
        if _claims(attributes.object) != _claims(attributes.old):
            raise denied(attributes, f"node {_quoted(node)} cannot update resource claim statues")
        if _extended_claim(attributes.object) != _extended_claim(attributes.old):
            raise denied(attributes, f"node {_quoted(node)} cannot update extended resource claim status")

    async def _eviction(self, attributes: Attributes, node: str) -> None:
        pod = await self._lookup.find(PODS, attributes.namespace, attributes.name)
        if pod is None:
            raise not_listed(PODS, "pod", attributes.name)
        if _node_name(pod) != node:
            raise denied(attributes, f"node {node} can only evict pods with spec.nodeName set to itself")

    def _node(self, attributes: Attributes, node: str) -> None:
        if attributes.name != node:
            raise denied(attributes, f"node {_quoted(node)} is not allowed to modify node {_quoted(attributes.name)}")
        new, old = attributes.object, attributes.old
        if new is None:
            return
        if attributes.operation is Operation.CREATE:
            if _config_source(new) is not None:
                why = f"node {_quoted(node)} is not allowed to create pods with a non-nil configSource"
                raise denied(attributes, why)
            self._labels(attributes, {}, new, node)
            return
        if old is None:
            return
        if _config_source(new) is not None and _config_source(new) != _config_source(old):
            why = f"node {_quoted(node)} is not allowed to update configSource to a new non-nil configSource"
            raise denied(attributes, why)
        if _taints(new) != _taints(old):
            raise denied(attributes, f"node {_quoted(node)} is not allowed to modify taints")
        if _owners(new) != _owners(old):
            raise denied(attributes, f"node {_quoted(node)} is not allowed to modify ownerReferences")
        self._labels(attributes, (old["metadata"].get("labels") or {}), new, node)

    @staticmethod
    def _labels(attributes: Attributes, before: dict[str, str], new: Object, node: str) -> None:
        labels: dict[str, str] = new["metadata"].get("labels") or {}
        changed = [key for key in {**before, **labels} if labels.get(key) != before.get(key)]
        refused = sorted(key for key in changed if _reserved(key))
        if refused and attributes.operation is Operation.CREATE:
            why = f"node {_quoted(node)} is not allowed to set the following labels: {', '.join(refused)}"
            raise denied(attributes, why)
        if refused:
            raise denied(attributes, f"is not allowed to modify labels: {', '.join(refused)}")

    def _lease(self, attributes: Attributes, node: str) -> None:
        if attributes.namespace != _LEASE_NAMESPACE:
            raise denied(attributes, f"can only access leases in the {_quoted(_LEASE_NAMESPACE)} system namespace")
        if attributes.name != node:
            raise denied(attributes, "can only access node lease with the same name as the requesting node")

    def _csi_node(self, attributes: Attributes, node: str) -> None:
        if attributes.name != node:
            raise denied(attributes, "can only access CSINode with the same name as the requesting node")

    def _slice(self, attributes: Attributes, node: str) -> None:
        """What the node authorizer cannot see: the content of a new slice, and each of many that are deleted."""
        seen = {Operation.CREATE: attributes.object, Operation.DELETE: attributes.old}.get(attributes.operation)
        if seen is not None and _node_name(seen) != node:
            verb = attributes.operation.value.lower()
            raise denied(attributes, f"can only {verb} ResourceSlice with the same NodeName as the requesting node")

    def _claim_status(self, attributes: Attributes, node: str) -> None:
        new, old = attributes.object or {}, attributes.old or {}
        if _but_reported(new) != _but_reported(old):
            raise denied(
                attributes,
                f"node {_quoted(node)} is not allowed to update fields other than status.quantity and "
                "status.conditions",
            )


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


def _owners(node: Object) -> object:
    return node["metadata"].get("ownerReferences") or []


def _config_source(node: Object) -> object:
    return (node.get("spec") or {}).get("configSource")


def _claims(pod: Object | None) -> list[tuple[str, str | None]]:
    statuses = ((pod or {}).get("status") or {}).get("resourceClaimStatuses") or ()
    return [(each.get("name", ""), each.get("resourceClaimName")) for each in statuses]


def _extended_claim(pod: Object | None) -> object:
    return ((pod or {}).get("status") or {}).get("extendedResourceClaimStatus")


def _but_reported(claim: Object) -> Object:
    """A claim without what a kubelet may write."""
    metadata = {k: v for k, v in claim["metadata"].items() if k not in ("resourceVersion", "managedFields")}
    status = {k: v for k, v in (claim.get("status") or {}).items() if k not in _REPORTED}
    return {**claim, "metadata": metadata, "status": status}


def _quoted(text: str) -> str:
    return f'"{text}"'
