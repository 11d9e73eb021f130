"""The components of one cluster: controllers, scheduler, service proxies and kubelets, wired to nothing but clients.

Apart from `engine.cluster`, which starts the API server and then these, so that a process can answer requests while
this half of the code is still being loaded.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from engine.api.wire import ClientCertificate
from engine.client import Client
from engine.config import ClusterConfig, Component, NodeConfig
from engine.controllers.manager import MANAGER, ControllerManager
from engine.kubelet import Kubelet
from engine.network import PodNetwork, ServiceProxy
from engine.scheduler import Scheduler, SchedulerConfiguration
from engine.scheduler.configuration.loading import load_file
from engine.world import World

SCHEDULER = ClientCertificate("system:kube-scheduler")
PROXY = ClientCertificate("system:kube-proxy")
OWN_PROXIES = 10  # up to so many nodes have a service proxy of their own
SERVICE_ACCOUNT_GROUPS = ("system:serviceaccounts", "system:serviceaccounts:kube-system")

ClientFor = Callable[[ClientCertificate, str], Client]  # identity and user agent
Step = Callable[[], Awaitable[None]]
Run = Callable[[Step, Step], Awaitable[None]]  # how to start a part, and to stop it when all stops


def controller_identity(name: str) -> ClientCertificate:
    """A controller acts as its service account in kube-system, as with --use-service-account-credentials; the manager,
    whose informers they share, as itself."""
    if name == MANAGER:
        return ClientCertificate("system:kube-controller-manager")
    return ClientCertificate(f"system:serviceaccount:kube-system:{name}", SERVICE_ACCOUNT_GROUPS)


def node_identity(name: str) -> ClientCertificate:
    return ClientCertificate(f"system:node:{name}", ("system:nodes",))


def node_ip(number: int) -> str:
    """The address of the n-th node, from 0, in the simulated machine network 172.18.0.0/16."""
    host = number + 2  # .1 is the gateway
    return f"172.18.{host // 256}.{host % 256}"


class Components:
    """Starts the parts that the configuration names, each with an identity of its own."""

    def __init__(
        self, config: ClusterConfig, world: World, *, kubernetes_version: str, client_for: ClientFor, run: Run
    ) -> None:
        self._config = config
        self._world = world
        self._kubernetes_version = kubernetes_version
        self._client_for = client_for
        self._run = run

    async def start(self) -> None:
        """Raises ConfigurationError for a scheduler configuration that cannot be."""
        wanted = self._config.components
        if Component.CONTROLLERS in wanted:
            manager = ControllerManager(self._controller_client, self._world, self._config)
            await self._run(manager.start, manager.stop)
        if Component.SCHEDULER in wanted:
            file = self._config.scheduler_config
            configuration = load_file(file) if file is not None else SchedulerConfiguration()
            client = self._client_for(SCHEDULER, "kube-scheduler")
            scheduler = Scheduler(client, self._world, configuration=configuration)
            await self._run(scheduler.start, scheduler.stop)
        proxies = await self._start_proxies() if Component.NETWORK in wanted else {}
        if Component.KUBELETS in wanted:
            for number, node in enumerate(self._config.nodes):
                await self._start_kubelet(node, node_ip(number), proxies.get(node.name))

    def _controller_client(self, name: str) -> Client:
        return self._client_for(controller_identity(name), f"kube-controller-manager/{name}")

    async def _start_proxies(self) -> dict[str, ServiceProxy]:
        """The proxy of every node by the node's name: one each, or one for all where there are many nodes.

        Rules are the same on all nodes but for what is local to one, which a shared proxy works out when it is asked.
        """
        names = [node.name for node in self._config.nodes]
        groups = [names] if len(names) > OWN_PROXIES else [[name] for name in names]
        proxies: dict[str, ServiceProxy] = {}
        for first, *others in filter(None, groups):
            proxy = ServiceProxy(self._client_for(PROXY, "kube-proxy"), self._world, first, other_nodes=others)
            await self._run(proxy.start, proxy.stop)
            proxies |= dict.fromkeys([first, *others], proxy)
        return proxies

    async def _start_kubelet(self, node: NodeConfig, address: str, proxy: ServiceProxy | None) -> None:
        kubelet = Kubelet(
            self._client_for(node_identity(node.name), "kubelet"),
            self._world,
            node,
            node_ip=address,
            kubernetes_version=self._kubernetes_version,
            network=partial(PodNetwork, proxy) if proxy is not None else None,
        )
        await self._run(kubelet.start, kubelet.stop)
