"""The Watches screen's rows: every open stream with its cursor, the ring that it reads from, who listens behind it."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.api.duration import human_duration
from ktui.models.grid_row import GridRow
from ktui.models.keys import size_text
from ktui.models.link import Link
from ktui.models.signs import DONE, WAITING, WRONG

Json = Mapping[str, Any]
TITLES = ("WHO", "RESOURCE", "STATE", "LAG", "SENT", "BUF")
WIDE_TITLES = ("WHO", "RESOURCE", "SELECTOR", "STATE", "CURSOR", "LAG", "SENT", "BUF", "BYTES", "AGE")
BUFFER = 1000  # events; a watcher for whom more wait is cut off
MOST_TOLD = 100
NOTICED = {
    "cutOff": "too slow, cut off",
    "expired": "began before the ring: 410 Expired, list again",
}
# Names of old under which etcd still has them.
STORED_AS = {"minions": "nodes", "controllers": "replicationcontrollers", "ingress": "ingresses"}


@dataclass(frozen=True, slots=True)
class Ring:
    """The changes that a watch cache still has, by revision, and where each stream is in it."""

    resource: str
    size: int
    oldest: int
    newest: int
    revisions: Sequence[int]
    cursors: Sequence[tuple[str, int, bool]]  # who, the last revision that they were sent, whether events wait

    def place(self, cursor: int, width: int) -> int:
        """The cell of a cursor in a ring drawn `width` cells wide; -1 where it lies before it."""
        if cursor < self.oldest and self.revisions and cursor < self.revisions[0] - 1:
            return -1
        behind = bisect_right(self.revisions, cursor)
        return max(0, round(behind / max(1, self.size) * width) - 1)


@dataclass(slots=True)
class WatchesModel:
    caches: Sequence[Json] = ()
    informers: Json = field(default_factory=dict)
    queues: Json = field(default_factory=dict)
    told: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_TOLD))  # relists and streams cut off

    def take(self, answer: Json, *, now: str = "") -> None:
        self._notice(answer, now)
        self.caches, self.informers, self.queues = answer["caches"], answer["informers"], answer["queues"]

    def _notice(self, answer: Json, now: str) -> None:
        """What shows only in the difference: a stream that was cut off, an informer that had to list again."""
        before = {cache["prefix"]: cache for cache in self.caches}
        for cache in answer["caches"]:
            known_cache = before.get(cache["prefix"], cache)
            for counter, words in NOTICED.items():
                if (count := cache[counter] - known_cache[counter]) > 0:
                    self.told.appendleft(f"{now} {resource_of(cache)}: {count} {words}")
        for name, informers in answer["informers"].items():
            lists = {informer["resource"]: informer["lists"] for informer in self.informers.get(name) or ()}
            for informer in informers:
                known = lists.get(informer["resource"])
                if known and informer["lists"] > known:
                    who = name.removeprefix("informers/").rpartition("/")[2]
                    self.told.appendleft(f"{now} {who} listed {informer['resource']} again (410 or lost)")

    @property
    def totals(self) -> tuple[int, int, int]:
        """Streams, events that wait in their buffers, streams that were cut off."""
        watchers = [watcher for cache in self.caches for watcher in cache["watchers"]]
        waiting = sum(watcher["buffered"] for watcher in watchers)
        return len(watchers), waiting, sum(cache["cutOff"] for cache in self.caches)

    @property
    def expired(self) -> int:
        """Watches that got a 410 since the API server began."""
        return sum(cache["expired"] for cache in self.caches)

    def rows(self, *, wide: bool = False) -> list[GridRow]:
        """The slowest first, then those that are sent the most."""
        streams = [(cache, watcher) for cache in self.caches for watcher in cache["watchers"]]
        streams.sort(
            key=lambda stream: (-stream[1]["buffered"], -stream[1]["sent"], resource_of(stream[0]), stream[1]["id"])
        )
        return [_row(cache, watcher, wide) for cache, watcher in streams]

    def find(self, key: str) -> tuple[Json, Json] | None:
        for cache in self.caches:
            for watcher in cache["watchers"]:
                if key_of(cache, watcher) == key:
                    return cache, watcher
        return None

    def ring(self, cache: Json) -> Ring:
        ring = cache["ring"]
        cursors = [(who(watcher), watcher["cursor"], bool(watcher["buffered"])) for watcher in cache["watchers"]]
        return Ring(resource_of(cache), ring["size"], ring["oldest"], ring["newest"], ring["revisions"], cursors)

    def informers_behind(self, cache: Json, watcher: Json) -> list[Json]:
        """The informers of the stream's client that keep this resource."""
        told = self.informers.get(f"informers/{watcher['userAgent']}") or ()
        return [informer for informer in told if informer["resource"].partition(".")[0] == resource_of(cache)]


