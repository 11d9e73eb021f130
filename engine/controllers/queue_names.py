"""What upstream calls the work queue of a controller, which is how dashboards know it (pkg/controller, the names given
to workqueue.TypedRateLimitingQueueConfig). Both certificate controllers share one name there too."""

from __future__ import annotations

_NAMES = {
    "certificatesigningrequest-approving-controller": "certificate",
    "certificatesigningrequest-signing-controller": "certificate",
    "bootstrap-signer": "bootstrap_signer_queue",
    "clusterrole-aggregation-controller": "ClusterRoleAggregator",
    "cronjob-controller": "cronjob",
    "daemon-set-controller": "daemonset",
    "deployment-controller": "deployment",
    "disruption-controller": "disruption",
    "endpoint-controller": "endpoint",
    "endpointslice-controller": "endpoint_slice",
    "endpointslicemirroring-controller": "endpoint_slice_mirroring",
    "ephemeral-volume-controller": "ephemeral_volume",
    "generic-garbage-collector": "garbage_collector_attempt_to_delete",
    "horizontal-pod-autoscaler": "horizontalpodautoscaler",
    "job-controller": "job",
    "kube-apiserver-serving-clustertrustbundle-publisher": "ca_cert_publisher_cluster_trust_bundles",
    "namespace-controller": "namespace",
    "node-lifecycle-controller": "node_lifecycle_controller",
    "persistent-volume-binder": "claims",
    "pod-garbage-collector": "orphaned_pods_nodes",
    "pv-protection-controller": "pvprotection",
    "pvc-protection-controller": "pvcprotection",
    "replicaset-controller": "replicaset",
    "replication-controller": "replicationmanager",
    "resource-claim-controller": "resource_claim",
    "resourcequota-controller": "resourcequota_primary",
    "root-ca-cert-publisher": "root_ca_cert_publisher",
    "service-account-controller": "serviceaccount",
    "service-cidrs-controller": "ipaddresses",
    "serviceaccount-token-controller": "serviceaccount_tokens_service",
    "stale-pod-disruption-controller": "stale_pod_disruption",
    "statefulset-controller": "statefulset",
    "token-cleaner": "token_cleaner",
    "ttl-after-finished-controller": "ttl_jobs_to_delete",
    "ttl-controller": "ttlcontroller",
    "volumeattributesclass-protection-controller": "vacprotection",
}


def queue_name(controller: str) -> str:
    """The controller's own name where upstream has no queue for what it does."""
    return _NAMES.get(controller, controller)
