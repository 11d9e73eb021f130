"""How far a client's write has come: one lamp for each of the twelve hops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from engine.latency import REALISTIC
from ktui.models.exchange import Span, ended, is_dry_run, started
from ktui.models.words import SOFT, kind_of, name_of

HOP_NAMES = (
    "client", "authentication", "authorization", "mutating admission", "schema", "validating admission",
    "store", "watch", "controller", "scheduler", "kubelet", "network",
)  # fmt: skip
HOP_LATENCIES = (
    "client", "authentication", "authorization", "mutating-admission", "schema", "validating-admission",
    "store", "watch", "controller", "scheduler", "", "network",
)  # fmt: skip
DONE, WAITING, AHEAD, FAILED, SKIPPED = "●", "◐", "○", "✖", "·"
LAST_LINK, WATCH = 7, 8
SCHEDULER, KUBELET = 10, 11
EARLY_MOST = 200
QUIET_SECONDS = 30.0  # of the model: nothing happens for so long once Pods run
UNHEEDED_SECONDS = 5.0  # of the model: who acts upon what is written has begun by then
SLOW_FACTOR = 1.5  # above the range by so much
COMES_WITH_AUTHENTICATION = 3  # for system:masters hop 2 decides hop 3 as well
UNSERVED = "no Service selects it"
UNPROXIED = "no proxy acts upon it"  # such as behind a headless Service
UNHEEDED = "nothing more acts upon it"
# What Pods come of: there the next hop is waited for, however long it takes.
WORKLOADS = frozenset(
    (
        "pod", "deployment", "replicaset", "replicationcontroller", "statefulset", "daemonset", "job", "cronjob",
    )
)  # fmt: skip
AT_REST = frozenset(  # what nobody acts upon when it is written: who uses it reads it
    (
        "configmap", "secret", "role", "rolebinding", "clusterrole", "clusterrolebinding", "priorityclass",
        "storageclass", "ingressclass", "runtimeclass", "networkpolicy", "limitrange", "event", "lease",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Lamp:
    hop: int
    sign: str
    milliseconds: float = 0.0
    is_slow: bool = False  # above what is usual for its hop


@dataclass(frozen=True, slots=True)
class Story:
    """A write and its consequences."""

    title: str
    lamps: tuple[Lamp, ...]
    milliseconds: float = 0.0  # from the keystroke to the end of what came last
    is_model_time: bool = False
    note: str = ""  # why it ends before the last hop


def usual(hop: int) -> tuple[float, float] | None:
    """The range of a hop's model time."""
    return REALISTIC.get(HOP_LATENCIES[hop - 1])


def tell(spans: Iterable[Span]) -> Story | None:
    """The story of one trace; None while its root has not ended."""
    tally = Tally()
    for span in spans:
        tally.add(span)
    return tally.story()


@dataclass(slots=True)
class _Seen:
    """What is known of one hop."""

    failed: set[str] = field(default_factory=set)  # what went wrong with, and has not gone well since
    model_ms: float = 0.0  # of the longest span
    wall_ms: float = 0.0

    @property
    def is_failed(self) -> bool:
        return bool(self.failed)

    def take(self, span: Span) -> None:
        if span["outcome"] == "ok":
            self.failed.discard(span["object"])
        elif span["outcome"] not in SOFT:
            self.failed.add(span["object"])
        self.model_ms = max(self.model_ms, span["model_ms"])
        self.wall_ms = max(self.wall_ms, span["wall_ms"])


class _Pods:
    """Those that a write has led to: whether each has become what it can become, and whether a Service minds them."""

    def __init__(self, root: Span) -> None:
        self._of_root = name_of(root["object"]) if kind_of(root["object"]) in WORKLOADS else ""
        self._is_pod = kind_of(root["object"]) == "pod"
        self._are_there: dict[str, bool] = {}
        self._is_served = False

    def take(self, span: Span) -> None:
        if span["component"].startswith("endpoint"):
            self._is_served = True  # a Service selects them: its slices are looked at when they change
        if kind_of(span["object"]) != "pod" or span["hop"] not in (SCHEDULER, KUBELET):
            return
        if not self._is_meant(name_of(span["object"])):
            return
        detail = span["detail"]
        if span["verb"] == "status" and span["outcome"] == "ok":
            self._are_there[span["object"]] = bool(detail.get("ready")) or detail.get("phase") == "Succeeded"
        else:
            self._are_there.setdefault(span["object"], False)

    def _is_meant(self, name: str) -> bool:
        """Not another's that made room for them, and that comes again elsewhere or nowhere."""
        return name == self._of_root if self._is_pod else name.startswith(self._of_root)

    @property
    def any(self) -> bool:
        return bool(self._are_there)

    @property
    def are_there(self) -> bool:
        """Whether all are Ready, or done."""
        return bool(self._are_there) and all(self._are_there.values())

    @property
    def are_unserved(self) -> bool:
        """Whether there is nothing left to wait for: no Service sends them anything."""
        return self.are_there and not self._is_served


