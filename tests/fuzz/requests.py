"""Requests that nearly make sense: each begins as one that does, and most are spoiled in a place or two."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import orjson
import yaml

from engine.api.resources import ResourceInfo, ResourceRegistry
from engine.api.types import GVK, Object
from engine.api.wire import (
    APPLY_PATCH,
    JSON,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    YAML,
    ClientCertificate,
    Request,
)
from tests.fuzz.mutations import encoded, odd, spoiled, spoiled_bytes, spoiled_text

MANIFESTS = Path(__file__).parent.parent / "conformance" / "manifests"
_ADMIN = ClientCertificate("kubernetes-admin", ("system:masters",))
_USERS = (
    *(_ADMIN,) * 20,
    ClientCertificate("jane", ()),
    ClientCertificate("system:node:node-1", ("system:nodes",)),
    None,
)
_NAMES = ("fuzz-a", "fuzz-b", "fuzz-c")  # few, so that requests meet
_NAMESPACES = ("default", "default", "fuzz", "kube-node-lease", "gone")
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "get", "")
_PATCHES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)
_PARAMETERS = (
    "watch", "limit", "continue", "resourceVersion", "resourceVersionMatch", "labelSelector", "fieldSelector", "dryRun",
    "fieldManager", "fieldValidation", "force", "pretty", "gracePeriodSeconds", "propagationPolicy", "orphanDependents",
    "sendInitialEvents", "allowWatchBookmarks", "timeoutSeconds", "includeObject", "container", "tailLines", "command",
    "sinceSeconds", "limitBytes", "follow", "ports", "stdout", "path", "exclude", "verbose", "hash",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
)  # fmt: skip
_VALUES = (
    "", "true", "false", "1", "0", "-1", "All", "Strict", "Warn", "Ignore", "Foreground", "Orphan", "Background",
    "Exact",
    "NotOlderThan", "a=b", "a in (b,c)", "!a", "metadata.name=fuzz-a", "spec.nodeName!=x", "x", "99999999999999999999",
    "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0", "Metadata", "fuzz",
)  # fmt: skip
_HEADERS = {
    "accept": (
        "application/json", "*/*", "", "text/html", "application/yaml", "application/vnd.kubernetes.protobuf",
        "application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
        "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json", ";;,,=",
    ),
    "content-type": (JSON, YAML, "", "text/plain", "application/vnd.kubernetes.protobuf", *_PATCHES),
    "authorization": ("Bearer x", "Bearer ", "Basic Zm9vOmJhcg==", "x"),
    "impersonate-user": ("jane", "", "system:serviceaccount:default:default"),
    "if-none-match": ('"x"', "*"),
    "traceparent": ("00-0-0-0", "x"),
    "upgrade": ("websocket", "SPDY/3.1"),
    "user-agent": ("", "a" * 500, "kubectl/v1 (x)"),
}  # fmt: skip
_OTHER_PATHS = (
    "/", "/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1", "/version", "/healthz", "/readyz/etcd", "/livez",
    "/metrics", "/openapi/v2", "/openapi/v3", "/openapi/v3/apis/apps/v1", "/foo", "//", "/api/v1/watch/pods",
    "/api/v1/proxy",
    "/debug/ktui/status", "/debug/ktui/views", "/debug/ktui/store/status",
)  # fmt: skip


class Requests:
    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        registry = ResourceRegistry.for_version()
        self._resources = list(registry)
        self._samples = _samples(registry)

    def next(self) -> Request:
        rng = self.rng
        if rng.random() < 0.06:
            return self._spoiled(self._request("GET", rng.choice(_OTHER_PATHS)))
        info = rng.choice(self._resources if rng.random() < 0.6 else list(self._samples))
        request = self._of(info)
        return request if rng.random() < 0.4 else self._spoiled(request)

    def _of(self, info: ResourceInfo) -> Request:
        """A request for a resource as a client would send it."""
        rng = self.rng
        namespace, name = rng.choice(_NAMESPACES), rng.choice(_NAMES)
        obj = self._object(info, namespace, name)
        collection, item = info.gvr.path(namespace if info.namespaced else None), ""
        sub = rng.choice(list(info.subresources)) if info.subresources and rng.random() < 0.25 else None
        item = f"{collection}/{name}" + (f"/{sub}" if sub else "")
        match rng.choice(("POST", "POST", "POST", "GET", "LIST", "PUT", "PATCH", "PATCH", "PATCH", "DELETE", "WATCH")):
            case "POST":
                return self._request("POST", item if sub else collection, obj)
            case "LIST":
                return self._request("GET", collection)
            case "WATCH":
                request = self._request("GET", collection)
                request.query["watch"] = ["true"]
                return request
            case "PATCH":
                return self._patch(item, obj)
            case "PUT":
                return self._request("PUT", item, obj)
            case method:
                return self._request(method, item)

    def _object(self, info: ResourceInfo, namespace: str, name: str) -> Object:
        sample = self._samples.get(info) or {"apiVersion": info.gvr.api_version, "kind": info.kind, "spec": {}}
        metadata = {**(sample.get("metadata") or {}), "name": name}
        metadata.pop("namespace", None)
        if info.namespaced:
            metadata["namespace"] = namespace
        return {**sample, "metadata": metadata}

    def _patch(self, path: str, obj: Object) -> Request:
        rng = self.rng
        kind = rng.choice(_PATCHES)
        body: Any = obj
        if kind == JSON_PATCH:
            pointer = "/" + "/".join(rng.choices(("metadata", "spec", "labels", "0", "-", "a~1b", "", "status"), k=3))
            operation = rng.choice(("add", "remove", "replace", "move", "copy", "test", "x"))
            body = [{"op": operation, "path": pointer, "value": odd(rng), "from": "/metadata"}]
        elif kind != APPLY_PATCH:
            body = {part: obj[part] for part in ("metadata", "spec", "data") if part in obj}
        request = self._request("PATCH", path, body)
        request.headers["content-type"] = kind
        if kind == APPLY_PATCH:
            request.query["fieldManager"] = ["fuzz"]
        return request

    def _request(self, method: str, path: str, body: Any = None) -> Request:
        headers = {"user-agent": "fuzz", "content-type": JSON}
        certificate = self.rng.choice(_USERS)
        return Request(method, path, {}, headers, encoded(body) if body is not None else None, certificate)

    def _spoiled(self, request: Request) -> Request:
        """Change the path, the method, the parameters, the headers or, most often, the body."""
        rng = self.rng
        for _ in range(rng.randint(1, 2)):
            what = rng.random()
            if what < 0.5 and request.body:
                request.body = self._spoiled_body(request.body)
            elif what < 0.6:
                request.path = "/" + spoiled_text(rng, request.path.lstrip("/") or "x")
            elif what < 0.66:
                request.method = rng.choice(_METHODS)
            elif what < 0.9:
                value = rng.choice(_VALUES)
                request.query[rng.choice(_PARAMETERS)] = [spoiled_text(rng, value) if rng.random() < 0.2 else value]
            else:
                header = rng.choice(list(_HEADERS))
                request.headers[header] = rng.choice(_HEADERS[header])
        return request

    def _spoiled_body(self, body: bytes) -> bytes:
        if self.rng.random() < 0.2:
            return spoiled_bytes(self.rng, body)
        try:
            return encoded(spoiled(self.rng, orjson.loads(body)))
        except ValueError:
            return spoiled_bytes(self.rng, body)


def _samples(registry: ResourceRegistry) -> dict[ResourceInfo, Object]:
    """A whole object of each kind that the conformance manifests have one of."""
    found: dict[ResourceInfo, Object] = {}
    for file in sorted(MANIFESTS.glob("*.yaml")):
        for obj in yaml.safe_load_all(file.read_text()):
            if not isinstance(obj, dict):
                continue
            group, _, version = obj["apiVersion"].rpartition("/")
            info = registry.by_kind(GVK(group, version, obj["kind"]))
            if info is not None:
                found.setdefault(info, obj)
    return found
