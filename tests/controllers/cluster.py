"""A control plane without nodes for end-to-end tests: store, API server and controllers on the virtual clock.

`PodHands` does by the API what scheduler and kubelet would: binds Pods, reports them ready, lets deleted ones go.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from engine.api.errors import ApiError
from engine.api.types import DEPLOYMENTS, EVENTS, GVR, NODES, PODS, REPLICA_SETS, SERVICE_ACCOUNTS, Object
from engine.api.wire import ClientCertificate
from engine.apiserver.server import ApiServer
from engine.client import Client, InProcessTransport, Origin, SharedInformer, WorkQueue, object_key, split_key
from engine.config import ClusterConfig
from engine.controllers.manager import MANAGER, ControllerManager
from engine.store.sqlite import SqliteStore
from engine.tasks import Supervisor
from engine.world import World

PATIENCE = 300.0  # model seconds
ADMIN = ClientCertificate("kubernetes-admin", ("system:masters",))


def controller_identity(name: str) -> ClientCertificate:
    if name == MANAGER:
        return ClientCertificate("system:kube-controller-manager")
    groups = ("system:serviceaccounts", "system:serviceaccounts:kube-system")
    return ClientCertificate(f"system:serviceaccount:kube-system:{name}", groups)


class TestCluster:
    __test__ = False

    def __init__(self, world: World, api: ApiServer, manager: ControllerManager) -> None:
        self.world = world
        self.api = api
        self.manager = manager
        self.admin = client_of(api, ADMIN, "kubectl")

    @property
    def now(self) -> float:
        return self.world.clock.monotonic()

    async def eventually(self, what: str, condition: Callable[[], Awaitable[Any]]) -> Any:
        """What the condition gives once it is true; fails if it never is."""
        end = self.now + PATIENCE
        while self.now < end:
            if found := await condition():
                return found
            await self.world.clock.sleep(0.1)
        raise AssertionError(f"not within {PATIENCE} s of model time: {what}")

    async def objects(self, resource: GVR, **options: Any) -> list[Object]:
        return (await self.admin.list(resource, **options)).items

    async def find(self, resource: GVR, name: str, namespace: str | None = "default") -> Object | None:
        try:
            return await self.admin.get(resource, name, namespace=namespace)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    async def gone(self, resource: GVR, name: str, namespace: str | None = "default") -> None:
        async def absent() -> bool:
            return await self.find(resource, name, namespace) is None

        await self.eventually(f"{resource.resource} {name} is gone", absent)

    async def eventually_service_account(self, namespace: str) -> None:
        """Pods can be created once their namespace has its ServiceAccount."""

        async def there() -> bool:
            return await self.find(SERVICE_ACCOUNTS, "default", namespace) is not None

        await self.eventually("the default ServiceAccount is there", there)

    async def events(self, reason: str) -> list[str]:
        return [event["message"] for event in await self.objects(EVENTS) if event["reason"] == reason]

    async def available(self, name: str, replicas: int) -> Object:
        """The Deployment once its rollout is through."""

        async def through() -> Object | None:
            found = await self.admin.get(DEPLOYMENTS, name, namespace="default")
            status = found.get("status") or {}
            conditions = {each["type"]: each for each in status.get("conditions") or ()}
            done = (
                status.get("observedGeneration") == found["metadata"]["generation"]
                and status.get("availableReplicas", 0) == status.get("replicas", 0) == replicas
                and status.get("updatedReplicas", 0) == replicas
                and conditions.get("Progressing", {}).get("reason") == "NewReplicaSetAvailable"
            )
            return found if done else None

        found: Object = await self.eventually(f"{name} has {replicas} available", through)
        return found

    async def sizes(self) -> dict[str, int]:
        """Desired replicas of each ReplicaSet, by the image of its template."""
        sets = await self.objects(REPLICA_SETS, namespace="default")
        return {rs["spec"]["template"]["spec"]["containers"][0]["image"]: rs["spec"]["replicas"] for rs in sets}


def client_of(api: ApiServer, certificate: ClientCertificate, user_agent: str) -> Client:
    return Client(InProcessTransport(api, certificate), user_agent=user_agent)


@asynccontextmanager
async def running(
    world: World,
    *,
    controllers: tuple[type[Any], ...] | None = None,
    config: ClusterConfig | None = None,
    given: Callable[[Client], Awaitable[None]] | None = None,
) -> AsyncIterator[TestCluster]:
    """`given` makes, as the administrator, what the controllers find when they start."""
    store = await SqliteStore.open(None, clock=world.clock)
    config = config or ClusterConfig()
    api = ApiServer(world, store, config=config)
    await api.start()
    if given is not None:
        await given(client_of(api, ADMIN, "kubectl"))
    options: dict[str, Any] = {} if controllers is None else {"controllers": controllers}
    manager = ControllerManager(
        lambda name: client_of(api, controller_identity(name), f"kube-controller-manager/{name}"),
        world,
        config,
        detect_mutations=True,
        **options,
    )
    await manager.start()
    await manager.informers.wait_for_sync()
    try:
        yield TestCluster(world, api, manager)
    finally:
        await manager.stop()
        await api.stop()
        await store.close()


class PodHands:
    """Runs every Pod on a Node of its own making; `ready` says which become ready."""

    def __init__(self, cluster: TestCluster, *, node: str = "node-1") -> None:
        self.ready: Callable[[Object], bool] = lambda pod: True
        self._client = client_of(cluster.api, ADMIN, "hands")
        self._world = cluster.world
        self._node = node
        self._addresses = 1
        self._queue: WorkQueue[str] = WorkQueue(cluster.world.clock)
        self._pods = SharedInformer(self._client, cluster.world, PODS)
        self._pods.add_handler(self._changed)
        self._tasks = Supervisor("hands")

    def _changed(self, old: Object | None, new: Object | None, origin: Origin) -> None:
        if new is not None:
            self._queue.add(object_key(new))

    def look_again(self) -> None:
        """After `ready` was changed."""
        for pod in self._pods.lister.list():
            self._queue.add(object_key(pod))

    async def __aenter__(self) -> PodHands:
        node = {"metadata": {"name": self._node, "labels": {"topology.kubernetes.io/zone": "zone-a"}}}
        await self._client.create(NODES, {"apiVersion": "v1", "kind": "Node", **node})
        self._pods.start()
        self._tasks.spawn(self._work(), "work")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._tasks.close()
        await self._pods.stop()

    async def _work(self) -> None:
        while True:
            key, _ = await self._queue.get()
            try:
                await self._tend(key)
            except ApiError as error:
                if error.code not in (404, 409):
                    raise
            self._queue.done(key)

    async def _tend(self, key: str) -> None:
        namespace, name = split_key(key)
        pod = await self._client.get(PODS, name, namespace=namespace)
        if pod["metadata"].get("deletionTimestamp"):
            await self._client.delete(PODS, name, namespace=namespace, grace_period_seconds=0)
        elif not pod["spec"].get("nodeName"):
            binding = {
                "apiVersion": "v1",
                "kind": "Binding",
                "metadata": {"name": name, "namespace": namespace},
                "target": {"kind": "Node", "name": self._node},
            }
            await self._client.create(PODS, binding, namespace=namespace, name=name, subresource="binding")
        else:
            await self._report(pod)

    async def _report(self, pod: Object) -> None:
        ready = "True" if self.ready(pod) else "False"
        conditions = pod["status"].get("conditions") or []
        if any(each["type"] == "Ready" and each["status"] == ready for each in conditions):
            return
        ip = pod["status"].get("podIP")
        if not ip:
            self._addresses += 1
            ip = f"10.244.0.{self._addresses}"
        condition = {"type": "Ready", "status": ready, "lastTransitionTime": self._world.clock.timestamp()}
        kept = [each for each in conditions if each["type"] != "Ready"]
        status = {
            **pod["status"],
            "phase": "Running",
            "startTime": pod["status"].get("startTime") or self._world.clock.timestamp(),
            "podIP": ip,
            "podIPs": [{"ip": ip}],
            "conditions": [*kept, condition],
        }
        await self._client.update_status(PODS, {**pod, "status": status})


def web(replicas: int = 3, *, image: str = "nginx:1.27", **spec: Any) -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "containers": [{"name": "web", "image": image, "ports": [{"name": "http", "containerPort": 80}]}]
                },
            },
            **spec,
        },
    }
