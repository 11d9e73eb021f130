"""What depends on the Kubernetes version: features on by default from one on (pkg/features/kube_features.go)."""

from __future__ import annotations

from engine.api.node_heartbeats import monitor_grace_period
from engine.api.schema import resolve_version


def _at_least(version: str, major: int, minor: int) -> bool:
    parts = resolve_version(version).split(".")
    return (int(parts[0]), int(parts[1])) >= (major, minor)


def counts_terminating_replicas(version: str) -> bool:
    """`status.terminatingReplicas` of Deployments and ReplicaSets (KEP-3973, beta in 1.35)."""
    return _at_least(version, 1, 35)


def cleans_legacy_tokens(version: str) -> bool:
    """`LegacyServiceAccountTokenCleanUp` (KEP-2799, beta in 1.29)."""
    return _at_least(version, 1, 29)


def serves_admission_policies(version: str) -> bool:
    """`ValidatingAdmissionPolicy` of `admissionregistration.k8s.io/v1` (KEP-3488, stable in 1.30)."""
    return _at_least(version, 1, 30)


def allocates_from_service_cidrs(version: str) -> bool:
    """`MultiCIDRServiceAllocator` (KEP-1880, stable in 1.33)."""
    return _at_least(version, 1, 33)


def serves_resource_claims(version: str) -> bool:
    """`resource.k8s.io/v1` (KEP-4381, stable in 1.34)."""
    return _at_least(version, 1, 34)


def quotas_devices_by_name(version: str) -> bool:
    """Whether claims take of quotas on extended resources (DRAExtendedResource, on by default since 1.36)."""
    return _at_least(version, 1, 36)


def evicts_from_tainted_devices(version: str) -> bool:
    """`DRADeviceTaints` (KEP-5055, beta in 1.36)."""
    return _at_least(version, 1, 36)


def taints_devices_by_rules(version: str) -> bool:
    """`DeviceTaintRule` of `resource.k8s.io/v1` (KEP-5055, stable in 1.37)."""
    return _at_least(version, 1, 37)


def serves_pod_certificates(version: str) -> bool:
    """`PodCertificateRequest` of `certificates.k8s.io/v1` (KEP-4317, stable in 1.37)."""
    return _at_least(version, 1, 37)


def serves_trust_bundles(version: str) -> bool:
    """`ClusterTrustBundle` of `certificates.k8s.io/v1` (KEP-3257, stable in 1.37)."""
    return _at_least(version, 1, 37)


def serves_volume_attributes_classes(version: str) -> bool:
    """`VolumeAttributesClass` of `storage.k8s.io/v1` (KEP-3751, stable in 1.34)."""
    return _at_least(version, 1, 34)


def scales_to_zero(version: str) -> bool:
    """`HPAScaleToZero` (KEP-2021, beta in 1.37)."""
    return _at_least(version, 1, 37)


def looks_at_new_autoscalers_at_once(version: str) -> bool:
    """What changes in the spec is told from the generation (`HPAGeneration`, beta in 1.37)."""
    return _at_least(version, 1, 37)


def forgets_start_of_suspended_jobs(version: str) -> bool:
    """`MutableSchedulingDirectivesForSuspendedJobs` (KEP-5440, beta in 1.36)."""
    return _at_least(version, 1, 36)


def migrates_storage(version: str) -> bool:
    """`StorageVersionMigrator` (KEP-4192, stable in 1.37)."""
    return _at_least(version, 1, 37)


def tells_unused_claims(version: str) -> bool:
    """The condition `Unused` of claims (KEP-5541, beta in 1.37)."""
    return _at_least(version, 1, 37)


def tells_metric_errors_last(version: str) -> bool:
    """Whether what is wrong with the metric of an object is told after the object, not amid its name (#139029)."""
    return _at_least(version, 1, 37)


def promotes_revisions_on_delete(version: str) -> bool:
    """Whether sets whose Pods are replaced as somebody deletes them ever get a new current revision (#136833)."""
    return _at_least(version, 1, 37)


def node_monitor_grace_period(version: str) -> float:
    """Seconds without a sign of life after which a Node is held to be gone."""
    return monitor_grace_period(resolve_version(version))
