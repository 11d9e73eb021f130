"""The Node authorizer: a kubelet reads what its own Pods need, and nothing of the others'.

Source: plugin/pkg/auth/authorizer/node (node_authorizer.go, graph.go). Upstream keeps a graph of who needs what; here
the Pods of the node, which the watch cache knows, are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.api.errors import ApiError
from engine.api.persistent_volumes import VOLUMES, secrets_for_kubelets
from engine.api.pod_references import claims_of, config_maps_of, resource_claims_of, secrets_of
from engine.api.resources import ResourceRegistry
from engine.api.selectors import FieldSelector
from engine.api.types import GVR, PODS, Object
from engine.apiserver.authentication.user import NODE_PREFIX, NODES_GROUP, UserInfo
from engine.apiserver.authorization.attributes import Attributes, Decision, Verdict
from engine.apiserver.authorization.rules import covers_resource
from engine.apiserver.cacher.caches import WatchCaches
from engine.apiserver.lookup import Lookup

LEASE_NAMESPACE = "kube-node-lease"
_MIRROR = "kubernetes.io/config.mirror"
_ATTACHMENTS = GVR("storage.k8s.io", "v1", "volumeattachments")
_SLICES = GVR("resource.k8s.io", "v1", "resourceslices")
_POD_CERTIFICATES = GVR("certificates.k8s.io", "v1", "podcertificaterequests")
# Since when the feature is there, and since when it is on.
_ACCOUNTS_KNOWN_SINCE, _ACCOUNTS_READ_SINCE = (1, 33), (1, 34)
_SELECTIVE_SINCE = (1, 32)  # AuthorizeNodeWithSelectors: before, every kubelet read every Node and Pod
_OWN_VERBS = frozenset(("get", "create", "update", "patch", "delete"))
_WRITES = frozenset(("create", "update", "patch"))
_READS = frozenset(("get", "list", "watch"))
Needs = Callable[[Object], set[str]]


def is_node(user: UserInfo) -> bool:
    """Whether a user is a kubelet (pkg/auth/nodeidentifier)."""
    return user.name.startswith(NODE_PREFIX) and NODES_GROUP in user.groups


def node_of(user: UserInfo) -> str:
    """The name of the node that a user is the kubelet of; "" for anybody else, and for one of no name."""
    return user.name.removeprefix(NODE_PREFIX) if is_node(user) else ""


class NodeAuthorizer:
    name = "Node"

    def __init__(
        self, caches: WatchCaches, lookup: Lookup, resources: ResourceRegistry, *, rules: tuple[Object, ...]
    ) -> None:
        self._caches = caches
        self._lookup = lookup
        self._resources = resources
        self._rules = rules
        pods = resources.get(*PODS)
        assert pods is not None, "every version serves Pods"
        self._of_pods, self._release = pods, pods.release
        self._selective = pods.release >= _SELECTIVE_SINCE

    async def authorize(self, attributes: Attributes) -> Decision:
        if not is_node(attributes.user):
            return Decision(Verdict.NO_OPINION)
        node = node_of(attributes.user)
        if not node:
            return Decision(Verdict.NO_OPINION, f'unknown node for user "{attributes.user.name}"')
        refusal = await self._refusal(node, attributes)
        if refusal is None:
            return Decision(Verdict.ALLOW, "", self.name)
        return Decision(Verdict.NO_OPINION, refusal)

    async def _refusal(self, node: str, asked: Attributes) -> str | None:
        """Why not; None where it may."""
        if not asked.is_resource:
            return self._by_rules(asked)
        match asked.group, asked.resource:
            case "", "secrets":
                return await self._read(node, asked, secrets_of)
            case "", "configmaps":
                return await self._read(node, asked, config_maps_of)
            case "", "persistentvolumeclaims":
                return self._no_use_of_a_claim(asked) or await self._related(node, asked, claims_of)
            case "", "persistentvolumes":
                return self._not_a_get(asked) or await self._volume(node, asked)
            case "resource.k8s.io", "resourceclaims":
                return self._not_a_get(asked) or await self._related(node, asked, resource_claims_of)
            case "storage.k8s.io", "volumeattachments":
                return self._not_a_get(asked) or await self._placed(node, asked, _ATTACHMENTS)
            case "", "serviceaccounts":
                return await self._account(node, asked)
            case "coordination.k8s.io", "leases":
                return _lease(node, asked)
            case "storage.k8s.io", "csinodes":
                return _csi_node(node, asked)
            case "resource.k8s.io", "resourceslices":
                return await self._slice(node, asked)
            case "certificates.k8s.io", "podcertificaterequests":
                return await self._pod_certificate(node, asked)
            case "", "nodes" if self._selective:
                return _node(node, asked)
            case "", "pods" if self._selective:
                return await self._pod(node, asked)
        return self._by_rules(asked)

    def _by_rules(self, asked: Attributes) -> str | None:
        """By the rules that all nodes have in common."""
        for rule in self._rules:
            if asked.is_resource and covers_resource(
                rule, verb=asked.verb, group=asked.group, resource=asked.resource, subresource=asked.subresource
            ):
                return None
        return ""

    # -- what the node's Pods need

    async def _pods(self, node: str, namespace: str) -> Iterator[Object]:
        """A node's Pods, of one namespace alone: an object of the same name in another is nothing that they need."""
        pods = (await self._caches.started(self._of_pods)).objects("", node)
        return (pod for pod in pods if pod["metadata"]["namespace"] == namespace)

    async def _related(self, node: str, asked: Attributes, needs: Needs) -> str | None:
        if not asked.name:
            return "No Object name found"
        for pod in await self._pods(node, asked.namespace):
            mirror = _MIRROR in (pod["metadata"].get("annotations") or {})
            if not mirror and asked.name in needs(pod):
                return None
        return _unrelated(node)

    async def _read(self, node: str, asked: Attributes, needs: Needs) -> str | None:
        if asked.verb not in _READS:
            return "can only read resources of this type"
        if asked.subresource:
            return "cannot read subresource"
        if not asked.namespace:
            return "can only read namespaced object of this type"
        refusal = await self._related(node, asked, needs)
        if refusal is not None and asked.resource == "secrets" and asked.name:
            return await self._secret_of_a_volume(node, asked)
        return refusal

    async def _secret_of_a_volume(self, node: str, asked: Attributes) -> str | None:
        """Secrets that a bound volume names: its driver's, for mounting."""
        info = self._resources.get(*VOLUMES)
        if info is not None:
            for volume in (await self._caches.started(info)).objects():
                if (asked.namespace, asked.name) in secrets_for_kubelets(volume):
                    claim = (volume["spec"].get("claimRef")) or {}
                    question = asked._replace(namespace=claim.get("namespace", ""), name=claim.get("name", ""))
                    if await self._related(node, question, claims_of) is None:
                        return None
        return _unrelated(node)

    async def _volume(self, node: str, asked: Attributes) -> str | None:
        if not asked.name:
            return "No Object name found"
        volume = await self._lookup.find(VOLUMES, "", asked.name) if not asked.namespace else None
        claim = ((volume or {}).get("spec") or {}).get("claimRef") or {}
        question = asked._replace(namespace=claim.get("namespace", ""), name=claim.get("name", ""))
        return await self._related(node, question, claims_of) if claim else _unrelated(node)

    async def _placed(self, node: str, asked: Attributes, gvr: GVR) -> str | None:
        """Whether the object itself names the node."""
        if not asked.name:
            return "No Object name found"
        if asked.namespace and gvr != _POD_CERTIFICATES:  # of which there are none in namespaces
            return _unrelated(node)
        found = await self._lookup.find(gvr, asked.namespace, asked.name)
        return None if ((found or {}).get("spec") or {}).get("nodeName") == node else _unrelated(node)

    async def _account(self, node: str, asked: Attributes) -> str | None:
        """Read for a credential provider (KubeletServiceAccountTokenForCredentialProviders), or for a token of it."""
        if asked.verb == "get" and not asked.subresource and self._release >= _ACCOUNTS_KNOWN_SINCE:
            if self._release < _ACCOUNTS_READ_SINCE:
                return "not allowed to get service accounts"
            return await self._related(node, asked, _accounts_of)
        return await self._token(node, asked)

    async def _token(self, node: str, asked: Attributes) -> str | None:
        if asked.verb != "create" or not asked.name:
            return "can only create tokens for individual service accounts"
        if asked.subresource != "token":
            return "can only create token subresource of serviceaccount"
        return await self._related(node, asked, _accounts_of)

    async def _slice(self, node: str, asked: Attributes) -> str | None:
        if asked.subresource:
            return "cannot authorize ResourceSlice subresources"
        if asked.verb == "create":
            return None
        if asked.verb in ("get", "update", "patch", "delete"):
            return await self._placed(node, asked, _SLICES)
        if asked.verb in ("watch", "list", "deletecollection"):
            if not self._selective or _selects(asked, "nodeName", node):
                return None
            return "can only list/watch/deletecollection resourceslices with nodeName field selector"
        return (
            "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, "
            "delete, deletecollection"
        )

    async def _pod_certificate(self, node: str, asked: Attributes) -> str | None:
        """What a request may say is the NodeRestriction plugin's to see."""
        if asked.subresource:
            return "nodes may not access the status subresource of PodCertificateRequests"
        match asked.verb:
            case "create":
                return None
            case "get":
                return await self._placed(node, asked, _POD_CERTIFICATES)
            case "list" | "watch":
                if _selects(asked, "spec.nodeName", node):
                    return None
                return "can only list/watch podcertificaterequests with spec.nodeName field selector"
        return "nodes may only create, get, list and watch PodCertificateRequests"

    async def _pod(self, node: str, asked: Attributes) -> str | None:
        match asked.subresource, asked.verb:
            case "", "get":
                return await self._own_pod(node, asked)
            case "", ("list" | "watch"):
                if _selects(asked, "spec.nodeName", node):
                    return None
                if asked.name:
                    return await self._own_pod(node, asked)
                return "can only list/watch pods with spec.nodeName field selector"
            case ("", ("create" | "delete")) | ("status", ("update" | "patch")) | ("eviction", "create"):
                return None
        return ""

    async def _own_pod(self, node: str, asked: Attributes) -> str | None:
        if not asked.name:
            return "No Object name found"
        for pod in await self._pods(node, asked.namespace):
            if pod["metadata"]["name"] == asked.name:
                return None
        return _unrelated(node)

    def _no_use_of_a_claim(self, asked: Attributes) -> str | None:
        if asked.subresource != "status":
            return self._not_a_get(asked)
        return None if asked.verb in ("update", "patch") else "can only get/update/patch this type"

    @staticmethod
    def _not_a_get(asked: Attributes) -> str | None:
        if asked.verb != "get":
            return "can only get individual resources of this type"
        return "cannot get subresource" if asked.subresource else None


