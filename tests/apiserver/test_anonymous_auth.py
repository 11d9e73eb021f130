"""--anonymous-auth=false: who shows no credential is refused (apiserver pkg/server/options authentication.go)."""

from __future__ import annotations

import pytest

from engine.api.types import GVR
from engine.api.wire import Request
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.config import ClusterConfig
from engine.store.sqlite import SqliteStore
from engine.world import World
from ktui.commands import UsageError
from ktui.commands.up import configure
from ktui.engine_process import UpOptions
from tests.apiserver.conftest import ADMIN


async def test_nobody_is_refused(world: World, store: SqliteStore) -> None:
    config = configure(UpOptions(anonymous_auth="F", ephemeral=True))
    server = ApiServer(world, store, config=ClusterConfig(anonymous_auth=config.anonymous_auth))
    await server.start()
    for path in ("/api/v1/pods", "/version", "/livez", "/nothing"):
        for headers in ({}, {"authorization": "Basic dXNlcjpwYXNz"}):
            answer = await server.handle(Request("GET", path, headers=headers))
            assert (answer.status, answer.body["message"]) == (401, "Unauthorized"), path
    admin = Client(InProcessTransport(server, ADMIN), user_agent="test")
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": " "}}
    made = await admin.create(GVR("authentication.k8s.io", "v1", "tokenreviews"), review)
    assert made["status"] == {"user": {}}
    flags = await server.handle(Request("GET", "/flagz", {}, {"accept": "text/plain"}, certificate=ADMIN))
    assert "anonymous-auth: false" in flags.body.decode()
    await server.stop()


def test_the_option_is_a_boolean_of_go() -> None:
    with pytest.raises(UsageError) as caught:
        configure(UpOptions(anonymous_auth="no"))
    assert str(caught.value) == '--anonymous-auth: strconv.ParseBool: parsing "no": invalid syntax'
    assert "--anonymous-auth=false" in UpOptions(anonymous_auth="false").arguments()
    assert configure(UpOptions(ephemeral=True)).anonymous_auth
