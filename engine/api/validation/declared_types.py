"""The tags of upstream's types, field by field, as far as 1.37 enforces them (k8s.io/api, `+k8s:beta`).

The types whose values errors show have all their fields here, in the order of their declaration.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.api.resource_table import (
    ADMISSION,
    CERTIFICATES,
    DISCOVERY,
    FLOWCONTROL,
    NETWORKING,
    NODE,
    RBAC,
    RESOURCE,
    STORAGE,
)
from engine.api.validation import declared_formats as formats
from engine.api.validation.declared_fields import Field, Member, Struct, many, one, plain, pointer

_NAMED = one("metadata", "LongName")
_EFFECTS = ("NoExecute", "NoSchedule", "None")
_MODE = Field("allocationMode", words=("All", "ExactCount"))
_NAME = Field("name", zero="")
_REQUESTS = many("requests", most=32, unique=())
_DRIVER = Field("driver", required=True, checks=formats.DRIVER)
_OPAQUE = pointer("opaque", "OpaqueDeviceConfiguration")
_SHARE = Field("shareID", pointer=True, checks=(formats.uuid,))
_CONDITIONS = (many("bindingConditions", most=4), many("bindingFailureConditions", most=4))
_TOLERATIONS = many("tolerations", "DeviceToleration")
_COUNTERS = Field("counters", required=True, key_checks=(formats.short_name,))


_CLAIMS: Mapping[str, Struct] = {
    "ResourceClaim": Struct(
        (Field("spec", "ResourceClaimSpec", always=True, immutable=True), one("status", "ResourceClaimStatus"))
    ),
    "ResourceClaimTemplate": Struct((one("spec", "ResourceClaimTemplateSpec"),)),
    "ResourceClaimTemplateSpec": Struct((one("spec", "ResourceClaimSpec"),)),
    "ResourceClaimSpec": Struct((one("devices", "DeviceClaim"),)),
    "DeviceClaim": Struct(
        (
            many("requests", "DeviceRequest", 32, ("name",)),
            many("constraints", "DeviceConstraint", 32),
            many("config", "DeviceClaimConfiguration", 32),
        )
    ),
    "DeviceRequest": Struct(
        (_NAME, pointer("exactly", "ExactDeviceRequest"), many("firstAvailable", "DeviceSubRequest", 8, ("name",)))
    ),
    "ExactDeviceRequest": Struct(
        (
            Field("deviceClassName", zero=""),
            many("selectors", "DeviceSelector", 32),
            _MODE,
            *plain("count", "adminAccess"),
            _TOLERATIONS,
            *plain("capacity", "derivedAttributes"),
        )
    ),
    "DeviceSubRequest": Struct(
        (
            _NAME,
            Field("deviceClassName", required=True, checks=(formats.long_name,), zero=""),
            many("selectors", "DeviceSelector", 32),
            _MODE,
            Field("count"),
            _TOLERATIONS,
            *plain("capacity", "derivedAttributes"),
        )
    ),
    "DeviceSelector": Struct(plain("cel")),
    "DeviceToleration": Struct(
        (
            Field("key", checks=(formats.label_key,)),
            Field("operator", words=("Equal", "Exists")),
            Field("value"),
            Field("effect", words=_EFFECTS),
            Field("tolerationSeconds"),
        )
    ),
    "DeviceConstraint": Struct(
        (_REQUESTS, Field("matchAttribute", pointer=True, checks=(formats.fully_qualified_name,)))
    ),
    "DeviceClaimConfiguration": Struct((_REQUESTS, _OPAQUE)),
    "OpaqueDeviceConfiguration": Struct((_DRIVER,)),
    "ResourceClaimStatus": Struct(
        (
            Field("allocation", "AllocationResult", pointer=True, kept=True),
            many("reservedFor", "ResourceClaimConsumerReference", 256, ("uid",)),
            many("devices", "AllocatedDeviceStatus", unique=("driver", "device", "pool", "shareID")),
        )
    ),
    "ResourceClaimConsumerReference": Struct(
        (Field("apiGroup"), Field("resource", zero=""), _NAME, Field("uid", zero=""))
    ),
    "AllocationResult": Struct((one("devices", "DeviceAllocationResult"),)),
    "DeviceAllocationResult": Struct(
        (
            many("results", "DeviceRequestAllocationResult", 32),
            many("config", "DeviceAllocationConfiguration", 64),
        )
    ),
    "DeviceRequestAllocationResult": Struct(
        (
            _DRIVER,
            Field("pool", required=True, checks=(formats.pool_name,)),
            _TOLERATIONS,
            *_CONDITIONS,
            _SHARE,
        )
    ),
    "DeviceAllocationConfiguration": Struct(
        (Field("source", required=True, words=("FromClaim", "FromClass")), _REQUESTS, _OPAQUE)
    ),
    "AllocatedDeviceStatus": Struct(
        (
            *(Field(name, zero="") for name in ("driver", "pool", "device")),
            _SHARE,
            Field("conditions", zero=None),
            Field("data"),
            pointer("networkData", "NetworkDeviceData"),
        )
    ),
    "NetworkDeviceData": Struct(
        (
            Field("interfaceName", checks=(formats.most_bytes(256),)),
            many("ips", most=16, unique=()),
            Field("hardwareAddress", checks=(formats.most_bytes(128),)),
        )
    ),
}
_SLICES: Mapping[str, Struct] = {
    "DeviceClass": Struct((_NAMED, one("spec", "DeviceClassSpec"))),
    "DeviceClassSpec": Struct(
        (
            many("selectors", "DeviceSelector", 32),
            many("config", "DeviceClassConfiguration", 32),
            Field("extendedResourceName", pointer=True, checks=(formats.extended_resource,)),
        )
    ),
    "DeviceClassConfiguration": Struct((_OPAQUE,)),
    "DeviceTaintRule": Struct((one("spec", "DeviceTaintRuleSpec"),)),
    "DeviceTaintRuleSpec": Struct((one("taint", "DeviceTaint"),)),
    "DeviceTaint": Struct((Field("effect", required=True, words=_EFFECTS),)),
    "ResourceSlice": Struct((one("spec", "ResourceSliceSpec"),)),
    "ResourceSliceSpec": Struct((many("devices", "Device"), many("sharedCounters", "CounterSet", 8, ("name",)))),
    "CounterSet": Struct((Field("name", required=True, checks=(formats.short_name,), zero=""), _COUNTERS)),
    "Device": Struct(
        (
            many("attributes", "DeviceAttribute"),
            many("consumesCounters", "DeviceCounterConsumption", 2, ("counterSet",)),
            many("taints", "DeviceTaint"),
            *_CONDITIONS,
        )
    ),
    "DeviceAttribute": Struct(union=("int", "bool", "string", "version", "ints", "bools", "strings", "versions")),
    "DeviceCounterConsumption": Struct(
        (
            Field("counterSet", required=True, checks=(formats.short_name,), zero=""),
            _COUNTERS,
            Field("compatibilityGroups"),
        )
    ),
}
_OTHERS: Mapping[str, Struct] = {
    "CertificateSigningRequest": Struct((one("status", "CertificateSigningRequestStatus"),)),
    "CertificateSigningRequestStatus": Struct((Field("conditions", one_item=("Approved", "Denied")),)),
    "RuntimeClass": Struct(
        (Field("handler", required=True, immutable=True, immutable_first=True, checks=(formats.short_name,)),)
    ),
    "StorageClass": Struct(
        (
            Field("provisioner", required=True, immutable=True),
            *(Field(name, immutable=True) for name in ("parameters", "reclaimPolicy", "volumeBindingMode")),
        )
    ),
    "VolumeAttachment": Struct((Field("spec", "VolumeAttachmentSpec", always=True, immutable=True),)),
    "VolumeAttachmentSpec": Struct((Field("attacher", required=True, checks=formats.DRIVER),)),
}
_ROLES: Mapping[str, Struct] = {
    "Role": Struct((many("rules", "PolicyRule"),)),
    "PolicyRule": Struct((Field("verbs", required=True),)),
    "RoleBinding": Struct((many("subjects", "Subject"), one("roleRef", "RoleRef"))),
    "Subject": Struct((Field("name", required=True),)),
    "RoleRef": Struct((Field("name", required=True),)),
}
_ADDRESSES: Mapping[str, Struct] = {
    "EndpointSlice": Struct(
        (
            Field("addressType", required=True, immutable=True, words=("FQDN", "IPv4", "IPv6")),
            many("endpoints", "Endpoint"),
        )
    ),
    "Endpoint": Struct((Field("addresses", many=True, required=True, most=100),)),
    "IPAddress": Struct((one("spec", "IPAddressSpec"),)),
    "IPAddressSpec": Struct((Field("parentRef", "ParentReference", pointer=True, required=True, immutable=True),)),
    "ParentReference": Struct((Field("resource", required=True), Field("name", required=True))),
}
_FLOWS: Mapping[str, Struct] = {
    "PriorityLevelConfiguration": Struct((one("spec", "PriorityLevelConfigurationSpec"),)),
    "PriorityLevelConfigurationSpec": Struct(
        (Field("type", required=True), pointer("limited", "LimitedPriorityLevelConfiguration")),
        members=(Member("exempt", "type", "Exempt"), Member("limited", "type", "Limited", needed=True)),
    ),
    "LimitedPriorityLevelConfiguration": Struct((one("limitResponse", "LimitResponse"),)),
    "LimitResponse": Struct(
        (Field("type", required=True),), members=(Member("queuing", "type", "Queue", needed=True),)
    ),
}
_POLICIES: Mapping[str, Struct] = {
    "ValidatingAdmissionPolicyBinding": Struct((one("spec", "ValidatingAdmissionPolicyBindingSpec"),)),
    "ValidatingAdmissionPolicyBindingSpec": Struct(
        (Field("policyName", required=True), Field("validationActions", many=True, required=True))
    ),
    "IngressClass": Struct((one("spec", "IngressClassSpec"),)),
    "IngressClassSpec": Struct((pointer("parameters", "IngressClassParametersReference"),)),
    "IngressClassParametersReference": Struct((Field("kind", required=True), Field("name", required=True))),
    "NetworkPolicy": Struct((one("spec", "NetworkPolicySpec"),)),
    "NetworkPolicySpec": Struct(
        (many("ingress", "NetworkPolicyIngressRule"), many("egress", "NetworkPolicyEgressRule"))
    ),
    "NetworkPolicyIngressRule": Struct((many("from", "NetworkPolicyPeer"),)),
    "NetworkPolicyEgressRule": Struct((many("to", "NetworkPolicyPeer"),)),
    "NetworkPolicyPeer": Struct((pointer("ipBlock", "IPBlock"),)),
    "IPBlock": Struct((Field("cidr", required=True),)),
}
_WORKLOADS: Mapping[str, Struct] = {
    "LongName": Struct((Field("name", checks=(formats.long_name,)),)),
    "ReplicationController": Struct((_NAMED, one("spec", "ReplicationControllerSpec"))),
    "ReplicationControllerSpec": Struct(
        (Field("replicas", pointer=True, least=0), Field("minReadySeconds", pointer=True, least=0))
    ),
    "CronJob": Struct((one("spec", "CronJobSpec"),)),
    "CronJobSpec": Struct((Field("schedule", required=True),)),
    "HorizontalPodAutoscaler": Struct((one("spec", "HorizontalPodAutoscalerSpec"),)),
    "HorizontalPodAutoscalerSpec": Struct(
        (Field("minReplicas", pointer=True, least=0), Field("maxReplicas", required=True, least=1))
    ),
}
STRUCTS: Mapping[str, Struct] = {
    **_CLAIMS,
    **_SLICES,
    **_OTHERS,
    **_ROLES,
    **_POLICIES,
    **_ADDRESSES,
    **_FLOWS,
    **_WORKLOADS,
}
KINDS: Mapping[tuple[str, str], str] = {
    ("", "ReplicationController"): "ReplicationController",
    ("autoscaling", "HorizontalPodAutoscaler"): "HorizontalPodAutoscaler",
    ("batch", "CronJob"): "CronJob",
    (ADMISSION, "ValidatingAdmissionPolicyBinding"): "ValidatingAdmissionPolicyBinding",
    (CERTIFICATES, "CertificateSigningRequest"): "CertificateSigningRequest",
    (DISCOVERY, "EndpointSlice"): "EndpointSlice",
    (FLOWCONTROL, "PriorityLevelConfiguration"): "PriorityLevelConfiguration",
    **{(NETWORKING, kind): kind for kind in ("IPAddress", "IngressClass", "NetworkPolicy")},
    (NODE, "RuntimeClass"): "RuntimeClass",
    **{
        (RESOURCE, kind): kind
        for kind in ("DeviceClass", "DeviceTaintRule", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice")
    },
    **{
        (RBAC, kind): kind.removeprefix("Cluster")
        for kind in ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
    },
    **{(STORAGE, kind): kind for kind in ("StorageClass", "VolumeAttachment")},
}
