"""The ClusterRoles and bindings that every cluster is born with, as one table.

Source: plugin/pkg/auth/authorizer/rbac/bootstrappolicy (policy.go, controller_policy.go, namespace_policy.go and their
testdata). A rule is written `groups: resources: verbs`, each separated by commas; the core group is `core`, a role's
non-resource rule is `url: paths: verbs`, and `(names)` after the resources are resourceNames. `@1.34` behind a rule
says that it is there from that release on: before, what it is about is off, or is not there. The server sorts what
its rules list; one that came with a manifest stands as it is written, with `=` before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from engine.api.resource_metrics import READER as METRICS_READER

R = "get,list,watch"
W = "create,delete,deletecollection,patch,update"
RW = "create,delete,deletecollection,get,list,patch,update,watch"
EVENTS = "core,events.k8s.io: events: create,patch,update"
RU = "get,list,patch,update,watch"
RBAC = "rbac.authorization.k8s.io"
TRUST_BUNDLE_READER = "system:cluster-trust-bundle-discovery"


class Role(NamedTuple):
    """`aggregate_to` labels a role as a part of others; `aggregates` names the label that a role is made of; `app` is
    what a role came with that is not of the server's own policy; `since` is the first release that has it."""

    rules: tuple[str, ...] = ()
    aggregate_to: tuple[str, ...] = ()
    aggregates: str = ""
    app: str = ""
    since: tuple[int, int] = (0, 0)


def _signer(name: str) -> Role:
    return Role((f"certificates.k8s.io: signers({name}): approve",))


