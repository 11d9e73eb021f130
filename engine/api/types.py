"""The words for objects and resources that every package shares."""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

# A Kubernetes object: plain JSON, frozen by convention. What a lister, a watch or the API server hands out is never
# changed in place; make a copy (`copy_object`) first.
Object = dict[str, Any]


class GVK(NamedTuple):
    """Group, version and kind, as in `apps/v1, Kind=Deployment`."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def __str__(self) -> str:
        return f"{self.api_version}, Kind={self.kind}"


class GVR(NamedTuple):
    """Group, version and resource (the plural in URLs), as in `apps/v1 deployments`."""

    group: str
    version: str
    resource: str

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def group_resource(self) -> str:
        """As error texts name a resource: `deployments.apps`, `pods`."""
        return f"{self.resource}.{self.group}" if self.group else self.resource

    def path(self, namespace: str | None = None, name: str | None = None, subresource: str | None = None) -> str:
        """The URL path of the collection, or of one object or subresource in it."""
        parts = ["/apis" if self.group else "/api", self.api_version]
        if namespace:
            parts += ["namespaces", namespace]
        parts.append(self.resource)
        if name:
            parts.append(name)
        if subresource:
            parts.append(subresource)
        return "/".join(parts)


PODS = GVR("", "v1", "pods")
NODES = GVR("", "v1", "nodes")
SERVICES = GVR("", "v1", "services")
ENDPOINTS = GVR("", "v1", "endpoints")
NAMESPACES = GVR("", "v1", "namespaces")
CONFIGMAPS = GVR("", "v1", "configmaps")
SECRETS = GVR("", "v1", "secrets")
SERVICE_ACCOUNTS = GVR("", "v1", "serviceaccounts")
EVENTS = GVR("", "v1", "events")
DEPLOYMENTS = GVR("apps", "v1", "deployments")
REPLICA_SETS = GVR("apps", "v1", "replicasets")
ENDPOINT_SLICES = GVR("discovery.k8s.io", "v1", "endpointslices")
LEASES = GVR("coordination.k8s.io", "v1", "leases")
ROLES = GVR("rbac.authorization.k8s.io", "v1", "roles")
ROLE_BINDINGS = GVR("rbac.authorization.k8s.io", "v1", "rolebindings")
CLUSTER_ROLES = GVR("rbac.authorization.k8s.io", "v1", "clusterroles")
CLUSTER_ROLE_BINDINGS = GVR("rbac.authorization.k8s.io", "v1", "clusterrolebindings")


def copy_object(obj: Object) -> Object:
    """A deep copy to change: by JSON, which is faster than any walk in Python."""
    copied: Object = orjson.loads(orjson.dumps(obj))
    return copied
