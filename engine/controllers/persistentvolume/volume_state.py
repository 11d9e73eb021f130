"""Writes of a volume's phase and of its bond (pv_controller.go: updateVolumePhase, unbindVolume)."""

from __future__ import annotations

from engine.api.persistent_volumes import BOUND_BY_CONTROLLER, VOLUMES
from engine.api.types import Object, copy_object
from engine.client import WARNING, Client, EventRecorder
from engine.clock import Clock
from engine.controllers.persistentvolume.objects import annotations_of


class VolumeState:
    def __init__(self, client: Client, recorder: EventRecorder, clock: Clock) -> None:
        self._client, self._recorder, self._clock = client, recorder, clock

    async def set_phase(self, volume: Object, phase: str, message: str = "") -> Object:
        before = volume.get("status") or {}
        if before.get("phase") == phase:
            return volume
        status = {**before, "phase": phase, "lastPhaseTransitionTime": self._clock.timestamp()}
        status.pop("message", None)
        if message:
            status["message"] = message
        return await self._client.update_status(VOLUMES, {**volume, "status": status})

    async def fail(self, volume: Object, reason: str, message: str) -> None:
        """Told once: who looks at a volume that has failed sees why, while it is tried again."""
        if (volume.get("status") or {}).get("phase") == "Failed":
            return
        volume = await self.set_phase(volume, "Failed", message)
        self._recorder.event(volume, WARNING, reason, message)

    async def unbind(self, volume: Object) -> None:
        changed = copy_object(volume)
        if BOUND_BY_CONTROLLER in annotations_of(volume):
            del changed["spec"]["claimRef"]
            del changed["metadata"]["annotations"][BOUND_BY_CONTROLLER]
        else:
            changed["spec"]["claimRef"].pop("uid", None)  # whoever made it meant it for the claim: it stays so
        await self.set_phase(await self._client.update(VOLUMES, changed), "Available")
