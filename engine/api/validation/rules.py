"""The table of validation rules: for each kind its name rule and what checks it on create, update and status update."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import NamedTuple

from engine.api.resource_table import (
    ADMISSION,
    APIEXTENSIONS,
    APIREGISTRATION,
    CERTIFICATES,
    COORDINATION,
    DISCOVERY,
    EVENTS,
    FLOWCONTROL,
    MIGRATION,
    NETWORKING,
    NODE,
    RBAC,
    RESOURCE,
    SCHEDULING,
    STORAGE,
)
from engine.api.resources import ResourceInfo
from engine.api.types import Object
from engine.api.validation import (
    admission_policies,
    autoscalers,
    certificates,
    core,
    cron_jobs,
    definitions,
    device_allocations,
    device_slices,
    devices,
    endpoints,
    events,
    extensions,
    flow_control,
    job_status,
    jobs,
    networking,
    nodes,
    persistent_volume_claims,
    persistent_volumes,
    pod_certificates,
    pod_status,
    pod_update,
    pods,
    policies,
    quotas,
    rbac,
    services,
    signers,
    storage,
    storage_migrations,
    text,
    webhooks,
    workload_status,
    workloads,
)
from engine.api.validation.metadata import NameRule
from engine.api.validation.problems import Problems

Create = Callable[[Object, Problems], None]
Update = Callable[[Object, Object, Problems], None]
TimedUpdate = Callable[[Object, Object, Problems, datetime | None], None]


class Metadata(Enum):
    """Where the check of an update looks at the metadata: as a whole, or at what may not change of it."""

    WHOLE = "whole"
    CHANGED = "changed"


class Rules(NamedTuple):
    """Without an `update` of its own, an updated object is checked like a new one."""

    create: Create | None = None
    update: Update | None = None
    status: Update | None = None
    timed_status: TimedUpdate | None = None
    """Instead of `status`, where it matters what time it is."""
    first: Create | None = None
    """What upstream asks of a new object before it looks at the metadata."""
    alone: bool = False
    """Where it does not look at the metadata if that has found something."""
    name: NameRule = text.dns_subdomain
    steps: Sequence[Update | Metadata] = ()
    """Instead of `update`, where upstream looks at parts several times: an error is told as often as it is found."""
    template: str = ""
    """Where the template of its Pods is: what an older release let through in it is not held against an update."""


def _as_new(create: Create) -> Update:
    """A step that looks at the new object alone."""
    return lambda new, old, problems: create(new, problems)


_WHOLE, _CHANGED = Metadata.WHOLE, Metadata.CHANGED


def _twice(create: Create, *updates: Update) -> Sequence[Update | Metadata]:
    """Where upstream's strategy checks the new object, and then calls a check of the update that does so again."""
    return (_WHOLE, _as_new(create), _CHANGED, _as_new(create), *updates)


def _then(create: Create, *updates: Update) -> Sequence[Update | Metadata]:
    """Where upstream checks the new object, and then what has changed."""
    return (_WHOLE, _as_new(create), _CHANGED, *updates)


_TEMPLATE = "spec.template"


def _template_of_pod_template(obj: Object, problems: Problems) -> None:
    pods.pod_template(obj.get("template", {}), "template", problems)


