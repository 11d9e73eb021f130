"""The simulated machines of a cluster: the kubelet and the service proxy of each node, as one part."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from engine.api.wire import ClientCertificate
from engine.client import Client
from engine.config import ClusterConfig, Component, NodeConfig
from engine.kubelet import Kubelet, Wire
from engine.network import PodNetwork, ServiceProxy
from engine.tasks import together
from engine.world import World

PROXY = ClientCertificate("system:kube-proxy")
OWN_PROXIES = 10  # up to so many nodes have a service proxy of their own

ClientFor = Callable[[ClientCertificate, str], Client]  # identity and user agent


def node_identity(name: str) -> ClientCertificate:
    return ClientCertificate(f"system:node:{name}", ("system:nodes",))


def node_ip(number: int) -> str:
    """The address of the n-th node, from 0, in the simulated machine network 172.18.0.0/16."""
    host = number + 2  # .1 is the gateway
    return f"172.18.{host // 256}.{host % 256}"


class Machines:
    def __init__(self, config: ClusterConfig, world: World, *, kubernetes_version: str, client_for: ClientFor) -> None:
        self._config = config
        self._world = world
        self._kubernetes_version = kubernetes_version
        self._client_for = client_for
        self._proxies: list[ServiceProxy] = []
        self._kubelets: list[Kubelet] = []
        self._wire = Wire()
        self._addresses = {node_ip(number): node.name for number, node in enumerate(config.nodes)}

    async def start(self) -> None:
        wanted = self._config.components
        proxies = await self._start_proxies() if Component.NETWORK in wanted else {}
        if Component.KUBELETS in wanted:
            for number, node in enumerate(self._config.nodes):
                await self._start_kubelet(node, node_ip(number), proxies.get(node.name))

    async def stop(self) -> None:
        """Stop in the order that is the reverse of the start."""
        await together(kubelet.stop() for kubelet in reversed(self._kubelets))
        await together(proxy.stop() for proxy in reversed(self._proxies))

    async def _start_proxies(self) -> dict[str, ServiceProxy]:
        """The proxy of every node by the node's name: one each, or one for all where there are many nodes.

        Rules are the same on all nodes but for what is local to one, which a shared proxy works out when it is asked.
        """
        names = [node.name for node in self._config.nodes]
        groups = [names] if len(names) > OWN_PROXIES else [[name] for name in names]
        proxies: dict[str, ServiceProxy] = {}
        for first, *others in filter(None, groups):
            proxy = ServiceProxy(self._client_for(PROXY, "kube-proxy"), self._world, first, other_nodes=others)
            self._proxies.append(proxy)
            await proxy.start()
            proxies |= dict.fromkeys([first, *others], proxy)
        return proxies

    async def _start_kubelet(self, node: NodeConfig, address: str, proxy: ServiceProxy | None) -> None:
        kubelet = Kubelet(
            self._client_for(node_identity(node.name), "kubelet"),
            self._world,
            node,
            node_ip=address,
            kubernetes_version=self._kubernetes_version,
            network=partial(PodNetwork, proxy, self._wire, self._addresses, node.name) if proxy is not None else None,
            wire=self._wire,
        )
        self._kubelets.append(kubelet)
        await kubelet.start()
