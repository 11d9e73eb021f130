"""Which kinds an update may make, and which it may write without saying what it was read from.

Source: AllowCreateOnUpdate and AllowUnconditionalUpdate of the strategies in pkg/registry, kube-aggregator and
apiextensions-apiserver.
"""

from __future__ import annotations

from engine.api.resources import ResourceInfo

_CREATED_BY_UPDATE = frozenset(
    (
        "endpoints",
        "events",
        "events.events.k8s.io",
        "limitranges",
        "services",
        "runtimeclasses.node.k8s.io",
        "leases.coordination.k8s.io",
        "roles.rbac.authorization.k8s.io",
        "rolebindings.rbac.authorization.k8s.io",
        "clusterroles.rbac.authorization.k8s.io",
        "clusterrolebindings.rbac.authorization.k8s.io",
    )
)
_CONDITIONAL = frozenset(
    (
        "apiservices.apiregistration.k8s.io",
        "clustertrustbundles.certificates.k8s.io",
        "csidrivers.storage.k8s.io",
        "csinodes.storage.k8s.io",
        "csistoragecapacities.storage.k8s.io",
        "customresourcedefinitions.apiextensions.k8s.io",
        "devicetaintrules.resource.k8s.io",  # before v1 it was not
        "leases.coordination.k8s.io",
        "mutatingadmissionpolicies.admissionregistration.k8s.io",
        "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
        "mutatingwebhookconfigurations.admissionregistration.k8s.io",
        "podcertificaterequests.certificates.k8s.io",
        "poddisruptionbudgets.policy",
        "runtimeclasses.node.k8s.io",
        "storageversionmigrations.storagemigration.k8s.io",
        "validatingadmissionpolicies.admissionregistration.k8s.io",
        "validatingadmissionpolicybindings.admissionregistration.k8s.io",
        "validatingwebhookconfigurations.admissionregistration.k8s.io",
        "volumeattachments.storage.k8s.io",
    )
)


def created_by_update(info: ResourceInfo) -> bool:
    """Whether a PUT to a name that is not there makes the object."""
    return info.gvr.group_resource in _CREATED_BY_UPDATE


def updated_unconditionally(info: ResourceInfo) -> bool:
    """Whether an update may leave out the resourceVersion, and then overwrites what there is."""
    return not info.custom and info.gvr.group_resource not in _CONDITIONAL
