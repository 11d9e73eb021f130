"""metrics.k8s.io: what nodes and Pods use, worked out when it is read; nothing is stored.

Stands where metrics-server stands behind the aggregator (metrics-server pkg/api node.go, pod.go), for as long as the
APIService v1beta1.metrics.k8s.io is there (`aggregation`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence

from engine.api.crd.naming import is_true
from engine.api.errors import not_found
from engine.api.quantity import Quantity
from engine.api.resource_metrics import NODE_METRICS, POD_METRICS, is_measured, node_metrics, pod_metrics, running
from engine.api.selectors import LabelSelector
from engine.api.simulated_usage import RESOURCES, load_of, usage
from engine.api.types import GVK, GVR, NODES, PODS, Object
from engine.apiserver.backend import Backend
from engine.apiserver.cacher.watch_cache import WatchCache
from engine.apiserver.call import Call
from engine.apiserver.registry.facets import facet_of
from engine.apiserver.registry.selection import select

AUTOSCALERS = GVR("autoscaling", "v2", "horizontalpodautoscalers")
_AT_ONCE = 50  # Pods, between which others have their turn
_Loads = Mapping[tuple[str, str], Mapping[str, Quantity]]  # of single Pods, by namespace and name


class ResourceMetrics:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def get(self, call: Call) -> Object:
        """Raises ApiError 404: of the node or Pod itself, or of its metrics, which a Pod's name stands for whole."""
        info, request = call.gvr_resource, call.info
        source = PODS if info.gvr == POD_METRICS else NODES
        cache = await self._cache(source)
        obj = cache.get(self._key(source, request.namespace, request.name))
        if obj is None:
            raise not_found(source, request.name)
        async for found in self._measured(info.gvr, [obj], request.namespace):
            return found
        shown = f"{request.namespace}/{request.name}" if source == PODS else request.name
        raise not_found(info.gvr._replace(resource=info.kind.lower()), shown)

    async def list(self, call: Call) -> Object:
        """Raises ApiError 400."""
        info, request = call.gvr_resource, call.info
        selection = select(info, request.namespace, call.request, name=request.name)
        cache = await self._cache(PODS if info.gvr == POD_METRICS else NODES)
        selected = [obj for obj in cache.objects(selection.namespace) if selection.wants(obj)]
        selected.sort(key=lambda obj: (obj["metadata"].get("namespace", ""), obj["metadata"]["name"]))
        items = [_item(each) async for each in self._measured(info.gvr, selected, selection.namespace)]
        return {"kind": info.list_kind, "apiVersion": info.gvr.api_version, "metadata": {}, "items": items}

    async def _measured(self, gvr: GVR, objects: Sequence[Object], namespace: str) -> AsyncIterator[Object]:
        """The metrics of those that have any."""
        now = self._backend.world.clock.now()
        if gvr == NODE_METRICS:
            loads = await self._loads("")
            pods = await self._cache(PODS)
            for node in objects:
                used = [each async for each in self._used_on(pods, node["metadata"]["name"], loads)]
                if (found := node_metrics(node, used, now)) is not None:
                    yield found
            return
        loads = await self._loads(namespace)
        for index, pod in enumerate(objects, 1):
            if index % _AT_ONCE == 0:
                await self._backend.world.clock.sleep(0)
            if (found := pod_metrics(pod, usage(pod, loads.get(_name(pod), {})), now)) is not None:
                yield found

    async def _used_on(self, pods: WatchCache, node: str, loads: _Loads) -> AsyncIterator[Mapping[str, Quantity]]:
        """What each container uses that runs on a node."""
        for index, pod in enumerate(list(pods.objects("", node)), 1):
            if index % _AT_ONCE == 0:
                await self._backend.world.clock.sleep(0)
            if is_measured(pod):
                used = usage(pod, loads.get(_name(pod), {}))
                for container in running(pod):
                    yield used[container]

    # -- loads that autoscalers share out

    async def _loads(self, namespace: str) -> _Loads:
        found: dict[tuple[str, str], dict[str, Quantity]] = {}
        for autoscaler in list((await self._cache(AUTOSCALERS)).objects(namespace)):
            loads = {name: load for name in RESOURCES if (load := load_of(autoscaler, name)) is not None}
            ready = [pod for pod in await self._targets(autoscaler) if is_true(pod, "Ready")] if loads else []
            for pod in ready:
                shares = {name: Quantity(load.nanos // len(ready), load.format) for name, load in loads.items()}
                found.setdefault(_name(pod), {}).update(shares)
        return found

    async def _targets(self, autoscaler: Object) -> Sequence[Object]:
        """The running Pods of what an autoscaler scales."""
        namespace, reference = autoscaler["metadata"]["namespace"], autoscaler["spec"]["scaleTargetRef"]
        group, _, version = reference.get("apiVersion", "").rpartition("/")
        info = self._backend.resources.by_kind(GVK(group, version, reference["kind"]))
        facet = facet_of(info, "scale") if info is not None and "scale" in info.subresources else None
        if info is None or facet is None:
            return []
        stored = await self._backend.storage.get(info, namespace, reference["name"])
        text = (facet.show(stored.object).get("status") or {}).get("selector", "") if stored is not None else ""
        if not text:
            return []
        selector = LabelSelector.parse(text)
        pods = (await self._cache(PODS)).objects(namespace)
        return [pod for pod in pods if is_measured(pod) and selector.matches(pod["metadata"].get("labels"))]

    async def _cache(self, gvr: GVR) -> WatchCache:
        info = self._backend.resources.get(*gvr)
        assert info is not None, f"every version serves {gvr.group_resource}"
        cache = await self._backend.caches.started(info)
        await cache.freshness.reached(self._backend.storage.store.revision)
        return cache

    def _key(self, gvr: GVR, namespace: str, name: str) -> str:
        info = self._backend.resources.get(*gvr)
        assert info is not None, f"every version serves {gvr.group_resource}"
        return info.key(namespace, name)


def _item(metrics: Object) -> Object:
    """As a list holds it, which says the kind of all."""
    return {field: value for field, value in metrics.items() if field not in ("kind", "apiVersion")}


def _name(pod: Object) -> tuple[str, str]:
    return pod["metadata"]["namespace"], pod["metadata"]["name"]
