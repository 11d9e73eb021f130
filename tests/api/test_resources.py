from __future__ import annotations

import pytest

from engine.api.resources import ResourceInfo, ResourceRegistry, plural, version_priority
from engine.api.schema import UnknownVersionError, available_versions
from engine.api.types import GVK
from tests.api.objects import DEPLOYMENT, POD, REGISTRY, info

STORAGE_PREFIXES = {
    ("", "v1", "pods"): "/registry/pods",
    ("", "v1", "nodes"): "/registry/minions",
    ("", "v1", "services"): "/registry/services/specs",
    ("", "v1", "endpoints"): "/registry/services/endpoints",
    ("", "v1", "replicationcontrollers"): "/registry/controllers",
    ("apps", "v1", "deployments"): "/registry/deployments",
    ("coordination.k8s.io", "v1", "leases"): "/registry/leases",
    ("networking.k8s.io", "v1", "ingresses"): "/registry/ingress",
    ("events.k8s.io", "v1", "events"): "/registry/events",
    (
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
    ): "/registry/apiextensions.k8s.io/customresourcedefinitions",
}


@pytest.mark.parametrize("gvr", STORAGE_PREFIXES, ids="/".join)
def test_objects_are_stored_where_kubernetes_stores_them(gvr: tuple[str, str, str]) -> None:
    found = REGISTRY.get(*gvr)
    assert found is not None
    assert found.storage_prefix == STORAGE_PREFIXES[gvr]


def test_keys_of_namespaced_and_cluster_scoped_objects() -> None:
    assert info(POD).key("default", "web") == "/registry/pods/default/web"
    assert info(GVK("", "v1", "Node")).key("", "node-1") == "/registry/minions/node-1"


def test_pods_have_their_subresources() -> None:
    pods = info(POD)
    assert list(pods.subresources) == [
        "attach",
        "binding",
        "ephemeralcontainers",
        "eviction",
        "exec",
        "log",
        "portforward",
        "proxy",
        "resize",
        "status",
    ]
    assert pods.subresources["eviction"].gvk == GVK("policy", "v1", "Eviction")
    assert pods.short_names == ("po",)
    assert pods.categories == ("all",)


def test_a_kind_of_two_versions_is_stored_as_one() -> None:
    stored = GVK("autoscaling", "v2", "HorizontalPodAutoscaler")
    assert info(stored).storage_gvk == info(stored._replace(version="v1")).storage_gvk == stored
    assert REGISTRY.preferred("autoscaling") == "v2"


def test_events_of_both_groups_are_stored_as_one_kind() -> None:
    assert info(GVK("events.k8s.io", "v1", "Event")).storage_gvk == GVK("", "v1", "Event")


@pytest.mark.parametrize("version", available_versions())
def test_every_version_serves_the_main_kinds(version: str) -> None:
    registry = ResourceRegistry.for_version(version)
    assert registry.by_kind(DEPLOYMENT) is not None
    assert registry.preferred("") == "v1"
    assert all(info.verbs for info in registry)


def test_resize_came_with_a_release() -> None:
    assert "resize" not in _pods("1.30").subresources
    assert "resize" in _pods("1.33").subresources


def _pods(version: str) -> ResourceInfo:
    found = ResourceRegistry.for_version(version).by_kind(POD)
    assert found is not None
    return found


def test_beta_versions_are_off_unless_they_were_always_on() -> None:
    assert ("certificates.k8s.io", "v1beta1") not in {info.gvr[:2] for info in REGISTRY}
    old = ResourceRegistry.for_version("1.27")
    assert old.groups["flowcontrol.apiserver.k8s.io"] == ("v1beta3", "v1beta2")
    assert ResourceRegistry.for_version("1.26").groups["storage.k8s.io"] == ("v1", "v1beta1")


@pytest.mark.parametrize("version", ["1.31", "1.33", "1.35", "1.36"])
def test_a_beta_of_a_version_that_was_on_is_off(version: str) -> None:
    """VolumeAttributesClass came to storage.k8s.io/v1beta1 long after KEP-3136."""
    assert ResourceRegistry.for_version(version).groups["storage.k8s.io"] == ("v1",)


def test_a_registry_can_be_extended_without_changing_the_first() -> None:
    pods = info(POD)
    widgets = ResourceInfo(
        gvr=pods.gvr._replace(group="example.com", resource="widgets"),
        kind="Widget",
        list_kind="WidgetList",
        singular="widget",
        namespaced=True,
        storage_prefix="/registry/example.com/widgets",
        storage_gvk=GVK("example.com", "v1", "Widget"),
        custom=True,
    )
    extended = REGISTRY.extended([widgets])
    assert extended.get("example.com", "v1", "widgets") == widgets
    assert REGISTRY.get("example.com", "v1", "widgets") is None
    assert list(extended.groups)[-1] == "example.com"


def test_an_unknown_version_names_those_there_are() -> None:
    with pytest.raises(UnknownVersionError, match=r"1\.33\.0"):
        ResourceRegistry.for_version("1.2")


@pytest.mark.parametrize(
    ("kind", "resource"),
    [
        ("Endpoints", "endpoints"),
        ("Ingress", "ingresses"),
        ("NetworkPolicy", "networkpolicies"),
        ("ComponentStatus", "componentstatuses"),
        ("IPAddress", "ipaddresses"),
        ("Pod", "pods"),
    ],
)
def test_plurals(kind: str, resource: str) -> None:
    assert plural(kind) == resource


def test_versions_are_ordered_as_kubernetes_orders_them() -> None:
    versions = ["v1alpha1", "v2beta1", "v1", "foo", "v1beta2", "v10", "v1beta1", "v2"]
    ordered = sorted(versions, key=version_priority, reverse=True)
    assert ordered == ["v10", "v2", "v1", "v2beta1", "v1beta2", "v1beta1", "v1alpha1", "foo"]
