"""A control plane's front door for tests: store and API server in this process, served over HTTPS with a kubeconfig."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from engine.api.wire import ClientCertificate
from engine.apiserver.http import HttpServer
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.client.kubeconfig import document_for, write
from engine.clock import Clock
from engine.store.sqlite import SqliteStore
from engine.world import World
from tests.client.certificates import Authority

ADMIN = ClientCertificate("kubernetes-admin", ("system:masters",))


@dataclass
class Served:
    """`client` goes in process, `kubeconfig` over HTTPS, both to the same server as the same person."""

    world: World
    server: ApiServer
    client: Client
    kubeconfig: str
    url: str


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[Served]:
    world = World.create(clock=Clock(), seed=7)
    store = await SqliteStore.open(None, clock=world.clock, rng=world.rng.stream("store"))
    server = ApiServer(world, store)
    await server.start()
    authority = Authority()
    http = HttpServer(server, host="127.0.0.1", port=0, ssl_context=server_context(authority, folder), world=world)
    await http.start()
    admin = authority.issue(ADMIN.common_name, ADMIN.organizations[0])
    url = f"https://127.0.0.1:{http.port}"
    kubeconfig = folder / "kubeconfig"
    write(
        kubeconfig,
        document_for(name="test", server=url, ca=authority.certificate, certificate=admin.certificate, key=admin.key),
    )
    client = Client(InProcessTransport(server, ADMIN), user_agent="kubectl/test")
    try:
        yield Served(world, server, client, str(kubeconfig), url)
    finally:
        await http.stop()
        await server.stop()
        await store.close()


def server_context(authority: Authority, folder: Path) -> ssl.SSLContext:
    pair = authority.issue("kube-apiserver")
    (folder / "ca.pem").write_bytes(authority.certificate)
    (folder / "server.pem").write_bytes(pair.certificate + pair.key)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(folder / "ca.pem"))
    context.load_cert_chain(folder / "server.pem")
    context.verify_mode = ssl.CERT_OPTIONAL
    return context