def key_of(cache: Json, watcher: Json) -> str:
    return f"{cache['prefix']} {watcher['id']}"


def resource_of(cache: Json) -> str:
    """`pods` of `/registry/pods`, `services` of `/registry/services/specs`."""
    parts = cache["prefix"].split("/")[2:]
    name = str(parts[-2] if len(parts) > 1 and parts[-1] in ("specs", "endpoints") else parts[-1])
    return STORED_AS.get(name, name)


def who(watcher: Json) -> str:
    """The client as people call it: `kubelet node-1`, `kube-scheduler`, `kubectl (kubernetes-admin)`."""
    user, agent = watcher["user"], watcher["userAgent"].partition("/")[0]
    if user.startswith("system:node:"):
        return f"{agent or 'kubelet'} {user.removeprefix('system:node:')}"
    name = user.rpartition(":")[2]
    return name if name == agent or user.startswith("system:") else f"{agent} ({name})"


def links_of(cache: Json, watcher: Json) -> tuple[Link, ...]:
    """Who watches, as far as that is an object, and what is watched."""
    user = watcher["user"]
    links = [Link(resource_of(cache), "", watcher["namespace"] or None, "all")]
    if user.startswith("system:node:"):
        links.insert(0, Link("nodes", user.removeprefix("system:node:"), None, "client"))
    elif user.startswith("system:serviceaccount:"):
        namespace, _, name = user.removeprefix("system:serviceaccount:").partition(":")
        links.insert(0, Link("serviceaccounts", name, namespace, "client"))
    return tuple(links)


def lag(cache: Json, watcher: Json) -> int:
    """How many changes the ring has after the last that the stream was sent; with a selector not all concern it.

    More may wait in the stream's own buffer: the ring has lost them, it has not.
    """
    revisions = cache["ring"]["revisions"]
    return max(len(revisions) - bisect_right(revisions, watcher["cursor"]), int(watcher["buffered"]))


def state(cache: Json, watcher: Json) -> tuple[str, str]:
    waiting = watcher["buffered"]
    if waiting >= BUFFER * 0.8:
        return f"{WRONG} to be cut off", "error"
    if waiting:
        return f"{WAITING} {waiting} wait", "warning"
    return f"{DONE} in step", "foreground"


def is_out_of_the_ring(cache: Json, watcher: Json) -> bool:
    """Whether the stream could not be taken up again where it is: a 410, and a new list."""
    return bool(cache["ring"]["oldest"] > watcher["cursor"] and cache["ring"]["used"] >= cache["ring"]["size"])


def selector_text(watcher: Json) -> str:
    selector = watcher["selector"]
    parts = [f"namespace={watcher['namespace']}"] if watcher["namespace"] else []
    return " ".join([*parts, *(str(text) for text in selector.values() if text)])


def _row(cache: Json, watcher: Json, wide: bool) -> GridRow:
    words, tone = state(cache, watcher)
    head = (who(watcher), resource_of(cache))
    counts = (str(lag(cache, watcher)), str(watcher["sent"]), str(watcher["buffered"]))
    if not wide:
        return GridRow(key_of(cache, watcher), (*head, words, *counts), tone)
    cells = (
        *head, selector_text(watcher), words, str(watcher["cursor"]), *counts, size_text(watcher["bytes"]),
        human_duration(watcher["ageSeconds"]),
    )  # fmt: skip
    return GridRow(key_of(cache, watcher), cells, tone)
