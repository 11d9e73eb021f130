from __future__ import annotations

import copy

import pytest

from engine.api.resources import ResourceRegistry
from engine.api.selectable import selectable_fields, unknown_field_text
from engine.api.strategies.strategy import prepare_for_create, prepare_for_status_update, prepare_for_update
from engine.api.types import GVK, Object
from engine.api.warnings import warnings_before_create
from tests.api.objects import (
    DEPLOYMENT,
    JOB,
    POD,
    SERVICE,
    container,
    defaulted,
    deployment,
    info,
    pod,
    prepared,
    service,
)

CONFIG_MAP = GVK("", "v1", "ConfigMap")
NAMESPACE = GVK("", "v1", "Namespace")
NODE = GVK("", "v1", "Node")
LEASE = GVK("coordination.k8s.io", "v1", "Lease")
SLICE = GVK("discovery.k8s.io", "v1", "EndpointSlice")

NEW_STATUS: dict[str, tuple[GVK, Object | None]] = {
    "Deployment": (DEPLOYMENT, {}),
    "ReplicaSet": (GVK("apps", "v1", "ReplicaSet"), {"replicas": 0}),
    "Service": (SERVICE, {"loadBalancer": {}}),
    "Namespace": (NAMESPACE, {"phase": "Active"}),
    "PersistentVolumeClaim": (GVK("", "v1", "PersistentVolumeClaim"), {"phase": "Pending"}),
    "Node": (NODE, {"phase": "x"}),
}


@pytest.mark.parametrize("name", NEW_STATUS)
def test_whoever_creates_an_object_does_not_set_its_status(name: str) -> None:
    gvk, expected = NEW_STATUS[name]
    obj: Object = {"metadata": {"name": "a"}, "spec": {}, "status": {"phase": "x"}}
    prepare_for_create(info(gvk), obj)
    assert obj["status"] == expected


def test_new_statuses_are_not_shared() -> None:
    first, second = prepared(SERVICE, service()), prepared(SERVICE, service())
    first["status"]["loadBalancer"]["ingress"] = []
    assert second["status"] == {"loadBalancer": {}}


def test_a_new_volume_enters_its_phase_as_it_is_created() -> None:
    obj: Object = {"metadata": {"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {}}
    prepare_for_create(info(GVK("", "v1", "PersistentVolume")), obj)
    assert obj["status"] == {"phase": "Pending", "lastPhaseTransitionTime": "2026-01-01T00:00:00Z"}


def test_a_service_account_names_its_secrets_only() -> None:
    obj: Object = {"metadata": {"name": "a"}, "secrets": [{"name": "token", "namespace": "other", "uid": "1"}]}
    prepare_for_create(info(GVK("", "v1", "ServiceAccount")), obj)
    assert obj["secrets"] == [{"name": "token"}]


_SNAPSHOT = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "a"}
_CUSTOM = {"apiGroup": "example.com", "kind": "Populator", "name": "a"}
SOURCES: dict[str, tuple[Object, Object]] = {
    "a snapshot is a reference too": ({"dataSource": _SNAPSHOT}, {"dataSource": _SNAPSHOT, "dataSourceRef": _SNAPSHOT}),
    "a reference is a source too": ({"dataSourceRef": _CUSTOM}, {"dataSource": _CUSTOM, "dataSourceRef": _CUSTOM}),
    "a source of another kind is dropped": ({"dataSource": _CUSTOM}, {}),
    "two that differ, for validation to refuse": (
        {"dataSource": {"kind": "Odd", "name": "a"}, "dataSourceRef": _SNAPSHOT},
        {"dataSource": {"kind": "Odd", "name": "a"}, "dataSourceRef": _SNAPSHOT},
    ),
    "another namespace has no source": (
        {"dataSourceRef": {**_SNAPSHOT, "namespace": "other"}},
        {},  # such references are off by default
    ),
}


@pytest.mark.parametrize("name", SOURCES)
def test_the_two_sources_of_a_claim_say_the_same(name: str) -> None:
    spec, expected = SOURCES[name]
    claim = info(GVK("", "v1", "PersistentVolumeClaim"))
    obj: Object = {"metadata": {"name": "a"}, "spec": copy.deepcopy(spec)}
    prepare_for_create(claim, obj)
    assert obj["spec"] == expected
    changed: Object = {"metadata": {"name": "a"}, "spec": copy.deepcopy(spec)}
    prepare_for_update(claim, changed, obj)
    if expected:
        assert changed["spec"] == expected


@pytest.mark.parametrize(
    ("gvk", "generation"),
    [
        (POD, 1),
        (DEPLOYMENT, 1),
        (SLICE, 1),
        (GVK("", "v1", "PodTemplate"), 1),
        (SERVICE, 7),
        (CONFIG_MAP, 7),
        (LEASE, 7),
    ],
    ids=str,
)
def test_of_which_kinds_the_server_counts_the_generation(gvk: GVK, generation: int) -> None:
    obj: Object = {"metadata": {"name": "a", "generation": 7}, "spec": {}}
    prepare_for_create(info(gvk), obj)
    assert obj["metadata"]["generation"] == generation


def test_a_pod_starts_pending_with_its_class() -> None:
    assert prepared(POD, pod())["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


QOS: dict[str, tuple[Object, str]] = {
    "nothing": ({}, "BestEffort"),
    "requests": ({"requests": {"cpu": "1"}}, "Burstable"),
    "one limit": ({"limits": {"cpu": "1"}}, "Burstable"),
    "both limits": ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
    "lower requests": ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}, "Burstable"),
    "zero": ({"requests": {"cpu": "0"}}, "BestEffort"),
    "a device": ({"limits": {"example.com/gpu": "1"}}, "BestEffort"),
}


