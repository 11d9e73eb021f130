"""What other servers say that they serve: for the aggregated discovery document and the index of OpenAPI.

A server is asked when its APIService changes, and each minute; what it said last is shown, as stale, where it does not
answer. Sources: kube-aggregator pkg/apiserver/handler_discovery.go, pkg/controllers/openapiv3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import aiohttp
import orjson

from engine.api.crd.naming import is_true
from engine.api.resources import Described
from engine.api.types import Object
from engine.apiserver.aggregation.remote_servers import (
    AGGREGATOR,
    DISCOVERY_SECONDS,
    RemoteServers,
    UnreachableError,
)
from engine.apiserver.service_resolver import ResolveError
from engine.clock import Clock

REFRESH = 60.0
_AGGREGATED = ", ".join(
    f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList" for version in ("v2", "v2beta1")
)
_OF_ALL = "as=APIGroupDiscoveryList"
GroupVersion = tuple[str, str]


class RemoteDocuments:
    def __init__(self, servers: RemoteServers, clock: Clock) -> None:
        self._servers = servers
        self._clock = clock
        self._known: dict[GroupVersion, Described] = {}
        self._asked: dict[GroupVersion, tuple[str, float]] = {}  # of which APIService, and when

    async def described(self, api_services: Iterable[Object]) -> Mapping[GroupVersion, Described]:
        """What is known of those that other servers serve; who has to be asked is asked."""
        found = {}
        for each in api_services:
            key = each["spec"].get("group", ""), each["spec"]["version"]
            if is_true(each, "Available") and self._is_due(key, each):
                await self._refresh(key, each)
            elif not is_true(each, "Available") and key in self._known:
                self._known[key] = self._known[key]._replace(fresh=False)
                self._asked.pop(key, None)
            if key in self._known:
                found[key] = self._known[key]
        self._known = dict(found)
        return found

    def _is_due(self, key: GroupVersion, api_service: Object) -> bool:
        uid, when = self._asked.get(key, ("", 0.0))
        return uid != api_service["metadata"]["uid"] or self._clock.monotonic() - when >= REFRESH

    async def _refresh(self, key: GroupVersion, api_service: Object) -> None:
        self._asked[key] = api_service["metadata"]["uid"], self._clock.monotonic()
        try:
            resources = await self._resources(key, api_service)
            openapi = await self._openapi(key, api_service)
        except (UnreachableError, ResolveError, aiohttp.ClientError, TimeoutError, ValueError, KeyError, TypeError):
            before = self._known.get(key)
            if before is not None:
                self._known[key] = before._replace(fresh=False)
            return
        self._known[key] = Described(resources, True, openapi)

    async def _resources(self, key: GroupVersion, api_service: Object) -> list[Object]:
        status, kind, document = await self._get(api_service, "/apis", _AGGREGATED)
        if status == 200 and _OF_ALL in kind:
            for group in document.get("items") or ():
                for version in group["versions"] if group["metadata"]["name"] == key[0] else ():
                    if version["version"] == key[1]:
                        return list(version.get("resources") or ())
            return []
        status, _, document = await self._get(api_service, f"/apis/{key[0]}/{key[1]}", "application/json")
        if status != 200:
            raise ValueError(f"failed to download discovery: {status}")
        return _as_aggregated(document.get("resources") or ())

    async def _openapi(self, key: GroupVersion, api_service: Object) -> str:
        """Where the document of a version is; "" where the server has none."""
        status, _, document = await self._get(api_service, "/openapi/v3", "application/json")
        if status != 200:
            return ""
        return str(document["paths"].get(f"apis/{key[0]}/{key[1]}", {}).get("serverRelativeURL", ""))

    async def _get(self, api_service: Object, path: str, accept: str) -> tuple[int, str, Any]:
        answer = await self._servers.send(
            api_service,
            await self._servers.place(api_service),
            "GET",
            path,
            user=AGGREGATOR,
            headers=[("Accept", accept)],
            seconds=DISCOVERY_SECONDS,
        )
        with self._clock.hold():
            data = await answer.read()
        return (
            answer.status,
            answer.headers.get("content-type", ""),
            orjson.loads(data) if answer.status == 200 else None,
        )


def _as_aggregated(resources: Iterable[Object]) -> list[Object]:
    """An APIResourceList's resources as the aggregated document has them (apiserver pkg/endpoints
    ConvertGroupVersionIntoToDiscovery)."""
    found: dict[str, Object] = {}
    for each in resources:
        name, _, subresource = each["name"].partition("/")
        kind = {"group": each.get("group", ""), "version": each.get("version", ""), "kind": each["kind"]}
        verbs = list(each.get("verbs") or ())
        scope = "Namespaced" if each.get("namespaced") else "Cluster"
        of = found.setdefault(name, {"resource": name, "scope": scope, "singularResource": "", "verbs": []})
        if subresource:
            shown = {"subresource": subresource, "responseKind": kind, "verbs": verbs}
            of.setdefault("subresources", []).append(shown)
            continue
        of |= {"responseKind": kind, "singularResource": each.get("singularName", ""), "verbs": verbs}
        of |= {field: each[field] for field in ("shortNames", "categories") if each.get(field)}
    return list(found.values())
