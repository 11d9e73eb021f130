"""The expand controller, which here only says who expands a volume: no plugin of a cloud is built in (pkg/controller/
volume/expand expand_controller.go). The simulated provisioner does the rest, as an external-resizer would."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api.persistent_volumes import CLAIMS, VOLUMES, requested
from engine.api.types import Object
from engine.client import NORMAL
from engine.controllers.controller import Controller
from engine.controllers.persistentvolume.objects import claim_key, claim_reference


class ExpandController(Controller):
    name = "expand-controller"
    kind = "persistentvolumeclaim"
    event_source = "volume_expand"
    workers = 1

    def set_up(self) -> None:
        self._claims = self.lister(CLAIMS)
        self._volumes = self.lister(VOLUMES)
        self.watch(CLAIMS, _grown)

    async def reconcile(self, key: str) -> None:
        claim = self._claims.by_key(key)
        if claim is None:
            return
        volume = self._volumes.get(claim["spec"].get("volumeName") or "")
        if volume is not None and claim_reference(volume).get("uid") == claim["metadata"]["uid"]:
            self.recorder.event(
                claim, NORMAL, "ExternalExpanding", "waiting for an external controller to expand this PVC"
            )


def _grown(old: Object | None, new: Object | None) -> Iterable[str]:
    """A bound claim that asks for more than it did."""
    if old is None or new is None or not new["spec"].get("volumeName"):
        return ()
    bound = (new.get("status") or {}).get("phase") == "Bound"
    return [claim_key(new)] if bound and requested(new) > requested(old) else ()
