"""The documents of what is served besides resources: discovery, the version, and the issuer of service account tokens.

Each web service of the API server has a document of its own in OpenAPI v3, and its paths in that of v2. Source:
apiserver pkg/endpoints/discovery (root.go, group.go, version.go, legacy.go) and pkg/server/routes; api/openapi-spec/v3.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.api.openapi.operations import Route, path_item
from engine.api.openapi.paths import FORMS, META
from engine.api.openapi.schemas import Dialect
from engine.api.resources import ResourceRegistry
from engine.api.types import Object
from engine.api.wire import JSON

_ISSUER = "service account issuer OpenID"
_PLAIN = {
    ".well-known/openid-configuration": Route(
        "get",
        "getServiceAccountIssuerOpenIDConfiguration",
        f"get {_ISSUER} configuration, also known as the 'OIDC discovery doc'",
    ),
    "api": Route(
        "get",
        "getAPIVersions",
        "get available API versions",
        f"{META}.APIVersions",
        consumes=FORMS,
        produces=FORMS,
    ),
    "apis": Route(
        "get",
        "getAPIVersions",
        "get available API versions",
        f"{META}.APIGroupList",
        consumes=FORMS,
        produces=FORMS,
    ),
    "openid/v1/jwks": Route(
        "get",
        "getServiceAccountIssuerOpenIDKeyset",
        f"get {_ISSUER} JSON Web Key Set (contains public token verification keys)",
        produces=("application/jwk-set+json",),
    ),
    "version": Route(
        "get",
        "getCodeVersion",
        "get the version information for this server",
        "io.k8s.apimachinery.pkg.version.Info",
        consumes=(JSON,),
    ),
}
_GROUP = Route("get", "getAPIGroup", "get information of a group", f"{META}.APIGroup", consumes=FORMS, produces=FORMS)
_VERSION = Route(
    "get", "getAPIResources", "get available resources", f"{META}.APIResourceList", consumes=FORMS, produces=FORMS
)


def services(registry: ResourceRegistry) -> Iterator[tuple[str, Route]]:
    """Where each is, with its one route. Groups that only have custom resources have none."""
    yield from _PLAIN.items()
    for group, versions in registry.groups.items():
        if group and any(built_in(registry, group, version) for version in versions):
            yield f"apis/{group}", _GROUP


def service_item(path: str, route: Route, dialect: Dialect) -> tuple[str, Object]:
    """Its path, which ends with a slash as that of each web service's root, and the path item."""
    return f"/{path}/", path_item(f"/{path}/", [route], dialect)


def version_item(path: str, dialect: Dialect) -> tuple[str, Object]:
    """What tells the resources of a group version."""
    return service_item(path, _VERSION, dialect)


def built_in(registry: ResourceRegistry, group: str, version: str) -> bool:
    return any(not info.custom for info in registry.in_version(group, version))
