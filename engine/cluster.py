"""The composition root: reads a ClusterConfig, wires the parts of one cluster, starts and stops them in order.

The only module that knows all components. They meet at the API server alone: each gets a client with an identity of
its own, and none of them another component.
"""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from types import TracebackType

from engine.api.schema import resolve_version
from engine.api.wire import ClientCertificate
from engine.apiserver.http import HttpServer
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.clock import Clock
from engine.config import ClusterConfig, Component, NodeConfig
from engine.controllers.manager import MANAGER, ControllerManager
from engine.folder import ClusterFolder
from engine.kubelet import Kubelet
from engine.network import PodNetwork, ServiceProxy
from engine.pki import ADMIN
from engine.scheduler import Scheduler
from engine.store import Store
from engine.store.sqlite import SqliteStore
from engine.trace.archive import RecentTraces, TraceArchive, TraceSource
from engine.world import World

SCHEDULER = ClientCertificate("system:kube-scheduler")
PROXY = ClientCertificate("system:kube-proxy")
OWN_PROXIES = 10  # up to so many nodes have a service proxy of their own
SERVICE_ACCOUNT_GROUPS = ("system:serviceaccounts", "system:serviceaccounts:kube-system")


def controller_identity(name: str) -> ClientCertificate:
    """A controller acts as its service account in kube-system, as with --use-service-account-credentials; the manager,
    whose informers they share, as itself."""
    if name == MANAGER:
        return ClientCertificate("system:kube-controller-manager")
    return ClientCertificate(f"system:serviceaccount:kube-system:{name}", SERVICE_ACCOUNT_GROUPS)


def node_identity(name: str) -> ClientCertificate:
    return ClientCertificate(f"system:node:{name}", ("system:nodes",))


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
        self.world = World.create(clock=clock, seed=config.seed, profile=config.profile, latencies=config.latencies)
        self.folder = ClusterFolder(config.data_folder) if config.data_folder else None
        self._stack = AsyncExitStack()
        self._store: Store | None = None
        self._api_server: ApiServer | None = None
        self._http: HttpServer | None = None

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
        return Client(InProcessTransport(self.api_server, certificate), user_agent=user_agent)

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
            await self._start_api_server()
            await self._start_components()
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

    async def _start_api_server(self) -> None:
        store = await SqliteStore.open(
            self.folder.store if self.folder else None, clock=self.world.clock, rng=self.world.rng.stream("store")
        )
        self._store = store
        self._stack.push_async_callback(store.close)
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
        http = HttpServer(self.api_server, host=self.config.host, port=port, ssl_context=context, world=self.world)
        await http.start()
        self._stack.push_async_callback(http.stop)
        self._http = http
        await self.api_server.advertise(self.config.host, http.port)

    async def _start_components(self) -> None:
        wanted = self.config.components
        if Component.CONTROLLERS in wanted:
            manager = ControllerManager(self._controller_client, self.world, self.config)
            await self._run(manager.start, manager.stop)
        if Component.SCHEDULER in wanted:
            scheduler = Scheduler(self.client(SCHEDULER, user_agent="kube-scheduler"), self.world)
            await self._run(scheduler.start, scheduler.stop)
        proxies = await self._start_proxies() if Component.NETWORK in wanted else {}
        if Component.KUBELETS in wanted:
            for number, node in enumerate(self.config.nodes):
                await self._start_kubelet(node, node_ip(number), proxies.get(node.name))

    async def _start_proxies(self) -> dict[str, ServiceProxy]:
        """The proxy of every node by the node's name: one each, or one for all where there are many nodes.

        Rules are the same on all nodes but for what is local to one, which a shared proxy works out when it is asked.
        """
        names = [node.name for node in self.config.nodes]
        groups = [names] if len(names) > OWN_PROXIES else [[name] for name in names]
        proxies: dict[str, ServiceProxy] = {}
        for first, *others in filter(None, groups):
            client = self.client(PROXY, user_agent="kube-proxy")
            proxy = ServiceProxy(client, self.world, first, other_nodes=others)
            await self._run(proxy.start, proxy.stop)
            proxies |= dict.fromkeys([first, *others], proxy)
        return proxies

    async def _start_kubelet(self, node: NodeConfig, address: str, proxy: ServiceProxy | None) -> None:
        kubelet = Kubelet(
            self._node_client(node.name),
            self.world,
            node,
            node_ip=address,
            kubernetes_version=self.kubernetes_version,
            network=partial(PodNetwork, proxy) if proxy is not None else None,
        )
        await self._run(kubelet.start, kubelet.stop)

    def _controller_client(self, name: str) -> Client:
        return self.client(controller_identity(name), user_agent=f"kube-controller-manager/{name}")

    def _node_client(self, name: str) -> Client:
        return self.client(node_identity(name), user_agent="kubelet")


def node_ip(number: int) -> str:
    """The address of the n-th node, from 0, in the simulated machine network 172.18.0.0/16."""
    host = number + 2  # .1 is the gateway
    return f"172.18.{host // 256}.{host % 256}"
