from __future__ import annotations

from engine.api import discovery
from engine.api.types import GVK
from tests.api.objects import REGISTRY


def test_storage_version_hashes_are_upstreams() -> None:
    assert discovery.storage_version_hash(GVK("", "v1", "Pod")) == "xPOwRZ+Yhw8="
    assert discovery.storage_version_hash(GVK("", "v1", "Node")) == "XwShjMxG9Fs="


def test_groups_are_listed_by_priority_with_their_preferred_version() -> None:
    groups = discovery.api_group_list(REGISTRY)["groups"]
    assert [group["name"] for group in groups][:3] == ["apiregistration.k8s.io", "apps", "events.k8s.io"]
    autoscaling = next(group for group in groups if group["name"] == "autoscaling")
    assert autoscaling["preferredVersion"] == {"groupVersion": "autoscaling/v2", "version": "v2"}
    assert discovery.api_group(REGISTRY, "autoscaling") == {"kind": "APIGroup", "apiVersion": "v1", **autoscaling}
    assert discovery.api_group(REGISTRY, "nope") is None
    assert discovery.api_group(REGISTRY, "") is None


def test_resources_of_a_version_with_their_subresources() -> None:
    document = discovery.api_resource_list(REGISTRY, "apps", "v1")
    assert document is not None
    assert document["groupVersion"] == "apps/v1"
    by_name = {resource["name"]: resource for resource in document["resources"]}
    assert by_name["deployments"] == {
        "name": "deployments",
        "singularName": "deployment",
        "namespaced": True,
        "kind": "Deployment",
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        "shortNames": ["deploy"],
        "categories": ["all"],
        "storageVersionHash": "8aSe+NMegvE=",
    }
    assert by_name["deployments/scale"] == {
        "name": "deployments/scale",
        "singularName": "",
        "namespaced": True,
        "group": "autoscaling",
        "version": "v1",
        "kind": "Scale",
        "verbs": ["get", "patch", "update"],
    }
    assert discovery.api_resource_list(REGISTRY, "apps", "v7") is None


def test_aggregated_documents_hold_the_core_group_apart() -> None:
    core = discovery.aggregated(REGISTRY, core=True)
    assert [item["metadata"]["name"] for item in core["items"]] == [""]
    pods = next(each for each in core["items"][0]["versions"][0]["resources"] if each["resource"] == "pods")
    assert pods["scope"] == "Namespaced"
    assert pods["responseKind"] == {"group": "", "version": "", "kind": "Pod"}
    eviction = next(each for each in pods["subresources"] if each["subresource"] == "eviction")
    assert eviction["responseKind"] == {"group": "policy", "version": "v1", "kind": "Eviction"}
    others = discovery.aggregated(REGISTRY, core=False)
    assert others["kind"] == "APIGroupDiscoveryList"
    assert len(others["items"]) == len(REGISTRY.groups) - 1
    assert all(item["metadata"]["name"] for item in others["items"])


def test_reviews_can_only_be_created() -> None:
    document = discovery.api_resource_list(REGISTRY, "authorization.k8s.io", "v1")
    assert document is not None
    assert {tuple(each["verbs"]) for each in document["resources"]} == {("create",)}
    assert not any("storageVersionHash" in each for each in document["resources"])
