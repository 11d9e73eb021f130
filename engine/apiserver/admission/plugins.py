"""The admission plugins that are on by default, in upstream's order (pkg/kubeapiserver/options/plugins.go)."""

from __future__ import annotations

from engine.api.resources import ResourceRegistry
from engine.apiserver.admission.attributes import Plugin
from engine.apiserver.admission.escalation import RBACEscalation
from engine.apiserver.admission.limits import LIMIT_RANGES, LimitRanger
from engine.apiserver.admission.namespaces import NamespaceLifecycle
from engine.apiserver.admission.nodes import NodeRestriction
from engine.apiserver.admission.pods import (
    PRIORITY_CLASSES,
    DefaultTolerationSeconds,
    Priority,
    TaintNodesByCondition,
)
from engine.apiserver.admission.quota import QUOTAS, ResourceQuota
from engine.apiserver.admission.service_accounts import ServiceAccount
from engine.apiserver.authorization import UnionAuthorizer
from engine.apiserver.authorization.rbac import RBACAuthorizer
from engine.apiserver.caches import WatchCaches
from engine.apiserver.lookup import Lookup
from engine.apiserver.storage import Storage
from engine.rng import Rng


def default_plugins(
    *,
    lookup: Lookup,
    caches: WatchCaches,
    resources: ResourceRegistry,
    names: Rng,
    rbac: RBACAuthorizer,
    authorizer: UnionAuthorizer,
    storage: Storage,
) -> list[Plugin]:
    return [
        NamespaceLifecycle(lookup),
        LimitRanger(caches, resources.get(*LIMIT_RANGES)),
        ServiceAccount(lookup, names),
        NodeRestriction(lookup),
        TaintNodesByCondition(),
        Priority(lookup, caches, resources.get(*PRIORITY_CLASSES)),
        DefaultTolerationSeconds(),
        RBACEscalation(rbac, authorizer),
        ResourceQuota(caches, storage, resources.get(*QUOTAS)),
    ]
