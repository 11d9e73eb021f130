"""A node on a real API server in this process, on the virtual clock: store, API server and one kubelet.

Pods are created bound to the node, as the scheduler would have left them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from engine.api.errors import ApiError
from engine.api.types import EVENTS, GVR, PODS, SERVICE_ACCOUNTS, Object
from engine.api.wire import ClientCertificate
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport
from engine.config import ClusterConfig, NodeConfig
from engine.kubelet import Kubelet
from engine.store.sqlite import SqliteStore
from engine.world import World

PATIENCE = 1000.0  # model seconds
NODE = "node-1"
NODE_IP = "172.18.0.2"
ADMIN = ClientCertificate("kubernetes-admin", ("system:masters",))
KUBELET = ClientCertificate(f"system:node:{NODE}", ("system:nodes",))


class Node:
    def __init__(self, world: World, api: ApiServer, kubelet: Kubelet) -> None:
        self.world = world
        self.api = api
        self.kubelet = kubelet
        self.admin = client_of(api, ADMIN, "kubectl")

    @property
    def now(self) -> float:
        return self.world.clock.monotonic()

    async def sleep(self, seconds: float) -> None:
        await self.world.clock.sleep(seconds)

    # -- Pods

    async def run(self, name: str = "web", *, annotations: dict[str, str] | None = None, **spec: Any) -> Object:
        """Create a Pod on the node: one nginx unless `containers` says otherwise."""
        spec.setdefault("containers", [{"name": "web", "image": "nginx:1.27"}])
        made: Object = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "annotations": annotations or {}},
            "spec": {"nodeName": NODE, **spec},
        }
        return await self.admin.create(PODS, made, namespace="default")

    async def pod(self, name: str = "web") -> Object:
        return await self.admin.get(PODS, name, namespace="default")

    async def status(self, name: str = "web") -> Object:
        status: Object = (await self.pod(name))["status"]
        return status

    async def container(self, name: str = "web", *, number: int = 0, field: str = "containerStatuses") -> Object:
        found: Object = (await self.status(name))[field][number]
        return found

    async def eventually(self, what: str, condition: Callable[[], Awaitable[Any]], *, every: float = 0.1) -> Any:
        """What the condition gives once it is true; fails if it never is."""
        end = self.now + PATIENCE
        while self.now < end:
            if found := await condition():
                return found
            await self.sleep(every)
        raise AssertionError(f"not within {PATIENCE} s of model time: {what}")

    async def in_phase(self, phase: str, name: str = "web") -> Object:
        async def reached() -> Object | None:
            found = await self.status(name)
            return found if found.get("phase") == phase else None

        status: Object = await self.eventually(f"{name} is {phase}", reached)
        return status

    async def ready(self, name: str = "web", *, ready: bool = True) -> Object:
        async def reached() -> Object | None:
            found = await self.status(name)
            return found if condition(found, "Ready") == ("True" if ready else "False") else None

        status: Object = await self.eventually(f"{name} is {'' if ready else 'not '}ready", reached)
        return status

    async def waiting(self, reason: str, name: str = "web", *, field: str = "containerStatuses") -> Object:
        """The container's waiting state once it has this reason."""

        async def reached() -> Object | None:
            state: Object = (await self.status(name)).get(field, [{}])[0].get("state", {}).get("waiting") or {}
            return state if state.get("reason") == reason else None

        state: Object = await self.eventually(f"{name} waits with {reason}", reached)
        return state

    async def restarted(self, times: int, name: str = "web") -> Object:
        async def reached() -> Object | None:
            found = (await self.status(name)).get("containerStatuses") or [{}]
            return found[0] if found[0].get("restartCount", 0) >= times else None

        found: Object = await self.eventually(f"{name} has restarted {times} times", reached)
        return found

    async def delete(self, name: str = "web", **options: Any) -> None:
        await self.admin.delete(PODS, name, namespace="default", **options)

    async def gone(self, name: str = "web") -> None:
        async def absent() -> bool:
            return await self.find(PODS, name) is None

        await self.eventually(f"{name} is gone", absent)

    async def find(self, resource: GVR, name: str) -> Object | None:
        try:
            return await self.admin.get(resource, name, namespace="default")
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    # -- what was said

    async def events(self, name: str = "web") -> list[str]:
        """Reason and message of each event about an object, in the order of their first time."""
        listed = (await self.admin.list(EVENTS, namespace="default")).items
        mine = [event for event in listed if event["involvedObject"]["name"] == name]
        mine.sort(key=lambda event: (event["firstTimestamp"], int(event["metadata"]["resourceVersion"])))
        return [f"{event['reason']}: {event['message']}" for event in mine]

    async def said(self, text: str, name: str = "web") -> str:
        """The event that has this text in it, once there is one."""

        async def reached() -> str | None:
            return next((event for event in await self.events(name) if text in event), None)

        event: str = await self.eventually(f"{name} has an event with {text!r}", reached)
        return event

    def view(self, name: str, **parameters: str) -> Any:
        return self.world.views.look(f"kubelet/{NODE}/{name}", parameters)

    def logs(self, name: str, **parameters: str) -> list[str]:
        answer = self.view("logs", namespace="default", pod=name, **parameters)
        return [line["text"] for line in answer["lines"]]


def condition(status: Object, type: str) -> str:
    return next((str(item["status"]) for item in status.get("conditions") or () if item["type"] == type), "")


def client_of(api: ApiServer, certificate: ClientCertificate, user_agent: str) -> Client:
    return Client(InProcessTransport(api, certificate), user_agent=user_agent)


@asynccontextmanager
async def api_server(world: World) -> AsyncIterator[ApiServer]:
    """With a default ServiceAccount, without which no Pod is admitted."""
    store = await SqliteStore.open(None, clock=world.clock)
    api = ApiServer(world, store, config=ClusterConfig())
    await api.start()
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    await client_of(api, ADMIN, "kubectl").create(SERVICE_ACCOUNTS, account, namespace="default")
    try:
        yield api
    finally:
        await api.stop()
        await store.close()


def kubelet_on(api: ApiServer, world: World, *, config: NodeConfig | None = None, **options: Any) -> Kubelet:
    options.setdefault("pod_cidr", "10.244.0.0/24")
    options.setdefault("detect_mutations", True)
    return Kubelet(
        client_of(api, KUBELET, "kubelet"), world, config or NodeConfig(name=NODE), node_ip=NODE_IP, **options
    )


@asynccontextmanager
async def running(world: World, **options: Any) -> AsyncIterator[Node]:
    async with api_server(world) as api:
        kubelet = kubelet_on(api, world, **options)
        await kubelet.start()
        await world.clock.sleep(1)
        try:
            yield Node(world, api, kubelet)
        finally:
            await kubelet.stop()
