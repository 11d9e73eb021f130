"""The simulated external-attacher: what is to be attached is attached at once, whichever driver's volume it is, as
external-attacher does for a driver that has nothing to do (kubernetes-csi/external-attacher pkg/controller
trivial_handler.go). All disks here are simulated, and every Node reaches them. An attachment that somebody makes of a
volume that there is not waits for its driver, as in a cluster that has none."""

from __future__ import annotations

from engine.api.persistent_volumes import VOLUMES
from engine.api.types import GVR, Object
from engine.controllers.controller import Controller

ATTACHMENTS = GVR("storage.k8s.io", "v1", "volumeattachments")


class SimulatedAttacher(Controller):
    name = "simulated-provisioner"
    view = "simulated-attacher"
    kind = "volumeattachment"
    workers = 1

    def set_up(self) -> None:
        self._attachments = self.lister(ATTACHMENTS)
        self._volumes = self.lister(VOLUMES)
        self.watch(ATTACHMENTS, lambda old, new: [new["metadata"]["name"]] if new is not None else [])

    async def reconcile(self, key: str) -> None:
        attachment = self._attachments.get(key)
        if attachment is not None and _is_open(attachment) and self._is_simulated(attachment):
            await self.client.update_status(ATTACHMENTS, {**attachment, "status": {"attached": True}})

    def _is_simulated(self, attachment: Object) -> bool:
        volume = self._volumes.get((attachment["spec"].get("source") or {}).get("persistentVolumeName") or "")
        csi = volume["spec"].get("csi") if volume is not None else None
        return bool(csi and csi["driver"] == attachment["spec"]["attacher"])


def _is_open(attachment: Object) -> bool:
    """Nobody has said yet what became of it."""
    status = attachment.get("status") or {}
    leaves = attachment["metadata"].get("deletionTimestamp")
    return not leaves and not status.get("attached") and not status.get("attachError")
