"""The composition root: reads a ClusterConfig, wires the parts of one cluster, starts and stops them in order.

With `engine.components`, which it loads last, the only module that knows all parts. They meet at the API server alone:
each gets a client with an identity of its own, and none of them another component.
"""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import TYPE_CHECKING

from engine.api.schema import resolve_version
from engine.api.wire import ClientCertificate
from engine.apiserver.http import HttpServer
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.client.request_metrics import RequestMetrics
from engine.clock import Clock
from engine.config import ClusterConfig
from engine.folder import ClusterFolder
from engine.pki import ADMIN
from engine.store import Store
from engine.stores import SERVICE_ACCOUNT_KEY, first_value, open_store, seed_of
from engine.trace.archive import RecentTraces, TraceArchive, TraceSource
from engine.world import World

if TYPE_CHECKING:
    from engine.components import Components


class Cluster:
    """One cluster in this process. `async with Cluster(config) as cluster: client = cluster.client()`.

    Without a data folder it keeps nothing. `clock` is the model's (real time by default). Tokens of service accounts
    are signed with the given key (PEM), or with one that dies with the process.
    """

    def __init__(
        self, config: ClusterConfig, *, clock: Clock | None = None, service_account_key: bytes | None = None
    ) -> None:
        self.config = config
        self._service_account_key = service_account_key
        self.kubernetes_version = resolve_version(config.kubernetes_version)
        self.world = World.create(clock=clock, seed=seed_of(config), profile=config.profile, latencies=config.latencies)
        self.folder = ClusterFolder(config.data_folder) if config.data_folder else None
        self._stack = AsyncExitStack()
        self._store: Store | None = None
        self._api_server: ApiServer | None = None
        self._http: HttpServer | None = None
        self._requests = RequestMetrics("in-process")
        self.world.views.offer("rest-client/metrics", lambda _: self._requests.families())

    # -- what is running

    @property
    def store(self) -> Store:
        assert self._store is not None, "the cluster is not started"
        return self._store

    @property
    def api_server(self) -> ApiServer:
        assert self._api_server is not None, "the cluster is not started"
        return self._api_server

    @property
    def address(self) -> str:
        """The URL that the API is served at; "" for a cluster that is not served."""
        return f"https://{self.config.host}:{self._http.port}" if self._http is not None else ""

    def client(self, certificate: ClientCertificate = ADMIN, *, user_agent: str = "ktui") -> Client:
        """An in-process client with the given identity; all of its requests pass the whole chain."""
        transport = InProcessTransport(self.api_server, certificate, metrics=self._requests)
        return Client(transport, user_agent=user_agent)

    # -- its life

    async def __aenter__(self) -> Cluster:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Start all parts; those that did start are stopped again if one fails."""
        try:
            await self.start_api_server()
            await self.start_components()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stop in the order that is the reverse of the start. May be called twice."""
        await self._stack.aclose()

    async def _run(self, start: Callable[[], Awaitable[None]], stop: Callable[[], Awaitable[None]]) -> None:
        """Start a part, and stop it when the cluster stops (also where it fails half-way through its start)."""
        self._stack.push_async_callback(stop)
        await start()

    async def start_api_server(self) -> None:
        """Start the store and the API server; `stop` stops them, also after a failure half-way."""
        store = await open_store(self.config, self.folder, self.world)
        self._store = store
        self._stack.push_async_callback(store.close)
        if self.config.store == "etcd" and self._service_account_key is not None:
            # Whoever serves the same cluster must honour the same tokens.
            self._service_account_key = await first_value(store, SERVICE_ACCOUNT_KEY, self._service_account_key)
        self._api_server = ApiServer(
            self.world,
            store,
            config=self.config,
            traces=await self._start_traces(),
            service_account_key=self._service_account_key,
        )
        await self._run(self._api_server.start, self._api_server.stop)

    async def _start_traces(self) -> TraceSource:
        if self.folder is None:
            return RecentTraces(self.world.tracer)
        archive = TraceArchive(self.folder.traces, self.world.tracer, self.world.clock)
        await self._run(archive.start, archive.stop)
        return archive

    async def serve(self, context: ssl.SSLContext, *, port: int) -> None:
        """Serve the API over HTTPS on the configured host (port 0 for any). Raises OSError if the port is taken."""
        http = HttpServer(
            self.api_server,
            host=self.config.host,
            port=port,
            ssl_context=context,
            world=self.world,
            apart=self.config.request_headers.names,
        )
        await http.start()
        self._stack.push_async_callback(http.stop)
        self._http = http
        await self.api_server.advertise(self.config.host, http.port)

    async def start_components(self) -> None:
        """Start what the configuration names besides the API server."""
        components = load_components()(
            self.config,
            self.world,
            kubernetes_version=self.kubernetes_version,
            client_for=lambda certificate, user_agent: self.client(certificate, user_agent=user_agent),
            address=self.address,
        )
        await self._run(components.start, components.stop)


def load_components() -> type[Components]:
    """Import the components' half of the engine: half of what a start takes, and not needed to answer a request."""
    from engine.components import Components

    return Components
