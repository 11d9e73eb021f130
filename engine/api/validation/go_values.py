"""Structs as field errors show them: Go's encoding/json of the value that upstream's validation holds.

Validation runs on the internal types (pkg/apis/*/types.go), which have no JSON tags: their fields keep Go's names and
order, and unset ones are there too. Label selectors are metav1's: they have tags, and an order of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from engine.api.types import Object


class _Field(NamedTuple):
    go: str
    json: str
    zero: Any = None  # what Go writes for a field that is not set
    struct: str = ""  # the type below, if it is one of these


_STRUCTS: Mapping[str, tuple[_Field, ...]] = {
    "DeploymentStrategy": (
        _Field("Type", "type", ""),
        _Field("RollingUpdate", "rollingUpdate", struct="RollingUpdateDeployment"),
    ),
    "RollingUpdateDeployment": (_Field("MaxUnavailable", "maxUnavailable", 0), _Field("MaxSurge", "maxSurge", 0)),
    "DaemonSetUpdateStrategy": (
        _Field("Type", "type", ""),
        _Field("RollingUpdate", "rollingUpdate", struct="RollingUpdateDeployment"),
    ),
    "StatefulSetUpdateStrategy": (
        _Field("Type", "type", ""),
        _Field("RollingUpdate", "rollingUpdate", struct="RollingUpdateStatefulSetStrategy"),
    ),
    "RollingUpdateStatefulSetStrategy": (
        _Field("Partition", "partition", 0),
        _Field("MaxUnavailable", "maxUnavailable"),
    ),
    "PodDisruptionBudgetSpec": (
        _Field("MinAvailable", "minAvailable"),
        _Field("Selector", "selector", struct="LabelSelector"),
        _Field("MaxUnavailable", "maxUnavailable"),
        _Field("UnhealthyPodEvictionPolicy", "unhealthyPodEvictionPolicy"),
    ),
    "SuccessPolicy": (_Field("Rules", "rules", struct="[]SuccessPolicyRule"),),
    "SuccessPolicyRule": (
        _Field("SucceededIndexes", "succeededIndexes"),
        _Field("SucceededCount", "succeededCount"),
    ),
    "UncountedTerminatedPods": (_Field("Succeeded", "succeeded"), _Field("Failed", "failed")),
    "SecurityContext": (
        _Field("Capabilities", "capabilities", struct="Capabilities"),
        _Field("Privileged", "privileged"),
        _Field("SELinuxOptions", "seLinuxOptions", struct="SELinuxOptions"),
        _Field("WindowsOptions", "windowsOptions", struct="WindowsSecurityContextOptions"),
        _Field("RunAsUser", "runAsUser"),
        _Field("RunAsGroup", "runAsGroup"),
        _Field("RunAsNonRoot", "runAsNonRoot"),
        _Field("ReadOnlyRootFilesystem", "readOnlyRootFilesystem"),
        _Field("AllowPrivilegeEscalation", "allowPrivilegeEscalation"),
        _Field("ProcMount", "procMount"),
        _Field("SeccompProfile", "seccompProfile", struct="Profile"),
        _Field("AppArmorProfile", "appArmorProfile", struct="Profile"),
    ),
    "Capabilities": (_Field("Add", "add"), _Field("Drop", "drop")),
    "SELinuxOptions": (
        _Field("User", "user", ""),
        _Field("Role", "role", ""),
        _Field("Type", "type", ""),
        _Field("Level", "level", ""),
    ),
    "WindowsSecurityContextOptions": (
        _Field("GMSACredentialSpecName", "gmsaCredentialSpecName"),
        _Field("GMSACredentialSpec", "gmsaCredentialSpec"),
        _Field("RunAsUserName", "runAsUserName"),
        _Field("HostProcess", "hostProcess"),
    ),
    "Profile": (_Field("Type", "type", ""), _Field("LocalhostProfile", "localhostProfile")),
    "ServicePort": (
        _Field("Name", "name", ""),
        _Field("Protocol", "protocol", ""),
        _Field("AppProtocol", "appProtocol"),
        _Field("Port", "port", 0),
        _Field("TargetPort", "targetPort", 0),
        _Field("NodePort", "nodePort", 0),
    ),
    "PodResourceClaim": (
        _Field("Name", "name", ""),
        _Field("ResourceClaimName", "resourceClaimName"),
        _Field("ResourceClaimTemplateName", "resourceClaimTemplateName"),
    ),
    "ClusterTrustBundleProjection": (
        _Field("Name", "name"),
        _Field("SignerName", "signerName"),
        _Field("LabelSelector", "labelSelector", struct="LabelSelector"),
        _Field("Optional", "optional"),
        _Field("Path", "path", ""),
    ),
    "ObjectReference": (
        _Field("Kind", "kind", ""),
        _Field("Namespace", "namespace", ""),
        _Field("Name", "name", ""),
        _Field("UID", "uid", ""),
        _Field("APIVersion", "apiVersion", ""),
        _Field("ResourceVersion", "resourceVersion", ""),
        _Field("FieldPath", "fieldPath", ""),
    ),
    "EventSource": (_Field("Component", "component", ""), _Field("Host", "host", "")),
    "NodeAddress": (_Field("Type", "type", ""), _Field("Address", "address", "")),
    "Toleration": (
        _Field("Key", "key", ""),
        _Field("Operator", "operator", ""),
        _Field("Value", "value", ""),
        _Field("Effect", "effect", ""),
        _Field("TolerationSeconds", "tolerationSeconds"),
    ),
    "ScopedResourceSelectorRequirement": (
        _Field("ScopeName", "scopeName", ""),
        _Field("Operator", "operator", ""),
        _Field("Values", "values"),
    ),
    "RoleRef": (_Field("APIGroup", "apiGroup", ""), _Field("Kind", "kind", ""), _Field("Name", "name", "")),
    "CSINodeDriver": (
        _Field("Name", "name", ""),
        _Field("NodeID", "nodeID", ""),
        _Field("TopologyKeys", "topologyKeys"),
        _Field("Allocatable", "allocatable"),
    ),
    "VolumeAttachmentSpec": (
        _Field("Attacher", "attacher", ""),
        _Field("Source", "source", struct="VolumeAttachmentSource"),
        _Field("NodeName", "nodeName", ""),
    ),
    "VolumeAttachmentSource": (
        _Field("PersistentVolumeName", "persistentVolumeName"),
        _Field("InlineVolumeSpec", "inlineVolumeSpec"),
    ),
    "ParentReference": (
        _Field("Group", "group", ""),
        _Field("Resource", "resource", ""),
        _Field("Namespace", "namespace", ""),
        _Field("Name", "name", ""),
    ),
    "NodeSelectorTerm": (
        _Field("MatchExpressions", "matchExpressions", struct="[]NodeSelectorRequirement"),
        _Field("MatchFields", "matchFields", struct="[]NodeSelectorRequirement"),
    ),
    "NodeSelectorRequirement": (
        _Field("Key", "key", ""),
        _Field("Operator", "operator", ""),
        _Field("Values", "values"),
    ),
    "DeviceAttribute": (
        _Field("IntValue", "int"),
        _Field("BoolValue", "bool"),
        _Field("StringValue", "string"),
        _Field("VersionValue", "version"),
        _Field("IntValues", "ints"),
        _Field("BoolValues", "bools"),
        _Field("StringValues", "strings"),
        _Field("VersionValues", "versions"),
    ),
    "Taint": (
        _Field("Key", "key", ""),
        _Field("Value", "value", ""),
        _Field("Effect", "effect", ""),
        _Field("TimeAdded", "timeAdded"),
    ),
    "AuditAnnotation": (_Field("Key", "key", ""), _Field("ValueExpression", "valueExpression", "")),
    "FlowSchemaSpec": (
        _Field("PriorityLevelConfiguration", "priorityLevelConfiguration", {}, struct="Named"),
        _Field("MatchingPrecedence", "matchingPrecedence", 0),
        _Field("DistinguisherMethod", "distinguisherMethod", struct="Typed"),
        _Field("Rules", "rules", struct="[]PolicyRulesWithSubjects"),
    ),
    "Named": (_Field("Name", "name", ""),),
    "Typed": (_Field("Type", "type", ""),),
    "PolicyRulesWithSubjects": (
        _Field("Subjects", "subjects", struct="[]FlowSubject"),
        _Field("ResourceRules", "resourceRules", struct="[]ResourcePolicyRule"),
        _Field("NonResourceRules", "nonResourceRules", struct="[]NonResourcePolicyRule"),
    ),
    "FlowSubject": (
        _Field("Kind", "kind", ""),
        _Field("User", "user", struct="Named"),
        _Field("Group", "group", struct="Named"),
        _Field("ServiceAccount", "serviceAccount", struct="ServiceAccountSubject"),
    ),
    "ServiceAccountSubject": (_Field("Namespace", "namespace", ""), _Field("Name", "name", "")),
    "ResourcePolicyRule": (
        _Field("Verbs", "verbs"),
        _Field("APIGroups", "apiGroups"),
        _Field("Resources", "resources"),
        _Field("ClusterScope", "clusterScope", False),
        _Field("Namespaces", "namespaces"),
    ),
    "NonResourceAttributes": (_Field("Path", "path", ""), _Field("Verb", "verb", "")),
    "NonResourcePolicyRule": (_Field("Verbs", "verbs"), _Field("NonResourceURLs", "nonResourceURLs")),
    "PriorityLevelConfigurationSpec": (
        _Field("Type", "type", ""),
        _Field("Limited", "limited", struct="LimitedPriorityLevel"),
        _Field("Exempt", "exempt", struct="ExemptPriorityLevel"),
    ),
    "LimitedPriorityLevel": (
        _Field("NominalConcurrencyShares", "nominalConcurrencyShares", 0),
        _Field("LimitResponse", "limitResponse", {}, struct="LimitResponse"),
        _Field("LendablePercent", "lendablePercent"),
        _Field("BorrowingLimitPercent", "borrowingLimitPercent"),
    ),
    "ExemptPriorityLevel": (
        _Field("NominalConcurrencyShares", "nominalConcurrencyShares"),
        _Field("LendablePercent", "lendablePercent"),
    ),
    "LimitResponse": (_Field("Type", "type", ""), _Field("Queuing", "queuing", struct="QueuingConfiguration")),
    "QueuingConfiguration": (
        _Field("Queues", "queues", 0),
        _Field("HandSize", "handSize", 0),
        _Field("QueueLengthLimit", "queueLengthLimit", 0),
    ),
}


def go_map(value: Object | None) -> Object | None:
    """A map, which Go writes by its keys."""
    return None if value is None else dict(sorted(value.items()))


def internal(struct: str, value: Object) -> Object:
    """A value of an internal type."""
    shown: Object = {}
    for field in _STRUCTS[struct]:
        below = value.get(field.json, field.zero)
        if field.struct and below is not None:
            below = _below(field.struct, below)
        shown[field.go] = below
    return shown


def _below(struct: str, value: Any) -> Any:
    if struct.startswith("[]"):
        return [_below(struct.removeprefix("[]"), each) for each in value]
    return selector(value) if struct == "LabelSelector" else internal(struct, value)


def selector(value: Object | None) -> Object | None:
    """A metav1.LabelSelector."""
    if value is None:
        return None
    shown: Object = {}
    if value.get("matchLabels"):
        shown["matchLabels"] = dict(sorted(value["matchLabels"].items()))
    if value.get("matchExpressions"):
        shown["matchExpressions"] = [_requirement(each) for each in value["matchExpressions"]]
    return shown


def _requirement(value: Object) -> Object:
    shown: Object = {"key": value.get("key", ""), "operator": value.get("operator", "")}
    return {**shown, "values": value["values"]} if value.get("values") else shown