_PODS_WORKLOADS: Mapping[tuple[str, str], Rules] = {
    ("", "Pod"): Rules(pods.pod, status=pod_status.pod_status_update, steps=(_CHANGED, _WHOLE, pod_update.pod_update)),
    ("", "PodTemplate"): Rules(_template_of_pod_template, template="template"),
    ("", "ReplicationController"): Rules(
        workloads.replication_controller,
        status=workload_status.replica_set_status,
        steps=_twice(workloads.replication_controller),
        template=_TEMPLATE,
    ),
    ("apps", "ControllerRevision"): Rules(
        policies.new_controller_revision,
        steps=(_CHANGED, _WHOLE, _as_new(policies.controller_revision), policies.controller_revision_update),
    ),
    ("apps", "DaemonSet"): Rules(
        workloads.daemon_set,
        status=workload_status.daemon_set_status,
        steps=(_CHANGED, _as_new(workloads.daemon_set), workloads.selector_update),
        template=_TEMPLATE,
    ),
    ("apps", "Deployment"): Rules(
        workloads.deployment, workloads.deployment_update, workload_status.deployment_status, template=_TEMPLATE
    ),
    ("apps", "ReplicaSet"): Rules(
        workloads.replica_set,
        status=workload_status.replica_set_status,
        steps=(_CHANGED, _as_new(workloads.replica_set), workloads.selector_update),
        template=_TEMPLATE,
    ),
    ("apps", "StatefulSet"): Rules(
        workloads.stateful_set,
        workloads.stateful_set_update,
        workload_status.stateful_set_status,
        name=text.dns_label,  # its Pods' names, with an ordinal, are host names
        template=_TEMPLATE,
    ),
    ("autoscaling", "HorizontalPodAutoscaler"): Rules(
        autoscalers.horizontal_pod_autoscaler,
        autoscalers.horizontal_pod_autoscaler_update,
        autoscalers.horizontal_pod_autoscaler_status,
    ),
    ("batch", "CronJob"): Rules(
        cron_jobs.cron_job, cron_jobs.cron_job_update, template=f"spec.jobTemplate.{_TEMPLATE}"
    ),
    ("batch", "Job"): Rules(
        jobs.job,
        status=job_status.job_status,
        steps=(_WHOLE, jobs.replaced_job, _CHANGED, jobs.job_update),
        template=_TEMPLATE,
    ),
    ("policy", "PodDisruptionBudget"): Rules(
        policies.pod_disruption_budget,
        status=policies.pod_disruption_budget_status,
        name=text.path_segment,
        steps=(policies.changed_disruption_budget,),
    ),
}
_CONFIGURATION: Mapping[tuple[str, str], Rules] = {
    ("", "Binding"): Rules(core.binding),
    ("", "ConfigMap"): Rules(
        core.config_map, steps=(_CHANGED, core.frozen_config_map, _WHOLE, _as_new(core.config_map))
    ),
    ("", "Event"): Rules(first=events.event, alone=True, name=text.path_segment, steps=(_as_new(events.event),)),
    ("", "LimitRange"): Rules(quotas.limit_range, steps=(_WHOLE, _as_new(quotas.limit_range))),
    ("", "Namespace"): Rules(
        core.namespace,
        status=core.namespace_status_update,
        name=text.dns_label,
        steps=(_WHOLE, _as_new(core.namespace), _CHANGED),
    ),
    ("", "Node"): Rules(
        nodes.node, status=nodes.node_update, steps=(_WHOLE, _as_new(nodes.node), _CHANGED, nodes.node_update)
    ),
    ("", "ResourceQuota"): Rules(quotas.resource_quota, quotas.resource_quota_update, quotas.resource_quota_status),
    ("", "Secret"): Rules(core.secret, steps=(_CHANGED, core.frozen_secret, _WHOLE, _as_new(core.secret))),
    ("", "ServiceAccount"): Rules(steps=(_CHANGED, _WHOLE)),
    (CERTIFICATES, "CertificateSigningRequest"): Rules(
        certificates.signing_request,
        status=certificates.signing_request_status,
        name=text.path_segment,
        steps=(_WHOLE, certificates.signing_request_update, _CHANGED),
    ),
    (CERTIFICATES, "ClusterTrustBundle"): Rules(
        certificates.trust_bundle,
        certificates.trust_bundle_update,
        name=signers.any_name,
        steps=(_WHOLE, certificates.changed_trust_bundle, _CHANGED),
    ),
    (CERTIFICATES, "PodCertificateRequest"): Rules(
        pod_certificates.pod_certificate_request,
        pod_certificates.pod_certificate_request_update,
        timed_status=pod_certificates.pod_certificate_request_status,
    ),
    (COORDINATION, "Lease"): Rules(policies.lease),
    (EVENTS, "Event"): Rules(
        events.new_event,
        first=events.event_as_of_old,
        steps=(_as_new(events.event_as_of_old), _CHANGED, events.new_event_update),
    ),
    (MIGRATION, "StorageVersionMigration"): Rules(
        storage_migrations.storage_version_migration,
        storage_migrations.storage_version_migration_update,
        storage_migrations.storage_version_migration_status,
    ),
    (NODE, "RuntimeClass"): Rules(nodes.runtime_class, steps=_then(nodes.runtime_class, nodes.runtime_class_update)),
    (RBAC, "ClusterRole"): Rules(rbac.cluster_role, name=text.path_segment, steps=_then(rbac.cluster_role)),
    (RBAC, "ClusterRoleBinding"): Rules(
        rbac.cluster_role_binding, name=text.path_segment, steps=_then(rbac.cluster_role_binding, rbac.same_role)
    ),
    (RBAC, "Role"): Rules(rbac.role, name=text.path_segment, steps=_then(rbac.role)),
    (RBAC, "RoleBinding"): Rules(
        rbac.role_binding, name=text.path_segment, steps=_then(rbac.role_binding, rbac.same_role)
    ),
    (SCHEDULING, "PriorityClass"): Rules(policies.priority_class, policies.priority_class_update),
}
_NETWORK_STORAGE: Mapping[tuple[str, str], Rules] = {
    ("", "Endpoints"): Rules(endpoints.endpoints, steps=(_CHANGED, _WHOLE, endpoints.endpoints_update)),
    ("", "PersistentVolume"): Rules(
        persistent_volumes.new_persistent_volume,
        steps=(
            *(_WHOLE, persistent_volumes.replacing_persistent_volume),
            *(_WHOLE, persistent_volumes.persistent_volume),
            persistent_volumes.changed_persistent_volume,
        ),
    ),
    ("", "PersistentVolumeClaim"): Rules(
        persistent_volume_claims.persistent_volume_claim,
        status=persistent_volume_claims.persistent_volume_claim_status,
        steps=(
            *(_CHANGED, _WHOLE, persistent_volume_claims.replacing_persistent_volume_claim),
            persistent_volume_claims.changed_persistent_volume_claim,
        ),
    ),
    ("", "Service"): Rules(
        services.service,
        status=services.service_status,
        name=text.dns_label,
        steps=(_CHANGED, services.changed_service, services.replacing_service),
    ),
    (DISCOVERY, "EndpointSlice"): Rules(endpoints.endpoint_slice, endpoints.endpoint_slice_update),
    (NETWORKING, "IPAddress"): Rules(
        networking.ip_address,
        name=networking.ip_address_name,
        steps=_then(networking.ip_address, networking.ip_address_update),
    ),
    (NETWORKING, "Ingress"): Rules(
        networking.ingress,
        status=networking.ingress_status,
        steps=(_CHANGED, _WHOLE, networking.ingress_update),
    ),
    (NETWORKING, "IngressClass"): Rules(
        networking.ingress_class,
        steps=(_CHANGED, networking.ingress_class_update, _WHOLE, _as_new(networking.ingress_class)),
    ),
    (NETWORKING, "NetworkPolicy"): Rules(networking.network_policy, networking.network_policy_update),
    (NETWORKING, "ServiceCIDR"): Rules(networking.service_cidr, networking.service_cidr_update),
    (STORAGE, "CSIDriver"): Rules(storage.csi_driver, steps=_twice(storage.csi_driver, storage.csi_driver_update)),
    (STORAGE, "CSINode"): Rules(
        storage.csi_node,
        steps=(*(_WHOLE, _as_new(storage.csi_node)) * 2, storage.csi_node_update),
    ),
    (STORAGE, "CSIStorageCapacity"): Rules(
        storage.csi_storage_capacity, steps=_then(storage.csi_storage_capacity, storage.csi_storage_capacity_update)
    ),
    (STORAGE, "VolumeAttributesClass"): Rules(
        storage.volume_attributes_class,
        steps=(
            *(_CHANGED, storage.volume_attributes_class_update),
            *(_WHOLE, _as_new(storage.volume_attributes_class)),
        ),
    ),
    (STORAGE, "StorageClass"): Rules(
        storage.storage_class, steps=_then(storage.storage_class, storage.storage_class_update)
    ),
    (STORAGE, "VolumeAttachment"): Rules(
        storage.new_volume_attachment,
        status=storage.volume_attachment_status,
        steps=(_WHOLE, _as_new(storage.volume_attachment), storage.volume_attachment_update),
    ),
}
_EXTENSIONS: Mapping[tuple[str, str], Rules] = {
    (ADMISSION, "MutatingAdmissionPolicy"): Rules(
        admission_policies.mutating_policy, admission_policies.mutating_policy_update
    ),
    (ADMISSION, "MutatingAdmissionPolicyBinding"): Rules(admission_policies.mutating_binding),
    (ADMISSION, "MutatingWebhookConfiguration"): Rules(webhooks.webhooks, webhooks.webhooks_update),
    (ADMISSION, "ValidatingAdmissionPolicy"): Rules(
        admission_policies.validating_policy,
        admission_policies.validating_policy_update,
        admission_policies.validating_policy_status,
    ),
    (ADMISSION, "ValidatingAdmissionPolicyBinding"): Rules(admission_policies.validating_binding),
    (ADMISSION, "ValidatingWebhookConfiguration"): Rules(webhooks.webhooks, webhooks.webhooks_update),
    (APIEXTENSIONS, "CustomResourceDefinition"): Rules(
        definitions.custom_resource_definition,
        definitions.custom_resource_definition_update,
        definitions.custom_resource_definition_status,
    ),
    (APIREGISTRATION, "APIService"): Rules(extensions.api_service, name=text.path_segment),
    (FLOWCONTROL, "FlowSchema"): Rules(flow_control.flow_schema, status=flow_control.status),
    (FLOWCONTROL, "PriorityLevelConfiguration"): Rules(flow_control.priority_level, status=flow_control.status),
}
_DEVICES: Mapping[tuple[str, str], Rules] = {
    (RESOURCE, "DeviceClass"): Rules(devices.device_class, devices.device_class_update),
    (RESOURCE, "DeviceTaintRule"): Rules(
        devices.device_taint_rule, devices.device_taint_rule_update, devices.device_taint_rule_status
    ),
    (RESOURCE, "ResourceClaim"): Rules(
        devices.resource_claim, devices.resource_claim_update, device_allocations.resource_claim_status
    ),
    (RESOURCE, "ResourceClaimTemplate"): Rules(devices.resource_claim_template, devices.resource_claim_template_update),
    (RESOURCE, "ResourceSlice"): Rules(device_slices.resource_slice, device_slices.resource_slice_update),
}
_RULES: Mapping[tuple[str, str], Rules] = {
    **_PODS_WORKLOADS,
    **_CONFIGURATION,
    **_NETWORK_STORAGE,
    **_EXTENSIONS,
    **_DEVICES,
}
_PLAIN = Rules()


