"""What other API servers keep in a namespace goes with it (namespaced_resources_deleter.go, discoverResourcesFn)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiohttp import web

from engine.api.types import GVR, NAMESPACES, SERVICES, Object
from engine.controllers.namespace import NamespaceController
from engine.world import World
from tests.controllers.cluster import running
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
        if not request.path.endswith("/flunders"):
            return web.Response(status=404)
        namespace = request.path.split("/")[5]
        if request.method == "DELETE":
            self.flunders.remove(namespace)
        items: list[Object] = [
            {"metadata": {"name": "a", "namespace": each}} for each in self.flunders if each == namespace
        ]
        listed = {"kind": "FlunderList", "apiVersion": f"{GROUP}/v1", "metadata": {"resourceVersion": "1"}}
        return web.json_response({**listed, "items": items})


@pytest.fixture
async def behind(tmp_path: Path) -> AsyncIterator[Behind]:
    pki, found = kept_pki(tmp_path, ["localhost"], datetime.now(UTC)), Behind()
    runner = web.ServerRunner(web.Server(found.serve), shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=pki.server_context(tmp_path)).start()
    found.port = runner.addresses[0][1]
    yield found
    await runner.cleanup()


async def test_what_another_server_keeps_goes_with_the_namespace(world: World, behind: Behind) -> None:
    async with running(world, controllers=(NamespaceController,)) as cluster:
        external = {"type": "ExternalName", "externalName": "localhost"}
        await cluster.admin.create(SERVICES, {"metadata": {"name": "wardle"}, "spec": external}, namespace="default")
        spec = {
            "group": GROUP,
            "version": "v1",
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "insecureSkipTLSVerify": True,
            "service": {"namespace": "default", "name": "wardle", "port": behind.port},
        }
        await cluster.admin.create(API_SERVICES, {"metadata": {"name": f"v1.{GROUP}"}, "spec": spec})

        async def available() -> Object | None:
            found = await cluster.find(API_SERVICES, f"v1.{GROUP}", None)
            conditions = ((found or {}).get("status") or {}).get("conditions") or ()
            return next((each for each in conditions if each["status"] == "True"), None)

        await cluster.eventually("the server is available", available)
        await cluster.admin.create(NAMESPACES, {"metadata": {"name": "team"}})
        await cluster.admin.delete(NAMESPACES, "team")
        await cluster.gone(NAMESPACES, "team", None)
        assert behind.flunders == ["other"]
        assert not any("fish" in each or "status" in each for each in behind.asked)
