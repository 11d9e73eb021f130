"""Memory runs out: containers beyond their limit are killed, and Pods are evicted before the node itself is in need
(pkg/kubelet/eviction eviction_manager.go, helpers.go; the kernel's OOM killer).

Nothing computes on a simulated node: a Pod uses what its annotation `ktui.io/memory-usage` says (and `cpu-usage`, which
only the resource metrics API tells), any other container idles. Upstream measures every ten seconds; here a look is due
when a Pod or what it uses has changed, and every ten seconds while memory is short.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from engine.api.qos import qos_class
from engine.api.quantity import Format, Quantity, QuantityError
from engine.api.types import Object
from engine.client import WARNING, EventRecorder
from engine.clock import Clock, Timer
from engine.kubelet import events, pods
from engine.kubelet.admission import Rejection
from engine.kubelet.status.generate import Override

USAGE = "ktui.io/memory-usage"
IDLE = Quantity.parse("16Mi")
THRESHOLD = Quantity.parse("100Mi")  # memory.available, of the default --eviction-hard
MONITORING_INTERVAL = 10.0
LOOK_AFTER = 1.0
PRESSURE_TRANSITION_PERIOD = 300.0
HARD_EVICTION_GRACE = 1.0
SYSTEM_CRITICAL = 2_000_000_000
MEMORY_PRESSURE_TAINT = "node.kubernetes.io/memory-pressure"


class Use(NamedTuple):
    """What one container uses and has asked for."""

    container: Object
    used: Quantity
    requested: Quantity

    @property
    def limit(self) -> Quantity | None:
        amount = ((self.container.get("resources") or {}).get("limits") or {}).get("memory")
        return Quantity.parse(amount) if amount is not None else None


def uses(pod: Object) -> list[Use]:
    """A Pod's use, shared among its containers as they share its requests, or evenly where none asks for anything."""
    containers = pods.containers_of(pod)
    requests = [_request(container) for container in containers]
    total = _annotated(pod)
    if total is None:
        return [_idling(container, asked) for container, asked in zip(containers, requests, strict=True)]
    whole = sum(asked.value for asked in requests)
    return [
        Use(container, _share(total, asked.value, whole, len(containers)), asked)
        for container, asked in zip(containers, requests, strict=True)
    ]


def _idling(container: Object, asked: Quantity) -> Use:
    """Nobody who only idles runs into its limit."""
    use = Use(container, IDLE, asked)
    return use if use.limit is None else use._replace(used=min(IDLE, use.limit))


def _share(total: Quantity, part: int, whole: int, count: int) -> Quantity:
    amount = total.value * part // whole if whole else total.value // count
    return Quantity.of(amount, Format.BINARY_SI)


def _request(container: Object) -> Quantity:
    return Quantity.parse(((container.get("resources") or {}).get("requests") or {}).get("memory", "0"))


def _annotated(pod: Object) -> Quantity | None:
    try:
        text = (pod["metadata"].get("annotations") or {}).get(USAGE)
        return Quantity.parse(str(text)) if text else None
    except QuantityError:
        return None


def ranked(active: Sequence[Object]) -> list[Object]:
    """Whom to evict first: who uses more than it asked for, then by priority, then by how much more."""

    def order(pod: Object) -> tuple[bool, int, int, str]:
        used, asked = sum(use.used.value for use in uses(pod)), sum(use.requested.value for use in uses(pod))
        return used <= asked, pod["spec"].get("priority") or 0, asked - used, pods.name_of(pod)

    return sorted(active, key=order)