# The release from which on a Service may be named as Pods are, with a digit first (KEP-5311).
_SERVICE_NAMES_RELAXED = (1, 36)
_STRICT_SERVICE = _NETWORK_STORAGE["", "Service"]._replace(name=text.dns_1035_label)


# The release that began to tell of each field of a StatefulSet that may not change.
_FIELDS_OF_SETS_TOLD = (1, 37)
_OLD_STATEFUL_SET = _PODS_WORKLOADS["apps", "StatefulSet"]._replace(update=workloads.old_stateful_set_update)
# The release that began to believe users of containers that a Pod cannot ask for.
_LARGE_USERS = (1, 37)
_OLD_POD = _PODS_WORKLOADS["", "Pod"]._replace(status=pod_status.old_pod_status_update)
# The release since which what is of use only now and then may have no Pods at all (HPAScaleToZero).
_SCALES_TO_ZERO = (1, 37)
_OLD_AUTOSCALER = _PODS_WORKLOADS["autoscaling", "HorizontalPodAutoscaler"]._replace(
    create=autoscalers.never_to_zero, update=autoscalers.never_to_zero_update
)
# The release since which a suspended Job that has run may be placed otherwise, and its Pods ask for something else
# (MutableSchedulingDirectivesForSuspendedJobs, MutablePodResourcesForSuspendedJobs).
_SUSPENDED_JOBS_CHANGE = (1, 36)
_OLD_JOB = _PODS_WORKLOADS["batch", "Job"]._replace(steps=(_WHOLE, jobs.replaced_job, _CHANGED, jobs.old_job_update))
# The release since which a node may come to attach more volumes of a driver, or fewer.
_DRIVERS_RECOUNT = (1, 35)
_OLD_CSI_NODE = _NETWORK_STORAGE[STORAGE, "CSINode"]._replace(
    steps=(*(_WHOLE, _as_new(storage.csi_node)) * 2, storage.old_csi_node_update)
)
# The release that began to tell how long the message of a volume that could not be attached may be.
_LENGTH_OF_MESSAGES_TOLD = (1, 37)
_OLD_ATTACHMENT = _NETWORK_STORAGE[STORAGE, "VolumeAttachment"]._replace(status=storage.old_volume_attachment_status)
# The release since which what is wrong with a changed object of a kind is no longer told twice.
_TOLD_ONCE: Mapping[tuple[str, str], tuple[tuple[int, int], Update, Rules]] = {
    ("", "PersistentVolumeClaim"): (
        (1, 35),
        persistent_volume_claims.replacing_persistent_volume_claim,
        _NETWORK_STORAGE["", "PersistentVolumeClaim"],
    ),
    ("apps", "DaemonSet"): ((1, 34), _as_new(workloads.daemon_set), _PODS_WORKLOADS["apps", "DaemonSet"]),
    ("apps", "ReplicaSet"): ((1, 34), _as_new(workloads.replica_set), _PODS_WORKLOADS["apps", "ReplicaSet"]),
    (STORAGE, "VolumeAttachment"): ((1, 35), _as_new(storage.volume_attachment), _OLD_ATTACHMENT),
    (STORAGE, "VolumeAttributesClass"): (
        (1, 35),
        _as_new(storage.volume_attributes_class),
        _NETWORK_STORAGE[STORAGE, "VolumeAttributesClass"],
    ),
}
# What older releases than one do otherwise.
_BEFORE: Mapping[tuple[str, str], tuple[tuple[int, int], Rules]] = {
    ("", "Pod"): (_LARGE_USERS, _OLD_POD),
    ("", "Service"): (_SERVICE_NAMES_RELAXED, _STRICT_SERVICE),
    ("apps", "StatefulSet"): (_FIELDS_OF_SETS_TOLD, _OLD_STATEFUL_SET),
    ("autoscaling", "HorizontalPodAutoscaler"): (_SCALES_TO_ZERO, _OLD_AUTOSCALER),
    ("batch", "Job"): (_SUSPENDED_JOBS_CHANGE, _OLD_JOB),
    (STORAGE, "CSINode"): (_DRIVERS_RECOUNT, _OLD_CSI_NODE),
    (STORAGE, "VolumeAttachment"): (_LENGTH_OF_MESSAGES_TOLD, _OLD_ATTACHMENT),
}


def rules_for(info: ResourceInfo) -> Rules:
    kind = (info.gvr.group, info.kind)
    if kind in _TOLD_ONCE:
        since, check, rules = _TOLD_ONCE[kind]
        if info.release < since:
            return rules._replace(steps=(_WHOLE, check, *rules.steps))
    if kind in _BEFORE and info.release < _BEFORE[kind][0]:
        return _BEFORE[kind][1]
    return _RULES.get(kind, _PLAIN)