def _node(node: str, asked: Attributes) -> str | None:
    if asked.subresource == "":
        if asked.verb in _WRITES:
            return None
        if asked.verb in _READS:
            if asked.name == node:
                return None
            if not asked.name:
                return f"node '{node}' cannot read all nodes, only its own Node object"
            return f"node '{node}' cannot read '{asked.name}', only its own Node object"
    return None if asked.subresource == "status" and asked.verb in ("update", "patch") else ""


def _lease(node: str, asked: Attributes) -> str | None:
    if asked.verb not in _OWN_VERBS:
        return "can only get, create, update, patch, or delete a node lease"
    if asked.namespace != LEASE_NAMESPACE:
        return f'can only access leases in the "{LEASE_NAMESPACE}" system namespace'
    if asked.verb != "create" and asked.name != node:
        return "can only access node lease with the same name as the requesting node"
    return None


def _csi_node(node: str, asked: Attributes) -> str | None:
    if asked.verb not in _OWN_VERBS:
        return "can only get, create, update, patch, or delete a CSINode"
    if asked.subresource:
        return "cannot authorize CSINode subresources"
    if asked.verb != "create" and asked.name != node:
        return "can only access CSINode with the same name as the requesting node"
    return None


def _unrelated(node: str) -> str:
    return f"no relationship found between node '{node}' and this object"


def _selects(asked: Attributes, field: str, value: str) -> bool:
    try:
        return FieldSelector.parse(asked.field_selector).exact(field) == value
    except ApiError:
        return False


def _accounts_of(pod: Object) -> set[str]:
    return {pod["spec"].get("serviceAccountName") or ""}
