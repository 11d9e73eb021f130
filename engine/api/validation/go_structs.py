"""Structs of Pods, volumes, claims and certificates as upstream's errors show them: encoding/json of internal types.

A field is written as `Name:kind`, in the order of pkg/apis/*/types.go: `s` a string, `i` a number, `b` a boolean, `q` a
quantity, `l` a label selector, `r` any JSON, `p` what may be nil, a struct by its name, `*` one that may be nil, `[]`
many. What is embedded stands in its owner. The name in the published API is Go's in lower case, or follows an `=`.

Since 1.37 the internal types of Pods and volumes have the fields of v1 in v1's order (KEP-6164), but still no tags.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from engine.api.types import Object
from engine.api.validation.differences import go_name
from engine.api.validation.go_values import selector

_ZERO: Mapping[str, Any] = {"s": "", "i": 0, "b": False, "p": None, "q": "0", "l": None, "r": None}
_TYPES: Mapping[str, str] = {
    "PodSpec": (
        "Volumes:[]Volume InitContainers:[]Container Containers:[]Container "
        "EphemeralContainers:[]EphemeralContainer RestartPolicy:s TerminationGracePeriodSeconds:p "
        "ActiveDeadlineSeconds:p DNSPolicy=dnsPolicy:s NodeSelector:p ServiceAccountName:s "
        "DeprecatedServiceAccount=serviceAccount:s AutomountServiceAccountToken:p NodeName:s HostNetwork:b HostPID:b "
        "HostIPC:b ShareProcessNamespace:p SecurityContext:*PodSecurityContext "
        "ImagePullSecrets:[]LocalObjectReference Hostname:s Subdomain:s Affinity:*Affinity SchedulerName:s "
        "Tolerations:[]Toleration HostAliases:[]HostAlias PriorityClassName:s Priority:p "
        "DNSConfig=dnsConfig:*PodDNSConfig ReadinessGates:[]PodReadinessGate RuntimeClassName:p "
        "EnableServiceLinks:p PreemptionPolicy:p Overhead:p TopologySpreadConstraints:[]TopologySpreadConstraint "
        "SetHostnameAsFQDN:p OS=os:*PodOS HostUsers:p SchedulingGates:[]PodSchedulingGate "
        "ResourceClaims:[]PodResourceClaim Resources:*ResourceRequirements HostnameOverride:p "
        "SchedulingGroup:*PodSchedulingGroup EvictionResponders:[]EvictionResponder"
    ),
    "PodSecurityContext": (
        "SELinuxOptions=seLinuxOptions:*SELinuxOptions WindowsOptions:*WindowsSecurityContextOptions "
        "RunAsUser:p RunAsGroup:p RunAsNonRoot:p "
        "SupplementalGroups:p SupplementalGroupsPolicy:p FSGroup=fsGroup:p "
        "Sysctls:[]Sysctl FSGroupChangePolicy=fsGroupChangePolicy:p SeccompProfile:*Profile AppArmorProfile:*Profile "
        "SELinuxChangePolicy=seLinuxChangePolicy:p"
    ),
    "Container": (
        "Name:s Image:s Command:p Args:p WorkingDir:s Ports:[]ContainerPort EnvFrom:[]EnvFromSource Env:[]EnvVar "
        "Resources:ResourceRequirements ResizePolicy:[]ContainerResizePolicy RestartPolicy:p RestartPolicyRules:p "
        "VolumeMounts:[]VolumeMount VolumeDevices:[]VolumeDevice LivenessProbe:*Probe ReadinessProbe:*Probe "
        "StartupProbe:*Probe Lifecycle:*Lifecycle TerminationMessagePath:s TerminationMessagePolicy:s "
        "ImagePullPolicy:s SecurityContext:*SecurityContext Stdin:b StdinOnce:b TTY=tty:b"
    ),
    "ResourceRequirements": "Limits:p Requests:p Claims:[]ResourceClaim",
    "ContainerPort": "Name:s HostPort:i ContainerPort:i Protocol:s HostIP:s",
    "EnvVar": "Name:s Value:s ValueFrom:*EnvVarSource",
    "EnvVarSource": (
        "FieldRef:*ObjectFieldSelector ResourceFieldRef:*ResourceFieldSelector ConfigMapKeyRef:*KeySelector "
        "SecretKeyRef:*KeySelector FileKeyRef:*FileKeySelector"
    ),
    "VolumeMount": (
        "Name:s ReadOnly:b RecursiveReadOnly:p MountPath:s SubPath:s "
        "MountPropagation:p SubPathExpr:s BindMountOptions:p"
    ),
    "Probe": (
        "Exec:*ExecAction HTTPGet=httpGet:*HTTPGetAction TCPSocket=tcpSocket:*TCPSocketAction "
        "GRPC=grpc:*GRPCAction InitialDelaySeconds:i "
        "TimeoutSeconds:i PeriodSeconds:i SuccessThreshold:i FailureThreshold:i "
        "TerminationGracePeriodSeconds:p"
    ),
    "HTTPGetAction": "Path:s Port:i Host:s Scheme:s HTTPHeaders=httpHeaders:[]HTTPHeader Protocol:p",
    "SecurityContext": (
        "Capabilities:*Capabilities Privileged:p SELinuxOptions=seLinuxOptions:*SELinuxOptions "
        "WindowsOptions:*WindowsSecurityContextOptions RunAsUser:p "
        "RunAsGroup:p RunAsNonRoot:p ReadOnlyRootFilesystem:p AllowPrivilegeEscalation:p ProcMount:p "
        "SeccompProfile:*Profile AppArmorProfile:*Profile"
    ),
    "Volume": (
        "Name:s HostPath:*HostPathVolumeSource EmptyDir:*EmptyDirVolumeSource "
        "GCEPersistentDisk=gcePersistentDisk:*GCEPersistentDiskVolumeSource "
        "AWSElasticBlockStore=awsElasticBlockStore:*AWSElasticBlockStoreVolumeSource GitRepo:*GitRepoVolumeSource "
        "Secret:*SecretVolumeSource NFS=nfs:*NFSVolumeSource ISCSI=iscsi:*ISCSIVolumeSource "
        "Glusterfs:*GlusterfsVolumeSource PersistentVolumeClaim:*PersistentVolumeClaimVolumeSource "
        "RBD=rbd:*RBDVolumeSource FlexVolume:*FlexVolumeSource "
        "Cinder:*CinderVolumeSource CephFS=cephfs:*CephFSVolumeSource Flocker:*FlockerVolumeSource "
        "DownwardAPI:*DownwardAPIVolumeSource FC=fc:*FCVolumeSource AzureFile:*AzureFileVolumeSource "
        "ConfigMap:*ConfigMapVolumeSource VsphereVolume:*VsphereVirtualDiskVolumeSource Quobyte:*QuobyteVolumeSource "
        "AzureDisk:*AzureDiskVolumeSource PhotonPersistentDisk:*PhotonPersistentDiskVolumeSource "
        "Projected:*ProjectedVolumeSource PortworxVolume:*PortworxVolumeSource ScaleIO:p StorageOS=storageos:p "
        "CSI=csi:*CSIVolumeSource Ephemeral:p Image:*ImageVolumeSource"
    ),
    "EmptyDirVolumeSource": "Medium:s SizeLimit:p Mode:p",
    "SecretVolumeSource": "SecretName:s Items:[]KeyToPath DefaultMode:p Optional:p DefaultUser:p",
    "ConfigMapVolumeSource": "Name:s Items:[]KeyToPath DefaultMode:p Optional:p DefaultUser:p",
    "PersistentVolumeClaimVolumeSource": "ClaimName:s ReadOnly:b",
    "LocalObjectReference": "Name:s",
    "Toleration": "Key:s Operator:s Value:s Effect:s TolerationSeconds:p",
    # Of Pods, seldom seen.
    "EphemeralContainer": (
        "Name:s Image:s Command:p Args:p WorkingDir:s Ports:[]ContainerPort EnvFrom:[]EnvFromSource Env:[]EnvVar "
        "Resources:ResourceRequirements ResizePolicy:[]ContainerResizePolicy RestartPolicy:p RestartPolicyRules:p "
        "VolumeMounts:[]VolumeMount VolumeDevices:[]VolumeDevice LivenessProbe:*Probe ReadinessProbe:*Probe "
        "StartupProbe:*Probe Lifecycle:*Lifecycle TerminationMessagePath:s TerminationMessagePolicy:s "
        "ImagePullPolicy:s SecurityContext:*SecurityContext Stdin:b StdinOnce:b TTY=tty:b "
        "TargetContainerName:s"
    ),
    "Affinity": "NodeAffinity:*NodeAffinity PodAffinity:*PodAffinity PodAntiAffinity:*PodAffinity",
    "NodeAffinity": (
        "RequiredDuringSchedulingIgnoredDuringExecution:*NodeSelector "
        "PreferredDuringSchedulingIgnoredDuringExecution:[]PreferredSchedulingTerm"
    ),
    "NodeSelector": "NodeSelectorTerms:[]NodeSelectorTerm",
    "NodeSelectorTerm": "MatchExpressions:[]NodeSelectorRequirement MatchFields:[]NodeSelectorRequirement",
    "NodeSelectorRequirement": "Key:s Operator:s Values:p",
    "PreferredSchedulingTerm": "Weight:i Preference:NodeSelectorTerm",
    "PodAffinity": (
        "RequiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm "
        "PreferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm"
    ),
    "WeightedPodAffinityTerm": "Weight:i PodAffinityTerm:PodAffinityTerm",
    "PodAffinityTerm": (
        "LabelSelector:l Namespaces:p TopologyKey:s NamespaceSelector:l MatchLabelKeys:p MismatchLabelKeys:p"
    ),
    "TopologySpreadConstraint": (
        "MaxSkew:i TopologyKey:s WhenUnsatisfiable:s LabelSelector:l MinDomains:p NodeAffinityPolicy:p "
        "NodeTaintsPolicy:p MatchLabelKeys:p"
    ),
    "EvictionResponder": "Name:s Priority:i",
    "PodSchedulingGroup": "PodGroupName:p",
    "HostAlias": "IP=ip:s Hostnames:p",
    "PodDNSConfig": "Nameservers:p Searches:p Options:[]PodDNSConfigOption",
    "PodDNSConfigOption": "Name:s Value:p",
    "PodReadinessGate": "ConditionType:s",
    "PodOS": "Name:s",
    "PodSchedulingGate": "Name:s",
    "PodResourceClaim": "Name:s ResourceClaimName:p ResourceClaimTemplateName:p",
    "ResourceClaim": "Name:s Request:s",
    "SELinuxOptions": "User:s Role:s Type:s Level:s",
    "WindowsSecurityContextOptions": (
        "GMSACredentialSpecName=gmsaCredentialSpecName:p GMSACredentialSpec=gmsaCredentialSpec:p RunAsUserName:p "
        "HostProcess:p"
    ),
    "Profile": "Type:s LocalhostProfile:p",
    "Capabilities": "Add:p Drop:p",
    "Sysctl": "Name:s Value:s",
    "EnvFromSource": "Prefix:s ConfigMapRef:*EnvSource SecretRef:*EnvSource",
    "EnvSource": "Name:s Optional:p",
    "ObjectFieldSelector": "APIVersion=apiVersion:s FieldPath:s",
    "ResourceFieldSelector": "ContainerName:s Resource:s Divisor:q",
    "KeySelector": "Name:s Key:s Optional:p",
    "FileKeySelector": "VolumeName:s Path:s Key:s Optional:p",
    "ContainerResizePolicy": "ResourceName:s RestartPolicy:s",
    "VolumeDevice": "Name:s DevicePath:s",
    "Lifecycle": "PostStart:*LifecycleHandler PreStop:*LifecycleHandler StopSignal:p",
    "LifecycleHandler": (
        "Exec:*ExecAction HTTPGet=httpGet:*HTTPGetAction TCPSocket=tcpSocket:*TCPSocketAction Sleep:*SleepAction"
    ),
    "ExecAction": "Command:p",
    "TCPSocketAction": "Port:i Host:s",
    "GRPCAction": "Port:i Service:p Mode:p",
    "SleepAction": "Seconds:i",
    "HTTPHeader": "Name:s Value:s",
    "KeyToPath": "Key:s Path:s Mode:p User:p",
    # Of volumes.
    "HostPathVolumeSource": "Path:s Type:p",
    "NFSVolumeSource": "Server:s Path:s ReadOnly:b",
    "GCEPersistentDiskVolumeSource": "PDName=pdName:s FSType=fsType:s Partition:i ReadOnly:b",
    "AWSElasticBlockStoreVolumeSource": "VolumeID=volumeID:s FSType=fsType:s Partition:i ReadOnly:b",
    "LocalVolumeSource": "Path:s FSType=fsType:p",
    "VolumeNodeAffinity": "Required:*NodeSelector",
    "SecretReference": "Name:s Namespace:s",
    "CSIPersistentVolumeSource": (
        "Driver:s VolumeHandle:s ReadOnly:b FSType=fsType:s VolumeAttributes:p "
        "ControllerPublishSecretRef:*SecretReference NodeStageSecretRef:*SecretReference "
        "NodePublishSecretRef:*SecretReference ControllerExpandSecretRef:*SecretReference "
        "NodeExpandSecretRef:*SecretReference"
    ),
    "FCVolumeSource": "TargetWWNs=targetWWNs:p Lun:p FSType=fsType:s ReadOnly:b WWIDs=wwids:p",
    "ISCSIPersistentVolumeSource": (
        "TargetPortal:s IQN=iqn:s Lun:i ISCSIInterface=iscsiInterface:s FSType=fsType:s ReadOnly:b Portals:p "
        "DiscoveryCHAPAuth=chapAuthDiscovery:b SessionCHAPAuth=chapAuthSession:b SecretRef:*SecretReference "
        "InitiatorName:p"
    ),
    "GlusterfsVolumeSource": "EndpointsName=endpoints:s Path:s ReadOnly:b",
    "GlusterfsPersistentVolumeSource": "EndpointsName=endpoints:s Path:s ReadOnly:b EndpointsNamespace:p",
    "AzureFileVolumeSource": "SecretName:s ShareName:s ReadOnly:b",
    "AzureFilePersistentVolumeSource": "SecretName:s ShareName:s ReadOnly:b SecretNamespace:p",
    "AzureDiskVolumeSource": "DiskName:s DataDiskURI=diskURI:s CachingMode:p FSType=fsType:p ReadOnly:p Kind:p",
    "VsphereVirtualDiskVolumeSource": "VolumePath:s FSType=fsType:s StoragePolicyName:s StoragePolicyID:s",
    "CinderVolumeSource": "VolumeID:s FSType=fsType:s ReadOnly:b SecretRef:*LocalObjectReference",
    "CinderPersistentVolumeSource": "VolumeID:s FSType=fsType:s ReadOnly:b SecretRef:*SecretReference",
    "CephFSVolumeSource": "Monitors:p Path:s User:s SecretFile:s SecretRef:*LocalObjectReference ReadOnly:b",
    "CephFSPersistentVolumeSource": "Monitors:p Path:s User:s SecretFile:s SecretRef:*SecretReference ReadOnly:b",
    "RBDVolumeSource": (
        "CephMonitors=monitors:p RBDImage=image:s FSType=fsType:s RBDPool=pool:s RadosUser=user:s Keyring:s "
        "SecretRef:*LocalObjectReference ReadOnly:b"
    ),
    "RBDPersistentVolumeSource": (
        "CephMonitors=monitors:p RBDImage=image:s FSType=fsType:s RBDPool=pool:s RadosUser=user:s Keyring:s "
        "SecretRef:*SecretReference ReadOnly:b"
    ),
    "QuobyteVolumeSource": "Registry:s Volume:s ReadOnly:b User:s Group:s Tenant:s",
    "FlockerVolumeSource": "DatasetName:s DatasetUUID:s",
    "PhotonPersistentDiskVolumeSource": "PdID:s FSType=fsType:s",
    "PortworxVolumeSource": "VolumeID:s FSType=fsType:s ReadOnly:b",
    "FlexVolumeSource": "Driver:s FSType=fsType:s SecretRef:*LocalObjectReference ReadOnly:b Options:p",
    "FlexPersistentVolumeSource": "Driver:s FSType=fsType:s SecretRef:*SecretReference ReadOnly:b Options:p",
    "GitRepoVolumeSource": "Repository:s Revision:s Directory:s",
    "ISCSIVolumeSource": (
        "TargetPortal:s IQN=iqn:s Lun:i ISCSIInterface=iscsiInterface:s FSType=fsType:s ReadOnly:b Portals:p "
        "DiscoveryCHAPAuth=chapAuthDiscovery:b SessionCHAPAuth=chapAuthSession:b SecretRef:*LocalObjectReference "
        "InitiatorName:p"
    ),
    "CSIVolumeSource": (
        "Driver:s ReadOnly:p FSType=fsType:p VolumeAttributes:p NodePublishSecretRef:*LocalObjectReference"
    ),
    "ImageVolumeSource": "Reference:s PullPolicy:s",
    "DownwardAPIVolumeSource": "Items:[]DownwardAPIVolumeFile DefaultMode:p DefaultUser:p",
    "DownwardAPIVolumeFile": (
        "Path:s FieldRef:*ObjectFieldSelector ResourceFieldRef:*ResourceFieldSelector Mode:p User:p"
    ),
    "ProjectedVolumeSource": "Sources:[]VolumeProjection DefaultMode:p DefaultUser:p",
    "VolumeProjection": (
        "Secret:*FilesProjection DownwardAPI:*DownwardAPIProjection ConfigMap:*FilesProjection "
        "ServiceAccountToken:*ServiceAccountTokenProjection ClusterTrustBundle:*ClusterTrustBundleProjection "
        "PodCertificate:*PodCertificateProjection"
    ),
    "FilesProjection": "Name:s Items:[]KeyToPath Optional:p",
    "DownwardAPIProjection": "Items:[]DownwardAPIVolumeFile",
    "ServiceAccountTokenProjection": "Audience:s ExpirationSeconds:i Path:s User:p",
    "ClusterTrustBundleProjection": "Name:p SignerName:p LabelSelector:l Optional:p Path:s User:p",
    "PodCertificateProjection": (
        "SignerName:s KeyType:s MaxExpirationSeconds:p CredentialBundlePath:s KeyPath:s CertificateChainPath:s "
        "UserAnnotations:p User:p"
    ),
    "PersistentVolumeSource": (
        "GCEPersistentDisk=gcePersistentDisk:*GCEPersistentDiskVolumeSource "
        "AWSElasticBlockStore=awsElasticBlockStore:*AWSElasticBlockStoreVolumeSource "
        "HostPath:*HostPathVolumeSource Glusterfs:*GlusterfsPersistentVolumeSource NFS=nfs:*NFSVolumeSource "
        "RBD=rbd:*RBDPersistentVolumeSource ISCSI=iscsi:*ISCSIPersistentVolumeSource "
        "Cinder:*CinderPersistentVolumeSource CephFS=cephfs:*CephFSPersistentVolumeSource FC=fc:*FCVolumeSource "
        "Flocker:*FlockerVolumeSource FlexVolume:*FlexPersistentVolumeSource "
        "AzureFile:*AzureFilePersistentVolumeSource VsphereVolume:*VsphereVirtualDiskVolumeSource "
        "Quobyte:*QuobyteVolumeSource "
        "AzureDisk:*AzureDiskVolumeSource PhotonPersistentDisk:*PhotonPersistentDiskVolumeSource "
        "PortworxVolume:*PortworxVolumeSource ScaleIO:p Local:*LocalVolumeSource StorageOS=storageos:p "
        "CSI=csi:*CSIPersistentVolumeSource"
    ),
    "PersistentVolumeClaimSpec": (
        "AccessModes:p Selector:l Resources:VolumeResourceRequirements VolumeName:s StorageClassName:p VolumeMode:p "
        "DataSource:*TypedLocalObjectReference DataSourceRef:*TypedObjectReference VolumeAttributesClassName:p"
    ),
    "PersistentVolumeClaimStatus": (
        "Phase:s AccessModes:p Capacity:p Conditions:[]PersistentVolumeClaimCondition AllocatedResources:p "
        "AllocatedResourceStatuses:p CurrentVolumeAttributesClassName:p ModifyVolumeStatus:*ModifyVolumeStatus"
    ),
    "VolumeResourceRequirements": "Limits:p Requests:p",
    "TypedLocalObjectReference": "APIGroup=apiGroup:p Kind:s Name:s",
    "TypedObjectReference": "APIGroup=apiGroup:p Kind:s Name:s Namespace:p",
    # Of claims for devices.
    "ResourceClaimSpec": "Devices:DeviceClaim",
    "DeviceClaim": "Requests:[]DeviceRequest Constraints:[]DeviceConstraint Config:[]DeviceClaimConfiguration",
    "DeviceRequest": "Name:s Exactly:*ExactDeviceRequest FirstAvailable:[]DeviceSubRequest",
    "ExactDeviceRequest": (
        "DeviceClassName:s Selectors:[]DeviceSelector AllocationMode:s Count:i AdminAccess:p "
        "Tolerations:[]DeviceToleration Capacity:*CapacityRequirements DerivedAttributes:p"
    ),
    "DeviceSubRequest": (
        "Name:s DeviceClassName:s Selectors:[]DeviceSelector AllocationMode:s Count:i "
        "Tolerations:[]DeviceToleration Capacity:*CapacityRequirements DerivedAttributes:p"
    ),
    "DeviceSelector": "CEL=cel:*CELDeviceSelector",
    "CELDeviceSelector": "Expression:s",
    "DeviceToleration": "Key:s Operator:s Value:s Effect:s TolerationSeconds:p",
    "CapacityRequirements": "Requests:p",
    "DeviceConstraint": "Requests:p MatchAttribute:p DistinctAttribute:p",
    "DeviceClaimConfiguration": "Requests:p Opaque:*OpaqueDeviceConfiguration",
    "OpaqueDeviceConfiguration": "Driver:s Parameters:r",
    # Of certificates.
    "CertificateSigningRequestCondition": ("Type:s Status:s Reason:s Message:s LastUpdateTime:p LastTransitionTime:p"),
}


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


def struct_shown(value: Object, struct: str) -> Object:
    """With all fields, also those that are not set."""
    return {field.go: _field(value.get(field.json), field.kind) for field in _fields(struct)}


def _field(value: Any, kind: str) -> Any:
    if value is None:
        return _ZERO.get(kind) if kind in _ZERO or kind[0] in "*[" else struct_shown({}, kind)
    if kind in ("s", "i", "b", "q", "r"):
        return value
    if kind == "l":
        return selector(value)
    if kind.startswith("[]"):
        inner = kind.removeprefix("[]")
        return [struct_shown(each, inner) if inner in _TYPES else _plain(each) for each in value]
    inner = kind.removeprefix("*")
    return struct_shown(value, inner) if inner in _TYPES else _plain(value)


def _plain(value: Any) -> Any:
    """A value whose type is not told of here, with the fields that it has. Maps of text keep their keys."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict) and any(not isinstance(each, str) for each in value.values()):
        return {go_name(name): _plain(each) for name, each in value.items()}
    return in_order(value)


def in_order(value: Any) -> Any:
    """Go writes maps by their keys."""
    return dict(sorted(value.items())) if isinstance(value, dict) else value
