"""What can be seen of a kubelet: `kubelet/NODE/...` (design, section 4, debug endpoints)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.api.types import Object
from engine.kubelet.logs import LogError, find_log
from engine.kubelet.runtime.images import MIB
from engine.views import Views

if TYPE_CHECKING:
    from engine.kubelet.kubelet import Kubelet

SHOWN_CALLS = 30


class KubeletViews:
    def __init__(self, kubelet: Kubelet, views: Views) -> None:
        self._kubelet = kubelet
        self._views = views
        self._offered = {
            "syncloop": self._sync_loop,
            "workers": self._workers,
            "images": self._images,
            "cri": self._cri,
            "probes": self._probes,
            "logs": self._logs,
            "overview": self._overview,
        }

    def offer(self) -> None:
        for name, view in self._offered.items():
            self._views.offer(f"kubelet/{self._kubelet.name}/{name}", view)

    def withdraw(self) -> None:
        for name in self._offered:
            self._views.withdraw(f"kubelet/{self._kubelet.name}/{name}")

    def look(self, name: str, parameters: Mapping[str, str]) -> Any:
        return self._offered[name](parameters)

    def _overview(self, parameters: Mapping[str, str]) -> Object:
        """All but the logs, as of one moment; of the last CRI calls the newest `recent`."""
        cri = self._cri(parameters)
        recent = parameters.get("recent", "")
        newest = int(recent) if recent.isascii() and recent.isdigit() else SHOWN_CALLS
        return {
            "syncLoop": self._sync_loop(parameters),
            "workers": self._workers(parameters),
            "images": self._images(parameters),
            "probes": self._probes(parameters),
            "cri": {**cri, "recent": cri["recent"][-newest:] if newest else []},
        }

    def _sync_loop(self, parameters: Mapping[str, str]) -> Object:
        kubelet = self._kubelet
        pleg = {"events": kubelet.pleg.events, "relists": kubelet.pleg.relists}
        return {**kubelet.loop.view(), "pleg": pleg, "statusPatches": kubelet.statuses.patches}

    def _workers(self, parameters: Mapping[str, str]) -> list[Object]:
        versions = self._kubelet.statuses.versions()
        workers = self._kubelet.workers.view()
        for worker in workers:
            version, written = versions.get(worker["uid"], (0, 0))
            worker["statusVersion"], worker["statusWritten"] = version, written
        return workers

    def _images(self, parameters: Mapping[str, str]) -> Object:
        store = self._kubelet.simulated.images
        now = store.now()
        return {
            "images": [
                {
                    "names": [*image.repo_tags, *image.repo_digests],
                    "id": image.id,
                    "sizeBytes": image.size,
                    "sizeIsSimulated": image.simulated_size,
                }
                for image in store.list_images()
            ],
            "pulling": [
                {
                    "image": pull.image,
                    "sizeBytes": pull.size,
                    "mebibytes": round(pull.size / MIB, 1),
                    "progress": _progress(now, pull.started_at, pull.expected_seconds),
                    "secondsLeft": round(max(0.0, (pull.started_at or now) + pull.expected_seconds - now), 3),
                }
                for pull in store.pulls()
            ],
            "waiting": [
                {"image": pull.image, "waitedSeconds": round(now - pull.queued_at, 3)}
                for pull in self._kubelet.manager.images.waiting
            ],
        }

    def _cri(self, parameters: Mapping[str, str]) -> Object:
        return self._kubelet.runtime.view()

    def _probes(self, parameters: Mapping[str, str]) -> list[Object]:
        return self._kubelet.probes.view()

    def _logs(self, parameters: Mapping[str, str]) -> Object:
        """`namespace`, `pod`, `container` and `previous`: the lines, or the kubelet's error. With `after`, a number of
        lines that were read before (`written` of the last answer), only what has come since."""
        namespace, pod, container = (parameters.get(name, "") for name in ("namespace", "pod", "container"))
        try:
            log = find_log(self._kubelet, namespace, pod, container, previous=parameters.get("previous") == "true")
        except LogError as error:
            return {"error": str(error)}
        return {
            "lines": [
                {"timestamp": line.timestamp, "stream": line.stream, "text": line.text}
                | ({"partial": True} if line.partial else {})
                for line in log.read(int(parameters.get("after") or 0))
            ],
            "written": log.written,
            "closed": log.closed,
        }


def _progress(now: float, started: float | None, expected: float) -> float:
    """From 0 to 1."""
    if started is None:
        return 0.0
    return round(min(1.0, (now - started) / expected), 3) if expected else 1.0
