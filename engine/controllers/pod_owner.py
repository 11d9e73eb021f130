"""What all controllers share whose objects own Pods by a selector: ReplicaSet, StatefulSet, DaemonSet, Job.

A change of a Pod wakes its owner, of an orphan all that might adopt it (the addPod, updatePod and deletePod handlers
that upstream's controllers each have a copy of).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from engine.api.selectors import LabelSelector
from engine.api.types import GVK, GVR, PODS, Object
from engine.client import object_key
from engine.controllers.batching import batch_period
from engine.controllers.controller import Controller
from engine.controllers.expectations import Expectations
from engine.controllers.own_writes import OwnWrites
from engine.controllers.ownership import (
    OWNER_INDEX,
    ControllerRefManager,
    by_controller_uid,
    controller_of,
    recheck_deletion,
)
from engine.controllers.pod_control import PodControl
from engine.controllers.pods import is_ready


class PodOwnerController(Controller):
    """Subclasses call `watch_pods` in `set_up`."""

    resource: ClassVar[GVR]
    gvk: ClassVar[GVK]
    adopted_finalizers: ClassVar[tuple[str, ...]] = ()

    def watch_pods(self) -> None:
        """Follow the owners and their Pods."""
        self.pods = self.lister(PODS)
        self.owners = self.lister(self.resource)
        self.index(PODS, OWNER_INDEX, by_controller_uid)
        self.expectations = Expectations(self.clock)
        self.writes = OwnWrites(self.clock)  # of the owners
        self.pod_control = PodControl(self.client, self.recorder)
        self.watch(self.resource, self.owner_changed, delay=self._owner_delay)
        self.watch(PODS, self._pod_changed, delay=self._delay)

    # -- what wakes it

    def owner_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        if new is None and old is not None:
            self.expectations.forget(object_key(old))
            self.writes.forget(object_key(old))
        return [object_key(new or old or {})]

    def _pod_changed(self, old: Object | None, new: Object | None) -> Iterable[str]:
        if new is None or new["metadata"].get("deletionTimestamp"):
            # A Pod on its way out is missed at once, not only when the kubelet has let it go.
            return self._pod_deleted(new or old or {})
        before, after = controller_of(old) if old is not None else None, controller_of(new)
        if before is None and after is None:
            return self._selecting(new) if old is None or labels_of(old) != labels_of(new) else []
        keys: dict[str, None] = {}
        if before is not None and before != after and old is not None:
            keys.update(dict.fromkeys(self.owner_keys(old)))
        if after is not None:
            owners = self.owner_keys(new)
            if old is None:
                for key in owners:
                    self.expectations.creation_observed(key)
            self._wake_when_available(old, new, owners)
            keys.update(dict.fromkeys(owners))
        else:
            keys.update(dict.fromkeys(self._selecting(new)))
        return list(keys)

    def _delay(self, key: str, old: Object | None, new: Object | None) -> float:
        owner = self.owners.by_key(key)
        return batch_period(len(self.owned_pods(owner))) if owner is not None else 0.0

    def _owner_delay(self, key: str, old: Object | None, new: Object | None) -> float:
        """A status that was written, most often by this controller itself, is no reason to hurry."""
        if old is None or new is None or not only_status_changed(old, new):
            return 0.0
        return self._delay(key, old, new)

    def _pod_deleted(self, pod: Object) -> Iterable[str]:
        owners = self.owner_keys(pod)
        for key in owners:
            self.expectations.deletion_observed(key, object_key(pod))
        return owners

    def owner_keys(self, pod: Object) -> list[str]:
        """The key of the owner that controls a Pod, if it is the one that the reference means."""
        reference = controller_of(pod)
        if reference is None or reference.get("kind") != self.gvk.kind:
            return []
        owner = self.owners.get(reference["name"], pod["metadata"]["namespace"])
        return [object_key(owner)] if owner is not None and owner["metadata"]["uid"] == reference["uid"] else []

    def _selecting(self, pod: Object) -> list[str]:
        """The owners that might adopt an orphan."""
        owners, labels = self.owners.list(pod["metadata"]["namespace"]), labels_of(pod)
        if not owners or not labels:
            return []
        return [object_key(owner) for owner in owners if self.selector(owner).matches(labels)]

    def _wake_when_available(self, old: Object | None, new: Object, owners: list[str]) -> None:
        if is_ready(old) or not is_ready(new):
            return
        for key in owners:
            owner = self.owners.by_key(key)
            if owner is not None and (seconds := owner["spec"].get("minReadySeconds", 0)):
                # A second more, so that a clock that counts in seconds is past it (kubernetes issue 39785).
                self.queue.add_after(key, seconds + 1)

    # -- whose Pods are whose

    def selector(self, owner: Object) -> LabelSelector:
        return selector_of(owner)

    def owned_pods(self, owner: Object) -> list[Object]:
        """All Pods that the owner controls, active or not, as the cache has them."""
        return self.pods.by_index(OWNER_INDEX, owner["metadata"]["uid"])

    async def claim_pods(self, owner: Object, wanted: Callable[[Object], bool] = lambda pod: True) -> list[Object]:
        """The owner's Pods among those wanted, after adopting orphans and releasing what no longer matches."""
        orphans = self.pods.by_index(OWNER_INDEX, f"orphan/{owner['metadata']['namespace']}")
        manager = ControllerRefManager(
            self.client,
            PODS,
            owner=owner,
            owner_kind=self.gvk,
            matches=self.selector(owner).matches,
            can_adopt=lambda: recheck_deletion(self.client, self.resource, owner),
            adopted_finalizers=self.adopted_finalizers,
        )
        return await manager.claim([pod for pod in [*self.owned_pods(owner), *orphans] if wanted(pod)])


def only_status_changed(old: Object, new: Object) -> bool:
    """Neither what is wanted nor what the object is called by."""
    wanted = ("generation", "labels", "annotations", "deletionTimestamp", "finalizers", "ownerReferences")
    return all(old["metadata"].get(name) == new["metadata"].get(name) for name in wanted)


def labels_of(obj: Object) -> dict[str, str]:
    labels: dict[str, str] = obj["metadata"].get("labels") or {}
    return labels


def selector_of(owner: Object) -> LabelSelector:
    return LabelSelector.from_object(owner["spec"].get("selector"))
