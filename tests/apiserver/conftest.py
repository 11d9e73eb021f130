"""A running API server on a virtual clock, with clients of several identities."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest

from engine.api.types import NAMESPACES, SERVICE_ACCOUNTS, Object
from engine.api.wire import ClientCertificate
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.store.sqlite import SqliteStore
from engine.world import World

ADMIN = ClientCertificate("kubernetes-admin", ("system:masters",))
ClientFor = Callable[..., Client]


@pytest.fixture
async def store(world: World) -> AsyncIterator[SqliteStore]:
    store = await SqliteStore.open(None, clock=world.clock)
    yield store
    await store.close()


@pytest.fixture
async def server(world: World, store: SqliteStore) -> AsyncIterator[ApiServer]:
    server = ApiServer(world, store)
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
def client_for(server: ApiServer) -> ClientFor:
    def make(name: str, *groups: str, user_agent: str = "test") -> Client:
        return Client(InProcessTransport(server, ClientCertificate(name, groups)), user_agent=user_agent)

    return make


@pytest.fixture
def client(server: ApiServer) -> Client:
    return Client(InProcessTransport(server, ADMIN), user_agent="kubectl/v1.37.1")


@pytest.fixture
async def default_account(client: Client) -> Object:
    """The account that the service account controller would make."""
    return await client.create(SERVICE_ACCOUNTS, account("default"), namespace="default")


async def make_namespace(client: Client, name: str) -> Object:
    made = await client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    await client.create(SERVICE_ACCOUNTS, account("default"), namespace=name)
    return made


def account(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}


def pod(name: str = "web", **spec: object) -> Object:
    containers = [{"name": "app", "image": "nginx:1.27"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": containers, **spec},
    }


def config_map(name: str, labels: dict[str, str] | None = None, **data: str) -> Object:
    metadata: Object = {"name": name}
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
