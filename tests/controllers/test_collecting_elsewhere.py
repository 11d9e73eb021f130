"""What other API servers keep goes with its namespace and with its owners (namespaced_resources_deleter.go;
pkg/controller/garbagecollector, GetDeletableResources)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiohttp import web

from engine.api.types import CONFIGMAPS, GVR, NAMESPACES, SERVICES, Object
from engine.controllers.garbagecollector import GarbageCollector
from engine.controllers.namespace import NamespaceController
from engine.world import World
from tests.controllers.cluster import TestCluster, running
from tests.kept_pki import kept_pki

API_SERVICES = GVR("apiregistration.k8s.io", "v1", "apiservices")
GROUP = "wardle.example.com"
VERBS = ["delete", "deletecollection", "get", "list", "watch"]


class Behind:
    """A server of flunders: which there are, by their namespaces, and of fish, which cannot be deleted."""

    def __init__(self) -> None:
        self.port = 0
        self.flunders = ["team", "other"]
        self.asked: list[str] = []
        self.owners: list[Object] = []  # of each
        self.over = asyncio.Event()  # watches stay open until then

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        self.asked.append(f"{request.method} {request.path}")
        if request.path == f"/apis/{GROUP}/v1":
            kinds = {"flunders": VERBS, "flunders/status": ["get"], "fish": ["get", "list"]}
            resources = [
                {"name": name, "singularName": "", "namespaced": True, "kind": "Flunder", "verbs": verbs}
                for name, verbs in kinds.items()
            ]
            head = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{GROUP}/v1"}
            return web.json_response({**head, "resources": resources})
        if request.path.endswith("/flunders/a"):
            namespace = request.path.split("/")[5]
            if namespace not in self.flunders:
                return web.json_response({"kind": "Status", "apiVersion": "v1", "code": 404}, status=404)
            flunder = self.flunder(namespace)
            if request.method == "DELETE":
                self.flunders.remove(namespace)
            return web.json_response(flunder)
        if not request.path.endswith("/flunders"):
            return web.Response(status=404)
        if "sendInitialEvents" in request.query:
            return web.Response(status=400)
        if "watch" in request.query:
            answer = web.StreamResponse(headers={"content-type": "application/json"})
            await answer.prepare(request)
            await self.over.wait()
            return answer
        namespace = request.path.split("/")[5] if "/namespaces/" in request.path else ""
        if request.method == "DELETE":
            self.flunders.remove(namespace)
        items = [self.flunder(each) for each in self.flunders if namespace in ("", each)]
        listed = {"kind": "FlunderList", "apiVersion": f"{GROUP}/v1", "metadata": {"resourceVersion": "1"}}
        return web.json_response({**listed, "items": items})

    def flunder(self, namespace: str) -> Object:
        metadata = {"name": "a", "namespace": namespace, "uid": f"flunder-{namespace}", "resourceVersion": "1"}
        owners = {"ownerReferences": self.owners} if self.owners else {}
        return {"kind": "Flunder", "apiVersion": f"{GROUP}/v1", "metadata": {**metadata, **owners}}

    async def register(self, cluster: TestCluster) -> None:
        """Let the cluster know, and wait until it does."""
        external = {"type": "ExternalName", "externalName": "localhost"}
        await cluster.admin.create(SERVICES, {"metadata": {"name": "wardle"}, "spec": external}, namespace="default")
        spec = {
            "group": GROUP,
            "version": "v1",
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "insecureSkipTLSVerify": True,
            "service": {"namespace": "default", "name": "wardle", "port": self.port},
        }
        await cluster.admin.create(API_SERVICES, {"metadata": {"name": f"v1.{GROUP}"}, "spec": spec})

        async def available() -> Object | None:
            found = await cluster.find(API_SERVICES, f"v1.{GROUP}", None)
            conditions = ((found or {}).get("status") or {}).get("conditions") or ()
            return next((each for each in conditions if each["status"] == "True"), None)

        await cluster.eventually("the server is available", available)


@pytest.fixture
async def behind(tmp_path: Path) -> AsyncIterator[Behind]:
    pki, found = kept_pki(tmp_path, ["localhost"], datetime.now(UTC)), Behind()
    runner = web.ServerRunner(web.Server(found.serve), shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=pki.server_context(tmp_path)).start()
    found.port = runner.addresses[0][1]
    yield found
    found.over.set()
    await runner.cleanup()


async def test_what_another_server_keeps_goes_with_the_namespace(world: World, behind: Behind) -> None:
    async with running(world, controllers=(NamespaceController,)) as cluster:
        await behind.register(cluster)
        await cluster.admin.create(NAMESPACES, {"metadata": {"name": "team"}})
        await cluster.admin.delete(NAMESPACES, "team")
        await cluster.gone(NAMESPACES, "team", None)
        assert behind.flunders == ["other"]
        assert not any("fish" in each or "status" in each for each in behind.asked)


async def test_what_another_server_keeps_goes_with_its_owner(world: World, behind: Behind) -> None:
    async with running(world, controllers=(GarbageCollector,)) as cluster:
        made = await cluster.admin.create(CONFIGMAPS, {"metadata": {"name": "owner"}}, namespace="default")
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": made["metadata"]["uid"]}
        behind.flunders, behind.owners = ["default"], [owner]
        await behind.register(cluster)

        async def followed() -> bool | None:
            return any("GET" in each and each.endswith(f"{GROUP}/v1/flunders") for each in behind.asked) or None

        await cluster.eventually("flunders are followed", followed)
        await cluster.admin.delete(CONFIGMAPS, "owner", namespace="default")

        async def collected() -> bool | None:
            return not behind.flunders or None

        await cluster.eventually("the flunder is collected", collected)
