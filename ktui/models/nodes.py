"""The Nodes screen's rows: nodes with their Pods as tiles, and the Pod workers of one node's kubelet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from engine.api.duration import human_duration
from engine.api.quantity import Quantity
from ktui.models.grid_row import GridRow
from ktui.models.prose import Prose
from ktui.models.signs import CLOCK, DONE, PAST, WAITING, WRONG, bar, is_failing, short_pod
from ktui.models.tiles import Tiles

Json = Mapping[str, Any]

TITLES = ("NODE", "STATUS", "PODS", "EACH POD A TILE")
WIDE_TITLES = ("NODE", "STATUS", "PODS", "CPU", "MEMORY", "ADDRESS", "EACH POD A TILE")
WORKER_TITLES = ("POD", "WORKER", "DOING")
TILES = {
    "ready": ("■", "success"),
    "waiting": ("◐", "warning"),
    "ending": ("◌", "warning"),
    "failed": ("✖", "error"),
    "done": ("□", "foreground"),
}
LEGEND = "■ ready  ◐ starting  ◌ ending  ✖ failing  □ done"


@dataclass(slots=True)
class NodesModel:
    nodes: Sequence[Json] = ()
    name: str = ""  # the node that is looked into
    inside: Json = field(default_factory=dict)
    _rows: list[GridRow] = field(default_factory=list)
    _rows_of: tuple[Sequence[Json], bool] = ((), False)

    def take_inside(self, name: str, inside: Json) -> None:
        self.name, self.inside = name, inside

    def node(self, name: str) -> Json | None:
        return next((node for node in self.nodes if node["name"] == name), None)

    def rows(self, *, wide: bool = False) -> list[GridRow]:
        """The same rows for as long as the nodes are the same: there may be a thousand."""
        if self._rows_of[0] is not self.nodes or self._rows_of[1] != wide:
            self._rows, self._rows_of = [self._row(node, wide) for node in self.nodes], (self.nodes, wide)
        return self._rows

    @staticmethod
    def _row(node: Json, wide: bool) -> GridRow:
        words, tone = status_words(node)
        allocatable = node["allocatable"]
        room_taken = node["podCount"] - node.get("endedPods", 0)
        head = (node["name"], words, f"{room_taken}/{allocatable.get('pods', '?')}")
        more = (allocatable.get("cpu", ""), memory_text(allocatable.get("memory", "0")), address(node))
        cells = (*head, *(more if wide else ()), tiles(node))
        return GridRow(node["name"], cells, tone, labels=node["labels"])

    # -- one kubelet

    @property
    def kubelet(self) -> Json | None:
        return self.inside.get("kubelet")

    def pod(self, key: str) -> Json | None:
        for pod in self.inside.get("pods") or ():
            if key_of(pod) == key:
                found: Json = pod
                return found
        return None

    def workers(self, now: datetime | None) -> list[GridRow]:
        """One row a worker; without a kubelet one a Pod that the API knows of."""
        kubelet = self.kubelet
        if kubelet is None:
            return [_without_worker(pod) for pod in self.inside.get("pods") or ()]
        return [self._worker_row(worker, kubelet, now) for worker in kubelet["workers"]]

    def _worker_row(self, worker: Json, kubelet: Json, now: datetime | None) -> GridRow:
        key = worker["pod"]
        pod = self.pod(key)
        state, tone = worker_state(worker, pod)
        return GridRow(key, (short_pod(key), state, Prose(doing(worker, pod, kubelet, now))), tone, labels=_labels(pod))


def _without_worker(pod: Json) -> GridRow:
    key = key_of(pod)
    return GridRow(key, (short_pod(key), "", pod.get("status", {}).get("phase", "")), labels=_labels(pod))


def _labels(pod: Json | None) -> Mapping[str, str]:
    return (pod or {}).get("metadata", {}).get("labels") or {}


def key_of(pod: Json) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def tiles(node: Json) -> Tiles:
    signs = [TILES[pod["state"]] for pod in node["pods"]]
    text, tones = "".join(sign for sign, _ in signs), tuple(tone for _, tone in signs)
    more = node["podCount"] - len(node["pods"])
    return Tiles(text + (f" +{more}" if more > 0 else ""), tones)


def status_words(node: Json) -> tuple[str, str]:
    """As kubectl has them (kubernetes pkg/printers/internalversion, printNode)."""
    match node["ready"]:
        case "True":
            sign, words, tone = DONE, "Ready", "foreground"
        case "":
            sign, words, tone = WRONG, "Unknown", "error"  # no kubelet has said anything yet
        case _:
            sign, words, tone = WRONG, "NotReady", "error"
    if node["unschedulable"]:
        words, tone = f"{words},SchedulingDisabled", tone if tone == "error" else "warning"
    return f"{sign} {words}", tone


def address(node: Json) -> str:
    return next((entry["address"] for entry in node["addresses"] if entry["type"] == "InternalIP"), "")


def memory_text(quantity: str) -> str:
    amount = float(Quantity.parse(quantity))
    return f"{amount / 2**30:.0f} Gi" if amount >= 2**30 else f"{amount / 2**20:.0f} Mi"


# -- workers


def worker_state(worker: Json, pod: Json | None) -> tuple[str, str]:
    """The state of a Pod worker, and the tone that goes with it."""
    if worker["state"] == "finished":
        return f"{PAST} finished", "foreground"
    if worker["state"] != "SyncPod":
        return f"{WAITING} {worker['state'].removesuffix('Pod').lower()}", "warning"
    if worker["error"]:
        return f"{WRONG} failed", "error"
    if worker["working"] or worker["pending"]:
        return f"{WAITING} syncing", "warning"
    if (reason := waiting_reason(pod)) is not None:
        return (f"{WRONG} back-off", "error") if is_failing(reason) else (f"{WAITING} waits", "warning")
    return f"{DONE} idle", "foreground"


def statuses(pod: Json | None) -> list[Json]:
    status = pod.get("status", {}) if pod is not None else {}
    return [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]


def waiting_reason(pod: Json | None) -> str | None:
    for status in statuses(pod):
        waiting = (status.get("state") or {}).get("waiting")
        if waiting is not None:
            return str(waiting.get("reason", ""))
    return None


def doing(worker: Json, pod: Json | None, kubelet: Json, now: datetime | None) -> str:
    """What a worker is at, or what it waits for next."""
    key = worker["pod"]
    if (pull := _pull_of(pod, kubelet)) is not None and worker["working"]:
        return pull_text(pull)
    for call in kubelet["cri"]["underWay"]:
        if call["object"] == f"pod/{key}":
            return f"{call['call']} {call.get('container', '')}{_since(call['at'], now)}"
    if worker["state"] == "TerminatingPod":
        grace = worker["gracePeriodSeconds"]
        return f"stops its containers, {grace:g} s of grace" if grace is not None else "stops its containers"
    if worker["error"]:
        return str(worker["error"])
    if (reason := waiting_reason(pod)) is not None:
        return _again(worker) + reason + _last_exit(pod)
    return _at_rest(key, pod, kubelet)


def pull_text(pull: Json) -> str:
    """Its bar comes last: where a line is too short the number is what tells."""
    return f"pull~ {pull['image']} {pull['progress'] * 100:2.0f} % {bar(pull['progress'], 8)}"


def _pull_of(pod: Json | None, kubelet: Json) -> Json | None:
    spec = pod["spec"] if pod is not None else {}
    images = {c.get("image") for c in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ()))}
    return next((pull for pull in kubelet["images"]["pulling"] if pull["image"] in images), None)


def _since(at: str, now: datetime | None) -> str:
    if now is None:
        return ""
    return f" {max(0.0, (now - datetime.fromisoformat(at)).total_seconds()):.1f} s"


def _again(worker: Json) -> str:
    seconds = worker["nextSyncSeconds"]
    return f"{CLOCK} {human_duration(round(seconds))} " if seconds is not None else ""


def _last_exit(pod: Json | None) -> str:
    for status in statuses(pod):
        ended = (status.get("lastState") or {}).get("terminated")
        if ended is not None:
            return f" · restart {status.get('restartCount', 0)}, exit {ended.get('exitCode')}"
    return ""


def _at_rest(key: str, pod: Json | None, kubelet: Json) -> str:
    """So short that a countdown is seen whole beside a long name."""
    found = [status for status in statuses(pod) if not (status.get("state") or {}).get("terminated")]
    ready = f"{sum(bool(status.get('ready')) for status in found)}/{len(found)}" if found else ""
    due = [probe for probe in kubelet["probes"] if probe["pod"] == key and probe["nextSeconds"] is not None]
    if not due:
        return f"{ready} ready" if ready else ""
    first = min(due, key=lambda probe: probe["nextSeconds"])
    return " ".join(filter(None, (ready, f"{first['probe']} {CLOCK} {first['nextSeconds']:.0f} s")))