ROLES: Mapping[str, Role] = {
    "cluster-admin": Role(("*: *: *", "url: *: *")),
    "admin": Role(aggregates="admin"),
    "edit": Role(aggregates="edit", aggregate_to=("admin",)),
    "view": Role(aggregates="view", aggregate_to=("edit",)),
    "system:aggregate-to-admin": Role(
        (
            "authorization.k8s.io: localsubjectaccessreviews: create",
            f"{RBAC}: rolebindings,roles: {RW}",
        ),
        aggregate_to=("admin",),
    ),
    "system:aggregate-to-edit": Role(
        (
            f"core: pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy: {R}",
            "core: serviceaccounts: impersonate",
            f"core: pods,pods/attach,pods/exec,pods/portforward,pods/proxy: {W}",
            "core: pods/eviction: create",
            "core: configmaps,events,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,"
            f"secrets,serviceaccounts,services,services/proxy: {W}",
            "core: serviceaccounts/token: create",
            "apps: daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,replicasets/scale,"
            f"statefulsets,statefulsets/scale: {W}",
            f"autoscaling: horizontalpodautoscalers: {W}",
            f"batch: cronjobs,jobs: {W}",
            "extensions: daemonsets,deployments,deployments/rollback,deployments/scale,ingresses,networkpolicies,"
            f"replicasets,replicasets/scale,replicationcontrollers/scale: {W}",
            f"policy: poddisruptionbudgets: {W}",
            f"networking.k8s.io: ingresses,networkpolicies: {W}",
            f"coordination.k8s.io: leases: {RW}",
            f"resource.k8s.io: resourceclaims,resourceclaimtemplates: {W} @1.34",
        ),
        aggregate_to=("edit",),
    ),
    "system:aggregate-to-view": Role(
        (
            "core: configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,"
            f"replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status: {R}",
            "core: bindings,events,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,"
            f"resourcequotas,resourcequotas/status: {R}",
            f"core: namespaces: {R}",
            f"discovery.k8s.io: endpointslices: {R}",
            "apps: controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,"
            f"deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,"
            f"statefulsets/scale,statefulsets/status: {R}",
            f"autoscaling: horizontalpodautoscalers,horizontalpodautoscalers/status: {R}",
            f"batch: cronjobs,cronjobs/status,jobs,jobs/status: {R}",
            "extensions: daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,ingresses,"
            "ingresses/status,networkpolicies,replicasets,replicasets/scale,replicasets/status,"
            f"replicationcontrollers/scale: {R}",
            f"policy: poddisruptionbudgets,poddisruptionbudgets/status: {R}",
            f"networking.k8s.io: ingresses,ingresses/status,networkpolicies: {R}",
            f"resource.k8s.io: resourceclaims,resourceclaims/status,resourceclaimtemplates: {R} @1.34",
        ),
        aggregate_to=("view",),
    ),
    METRICS_READER: Role(
        ("=metrics.k8s.io: pods,nodes: get,list,watch",), aggregate_to=("admin", "edit", "view"), app="metrics-server"
    ),
    "system:auth-delegator": Role(
        (
            "authentication.k8s.io: tokenreviews: create",
            "authorization.k8s.io: subjectaccessreviews: create",
        )
    ),
    "system:basic-user": Role(
        (
            "authorization.k8s.io: selfsubjectaccessreviews,selfsubjectrulesreviews: create",
            "authentication.k8s.io: selfsubjectreviews: create",
        )
    ),
    "system:certificates.k8s.io:certificatesigningrequests:nodeclient": Role(
        ("certificates.k8s.io: certificatesigningrequests/nodeclient: create",)
    ),
    "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient": Role(
        ("certificates.k8s.io: certificatesigningrequests/selfnodeclient: create",)
    ),
    "system:certificates.k8s.io:kube-apiserver-client-approver": _signer("kubernetes.io/kube-apiserver-client"),
    "system:certificates.k8s.io:kube-apiserver-client-kubelet-approver": _signer(
        "kubernetes.io/kube-apiserver-client-kubelet"
    ),
    "system:certificates.k8s.io:kubelet-serving-approver": _signer("kubernetes.io/kubelet-serving"),
    "system:certificates.k8s.io:legacy-unknown-approver": _signer("kubernetes.io/legacy-unknown"),
    TRUST_BUNDLE_READER: Role((f"certificates.k8s.io: clustertrustbundles: {R}",), since=(1, 37)),
    "system:discovery": Role(
        ("url: /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,/version/: get",)
    ),
    "system:heapster": Role((f"core: events,namespaces,nodes,pods: {R}", f"extensions: deployments: {R}")),
    "system:kube-aggregator": Role((f"core: endpoints,services: {R}",)),
    "system:kube-controller-manager": Role(
        (
            EVENTS,
            "coordination.k8s.io: leases: create",
            "coordination.k8s.io: leases(kube-controller-manager): get,update",
            "core: secrets,serviceaccounts: create",
            "core: secrets: delete",
            "core: configmaps,namespaces,secrets,serviceaccounts: get",
            "core: secrets,serviceaccounts: update",
            "authentication.k8s.io: tokenreviews: create",
            "authorization.k8s.io: subjectaccessreviews: create",
            "*: *: list,watch",
            "core: serviceaccounts/token: create",
        )
    ),
    "system:kube-dns": Role(("core: endpoints,services: list,watch",)),
    "system:kube-scheduler": Role(
        (
            EVENTS,
            "coordination.k8s.io: leases: create",
            "coordination.k8s.io: leases(kube-scheduler): get,list,update,watch",
            f"coordination.k8s.io: leasecandidates: {RW}",
            f"core: nodes: {R}",
            f"core: pods: delete,{R}",
            "core: bindings,pods/binding: create",
            "core: pods/status: patch,update",
            f"core: replicationcontrollers,services: {R}",
            f"apps,extensions: replicasets: {R}",
            f"apps: statefulsets: {R}",
            f"policy: poddisruptionbudgets: {R}",
            f"core: persistentvolumeclaims,persistentvolumes: {R}",
            "authentication.k8s.io: tokenreviews: create",
            "authorization.k8s.io: subjectaccessreviews: create",
            f"storage.k8s.io: csinodes: {R}",
            f"storage.k8s.io: volumeattachments: {R}",
            f"core: namespaces: {R}",
            f"storage.k8s.io: csidrivers: {R}",
            f"storage.k8s.io: csistoragecapacities: {R}",
            f"resource.k8s.io: deviceclasses: {R} @1.34",
            f"resource.k8s.io: resourceclaims: {RU} @1.34",
            f"resource.k8s.io: resourceclaims/status: {RU} @1.34",
            f"core: pods/finalizers: {RU} @1.34",
            f"resource.k8s.io: resourceslices: {R} @1.34",
            "resource.k8s.io: resourceclaims: create,delete @1.36",
            "resource.k8s.io: resourceclaims/binding: patch,update @1.36",
            f"resource.k8s.io: devicetaintrules: {R} @1.37",
        )
    ),
    "system:kubelet-api-admin": Role(
        (
            f"core: nodes: {R}",
            "core: nodes: proxy",
            "core: nodes/log,nodes/metrics,nodes/proxy,nodes/stats: *",
            "core: nodes/configz,nodes/healthz,nodes/pods: * @1.33",
        )
    ),
    "system:monitoring": Role(
        (
            "url: /healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*: get",
            "url: /flagz: get @1.36",
            "url: /statusz: get @1.36",
        )
    ),
    "system:node": Role(
        (
            "authentication.k8s.io: tokenreviews: create",
            "authorization.k8s.io: localsubjectaccessreviews,subjectaccessreviews: create",
            f"core: services: {R}",
            f"core: nodes: create,{R}",
            "core: nodes/status: patch,update",
            "core: nodes: patch,update",
            "core: events: create,patch,update",
            f"core: pods: {R}",
            "core: pods: create,delete",
            "core: pods/status: patch,update",
            "core: pods/eviction: create",
            f"core: configmaps,secrets: {R}",
            "core: persistentvolumeclaims,persistentvolumes: get",
            "core: endpoints: get",
            f"certificates.k8s.io: certificatesigningrequests: create,{R}",
            "coordination.k8s.io: leases: create,delete,get,patch,update",
            "storage.k8s.io: volumeattachments: get",
            "core: serviceaccounts/token: create",
            "core: persistentvolumeclaims/status: get,patch,update",
            f"storage.k8s.io: csidrivers: {R}",
            "storage.k8s.io: csinodes: create,delete,get,patch,update",
            f"node.k8s.io: runtimeclasses: {R}",
            "resource.k8s.io: resourceclaims: get @1.34",
            "resource.k8s.io: resourceslices: deletecollection @1.34",
            f"certificates.k8s.io: clustertrustbundles: {R} @1.37",
            "core: serviceaccounts: get @1.34",
            f"certificates.k8s.io: podcertificaterequests: create,{R} @1.37",
        )
    ),
    "system:node-bootstrapper": Role((f"certificates.k8s.io: certificatesigningrequests: create,{R}",)),
    "system:node-problem-detector": Role(("core: nodes: get", "core: nodes/status: patch", EVENTS)),
    "system:node-proxier": Role(
        (
            "core: endpoints,services: list,watch",
            f"core: nodes: {R}",
            EVENTS,
            "networking.k8s.io: servicecidrs: list,watch @1.33",
            "discovery.k8s.io: endpointslices: list,watch",
        )
    ),
    "system:persistent-volume-provisioner": Role(
        (
            f"core: persistentvolumes: create,delete,{R}",
            f"core: persistentvolumeclaims: update,{R}",
            f"storage.k8s.io: storageclasses: {R}",
            "core: events: watch",
            EVENTS,
        )
    ),
    "system:public-info-viewer": Role(("url: /healthz,/livez,/readyz,/version,/version/: get",)),
    "system:service-account-issuer-discovery": Role(
        (
            "url: /.well-known/openid-configuration,/.well-known/openid-configuration/,/openid/v1/jwks,"
            "/openid/v1/jwks/: get",
        )
    ),
    "system:volume-scheduler": Role(
        (
            f"core: persistentvolumes: patch,update,{R}",
            f"storage.k8s.io: storageclasses: {R}",
            f"core: persistentvolumeclaims: patch,update,{R}",
        )
    ),
}

