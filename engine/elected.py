"""A part of the control plane that runs only while this process holds its Lease (--leader-elect of each component).

Each term gets a new part: what a lost one had in its caches and queues is of no use to the next.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any, Protocol

from engine.api.errors import ApiError
from engine.api.types import LEASES
from engine.client import NORMAL, Client, EventRecorder, LeaderElector
from engine.metrics import Counter, Gauge
from engine.rng import Rng
from engine.world import World


class Part(Protocol):
    async def start(self) -> None: ...

    async def stop(self) -> None:
        """Stop it, also where it is only half started."""
        ...


class ElectedPart:
    """Stands for election from `start` to `stop`."""

    def __init__(self, make: Callable[[], Part], client: Client, world: World, *, lease: str) -> None:
        self._make = make
        self._part: Part | None = None
        # As upstream: the host's name and a uid; never of the seed, which another process may share.
        self._identity = f"{socket.gethostname()}_{Rng().uid()}"
        self._client = client
        self._lease = lease
        self._views = world.views
        self._recorder = EventRecorder(client, world, lease)
        self._elector = LeaderElector(
            client, world, name=lease, identity=self._identity, lead=self._lead, yield_=self._yield
        )

    async def start(self) -> None:
        self._views.offer(self._metrics_view, lambda _: self._metrics())
        self._elector.start()

    async def stop(self) -> None:
        self._views.withdraw(self._metrics_view)
        await self._elector.stop()
        await self._recorder.close()

    @property
    def _metrics_view(self) -> str:
        return f"leader-election/{self._lease}/metrics"

    def _metrics(self) -> list[dict[str, Any]]:
        """component-base metrics/prometheus/clientgo/leaderelection."""
        master = Gauge(
            "leader_election_master_status",
            "[ALPHA] Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates "
            "master. 'name' is the string used to identify the lease. Please make sure to group by name.",
            "name",
        )
        master.set(self._lease, to=int(self._elector.is_leader))
        slow = Counter(
            "leader_election_slowpath_total",
            "[ALPHA] Total number of slow path exercised in renewing leader leases. 'name' is the string used to "
            "identify the lease. Please make sure to group by name.",
            "name",
        )
        slow.set(self._lease, to=self._elector.slow_paths)
        return [master.to_json(), slow.to_json()]

    async def _lead(self) -> None:
        self._part = self._make()
        await self._say("became leader")
        await self._part.start()

    async def _yield(self) -> None:
        part, self._part = self._part, None
        if part is not None:
            await part.stop()
            await self._say("stopped leading")

    async def _say(self, what: str) -> None:
        """An event about the Lease (client-go resourcelock RecordEvent)."""
        try:
            lease = await self._client.get(LEASES, self._lease, namespace="kube-system")
        except (ApiError, ConnectionError):
            return  # an event is not worth a term
        self._recorder.event(lease, NORMAL, "LeaderElection", f"{self._identity} {what}")
