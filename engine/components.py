"""The components of one cluster: controllers, scheduler, service proxies and kubelets, wired to nothing but clients.

Apart from `engine.cluster`, which starts the API server and then these, so that a process can answer requests while
this half of the code is still being loaded.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.api.wire import ClientCertificate
from engine.client import Client
from engine.cluster_info_addon import ClusterInfoAddon
from engine.config import ClusterConfig, Component
from engine.controllers.manager import MANAGER, ControllerManager
from engine.dns_addon import DnsAddon
from engine.elected import ElectedPart, Part
from engine.machines import ClientFor, Machines
from engine.pki import ADMIN
from engine.scheduler import Scheduler, SchedulerConfiguration
from engine.scheduler.configuration.loading import load_file
from engine.tasks import together
from engine.world import World

SCHEDULER = ClientCertificate("system:kube-scheduler")
SERVICE_ACCOUNT_GROUPS = ("system:serviceaccounts", "system:serviceaccounts:kube-system")


def controller_identity(name: str) -> ClientCertificate:
    """A controller acts as its service account in kube-system, as with --use-service-account-credentials; the manager,
    whose informers they share, as itself."""
    if name == MANAGER:
        return ClientCertificate("system:kube-controller-manager")
    return ClientCertificate(f"system:serviceaccount:kube-system:{name}", SERVICE_ACCOUNT_GROUPS)


class Components:
    """Starts the parts that the configuration names, each with an identity of its own, and stops them."""

    def __init__(
        self,
        config: ClusterConfig,
        world: World,
        *,
        kubernetes_version: str,
        client_for: ClientFor,
        address: str = "",
    ) -> None:
        """`address` is where the API is served, "" for nowhere."""
        self._address = address
        self._config = config
        self._world = world
        self._kubernetes_version = kubernetes_version
        self._client_for = client_for
        self._parts: list[Part] = []

    async def start(self) -> None:
        """Raises ConfigurationError for a scheduler configuration that cannot be."""
        wanted = self._config.components
        if Component.CONTROLLERS in wanted:
            await self._run_part(self._controllers, self._controller_client(MANAGER), lease=MANAGER)
        if Component.SCHEDULER in wanted:
            client = self._client_for(SCHEDULER, "kube-scheduler")
            await self._run_part(self._scheduler, client, lease="kube-scheduler")
        if {Component.KUBELETS, Component.NETWORK} & wanted:
            await self._run_part(self._machines, self._client_for(ADMIN, "ktui-machines"), lease="ktui-machines")
        if Component.NETWORK in wanted:
            addon = DnsAddon(self._client_for(ADMIN, "kubeadm"), self._config.service_cidrs[0])
            await self._run(addon)
        if Component.CONTROLLERS in wanted and self._address and self._config.root_ca:
            client, is_alone = self._client_for(ADMIN, "kubeadm"), self._config.store != "etcd"
            await self._run(ClusterInfoAddon(client, self._address, self._config.root_ca, keeps=is_alone))

    async def stop(self) -> None:
        """Stop all, also after a start that failed half-way. At once: a scheduler that is still there would hand Pods
        to kubelets that are about to end, and each end waits until the loop has had its turn of such work."""
        await together(part.stop() for part in reversed(self._parts))

    async def _run(self, part: Part) -> None:
        self._parts.append(part)
        await part.start()

    async def _run_part(self, make: Callable[[], Part], client: Client, *, lease: str) -> None:
        """Where several processes may share one store, only the one that holds the Lease runs the part."""
        shared = self._config.store == "etcd"
        part: Part = ElectedPart(make, client, self._world, lease=lease) if shared else make()
        await self._run(part)

    def _controllers(self) -> Part:
        return ControllerManager(self._controller_client, self._world, self._config)

    def _scheduler(self) -> Part:
        file = self._config.scheduler_config
        configuration = load_file(file) if file is not None else SchedulerConfiguration()
        return Scheduler(
            self._client_for(SCHEDULER, "kube-scheduler"),
            self._world,
            configuration=configuration,
            kubernetes_version=self._kubernetes_version,
        )

    def _machines(self) -> Part:
        return Machines(
            self._config, self._world, kubernetes_version=self._kubernetes_version, client_for=self._client_for
        )

    def _controller_client(self, name: str) -> Client:
        return self._client_for(controller_identity(name), f"kube-controller-manager/{name}")