@pytest.mark.parametrize("name", QOS)
def test_quality_of_service(name: str) -> None:
    resources, expected = QOS[name]
    assert prepared(POD, container(resources=resources))["status"]["qosClass"] == expected


def test_a_gated_pod_says_so_since_it_was_created() -> None:
    gated = pod(schedulingGates=[{"name": "example.com/wait"}])
    gated["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    (condition,) = prepared(POD, gated)["status"]["conditions"]
    expected = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
    assert condition.items() >= {**expected, "lastTransitionTime": "2026-01-01T00:00:00Z"}.items()


def test_match_label_keys_become_part_of_the_selector() -> None:
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}, "matchLabelKeys": ["hash"]}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    value = pod(affinity=affinity)
    value["metadata"]["labels"] = {"hash": "abc"}
    found = prepared(POD, value)["spec"]["affinity"]["podAntiAffinity"]
    selector = found["requiredDuringSchedulingIgnoredDuringExecution"][0]["labelSelector"]
    assert selector["matchExpressions"] == [{"key": "hash", "operator": "In", "values": ["abc"]}]


def test_what_claims_take_of_a_node_is_not_told_unless_it_was() -> None:
    told = {"nodeAllocatableResourceClaimStatuses": [{"resourceClaimName": "a"}]}
    plain = prepared(POD, pod())
    for before, expected in (({}, {}), (told, told)):
        old, new = ({**plain, "status": {**plain["status"], **status}} for status in (before, told))
        prepare_for_status_update(info(POD), new, old, now="2026-01-01T00:00:00Z")
        assert new["status"] == {**plain["status"], **expected}


def test_a_namespace_gets_its_finalizer_and_keeps_it() -> None:
    obj = prepared(NAMESPACE, {"metadata": {"name": "a"}})
    assert obj["spec"]["finalizers"] == ["kubernetes"]
    new = copy.deepcopy(obj)
    new["spec"]["finalizers"] = []
    prepare_for_update(info(NAMESPACE), new, obj)
    assert new["spec"]["finalizers"] == ["kubernetes"]


