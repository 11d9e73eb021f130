"""Does with a released volume what its reclaim policy says (pv_controller.go: reclaimVolume, recycleVolumeOperation,
deleteVolumeOperation; recycler_client.go).

Upstream waits for a recycler in a goroutine; here the Pod is all that is known of it, and is looked at while it runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from engine.api.errors import ApiError
from engine.api.persistent_volumes import VOLUMES
from engine.api.types import EVENTS, GVR, PODS, Object
from engine.client import NORMAL, Client, EventRecorder, Lister
from engine.controllers.persistentvolume.objects import annotations_of
from engine.controllers.persistentvolume.reclaiming import (
    MIGRATED_TO,
    RECYCLERS_NAMESPACE,
    CannotDeleteError,
    failure_of,
    is_deleted,
    recycler,
    recycler_name,
)
from engine.controllers.persistentvolume.volume_state import VolumeState
from engine.tasks import Supervisor


class Reclaimer:
    def __init__(
        self, client: Client, recorder: EventRecorder, pods: Lister, state: VolumeState, tasks: Supervisor
    ) -> None:
        self._client, self._recorder, self._pods, self._state, self._tasks = client, recorder, pods, state, tasks
        self._telling: dict[str, asyncio.Task[None]] = {}

    async def reclaim(self, volume: Object, used_by: Sequence[str]) -> bool:
        """`used_by` names the Pods that still run with its claim. True where a recycler is at work."""
        if MIGRATED_TO in annotations_of(volume) or volume["metadata"].get("deletionTimestamp"):
            return False
        policy = volume["spec"].get("persistentVolumeReclaimPolicy")
        if policy == "Delete":
            await self._delete(volume)
        elif policy == "Recycle" and used_by:
            message = f"Volume is used by pods: {','.join(used_by)}"
            self._recorder.event(volume, NORMAL, "VolumeFailedRecycle", message)
        elif policy == "Recycle":
            return await self._recycle(volume)
        return False

    async def _delete(self, volume: Object) -> None:
        try:
            deleted = is_deleted(volume)
        except CannotDeleteError as error:
            await self._state.fail(volume, "VolumeFailedDelete", str(error))
            return
        if deleted:
            await self._gone(VOLUMES, volume["metadata"]["name"], None)

    async def _recycle(self, volume: Object) -> bool:
        wanted = recycler(volume)
        if wanted is None:
            await self._state.fail(volume, "VolumeFailedRecycle", "No recycler plugin found for the volume!")
            return False
        name = recycler_name(volume)
        pod = self._pods.get(name, RECYCLERS_NAMESPACE)
        if pod is None:
            return await self._start(volume, wanted)
        phase = (pod.get("status") or {}).get("phase")
        if phase not in ("Succeeded", "Failed") or pod["metadata"].get("deletionTimestamp"):
            return True
        await self._gone(PODS, name, RECYCLERS_NAMESPACE)
        if (telling := self._telling.pop(name, None)) is not None:
            telling.cancel()
        if phase == "Failed":
            await self._state.fail(volume, "VolumeFailedRecycle", failure_of(pod))
            return False
        self._recorder.event(volume, NORMAL, "VolumeRecycled", "Volume recycled")
        await self._state.unbind(volume)
        return False

    async def _start(self, volume: Object, pod: Object) -> bool:
        """Not for a volume that was freed while the cache still says otherwise."""
        newest = await self._client.get(VOLUMES, volume["metadata"]["name"])
        if newest["metadata"]["resourceVersion"] != volume["metadata"]["resourceVersion"]:
            return False
        try:
            await self._client.create(PODS, pod, namespace=RECYCLERS_NAMESPACE)
        except ApiError as error:
            if error.code != 409:
                raise
        else:
            name = pod["metadata"]["name"]
            self._telling[name] = self._tasks.spawn(self._tell(volume, name), f"events of {name}")
        return True

    async def _tell(self, volume: Object, pod: str) -> None:
        """What is told of the recycler is told of the volume."""
        selector = f"involvedObject.kind=Pod,involvedObject.name={pod}"
        try:
            async with await self._client.watch(
                EVENTS, namespace=RECYCLERS_NAMESPACE, field_selector=selector
            ) as events:
                async for event in events:
                    if event.type == "ADDED":
                        told = event.object
                        message = f"Recycler pod: {told.get('message', '')}"
                        self._recorder.event(volume, told.get("type", NORMAL), "RecyclerPod", message)
        except (ApiError, ConnectionError):
            return  # it ends, or fails, untold

    async def _gone(self, resource: GVR, name: str, namespace: str | None) -> None:
        try:
            await self._client.delete(resource, name, namespace=namespace)
        except ApiError as error:
            if error.code != 404:
                raise