# ClusterRole: its subjects, a group or a user.
BINDINGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "cluster-admin": (("Group", "system:masters"),),
    "system:basic-user": (("Group", "system:authenticated"),),
    TRUST_BUNDLE_READER: (("Group", "system:serviceaccounts"),),
    "system:discovery": (("Group", "system:authenticated"),),
    "system:kube-controller-manager": (("User", "system:kube-controller-manager"),),
    "system:kube-dns": (("ServiceAccount", "kube-system/kube-dns"),),
    "system:kube-scheduler": (("User", "system:kube-scheduler"),),
    "system:monitoring": (("Group", "system:monitoring"),),
    "system:node": (),  # the Node authorizer answers for nodes
    "system:node-proxier": (("User", "system:kube-proxy"),),
    "system:public-info-viewer": (("Group", "system:authenticated"), ("Group", "system:unauthenticated")),
    "system:service-account-issuer-discovery": (("Group", "system:serviceaccounts"),),
    "system:volume-scheduler": (("User", "system:kube-scheduler"),),
}


class LocalRole(NamedTuple):
    """`binding` is the name of the RoleBinding to its subjects, where it is not the role's."""

    namespace: str
    rules: tuple[str, ...]
    subjects: tuple[tuple[str, str], ...] = ()
    binding: str = ""


LOCAL_ROLES: Mapping[str, tuple[LocalRole, ...]] = {
    "extension-apiserver-authentication-reader": (
        LocalRole(
            "kube-system",
            (f"core: configmaps(extension-apiserver-authentication): {R}",),
            (("User", "system:kube-controller-manager"), ("User", "system:kube-scheduler")),
            "system::extension-apiserver-authentication-reader",
        ),
    ),
    "system:controller:bootstrap-signer": (
        LocalRole("kube-system", (f"core: secrets: {R}",), (("ServiceAccount", "kube-system/bootstrap-signer"),)),
        LocalRole(
            "kube-public",
            (f"core: configmaps: {R}", "core: configmaps(cluster-info): update", EVENTS),
            (("ServiceAccount", "kube-system/bootstrap-signer"),),
        ),
    ),
    "system:controller:cloud-provider": (
        LocalRole(
            "kube-system",
            (f"core: configmaps: create,{R},update",),
            (("ServiceAccount", "kube-system/cloud-provider"),),
        ),
    ),
    "system:controller:token-cleaner": (
        LocalRole(
            "kube-system",
            (f"core: secrets: delete,{R}", EVENTS),
            (("ServiceAccount", "kube-system/token-cleaner"),),
        ),
    ),
    "system::leader-locking-kube-controller-manager": (
        LocalRole(
            "kube-system",
            ("core: configmaps: watch", "core: configmaps(kube-controller-manager): get,update"),
            (("User", "system:kube-controller-manager"), ("ServiceAccount", "kube-system/kube-controller-manager")),
        ),
    ),
    "system::leader-locking-kube-scheduler": (
        LocalRole(
            "kube-system",
            ("core: configmaps: watch", "core: configmaps(kube-scheduler): get,update"),
            (("User", "system:kube-scheduler"), ("ServiceAccount", "kube-system/kube-scheduler")),
        ),
    ),
}