class EvictionManager:
    """`active` gives the Pods whose containers run or may run, `kill` ends one of them, `out_of_memory` a container of
    one by name; `changed` says that the node's condition has changed."""

    def __init__(
        self,
        recorder: EventRecorder,
        clock: Clock,
        *,
        node_name: str,
        capacity: Quantity,
        active: Callable[[], Sequence[Object]],
        kill: Callable[[Object, float, Override], None],
        out_of_memory: Callable[[Object, str], None],
        changed: Callable[[], None],
    ) -> None:
        self._recorder = recorder
        self._clock = clock
        self._node_name = node_name
        self._capacity = capacity
        self._active = active
        self._kill = kill
        self._out_of_memory = out_of_memory
        self._changed = changed
        self._timer: Timer | None = None
        self._last_met: float | None = None  # when memory was last found short
        self._evicted: dict[str, None] = {}
        self.evictions: dict[str, int] = {}  # of all time, by signal

    @property
    def under_pressure(self) -> bool:
        if self._last_met is None:
            return False
        return self._clock.monotonic() - self._last_met < PRESSURE_TRANSITION_PERIOD

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def look_soon(self, pod: Object) -> None:
        """A Pod has changed. One that idles, on a node that is well, needs no look."""
        if _annotated(pod) is not None or self._last_met is not None:
            self._arm(LOOK_AFTER)

    def _arm(self, seconds: float) -> None:
        due = self._clock.monotonic() + seconds
        if self._timer is not None and self._timer.callback is not None and self._timer.due <= due:
            return
        self.stop()
        self._timer = self._clock.call_later(seconds, self._look)

    def _look(self) -> None:
        self._timer = None
        active = [pod for pod in self._active() if pods.phase_of(pod) not in pods.TERMINAL_PHASES]
        for pod in active:
            for use in uses(pod):
                if use.limit is not None and use.used > use.limit:
                    self._out_of_memory(pod, use.container["name"])
        staying = [pod for pod in active if pods.uid_of(pod) not in self._evicted]
        # A container that is at its limit uses no more than that.
        used = sum((min(use.used, use.limit or use.used) for pod in staying for use in uses(pod)), Quantity())
        self._judge(staying, self._capacity - used)

    def _judge(self, active: Sequence[Object], available: Quantity) -> None:
        before = self._last_met is not None
        if available < THRESHOLD:
            if not before:
                self._tell("EvictionThresholdMet", "Attempting to reclaim memory")
            self._last_met = self._clock.monotonic()
            self._evict(active, max(available, Quantity()))
        elif not self.under_pressure:
            self._last_met = None
        if (self._last_met is not None) != before:
            self._changed()
        if self._last_met is not None:
            self._arm(MONITORING_INTERVAL)

    def _tell(self, reason: str, message: str) -> None:
        reference = {"kind": "Node", "name": self._node_name, "uid": self._node_name, "apiVersion": "v1"}
        self._recorder.event_of(reference, WARNING, reason, message)

    def _evict(self, active: Sequence[Object], available: Quantity) -> None:
        """The first in the ranking that is not critical."""
        for pod in ranked(active):
            if is_critical(pod):
                continue
            message = eviction_message(pod, available)
            self._end(pod, "memory.available", Override("Evicted", message, "TerminationByKubelet"))
            return

    def evict(self, pod: Object, signal: str, message: str) -> None:
        """For what a Pod has done itself, which disrupts nobody; unless it goes already, or must not."""
        if pods.uid_of(pod) not in self._evicted and not is_critical(pod):
            self._end(pod, signal, Override("Evicted", message))

    def _end(self, pod: Object, signal: str, override: Override) -> None:
        self._evicted[pods.uid_of(pod)] = None
        self.evictions[signal] = self.evictions.get(signal, 0) + 1
        self._recorder.event(pod, WARNING, events.EVICTED, override.message)
        self._kill(pod, HARD_EVICTION_GRACE, override)

    def forget(self, uid: str) -> None:
        self._evicted.pop(uid, None)

    # -- admission

    def admit(self, pod: Object) -> Rejection | None:
        """Under pressure the node takes no Pod that has asked for nothing."""
        if not self.under_pressure or is_critical(pod) or qos_class(pod) != "BestEffort":
            return None
        if any(_tolerates(toleration) for toleration in pod["spec"].get("tolerations") or ()):
            return None
        return Rejection("Evicted", "The node had condition: [MemoryPressure]. ")


def eviction_message(pod: Object, available: Quantity) -> str:
    text = f"The node was low on resource: memory. Threshold quantity: {THRESHOLD}, available: {_ki(available)}. "
    for use in uses(pod):
        if use.used > use.requested:
            text += (
                f"Container {use.container['name']} was using {_ki(use.used)}, request is {use.requested}, "
                "has larger consumption of memory. "
            )
    return text


def _ki(amount: Quantity) -> str:
    """As it is measured: in whole kibibytes."""
    return f"{amount.value // 1024}Ki" if amount.value else "0"


def is_critical(pod: Object) -> bool:
    return (pod["spec"].get("priority") or 0) >= SYSTEM_CRITICAL


def _tolerates(toleration: Mapping[str, str]) -> bool:
    key, effect = toleration.get("key") or "", toleration.get("effect") or "NoSchedule"
    return key in ("", MEMORY_PRESSURE_TAINT) and effect == "NoSchedule" and toleration.get("operator") == "Exists"
