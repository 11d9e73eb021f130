"""The table of validation rules: for each kind its name rule and what checks it on create, update and status update."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from engine.api.resource_table import DISCOVERY, EVENTS, RBAC
from engine.api.resources import ResourceInfo
from engine.api.types import Object
from engine.api.validation import core, endpoints, pod_update, pods, services, text, workloads
from engine.api.validation.metadata import NameRule
from engine.api.validation.problems import Problems

Create = Callable[[Object, Problems], None]
Update = Callable[[Object, Object, Problems], None]


class Rules(NamedTuple):
    """Without an `update` of its own, an updated object is checked like a new one."""

    create: Create | None = None
    update: Update | None = None
    status: Update | None = None
    name: NameRule = text.dns_subdomain


def _template_of_pod_template(obj: Object, problems: Problems) -> None:
    pods.pod_template(obj.get("template", {}), "template", problems)


_RULES: Mapping[tuple[str, str], Rules] = {
    ("", "Binding"): Rules(core.binding),
    ("", "ConfigMap"): Rules(core.config_map, core.config_map_update),
    ("", "Endpoints"): Rules(endpoints.endpoints),
    ("", "Event"): Rules(core.event),
    ("", "LimitRange"): Rules(core.limit_range),
    ("", "Namespace"): Rules(core.namespace, status=core.namespace_status_update, name=text.dns_label),
    ("", "Node"): Rules(core.node, core.node_update, core.node_update),
    ("", "Pod"): Rules(pods.pod, pod_update.pod_update, pod_update.pod_status_update),
    ("", "PodTemplate"): Rules(_template_of_pod_template),
    ("", "ReplicationController"): Rules(workloads.replication_controller, status=workloads.replica_status),
    ("", "ResourceQuota"): Rules(core.resource_quota, core.resource_quota_update),
    ("", "Secret"): Rules(core.secret, core.secret_update),
    ("", "Service"): Rules(services.service, services.service_update, name=text.dns_1035_label),
    ("apps", "DaemonSet"): Rules(workloads.daemon_set, workloads.daemon_set_update),
    ("apps", "Deployment"): Rules(workloads.deployment, workloads.deployment_update, workloads.replica_status),
    ("apps", "ReplicaSet"): Rules(workloads.replica_set, workloads.replica_set_update, workloads.replica_status),
    ("apps", "StatefulSet"): Rules(workloads.stateful_set, workloads.stateful_set_update, workloads.replica_status),
    (DISCOVERY, "EndpointSlice"): Rules(endpoints.endpoint_slice, endpoints.endpoint_slice_update),
    (EVENTS, "Event"): Rules(core.new_event),
    (RBAC, "ClusterRole"): Rules(name=text.path_segment),
    (RBAC, "ClusterRoleBinding"): Rules(name=text.path_segment),
    (RBAC, "Role"): Rules(name=text.path_segment),
    (RBAC, "RoleBinding"): Rules(name=text.path_segment),
}
_PLAIN = Rules()


def rules_for(info: ResourceInfo) -> Rules:
    return _RULES.get((info.gvr.group, info.kind), _PLAIN)
