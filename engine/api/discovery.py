"""Discovery documents: what a client asks first, to learn which resources there are.

The legacy documents (`/api`, `/apis`, `/apis/GROUP`, one for each group version) and the aggregated ones of
apidiscovery.k8s.io/v2. Source of the shapes: apiserver pkg/endpoints/discovery and api/discovery/*.json.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping

from engine.api.discovery_order import ListedGroup, aggregated_order, legacy_order
from engine.api.resources import ResourceInfo, ResourceRegistry, Subresource
from engine.api.types import GVK, Object
from engine.api.unset_times import with_unset_creation
from engine.api.wire import JSON, PROTOBUF, YAML

AGGREGATED_VERSION = "apidiscovery.k8s.io/v2"
# The media type of an aggregated document; `profile` clients ask for it in Accept, and get it as Content-Type.
_FORMS = (JSON, YAML, PROTOBUF)
_AGGREGATED = {"g": "apidiscovery.k8s.io", "v": "v2", "as": "APIGroupDiscoveryList"}
AGGREGATED_MEDIA_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def api_versions(server_address: str) -> Object:
    """`/api`: the versions of the core group. `server_address` is host:port."""
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": server_address}],
    }


def api_group_list(registry: ResourceRegistry) -> Object:
    """`/apis`."""
    groups = [_group(group) for group in legacy_order(registry)]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def api_group(registry: ResourceRegistry, group: str) -> Object | None:
    """`/apis/GROUP`; None for a group that is not served."""
    for found in legacy_order(registry):
        if found.name == group:
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(found)}
    return None


def _group(group: ListedGroup) -> Object:
    listed = [{"groupVersion": f"{group.name}/{version}", "version": version} for version in group.versions]
    return {"name": group.name, "versions": listed, "preferredVersion": listed[0]}


def api_resource_list(registry: ResourceRegistry, group: str, version: str) -> Object | None:
    """`/api/v1` and `/apis/GROUP/VERSION`; None for one that is not served."""
    infos = registry.in_version(group, version)
    if not infos:
        return None
    resources: list[Object] = []
    for info in infos:
        resources.append(_resource(info))
        resources.extend(_subresource(info, subresource) for subresource in info.subresources.values())
    document: Object = {"kind": "APIResourceList"}
    if group:
        document["apiVersion"] = "v1"
    return {**document, "groupVersion": infos[0].gvr.api_version, "resources": resources}


def _verbs(info: ResourceInfo) -> list[str]:
    """What is on its way out is shown without what would make more of it."""
    if info.extension is not None and info.extension.terminating:
        return [verb for verb in info.verbs if verb not in ("create", "patch", "update")]
    return list(info.verbs)


def _resource(info: ResourceInfo) -> Object:
    resource: Object = {
        "name": info.gvr.resource,
        "singularName": info.singular,
        "namespaced": info.namespaced,
        "kind": info.kind,
        "verbs": _verbs(info),
    }
    if info.short_names:
        resource["shortNames"] = list(info.short_names)
    if info.categories:
        resource["categories"] = list(info.categories)
    if info.stored:
        resource["storageVersionHash"] = storage_version_hash(info.storage_gvk)
    return resource


def _subresource(info: ResourceInfo, subresource: Subresource) -> Object:
    found: Object = {
        "name": f"{info.gvr.resource}/{subresource.name}",
        "singularName": "",
        "namespaced": info.namespaced,
    }
    if subresource.gvk[:2] != info.gvk[:2]:
        found |= {"group": subresource.gvk.group, "version": subresource.gvk.version}
    return {**found, "kind": subresource.gvk.kind, "verbs": list(subresource.verbs)}


def storage_version_hash(gvk: GVK) -> str:
    """Tells clients when the stored version changes (apiserver discovery.StorageVersionHash)."""
    digest = hashlib.sha256(f"{gvk.group}/{gvk.version}/{gvk.kind}".encode()).digest()
    return base64.b64encode(digest[:8]).decode()


def aggregated_form(clauses: Iterable[tuple[str, Mapping[str, str]]]) -> str:
    """The media type of the aggregated form, if that is the first of what is liked that is served; "" if not. The
    `clauses` of an Accept header come with their parameters, what is liked best first."""
    for kind, asked in clauses:
        if kind not in (*_FORMS, "*/*", "application/*"):
            continue
        if not asked.keys() & _AGGREGATED.keys():
            return ""
        if all(asked.get(key) == value for key, value in _AGGREGATED.items()):
            return kind if kind in _FORMS else JSON
    return ""


def aggregated(registry: ResourceRegistry, *, core: bool) -> Object:
    """All groups and their resources in one document: the core group for `/api`, the others for `/apis`."""
    groups = [ListedGroup("", registry.groups.get("", ()))] if core else aggregated_order(registry)
    items = [
        {
            "metadata": with_unset_creation({"name": group}, registry.version),
            "versions": [_aggregated_version(registry, group, version) for version in versions],
        }
        for group, versions in groups
    ]
    return {"kind": "APIGroupDiscoveryList", "apiVersion": AGGREGATED_VERSION, "metadata": {}, "items": items}


def _aggregated_version(registry: ResourceRegistry, group: str, version: str) -> Object:
    """Of a version of another server that never answered no resources are known."""
    if version in registry.elsewhere.get(group, ()):
        known = registry.described.get((group, version))
        if known is None:
            return {"version": version, "freshness": "Stale"}
        shown = {"resources": known.resources} if known.resources else {}
        return {"version": version, **shown, "freshness": "Current" if known.fresh else "Stale"}
    resources = [_aggregated_resource(info) for info in registry.in_version(group, version)]
    return {"version": version, "resources": resources, "freshness": "Current"}


def _aggregated_resource(info: ResourceInfo) -> Object:
    resource: Object = {
        "resource": info.gvr.resource,
        "responseKind": _response_kind(info, info.gvk),
        "scope": "Namespaced" if info.namespaced else "Cluster",
        "singularResource": info.singular,
        "verbs": _verbs(info),
    }
    if info.short_names:
        resource["shortNames"] = list(info.short_names)
    if info.categories:
        resource["categories"] = list(info.categories)
    if info.subresources:
        resource["subresources"] = [
            {"subresource": each.name, "responseKind": _response_kind(info, each.gvk), "verbs": list(each.verbs)}
            for each in info.subresources.values()
        ]
    return resource


def _response_kind(info: ResourceInfo, gvk: GVK) -> Object:
    """The group and version are left empty where they are those of the document; custom resources say them (apiserver
    pkg/endpoints ConvertGroupVersionIntoToDiscovery, apiextensions customresource_discovery_controller.go)."""
    same = gvk[:2] == info.gvk[:2] and not info.custom
    return {"group": "" if same else gvk.group, "version": "" if same else gvk.version, "kind": gvk.kind}
