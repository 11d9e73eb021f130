"""Which resources there are to watch and to delete: the built-in ones, those of CustomResourceDefinitions, and those of
other servers.

Stands where kube-controller-manager's discovery client and REST mapper stand (client-go restmapper).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from engine.api.resources import ResourceRegistry, version_order
from engine.api.types import GVK, GVR, Object
from engine.controllers.conditions import conditions_of, is_true

API_SERVICES = GVR("apiregistration.k8s.io", "v1", "apiservices")
CUSTOM_RESOURCE_DEFINITIONS = GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions")


class Resource(NamedTuple):
    gvr: GVR
    kind: str
    namespaced: bool
    verbs: tuple[str, ...]
    custom: bool = False

    @property
    def deletable(self) -> bool:
        """Whether the garbage collector can follow and delete its objects."""
        return {"delete", "list", "watch"} <= set(self.verbs)


CUSTOM_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


class Discovery:
    """Each stored resource once, under its group's preferred version where it has that, else its own first one
    (client-go discovery_client.go, ServerPreferredResources). What is stored may not be served."""

    def __init__(self, version: str) -> None:
        self._registry = ResourceRegistry.for_version(version)
        self._builtin = self._preferred()
        self._custom: dict[str, Resource] = {}  # by the name of the CRD
        self._elsewhere: dict[str, list[Resource]] = {}  # by the name of the APIService

    def _preferred(self) -> dict[tuple[str, str], Resource]:
        found: dict[tuple[str, str], Resource] = {}
        for info in self._registry:
            key = info.gvr.group, info.gvr.resource
            preferred = info.gvr.version == self._registry.preferred(info.gvr.group)
            if info.stored and (preferred or key not in found):
                found[key] = Resource(info.gvr, info.kind, info.namespaced, tuple(info.verbs))
        return found

    def __iter__(self) -> Iterator[Resource]:
        yield from self._builtin.values()
        yield from self._custom.values()
        for resources in self._elsewhere.values():
            yield from resources

    def has(self, resource: GVR) -> bool:
        """Whether a built-in resource is part of this version."""
        return self._registry.get(*resource) is not None

    def by_kind(self, gvk: GVK) -> Resource | None:
        """The resource of a kind, as an owner reference names it."""
        info = self._registry.by_kind(gvk)
        if info is not None:
            return Resource(info.gvr, info.kind, info.namespaced, tuple(info.verbs))
        others = (*self._custom.values(), *chain.from_iterable(self._elsewhere.values()))
        same = (each for each in others if (each.gvr.group, each.kind) == (gvk.group, gvk.kind))
        return next(same, None)

    def by_resource(self, group: str, resource: str) -> Resource | None:
        """A resource as it is best asked for."""
        return self._builtin.get((group, resource)) or self._custom.get(f"{resource}.{group}")

    def served_elsewhere(self, name: str, resources: list[Resource]) -> tuple[list[Resource], list[Resource]]:
        """Note what the server of an APIService serves; what is new of it, and what is gone."""
        before = self._elsewhere.pop(name, [])
        if resources:
            self._elsewhere[name] = resources
        return [each for each in resources if each not in before], [each for each in before if each not in resources]

    def of_crd(self, name: str) -> Resource | None:
        """What a CustomResourceDefinition is known to have brought."""
        return self._custom.get(name)

    def crd_changed(self, old: Object | None, new: Object | None) -> Resource | None:
        """Follow a CustomResourceDefinition; the resource that it newly established, if it did."""
        name = (new or old or {})["metadata"]["name"]
        served = [each["name"] for each in new["spec"]["versions"] if each.get("served")] if new is not None else []
        if new is None or not served or not is_true(conditions_of(new.get("status") or {}), "Established"):
            self._custom.pop(name, None)
            return None
        spec, version = new["spec"], min(served, key=version_order)
        resource = Resource(
            GVR(spec["group"], version, spec["names"]["plural"]),
            spec["names"]["kind"],
            spec["scope"] == "Namespaced",
            CUSTOM_VERBS,
            custom=True,
        )
        known = self._custom.get(name)
        self._custom[name] = resource
        return resource if resource != known else None

    def follow(self, old: Object | None, new: Object | None) -> tuple[str, ...]:
        """For a controller that only looks kinds up: a definition that changes wakes no key."""
        self.crd_changed(old, new)
        return ()


def resources_of(document: Object) -> list[Resource]:
    """Those of an APIResourceList, as another server tells of a group version."""
    group, _, version = document["groupVersion"].rpartition("/")
    return [
        Resource(
            GVR(group, version, each["name"]),
            each["kind"],
            bool(each.get("namespaced")),
            tuple(each["verbs"]),
            custom=True,
        )
        for each in document.get("resources") or ()
        if "/" not in each["name"]
    ]


def parse_api_version(api_version: str, kind: str) -> GVK:
    group, slash, version = api_version.rpartition("/")
    return GVK(group if slash else "", version, kind)
