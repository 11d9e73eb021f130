"""What is served besides resources: discovery, OpenAPI, version, health, metrics, debug endpoints.

Documents that do not change are made once, as bytes, with an ETag (apiserver pkg/endpoints/discovery, kube-openapi
handlers).
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import cached_property, partial
from typing import Any

import orjson

from engine.api import discovery
from engine.api.discovery_order import legacy_order
from engine.api.errors import PlainTextError
from engine.api.golang.yaml_writer import dump
from engine.api.openapi import proto_v3
from engine.api.openapi.documents import OpenApi
from engine.api.openapi.proto import MEDIA_TYPES
from engine.api.types import Object
from engine.api.version_info import version_info
from engine.api.wire import JSON, PROTOBUF, YAML, Request, Response
from engine.apiserver import fairness
from engine.apiserver.aggregation.aggregator import Aggregator
from engine.apiserver.authentication.discovery import CACHED, CONFIGURATION_PATH, KEYS_PATH, KEYS_TYPE
from engine.apiserver.authentication.tokens import TokenIssuer
from engine.apiserver.backend import Backend
from engine.apiserver.call import Call
from engine.apiserver.debug.endpoints import PREFIX, DebugEndpoints
from engine.apiserver.document_forms import liked_form
from engine.apiserver.fairness import PriorityLevels
from engine.apiserver.health import Health
from engine.apiserver.metrics.endpoint import metrics
from engine.apiserver.metrics.pod_resource_metrics import pod_resource_metrics
from engine.apiserver.metrics.request_metrics import RequestMetrics
from engine.apiserver.metrics.slis import SLIS, slis
from engine.apiserver.protobuf.discovery import discovery_protobuf
from engine.apiserver.registry.accept import accepted_clauses
from engine.apiserver.registry.representation import is_for_a_person, likes_yaml
from engine.apiserver.routing import (
    PAGE_NOT_FOUND,
    check_discovery_accept,
    check_method,
    check_service_accept,
    unknown_path,
)
from engine.apiserver.zpages.pages import FLAGZ, STATUSZ, ZPages
from engine.metrics import Counter, Family

_HEALTH = ("/healthz", "/livez", "/readyz")
_FOR_ALL = {"vary": "Accept", "cache-control": "public"}  # of aggregated discovery
Make = Callable[[], Any]


class NonResource:
    def __init__(
        self,
        backend: Backend,
        debug: DebugEndpoints,
        requests: RequestMetrics,
        issuer: TokenIssuer,
        levels: PriorityLevels,
        aggregator: Aggregator,
        flags: dict[str, str],
        families: Callable[[], Iterable[Family]],
    ) -> None:
        self.health = Health(backend.storage.store, backend.definitions.release)
        self._levels = levels
        self.aggregations = Counter(
            "aggregator_discovery_aggregation_count_total",
            "[ALPHA] Counter of number of times discovery was aggregated",
        )
        self._aggregator = aggregator
        self._families = families
        self._issuer = issuer
        self._requests = requests
        self._backend = backend
        self._debug = debug
        self._made: dict[str, tuple[bytes, str]] = {}
        self._making = asyncio.Lock()
        self._generation = 0
        self._zpages = ZPages(backend, lambda: self._paths, flags)

    async def answer(self, call: Call) -> Response:
        """Raises ApiError 404."""
        request = call.request
        self._follow_resources()
        path = request.path if request.path == "/" else request.path.rstrip("/")
        if path.startswith(PREFIX):
            return await self._debug.answer(call)
        check_method(self._backend.resources, path, request.method)
        check_service_accept(path, request.headers.get("accept", ""))
        if path.startswith(_HEALTH):
            return await self.health.answer(request)
        if request.path == "/metrics":
            return await metrics(self._backend, self._requests, self._levels, self._families())
        if request.path == SLIS:
            return slis(self.health.metrics)
        if request.path in (STATUSZ, FLAGZ) and self._zpages.served:
            return self._zpages.answer(call, request.path)
        if request.path == "/metrics/resources":
            return await pod_resource_metrics(self._backend)
        if path.startswith(fairness.PREFIX):
            return self._dump(request, path)
        if path == CONFIGURATION_PATH:
            return _cached(request, self._issuer.configuration(), JSON)
        if path == KEYS_PATH:
            return _cached(request, self._issuer.key_set(), KEYS_TYPE)
        if path.startswith("/openapi/"):
            return await self._openapi(call, request.path)
        accept = request.headers.get("accept", "")
        if path in ("/api", "/apis") and (form := discovery.aggregated_form(accepted_clauses(accept))):
            core = path == "/api"
            return self._document(
                call,
                f"{path} aggregated",
                partial(self._aggregated, core=core),
                kind=discovery.AGGREGATED_MEDIA_TYPE.replace(JSON, form),
                headers=_FOR_ALL,
                form=form,
                indented=is_for_a_person(request),
                ended=True,
            )
        make = self._discovery(path, call)
        if make is None:
            raise unknown_path(self._backend.resources, path)
        if not path.startswith("/api"):
            return self._document(call, path, make, indented=True)  # for whomever (responsewriters, WriteRawJSON)
        check_discovery_accept(self._backend.resources, path, accept)
        form = YAML if YAML in accept and likes_yaml(accept) else JSON
        return self._document(call, path, make, kind=form, form=form, indented=is_for_a_person(request), ended=True)

    def _aggregated(self, *, core: bool) -> Object:
        self.aggregations.add()
        return discovery.aggregated(self._backend.resources, core=core)

    def _dump(self, request: Request, path: str) -> Response:
        text = fairness.dump(self._levels, path, details=bool(request.parameter("includeRequestDetails")))
        if text is None:
            raise unknown_path(self._backend.resources, path)
        return Response(200, text.encode(), {"content-type": "text/plain; charset=utf-8"})

    def _follow_resources(self) -> None:
        """Forget what was made of resources that have changed since."""
        generation = self._backend.resources.generation
        if generation != self._generation:
            self._generation = generation
            self._made.clear()
            self.__dict__.pop("_paths", None)
            self.__dict__.pop("_documents", None)

    def _discovery(self, path: str, call: Call) -> Make | None:
        resources = self._backend.resources
        parts = path.strip("/").split("/")
        match parts:
            case ["" | "index.html"]:
                return lambda: {"paths": self._paths}
            case ["version"]:
                return partial(version_info, self._backend.definitions.version)
            case ["api"]:
                address = call.request.headers.get("host", "")
                return lambda: discovery.api_versions(address)
            case ["apis"]:
                return lambda: discovery.api_group_list(resources)
            case ["api", version]:
                return _present(discovery.api_resource_list(resources, "", version))
            case ["apis", group]:
                return _present(discovery.api_group(resources, group))
            case ["apis", group, version]:
                return _present(discovery.api_resource_list(resources, group, version))
        return None

    @cached_property
    def _paths(self) -> list[str]:
        paths = ["/api", "/apis", "/apis/"]
        resources = self._backend.resources
        paths += [f"/api/{version}" for version in resources.groups.get("", ())]
        for group, versions in legacy_order(resources):
            paths += [f"/apis/{group}", *(f"/apis/{group}/{version}" for version in versions)]
        paths += [*self.health.paths(), "/metrics", SLIS, "/openapi/v2", "/openapi/v3", "/openapi/v3/", "/version"]
        paths += [PREFIX, CONFIGURATION_PATH, KEYS_PATH, *fairness.PATHS]
        if self._zpages.served:
            paths += [STATUSZ, FLAGZ]
        return sorted(paths)

    async def _openapi(self, call: Call, path: str) -> Response:
        documents = self._documents
        if path == "/openapi/v3":  # the index has one form, whatever is asked for
            return self._document(call, path, self._openapi_index, headers={})
        if (elsewhere := self._described_elsewhere(path)) is not None:
            api_service, target = elsewhere
            return await self._aggregator.openapi(call.request, api_service, target)
        accept = call.request.headers.get("accept", "")
        kind = JSON
        make: Callable[[], bytes | None]
        if path == "/openapi/v2":
            form = liked_form(accept, (JSON, *sorted(MEDIA_TYPES)))
            tag, make = documents.v2_hash, partial(getattr, documents, "v2")
            if form in MEDIA_TYPES:
                tag, kind = f"{tag}.proto", "application/octet-stream"
                make = partial(getattr, documents, "v2_proto")
        elif path.startswith("/openapi/v3/"):
            at = path.removeprefix("/openapi/v3/")
            if at not in documents.index["paths"]:
                return Response(404, b"", {"content-type": "text/plain"})
            form = liked_form(accept, (JSON, *sorted(proto_v3.MEDIA_TYPES)))
            tag, make = documents.tag(at), partial(documents.v3, at)
            if form in proto_v3.MEDIA_TYPES:
                kind, make = proto_v3.MEDIA_TYPE, partial(documents.v3_proto, at)
        else:
            raise PlainTextError(404, PAGE_NOT_FOUND)
        if not form:
            return Response(406, b"", {"vary": "Accept"})
        body = await self._made_aside(make)
        if body is None:  # resources went meanwhile
            return Response(404, b"", {"content-type": "text/plain"})
        headers = {"content-type": kind, "etag": f'"{tag}"', "vary": "Accept"}
        asked = call.request.parameter("hash")
        if asked and asked != tag and path != "/openapi/v2":
            return Response(301, b"", {**headers, "location": f"{path}?hash={tag}"})
        if asked == tag:  # the URL names the content: it may be kept for ever
            headers |= {"cache-control": "public, immutable", "expires": self._in_a_year()}
        if _has_it(call.request.headers.get("if-none-match", ""), headers["etag"]):
            return Response(304, None, headers)
        return Response(200, orjson.loads(body) if call.request.in_process and kind == JSON else body, headers)

    def _openapi_index(self) -> Object:
        """With the documents of other servers."""
        paths: Object = dict(self._documents.index["paths"])
        for (group, version), known in self._backend.resources.described.items():
            if known.openapi:
                paths[f"apis/{group}/{version}"] = {"serverRelativeURL": known.openapi}
        return {"paths": dict(sorted(paths.items()))}

    def _described_elsewhere(self, path: str) -> tuple[Object, str] | None:
        """The APIService whose server has an OpenAPI document, and where."""
        described = self._backend.resources.described
        match path.removeprefix("/openapi/v3/").split("/"):
            case ["apis", group, version] if (known := described.get((group, version))) is not None and known.openapi:
                api_service = self._aggregator.given_away(group, version)
                return None if api_service is None else (api_service, known.openapi)
        return None

    def _in_a_year(self) -> str:
        now = self._backend.world.clock.now()
        later = now.replace(year=now.year + 1) if (now.month, now.day) != (2, 29) else now + timedelta(days=366)
        return later.strftime("%a, %d %b %Y %H:%M:%S UTC")

    async def _made_aside(self, make: Callable[[], bytes | None]) -> bytes | None:
        """Make a document in a thread: the largest take a quarter of a second, for which nobody else is to wait."""
        async with self._making:
            generation = self._generation
            try:
                with self._backend.world.clock.hold():
                    return await asyncio.to_thread(make)
            except RuntimeError:  # resources came or went under its hands
                if generation == self._backend.resources.generation:
                    raise
                return make()

    @cached_property
    def _documents(self) -> OpenApi:
        return OpenApi(self._backend.resources, self._backend.definitions)

    def _document(
        self,
        call: Call,
        key: str,
        make: Make,
        *,
        kind: str = JSON,
        headers: Mapping[str, str] | None = None,
        form: str = JSON,
        indented: bool = False,
        ended: bool = False,
    ) -> Response:
        """A document, made once; with `headers` those and its ETag, and 304 for who has it. In-process callers get the
        value as well. The ETag is that of the JSON, also of what has another form (discovery/aggregated/etag.go).
        JSON is `indented` for persons, and otherwise `ended` by a new line where Go's serializer writes it."""
        made = self._made.get(key)
        if made is None:
            body = orjson.dumps(make())
            made = self._made[key] = (body, f'"{hashlib.sha512(body).hexdigest().upper()}"')
        body, tag = made
        told = {"content-type": kind} if headers is None else {"content-type": kind, "etag": tag, **headers}
        if headers is not None and call.request.headers.get("if-none-match") == tag:
            return Response(304, None, told)
        if form == PROTOBUF:
            return Response(200, discovery_protobuf(orjson.loads(body)), told)
        if form == YAML and not call.request.in_process:
            return Response(200, dump(orjson.loads(body)).encode(), told)
        value = orjson.loads(body) if indented or call.request.in_process else None
        written = orjson.dumps(value, option=orjson.OPT_INDENT_2) if indented else body + b"\n" if ended else body
        return Response(200, value, told, wire=written) if call.request.in_process else Response(200, written, told)


def _has_it(none_match: str, tag: str) -> bool:
    """Whether a client has what has the tag: it may name several, or whatever there is (RFC 9110, If-None-Match)."""
    return any(each.strip().removeprefix("W/") in ("*", tag) for each in none_match.split(","))


def _cached(request: Request, document: dict[str, Any], kind: str) -> Response:
    body = document if request.in_process else orjson.dumps(document)
    return Response(200, body, {"content-type": kind, "cache-control": CACHED})


def _present(document: Any) -> Make | None:
    return None if document is None else lambda: document
