"""What may change of a stored object, and what its status may say."""

from __future__ import annotations

import copy
from typing import Any

from engine.api.resources import ResourceRegistry
from engine.api.types import GVK, Object
from engine.api.validation import validate_status_update, validate_update
from tests.api.objects import DEPLOYMENT, JOB, SERVICE, deployment, info, pod, prepared, service

CONFIG_MAP = GVK("", "v1", "ConfigMap")
NODE = GVK("", "v1", "Node")
CLAIM = GVK("", "v1", "PersistentVolumeClaim")
STATEFUL_SET = GVK("apps", "v1", "StatefulSet")
RBAC = "rbac.authorization.k8s.io"


def meta(**fields: Any) -> Object:
    return {"metadata": {"name": "web", "namespace": "default"}, **fields}


def cluster(**fields: Any) -> Object:
    return {"metadata": {"name": "web"}, **fields}


def job_template() -> Object:
    return {"spec": {**pod()["spec"], "restartPolicy": "OnFailure"}}


def stored(gvk: GVK, value: Object) -> Object:
    obj = prepared(gvk, value)
    obj["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    return obj


def update(gvk: GVK, old: Object, **changes: Any) -> list[str]:
    """The problems of an update of these fields of the spec (of the object itself, where it has no spec)."""
    new = copy.deepcopy(old)
    new.get("spec", new).update(changes)
    return [str(cause) for cause in validate_update(info(gvk), new, old)]


def test_a_deployments_selector_is_immutable() -> None:
    old = stored(DEPLOYMENT, deployment())
    selector = {"matchLabels": {"app": "db"}}
    template = {**old["spec"]["template"], "metadata": {"labels": {"app": "db"}}}
    assert update(DEPLOYMENT, old, selector=selector, template=template) == [
        'spec.selector: Invalid value: {"matchLabels":{"app":"db"}}: field is immutable'
    ]


def test_a_services_address_is_kept() -> None:
    old = stored(SERVICE, service(clusterIP="10.0.0.1", clusterIPs=["10.0.0.1"], ipFamilies=["IPv4"]))
    assert update(SERVICE, old, clusterIP="10.0.0.2", clusterIPs=["10.0.0.2"]) == [
        'spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set'
    ]
    assert update(SERVICE, old, clusterIP="", clusterIPs=[]) == [
        "spec.clusterIPs[0]: Invalid value: []: primary clusterIP can not be unset"
    ]


def test_frozen_config_maps_stay_as_they_are() -> None:
    old = stored(CONFIG_MAP, meta(data={"a": "b"}, immutable=True))
    assert update(CONFIG_MAP, old, data={"a": "c"}, immutable=False) == [
        "immutable: Forbidden: field is immutable when `immutable` is set",
        "data: Forbidden: field is immutable when `immutable` is set",
    ]


def test_a_stateful_set_changes_in_few_ways() -> None:
    old = stored(STATEFUL_SET, deployment())
    assert update(STATEFUL_SET, old, replicas=5, revisionHistoryLimit=2, minReadySeconds=1) == []
    frozen = {"serviceName": "other", "podManagementPolicy": "Parallel"}
    assert update(STATEFUL_SET, old, **frozen) == [
        'spec.serviceName: Invalid value: "other": field is immutable',
        'spec.podManagementPolicy: Invalid value: "Parallel": field is immutable',
    ]
    assert update(STATEFUL_SET, old, podManagementPolicy="") == [
        "spec.podManagementPolicy: Required value",
        'spec.podManagementPolicy: Invalid value: "": field is immutable',
    ]
    selected, labels = {"matchLabels": {"app": "db"}}, '{"app":"web"}'
    assert update(STATEFUL_SET, old, selector=selected) == [
        f"spec.template.metadata.labels: Invalid value: {labels}: `selector` does not match template `labels`",
        'spec.selector: Invalid value: {"matchLabels":{"app":"db"}}: field is immutable',
    ]


def test_the_claims_of_a_stateful_set_are_immutable() -> None:
    def claims(size: str) -> list[Object]:
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
        return [{"metadata": {"name": "data"}, "spec": spec}]

    old = stored(STATEFUL_SET, deployment(volumeClaimTemplates=claims("1Gi")))
    wanted = stored(STATEFUL_SET, deployment(volumeClaimTemplates=claims("2Gi")))["spec"]["volumeClaimTemplates"]
    assert update(STATEFUL_SET, old, volumeClaimTemplates=old["spec"]["volumeClaimTemplates"]) == []
    assert update(STATEFUL_SET, old, volumeClaimTemplates=wanted) == [
        'spec.volumeClaimTemplates: Invalid value: [{"name":"data","Spec":{"AccessModes":["ReadWriteOnce"],'
        '"Selector":null,"Resources":{"Limits":null,"Requests":{"storage":"2Gi"}},"VolumeName":"",'
        '"StorageClassName":null,"VolumeMode":"Filesystem","DataSource":null,"DataSourceRef":null,'
        '"VolumeAttributesClassName":null},"Status":{"Phase":"Pending","AccessModes":null,"Capacity":null,'
        '"Conditions":null,"AllocatedResources":null,"AllocatedResourceStatuses":null,'
        '"CurrentVolumeAttributesClassName":null,"ModifyVolumeStatus":null}}]: field is immutable'
    ]
    assert update(STATEFUL_SET, old, volumeClaimTemplates=[]) == [
        "spec.volumeClaimTemplates: Invalid value: null: field is immutable"
    ]


def test_a_stateful_set_before_1_37_tells_what_may_change() -> None:
    older = ResourceRegistry.for_version("1.36").by_kind(STATEFUL_SET)
    assert older is not None
    old = stored(STATEFUL_SET, deployment())
    new = copy.deepcopy(old)
    new["spec"]["serviceName"] = "other"
    assert [str(cause) for cause in validate_update(older, new, old)] == [
        "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
        "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are "
        "forbidden"
    ]


def test_a_jobs_template_is_immutable_while_it_runs() -> None:
    value = {"metadata": {"name": "a", "namespace": "b", "uid": "u"}, "spec": {"template": job_template()}}
    old = stored(JOB, value)
    assert update(JOB, old, parallelism=3) == []
    assert update(JOB, old, completions=2) == ["spec.completions: Invalid value: 2: field is immutable"]


def test_a_nodes_range_is_kept() -> None:
    old = stored(NODE, cluster(spec={"podCIDRs": ["10.0.0.0/24"], "podCIDR": "10.0.0.0/24"}))
    assert update(NODE, old, podCIDRs=["10.0.1.0/24"]) == [
        'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'
    ]


def test_a_role_binding_keeps_its_role() -> None:
    gvk = GVK(RBAC, "v1", "RoleBinding")
    old = stored(gvk, meta(roleRef={"kind": "Role", "name": "a"}))
    other = {"apiGroup": RBAC, "kind": "Role", "name": "b"}
    (problem,) = update(gvk, old, roleRef=other)
    assert problem.endswith("field is immutable")


def test_a_claim_grows_once_it_is_bound() -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    old = stored(CLAIM, meta(spec=spec))
    old["spec"]["volumeName"] = "pv"
    larger = {"requests": {"storage": "2Gi"}}
    assert update(CLAIM, old, resources=larger)[0].startswith("spec: Forbidden: spec is immutable after creation")
    old["status"]["phase"] = "Bound"
    assert update(CLAIM, old, resources=larger) == []


def test_a_status_counts_no_more_than_there_is() -> None:
    old = stored(DEPLOYMENT, deployment())
    new = copy.deepcopy(old)
    new["status"] = {"replicas": 1, "readyReplicas": 2}
    assert [str(cause) for cause in validate_status_update(info(DEPLOYMENT), new, old)] == [
        "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas"
    ]


def test_a_namespace_is_not_terminating_before_it_is_deleted() -> None:
    gvk = GVK("", "v1", "Namespace")
    old = stored(gvk, cluster())
    new = copy.deepcopy(old)
    new["status"]["phase"] = "Terminating"
    assert [str(cause) for cause in validate_status_update(info(gvk), new, old)] == [
        "status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"
    ]
