"""The open watches of one resource, found by what they want, and the hand-out of a change to them.

To all who watch a whole namespace, or everything, a change is one and the same event, which is not looked at again for
each of them. Watchers of one node's Pods, or of one name, are kept apart: a change is offered to those of its node and
name alone (cacher.go's indexed triggers and scopes). All others look at each change.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.api.types import Object
from engine.apiserver.cacher.watcher import Watcher
from engine.apiserver.changes import Change

_Bucket = dict[int, Watcher]


class FanOut:
    """Watchers are handed out to in a fixed order: by kind of bucket, then as they came."""

    def __init__(self) -> None:
        self._watchers: _Bucket = {}
        self._whole: dict[str, _Bucket] = {}  # by namespace, "" for all
        self._by_node: dict[str, _Bucket] = {}
        self._by_name: dict[str, _Bucket] = {}
        self._choosy: _Bucket = {}

    def __len__(self) -> int:
        return len(self._watchers)

    def __iter__(self) -> Iterator[Watcher]:
        """All of them; the caller may end some meanwhile."""
        return iter(list(self._watchers.values()))

    def add(self, watcher: Watcher) -> None:
        self._watchers[watcher.number] = watcher
        interest = watcher.interest
        if interest.node is not None:
            self._by_node.setdefault(interest.node, {})[watcher.number] = watcher
        elif interest.name is not None:
            self._by_name.setdefault(interest.name, {})[watcher.number] = watcher
        elif interest.selective:
            self._choosy[watcher.number] = watcher
        else:
            self._whole.setdefault(interest.namespace, {})[watcher.number] = watcher

    def remove(self, watcher: Watcher) -> bool:
        """Says whether it was there."""
        if self._watchers.pop(watcher.number, None) is None:
            return False
        interest = watcher.interest
        if interest.node is not None:
            _pop(self._by_node, interest.node, watcher)
        elif interest.name is not None:
            _pop(self._by_name, interest.name, watcher)
        elif interest.selective:
            del self._choosy[watcher.number]
        else:
            _pop(self._whole, interest.namespace, watcher)
        return True

    def send(self, change: Change) -> int:
        """Give a change to all whom it concerns; how many those are."""
        sent = 0
        metadata = change.object["metadata"]
        if self._whole:
            event = change.event(change.type)
            for namespace in dict.fromkeys(("", metadata.get("namespace", ""))):
                for watcher in list(self._whole.get(namespace, {}).values()):
                    sent += watcher.take(event)
        for watcher in list(self._choosy.values()):
            sent += watcher.offer(change)
        if self._by_name:
            for watcher in list(self._by_name.get(metadata["name"], {}).values()):
                sent += watcher.offer(change)
        if self._by_node:
            for node in dict.fromkeys((node_name(change.object), node_name(change.old or change.object))):
                for watcher in list(self._by_node.get(node, {}).values()):
                    sent += watcher.offer(change)
        return sent


def _pop(buckets: dict[str, _Bucket], name: str, watcher: Watcher) -> None:
    del buckets[name][watcher.number]
    if not buckets[name]:
        del buckets[name]


def node_name(obj: Object) -> str:
    return str((obj.get("spec") or {}).get("nodeName") or "")