def test_a_job_selects_its_pods_by_its_uid() -> None:
    template = {"spec": {**pod()["spec"], "restartPolicy": "Never"}}
    job = prepared(JOB, {"metadata": {"name": "a", "uid": "u"}, "spec": {"template": template}})
    assert job["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}}
    assert job["spec"]["template"]["metadata"]["labels"] == {
        "controller-uid": "u",
        "batch.kubernetes.io/controller-uid": "u",
        "job-name": "a",
        "batch.kubernetes.io/job-name": "a",
    }


def stored_deployment() -> Object:
    obj = prepared(DEPLOYMENT, deployment())
    obj["metadata"] |= {"uid": "u", "resourceVersion": "5", "creationTimestamp": "2026-01-01T00:00:00Z"}
    obj["status"] = {"replicas": 1}
    return obj


def test_a_change_of_the_spec_counts_a_generation_and_keeps_the_status() -> None:
    old = stored_deployment()
    new = copy.deepcopy(old)
    new["spec"]["replicas"] = 3
    new["status"] = {"replicas": 3}
    new["metadata"]["generation"] = 40
    prepare_for_update(info(DEPLOYMENT), new, old)
    assert new["metadata"]["generation"] == 2
    assert new["status"] == {"replicas": 1}


def test_a_change_of_a_label_counts_none() -> None:
    old = stored_deployment()
    new = copy.deepcopy(old)
    new["metadata"]["labels"] = {"a": "b"}
    prepare_for_update(info(DEPLOYMENT), new, old)
    assert new["metadata"]["generation"] == 1


def test_a_slice_counts_any_change_of_its_content() -> None:
    old: Object = {"metadata": {"name": "a", "generation": 1}, "endpoints": []}
    new = copy.deepcopy(old)
    new["endpoints"] = [{"addresses": ["10.0.0.1"]}]
    prepare_for_update(info(SLICE), new, old)
    assert new["metadata"]["generation"] == 2


def test_an_update_takes_what_it_leaves_out_of_the_metadata() -> None:
    old = stored_deployment()
    old["metadata"]["deletionTimestamp"] = "2026-01-01T00:01:00Z"
    new = deployment()
    prepare_for_update(info(DEPLOYMENT), new, old)
    metadata = new["metadata"]
    assert (metadata["uid"], metadata["creationTimestamp"]) == ("u", "2026-01-01T00:00:00Z")
    assert metadata["deletionTimestamp"] == "2026-01-01T00:01:00Z"


def test_a_status_update_changes_the_status_alone() -> None:
    old = stored_deployment()
    new = copy.deepcopy(old)
    new["spec"]["replicas"] = 9
    new["metadata"]["labels"] = {"a": "b"}
    new["status"] = {"replicas": 2}
    prepare_for_status_update(info(DEPLOYMENT), new, old, now="2026-01-01T00:00:00Z")
    assert new["spec"]["replicas"] == 1
    assert "labels" not in new["metadata"]
    assert new["status"] == {"replicas": 2}
    assert new["metadata"]["generation"] == 1


def test_a_pods_class_and_owners_survive_its_status_updates() -> None:
    old = prepared(POD, pod())
    old["metadata"]["ownerReferences"] = [{"uid": "u"}]
    old["status"] |= {"observedGeneration": 1, "conditions": [{"type": "Ready", "observedGeneration": 1}]}
    new = copy.deepcopy(old)
    new["metadata"]["ownerReferences"] = []
    new["status"] = {"phase": "Running", "conditions": [{"type": "Ready"}]}
    prepare_for_status_update(info(POD), new, old, now="2026-01-01T00:00:00Z")
    assert new["metadata"]["ownerReferences"] == [{"uid": "u"}]
    assert new["status"] == {
        "phase": "Running",
        "conditions": [{"type": "Ready", "observedGeneration": 1}],
        "qosClass": "BestEffort",
        "observedGeneration": 1,
    }


def test_selectable_fields_of_a_pod() -> None:
    obj = prepared(POD, pod(nodeName="n", serviceAccountName="s"))
    obj["status"] |= {"podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}]}
    assert selectable_fields(info(POD), obj) == {
        "metadata.name": "web",
        "metadata.namespace": "default",
        "spec.nodeName": "n",
        "spec.restartPolicy": "Always",
        "spec.schedulerName": "default-scheduler",
        "spec.serviceAccountName": "s",
        "spec.hostNetwork": "false",
        "status.phase": "Pending",
        "status.podIP": "10.0.0.1",
        "status.podIPs": "10.0.0.1,fd00::1",
        "status.nominatedNodeName": "",
    }


def test_selectable_fields_of_other_kinds() -> None:
    assert selectable_fields(info(NODE), {"metadata": {"name": "n"}, "spec": {"unschedulable": True}}) == {
        "metadata.name": "n",
        "spec.unschedulable": "true",
    }
    event = {
        "metadata": {"name": "e", "namespace": "d"},
        "involvedObject": {"kind": "Pod", "name": "p"},
        "source": {"component": "kubelet"},
        "type": "Normal",
    }
    fields = selectable_fields(info(GVK("", "v1", "Event")), event)
    assert (fields["involvedObject.name"], fields["source"], fields["type"]) == ("p", "kubelet", "Normal")


def test_fields_that_cannot_be_selected_by() -> None:
    assert unknown_field_text(info(POD), "spec.foo") == "field label not supported: spec.foo"
    assert (
        unknown_field_text(info(CONFIG_MAP), "data.a")
        == '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"'
    )


# Kinds whose generation counts more, or less, than a change of the spec: what changes -> the generation.
PRIORITY_CLASS = GVK("scheduling.k8s.io", "v1", "PriorityClass")
COUNTED: dict[str, tuple[GVK, Object, Object, int]] = {
    "annotations of a Deployment": (DEPLOYMENT, {"spec": {}}, {"metadata": {"annotations": {"a": "b"}}}, 2),
    "labels of a Deployment": (DEPLOYMENT, {"spec": {}}, {"metadata": {"labels": {"a": "b"}}}, 1),
    "annotations of a ReplicaSet": (
        GVK("apps", "v1", "ReplicaSet"),
        {"spec": {}},
        {"metadata": {"annotations": {"a": "b"}}},
        1,
    ),
    "labels of a slice": (SLICE, {}, {"metadata": {"labels": {"a": "b"}}}, 2),
    "annotations of a slice": (SLICE, {}, {"metadata": {"annotations": {"a": "b"}}}, 1),
    "what a priority class says": (PRIORITY_CLASS, {"value": 1}, {"description": "a"}, 1),
}


@pytest.mark.parametrize("name", COUNTED)
def test_what_counts_a_generation(name: str) -> None:
    gvk, given, change, expected = COUNTED[name]
    old: Object = {"metadata": {"name": "a", "generation": 1}, **given}
    new = copy.deepcopy(old)
    new["metadata"] |= change.get("metadata", {})
    new |= {field: value for field, value in change.items() if field != "metadata"}
    prepare_for_update(info(gvk), new, old)
    assert new["metadata"]["generation"] == expected


def test_a_priority_class_is_born_with_a_generation() -> None:
    assert prepared(PRIORITY_CLASS, {"metadata": {"name": "a"}, "value": 1})["metadata"]["generation"] == 1


def test_keys_of_spread_constraints_become_selectors() -> None:
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    given = [
        {**constraint, "labelSelector": {}, "matchLabelKeys": ["app", "none"]},
        {**constraint, "matchLabelKeys": ["app"]},
    ]
    sent = pod(topologySpreadConstraints=given)
    sent["metadata"]["labels"] = {"app": "web"}
    with_selector, without = prepared(POD, sent)["spec"]["topologySpreadConstraints"]
    expected = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}
    assert with_selector["labelSelector"] == expected
    assert "labelSelector" not in without
    older = ResourceRegistry.for_version("1.33").by_kind(POD)
    assert older is not None
    old = copy.deepcopy(sent)
    prepare_for_create(older, old)
    assert old["spec"]["topologySpreadConstraints"][0]["labelSelector"] == {}


_PREFIX = "container.apparmor.security.beta.kubernetes.io/web"
_PROFILE = {"type": "Localhost", "localhostProfile": "strict"}
# The annotation, the profiles of the container and of the Pod -> the container's, and whether that is warned of.
PROFILES: dict[str, tuple[str, Object | None, Object | None, Object | None, bool]] = {
    "runtime/default": ("runtime/default", None, None, {"type": "RuntimeDefault"}, True),
    "unconfined": ("unconfined", None, None, {"type": "Unconfined"}, True),
    "a profile of the machine": ("localhost/strict", None, None, _PROFILE, True),
    "no name": ("localhost/", None, None, None, True),
    "nothing known": ("runtime/other", None, None, None, True),
    "what the Pod says too": ("localhost/strict", None, _PROFILE, None, False),
    "what the Pod says otherwise": ("unconfined", None, _PROFILE, {"type": "Unconfined"}, True),
    "what the container says too": ("localhost/strict", _PROFILE, None, _PROFILE, False),
}


@pytest.mark.parametrize("name", PROFILES)
def test_app_armor_annotations_become_fields(name: str) -> None:
    annotation, of_container, of_pod, expected, warned = PROFILES[name]
    context = {} if of_container is None else {"securityContext": {"appArmorProfile": of_container}}
    sent = container(**context)
    if of_pod is not None:
        sent["spec"]["securityContext"] = {"appArmorProfile": of_pod}
    sent["metadata"]["annotations"] = {_PREFIX: annotation}
    text = f'metadata.annotations[{_PREFIX}]: deprecated since v1.30; use the "appArmorProfile" field instead'
    assert warnings_before_create(info(POD), sent) == ([text] if warned else [])
    (found,) = prepared(POD, sent)["spec"]["containers"]
    assert (found.get("securityContext") or {}).get("appArmorProfile") == expected


def test_windows_has_no_app_armor() -> None:
    sent = pod(os={"name": "windows"})
    sent["metadata"]["annotations"] = {_PREFIX: "unconfined"}
    assert warnings_before_create(info(POD), sent) == []
    assert "securityContext" not in prepared(POD, sent)["spec"]["containers"][0]


def test_a_daemon_set_counts_the_changes_of_its_template() -> None:
    kind, annotation = info(GVK("apps", "v1", "DaemonSet")), "deprecated.daemonset.template.generation"

    def daemon_set(image: str, **annotations: str) -> Object:
        spec = {"selector": {}, "template": {"spec": {"containers": [{"name": "a", "image": image}]}}}
        return defaulted(kind.gvk, {"metadata": {"name": "a", "annotations": annotations}, "spec": spec})

    old = daemon_set("a", **{annotation: "-3"})
    prepare_for_create(kind, old)
    assert old["metadata"]["annotations"] == {annotation: "1"}
    for image, generation in (("a", "1"), ("b", "2")):
        new = daemon_set(image, **{annotation: "9"})
        prepare_for_update(kind, new, old)
        assert new["metadata"]["annotations"] == {annotation: generation}


def test_limits_may_come_without_a_name() -> None:
    limits = prepared(GVK("", "v1", "LimitRange"), {"metadata": {"uid": "u"}, "spec": {"limits": []}})
    assert limits["metadata"]["name"] == "u"


def test_a_volume_that_moves_to_another_phase_has_moved_now() -> None:
    volume, now = info(GVK("", "v1", "PersistentVolume")), "2026-01-01T00:05:00Z"
    old: Object = {
        "metadata": {"name": "a"},
        "spec": {},
        "status": {"phase": "Pending", "lastPhaseTransitionTime": "2026-01-01T00:00:00Z"},
    }
    for phase, time, expected in (
        ("Available", None, now),
        ("Available", "2026-01-01T00:00:00Z", now),
        ("Available", "2026-01-01T00:01:00Z", "2026-01-01T00:01:00Z"),
        ("Pending", None, None),
    ):
        new = copy.deepcopy(old)
        new["status"] = {"phase": phase, **({"lastPhaseTransitionTime": time} if time else {})}
        prepare_for_status_update(volume, new, old, now=now)
        assert new["status"].get("lastPhaseTransitionTime") == expected


def test_autoscalers_count_their_changes_since_137() -> None:
    gvk = GVK("autoscaling", "v2", "HorizontalPodAutoscaler")
    made: Object = {"metadata": {"name": "a"}, "spec": {"maxReplicas": 2}}
    old = prepared(gvk, made)
    assert old["metadata"]["generation"] == 1
    new = copy.deepcopy(old)
    new["spec"]["maxReplicas"] = 3
    prepare_for_update(info(gvk), new, old)
    assert new["metadata"]["generation"] == 2
    older = ResourceRegistry.for_version("1.36").by_kind(gvk)
    assert older is not None
    prepare_for_create(older, made)
    assert "generation" not in made["metadata"]
