"""OpenAPI v2 and v3 documents of the served API, as bytes.

A document is generated when it is first asked for and kept. The hash of a v3 document stands for what it is made from,
so that the index needs none of the documents.
"""

from __future__ import annotations

import hashlib
from functools import cached_property

import orjson

from engine.api.openapi import proto as openapi_proto
from engine.api.openapi import proto_v3
from engine.api.openapi.paths import resource_paths
from engine.api.openapi.schemas import Dialect, closure, component
from engine.api.resources import ResourceInfo, ResourceRegistry
from engine.api.schema import Definitions
from engine.api.types import GVK, Object

_META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_ALWAYS = (f"{_META}.APIResourceList", f"{_META}.DeleteOptions", f"{_META}.Patch", f"{_META}.Status")
# Raised when what is generated from the same schemas changes, since clients keep documents on disk by hash.
_GENERATION = 2


class OpenApi:
    """All documents of one registry. Made anew when the registry changes."""

    def __init__(self, registry: ResourceRegistry, definitions: Definitions) -> None:
        self.registry = registry
        self.definitions = definitions
        self._documents: dict[tuple[str, str], bytes] = {}

    @cached_property
    def index(self) -> Object:
        """`/openapi/v3`: where the document of each group version is."""
        paths = {}
        for group, versions in self.registry.groups.items():
            for version in versions:
                path = _path(group, version)
                url = f"/openapi/v3/{path}?hash={self.hash(group, version)}"
                paths[path] = {"serverRelativeURL": url}
        return {"paths": dict(sorted(paths.items()))}  # as Go writes a map

    def hash(self, group: str, version: str) -> str:
        """Changes with the document of a group version; its ETag and the `hash` parameter of its URL."""
        infos = self.registry.in_version(group, version)
        material = [_GENERATION, self.definitions.version, [_facts(info) for info in infos]]
        return hashlib.sha512(orjson.dumps(material)).hexdigest().upper()

    def v3(self, group: str, version: str) -> bytes | None:
        """`/openapi/v3/api/v1` and `/openapi/v3/apis/GROUP/VERSION`; None for one that is not served."""
        if not self.registry.in_version(group, version):
            return None
        key = (group, version)
        if key not in self._documents:
            self._documents[key] = orjson.dumps(self._v3(group, version))
        return self._documents[key]

    def v3_proto(self, group: str, version: str) -> bytes | None:
        """The same as a protocol buffer."""
        document = self.v3(group, version)
        return None if document is None else proto_v3.document_v3(orjson.loads(document))

    def _v3(self, group: str, version: str) -> Object:
        names = [name for gvk, name in self.definitions.kinds.items() if gvk[:2] == (group, version)]
        subresources = [
            self.definitions.kinds.get(each.gvk, "")
            for info in self.registry.in_version(group, version)
            for each in info.subresources.values()
        ]
        used = closure(self.definitions, [*_ALWAYS, *names, *subresources])
        return {
            "openapi": "3.0.0",
            "info": self._info,
            "paths": self._paths("v3", [(group, version)]),
            "components": {
                "schemas": {name: component(self.definitions, name, "v3") for name in used},
                "securitySchemes": {"BearerToken": _BEARER},
            },
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
        versions = [(group, version) for group, listed in self.registry.groups.items() for version in listed]
        return {
            "swagger": "2.0",
            "info": self._info,
            "paths": self._paths("v2", versions),
            "definitions": {name: component(self.definitions, name, "v2") for name in sorted(self.definitions)},
            "securityDefinitions": {"BearerToken": _BEARER},
            "security": [{"BearerToken": []}],
        }

    @cached_property
    def v2_hash(self) -> str:
        material = [_GENERATION, self.definitions.version, [_facts(info) for info in self.registry]]
        return hashlib.sha512(orjson.dumps(material)).hexdigest().upper()

    @property
    def _info(self) -> Object:
        return {"title": "Kubernetes", "version": f"v{self.definitions.version}"}

    def _paths(self, dialect: Dialect, versions: list[tuple[str, str]]) -> Object:
        paths: Object = {}
        for group, version in versions:
            paths[f"/{_path(group, version)}/"] = _discovery_path(group, version, dialect)
            for info in self.registry.in_version(group, version):
                paths.update(resource_paths(self.definitions, info, dialect))
        return paths


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


def _discovery_path(group: str, version: str, dialect: Dialect) -> Object:
    gv = GVK(group, version, "").api_version
    answer: Object = {"description": "OK"}
    reference = f"{_META}.APIResourceList"
    if dialect == "v2":
        answer["schema"] = {"$ref": f"#/definitions/{reference}"}
    else:
        answer["content"] = {"application/json": {"schema": {"$ref": f"#/components/schemas/{reference}"}}}
    return {
        "get": {
            "description": "get available resources",
            "operationId": f"get{''.join(part.capitalize() for part in gv.replace('/', '.').split('.'))}APIResources",
            "responses": {"200": answer},
        }
    }
