"""Pod templates as field errors show them: encoding/json of the internal types (pkg/apis/core/types.go).

A field is written as `Name:kind`, in Go's order: `s` a string, `i` a number, `b` a boolean, `p` what may be nil, a
struct by its name, `*` one that may be nil, `[]` many. What is embedded stands in its owner. The name in the published
API is Go's in lower case, or follows an `=`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from engine.api.types import Object
from engine.api.validation.differences import go_name

_ZERO: Mapping[str, Any] = {"s": "", "i": 0, "b": False, "p": None}
_TYPES: Mapping[str, str] = {
    "PodSpec": (
        "Volumes:[]Volume InitContainers:[]Container Containers:[]Container "
        "EphemeralContainers:[]EphemeralContainer RestartPolicy:s TerminationGracePeriodSeconds:p "
        "ActiveDeadlineSeconds:p DNSPolicy=dnsPolicy:s NodeSelector:p ServiceAccountName:s "
        "AutomountServiceAccountToken:p NodeName:s SecurityContext:*PodSecurityContext "
        "ImagePullSecrets:[]LocalObjectReference Hostname:s Subdomain:s SetHostnameAsFQDN:p Affinity:p "
        "SchedulerName:s Tolerations:[]Toleration HostAliases:p PriorityClassName:s Priority:p "
        "PreemptionPolicy:p DNSConfig=dnsConfig:p ReadinessGates:p RuntimeClassName:p Overhead:p "
        "EnableServiceLinks:p TopologySpreadConstraints:p OS=os:p SchedulingGates:p ResourceClaims:p "
        "Resources:*ResourceRequirements HostnameOverride:p SchedulingGroup:p"
    ),
    "PodSecurityContext": (
        "HostNetwork:b HostPID:b HostIPC:b ShareProcessNamespace:p HostUsers:p "
        "SELinuxOptions=seLinuxOptions:p WindowsOptions:p RunAsUser:p RunAsGroup:p RunAsNonRoot:p "
        "SupplementalGroups:p SupplementalGroupsPolicy:p FSGroup=fsGroup:p "
        "FSGroupChangePolicy=fsGroupChangePolicy:p Sysctls:p SeccompProfile:p AppArmorProfile:p "
        "SELinuxChangePolicy=seLinuxChangePolicy:p"
    ),
    "Container": (
        "Name:s Image:s Command:p Args:p WorkingDir:s Ports:[]ContainerPort EnvFrom:p Env:[]EnvVar "
        "Resources:ResourceRequirements ResizePolicy:p RestartPolicy:p RestartPolicyRules:p "
        "VolumeMounts:[]VolumeMount VolumeDevices:p LivenessProbe:*Probe ReadinessProbe:*Probe "
        "StartupProbe:*Probe Lifecycle:p TerminationMessagePath:s TerminationMessagePolicy:s "
        "ImagePullPolicy:s SecurityContext:*SecurityContext Stdin:b StdinOnce:b TTY=tty:b"
    ),
    "ResourceRequirements": "Limits:p Requests:p Claims:p",
    "ContainerPort": "Name:s HostPort:i ContainerPort:i Protocol:s HostIP:s",
    "EnvVar": "Name:s Value:s ValueFrom:*EnvVarSource",
    "EnvVarSource": "FieldRef:p ResourceFieldRef:p ConfigMapKeyRef:p SecretKeyRef:p FileKeyRef:p",
    "VolumeMount": "Name:s ReadOnly:b RecursiveReadOnly:p MountPath:s SubPath:s MountPropagation:p SubPathExpr:s",
    "Probe": (
        "Exec:p HTTPGet=httpGet:*HTTPGetAction TCPSocket=tcpSocket:p GRPC=grpc:p InitialDelaySeconds:i "
        "TimeoutSeconds:i PeriodSeconds:i SuccessThreshold:i FailureThreshold:i "
        "TerminationGracePeriodSeconds:p"
    ),
    "HTTPGetAction": "Path:s Port:i Host:s Scheme:s HTTPHeaders=httpHeaders:p",
    "SecurityContext": (
        "Capabilities:p Privileged:p SELinuxOptions=seLinuxOptions:p WindowsOptions:p RunAsUser:p "
        "RunAsGroup:p RunAsNonRoot:p ReadOnlyRootFilesystem:p AllowPrivilegeEscalation:p ProcMount:p "
        "SeccompProfile:p AppArmorProfile:p"
    ),
    "Volume": (
        "Name:s HostPath:p EmptyDir:*EmptyDirVolumeSource GCEPersistentDisk=gcePersistentDisk:p "
        "AWSElasticBlockStore=awsElasticBlockStore:p GitRepo:p Secret:*SecretVolumeSource NFS=nfs:p "
        "ISCSI=iscsi:p Glusterfs:p PersistentVolumeClaim:*PersistentVolumeClaimVolumeSource RBD=rbd:p "
        "Quobyte:p FlexVolume:p Cinder:p CephFS=cephfs:p Flocker:p DownwardAPI:p FC=fc:p AzureFile:p "
        "ConfigMap:*ConfigMapVolumeSource VsphereVolume:p AzureDisk:p PhotonPersistentDisk:p Projected:p "
        "PortworxVolume:p ScaleIO:p StorageOS=storageos:p CSI=csi:p Ephemeral:p Image:p"
    ),
    "EmptyDirVolumeSource": "Medium:s SizeLimit:p",
    "SecretVolumeSource": "SecretName:s Items:p DefaultMode:p Optional:p",
    "ConfigMapVolumeSource": "Name:s Items:p DefaultMode:p Optional:p",
    "PersistentVolumeClaimVolumeSource": "ClaimName:s ReadOnly:b",
    "LocalObjectReference": "Name:s",
    "Toleration": "Key:s Operator:s Value:s Effect:s TolerationSeconds:p",
}
_OF_METADATA = ("name", "generateName", "namespace", "labels", "annotations", "ownerReferences", "finalizers")
_OF_POD = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")


class _Field(NamedTuple):
    go: str
    json: str
    kind: str


@cache
def _fields(struct: str) -> tuple[_Field, ...]:
    found = []
    for word in _TYPES[struct].split():
        names, _, kind = word.partition(":")
        go, _, json = names.partition("=")
        found.append(_Field(go, json or go[:1].lower() + go[1:], kind))
    return tuple(found)


def pod_template(template: Object) -> Object:
    """Its metadata has tags, unlike its spec, and is embedded."""
    given = template.get("metadata", {})
    metadata = {name: _in_order(given[name]) for name in _OF_METADATA if given.get(name)}
    spec = template.get("spec", {})
    # The internal type keeps what is shared with the host in the security context.
    context = {**spec.get("securityContext", {}), **{name: spec[name] for name in _OF_POD if name in spec}}
    return {**metadata, "Spec": _shown({**spec, "securityContext": context}, "PodSpec")}


def _shown(value: Object, struct: str) -> Object:
    return {field.go: _field(value.get(field.json), field.kind) for field in _fields(struct)}


def _field(value: Any, kind: str) -> Any:
    if value is None:
        return _ZERO.get(kind) if kind in _ZERO or kind[0] in "*[" else _shown({}, kind)
    if kind in ("s", "i", "b"):
        return value
    if kind.startswith("[]"):
        inner = kind.removeprefix("[]")
        return [_shown(each, inner) if inner in _TYPES else _plain(each) for each in value]
    inner = kind.removeprefix("*")
    return _shown(value, inner) if inner in _TYPES else _plain(value)


def _plain(value: Any) -> Any:
    """A value whose type is not told of here, with the fields that it has. Maps of text keep their keys."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict) and any(not isinstance(each, str) for each in value.values()):
        return {go_name(name): _plain(each) for name, each in value.items()}
    return _in_order(value)


def _in_order(value: Any) -> Any:
    """Go writes maps by their keys."""
    return dict(sorted(value.items())) if isinstance(value, dict) else value
