"""OpenAPI v2 and v3 documents of the served API, as bytes.

A document is generated when it is first asked for and kept. The hash of a v3 document stands for what it is made from,
so that the index needs none of the documents.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cached_property

import orjson

from engine.api.openapi import proto as openapi_proto
from engine.api.openapi import proto_v3
from engine.api.openapi.operations import Route
from engine.api.openapi.paths import META, resource_paths
from engine.api.openapi.schemas import Dialect, closure, component
from engine.api.openapi.services import built_in, service_item, services, version_item
from engine.api.resources import ResourceInfo, ResourceRegistry
from engine.api.schema import Definitions
from engine.api.types import Object

_ALWAYS = tuple(f"{META}.{kind}" for kind in ("APIResourceList", "DeleteOptions", "Patch", "Status", "WatchEvent"))
_CUSTOM = {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}
# Raised when what is generated from the same schemas changes, since clients keep documents on disk by hash.
_GENERATION = 5


class OpenApi:
    """All documents of one registry. Made anew when the registry changes."""

    def __init__(self, registry: ResourceRegistry, definitions: Definitions) -> None:
        self.registry = registry
        self.definitions = definitions
        self._documents: dict[str, bytes] = {}

    @cached_property
    def index(self) -> Object:
        """`/openapi/v3`: where the documents are, one for each web service and each group version."""
        paths = [*self._services, *(_path(group, version) for group, version in self._versions)]
        # In order, as Go writes a map.
        return {
            "paths": {
                path: {"serverRelativeURL": f"/openapi/v3/{path}?hash={self.tag(path)}"} for path in sorted(paths)
            }
        }

    def tag(self, path: str) -> str:
        """Changes with the document at a path of the index; its ETag and the `hash` parameter of its URL."""
        infos = self.registry.in_version(*_group_version(path))
        material = [_GENERATION, self.definitions.version, path, [_facts(info) for info in infos]]
        return hashlib.sha512(orjson.dumps(material)).hexdigest().upper()

    def v3(self, path: str) -> bytes | None:
        """The document at a path of the index, as `apis/apps/v1`; None where there is none."""
        if path not in self._documents:
            made = self._v3(path)
            if made is None:
                return None
            self._documents[path] = orjson.dumps(made)
        return self._documents[path]

    def v3_proto(self, path: str) -> bytes | None:
        """The same as a protocol buffer."""
        document = self.v3(path)
        return None if document is None else proto_v3.document_v3(orjson.loads(document))

    def _v3(self, path: str) -> Object | None:
        group, version = _group_version(path)
        if (group, version) in self._versions:
            return self._of_version(group, version)
        if path not in self._services:
            return None
        route = self._services[path]
        at, item = service_item(path, route, "v3")
        return self._document({at: item}, [route.answer])

    def _of_version(self, group: str, version: str) -> Object:
        names = [name for gvk, name in self.definitions.kinds.items() if gvk[:2] == (group, version)]
        subresources = [
            self.definitions.kinds.get(each.gvk, "")
            for info in self.registry.in_version(group, version)
            for each in info.subresources.values()
        ]
        document = self._document(self._paths("v3", [(group, version)]), [*_ALWAYS, *names, *subresources])
        if not built_in(self.registry, group, version):
            document["info"] = _CUSTOM
            del document["components"]["securitySchemes"]
        return document

    def _document(self, paths: Object, names: Iterable[str]) -> Object:
        used = closure(self.definitions, names)
        components: Object = (
            {"schemas": {name: component(self.definitions, name, "v3") for name in used}} if used else {}
        )
        return {
            "openapi": "3.0.0",
            "info": self._info,
            "paths": paths,
            "components": {**components, "securitySchemes": {"BearerToken": _BEARER}},
        }

    @cached_property
    def v2(self) -> bytes:
        """`/openapi/v2`: everything in one document."""
        return orjson.dumps(self._v2())

    @cached_property
    def v2_proto(self) -> bytes:
        """The same as the protocol buffer that client-go reads."""
        return openapi_proto.document(self._v2())

    def _v2(self) -> Object:
        services = dict(service_item(path, route, "v2") for path, route in self._services.items())
        paths = {**services, **self._paths("v2", self._versions)}
        return {
            "swagger": "2.0",
            "info": self._info,
            "paths": dict(sorted(paths.items())),
            "definitions": {name: component(self.definitions, name, "v2") for name in sorted(self.definitions)},
            "securityDefinitions": {"BearerToken": _BEARER},
            "security": [{"BearerToken": []}],
        }

    @cached_property
    def v2_hash(self) -> str:
        material = [_GENERATION, self.definitions.version, [_facts(info) for info in self.registry]]
        return hashlib.sha512(orjson.dumps(material)).hexdigest().upper()

    @cached_property
    def _services(self) -> dict[str, Route]:
        return dict(services(self.registry))

    @cached_property
    def _versions(self) -> list[tuple[str, str]]:
        return [(group, version) for group, listed in self.registry.groups.items() for version in listed]

    @property
    def _info(self) -> Object:
        return {"title": "Kubernetes", "version": f"v{self.definitions.version}"}

    def _paths(self, dialect: Dialect, versions: list[tuple[str, str]]) -> Object:
        paths: Object = {}
        for group, version in versions:
            if built_in(self.registry, group, version):
                at, item = version_item(_path(group, version), dialect)
                paths[at] = item
            for info in self.registry.in_version(group, version):
                paths.update(resource_paths(self.definitions, info, dialect))
        return dict(sorted(paths.items()))


_BEARER = {"description": "Bearer Token authentication", "in": "header", "name": "authorization", "type": "apiKey"}


def _facts(info: ResourceInfo) -> list[object]:
    return [
        *info.gvk,
        info.gvr.resource,
        info.namespaced,
        info.verbs,
        [(s.name, s.verbs) for s in info.subresources.values()],
        info.extension.digest if info.extension is not None else "",
    ]


def _path(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _group_version(path: str) -> tuple[str, str]:
    """`apis/apps/v1` is of version v1 of the group apps; what is at another path is of no group, and no version."""
    match path.split("/"):
        case ["api", version]:
            return "", version
        case ["apis", group, version]:
            return group, version
    return "", ""
