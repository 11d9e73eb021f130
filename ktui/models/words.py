"""The words that spans are shown in: kubectl's names of resources, HTTP's of verbs, and who asks from which lane."""

from __future__ import annotations

from typing import Any

from engine.api.resource_table import FACTS

LANES = ("client", "api-server", "etcd", "controllers", "scheduler", "nodes")
CLIENT, API_SERVER, ETCD, CONTROLLERS, SCHEDULER, NODES = range(6)

METHODS = {
    "create": "POST",
    "update": "PUT",
    "patch": "PATCH",
    "apply": "PATCH",
    "delete": "DELETE",
    "deletecollection": "DELETE",
    "get": "GET",
    "list": "GET",
    "watch": "WATCH",
}
READS = frozenset({"get", "list", "watch", "head"})
CODES = {
    "BadRequest": 400,
    "Unauthorized": 401,
    "Forbidden": 403,
    "NotFound": 404,
    "AlreadyExists": 409,
    "Conflict": 409,
    "Gone": 410,
    "Expired": 410,
    "Invalid": 422,
    "TooManyRequests": 429,
    "InternalError": 500,
    "InvalidArgument": 500,
    "ResourceExhausted": 500,
    "Unavailable": 500,
    "ServiceUnavailable": 503,
}
# Not what was hoped for, and nothing wrong: it is tried again, or what one asks for is not there.
SOFT = frozenset({"NotFound", "Conflict", "AlreadyExists", "RetryLater", "Canceled"})
# What such outcomes mean, for who meets them in a trace.
EXPLAINED = {
    "RetryLater": "the component's cache has not seen its own last write yet: it comes back to it",
    "Conflict": "somebody had changed the object meanwhile: it is read and tried again",
    "AlreadyExists": "it was created before, by somebody who did not see it yet",
    "NotFound": "it had gone meanwhile, or was not there yet",
    "Canceled": "whoever waited for it went away",
}
SHORT_NAMES = {
    "deployments": "deploy",
    "replicasets": "rs",
    "pods": "po",
    "services": "svc",
    "endpointslices": "eps",
    "namespaces": "ns",
    "endpoints": "ep",
    "persistentvolumeclaims": "pvc",
    "persistentvolumes": "pv",
    "horizontalpodautoscalers": "hpa",
    "poddisruptionbudgets": "pdb",
    "ingresses": "ing",
    "networkpolicies": "netpol",
    "nodes": "no",
    "statefulsets": "sts",
    "daemonsets": "ds",
    "configmaps": "cm",
    "serviceaccounts": "sa",
    "events": "ev",
    "leases": "lease",
    "customresourcedefinitions": "crd",
}
NAMESPACED = frozenset(kind.lower() for (_, kind), facts in FACTS.items() if facts.namespaced)  # of what is built in
_IRREGULAR = {"endpoints": "endpoints"}


def plural(kind: str) -> str:
    """`networkpolicy` is `networkpolicies` in a URL."""
    if kind in _IRREGULAR:
        return _IRREGULAR[kind]
    if kind.endswith("y") and kind[-2:-1] not in "aeiou":
        return f"{kind[:-1]}ies"
    return f"{kind}es" if kind.endswith(("s", "x", "ch")) else f"{kind}s"


def kind_of(object: str) -> str:
    """`pod` of `pod/default/web`; the whole of a path such as `/api`."""
    return object if object.startswith("/") else object.partition("/")[0]


def resource_of(object: str) -> str:
    kind = kind_of(object)
    return kind if kind.startswith("/") or not kind else plural(kind)


def name_of(object: str, *, complete: bool = True) -> str:
    """The name in `kind/namespace/name` or `kind/name`; of a create's first hops, not `complete`, there is none yet."""
    parts = object.split("/")
    if object.startswith("/") or len(parts) < 2 or (len(parts) == 2 and not complete):
        return ""
    return parts[-1]


def response_code(outcome: str, verb: str) -> str:
    """The status line's words: `201`, `403 Forbidden`."""
    if outcome == "ok":
        return "201" if verb == "create" else "200"
    code = CODES.get(outcome)
    return f"{code} {outcome}" if code else outcome


def requester(user: str) -> tuple[int, str]:
    """The lane that a user asks from, and its name there."""
    if user.startswith("system:serviceaccount:kube-system:"):
        return CONTROLLERS, controller_name(user.rpartition(":")[2])
    if user == "system:kube-controller-manager":
        return CONTROLLERS, "manager"
    if user == "system:kube-scheduler":
        return SCHEDULER, "scheduler"
    if user.startswith("system:node:"):
        return NODES, user.removeprefix("system:node:")
    if user == "system:kube-proxy":
        return NODES, "kube-proxy"
    if user == "system:apiserver":
        return API_SERVER, "kube-apiserver"
    return CLIENT, user


def controller_name(component: str) -> str:
    return component.removesuffix("-controller")


def component_name(span: dict[str, Any]) -> str:
    """A component as the lane's heading already half says it: `deployment`, `node-1`, `kube-proxy node-1`."""
    component: str = span["component"]
    return controller_name(component).removeprefix("kubelet ").removeprefix("default-")
