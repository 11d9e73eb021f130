"""The tags of upstream's types, field by field, as far as 1.37 enforces them (k8s.io/api, `+k8s:beta`).

The types whose values errors show have all their fields here, in the order of their declaration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.api.resource_table import CERTIFICATES, NETWORKING, NODE, RBAC, RESOURCE, STORAGE
from engine.api.validation import declared_formats as formats
from engine.api.validation.declared_formats import Check


class _Omitted:
    """Go leaves the field out if it is not set."""


OMITTED: Final = _Omitted()


@dataclass(frozen=True, kw_only=True)
class _Tags:
    many: bool = False  # a list, or a map
    always: bool = False  # a struct that is there even if it is empty
    pointer: bool = False  # which tells what is empty from what is not set
    required: bool = False
    immutable: bool = False
    kept: bool = False  # may be set and unset, but not changed (update=NoModify)
    most: int = 0
    unique: tuple[str, ...] | None = None  # the keys of a list's items; none for a set
    checks: tuple[Check, ...] = ()
    key_checks: tuple[Check, ...] = ()
    words: tuple[str, ...] = ()
    least: int | None = None
    one_item: tuple[str, ...] = ()
    zero: Any = OMITTED  # what Go writes for a field that is not set


@dataclass(frozen=True)
class Field(_Tags):
    name: str
    struct: str = ""


@dataclass(frozen=True)
class Struct:
    fields: tuple[Field, ...] = ()
    union: tuple[str, ...] = ()  # fields of which one is set


def _plain(*names: str) -> tuple[Field, ...]:
    return tuple(Field(name) for name in names)


def _list(name: str, struct: str = "", most: int = 0, unique: tuple[str, ...] | None = None) -> Field:
    return Field(name, struct, many=True, most=most, unique=unique)


def _one(name: str, struct: str) -> Field:
    return Field(name, struct, always=True)


def _pointer(name: str, struct: str) -> Field:
    return Field(name, struct, pointer=True)


_NAMED = _one("metadata", "LongName")
_EFFECTS = ("NoExecute", "NoSchedule", "None")
_MODE = Field("allocationMode", words=("All", "ExactCount"))
_NAME = Field("name", zero="")
_REQUESTS = _list("requests", most=32, unique=())
_DRIVER = Field("driver", required=True, checks=formats.DRIVER)
_OPAQUE = _pointer("opaque", "OpaqueDeviceConfiguration")
_SHARE = Field("shareID", pointer=True, checks=(formats.uuid,))
_CONDITIONS = (_list("bindingConditions", most=4), _list("bindingFailureConditions", most=4))
_TOLERATIONS = _list("tolerations", "DeviceToleration")
_COUNTERS = Field("counters", required=True, key_checks=(formats.short_name,))


def _attribute(name: str) -> Field:
    return Field(name, pointer=True, checks=(formats.fully_qualified_name,))


_CLAIMS: Mapping[str, Struct] = {
    "ResourceClaim": Struct(
        (Field("spec", "ResourceClaimSpec", always=True, immutable=True), _one("status", "ResourceClaimStatus"))
    ),
    "ResourceClaimTemplate": Struct((_one("spec", "ResourceClaimTemplateSpec"),)),
    "ResourceClaimTemplateSpec": Struct((_one("spec", "ResourceClaimSpec"),)),
    "ResourceClaimSpec": Struct((_one("devices", "DeviceClaim"),)),
    "DeviceClaim": Struct(
        (
            _list("requests", "DeviceRequest", 32, ("name",)),
            _list("constraints", "DeviceConstraint", 32),
            _list("config", "DeviceClaimConfiguration", 32),
        )
    ),
    "DeviceRequest": Struct(
        (_NAME, _pointer("exactly", "ExactDeviceRequest"), _list("firstAvailable", "DeviceSubRequest", 8, ("name",)))
    ),
    "ExactDeviceRequest": Struct(
        (
            Field("deviceClassName", zero=""),
            _list("selectors", "DeviceSelector", 32),
            _MODE,
            *_plain("count", "adminAccess"),
            _TOLERATIONS,
            *_plain("capacity", "derivedAttributes"),
        )
    ),
    "DeviceSubRequest": Struct(
        (
            _NAME,
            Field("deviceClassName", required=True, checks=(formats.long_name,), zero=""),
            _list("selectors", "DeviceSelector", 32),
            _MODE,
            Field("count"),
            _TOLERATIONS,
            *_plain("capacity", "derivedAttributes"),
        )
    ),
    "DeviceSelector": Struct(_plain("cel")),
    "DeviceToleration": Struct(
        (
            Field("key", checks=(formats.label_key,)),
            Field("operator", words=("Equal", "Exists")),
            Field("value"),
            Field("effect", words=_EFFECTS),
            Field("tolerationSeconds"),
        )
    ),
    "DeviceConstraint": Struct((_REQUESTS, _attribute("matchAttribute"), _attribute("distinctAttribute"))),
    "DeviceClaimConfiguration": Struct((_REQUESTS, _OPAQUE)),
    "OpaqueDeviceConfiguration": Struct((_DRIVER,)),
    "ResourceClaimStatus": Struct(
        (
            Field("allocation", "AllocationResult", pointer=True, kept=True),
            _list("reservedFor", "ResourceClaimConsumerReference", 256, ("uid",)),
            _list("devices", "AllocatedDeviceStatus", unique=("driver", "device", "pool", "shareID")),
        )
    ),
    "ResourceClaimConsumerReference": Struct(
        (Field("apiGroup"), Field("resource", zero=""), _NAME, Field("uid", zero=""))
    ),
    "AllocationResult": Struct((_one("devices", "DeviceAllocationResult"),)),
    "DeviceAllocationResult": Struct(
        (
            _list("results", "DeviceRequestAllocationResult", 32),
            _list("config", "DeviceAllocationConfiguration", 64),
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
            _pointer("networkData", "NetworkDeviceData"),
        )
    ),
    "NetworkDeviceData": Struct(
        (
            Field("interfaceName", checks=(formats.most_bytes(256),)),
            _list("ips", most=16, unique=()),
            Field("hardwareAddress", checks=(formats.most_bytes(128),)),
        )
    ),
}
_SLICES: Mapping[str, Struct] = {
    "DeviceClass": Struct((_NAMED, _one("spec", "DeviceClassSpec"))),
    "DeviceClassSpec": Struct(
        (
            _list("selectors", "DeviceSelector", 32),
            _list("config", "DeviceClassConfiguration", 32),
            Field("extendedResourceName", pointer=True, checks=(formats.extended_resource,)),
        )
    ),
    "DeviceClassConfiguration": Struct((_OPAQUE,)),
    "DeviceTaintRule": Struct((_one("spec", "DeviceTaintRuleSpec"),)),
    "DeviceTaintRuleSpec": Struct((_one("taint", "DeviceTaint"),)),
    "DeviceTaint": Struct((Field("effect", required=True, words=_EFFECTS),)),
    "ResourceSlice": Struct((_one("spec", "ResourceSliceSpec"),)),
    "ResourceSliceSpec": Struct((_list("devices", "Device"), _list("sharedCounters", "CounterSet", 8, ("name",)))),
    "CounterSet": Struct((Field("name", required=True, checks=(formats.short_name,), zero=""), _COUNTERS)),
    "Device": Struct(
        (
            _list("attributes", "DeviceAttribute"),
            _list("consumesCounters", "DeviceCounterConsumption", 2, ("counterSet",)),
            _list("taints", "DeviceTaint"),
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
    "CertificateSigningRequest": Struct((_one("status", "CertificateSigningRequestStatus"),)),
    "CertificateSigningRequestStatus": Struct((Field("conditions", one_item=("Approved", "Denied")),)),
    "RuntimeClass": Struct((Field("handler", required=True, immutable=True, checks=(formats.short_name,)),)),
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
    "Role": Struct((_list("rules", "PolicyRule"),)),
    "PolicyRule": Struct((Field("verbs", required=True),)),
    "RoleBinding": Struct((_list("subjects", "Subject"), _one("roleRef", "RoleRef"))),
    "Subject": Struct((Field("name", required=True),)),
    "RoleRef": Struct((Field("name", required=True),)),
}
_POLICIES: Mapping[str, Struct] = {
    "NetworkPolicy": Struct((_one("spec", "NetworkPolicySpec"),)),
    "NetworkPolicySpec": Struct(
        (_list("ingress", "NetworkPolicyIngressRule"), _list("egress", "NetworkPolicyEgressRule"))
    ),
    "NetworkPolicyIngressRule": Struct((_list("from", "NetworkPolicyPeer"),)),
    "NetworkPolicyEgressRule": Struct((_list("to", "NetworkPolicyPeer"),)),
    "NetworkPolicyPeer": Struct((_pointer("ipBlock", "IPBlock"),)),
    "IPBlock": Struct((Field("cidr", required=True),)),
}
_WORKLOADS: Mapping[str, Struct] = {
    "LongName": Struct((Field("name", checks=(formats.long_name,)),)),
    "ReplicationController": Struct((_NAMED, _one("spec", "ReplicationControllerSpec"))),
    "ReplicationControllerSpec": Struct(
        (Field("replicas", pointer=True, least=0), Field("minReadySeconds", pointer=True, least=0))
    ),
    "CronJob": Struct((_one("spec", "CronJobSpec"),)),
    "CronJobSpec": Struct((Field("schedule", required=True),)),
    "HorizontalPodAutoscaler": Struct((_one("spec", "HorizontalPodAutoscalerSpec"),)),
    "HorizontalPodAutoscalerSpec": Struct(
        (Field("minReplicas", pointer=True, least=0), Field("maxReplicas", required=True, least=1))
    ),
}
STRUCTS: Mapping[str, Struct] = {**_CLAIMS, **_SLICES, **_OTHERS, **_ROLES, **_POLICIES, **_WORKLOADS}
KINDS: Mapping[tuple[str, str], str] = {
    ("", "ReplicationController"): "ReplicationController",
    ("autoscaling", "HorizontalPodAutoscaler"): "HorizontalPodAutoscaler",
    ("batch", "CronJob"): "CronJob",
    (CERTIFICATES, "CertificateSigningRequest"): "CertificateSigningRequest",
    (NETWORKING, "NetworkPolicy"): "NetworkPolicy",
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