class Tally:
    """A story as it grows: each span is looked at once, however long the trace gets."""

    def __init__(self) -> None:
        self.spans = 0
        self._root: Span | None = None
        self._early: list[Span] = []  # links that ended before their root: which it is, is not known yet
        self._stores: set[str] = set()
        self._user = self._subresource = ""
        self._seen: dict[int, _Seen] = {}
        self._pods: _Pods | None = None
        self._links_took = {"model_ms": 0.0, "wall_ms": 0.0}
        self._is_refused = False
        self._is_dry_run = False
        self._end = 0.0
        self._has_model_time = False

    def add(self, span: Span) -> None:
        if self._is_over(span):
            return
        self.spans += 1
        self._end = max(self._end, ended(span))
        self._has_model_time |= bool(span["model_ms"])
        if span["hop"] == 1 and self._root is None:
            self._root, self._pods = span, _Pods(span)
            early, self._early = self._early, []
            for link in sorted(early, key=lambda link: link["hop"]):  # an event may be told before its write
                self._own(link)
        elif self._root is None:
            if len(self._early) < EARLY_MOST:
                self._early.append(span)
        else:
            self._own(span)

    def _is_over(self, span: Span) -> bool:
        """Whether the story had come to its end: what begins long after (another engine that lists all there is, a
        probe, a container that starts again) is not of it, though its trace goes on."""
        reached = max(self._seen, default=1)
        return reached >= KUBELET and started(span) > self._end + QUIET_SECONDS

    def _own(self, span: Span) -> None:
        """Count a span of the root's request, of the event that it made, or of what that set off."""
        assert self._root is not None
        hop = span["hop"]
        if hop <= LAST_LINK:
            if span["parent"] != self._root["id"]:
                return
            for field in self._links_took:
                self._links_took[field] += span[field]
            self._user = self._user or span["detail"].get("user", "")
            self._subresource = self._subresource or span["detail"].get("subresource", "")
            self._is_refused |= span["outcome"] != "ok"
            self._is_dry_run |= is_dry_run([span])
            if hop == LAST_LINK:
                self._stores.add(span["id"])
        elif hop == WATCH and span["parent"] not in self._stores:
            return
        self._seen.setdefault(hop, _Seen()).take(span)
        if hop > WATCH and self._pods is not None:
            self._pods.take(span)

    def _why_over(self, root: Span, pods: _Pods, now: float) -> str:
        """Why it ends with the hop that was reached last; "" while it does not."""
        reached = max(self._seen, default=1)
        is_quiet = now > self._end + QUIET_SECONDS
        if reached == KUBELET:
            if pods.are_unserved:
                return UNSERVED
            return UNPROXIED if is_quiet and (pods.are_there or root["verb"] == "delete") else ""
        if self._is_refused or any(seen.is_failed for seen in self._seen.values()):
            return ""  # the lamp that failed says it
        if kind_of(root["object"]) in AT_REST:
            return ""  # it was over at once
        is_waited_for = pods.any or root["verb"] in ("create", "apply")
        if (is_waited_for and kind_of(root["object"]) in WORKLOADS) or not WATCH <= reached < KUBELET:
            return ""
        # What is deleted may take its controller long, which tells of it once it is done.
        is_unheeded = reached == WATCH and root["verb"] != "delete" and now > self._end + UNHEEDED_SECONDS
        return UNHEEDED if is_quiet or is_unheeded else ""

    def story(self, now: float = 0.0) -> Story | None:
        """As it is `now`, in the seconds of spans: for how long nothing came is known by what came of others."""
        root, pods = self._root, self._pods
        if root is None or pods is None:
            return None
        what = f"{root['component']} {root['verb']} {kind_of(root['object'])}/{name_of(root['object'])}"
        what += f"/{self._subresource}" if self._subresource else ""
        if self._is_dry_run:
            what += " (dry run)"
        title = f"{what} · by {self._user}" if self._user else what
        took = (self._end - started(root)) * 1000
        note = self._why_over(root, pods, now)
        return Story(title, tuple(self._lamps(root, is_over=bool(note))), took, self._has_model_time, note)

    def _lamps(self, root: Span, *, is_over: bool) -> Iterator[Lamp]:
        field = "model_ms" if self._has_model_time else "wall_ms"
        reached = max(self._seen, default=1)
        yield Lamp(1, DONE, max(0.0, root[field] - self._links_took[field]))
        for hop in range(2, 13):
            seen = self._seen.get(hop)
            if seen is not None:
                took = seen.model_ms if self._has_model_time else seen.wall_ms
                # What is refused, and not tried again by the server, ends there, however soft the refusal.
                is_end = self._is_refused and root["outcome"] not in ("", "ok") and hop == min(reached, LAST_LINK)
                yield Lamp(hop, FAILED, took) if is_end else self._lit(hop, seen, took)
            elif hop == COMES_WITH_AUTHENTICATION and reached > hop:
                yield Lamp(hop, DONE)
            elif hop > reached and (is_over or self._has_ended(root, reached)):
                yield Lamp(hop, SKIPPED)
            elif hop == reached + 1 and not self._is_refused:
                yield Lamp(hop, WAITING)
            else:
                yield Lamp(hop, SKIPPED if hop < reached else AHEAD)

    def _has_ended(self, root: Span, reached: int) -> bool:
        """Whether nothing is waited for any more: the hops that were not reached are not needed."""
        if self._is_refused:
            return False  # the lamp that failed says it
        if reached < LAST_LINK:
            return bool(root["outcome"])  # it was answered, and there was nothing to write
        return kind_of(root["object"]) in AT_REST

    def _lit(self, hop: int, seen: _Seen, took: float) -> Lamp:
        if seen.is_failed:
            return Lamp(hop, FAILED, took)
        bounds = usual(hop)
        return Lamp(hop, DONE, took, self._has_model_time and bounds is not None and took > bounds[1] * SLOW_FACTOR)
